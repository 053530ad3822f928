"""The report: one HTML file about the analysed file and the chosen calibrator, aggregates only."""

from dashboard.report.document import file_name, report_html

__all__ = ["file_name", "report_html"]
