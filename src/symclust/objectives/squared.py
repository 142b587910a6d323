"""Squared distances of A from HHᵀ: of all entries, or without the diagonal and pairs to be ignored."""

from __future__ import annotations

from abc import abstractmethod
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np
from scipy import sparse

from symclust import _kernels
from symclust._types import Array
from symclust.exceptions import CombinationError
from symclust.objectives._base import ALL_ROWS, ColumnDescent, Objective, row_blocks
from symclust.objectives._sparse_factor import (
    SparseMeasures,
    factor_arrays,
    gram,
    is_sparse_factor,
    row_lengths,
)

if TYPE_CHECKING:
    from symclust.constraints import Constraint
    from symclust.operators import Operator

__all__ = ["Frobenius", "OffDiagonal"]

MEASURED_ROWS = 1 << 11  # rows measured at once: few enough for their gradient to stay in the cache
UNSURE = 1e4  # a value so many roundings of ‖A‖² small has fewer than four digits


class SquaredDistance(Objective):
    """A squared distance that is seen through products: all follows from H, AH and the Gram matrix of H.

    Attributes
    ----------
    squared_norm : float
        The objective at H = 0.
    """

    squared_norm: float

    @abstractmethod
    def value(self, H: Array, AH: Array, G: Array) -> float:
        """The objective at H."""

    def penalty(self, H: Array) -> float:
        """The part of the value that does not measure the fit to A."""
        return 0.0

    def rounding(self, H: Array, AH: Array) -> float:
        """The size of a gradient 4(HG − AH) that is nothing but rounding: sums of k products."""
        return self._rounding(H, _kernels.norm(AH))

    @staticmethod
    def _rounding(H: Any, size: float) -> float:
        return float(16 * np.sqrt(H.shape[1]) * np.finfo(H.dtype).eps * size)

    def relative_error(self, H: Array, value: float) -> float:
        """√(misfit / ‖A‖²) for H with that value."""
        misfit = max(0.0, value - self.penalty(H))
        return float(np.sqrt(misfit / self.squared_norm)) if self.squared_norm > 0 else 0.0


