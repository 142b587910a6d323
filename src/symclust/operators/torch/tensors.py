"""A held as a PyTorch tensor, on whatever device it lives.

Factors stay there with it; `_arrays.py` computes with them.
"""

from __future__ import annotations

import warnings
from abc import abstractmethod
from collections.abc import Iterator
from functools import cache
from typing import TYPE_CHECKING, Any, ClassVar

import numpy as np

from symclust._optional import Lazy
from symclust._threads import cached_property, split
from symclust._types import Array, DeviceArray
from symclust.exceptions import InputError, InputTypeError
from symclust.operators._arrays import as_pairs, as_subset, as_vector
from symclust.operators._base import Operator
from symclust.validation import is_a

if TYPE_CHECKING:
    import torch
else:
    torch = Lazy("torch", "gpu", "A device")

__all__ = ["DenseTensor", "SparseTensor"]

PIECE = 1 << 22  # entries that are compared with their partners at a time


class DeviceOperator(Operator):
    """A whose products are made on a device; factors live there as well, as `TensorArray`.

    NumPy arrays are copied there and the product back. A subclass multiplies tensors.
    """

    on_device: ClassVar[bool] = True
    _why_not_saved = (
        "The similarities are on a device, and files of models hold none. Save the model without its data: "
        "model.save(path, data=False)."
    )

    def __init__(self, n: int, dtype: Any, device: torch.device) -> None:
        super().__init__(n, dtype)
        self.device = device

    def __repr__(self) -> str:
        return f"<{type(self).__name__} {self.n} x {self.n} {self.dtype} on {self.device}>"

    @abstractmethod
    def _times(self, H: torch.Tensor) -> torch.Tensor:
        """A @ H for an (n, w) tensor on the device and of the precision of A."""

    def __matmul__(self, H: Any) -> Any:
        """A @ H: on the device for what is on a device, a NumPy array for any other H."""
        if isinstance(H, DeviceArray):
            return self.to_device(self._multiply(H.tensor))
        if is_tensor(H):
            return self._multiply(H)
        return super().__matmul__(H)

    def _multiply(self, H: torch.Tensor) -> torch.Tensor:
        from symclust.operators.torch._arrays import DTYPES

        self._check_factor(tuple(H.shape))
        columns = H.detach().to(device=self.device, dtype=DTYPES[self.dtype])
        return self._times(columns.reshape(self.n, -1)).reshape(H.shape)

    def _product(self, H: Array) -> Array:
        return self.from_device(self @ self.to_device(H))

    def to_device(self, H: Any) -> Any:
        """A factor or vector on the device of A."""
        from symclust.operators.torch._arrays import TensorArray, to_device

        if isinstance(H, DeviceArray):
            return H
        return TensorArray(H.to(self.device) if is_tensor(H) else to_device(H, self.device))

    def from_device(self, H: Any) -> Any:
        """A factor or vector as a NumPy array."""
        from symclust.operators.torch._arrays import to_host

        return to_host(H.tensor) if isinstance(H, DeviceArray) else H


# Tensors ----------------------------------------------------------------------------------------------------


class TensorOperator(DeviceOperator):
    """A that is a tensor. A subclass has its entries in `values`, and gives the place of each."""

    values: torch.Tensor

    def __init__(self, given: torch.Tensor, dtype: Any) -> None:
        if given.ndim != 2 or given.shape[0] != given.shape[1]:
            raise InputError(
                "A similarity matrix is square, a row and a column for each sample; got a tensor of shape "
                f"{tuple(given.shape)}."
            )
        super().__init__(given.shape[0], dtype, given.device)
        self.given = given

    @property
    def matrix(self) -> torch.Tensor:
        """The tensor that was given."""
        return self.given

    @abstractmethod
    def _place(self, number: int) -> tuple[int, int]:
        """Row and column of an entry of `values`, by its number."""

    @abstractmethod
    def _gaps(self) -> Iterator[tuple[int, torch.Tensor]]:
        """Yield |a_ij − a_ji| for some entries after others, with the number of the first."""

    def _sum_of_squares(self) -> float:
        from symclust.operators.torch._arrays import squares

        return squares(self.values)

    def largest(self) -> float:
        """The largest entry; entries that are not stored count as zero."""
        stored = float(self.values.max()) if self.values.numel() else 0.0
        return stored if self.values.numel() == self.n**2 else max(stored, 0.0)

    def negative_entry(self) -> tuple[int, int] | None:
        if not self.values.numel() or float(self.values.min()) >= 0:
            return None
        return self._place(int(self.values.argmin()))

    @cached_property
    def _worst_gap(self) -> tuple[float, tuple[int, int]]:
        worst, where = 0.0, 0
        for first, gaps in self._gaps():
            place = int(gaps.argmax())
            if float(gaps.reshape(-1)[place]) > worst:
                worst, where = float(gaps.reshape(-1)[place]), first + place
        return worst, self._place(where) if worst else (0, 0)


