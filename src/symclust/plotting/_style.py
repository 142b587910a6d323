"""Matplotlib, imported when the first picture is drawn, and the colours of all pictures.

They stay apart for colour-blind readers, on light and on dark pages.
"""

from __future__ import annotations

from types import ModuleType
from typing import TYPE_CHECKING, Any, TypeAlias

from symclust._optional import need

if TYPE_CHECKING:
    import matplotlib.axes

Axes: TypeAlias = "matplotlib.axes.Axes"

# A map that runs from violet over white to orange: safe for the common kinds of colour blindness.
SIGNED_MAP = "PuOr_r"

# Okabe and Ito's orange, which stands out from the blues of similarity on light and dark pages.
BORDER = "#E69F00"

# Okabe and Ito's colours, their yellow darkened to be seen on white, and grey in the place of black.
EIGHT = ("#0072B2", "#E69F00", "#009E73", "#D55E00", "#56B4E9", "#CC79A7", "#B5A300", "#7F7F7F")
NOWHERE = "#B0B0B0"  # of samples in no cluster


def matplotlib_module(name: str = "pyplot") -> ModuleType:
    """``matplotlib.<name>``."""
    return need(f"matplotlib.{name}", "plot", "A picture")


def fresh_axes(ax: Axes | None, width: float, height: float) -> Axes:
    """The axes that were given, or those of a new figure of the given size in inches."""
    if ax is None:
        ax = matplotlib_module().subplots(figsize=(width, height), layout="constrained")[1]
    return ax


def cluster_colours(n_clusters: int) -> list[str]:
    """A colour for each cluster: eight that colour-blind readers can tell apart, then shades.

    No more than eight can be told apart by everyone, which is why pictures write numbers on clusters as well.
    With more than 24 clusters, colours come again.
    """
    shades = [*EIGHT, *(_mixed(c, 255, 0.45) for c in EIGHT), *(_mixed(c, 0, 0.4) for c in EIGHT)]
    return [shades[c % len(shades)] for c in range(n_clusters)]


def _mixed(colour: str, with_level: int, share: float) -> str:
    levels = (int(colour[i : i + 2], 16) for i in (1, 3, 5))
    return "#" + "".join(f"{round((1 - share) * level + share * with_level):02X}" for level in levels)


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
