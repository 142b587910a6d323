"""Nonnegative parts of the leading singular vectors, with their zeros as they are or filled."""

from __future__ import annotations

from functools import reduce
from typing import Any, ClassVar

import numpy as np

from symclust._types import Array
from symclust.operators import Operator
from symclust.starts._base import Formula
from symclust.starts.random import Random, entry_level

__all__ = ["Nndsvd", "Nndsvda", "Nndsvdar"]

ACCURACY = 1e-3  # of the singular values: the descent moves on from here anyway
SHARE = 0.01  # of the entries that would give the mean of A: the random numbers of `Nndsvdar`


class Nndsvd(Formula):
    """The nonnegative double singular value decomposition of A (Boutsidis and Gallopoulos 2008).

    Of each singular pair (u, v) the positive or the negative parts are kept, whichever product is larger,
    with lengths √(σ‖u±‖‖v±‖). Factors of a data matrix get u and v; a symmetric A has u = v. Entries that are
    zero here stay zero under multiplicative updates: `Nndsvda` and `Nndsvdar` fill them. Columns beyond the
    rank of A are uniform random numbers; the others do not depend on the random state.
    """

    fixed: ClassVar[bool] = True
    two_factors: ClassVar[bool] = True

    def factor(self, objective: Any, n_columns: int, rng: np.random.RandomState | None = None) -> Array:
        """H; without `rng`, random numbers are those of a fixed seed."""
        operator = objective.operator
        H = Random().factor(objective, n_columns, rng)
        most = min([n_columns, operator.n - 1, *(len(side) for side in operator.sides(H))])
        values, vectors = operator.eigsh(max(most, 1), tol=ACCURACY)
        for l in np.flatnonzero(values > ACCURACY * values[0]):
            H[:, l] = _larger_part(operator, vectors[:, l], float(values[l]))
        return H


class Nndsvda(Nndsvd):
    """`Nndsvd` with √(m/k) in place of zeros, m the mean of A, so that every solver can move them.

    A product of such entries has the mean of A. The mean itself, as the authors have it, is on the scale of A
    and not of its factors: for a large A, little else would be left of the start.
    """

    def factor(self, objective: Any, n_columns: int, rng: np.random.RandomState | None = None) -> Array:
        """H without zeros."""
        H = super().factor(objective, n_columns, rng)
        H[H == 0] = entry_level(objective, n_columns)
        return H


class Nndsvdar(Nndsvd):
    """`Nndsvd` with random numbers in place of zeros, up to a hundredth of the entries of `Nndsvda`."""

    fixed: ClassVar[bool] = False

    def factor(self, objective: Any, n_columns: int, rng: np.random.RandomState | None = None) -> Array:
        """H without zeros."""
        rng = rng or np.random.RandomState(0)
        H = super().factor(objective, n_columns, rng)
        zero = H == 0
        H[zero] = SHARE * entry_level(objective, n_columns) * rng.random_sample(np.count_nonzero(zero))
        return H


def _larger_part(operator: Operator, vector: Array, value: float) -> Array:
    """√σ times the larger of the positive and the negative part of an eigenvector.

    The sides of an eigenvector of [[0, X], [Xᵀ, 0]] are a pair of singular vectors, each of length 1/√2.
    """
    columns = []
    for signed in (vector, -vector):
        parts = [np.maximum(side, 0) / np.linalg.norm(side) for side in operator.sides(signed)]
        norms = [float(np.linalg.norm(part)) for part in parts]
        size = reduce(lambda a, b: a * b, norms) ** (1 / len(norms))  # √(‖u±‖‖v±‖)
        scales = [np.sqrt(value) * size / norm if norm else 0.0 for norm in norms]
        column = np.concatenate([scale * part for scale, part in zip(scales, parts, strict=True)])
        columns.append((size, column))
    return max(columns, key=lambda column: column[0])[1]
