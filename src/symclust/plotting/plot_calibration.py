"""How often clusters are right, against how sure the memberships are."""

from __future__ import annotations

import numpy as np

from symclust._types import Fitted
from symclust.exceptions import InputTypeError
from symclust.plotting._style import Axes, fresh_axes, is_dark, line_colours

FIELDS = ("confidence", "agreement", "count")


def plot_calibration(calibration: Fitted, ax: Axes | None = None) -> Axes:
    """Draw agreement with known classes against confidence; calibrated memberships lie on the diagonal.

    The area of a point grows with the number of samples in its bin.

    Parameters
    ----------
    calibration : recarray
        What `symclust.metrics.membership_calibration` returns.
    ax : matplotlib Axes, optional
        Where to draw; by default a new figure.

    Returns
    -------
    matplotlib Axes

    Examples
    --------
    >>> from symclust.metrics import membership_calibration
    >>> from symclust.plotting import plot_calibration
    >>> plot_calibration(membership_calibration([0, 0, 1], [[0.9, 0.1], [1, 0], [0.2, 0.8]])).get_ylabel()
    'share in the right cluster'
    """
    names = getattr(getattr(calibration, "dtype", None), "names", None) or ()
    if not set(FIELDS) <= set(names):
        raise InputTypeError(
            f"A calibration cannot be read from {type(calibration).__name__}, since it needs known classes: "
            "give membership_calibration(labels_true, model.membership_), from symclust.metrics."
        )
    ax = fresh_axes(ax, 4.2, 4.0)
    first, second = line_colours(is_dark(ax))
    ax.plot([0, 1], [0, 1], "--", color=second, linewidth=1, label="calibrated")
    ax.plot(calibration["confidence"], calibration["agreement"], "-", color=first, linewidth=1)
    sizes = 10 + 120 * np.asarray(calibration["count"]) / np.max(calibration["count"])
    ax.scatter(calibration["confidence"], calibration["agreement"], s=sizes, color=first, label="samples")
    ax.set(xlabel="largest membership", ylabel="share in the right cluster", xlim=(0, 1.05), ylim=(0, 1.05))
    ax.grid(linewidth=0.4, alpha=0.35)
    # Below the diagonal: memberships of factors are more often too modest than too sure.
    total = int(np.sum(calibration["count"]))
    ax.legend(frameon=False, loc="lower right", title=f"{total:,} samples in {len(sizes)} bins")
    return ax
