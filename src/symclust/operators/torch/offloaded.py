"""A kept by the host, and sent to a device in blocks of rows: the next is copied while one is multiplied."""

from __future__ import annotations

from collections.abc import Iterator
from functools import partial
from typing import TYPE_CHECKING, Any

import numpy as np

from symclust._optional import Lazy
from symclust._threads import ahead, cached_property, split
from symclust._types import Array
from symclust.exceptions import InputTypeError, OptionError
from symclust.operators._base import Operator
from symclust.operators.dense import Dense
from symclust.operators.disk._row_blocks import RowBlock, cut_rows, entry_bytes
from symclust.operators.disk.on_disk import OnDisk
from symclust.operators.sparse import Sparse
from symclust.operators.torch.tensors import DeviceOperator, hush_about_csr, is_tensor
from symclust.validation import check_number, tensor_on_host

if TYPE_CHECKING:
    import torch
else:
    torch = Lazy("torch", "gpu", "A device")

__all__ = ["Offloaded"]

DEFAULT_LIMIT = 1 << 28  # bytes of A on a device that does not say how much memory it has


class Offloaded(DeviceOperator):
    """A symmetric matrix that the host keeps, in memory or on disk, and whose products a device makes.

    A matrix larger than the memory of the device is cut into blocks of rows (thesis 6.5). While one is
    multiplied, a thread copies the next: on CUDA from pinned memory and on a stream of its own. H and AH
    stay on the device, so that a product moves A once and nothing else. A matrix that fits is sent once.

    Parameters
    ----------
    A : array, sparse array, torch.Tensor, Dense, Sparse or OnDisk
        The matrix. A tensor is brought to the host.
    device : str or torch.device, default=None
        Where products are made. None takes CUDA if there is such a device, else the processor.
    memory_limit : int, default=None
        Bytes of A on the device at a time. None takes half of what a CUDA device has free, elsewhere 256 MB.
        Beside it there is room needed for H, AH and a few arrays of their size.

    Attributes
    ----------
    host : Dense, Sparse or OnDisk
        The matrix where it is kept. Symmetry, norm and diagonal are computed there.
    stays : bool
        Whether all of A fits into `memory_limit`: it then stays on the device after the first product.

    Examples
    --------
    >>> import numpy as np
    >>> from symclust.operators import Offloaded
    >>> A = Offloaded(np.ones((4, 4)), device="cpu", memory_limit=64)
    >>> A, A.n_blocks
    (<Offloaded 4 x 4 float64 on cpu>, 4)
    >>> (A @ np.arange(4.0)).tolist()
    [6.0, 6.0, 6.0, 6.0]
    """

    def __init__(self, A: Any, *, device: Any = None, memory_limit: int | None = None) -> None:
        self.host = _host_operator(A)
        super().__init__(self.host.n, self.host.dtype, usable_device(device))
        if memory_limit is not None:
            check_number("memory_limit", memory_limit, least=1, whole=True)
        self.memory_limit = _room_on(self.device) if memory_limit is None else int(memory_limit)
        self.names = self.host.names
        self.stays = _size(self.host) <= self.memory_limit
        self._cuts = _cuts(self.host, self.memory_limit)
        self._kept: list[tuple[slice, torch.Tensor]] = []
        hush_about_csr()

    @property
    def n_blocks(self) -> int:
        """In how many blocks A is sent."""
        return len(self._cuts)

    def _times(self, H: torch.Tensor) -> torch.Tensor:
        out = H.new_empty((self.n, H.shape[1]))
        for rows, block in self._blocks():
            out[rows] = block @ H
        return out

    def _blocks(self) -> Iterator[tuple[slice, torch.Tensor]]:
        """Yield all rows in blocks that are on the device."""
        if not self.stays:
            return self._sent()
        if not self._kept:
            self._kept = list(self._sent())
        return iter(self._kept)

    def _sent(self) -> Iterator[tuple[slice, torch.Tensor]]:
        send = partial(_send, n=self.n, device=self.device, used_on=_stream(self.device))
        return ahead(map(send, _host_blocks(self.host, self._cuts)))

    # From the host ------------------------------------------------------------------------------------------

    def _rows(self, index: Any) -> Array:
        return self.host._rows(index)

    def entries(self, rows: Any, columns: Any) -> Array:
        return self.host.entries(rows, columns)

    def diagonal(self) -> Array:
        return self.host.diagonal()

    def _sum_of_squares(self) -> float:
        return self.host.squared_norm()

    def largest(self) -> float:
        return self.host.largest()

    def negative_entry(self) -> tuple[int, int] | None:
        return self.host.negative_entry()

    @cached_property
    def _worst_gap(self) -> tuple[float, tuple[int, int]]:
        worst = self.host.asymmetry()
        return worst, self.host.asymmetric_entry() if worst else (0, 0)

    def submatrix(self, index: Any) -> Operator:
        return self._like(self.host.submatrix(index))

    def scaled(self, d: Any) -> Operator:
        return self._like(self.host.scaled(d))

    def _like(self, host: Operator) -> Operator:
        """Another operator of the host for the same device, if it holds a matrix."""
        if not isinstance(host, Dense | Sparse | OnDisk):
            return host
        return Offloaded(host, device=self.device, memory_limit=self.memory_limit)


