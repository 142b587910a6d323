"""A drawing as bytes, for pages and files, without a display."""

from __future__ import annotations

from collections.abc import Callable
from io import BytesIO
from typing import Any

from symclust.plotting._style import Axes, matplotlib_module, page_style

__all__ = ["picture"]


def picture(
    draw: Callable[[Axes], Any],
    size: tuple[float, float] = (4.2, 4.2),
    *,
    dark: bool = False,
    file_format: str = "png",
) -> bytes:
    r"""Call ``draw(ax)`` on fresh axes and return the picture; the same drawing gives the same bytes.

    Parameters
    ----------
    draw : callable
        Draws on the axes it is given.
    size : tuple of float
        Width and height in inches.
    dark : bool
        Light lines on a dark page instead of dark lines on a light one.
    file_format : {"png", "svg"}
        Format of the bytes.

    Returns
    -------
    bytes
    """
    matplotlib, figures = matplotlib_module("style"), matplotlib_module("figure")
    file = BytesIO()
    with matplotlib.context(page_style(dark)):
        # A bare Figure, not pyplot's: nothing to close, no display asked for.
        figure = figures.Figure(figsize=size, layout="constrained")
        draw(figure.subplots())
        metadata = {"Date": None} if file_format == "svg" else None
        figure.savefig(file, format=file_format, dpi=160, metadata=metadata)
    return file.getvalue()
