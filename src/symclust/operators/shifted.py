"""A − λL: a similarity with a graph regulariser folded in."""

from __future__ import annotations

from typing import Any

import numpy as np

from symclust._threads import split
from symclust.exceptions import InputError
from symclust.operators._arrays import Array, as_subset, as_vector
from symclust.operators._base import Operator
from symclust.operators._conversion import as_operator
from symclust.operators._cursors import Cursor
from symclust.operators.sparse import Sparse

__all__ = ["Shifted", "ShiftedRowProducts"]


class Shifted(Operator):
    """M = A − λL with the Laplacian L = D − W of a graph W (constrained (6)), seen through products.

    Neither M nor L is formed: M H = A H + λ W H − λ D H.

    Parameters
    ----------
    operator : anything `as_operator` reads
        The similarity A.
    graph : anything `as_operator` reads
        The graph W, with as many nodes; an operator must have the dtype of A.
    weight : float
        The weight λ of the regulariser.
    degrees : array of shape (n,), optional
        The diagonal of D; the row sums of W by default.

    Examples
    --------
    >>> import numpy as np
    >>> from symclust.operators import Shifted
    >>> edge = np.array([[0.0, 1.0], [1.0, 0.0]])
    >>> Shifted(np.eye(2), edge, 0.5).toarray().tolist()
    [[0.5, 0.5], [0.5, 0.5]]
    """

    def __init__(self, operator: Any, graph: Any, weight: float, degrees: Any = None) -> None:
        self.operator = as_operator(operator)
        self.graph = as_operator(graph, dtype=self.operator.dtype)
        if self.graph.n != self.operator.n:
            raise InputError(
                f"The graph has shape {self.graph.shape} and the similarity {self.operator.shape}: "
                "both must have the same nodes."
            )
        super().__init__(self.operator.n, self.operator.dtype)
        self.weight = float(weight)
        degrees = self.graph.degrees() if degrees is None else degrees
        self.laplacian_degrees = as_vector(degrees, self.n, self.dtype, "degrees")
        self._shift = self.dtype.type(self.weight) * self.laplacian_degrees
        parts = (self.operator, self.graph)
        self._rows_are_thread_safe = all(part._rows_are_thread_safe for part in parts)

    def _combine(self, AH: Array, WH: Array, H: Array, rows: slice) -> Array:
        # M H = A H + λ (W H − D H), in the array of W H, which is fresh.
        WH *= self.dtype.type(self.weight)
        WH += AH
        WH -= self._shift[rows, None] * H[rows]
        return WH

    def _product(self, H: Array) -> Array:
        return self._combine(self.operator._product(H), self.graph._product(H), H, slice(0, self.n))

    def _rows(self, index: Any) -> Array:
        out = self.dtype.type(self.weight) * self.graph._rows(index)
        out += self.operator._rows(index)
        out[np.arange(out.shape[0]), np.arange(self.n)[index]] -= self._shift[index]
        return out

    def row_products(self, H: Array) -> Cursor:
        """Return a cursor made of those of A and W."""
        return ShiftedRowProducts(self, H)

    def diagonal(self) -> Array:
        """Return the n diagonal entries."""
        return self.operator.diagonal() + self.dtype.type(self.weight) * self.graph.diagonal() - self._shift

    def squared_norm(self) -> float:
        """Return ‖A‖² + λ²‖W‖² + ‖λD‖² + 2λ⟨A, W⟩ − 2λ⟨A + λW, D⟩.

        ⟨A, W⟩ visits the edges of W alone if it is sparse; otherwise all rows are visited.
        """
        if not isinstance(self.graph, Sparse):
            return super().squared_norm()
        weight, shift = self.weight, self._shift.astype(np.float64)
        squares = (
            self.operator.squared_norm() + weight**2 * self.graph.squared_norm() + float((shift**2).sum())
        )
        crossed = self.operator.diagonal() + weight * self.graph.diagonal().astype(np.float64)
        return max(
            0.0, squares + 2 * weight * _inner(self.operator, self.graph) - 2 * float((crossed * shift).sum())
        )

    def is_nonnegative(self) -> bool:
        """Whether no entry is negative; only the diagonal can be if A, W and λ are nonnegative."""
        if self.weight >= 0 and self.operator.is_nonnegative() and self.graph.is_nonnegative():
            return bool(self.diagonal().min() >= 0)
        return super().is_nonnegative()

    def asymmetry(self) -> float:
        """Return the largest difference of m_ij and m_ji; 0.0 if A and W are symmetric."""
        ours, graphs = self.operator.asymmetry(), abs(self.weight) * self.graph.asymmetry()
        return super().asymmetry() if ours and graphs else max(ours, graphs)

    def submatrix(self, index: Any) -> Shifted:
        """Return the operator on the chosen rows and columns; L is cut, not made anew from fewer edges."""
        index = as_subset(index, self.n)
        parts = self.operator.submatrix(index), self.graph.submatrix(index)
        return Shifted(*parts, self.weight, self.laplacian_degrees[index])

    def scaled(self, d: Any) -> Shifted:
        """Return the operator diag(d) M diag(d)."""
        d = as_vector(d, self.n, self.dtype, "d")
        return Shifted(
            self.operator.scaled(d), self.graph.scaled(d), self.weight, d**2 * self.laplacian_degrees
        )


class ShiftedRowProducts:
    """Follows H through the cursors of A and W."""

    def __init__(self, operator: Shifted, H: Array) -> None:
        self._shifted = operator
        self._H = H
        self._parts = operator.operator.row_products(H), operator.graph.row_products(H)

    def product(self, rows: slice) -> Array:
        """Return M[rows] @ H for the H of now."""
        AH, WH = (part.product(rows) for part in self._parts)
        return self._shifted._combine(AH, WH, self._H, rows)

    def update(self, rows: slice, delta: Array) -> None:
        """Tell both parts that H[rows] has changed by `delta`."""
        for part in self._parts:
            part.update(rows, delta)


def _inner(A: Operator, W: Sparse) -> float:
    """Return ⟨A, W⟩, a bounded number of edges of W at a time."""
    total = 0.0
    for part in split(W.values.size, 1 << 18):
        rows = np.searchsorted(W.indptr, np.arange(part.start, part.stop), side="right") - 1
        entries = A.entries(rows, W.indices[part]).astype(np.float64)
        total += float((entries * W.values[part]).sum())
    return total