# Where, and how much of A at a time -------------------------------------------------------------------------


def _host_operator(A: Any) -> Dense | Sparse | OnDisk:
    from symclust.operators._conversion import as_operator

    if is_tensor(A):
        A = tensor_on_host(A)
    operator = as_operator(A)
    if isinstance(operator, Dense | Sparse | OnDisk):
        return operator
    raise InputTypeError(
        f"Offloaded sends blocks of a matrix to a device, and {operator!r} holds none. Give a NumPy array, a "
        "SciPy sparse array, a tensor, or an OnDisk."
    )


def usable_device(device: Any) -> torch.device:
    """A device by its name, after a look whether it is there; None is CUDA or else the processor."""
    if device is None:
        device = "cuda" if torch.cuda.is_available() else "cpu"
    try:
        return torch.empty(0, device=device).device
    except (RuntimeError, AssertionError, TypeError) as error:
        reason = str(error).split("\n")[0]
        raise OptionError(
            f"device={device!r} cannot be used here: {reason}. Give 'cpu', another device of this machine, "
            "or None."
        ) from error


def _room_on(device: torch.device) -> int:
    """The bytes that A may take by default."""
    if device.type != "cuda":
        return DEFAULT_LIMIT
    return max(1, torch.cuda.mem_get_info(device)[0] // 2)


def _size(host: Dense | Sparse | OnDisk) -> int:
    """The bytes of all entries."""
    return host.array.nbytes if isinstance(host, Dense) else int(host.indptr[-1]) * _entry_size(host)


def _entry_size(host: Sparse | OnDisk) -> int:
    return entry_bytes(host.indices.dtype if isinstance(host, Sparse) else host.index_dtype, host.dtype)


def _cuts(host: Dense | Sparse | OnDisk, limit: int) -> list[slice]:
    """Cut all rows into blocks of which two fit into `limit` bytes, and into what the host may read."""
    if isinstance(host, Dense):
        rows = limit // 2 // (host.n * host.dtype.itemsize)
        return list(split(host.n, max(1, rows)))
    if isinstance(host, OnDisk):
        limit = min(limit, host.memory_limit)
    return cut_rows(host.indptr, max(1, limit // 2 // _entry_size(host)))


def _host_blocks(host: Dense | Sparse | OnDisk, cuts: list[slice]) -> Iterator[Any]:
    """Yield blocks of rows as the host has them: rows and one array, or rows and the three of CSR."""
    if isinstance(host, OnDisk):
        yield from host._read(cuts)
        return
    for rows in cuts:
        if isinstance(host, Dense):
            yield rows, host.array[rows]
        else:
            own = slice(host.indptr[rows.start], host.indptr[rows.stop])
            indptr = host.indptr[rows.start : rows.stop + 1] - own.start
            yield RowBlock(rows, indptr, host.indices[own], host.values[own])


# On the way -------------------------------------------------------------------------------------------------


def _stream(device: torch.device) -> Any:
    """The stream of products; None for a device on which copies wait for nothing."""
    return torch.cuda.current_stream(device) if device.type == "cuda" else None


def _send(
    block: RowBlock | tuple[slice, Array], n: int, device: torch.device, used_on: Any
) -> tuple[slice, torch.Tensor]:
    """Copy a block to the device, and wait until it is there."""
    rows, *parts = block
    sent = _copied(parts, device, used_on)
    if len(sent) == 1:
        return rows, sent[0]
    return rows, torch.sparse_csr_tensor(*sent, (rows.stop - rows.start, n), check_invariants=False)


def _copied(parts: list[Array], device: torch.device, used_on: Any) -> list[torch.Tensor]:
    """Copy arrays to a device; on CUDA wait for that copy alone, not for what is being computed there."""
    staged = [_staged(part, pinned=used_on is not None) for part in parts]
    if used_on is None:
        return [part.to(device) for part in staged]
    own = torch.cuda.Stream(device)
    with torch.cuda.stream(own):
        sent = [part.to(device, non_blocking=True) for part in staged]
    own.synchronize()
    for part in sent:
        part.record_stream(used_on)  # its memory is not given away before the product with it is done
    return sent


def _staged(array: Array, pinned: bool) -> torch.Tensor:
    """Copy an array to memory of PyTorch; from pinned memory copies need no help of the processor."""
    staged = torch.empty(array.shape, dtype=getattr(torch, array.dtype.name), pin_memory=pinned)
    np.copyto(staged.numpy(), array)
    return staged
