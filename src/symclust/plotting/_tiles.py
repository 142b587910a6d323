"""Tiles of similarity in colour."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

from symclust.plotting._matplotlib import matplotlib_module
from symclust.plotting._style import SIGNED_MAP, is_dark, similarity_colours

if TYPE_CHECKING:
    from matplotlib.axes import Axes

__all__ = ["draw_tiles"]


def draw_tiles(ax: Axes, tiles: NDArray[np.floating], n: int) -> None:
    """Fill `ax` with tiles; its coordinates count the n samples, whatever the number of tiles."""
    # A few very similar pairs would leave all others pale: full colour starts at the 99th percentile.
    sizes = np.abs(tiles[tiles != 0])
    top = float(np.quantile(sizes, 0.99)) if sizes.size else 1.0
    colours = _signed(top) if tiles.min() < 0 else _from_page(ax, top)
    # Nearest: smoothing would blur single pairs and, with its many colours, make files several times as
    # large.
    ax.imshow(tiles, extent=(0, n, n, 0), interpolation="nearest", **colours)


def _signed(top: float) -> dict[str, Any]:
    return {"cmap": SIGNED_MAP, "vmin": -top, "vmax": top}


def _from_page(ax: Axes, top: float) -> dict[str, Any]:
    """Colours that start at the page's own, so that zeros vanish; the power lifts small similarities."""
    colors = matplotlib_module("colors")
    scale = [ax.get_facecolor(), *similarity_colours(is_dark(ax))]
    return {
        "cmap": colors.LinearSegmentedColormap.from_list("similarity", scale, N=32),
        "norm": colors.PowerNorm(0.6, vmin=0.0, vmax=top, clip=True),
    }
