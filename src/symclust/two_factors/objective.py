"""‖X − WCᵀ‖² as the base of its variants, and the least squares problem of one factor."""

from __future__ import annotations

from typing import ClassVar

import numpy as np

from symclust import _kernels
from symclust._threads import split
from symclust._types import Array
from symclust.constraints import Constraint
from symclust.nnls import hals
from symclust.objectives import SquaredDistance
from symclust.operators import Bipartite

MEASURED_ROWS = 1 << 11  # few enough for their gradient to stay in the cache


class TwoFactors(SquaredDistance):
    r"""Squared distance of X from the product of two nonnegative factors, thesis (2).

    .. math:: f(W, C) = \|X - WC^T\|_F^2

    The point is H = [W; C], the product AH = [XC; XᵀW], and G holds the two Gram matrices WᵀW and CᵀC. A
    variant replaces `penalty` and the two least squares problems; the gradient follows from them.

    """

    free: ClassVar[slice] = slice(None)  # the columns of W that are sought; the others are given
    separate_rows: ClassVar[bool] = True  # whether the problem of W is one for each of its rows
    operator: Bipartite

    def __init__(self, operator: Bipartite) -> None:
        self.operator = operator
        self.squared_norm = operator.squared_norm() / 2  # ‖X‖²: A holds X twice

    def initial(self) -> TwoFactors:
        """The plain objective that makes the starts."""
        return self

    def start(self, H: Array) -> Array:
        """The point for a start of `initial`, with the given columns."""
        return H

    def join(self, Y: Array, C: Array) -> Array:
        """H = [W; C] for the free columns Y of W."""
        return np.concatenate([Y, C])

    def offset(self, C: Array) -> Array:
        """The part of every sample that does not depend on its row of W."""
        return np.zeros(len(C), dtype=C.dtype)

    def samples_problem(self, C: Array, XC: Array, G: Array) -> RowProblem:
        """The problem of the free columns of W, with G = CᵀC."""
        return RowProblem(G, XC)

    def features_problem(self, W: Array, XtW: Array, G: Array) -> RowProblem:
        """The problem of C, with G = WᵀW."""
        return RowProblem(G, XtW)

    def gram(self, H: Array) -> Array:
        """WᵀW and CᵀC, in double precision."""
        return np.concatenate([_kernels.gram(side) for side in self.operator.sides(H)])

    def value(self, H: Array, AH: Array, G: Array) -> float:
        """f(H) through the trace form, exact to about 1e-16 ‖X‖²."""
        (W, _), (XC, _) = self.operator.sides(H), self.operator.sides(AH)
        fit = (
            self.squared_norm - 2 * _kernels.inner(W.reshape(-1), XC.reshape(-1)) + float(np.sum(G[0] * G[1]))
        )
        return max(fit, 0.0) + self.penalty(H)

    def measure(self, H: Array, AH: Array, constraint: Constraint) -> tuple[float, float]:
        """The objective and the norm of the projected gradient, thesis (9)-(10)."""
        (W, C), (XC, XtW) = self.operator.sides(H), self.operator.sides(AH)
        G = self.gram(H)
        squared = self.samples_problem(C, XC, G[1]).squared_slope(W[:, self.free], constraint)
        squared += self.features_problem(W, XtW, G[0]).squared_slope(C, constraint)
        return self.value(H, AH, G), 2 * float(np.sqrt(squared))  # their gradients are half of ours


class RowProblem:
    """Minimise ½ tr(YGYᵀ) − ⟨R, Y⟩ over Y ≥ 0: a problem for each row of Y by itself.

    G, on the left, is the Gram matrix of the other factor and the regularisation of this one, without
    negative entries; R, on the right, the product of the data with the other factor less the known part of
    the fit. Both arrays belong to the problem.
    """

    def __init__(self, left: Array, right: Array) -> None:
        self.left, self.right = np.asarray(left, dtype=right.dtype), right

    def gradient(self, Y: Array) -> Array:
        """YG − R."""
        gradient = Y @ self.left
        gradient -= self.right
        return gradient

    def squared_slope(self, Y: Array, constraint: Constraint) -> float:
        """The squared norm of the projected gradient, holding that of some rows at a time."""
        total = 0.0
        for rows in split(len(Y), MEASURED_ROWS):
            gradient = RowProblem(self.left, self.right[rows]).gradient(Y[rows])
            projected = constraint.projected_gradient(Y[rows], gradient).reshape(-1)
            total += _kernels.inner(projected, projected)
        return total

    def parts(self, Y: Array) -> tuple[Array, Array]:
        """(repulsion, attraction) without negative entries; the gradient is their difference."""
        return Y @ self.left + np.maximum(-self.right, 0), np.maximum(self.right, 0)

    def sweep(self, Y: Array) -> Array:
        """Y after its entries were set to their best values, one column after the other."""
        return hals(self.left, self.right, Y)

    def lipschitz(self) -> float:
        """The largest curvature, the largest eigenvalue of G."""
        return float(np.linalg.eigvalsh(self.left.astype(np.float64))[-1])
