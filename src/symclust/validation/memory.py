"""Room in memory."""

from __future__ import annotations

import os

import numpy as np

from symclust.exceptions import InputError


def check_memory(size: int, what: str, advice: str) -> None:
    """Refuse an array of `size` bytes that memory does not hold, before work is spent on it."""
    available = _available_memory()
    if available is None or size <= available:
        try:
            np.empty(size, dtype=np.uint8)  # if nothing is known of memory, the system decides
            return
        except (MemoryError, ValueError):
            pass
    there = "" if available is None else f", of which {available / 1e9:.3g} GB are available"
    raise InputError(f"{what} would take {size / 1e9:.3g} GB of memory{there}. {advice}")


def _available_memory() -> int | None:
    """The bytes that can be had without moving programs out of memory, or None if unknown."""
    try:
        with open("/proc/meminfo", encoding="ascii") as lines:
            found = dict(line.split(":", 1) for line in lines)
        return 1024 * int(found["MemAvailable"].split()[0])
    except (OSError, KeyError, ValueError):
        pass
    try:  # all there is: of what other programs use nothing is known
        return os.sysconf("SC_PHYS_PAGES") * os.sysconf("SC_PAGE_SIZE")
    except (AttributeError, OSError, ValueError):
        return None
