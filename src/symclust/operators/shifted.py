"""A − λL: a similarity with a graph regulariser folded in."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from typing import Any

import numpy as np
import scipy.sparse as sp

from symclust._threads import cached_property, split
from symclust._types import Array
from symclust.exceptions import InputError
from symclust.operators._arrays import as_subset, as_vector
from symclust.operators._base import CombinedCursor, Cursor, Operator
from symclust.operators._conversion import as_operator
from symclust.operators._factors import FactoredSum
from symclust.operators.sparse import Sparse

__all__ = ["Shifted"]

ROWS = 4096  # of a product that are put together at a time


class Shifted(Operator):
    """M = A − λL with the Laplacian L = D − W of a graph W (constrained (6)), seen through products.

    Neither M nor L is formed: M H = A H + λ W H − λ D H. Without a graph of its own W is A itself; then
    M = (1 + λ)A − λD, and a product with M costs one with A.

    Parameters
    ----------
    operator : anything `as_operator` reads
        The similarity A.
    graph : anything `as_operator` reads, or None
        The graph W, with as many nodes; an operator must have the dtype of A. None takes A.
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
    >>> Shifted(edge, None, 0.5).toarray().tolist()
    [[-0.5, 1.5], [1.5, -0.5]]
    """

    def __init__(self, operator: Any, graph: Any, weight: float, degrees: Any = None) -> None:
        self.operator = as_operator(operator)
        self.graph = (
            self.operator
            if graph is None or graph is operator
            else as_operator(graph, dtype=self.operator.dtype)
        )
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
        # M = Σ c T − diag(shift): two terms, or one if the graph is A.
        one = self.graph is self.operator
        self._terms = (
            [(1 + self.weight, self.operator)] if one else [(1.0, self.operator), (self.weight, self.graph)]
        )
        self._as_parts(*(part for _, part in self._terms))

    def _sum(self, parts: Iterable[Array]) -> Array:
        """Σ c X for what each of the terms gives, X."""
        total: Any = None
        for (factor, _), part in zip(self._terms, parts, strict=True):
            scaled = part * self.dtype.type(factor)
            total = scaled if total is None else np.add(total, scaled, out=total)
        return total

    def _shifted(self, product: Array, H: Array, rows: slice) -> Array:
        product -= self._shift[rows, None] * H[rows]
        return product

    def _product(self, H: Array) -> Array:
        total, *others = [part._product(H) for _, part in self._terms]
        # Products are fresh arrays. Some rows at a time: whole temporaries would be moved through memory.
        for rows in split(self.n, ROWS):
            block = total[rows]
            block *= self.dtype.type(self._terms[0][0])
            for (factor, _), other in zip(self._terms[1:], others, strict=True):
                block += self.dtype.type(factor) * other[rows]
            self._shifted(block, H, rows)
        return total

    def _rows(self, index: Any) -> Array:
        out = self._sum(part._rows(index) for _, part in self._terms)
        out[np.arange(out.shape[0]), np.arange(self.n)[index]] -= self._shift[index]
        return out

    def block(self, rows: slice) -> Array:
        out = self._sum(part.block(rows) for _, part in self._terms)
        out[np.diag_indices_from(out)] -= self._shift[rows]
        return out

    def row_products(self, H: Array) -> Cursor:
        def combine(rows: slice, parts: list[Array]) -> Array:
            return self._shifted(self._sum(parts), H, rows)

        return CombinedCursor([part for _, part in self._terms], H, combine)

    @cached_property
    def factored(self) -> FactoredSum | None:
        """A or W as a factored sum, plus the other one, if it is sparse, and −λD."""
        sums = [part.factored.times(factor) for factor, part in self._terms if part.factored is not None]
        sparse = [factor * part.csr for factor, part in self._terms if isinstance(part, Sparse)]
        if len(sums) != 1 or len(sums) + len(sparse) < len(self._terms):
            return None
        whole = sums[0].plus(sp.diags_array(-self._shift))
        return whole.plus(sparse[0].astype(self.dtype, copy=False)) if sparse else whole

    def diagonal(self) -> Array:
        return self._sum(part.diagonal() for _, part in self._terms) - self._shift

    def isolated(self) -> Array:
        """A mask of the rows that have no entries in A nor in W; their degrees are zero too."""
        return np.logical_and.reduce([part.isolated() for _, part in self._terms])

    def _sum_of_squares(self) -> float:
        """‖Σ c T‖² − 2⟨Σ c T, λD⟩ + ‖λD‖², term by term.

        ⟨A, W⟩ visits the edges of W alone if it is sparse; otherwise all rows are visited.
        """
        inner = 0.0
        if self.graph is not self.operator:
            if not isinstance(self.graph, Sparse):
                return super()._sum_of_squares()
            inner = _inner(self.operator, self.graph)
        shift = self._shift.astype(np.float64)
        squares = sum(factor**2 * part.squared_norm() for factor, part in self._terms)
        crossed = sum(factor * part.diagonal().astype(np.float64) for factor, part in self._terms)
        diagonal = float((shift**2).sum()) - 2 * float((crossed * shift).sum())
        return max(0.0, squares + 2 * self.weight * inner + diagonal)

    def is_nonnegative(self) -> bool:
        """Whether no entry is negative; only the diagonal can be if A, W and λ are nonnegative."""
        if self.weight >= 0 and all(part.is_nonnegative() for _, part in self._terms):
            return bool(self.diagonal().min() >= 0)
        return super().is_nonnegative()

    def asymmetry(self) -> float:
        found = [abs(factor) * part.asymmetry() for factor, part in self._terms]
        return super().asymmetry() if sum(worst > 0 for worst in found) > 1 else max(found)

    def asymmetric_entry(self) -> tuple[int, int]:
        """The i and j for which the less symmetric of A and W differs most from its transpose."""
        _, worst = max(self._terms, key=lambda term: abs(term[0]) * term[1].asymmetry())
        return worst.asymmetric_entry()

    def submatrix(self, index: Any) -> Shifted:
        """The operator on the chosen rows and columns; L is cut, not made anew from fewer edges."""
        index = as_subset(index, self.n)
        return self._like(lambda part: part.submatrix(index), self.laplacian_degrees[index])

    def scaled(self, d: Any) -> Shifted:
        d = as_vector(d, self.n, self.dtype, "d")
        return self._like(lambda part: part.scaled(d), d**2 * self.laplacian_degrees)

    def _like(self, change: Callable[[Operator], Operator], degrees: Array) -> Shifted:
        A, *W = [change(part) for _, part in self._terms]
        return Shifted(A, W[0] if W else None, self.weight, degrees)


def _inner(A: Operator, W: Sparse) -> float:
    """⟨A, W⟩, a bounded number of edges of W at a time."""
    total = 0.0
    for part in split(W.values.size, 1 << 18):
        rows = np.searchsorted(W.indptr, np.arange(part.start, part.stop), side="right") - 1
        entries = A.entries(rows, W.indices[part]).astype(np.float64)
        total += float((entries * W.values[part]).sum())
    return total
