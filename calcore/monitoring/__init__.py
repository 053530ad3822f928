"""Calibration over time: batches, limits, alerts and the history that is kept of them."""
