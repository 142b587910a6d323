"""Fitted models as one HTML page; the only folder that imports jinja2."""

from symclust.report._clusters import cluster_rows
from symclust.report._findings import find
from symclust.report._reading import read_clustering
from symclust.report._summary import summary_html
from symclust.report.part import Part
from symclust.report.write_report import write_report

__all__ = [
    "Part",
    "write_report",
]