class SymmetricDistance(SquaredDistance):
    """A squared distance of A from HHᵀ: a subclass has its value, its parts, and the terms of a row."""

    row_problem: RowTerms

    def __init__(self, operator: Operator) -> None:
        self.operator = operator
        self.squared_norm = operator.squared_norm()

    @property
    def on_device(self) -> bool:
        """Whether no pairs are ignored: those are looked up in a csr_array."""
        return not self.row_problem.ignored.any

    @abstractmethod
    def parts(self, H: Array, AH: Array, G: Array, rows: slice = ALL_ROWS) -> tuple[Array, Array]:
        """(repulsion, attraction), whose difference is a quarter of the gradient."""

    def gradient(self, H: Array, AH: Array, G: Array, rows: slice = ALL_ROWS) -> Array:
        """The gradient with respect to H, an array of its shape."""
        repulsion, attraction = self.parts(H, AH, G, rows)
        gradient = np.subtract(repulsion, attraction, out=repulsion)
        gradient *= 4
        return gradient

    def needs_product(self, H: Any) -> bool:
        """Whether H is a dense array: for a sparse one, A is read row by row."""
        return not is_sparse_factor(H)

    def value(self, H: Array, AH: Array, G: Array) -> float:
        """The objective at H."""
        return self.value_of_fit(_kernels.inner(H.reshape(-1), AH.reshape(-1)), H, G)

    @abstractmethod
    def value_of_fit(self, fit: float, H: Any, G: Array) -> float:
        """The objective from ⟨H, AH⟩ through the trace form, exact to about 1e-16 ‖A‖²."""

    def measure_sparse(self, H: sparse.csr_array) -> tuple[float, SparseMeasures]:
        """The objective at an H ≥ 0 that is held sparse, and the other measures; AH is not formed."""
        A: Any = self.operator
        G, row = gram(H), self.row_problem
        pair = A.indptr, A.indices, A.values, A.diagonal(), *factor_arrays(H)
        found = SparseMeasures(*_kernels.sparse_factor_judge(*pair, G, row.offset, row.full_diagonal))
        return self.value_of_fit(found.fit, H, G), found

    def rounding(self, H: Any, AH: Array | None) -> float:
        """The size of a gradient that is nothing but rounding."""
        size = np.sqrt(self.measure_sparse(H)[1].squared_product) if AH is None else _kernels.norm(AH)
        return self._rounding(H, float(size))

    def measure(self, H: Array, AH: Array | None, constraint: Constraint) -> tuple[float, float]:
        """The objective and ‖∇ᴾf(H)‖, holding the gradient of a block of rows at a time."""
        if AH is None:
            value, found = self.measure_sparse(H)
            return value, float(np.sqrt(found.squared_gradient))
        G, squared = gram(H), 0.0
        # If pairs are ignored, or the constraint ties rows together, all rows are one block.
        by_rows = constraint.by_rows and not self.row_problem.ignored.any
        for rows in row_blocks(H, MEASURED_ROWS) if by_rows else [ALL_ROWS]:
            gradient = self.gradient(H[rows], AH[rows], G, rows)
            projected = constraint.projected_gradient(H[rows], gradient).reshape(-1)
            squared += _kernels.inner(projected, projected)
        return self.value(H, AH, G), float(np.sqrt(squared))

    def certify(self, H: Array, value: float) -> float:
        """The objective in double precision if products in single precision have lost it.

        Entries of AH are rounded: to 1e-7 of their size in single precision, which leaves no digit of a value
        below 1e-7 ‖A‖². An A that is known by products alone has no better ones.
        """
        if H.dtype == np.float64 or not self.operator.rows_are_cheap or is_sparse_factor(H):
            return value  # of a sparse factor all sums are in double precision
        H = H.astype(np.float64)
        G = gram(H)
        if value - self.penalty(H) > UNSURE * float(np.finfo(np.float32).eps) * self._size_of_terms(H, G):
            return value
        return self._value_in_double(H, G)

    def _value_in_double(self, H: Array, G: Array) -> float:
        """The objective at an H of float64; a sparse A costs its nonzeros, any other A all pairs."""
        A: Any = self.operator
        if A.is_sparse or A.is_streamed:
            return self.value(H, A.product_in_double(H), G)
        total = 0.0
        for rows, block in A.row_blocks():
            misfit = block - H[rows] @ H.T
            if not self.row_problem.full_diagonal:
                misfit[np.arange(len(misfit)), np.arange(rows.start, rows.stop)] = 0
            total += _kernels.inner(misfit.reshape(-1), misfit.reshape(-1))
        if self.row_problem.ignored.any:  # their entries of A are zero
            products = self.row_problem.ignored.products(H).data
            total -= _kernels.inner(products, products)
        return max(total, 0.0) + self.penalty(H)

    def _size_of_terms(self, H: Array, G: Array) -> float:
        """The size of the terms of `value`."""
        return self.squared_norm + float(np.sum(G * G))

    def columns(self, H: Array) -> SquaredColumns:
        """The descent on H entry by entry, offdiagonal Algorithm 2."""
        return SquaredColumns(self.operator, H, self.row_problem)


