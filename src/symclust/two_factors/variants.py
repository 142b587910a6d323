"""‖X − WCᵀ‖² with sparse memberships, thesis (11), or with a baseline, thesis (44)-(46)."""

from __future__ import annotations

from typing import ClassVar

import numpy as np

from symclust import _kernels
from symclust._types import Array
from symclust.operators import Bipartite
from symclust.two_factors.objective import RowProblem, TwoFactors

FLOOR = 1e-2  # of the first offset, relative to a feature's mean


class SparseRows(TwoFactors):
    r"""An L1 term on the rows of W and a ridge on C, thesis (11); its W is our C, its H our W.

    .. math:: f(W, C) = \|X - WC^T\|_F^2 + \alpha \|C\|_F^2 + \beta \sum_i \|w_i\|_1^2

    α is `ridge` and β `sparsity`. The ridge keeps W from going to zero while C grows, which would make the L1
    term vanish.
    """

    def __init__(self, operator: Bipartite, ridge: float, sparsity: float) -> None:
        super().__init__(operator)
        self.ridge, self.sparsity = float(ridge), float(sparsity)

    def penalty(self, H: Array) -> float:
        """α‖C‖² + β Σ ‖w_i‖₁²."""
        W, C = self.operator.sides(H)
        sums, entries = W.sum(axis=1), C.reshape(-1)
        return self.ridge * _kernels.inner(entries, entries) + self.sparsity * _kernels.inner(sums, sums)

    def samples_problem(self, C: Array, XC: Array, G: Array) -> RowProblem:
        """The problem with CᵀC + β11ᵀ."""
        return RowProblem(G + self.sparsity, XC)

    def features_problem(self, W: Array, XtW: Array, G: Array) -> RowProblem:
        """The problem with WᵀW + αI."""
        return RowProblem(G + self.ridge * np.eye(len(G)), XtW)


class Affine(TwoFactors):
    r"""The factorization of X less an offset b of the features, thesis (46).

    .. math:: f(W, C, b) = \|X - \mathbf{1}b^T - WC^T\|_F^2

    The first column of W is given, and that of C holds the offset: (45). C and b are then one least squares
    problem, and W one with the known column's part taken off the right-hand side. The given column holds the
    root of X's mean, its `level`, where (45) has 1: so its size is that of the others in whatever unit X is.
    """

    free: ClassVar[slice] = slice(1, None)

    def __init__(self, operator: Bipartite) -> None:
        super().__init__(operator)
        self.level = float(np.sqrt(operator.mean())) or 1.0

    def initial(self) -> TwoFactors:
        """The objective of X less the smallest entry of each feature.

        The offset can hide in C as long as every sample has memberships, so that the minimum is flat; started
        with the largest offset that all samples have, the factors take no part of it.
        """
        return TwoFactors(self.operator.less_minima())

    def start(self, H: Array) -> Array:
        """Add the offset: the smallest entries, and a little more than zero for every solver to move."""
        W, C = self.operator.sides(H)
        means = self.operator.transposed_times(np.ones((len(W), 1), dtype=H.dtype)) / len(W)
        offset = np.maximum(self.operator.feature_minima()[:, None], H.dtype.type(FLOOR) * means)
        return self.join(W, np.hstack([offset / H.dtype.type(self.level), C]))

    def join(self, Y: Array, C: Array) -> Array:
        """H with the given column before Y."""
        given = np.full((len(Y), 1), self.level, dtype=C.dtype)
        return np.concatenate([np.hstack([given, Y]), C])

    def offset(self, C: Array) -> Array:
        """The offset b."""
        return C[:, 0] * C.dtype.type(self.level)

    def samples_problem(self, C: Array, XC: Array, G: Array) -> RowProblem:
        """The problem of W without its first column: (X − 1bᵀ)C on the right."""
        return RowProblem(G[1:, 1:], XC[:, 1:] - (self.level * G[0, 1:]).astype(XC.dtype))
