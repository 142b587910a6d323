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


def similarity_picture(model: Any, n_clusters: int) -> Themed | None:
    """Draw the similarity matrix ordered by cluster; None for a model without one."""
    A, labels = getattr(model, "affinity_matrix_", None), model.labels_
    if A is None:
        return None
    alt = (
        f"Similarity matrix of {A.shape[0]:,} samples ordered by cluster, with a frame around each of "
        f"{n_clusters} clusters on the diagonal."
    )
    return _themed(lambda ax: plot_similarity(A, labels, ax), (5.2, 5.2), "png", alt)


def history_picture(model: Any) -> Themed | None:
    """Draw the run along its iterations; None where there is nothing to follow."""
    history: Any = getattr(model, "history_", ())
    if len(history) < 2:
        return None
    curves = [
        f"{name} from {history[name][0]:.4g} to {history[name][-1]:.4g}"
        for name in ("objective", "stationarity")
        if (history[name] > 0).any()
    ]
    alt = f"A run of {history['iteration'][-1]} iterations: {', '.join(curves)}."
    return _themed(lambda ax: plot_history(model, ax), (5.2, 2.7), "svg", alt)


def _themed(draw: Callable[[Any], Any], size: tuple[float, float], file_format: str, alt: str) -> Themed:
    mime = {"png": "image/png", "svg": "image/svg+xml"}[file_format]
    light, dark = (picture(draw, size, dark=dark, file_format=file_format) for dark in (False, True))
    return Themed(data_uri(light, mime), data_uri(dark, mime), alt)
