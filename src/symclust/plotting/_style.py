"""Matplotlib, imported when the first picture is drawn, and the colours of all pictures.

They stay apart for colour-blind readers, on light and on dark pages.
"""

from __future__ import annotations

import importlib
from types import ModuleType
from typing import TYPE_CHECKING, Any

from symclust.exceptions import MissingExtraError

if TYPE_CHECKING:
    from matplotlib.axes import Axes

__all__ = [
    "BORDER",
    "SIGNED_MAP",
    "is_dark",
    "line_colours",
    "matplotlib_module",
    "page_style",
    "similarity_colours",
]

# A map that runs from violet over white to orange: safe for the common kinds of colour blindness.
SIGNED_MAP = "PuOr_r"

# Okabe and Ito's orange, which stands out from the blues of similarity on light and dark pages.
BORDER = "#E69F00"


def matplotlib_module(name: str = "pyplot") -> ModuleType:
    """Return ``matplotlib.<name>``, or raise an error that names the extra."""
    try:
        return importlib.import_module(f"matplotlib.{name}")
    except ModuleNotFoundError as error:
        raise MissingExtraError(
            'Pictures need matplotlib, which is not installed: pip install "symclust[plot]"'
        ) from error


def is_dark(ax: Axes) -> bool:
    """Whether the axes have a dark background; the three channels run from 0 to 1."""
    return sum(matplotlib_module("colors").to_rgb(ax.get_facecolor())) < 1.5


def line_colours(dark: bool) -> tuple[str, str]:
    """Two of Okabe and Ito's colours for curves: blue and vermilion, lighter on a dark page."""
    return ("#56B4E9", "#F0915A") if dark else ("#0072B2", "#D55E00")


def similarity_colours(dark: bool) -> tuple[str, str]:
    """Colours of middling and of high similarity; none at all has the colour of the page."""
    return ("#2f7fb8", "#e8f6ff") if dark else ("#6baed6", "#08306b")


def page_style(dark: bool) -> dict[str, Any]:
    """Matplotlib settings for a picture on a light or dark page: no frame, quiet axes."""
    ink, paper = ("#d8dee6", "#161a20") if dark else ("#2b313a", "#ffffff")
    return {
        "figure.facecolor": paper,
        "savefig.facecolor": paper,
        "axes.facecolor": paper,
        "axes.edgecolor": ink,
        "axes.labelcolor": ink,
        "axes.titlecolor": ink,
        "text.color": ink,
        "xtick.color": ink,
        "ytick.color": ink,
        "font.size": 9.0,
        "axes.titlesize": 10.0,
        "axes.linewidth": 0.6,
        "grid.linewidth": 0.4,
        "grid.alpha": 0.35,
        "svg.hashsalt": "symclust",  # the same picture gives the same bytes
    }