class DenseTensor(TensorOperator):
    """A symmetric matrix held as a dense PyTorch tensor, on whatever device it lives.

    Products, checks and sums are made there, and solvers keep their factors there. float32 and float64 are
    kept; half precision becomes float32, integers and bools float64.

    Parameters
    ----------
    A : torch.Tensor of shape (n, n)
        Kept without a copy if it is row-major and of float32 or float64.

    Attributes
    ----------
    values : torch.Tensor of shape (n, n)
        The matrix.

    Examples
    --------
    >>> import torch
    >>> from symclust.operators import DenseTensor
    >>> A = DenseTensor(torch.tensor([[2.0, 1.0], [1.0, 2.0]]))
    >>> A, A.asymmetry(), A.squared_norm()
    (<DenseTensor 2 x 2 float32 on cpu>, 0.0, 10.0)
    >>> A @ torch.ones(2)
    tensor([3., 3.])
    """

    def __init__(self, A: torch.Tensor) -> None:
        dtype, self.values = _as_floats(A)
        self.values = self.values.contiguous()
        super().__init__(A, dtype)

    def _times(self, H: torch.Tensor) -> torch.Tensor:
        return self.values @ H

    def _place(self, number: int) -> tuple[int, int]:
        return divmod(number, self.n)

    def _gaps(self) -> Iterator[tuple[int, torch.Tensor]]:
        for rows in split(self.n, self._block_size()):
            yield rows.start * self.n, (self.values[rows] - self.values[:, rows].T).abs()

    def _rows(self, index: Any) -> Array:
        return self.from_device(self.to_device(self.values)[index])

    def entries(self, rows: Any, columns: Any) -> Array:
        return self.from_device(self.to_device(self.values)[as_pairs(rows, columns, self.n)])

    def diagonal(self) -> Array:
        return self.from_device(self.to_device(self.values.diagonal()))

    def submatrix(self, index: Any) -> DenseTensor:
        index = as_subset(index, self.n)
        return DenseTensor(self.to_device(self.values)[index][:, index].tensor)

    def scaled(self, d: Any) -> DenseTensor:
        scale = self.to_device(as_vector(d, self.n, self.dtype, "d")).tensor
        return DenseTensor((self.values * scale).mul_(scale[:, None]))


class SparseTensor(TensorOperator):
    """A symmetric matrix held as a sparse PyTorch tensor, on whatever device it lives.

    Like `DenseTensor`, and never made dense.

    Parameters
    ----------
    A : torch.Tensor of shape (n, n)
        In layout ``torch.sparse_csr``, which is kept without a copy, or ``torch.sparse_coo``, in which
        entries may come in any order, and duplicates are added up.

    Attributes
    ----------
    indptr, indices, values : torch.Tensor
        The three parts of CSR.

    Examples
    --------
    >>> import torch
    >>> from symclust.operators import SparseTensor
    >>> path = torch.tensor([[0.0, 1.0, 0.0], [1.0, 0.0, 1.0], [0.0, 1.0, 0.0]])
    >>> SparseTensor(path.to_sparse_csr()).degrees().tolist()
    [1.0, 2.0, 1.0]
    """

    def __init__(self, A: torch.Tensor) -> None:
        hush_about_csr()
        dtype, floats = _as_floats(A)
        self._csr = _canonical(floats)
        self.indptr, self.indices = self._csr.crow_indices(), self._csr.col_indices()
        self.values = self._csr.values()
        super().__init__(A, dtype)

    def _times(self, H: torch.Tensor) -> torch.Tensor:
        return self._csr @ H

    def _row_numbers(self) -> torch.Tensor:
        counts = self.indptr.diff().long()
        return torch.repeat_interleave(torch.arange(self.n, device=self.device), counts)

    def _keys(self) -> torch.Tensor:
        """A number for the pair of each entry, which rises from entry to entry."""
        return self._row_numbers() * self.n + self.indices

    def _find(self, keys: torch.Tensor, wanted: torch.Tensor) -> torch.Tensor:
        """The entries of these pairs, zero if none is stored."""
        if not keys.numel():
            return torch.zeros(wanted.shape, dtype=self.values.dtype, device=self.device)
        place = torch.searchsorted(keys, wanted).clamp(max=keys.numel() - 1)
        return torch.where(keys[place] == wanted, self.values[place], 0)

    def _place(self, number: int) -> tuple[int, int]:
        row = int((self.indptr <= number).sum()) - 1
        return row, int(self.indices[number])

    def _gaps(self) -> Iterator[tuple[int, torch.Tensor]]:
        keys = self._keys()
        for part in split(keys.numel(), PIECE):
            transposed = keys[part] % self.n * self.n + keys[part] // self.n
            yield part.start, (self.values[part] - self._find(keys, transposed)).abs()

    def entries(self, rows: Any, columns: Any) -> Array:
        i, j = (self.to_device(index.astype(np.int64)).tensor for index in as_pairs(rows, columns, self.n))
        return self.from_device(self.to_device(self._find(self._keys(), i * self.n + j)))

    def _gather(self, index: Any) -> tuple[torch.Tensor, torch.Tensor, torch.Tensor]:
        """The entries of some rows: the place of the row among them, the column, the value."""
        chosen = self.to_device(np.arange(self.n, dtype=np.int64)[index]).tensor
        first, counts = self.indptr[chosen].long(), self.indptr.diff()[chosen].long()
        rows = torch.repeat_interleave(torch.arange(chosen.numel(), device=self.device), counts)
        before = counts.cumsum(0) - counts
        place = torch.arange(rows.numel(), device=self.device) + (first - before)[rows]
        return rows, self.indices[place].long(), self.values[place]

    def _rows(self, index: Any) -> Array:
        rows, columns, values = self._gather(index)
        dense = values.new_zeros((np.arange(self.n)[index].size, self.n))
        dense[rows, columns] = values
        return self.from_device(self.to_device(dense))

    def diagonal(self) -> Array:
        rows, out = self._row_numbers(), self.values.new_zeros(self.n)
        own = rows == self.indices
        out[rows[own]] = self.values[own]
        return self.from_device(self.to_device(out))

    def submatrix(self, index: Any) -> SparseTensor:
        index = np.arange(self.n, dtype=np.int64)[as_subset(index, self.n)]
        number = torch.full((self.n,), -1, device=self.device)
        number[self.to_device(index).tensor] = torch.arange(index.size, device=self.device)
        rows, columns, values = self._gather(index)
        kept = number[columns] >= 0
        places = torch.stack([rows[kept], number[columns[kept]]])
        shape = index.size, index.size
        return SparseTensor(torch.sparse_coo_tensor(places, values[kept], shape, check_invariants=False))

    def scaled(self, d: Any) -> SparseTensor:
        """The operator diag(d) A diag(d); the index tensors are shared."""
        scale = self.to_device(as_vector(d, self.n, self.dtype, "d")).tensor
        values = self.values * scale[self.indices] * scale[self._row_numbers()]
        return SparseTensor(_csr(self.indptr, self.indices, values, self.shape))


