"""The report's plots, each drawn for a light and for a dark page."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

from symclust.plotting import picture, plot_history, plot_similarity
from symclust.report._png import data_uri

__all__ = ["Themed", "history_picture", "similarity_picture"]


@dataclass(frozen=True)
class Themed:
    """A picture in two versions and the words for those who cannot see it."""

    light: str
    dark: str
    alt: str


def similarity_picture(model: Any) -> Themed:
    """Draw the similarity matrix ordered by cluster."""
    A, labels = model.affinity_matrix_, model.labels_
    k = model.membership_.shape[1]
    alt = (
        f"Similarity matrix of {A.shape[0]:,} samples ordered by cluster, with a frame around each of {k} "
        "clusters on the diagonal."
    )
    return _themed(lambda ax: plot_similarity(A, labels, ax), (5.2, 5.2), "png", alt)


def history_picture(model: Any) -> Themed:
    """Draw the run: objective and stationarity along the iterations."""
    first, last = model.history_[0], model.history_[-1]
    alt = (
        f"The objective goes from {first['objective']:.4g} to {last['objective']:.4g} and the stationarity "
        f"from {first['stationarity']:.2g} to {last['stationarity']:.2g} in {last['iteration']} iterations."
    )
    return _themed(lambda ax: plot_history(model, ax), (5.2, 2.7), "svg", alt)


def _themed(draw: Callable[[Any], Any], size: tuple[float, float], file_format: str, alt: str) -> Themed:
    mime = {"png": "image/png", "svg": "image/svg+xml"}[file_format]
    light, dark = (picture(draw, size, dark=dark, file_format=file_format) for dark in (False, True))
    return Themed(data_uri(light, mime), data_uri(dark, mime), alt)
