"""A with some of its entries taken as zero."""

from __future__ import annotations

from typing import Any

import numpy as np
import scipy.sparse as sp

from symclust._threads import cached_property
from symclust._types import Array
from symclust.operators._base import CombinedCursor, Cursor, Operator
from symclust.operators._factors import FactoredSum
from symclust.operators.sparse import Sparse

__all__ = ["Masked"]


class Masked(Operator):
    """The operator A − N∘A for a sparse symmetric mask N: no entry of A is copied but those that are hidden.

    ``operator.without(mask)`` makes one if A cannot simply leave its entries out.

    Parameters
    ----------
    operator : Operator
        A.
    mask : csr_array of shape (n, n)
        Where it is nonzero, the operator is zero. Symmetric.

    Examples
    --------
    >>> import numpy as np
    >>> import scipy.sparse
    >>> from symclust.operators import LowRank, Masked
    >>> A = LowRank(np.ones((3, 1)), np.array([2.0]))
    >>> hidden = scipy.sparse.csr_array(([1, 1], ([0, 2], [2, 0])), shape=(3, 3))
    >>> Masked(A, hidden).toarray()
    array([[2., 2., 0.],
           [2., 2., 2.],
           [0., 2., 2.]])
    """

    def __init__(self, operator: Operator, mask: Any) -> None:
        super().__init__(operator.n, operator.dtype)
        pattern = sp.csr_array(mask).nonzero()
        values = operator.entries(*pattern)
        self.operator = operator
        self.hidden = Sparse(sp.csr_array((values, pattern), shape=self.shape))
        self._as_parts(operator)

    def _product(self, H: Array) -> Array:
        out = self.operator._product(H)
        out -= self.hidden._product(H)
        return out

    def _rows(self, index: Any) -> Array:
        out = np.array(self.operator._rows(index))
        out[self.hidden.csr[index].tocoo().coords] = 0  # not by subtraction: it leaves rounding
        return out

    def row_products(self, H: Array) -> Cursor:
        return CombinedCursor([self.operator, self.hidden], H, lambda _, parts: parts[0] - parts[1])

    @cached_property
    def factored(self) -> FactoredSum | None:
        """The sum of A less its hidden entries, if A is one."""
        whole = self.operator.factored
        return whole and whole.plus(-self.hidden.csr)

    def diagonal(self) -> Array:
        diagonal = self.operator.diagonal()
        hidden = self.hidden.csr.tocoo()
        diagonal[hidden.row[hidden.row == hidden.col]] = 0
        return diagonal

    def _sum_of_squares(self) -> float:
        return max(0.0, self.operator.squared_norm() - self.hidden.squared_norm())
