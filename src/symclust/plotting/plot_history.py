"""How a run went: objective and stationarity along the iterations."""

from __future__ import annotations

from typing import Any

import numpy as np

from symclust._types import Array, Fitted
from symclust.exceptions import InputTypeError, OptionError
from symclust.plotting._style import Axes, fresh_axes, is_dark, line_colours, matplotlib_module

FIELDS = ("iteration", "seconds", "objective", "stationarity")


def plot_history(model_or_history: Fitted, ax: Axes | None = None, *, against: str = "iteration") -> Axes:
    """Draw objective (left axis) and stationarity (right axis) of a run, both on log scales.

    A run that has converged shows a flat objective and a stationarity that fell to `tol`. Stationarity is
    relative to the first point of the run; with ``init="merge"`` that is the random start before the merge,
    so the curve need not begin at 1. Methods that do not descend by a gradient have no stationarity, and then
    there is no right axis.

    Parameters
    ----------
    model_or_history : fitted estimator or structured array
        A model with ``history_``, or the history itself: fields iteration, seconds, objective and
        stationarity.
    ax : matplotlib Axes, optional
        Where to draw; by default a new figure.
    against : {"iteration", "seconds"}
        The horizontal axis.

    Returns
    -------
    matplotlib Axes
        The one with the objective; the other shares its horizontal axis.

    Examples
    --------
    >>> import numpy as np
    >>> from symclust.plotting import plot_history
    >>> history = np.rec.fromrecords(
    ...     [(0, 0.0, 9.0, 4.0), (1, 0.1, 5.0, 0.2)], names="iteration,seconds,objective,stationarity"
    ... )
    >>> plot_history(history).get_xlabel()
    'iteration'
    """
    history = _history(model_or_history)
    if against not in ("iteration", "seconds"):
        raise OptionError(f"against={against!r} is not known. Choose one of 'iteration', 'seconds'.")
    ax = fresh_axes(ax, 5.6, 3.2)
    first, second = line_colours(is_dark(ax))
    _curve(ax, history, against, "objective", first, "-")
    if len(_drawable(history, "stationarity")):  # methods without gradients have none
        _curve(ax.twinx(), history, against, "stationarity", second, "--")
    ax.set(xlabel=against)
    if against == "iteration":
        ax.xaxis.set_major_locator(matplotlib_module("ticker").MaxNLocator(integer=True))
    ax.grid(axis="x")
    return ax


def _history(model_or_history: Any) -> Array:
    history = getattr(model_or_history, "history_", model_or_history)
    names = getattr(getattr(history, "dtype", None), "names", None) or ()
    if not set(FIELDS) <= set(names):
        raise InputTypeError(
            f"A history cannot be read from {type(model_or_history).__name__}: give a fitted model with "
            f"history_, or that history, with the fields {', '.join(FIELDS)}."
        )
    return np.asarray(history)


def _drawable(history: Array, name: str) -> Array:
    # Zero, and what rounding leaves below it, has no place on a log scale.
    return history[np.isfinite(history[name]) & (history[name] > 0)]


def _curve(ax: Axes, history: Array, against: str, name: str, colour: str, line: str) -> None:
    shown = _drawable(history, name)
    marker = "." if len(shown) <= 20 else ""
    ax.plot(shown[against], shown[name], line, marker=marker, color=colour, linewidth=1.6)
    if len(shown):
        ax.set_yscale("log")
        _plain_numbers(ax, shown[name])
    ax.set_ylabel(name, color=colour)
    ax.tick_params(axis="y", which="both", colors=colour, labelsize="small")
    ax.spines["top"].set_visible(False)


def _plain_numbers(ax: Axes, values: Array) -> None:
    """Write 150, not 1.5 × 10², if the values stay within a factor of ten."""
    if values.max() < 10 * values.min():
        ticker = matplotlib_module("ticker")
        ax.yaxis.set_major_locator(ticker.MaxNLocator(6, steps=[1, 2, 5, 10]))
        ax.yaxis.set_major_formatter(ticker.FuncFormatter(lambda value, _: f"{value:g}"))
        ax.yaxis.set_minor_locator(ticker.NullLocator())
