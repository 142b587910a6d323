"""`symclust segment`: an image into regions."""

from __future__ import annotations

from functools import partial
from pathlib import Path
from typing import Annotated, Literal

import typer

import symclust
from symclust.cli._answer import Outcome, show_findings, summary_of
from symclust.cli._input import OfImages, read_input
from symclust.cli._output import PAGES, PANEL, ToPage, aim
from symclust.cli._session import Work

__all__ = ["segment"]

MASKS, PICTURES = (".png", ".tif", ".tiff", ".npy"), (".png", ".jpg", ".jpeg", ".tif", ".tiff")


Way = Literal["clusters", "embedding", "spectral_clusters", "spectral_embedding"]


Preset = Literal["full", "fast", "large"]


Style = Literal["both", "contours", "colours"]


def segment(
    image: Annotated[
        Path, typer.Argument(help="The image: .png, .jpg, .tif, .bmp, .gif or .npy.", show_default=False)
    ],
    segments: Annotated[
        int | None, typer.Option("--segments", "-k", min=1, help="How many regions; by default chosen.")
    ] = None,
    way: Annotated[Way, typer.Option("--way", help="How regions are found.")] = "clusters",
    preset: Annotated[
        Preset, typer.Option("--preset", help="fast compares fewer pixels, large keeps more of them.")
    ] = "fast",
    output: Annotated[
        Path | None,
        typer.Option(
            "--output",
            "-o",
            help="Mask with the region of each pixel: .png or .tif (from 1 on; 0 is none), or .npy (from 0 "
            "on; -1 is none).",
            rich_help_panel=PANEL,
        ),
    ] = None,
    overlay: Annotated[
        Path | None,
        typer.Option("--overlay", help="Picture of the regions: .png, .jpg or .tif.", rich_help_panel=PANEL),
    ] = None,
    style: Annotated[
        Style, typer.Option("--style", help="What the picture shows.", rich_help_panel=PANEL)
    ] = "both",
    *,
    reading: OfImages,
    to: ToPage,
    session: Work,
) -> None:
    """Divide an image into regions that people would draw.

    Example: `symclust segment photo.jpg --segments 12 --output mask.png --overlay regions.png`
    """
    aim(session, mask=(output, MASKS), picture=(overlay, PICTURES), report=(to.report, PAGES))
    found = read_input(session, image, reading, ("image",), only="image")
    with session.progress("Segmenting") as bar:
        answer = symclust.segment_image(
            found.data, segments, way=way, preset=preset, random_state=session.seed, callback=bar.steps
        )
    session.begin_writing()
    for note in answer.notes:
        session.note(note)
    written = Outcome(session, answer, title=f"Regions in {image.name}")
    show_findings(written)
    session.write("mask", answer.save_image)
    session.write("picture", partial(answer.save_image, style=style))
    written.write_page()
    about = {"command": "segment", "file": str(image), "notes": answer.notes, "shape": answer.labels.shape}
    session.finish(lambda: {**about, **summary_of(written)})
