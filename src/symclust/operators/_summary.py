"""Checks and sums of a matrix that is larger than memory, from one pass over its entries."""

from __future__ import annotations

from abc import abstractmethod
from collections.abc import Sequence
from typing import Any, Self

import numpy as np

from symclust._threads import cached_property, split
from symclust._types import Array
from symclust.exceptions import InputError
from symclust.operators._base import Operator, sum_of_squares
from symclust.operators.disk._row_blocks import RowBlock

PIECE = 1 << 17  # entries of one step, as many as `sum_of_squares` adds up in one


class Summary:
    """Sums and extremes of all entries, gathered block by block.

    Whether A is symmetric is found from 64 bits for each entry, made of its pair and its value: those above
    the diagonal are added, those below taken off. Other than 0 means not symmetric for certain; 0 means
    symmetric, unless a coincidence of one in 10¹⁹ has happened.
    """

    def __init__(self, n: int, dtype: Any) -> None:
        self.n = n
        self.diagonal = np.zeros(n, dtype=dtype)
        self.smallest, self.largest = np.inf, -np.inf
        self.smallest_at = (0, 0)
        self._squares: list[float] = []
        self._rest = np.empty(0, dtype=dtype)  # of a piece that the next block goes on with
        self.squares, self.count, self.balance = 0.0, 0, np.uint64(0)

    def add(self, block: RowBlock) -> None:
        """Take a block in; blocks come in the order of the rows."""
        if not block.values.size:
            return
        self.count += block.values.size
        self._add_squares(block.values)
        self._find_extremes(block)
        numbers = np.arange(block.rows.start, block.rows.stop)
        for part in split(numbers.size, max(1, PIECE * numbers.size // block.values.size)):
            own = slice(block.indptr[part.start], block.indptr[part.stop])
            rows = np.repeat(numbers[part], np.diff(block.indptr[part.start : part.stop + 1]))
            self._add_pairs(rows, block.indices[own].astype(np.int64), block.values[own])

    def _add_squares(self, values: Array) -> None:
        """Add in the pieces in which `sum_of_squares` adds all of them: the bits are the same."""
        values = np.concatenate([self._rest, values])
        whole = values.size - values.size % PIECE
        self._squares += [sum_of_squares(values[part]) for part in split(whole, PIECE)]
        self._rest = values[whole:].copy()

    def _find_extremes(self, block: RowBlock) -> None:
        place = int(block.values.argmin())
        if block.values[place] < self.smallest:
            self.smallest = float(block.values[place])
            row = block.rows.start + int(np.searchsorted(block.indptr, place, side="right")) - 1
            self.smallest_at = row, int(block.indices[place])
        self.largest = max(self.largest, float(block.values.max()))

    def _add_pairs(self, rows: Array, columns: Array, values: Array) -> None:
        if (columns[1:] <= columns[:-1])[rows[1:] == rows[:-1]].any():
            raise InputError(
                "indices.npy is damaged: column numbers of a row do not increase. Build the folder again."
            )
        own = rows == columns
        self.diagonal[rows[own]] = values[own]
        marks = _marks(rows, columns, values, self.n)
        with np.errstate(over="ignore"):
            self.balance += marks[rows < columns].sum() - marks[rows > columns].sum()

    def finish(self) -> Self:
        """Add up what is left."""
        self.squares = float(sum([*self._squares, sum_of_squares(self._rest)]))
        self._squares, self._rest = [], self._rest[:0].copy()
        return self

    @classmethod
    def joined(cls, parts: Sequence[Summary]) -> Summary:
        """Summary of all rows from those of blocks, whose `diagonal` is that of their own rows."""
        whole = cls(0, parts[0].diagonal.dtype)
        whole.diagonal = np.concatenate([part.diagonal for part in parts])
        whole.squares = float(sum(part.squares for part in parts))
        whole.count = sum(part.count for part in parts)
        whole.balance = np.uint64(sum(int(part.balance) for part in parts) % 2**64)
        least = min(parts, key=lambda part: part.smallest)
        whole.smallest, whole.smallest_at = least.smallest, least.smallest_at
        whole.largest = max(part.largest for part in parts)
        return whole


class Summarized(Operator):
    """A whose checks and sums come from one pass over all entries.

    A subclass has `_summary` and `_compare_transposed`; if it is diag(d) B diag(d), also B as `_unscaled`.
    Then B is checked for symmetry, since d_i b_ij d_j is symmetric up to rounding only.
    """

    _summary: Any
    _unscaled: Any = None

    @abstractmethod
    def _compare_transposed(self) -> tuple[float, tuple[int, int]]:
        """Largest |a_ij − a_ji|, and its i and j."""

    def diagonal(self) -> Array:
        return self._summary.diagonal.copy()

    def _sum_of_squares(self) -> float:
        return self._summary.squares

    def share_of_zeros(self) -> float:
        """The share of entries that are not stored."""
        return 1 - self._summary.count / max(1, self.n * self.n)

    def largest(self) -> float:
        """Largest entry; entries that are not stored count as zero."""
        return max(self._summary.largest, 0.0) if self._summary.count < self.n**2 else self._summary.largest

    def negative_entry(self) -> tuple[int, int] | None:
        return self._summary.smallest_at if self._summary.smallest < 0 else None

    @cached_property
    def _worst_gap(self) -> tuple[float, tuple[int, int]]:
        unscaled = self._unscaled
        is_symmetric = self._summary.balance == 0 if unscaled is None else unscaled.asymmetry() == 0
        return (0.0, (0, 0)) if is_symmetric else self._compare_transposed()


def _marks(rows: Array, columns: Array, values: Array, n: int) -> Array:
    """64 bits for each entry that depend on its value and its pair, the same for (i, j) and (j, i)."""
    pairs = (np.minimum(rows, columns) * n + np.maximum(rows, columns)).astype(np.uint64)
    bits = values.astype(np.float64).view(np.uint64)
    return _stir(pairs + _stir(bits))


def _stir(bits: Array) -> Array:
    """Bits of which each depends on all: the last steps of the generator SplitMix64."""
    bits = bits + np.uint64(0x9E3779B97F4A7C15)
    bits = (bits ^ (bits >> np.uint64(30))) * np.uint64(0xBF58476D1CE4E5B9)
    bits = (bits ^ (bits >> np.uint64(27))) * np.uint64(0x94D049BB133111EB)
    return bits ^ (bits >> np.uint64(31))
