"""The dashboard: views over calcore. It reads state, calls services and draws; it computes no statistic."""
