"""PyTorch tensors that NumPy's operators and functions work on, wherever they live.

Solvers, objectives and constraints are written in NumPy. For a `TensorArray` NumPy hands the call over
(`__array_ufunc__` and `__array_function__`), and PyTorch does it on the device of the tensor. Functions
without an entry below are refused by NumPy, by name; nothing falls back to the host in silence. Arrays cross
through `to_device` and `to_host` alone.

This file imports torch, and is itself imported only with a tensor at hand or to be made.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
import torch
from numpy.lib.mixins import NDArrayOperatorsMixin

from symclust._types import Array, DeviceArray

DTYPES: dict[Any, torch.dtype] = {np.dtype(np.float32): torch.float32, np.dtype(np.float64): torch.float64}
NUMPY_DTYPES: dict[Any, Any] = {
    torch.float32: np.dtype(np.float32),
    torch.float64: np.dtype(np.float64),
    torch.int64: np.dtype(np.int64),
    torch.bool: np.dtype(np.bool_),
}
PIECE = 1 << 22  # numbers that are made double at a time: a copy of all of H or A may not fit


def to_device(array: Any, device: Any) -> torch.Tensor:
    """Copy numbers from the host to a device."""
    return torch.tensor(np.ascontiguousarray(array), device=device)


def to_host(tensor: torch.Tensor) -> Array:
    """Copy numbers from a device to the host."""
    return np.array(tensor.detach().cpu().numpy(), order="C")


def wide(device: torch.device) -> torch.dtype:
    """The type that sums are made in: double precision, if the device has it."""
    return torch.float32 if device.type == "mps" else torch.float64


def squares(values: torch.Tensor) -> float:
    """The sum of squares of all entries, in double precision."""
    parts = values.reshape(-1).split(PIECE)
    return float(sum(_dot(part, part) for part in parts))


def _dot(x: torch.Tensor, y: torch.Tensor) -> torch.Tensor:
    kind = wide(x.device)
    return torch.dot(x.to(kind), y.to(kind))


class TensorArray(NDArrayOperatorsMixin, DeviceArray):
    """A tensor as solvers see an array; it is not copied."""

    def __init__(self, tensor: torch.Tensor) -> None:
        self.tensor = tensor

    def __repr__(self) -> str:
        return f"<TensorArray of shape {self.shape}, {self.dtype}, on {self.tensor.device}>"

    def __array__(self, dtype: Any = None, copy: Any = None) -> Array:
        raise TypeError(f"{self!r} is not made a NumPy array in silence: call operator.from_device(H).")

    # Attributes of an ndarray -------------------------------------------------------------------------------

    @property
    def dtype(self) -> Any:
        """The type of the entries, in NumPy's terms."""
        return NUMPY_DTYPES[self.tensor.dtype]

    @property
    def shape(self) -> tuple[int, ...]:
        """The length of each dimension."""
        return tuple(self.tensor.shape)

    @property
    def size(self) -> int:
        """The number of entries."""
        return self.tensor.numel()

    @property
    def T(self) -> TensorArray:
        """The transpose, a view."""
        return TensorArray(self.tensor.T)

    def __len__(self) -> int:
        return len(self.tensor)

    def __getitem__(self, index: Any) -> TensorArray:
        return TensorArray(self.tensor[self._own(index)])

    def __setitem__(self, index: Any, values: Any) -> None:
        self.tensor[self._own(index)] = self._own(values)

    def reshape(self, *shape: Any) -> TensorArray:
        """The same numbers in another shape."""
        return TensorArray(self.tensor.reshape(*shape))

    def copy(self) -> TensorArray:
        """The same numbers in fresh memory, row by row."""
        return TensorArray(self.tensor.clone(memory_format=torch.contiguous_format))

    def astype(self, dtype: Any, copy: bool = True) -> TensorArray:
        """The numbers in another precision."""
        return TensorArray(self.tensor.to(DTYPES[np.dtype(dtype)], copy=copy))

    def sum(self, axis: int | None = None, keepdims: bool = False) -> Any:
        """Sums along an axis, or of all entries."""
        return _array_or_number(_sum(self.tensor, axis, keepdims))

    def max(self, axis: int | None = None, keepdims: bool = False, initial: Any = None) -> Any:
        """The largest entries along an axis, or of all; at least `initial`."""
        return _array_or_number(_largest(self.tensor, axis, keepdims, initial))

    def min(self, initial: Any = None) -> Any:
        """The smallest entry of all; at most `initial`."""
        return _array_or_number(-_largest(-self.tensor, None, False, None if initial is None else -initial))

    def any(self) -> bool:
        """Whether an entry is not zero."""
        return bool(self.tensor.any())

    # Operations of the kernels ----------------------------------------------------------------------------

    def gram(self) -> Array:
        H, kind = self.tensor, wide(self.tensor.device)
        G = torch.zeros((H.shape[1], H.shape[1]), dtype=kind, device=H.device)
        for part in H.split(max(1, PIECE // max(1, H.shape[1]))):
            double = part.to(kind)
            G += double.T @ double
        return to_host(G).astype(np.float64, copy=False)

    def inner(self, other: Any) -> float:
        pieces = (x.reshape(-1).split(PIECE) for x in (self.tensor, self._own(other)))
        return float(sum(_dot(x, y) for x, y in zip(*pieces, strict=True)))

    def norm(self) -> float:
        return float(np.sqrt(squares(self.tensor)))

    # NumPy's protocols --------------------------------------------------------------------------------------

    def __array_ufunc__(self, ufunc: np.ufunc, method: str, *inputs: Any, **options: Any) -> Any:
        if method != "__call__":
            return NotImplemented
        function = ELEMENTWISE.get(ufunc.__name__) or getattr(torch, ufunc.__name__, None)
        if function is None or not options.keys() <= {"out", "where"}:
            return NotImplemented
        out, where = options.get("out", (None,))[0], options.get("where", True)
        given = [self._own(value) for value in inputs]
        if not isinstance(given[0], torch.Tensor):  # which PyTorch has to have
            given[0] = torch.full((), given[0], dtype=given[1].dtype, device=given[1].device)
        if out is None:
            return TensorArray(function(*given))
        if where is True:
            function(*given, out=out.tensor)
        else:
            torch.where(self._own(where), function(*given), out.tensor, out=out.tensor)
        return out

    def __array_function__(
        self, function: Callable[..., Any], types: Any, arguments: Any, options: Any
    ) -> Any:
        if function is np.asarray:  # with like=: numbers for the device of this array
            return TensorArray(self._own(np.asarray(*arguments, **options)))
        if function not in FUNCTIONS:
            return NotImplemented
        own = {name: self._own(value) for name, value in options.items()}
        found = FUNCTIONS[function](*(self._own(argument) for argument in arguments), **own)
        if isinstance(found, tuple | list):
            return [TensorArray(part) for part in found]
        return _array_or_number(found)

    def _own(self, value: Any) -> Any:
        """A tensor for an array, a number for a scalar of NumPy, anything else as it is."""
        if isinstance(value, TensorArray):
            return value.tensor
        if isinstance(value, np.generic):
            return value.item()
        if isinstance(value, np.ndarray):
            return to_device(value, self.tensor.device)
        if isinstance(value, tuple | list):
            return type(value)(map(self._own, value))
        return value


# NumPy's functions by PyTorch's: what solvers, the squared distances and the constraints use ----------------


def _array_or_number(found: torch.Tensor) -> Any:
    """A tensor as an array, or as a number if it has no dimension left."""
    return TensorArray(found) if found.ndim else NUMPY_DTYPES[found.dtype].type(found.item())


def _sum(x: torch.Tensor, axis: int | None = None, keepdims: bool = False) -> torch.Tensor:
    return x.sum() if axis is None else x.sum(dim=axis, keepdim=keepdims)


def _largest(x: torch.Tensor, axis: int | None, keepdims: bool, initial: Any) -> torch.Tensor:
    if not x.numel() and initial is not None:
        return torch.full((), initial, dtype=x.dtype, device=x.device)
    found = x.amax() if axis is None else x.amax(dim=axis, keepdim=keepdims)
    return found if initial is None else found.clamp(min=initial)


def _bounded(bound: str) -> Callable[[torch.Tensor, Any], torch.Tensor]:
    """`maximum` or `minimum`, the second argument of which may be a number."""
    function = {"min": torch.maximum, "max": torch.minimum}[bound]

    def apply(x: torch.Tensor, y: Any, **options: Any) -> torch.Tensor:
        if isinstance(y, torch.Tensor):
            return function(x, y, **options)
        return torch.clamp(x, **{bound: y}, **options)

    return apply


def _einsum(formula: str, *factors: torch.Tensor, dtype: Any = None) -> torch.Tensor:
    return torch.einsum(formula, *(x if dtype is None else x.to(DTYPES[np.dtype(dtype)]) for x in factors))


ELEMENTWISE: dict[str, Callable[..., torch.Tensor]] = {  # those that PyTorch calls or treats otherwise
    "maximum": _bounded("min"),
    "minimum": _bounded("max"),
    "power": torch.pow,
    "invert": torch.bitwise_not,
}
FUNCTIONS: dict[Callable[..., Any], Callable[..., Any]] = {
    np.concatenate: lambda arrays, axis=0: torch.cat(arrays, dim=axis),
    np.count_nonzero: lambda x, axis=None: torch.count_nonzero(x, dim=axis),
    np.cumsum: lambda x, axis: torch.cumsum(x, dim=axis),
    np.einsum: _einsum,
    np.empty_like: torch.empty_like,
    np.flip: lambda x, axis: torch.flip(x, dims=(axis,)),
    np.linalg.norm: lambda x, axis, keepdims=False: torch.linalg.vector_norm(x, dim=axis, keepdim=keepdims),
    np.linalg.svd: torch.linalg.svd,
    np.ones_like: torch.ones_like,
    np.ptp: lambda x, axis, keepdims: x.amax(axis, keepdims) - x.amin(axis, keepdims),
    np.sort: lambda x, axis: torch.sort(x, dim=axis).values,
    np.split: lambda x, borders, axis: torch.tensor_split(x, borders, dim=axis),
    np.sum: _sum,
    np.take_along_axis: lambda x, index, axis: torch.take_along_dim(x, index, dim=axis),
    np.where: torch.where,
    np.zeros_like: torch.zeros_like,
}
