"""One self-contained HTML page about a fitted model. The only folder that imports jinja2."""

from symclust.report.write_report import write_report

__all__ = ["write_report"]
