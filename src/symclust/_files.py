"""Files and folders that are written completely or not at all.

Both are written under a name that begins with ``.symclust-``, locked, and renamed at the end. Leftovers of a
killed process have no lock any more: the next process that writes into the same folder removes them.
"""

from __future__ import annotations

import errno
import os
import shutil
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager, suppress
from pathlib import Path
from secrets import token_hex
from typing import BinaryIO

from symclust.exceptions import InputError

try:
    import fcntl
except ImportError:  # Windows
    fcntl = None  # type: ignore[assignment]

PREFIX = ".symclust-"
FULL = tuple(getattr(errno, name) for name in ("ENOSPC", "EDQUOT", "EFBIG") if hasattr(errno, name))
OLD = 24 * 3600  # seconds; without locks, an older file is taken for left behind


@contextmanager
def replacing(path: Path) -> Iterator[BinaryIO]:
    """Write a file beside the old one and put it in its place: a failure leaves the old one as it was.

    Once it is in its place, it is on the disk, and stays there if the machine stops.
    """
    target = Path(os.path.realpath(path))  # a link stays a link
    if target.exists() and not target.is_file():  # a pipe or a device has no place to be put into
        with target.open("wb") as file:
            yield file
        return
    remove_abandoned(target.parent)
    beside, lock = _locked(target.parent, is_folder=False)
    try:
        with beside.open("r+b") as file:
            yield file
            file.flush()
            os.fsync(file.fileno())
        if target.exists():
            shutil.copymode(target, beside)
        beside.replace(target)
        sync(target.parent)
    finally:
        beside.unlink(missing_ok=True)
        _unlock(lock)


@contextmanager
def new_folder(parent: Path) -> Iterator[Path]:
    """Give a folder for temporary files in `parent`, which is removed at the end."""
    remove_abandoned(parent)
    folder, lock = _locked(parent, is_folder=True)
    try:
        yield folder
    finally:
        shutil.rmtree(folder)
        _unlock(lock)


def _locked(parent: Path, is_folder: bool) -> tuple[Path, int | None]:
    """Make a file or folder of a new name and lock it; return the descriptor that holds the lock."""
    while True:
        path = parent / f"{PREFIX}{token_hex(8)}"
        if is_folder:
            path.mkdir(mode=0o700)
        else:
            path.open("xb").close()
        if fcntl is None:
            return path, None
        try:
            lock = os.open(path, os.O_RDONLY)
        except FileNotFoundError:  # somebody took it for left behind before it was locked
            continue
        with suppress(OSError):  # some file systems have no locks; then nothing is removed there either
            fcntl.flock(lock, fcntl.LOCK_EX)
        if path.exists():
            return path, lock
        os.close(lock)


def _unlock(lock: int | None) -> None:
    if lock is not None:
        os.close(lock)


def remove_abandoned(folder: Path) -> None:
    """Remove what killed processes have left in a folder; what another one is writing stays."""
    with suppress(OSError):
        for path in folder.glob(f"{PREFIX}*"):
            with suppress(OSError):
                _remove_abandoned(path)


def _remove_abandoned(path: Path) -> None:
    if fcntl is None:
        if time.time() - path.stat().st_mtime > OLD:
            _remove(path)
        return
    lock = os.open(path, os.O_RDONLY | os.O_NOFOLLOW)
    try:
        fcntl.flock(lock, fcntl.LOCK_EX | fcntl.LOCK_NB)  # OSError: its writer lives
        _remove(path)
    finally:
        os.close(lock)


def _remove(path: Path) -> None:
    if path.is_dir():
        shutil.rmtree(path)
    else:
        path.unlink()


def sync(path: Path) -> None:
    """Have a file, or the names in a folder, written to the disk itself."""
    if path.is_dir() and os.name == "nt":  # which opens no folders
        return
    number = os.open(path, os.O_RDONLY if os.name != "nt" else os.O_RDWR)
    try:
        os.fsync(number)
    finally:
        os.close(number)


@contextmanager
def refuse_failure(folder: Path, doing: str, needed: Callable[[], int]) -> Iterator[None]:
    """Turn the failure of a disk into an `InputError` that names the folder, and the bytes if it is full."""
    try:
        yield
    except OSError as error:
        message = f"{doing} has failed in {str(folder)!r}: {error.strerror or error}."
        if (
            error.errno in FULL or error.errno is None
        ):  # None: of NumPy, which has written less than it should
            free = shutil.disk_usage(folder).free
            message += (
                f" About {needed():,} bytes are needed there, and {free:,} are free now that all that was "
                "written has been removed. Make room, or choose a folder on another disk."
            )
        raise InputError(message) from error