class Frobenius(SymmetricDistance):
    r"""Squared Frobenius distance, symnmf (6), with the sparsity term of (18).

    .. math:: f(H) = \|A - HH^T\|_F^2 + 2 \beta \sum_i \|h_i\|_1^2

    The L1 term is (18) at W = H. It adds β to every entry of the Gram matrix of a row's problem, (19)-(20),
    which is all that any solver needs of it.

    Parameters
    ----------
    operator : Operator
        The similarity A.
    sparsity : float, default=0.0
        The weight β.
    """

    def __init__(self, operator: Operator, sparsity: float = 0.0) -> None:
        super().__init__(operator)
        self.sparsity = float(sparsity)
        self.row_problem = RowTerms(full_diagonal=True, offset=self.sparsity, ignored=IgnoredPairs())

    def rebuild(self, operator: Operator) -> Frobenius:
        """The objective with the same sparsity for another A."""
        return Frobenius(operator, self.sparsity)

    def value_of_fit(self, fit: float, H: Any, G: Array) -> float:
        """f(H) = ‖A‖² − 2⟨H, AH⟩ + ‖HᵀH‖² and the L1 term."""
        return max(self.squared_norm - 2 * fit + float(np.sum(G * G)), 0.0) + self.penalty(H)

    def penalty(self, H: Array) -> float:
        """The L1 term 2β Σ ‖h_i‖₁²."""
        return 2 * self.sparsity * _row_sums_squared(H) if self.sparsity else 0.0

    def parts(self, H: Array, AH: Array, G: Array, rows: slice = ALL_ROWS) -> tuple[Array, Array]:
        """(HG + β H11ᵀ, AH)."""
        return H @ (G + self.sparsity).astype(H.dtype), AH

    def curvature(self, H: Array, V: Array, AV: Array, G: Array) -> Array:
        """∇²f(H)[V], the blocks of symnmf 5.1 without forming them."""
        GV = (H.T @ V).astype(V.dtype)
        product = H @ (GV + GV.T) - AV + V @ (G + self.sparsity).astype(V.dtype)
        product *= 4
        return product

    def column_curvature(self, H: Array, V: Array, AV: Array, G: Array) -> Array:
        """The diagonal blocks of ∇²f(H), one per column, times the columns of V, for (14)."""
        GV = H.T @ V
        diagonal = (np.diag(G) + self.sparsity).astype(V.dtype)
        product = H @ GV - AV + H * np.diag(GV) + V * diagonal
        product *= 4
        return product

    def normal_equations(self, W: Array, AW: Array, G: Array, coupling: float) -> tuple[Array, Array]:
        """(WᵀW + αI + β11ᵀ, AW + αW), the normal equations of (17) and (20), as fresh arrays."""
        left = G + self.sparsity
        left[np.diag_indices_from(left)] += coupling
        return left.astype(W.dtype), AW + W.dtype.type(coupling) * W

    def coupled_value(self, W: Array, AW: Array, H: Array, coupling: float) -> float:
        """g(W, H) of (15) and (18): the objective of alternating least squares."""
        GW, GH = _kernels.gram(W)[0], _kernels.gram(H)[0]
        difference = (W - H).reshape(-1)
        value = self.squared_norm - 2 * _kernels.inner(AW.reshape(-1), H.reshape(-1)) + float(np.sum(GW * GH))
        value += coupling * _kernels.inner(difference, difference)
        return value + self.sparsity * (_row_sums_squared(W) + _row_sums_squared(H))


def _row_sums_squared(H: Array) -> float:
    sums = H.sum(axis=1)
    return _kernels.inner(sums, sums)


class OffDiagonal(SymmetricDistance):
    r"""Squared distance without the diagonal, offdiagonal (3) with p = 2.

    .. math:: f(H) = \sum_{i \ne j} (A_{ij} - h_i^T h_j)^2

    Parameters
    ----------
    operator : Operator
        The similarity A; its diagonal is ignored, and entries at ignored pairs must be zero.
    ignored : IgnoredPairs, optional
        Further pairs that do not count. They cost k² for each visit of a row that has them.
    """

    def __init__(self, operator: Operator, ignored: IgnoredPairs | None = None) -> None:
        super().__init__(operator)
        self.ignored = ignored or IgnoredPairs()
        self.row_problem = RowTerms(full_diagonal=False, offset=0.0, ignored=self.ignored)
        self.diagonal = operator.to_device(operator.diagonal())
        self.squared_norm -= _kernels.inner(self.diagonal, self.diagonal)

    def value_of_fit(self, fit: float, H: Any, G: Array) -> float:
        """f(H) through the trace form less its diagonal part and that of ignored pairs."""
        # In double precision: rows that ignore each other may be long, and then nearly all of G cancels.
        lengths = row_lengths(H)
        fit -= _kernels.inner(self.diagonal.astype(np.float64, copy=False), lengths)
        square = float(np.sum(G * G)) - _kernels.inner(lengths, lengths)
        if self.ignored.any:
            products = self.ignored.products(H.astype(np.float64, copy=False)).data
            square -= _kernels.inner(products, products)
        return max(self.squared_norm - 2 * fit + square, 0.0)

    def _size_of_terms(self, H: Array, G: Array) -> float:
        """Count the diagonal too, which is in AH before it is taken off."""
        lengths = np.einsum("il,il->i", H, H)
        return super()._size_of_terms(H, G) + float(np.abs(self.diagonal) @ lengths)

    def parts(self, H: Array, AH: Array, G: Array, rows: slice = ALL_ROWS) -> tuple[Array, Array]:
        """(HG − diag(‖h_i‖²) H − (N∘HHᵀ) H, AH − diag(A) H), N the mask of ignored pairs.

        If pairs are ignored, a block of rows depends on others: it needs all of H.
        """
        lengths = np.einsum("il,il->i", H, H)[:, None]
        repulsion = H @ G.astype(H.dtype) - lengths * H
        if self.ignored.any:
            if rows != ALL_ROWS:
                raise CombinationError("OffDiagonal has no parts for some rows only while pairs are ignored.")
            repulsion -= self.ignored.products(H) @ H
        return repulsion, AH - self.diagonal[rows, None] * H