def is_tensor(anything: Any) -> bool:
    """Whether it is a tensor of PyTorch, which need not be installed."""
    return is_a(anything, "torch", "Tensor")


def tensor_operator(A: torch.Tensor, dtype: Any = None) -> TensorOperator:
    """A tensor as an operator, in another precision if `dtype` is given."""
    if dtype is not None:
        A = A.to(getattr(torch, np.dtype(dtype).name))
    if A.layout in (torch.sparse_csr, torch.sparse_coo):
        return SparseTensor(A)
    if A.layout == torch.strided:
        return DenseTensor(A)
    raise InputTypeError(
        f"Cannot read similarities from a tensor of layout {A.layout}. Expected a dense tensor, or one of "
        "layout torch.sparse_csr or torch.sparse_coo: A.to_sparse_csr()."
    )


def _as_floats(A: torch.Tensor) -> tuple[np.dtype[Any], torch.Tensor]:
    """A tensor in the precision to compute in, and that precision in NumPy's terms."""
    if A.dtype.is_complex:
        raise InputTypeError(
            f"Similarities are real numbers; got a tensor of {A.dtype}. Take A.real or A.abs()."
        )
    double = A.dtype == torch.float64 or not A.dtype.is_floating_point
    own = torch.float64 if double else torch.float32
    return np.dtype(np.float64 if double else np.float32), A.detach().to(own)


def _canonical(A: torch.Tensor) -> torch.Tensor:
    """A sparse tensor as CSR, after a check that its columns are in range and rise in each row."""
    try:
        if A.layout == torch.sparse_coo:
            return _to_csr(A.coalesce())
        _csr(A.crow_indices(), A.col_indices(), A.values(), A.shape, check=True)
    except RuntimeError as error:
        raise InputError(
            f"The sparse tensor is damaged: {error}. Build it as COO, where entries may come in any order."
        ) from error
    return A


def _to_csr(A: torch.Tensor) -> torch.Tensor:
    rows, columns = A.indices()
    indptr = torch.zeros(A.shape[0] + 1, dtype=torch.int64, device=A.device)
    indptr[1:] = torch.bincount(rows, minlength=A.shape[0]).cumsum(0)
    return _csr(indptr, columns, A.values(), A.shape, check=True)


def _csr(indptr: Any, indices: Any, values: Any, shape: Any, check: bool = False) -> torch.Tensor:
    return torch.sparse_csr_tensor(indptr, indices, values, tuple(shape), check_invariants=check)


@cache
def hush_about_csr() -> None:
    """Trigger PyTorch's one warning that CSR is in beta state, and suppress it: products are settled."""
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        _csr(torch.tensor([0, 0]), torch.tensor([], dtype=torch.int64), torch.tensor([]), (1, 1))
