"""Pieces of experiments: the unit that is run at once, and kept."""

from __future__ import annotations

import time
from collections.abc import Callable, Iterable, Iterator, Mapping
from dataclasses import dataclass
from pathlib import Path

from symclust.reproduce._printed import Found, Key


@dataclass(frozen=True)
class Extent:
    """Where the data are, and whether few runs are enough."""

    data: Path
    quick: bool = False

    def runs(self, full: int, quick: int = 2) -> int:
        """Return the number of repetitions."""
        return quick if self.quick else full


@dataclass(frozen=True)
class Piece:
    """A part of an experiment, by the name that its results are kept under.

    `work` yields numbers of the `tables`, from `files` in the folder of the data; without these, the rows or
    columns `about` are lost. A quick run leaves out a `slow` piece.
    """

    name: str
    tables: tuple[str, ...]
    work: Callable[[], Iterable[Found]]
    files: tuple[str, ...] = ()
    about: tuple[str, ...] = ("*",)
    slow: bool = False


def row_of(table: str, row: str, numbers: Mapping[str, float], runs: int = 1) -> Iterator[Found]:
    """Yield the numbers of a row, by their columns."""
    for column, value in numbers.items():
        yield Found(Key(table, row, column), float(value), runs)


def least_seconds(work: Callable[[], object], runs: int) -> float:
    """Return the processor time of the run that was disturbed least."""
    found = []
    for _ in range(runs):
        begun = time.process_time()
        work()
        found.append(time.process_time() - begun)
    return min(found)
