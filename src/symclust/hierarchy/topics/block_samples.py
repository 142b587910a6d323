"""Samples of a node in blocks on other machines, where they stay while they are many."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, replace
from functools import partial
from typing import Any, Self

import numpy as np
import scipy.sparse as sp

from symclust._kernels import nnls_rank_two
from symclust._types import Array
from symclust.hierarchy.topics.samples import FIRST_PART, GROWTH, ROUNDING, Samples, Sides
from symclust.operators import RowBlocks, gathered_entries


@dataclass(frozen=True, eq=False)
class BlockSamples:
    """Rows of X as `Samples` of each block, which answer the same questions as all in one place would.

    An iteration of a split is one pass: the caller sends C, each block solves for its rows of W, multiplies
    by its transpose and forgets them; XᵀW and WᵀW, d × 2 and 2 × 2 numbers, come back. Rows of W come to the
    caller when the split is done. A part of the rows with few entries is brought to the caller, and is then
    what it would have been if X had been there from the beginning.

    Blocks are not empty, and number their features as in `order`: the features of X, by falling number of
    samples that have them. `places` has the numbers in `order` of the features that are not zero in all of
    the samples; `columns` has the same features as columns of the matrix the samples were taken from.
    `members` are the numbers of the samples in X, `counts` their numbers of nonzero entries.
    """

    blocks: RowBlocks
    order: Array
    places: Array
    members: Array
    counts: Array
    columns: Array

    @classmethod
    def of(cls, rows: RowBlocks) -> Self | Samples:
        """Return the samples that have a feature at all, of blocks of CSR rows without stored zeros."""
        counts = np.concatenate(rows.gather(_counts_of_rows))
        if int(counts.sum()) <= gathered_entries():
            return Samples.of(sp.vstack(rows.gather(_itself), format="csr"))
        frequencies = rows.sum(_frequencies)[0]
        order = np.argsort(-frequencies, kind="stable")[: np.count_nonzero(frequencies)]
        place = np.full(rows.width, -1)
        place[order] = np.arange(len(order))
        members = np.flatnonzero(counts)
        sizes = np.array([np.count_nonzero(part) for part in rows.split(counts)])
        blocks = rows.map(_as_samples, order, place).resized(sizes)
        places = np.arange(len(order))
        return cls(blocks, order, places, members, counts[members], places)

    @property
    def dtype(self) -> np.dtype[Any]:
        """Type of the entries."""
        return self.blocks.dtype

    @property
    def shape(self) -> tuple[int, int]:
        """Samples and features."""
        return len(self.members), len(self.places)

    @property
    def features(self) -> Array:
        """Numbers of the features in X."""
        return self.order[self.places]

    # Parts -----------------------------------------------------------------------------------------------

    def take(self, chosen: Array) -> Self | Samples:
        """Return some of the samples, in the order they have here."""
        if int(self.counts[chosen].sum()) <= gathered_entries():
            return self._gathered(chosen)
        some, each = self._masks(chosen)
        sizes = np.array([np.unpackbits(packed).sum() for (packed,) in each])
        blocks = some.map(_take, each=each).resized(sizes)
        columns = np.flatnonzero(blocks.sum(_presence, len(self.order))[0][self.places])
        return replace(
            self,
            blocks=blocks,
            places=self.places[columns],
            columns=columns,
            members=self.members[chosen],
            counts=self.counts[chosen],
        )

    def _gathered(self, chosen: Array) -> Samples:
        """Return some of the samples in the memory of the caller."""
        some, each = self._masks(chosen)
        rows = sp.vstack(some.gather(_rows, len(self.order), each=each), format="csr")
        taken = Samples.of(rows, np.arange(len(self.order)))
        return replace(
            taken,
            members=self.members[chosen],
            features=self.order[taken.columns],
            columns=np.searchsorted(self.places, taken.columns),
        )

    def _masks(self, chosen: Array) -> tuple[RowBlocks, list[tuple[Array]]]:
        """Return the blocks that have some of the samples, and for each which, as bits."""
        is_chosen = np.zeros(len(self.members), dtype=bool)
        is_chosen[chosen] = True
        parts = self.blocks.split(is_chosen)
        some = self.blocks.chosen(np.flatnonzero([part.any() for part in parts]))
        return some, [(np.packbits(part),) for part in parts if part.any()]

    # Products --------------------------------------------------------------------------------------------

    def times(self, V: Array) -> Array:
        """Return X V, one row for each sample, to the caller."""
        return np.concatenate(self.blocks.gather(_times, self._spread(V), _itself))

    def total(self) -> Array:
        """Return the sum of the samples."""
        return self._through(np.zeros((len(self.places), 1)), np.ones_like)[0][:, 0].astype(self.dtype)

    def gram_times(self, v: Array) -> Array:
        """Return Xᵀ X v."""
        return self._through(v[:, None], _itself)[0][:, 0].astype(self.dtype)

    def squared_length(self, v: Array) -> float:
        """Return ‖X v‖²."""
        return float(self._through(v[:, None], _itself)[1][0, 0])

    def _through(self, V: Array, rule: Callable[[Array], Array]) -> tuple[Array, Array]:
        """Return XᵀF and FᵀF for the rows F = rule(X V), in double precision; one pass over the blocks."""
        R, G = self.blocks.sum(_pass, self._spread(V), rule)
        return R[self.places], G

    def _spread(self, V: Array) -> Array:
        """Return V with a row for each feature that a block may have."""
        full = np.zeros((len(self.order), V.shape[1]), dtype=self.dtype)
        full[self.places] = V
        return full

    # Splits ----------------------------------------------------------------------------------------------

    def two_directions(self, V: Array, steps: int) -> tuple[Array, Array]:
        """Return V, orthonormal after steps of orthogonal iteration, and UᵀU of U = X V."""
        for _ in range(steps):
            V = self._through(_orthonormal(V, self.dtype), _itself)[0]
        V = _orthonormal(V, self.dtype)
        return V, self._through(V, _itself)[1]

    def sum_of_sides(self, V: Array, sides: Sides) -> Array:
        """Return Xᵀ S of the two sides S that are read off U = X V."""
        C, G = self._through(V, sides)
        filled = sides.without_empty(np.sqrt(G.diagonal()))
        return (self._through(V, filled)[0] if filled.is_empty.any() else C).astype(self.dtype)

    def factor(self, C: Array, tol: float, max_iter: int) -> tuple[Array, Array, int]:
        """Return C and W of min ‖X − WCᵀ‖² over W, C ≥ 0 from a start C, and the number of iterations.

        The iteration of the compiled `rank_two_nmf`, step by step.
        """
        descent = _Descent(self, C)
        for n_iter in range(1, max_iter + 1):
            descent.advance()
            if descent.gradient <= max(tol * descent.first_gradient, descent.noise) or n_iter == max_iter:
                break
            descent.extrapolate()
        solve = partial(_best_rows, _gram(descent.C))
        return descent.C, np.concatenate(self.blocks.gather(_times, self._spread(descent.C), solve)), n_iter


AnySamples = Samples | BlockSamples


class _Descent:
    """Alternating least squares with two columns; W is never held, since it follows from C."""

    def __init__(self, samples: BlockSamples, C: Array) -> None:
        self.samples, self.C, self.before = samples, C, C
        self.explained, self.part = 0.0, FIRST_PART
        self.gradient = self.first_gradient = 0.0
        self.precision = ROUNDING * float(np.finfo(C.dtype).eps)

    @property
    def noise(self) -> float:
        return self.precision * self.explained

    def advance(self) -> None:
        """Replace C by the best one for the W that is best for C; a step too far is taken back before."""
        R, G = self._best_W()
        if float(np.sum(R * self.C)) < self.explained:  # ⟨W, XC⟩, what W explains of X
            self.part /= 2
            self.C = self.before
            R, G = self._best_W()
        gradient = self.C @ G - R
        self.gradient = float(np.linalg.norm(gradient[(gradient < 0) | (self.C > 0)]))
        self.first_gradient = self.first_gradient or self.gradient
        C = _best_rows(G, R.astype(self.C.dtype))
        self.explained = float(np.sum(C * R))
        self.C = _unit(C)

    def extrapolate(self) -> None:
        """Go on in the direction C came from."""
        here = self.C
        self.C = _unit(np.maximum(0, here + self.part * (here - self.before)).astype(here.dtype))
        self.before, self.part = here, min(1.0, GROWTH * self.part)

    def _best_W(self) -> tuple[Array, Array]:
        return self.samples._through(self.C, partial(_best_rows, _gram(self.C)))


def _orthonormal(V: Array, dtype: np.dtype[Any]) -> Array:
    """Return orthonormal columns; a second one that depends on the first becomes zero."""
    first, second = V.astype(np.float64).T
    length = np.linalg.norm(second)
    first = first / (np.linalg.norm(first) or 1)
    second = second - (first @ second) * first
    rest = np.linalg.norm(second)
    least = ROUNDING * np.finfo(dtype).eps * length
    return np.stack([first, second / rest if rest > least else 0 * second], axis=1).astype(dtype)


def _unit(C: Array) -> Array:
    lengths = np.linalg.norm(C.astype(np.float64), axis=0)
    return (C / np.where(lengths > 0, lengths, 1)).astype(C.dtype)


def _gram(C: Array) -> Array:
    C = C.astype(np.float64)
    return C.T @ C


# What is done with a block, on its worker -------------------------------------------------------------------


def _counts_of_rows(rows: sp.csr_array) -> Array:
    return np.diff(rows.indptr)


def _frequencies(rows: sp.csr_array) -> tuple[Array]:
    return (np.bincount(rows.indices, minlength=rows.shape[1]),)


def _as_samples(rows: sp.csr_array, order: Array, place: Array) -> Samples:
    """Return the samples of a block that have a feature, features numbered by their place in the order."""
    rows = sp.csr_array((rows.data, place[rows.indices], rows.indptr), shape=(rows.shape[0], len(order)))
    return Samples.of(rows, np.arange(len(order)))


def _take(block: Samples, packed: Array) -> Samples:
    return block.take(np.flatnonzero(np.unpackbits(packed, count=block.shape[0])))


def _rows(block: Samples, packed: Array, n_features: int) -> sp.csr_array:
    taken = _take(block, packed)
    indptr, indices, values = taken.rows
    return sp.csr_array((values, taken.features[indices], indptr), shape=(len(indptr) - 1, n_features))


def _presence(block: Samples, n_features: int) -> tuple[Array]:
    present = np.zeros(n_features, dtype=np.int32)
    present[block.features] = 1
    return (present,)


def _times(block: Samples, V: Array, rule: Callable[[Array], Array]) -> Array:
    return rule(block.times(V[block.features]))


def _pass(block: Samples, V: Array, rule: Callable[[Array], Array]) -> tuple[Array, Array]:
    F = _times(block, V, rule)
    R = np.zeros((V.shape[0], F.shape[1]))
    R[block.features] = block.transposed_times(F)
    F = F.astype(np.float64)
    return R, F.T @ F


def _itself(rows: Array) -> Array:
    return rows


def _best_rows(G: Array, R: Array) -> Array:
    """Return the rows x ≥ 0 of least xᵀGx/2 − rᵀx."""
    found = np.empty_like(R)
    nnls_rank_two(G.astype(R.dtype), np.ascontiguousarray(R), found)
    return found
