"""The method `report` and the summary in notebooks, for estimators and for answers of applications.

The page is made by `symclust.report`, which stands above all that it reports on. It is imported when a page
is asked for, and only here: the one place where a lower layer reaches up.
"""

from __future__ import annotations

from os import PathLike
from pathlib import Path
from typing import Any

__all__ = ["Reporting"]


class Reporting:
    """Gives a model ``report(path)``, and notebooks a summary of it once it is fitted."""

    def report(self, path: str | PathLike[str], **options: Any) -> Path:
        """Write a page about the result, one HTML file that works offline, and return its path.

        Parameters
        ----------
        path : path-like
            The file to write; an existing one is replaced.
        **options
            Those of `symclust.report.write_report`, such as `title`, `labels_true` and `cluster_names`.
        """
        from symclust import report

        return report.write_report(path, self, **options)

    def _summary_html(self) -> str:
        """Return what was found in a few lines of HTML."""
        from symclust import report

        return report.summary_html(self)
