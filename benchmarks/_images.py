"""Images of the Berkeley segmentation data, with what people drew."""

from __future__ import annotations

import os
from collections.abc import Iterator
from pathlib import Path
from typing import NamedTuple

import numpy as np


class Drawn(NamedTuple):
    """An image, and the boundaries and regions of each annotator."""

    number: str
    image: np.ndarray
    boundaries: list[np.ndarray]
    regions: list[np.ndarray]


def drawn_images(step: int = 1) -> Iterator[Drawn]:
    """Yield every `step`-th image; nothing, with a note, where they are not there."""
    folder = os.environ.get("SYMCLUST_DATA")
    path = Path(folder) / "bsds20_dev.npz" if folder else None
    if path is None or not path.exists():
        print("(skipped images: set SYMCLUST_DATA to the folder that holds bsds20_dev.npz)")
        return
    with np.load(path, allow_pickle=False) as file:
        for number in file["ids"][::step]:
            maps, regions = (
                [file[name] for name in file.files if name.startswith(f"{kind}_{number}_")]
                for kind in ("bnd", "seg")
            )
            yield Drawn(str(number), file[f"img_{number}"], [one.astype(bool) for one in maps], regions)
