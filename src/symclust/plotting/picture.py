"""A drawing as bytes, for pages and files, without a display."""

from __future__ import annotations

from collections.abc import Callable
from io import BytesIO
from typing import Any

from symclust.plotting._style import Axes, matplotlib_module, page_style


def picture(
    draw: Callable[[Axes], Any],
    size: tuple[float, float] = (4.2, 4.2),
    *,
    dark: bool = False,
    file_format: str = "png",
) -> bytes:
    """Bytes of what ``draw(ax)`` draws, as "png" or "svg"; the same for the same drawing."""
    matplotlib, figures = matplotlib_module("style"), matplotlib_module("figure")
    file = BytesIO()
    with matplotlib.context(page_style(dark)):
        # A bare Figure, not pyplot's: nothing to close, no display asked for.
        figure = figures.Figure(figsize=size, layout="constrained")
        draw(figure.subplots())
        metadata = {"Date": None} if file_format == "svg" else None
        figure.savefig(file, format=file_format, dpi=160, metadata=metadata)
    return file.getvalue()
