"""How many clusters: the scores of all candidates, those of data without clusters, and the choice."""

from __future__ import annotations

from typing import Any

import numpy as np

from symclust._types import Array, Fitted
from symclust.exceptions import InputTypeError
from symclust.plotting._style import Axes, fresh_axes, is_dark, line_colours, matplotlib_module

NEEDED = ("n_clusters", "candidates", "score", "curves")
NULL = "(null)"
MOST_TICKS = 15  # more numbers below the axis, or p-values above it, run into each other


def plot_selection(selection: Fitted, ax: Axes | None = None) -> Axes:
    """Draw the score of each number of clusters, with the chosen one marked.

    A band shows the spread of the scores. Where the method compares with data that have no clusters, their
    curve and its band are drawn, too, with the curve it belongs to, and empirical p-values stand above the
    horizontal axis, as in figure 16 of Kuang (2014). A choice that is not among the candidates, one cluster
    for example, is a vertical line.

    Parameters
    ----------
    selection : Selection, or fitted estimator
        What `symclust.select_n_clusters` returns, or a model that was fitted with ``n_clusters="auto"``.
    ax : matplotlib Axes, optional
        Where to draw; by default a new figure.

    Returns
    -------
    matplotlib Axes

    Examples
    --------
    >>> import numpy as np
    >>> from symclust.plotting import plot_selection
    >>> from symclust.selection import Curve, Selection
    >>> curves = {"silhouette": Curve(np.array([0.4, 0.7, 0.5]))}
    >>> selection = Selection(3, "silhouette", np.array([2, 3, 4]), "silhouette", curves, "3 clusters.")
    >>> plot_selection(selection).get_ylabel()
    'silhouette'
    """
    selection = selection_of(selection)
    missing = [name for name in NEEDED if not hasattr(selection, name)]
    if missing:
        raise InputTypeError(
            f"A choice cannot be read from {type(selection).__name__}, which has no {', '.join(missing)}: "
            "give what select_n_clusters returns, or a model fitted with n_clusters='auto'."
        )
    ax = fresh_axes(ax, 5.2, 3.6)
    k, (first, second) = np.asarray(selection.candidates), line_colours(is_dark(ax))
    null = _null_name(selection)
    shown = _shown_name(selection, null)
    _draw_curve(ax, k, selection.curves[shown], second if null else first, "o-", shown)
    if null:
        _draw_curve(ax, k, selection.curves[null], first, "s--", "without clusters")
    _mark_choice(ax, k, np.asarray(selection.curves[shown].values), int(selection.n_clusters))
    _finish(ax, np.union1d(k, [selection.n_clusters]), shown)
    if getattr(selection, "p_values", None) is not None:
        _write_p_values(ax, k, np.asarray(selection.p_values))
    return ax


def selection_of(model: Any) -> Any:
    """The choice that a model or an answer holds; anything else as it is."""
    found = getattr(model, "selection_", None)
    return model if found is None else found


def _null_name(selection: Any) -> str | None:
    """The name of the curve of data without clusters, that of the score before others."""
    names = [name for name in selection.curves if name == "null" or name.endswith(NULL)]
    own = f"{selection.score} {NULL}"
    return own if own in names else next(iter(names), None)


def _shown_name(selection: Any, null: str | None) -> str:
    """The curve to draw: the one that the null is compared with, otherwise the score."""
    compared = (null or "").removesuffix(NULL).strip()
    return compared if compared in selection.curves and compared != null else selection.score


def _draw_curve(ax: Axes, k: Array, curve: Any, colour: str, line: str, name: str) -> None:
    values = np.asarray(curve.values, dtype=float)
    ax.plot(k, values, line, color=colour, markersize=4, linewidth=1.6, label=name)
    if curve.spread is not None:
        spread = np.asarray(curve.spread, dtype=float)
        band = f"± {curve.meaning}" if getattr(curve, "meaning", "") else None
        style: dict[str, Any] = {"color": colour, "alpha": 0.18, "linewidth": 0, "label": band}
        ax.fill_between(k, values - spread, values + spread, **style)


def _mark_choice(ax: Axes, k: Array, values: Array, chosen: int) -> None:
    words = "chosen: one cluster" if chosen == 1 else f"chosen: {chosen} clusters"
    ink = ax.xaxis.label.get_color()  # that of the page's text, whatever its background
    if chosen in k:
        circle: dict[str, Any] = {
            "marker": "o",
            "markersize": 12,
            "fillstyle": "none",
            "markeredgewidth": 1.6,
        }
        ax.plot([chosen], values[k == chosen], linestyle="none", color=ink, label=words, **circle)
    else:
        ax.axvline(chosen, linestyle=":", linewidth=1.6, color=ink, label=words)


def _finish(ax: Axes, ticks: Array, score: str) -> None:
    ax.set(xlabel="number of clusters", ylabel=score)
    if len(ticks) <= MOST_TICKS:
        ax.set_xticks(ticks)
    else:
        ax.xaxis.set_major_locator(matplotlib_module("ticker").MaxNLocator(integer=True))
    ax.spines[["top", "right"]].set_visible(False)
    ax.grid(axis="y", linewidth=0.4, alpha=0.35)
    ax.legend(frameon=False, fontsize="small")


def _write_p_values(ax: Axes, k: Array, p_values: Array) -> None:
    """Write a p-value above the axis at each candidate, with room made for it below the curves."""
    low, high = ax.get_ylim()
    crowded = len(k) > 8
    ax.set_ylim(low - (0.2 if crowded else 0.12) * (high - low), high)
    style: dict[str, Any] = {"transform": ax.get_xaxis_transform(), "va": "bottom", "fontsize": "small"}
    for number, p in zip(k, p_values, strict=True):
        if len(k) <= 2 * MOST_TICKS and np.isfinite(p):
            ax.text(number, 0.02, f"{p:.2g}", ha="center", rotation=90 if crowded else 0, **style)
    ax.set_xlabel("number of clusters (above the axis: p-values)")
