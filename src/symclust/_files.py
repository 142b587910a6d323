"""Files that are written completely or not at all."""

from __future__ import annotations

import os
import shutil
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from secrets import token_hex
from typing import BinaryIO

__all__ = ["replacing"]


@contextmanager
def replacing(path: Path) -> Iterator[BinaryIO]:
    """Write a file beside the old one and put it in its place: a failure leaves the old one as it was.

    Examples
    --------
    >>> from pathlib import Path
    >>> from tempfile import TemporaryDirectory
    >>> from symclust._files import replacing
    >>> with TemporaryDirectory() as folder:
    ...     path = Path(folder) / "numbers.txt"
    ...     with replacing(path) as file:
    ...         _ = file.write(b"1 2 3")
    ...     path.read_text()
    '1 2 3'
    """
    target = Path(os.path.realpath(path))  # a link stays a link
    if target.exists() and not target.is_file():  # a pipe or a device has no place to be put into
        with target.open("wb") as file:
            yield file
        return
    beside = target.with_name(f".symclust-{token_hex(8)}")
    try:
        with beside.open("xb") as file:
            yield file
        if target.exists():
            shutil.copymode(target, beside)
        beside.replace(target)
    finally:
        beside.unlink(missing_ok=True)