class SquaredColumns(ColumnDescent):
    """Entry problems of the squared loss: quartic polynomials, or quadratic ones without the diagonal.

    Needs one product of A with a vector for each column and no residual, offdiagonal Algorithm 2.
    """

    def __init__(self, operator: Operator, H: Array, row: RowTerms) -> None:
        super().__init__(operator, H, row.ignored)
        self.full_diagonal = row.full_diagonal
        self.diagonal = self.A.diagonal()
        self.G = _kernels.gram(H)[0] + row.offset
        self.change = np.zeros(2)

    @property
    def decrease(self) -> float:
        """By how much the objective has fallen."""
        return float(self.change[0])

    @property
    def stationarity(self) -> float:
        """‖∇ᴾf‖, every entry at the time of its visit."""
        return float(np.sqrt(self.change[1]))

    def place(self, i: int, value: float) -> None:
        """Set an entry of the open column, and update HᵀH."""
        step, l = value - float(self.x[i]), self.column
        row = self.H[i].astype(np.float64)
        row[l] += step / 2
        self.G[l] += step * row
        self.G[:, l] += step * row
        super().place(i, value)

    def visit(self, ids: Array) -> None:
        """Minimise over the entries `ids` of the open column, in that order."""
        A, ignored = self.A, self.ignored.arrays
        shared = self.diagonal, self.H, self.x, self.G, self.column, self.full_diagonal
        if A.is_sparse:
            _kernels.coordinate_sparse(
                A.indptr, A.indices, A.values, *shared, ids, *ignored, self.change
            )  # fmt: skip
            return
        for rows, places, part in A.visit(ids):
            _kernels.coordinate_rows(rows, places, *shared, part, *ignored, self.change)


# The terms of a row beside A and HᵀH ------------------------------------------------------------------------


class RowTerms(NamedTuple):
    """The terms of a row's problem beside A's row and HᵀH.

    It is of degree four if the diagonal counts, else a least squares problem. `offset` is added to every
    entry of HᵀH, as an L1 term does; `ignored` are the pairs whose entries of A do not count.
    """

    full_diagonal: bool
    offset: float
    ignored: IgnoredPairs


@dataclass(frozen=True)
class IgnoredPairs:
    """Pairs of samples that carry no information.

    The pattern of a symmetric mask without its diagonal, as CSR; empty arrays if nothing is ignored.
    """

    indptr: Array = field(default_factory=lambda: np.empty(0, dtype=np.int64))
    indices: Array = field(default_factory=lambda: np.empty(0, dtype=np.int64))

    @classmethod
    def of(cls, mask: sparse.csr_array) -> IgnoredPairs:
        """Take the pattern of a canonical CSR mask."""
        return cls(mask.indptr.astype(np.int64), mask.indices.astype(np.int64))

    @property
    def arrays(self) -> tuple[Array, Array]:
        """The arguments of the kernels."""
        return self.indptr, self.indices

    @property
    def any(self) -> bool:
        """Whether there are any."""
        return self.indices.size > 0

    def products(self, H: Array) -> Any:
        """h_i·h_j at the pairs, as a csr_array."""
        if not self.any:
            return sparse.csr_array((len(H), len(H)), dtype=H.dtype)
        values = np.empty(self.indices.size, dtype=H.dtype)
        _kernels.pattern_products(self.indptr, self.indices, np.ascontiguousarray(H), values)
        return sparse.csr_array((values, self.indices, self.indptr), shape=(len(H), len(H)))
