"""Cost of a sparse matrix times a dense block: bytes, operations, and the least time they take."""

from __future__ import annotations

from dataclasses import dataclass
from math import ceil, gcd
from typing import Any

import numpy as np
from scipy.sparse import issparse

from symclust._types import SimilarityLike
from symclust.exceptions import InputTypeError
from symclust.operators.disk.on_disk import OnDisk
from symclust.operators.sparse import Sparse, read_csr
from symclust.validation import check_known, check_number

SAMPLE = 1024  # entries that are looked at to see how far they lie from the diagonal
FEWEST_PER_ROW = 32  # entries of a row in a column block, below which (92) does not cut A into such blocks


@dataclass(frozen=True)
class SpmmCost:
    """Cost of one product Y = A X by the model of `spmm_cost_model`.

    Attributes
    ----------
    flops : int
        Multiplications and additions.
    matrix_bytes, factor_bytes, result_bytes : float
        Bytes of A read, X read and Y written, between memory and cache.
    to_device_bytes, from_device_bytes : float
        Bytes over the link; 0 if A is in memory.
    column_blocks : int
        Into how many blocks of columns A is cut so that the rows of X a block needs stay in the cache.
    memory_seconds, link_seconds, compute_seconds : float
        How long each of the three takes by itself.
    """

    flops: int
    matrix_bytes: float
    factor_bytes: float
    result_bytes: float
    to_device_bytes: float
    from_device_bytes: float
    column_blocks: int
    memory_seconds: float
    link_seconds: float
    compute_seconds: float

    @property
    def bytes(self) -> float:
        """All that moves between memory and cache."""
        return self.matrix_bytes + self.factor_bytes + self.result_bytes

    @property
    def seconds(self) -> float:
        """The longest of the three, (68): they overlap at best completely."""
        return max(self.memory_seconds, self.link_seconds, self.compute_seconds)

    @property
    def bound(self) -> str:
        """Which of the three it is: ``"memory"``, ``"link"`` or ``"compute"``."""
        times = {"link": self.link_seconds, "memory": self.memory_seconds, "compute": self.compute_seconds}
        return max(times, key=lambda name: times[name])


def spmm_cost_model(
    A: SimilarityLike,
    n_columns: int,
    bandwidth: float,
    *,
    cache: float = 0,
    line: int = 1,
    far_share: float | None = None,
    column_blocking: bool = False,
    link: float | tuple[float, float] | None = None,
    link_carries: str = "all",
    flop_rate: float | None = None,
    value_bytes: int | None = None,
    index_bytes: int | None = None,
) -> SpmmCost:
    """Cost of Y = A X, A sparse of m x n with Z entries, X dense with k columns.

    The model of Kuang's thesis (2014), sections 6.4 and 6.5. With v bytes a number and i bytes an index,

    - A is read once: Z (v + i) + (m + 1) i bytes;
    - Y is written once, m k v, or once for each column block;
    - of X a row is read for each entry of A, Z k v (71), or once for all, n k v (90).

    The places of the entries decide between the two; the thesis takes them to lie anywhere. Here X is read
    for the entries that lie far from the diagonal and find their row not in the cache, a share f =
    min(far_share, 1 − cache / nkv), and once for the rest: f Z b + (1 − f) n k v. A read brings whole lines
    of memory: b is what a row of k v bytes takes of them on average. With `cache` 0 and `line` 1 this is
    (71), with far_share 0 it is (90) with one column block.

    The time is the longest of what memory, the link and the arithmetic take (68).

    Parameters
    ----------
    A : sparse array, operator, or tuple (rows, columns, entries)
        The matrix, or how large it is.
    n_columns : int
        k, the columns of X.
    bandwidth : float
        Bytes a second between memory and cache, as a copy measures it (both ways counted).
    cache : float, default=0
        Bytes of X that stay near the processor.
    line : int, default=1
        Bytes that one read brings at least; 64 for the memory of most processors.
    far_share : float between 0 and 1, optional
        Share of the entries of A far from the diagonal: the rows of X in between do not fit into half of
        `cache`. By default found from 1,024 entries of A, and 1 if only its size is known or it is on disk.
    column_blocking : bool, default=False
        Cut A into blocks of columns for which X stays in the cache, if that is faster and leaves 32 entries
        to a row of a block (90)-(93). Our kernels do not.
    link : float or tuple (there, back), optional
        Bytes a second to a device, or from a disk, across which A is streamed in blocks of rows (69).
    link_carries : {"all", "matrix"}, default="all"
        "all" for a device, which is sent X and sends Y back; "matrix" for a disk, where only A is.
    flop_rate : float, optional
        Operations a second; by default arithmetic takes no time.
    value_bytes, index_bytes : int, optional
        Sizes of a number and an index; by default those of A, or 8 and 4.

    Returns
    -------
    cost : SpmmCost

    Examples
    --------
    The documents of RCV1 on the device of the thesis: up to about 90 columns the link is what counts.

    >>> from symclust.operators import spmm_cost_model
    >>> rcv1 = (149_113, 764_751, 59_851_107)
    >>> device = dict(bandwidth=170e9, link=(6.08e9, 6.53e9), value_bytes=4)
    >>> spmm_cost_model(rcv1, 2, **device).bound, spmm_cost_model(rcv1, 200, **device).bound
    ('link', 'memory')
    """
    sizes = _Sizes.of(A, value_bytes, index_bytes)
    check_number("n_columns", n_columns, least=1, whole=True)
    check_number("cache", cache, least=0)
    check_number("line", line, least=1, whole=True)
    row = int(n_columns) * sizes.value
    if far_share is None:
        far_share = sizes.far_share(cache / row)
    check_number("far_share", far_share, least=0, most=1)
    missed = min(far_share, max(0.0, 1.0 - cache / (sizes.columns * row)))
    read = missed * sizes.entries * _bytes_of_lines(row, line) + (1.0 - missed) * sizes.columns * row
    result = float(sizes.rows * row)
    blocks = _column_blocks(sizes, row, cache, read) if column_blocking else 1
    if blocks > 1:
        read, result = float(sizes.columns * row), blocks * result
    there, back, link_seconds = _over_link(sizes, row, link, link_carries)
    flops = 2 * sizes.entries * int(n_columns)
    return SpmmCost(
        flops=flops,
        matrix_bytes=float(sizes.matrix),
        factor_bytes=read,
        result_bytes=result,
        to_device_bytes=there,
        from_device_bytes=back,
        column_blocks=blocks,
        memory_seconds=_seconds(sizes.matrix + read + result, "bandwidth", bandwidth),
        link_seconds=link_seconds,
        compute_seconds=0.0 if flop_rate is None else _seconds(flops, "flop_rate", flop_rate),
    )


@dataclass(frozen=True)
class _Sizes:
    rows: int
    columns: int
    entries: int
    value: int
    index: int
    csr: Any = None

    @classmethod
    def of(cls, A: Any, value: int | None, index: int | None) -> _Sizes:
        """Read the sizes off a matrix, or take them as they are given; sizes of numbers given go first."""
        csr, own_value, own_index = None, 8, 4
        if isinstance(A, tuple) and len(A) == 3:
            for name, size, least in zip(("rows", "columns", "entries"), A, (1, 1, 0), strict=True):
                check_number(f"{name} of A", size, least=least, whole=True)
            shape = [int(size) for size in A]
        elif isinstance(A, OnDisk):
            shape, own_value, own_index = [A.n, A.n, A.n_entries], A.dtype.itemsize, A.index_dtype.itemsize
        elif isinstance(A, Sparse) or issparse(A):
            csr = A.csr if isinstance(A, Sparse) else read_csr(A)
            shape, own_value, own_index = [*csr.shape, csr.nnz], csr.dtype.itemsize, csr.indices.itemsize
        else:
            raise InputTypeError(
                "Expected a sparse array, a sparse operator or (rows, columns, entries), got "
                f"{type(A).__name__}. The product of a dense matrix is bound by arithmetic."
            )
        value, index = own_value if value is None else value, own_index if index is None else index
        check_number("value_bytes", value, least=1, whole=True)
        check_number("index_bytes", index, least=1, whole=True)
        rows, columns, entries = shape
        return cls(rows, columns, entries, value, index, csr)

    @property
    def matrix(self) -> int:
        """Bytes of A as compressed rows."""
        return self.entries * (self.value + self.index) + (self.rows + 1) * self.index

    def far_share(self, cached_rows: float) -> float:
        """The share of entries further from the diagonal than half the rows of X that are cached."""
        if self.csr is None or self.entries == 0:
            return 1.0
        places = np.linspace(0, self.entries - 1, min(SAMPLE, self.entries)).astype(np.int64)
        rows = np.searchsorted(self.csr.indptr, places, side="right") - 1
        # A long or a wide matrix has a diagonal too: row i is in its place i n / m of the columns.
        away = np.abs(self.csr.indices[places] - rows * (self.columns / self.rows))
        return float(np.mean(away > cached_rows / 2))


def _bytes_of_lines(row: int, line: int) -> float:
    """Bytes of the lines of memory that a row touches on average, the first row beginning with a line."""
    return row + line - gcd(row, line)


def _column_blocks(sizes: _Sizes, row: int, cache: float, read: float) -> int:
    """Number of blocks of columns that (93) takes; 1 if that is not faster."""
    if cache <= 0 or sizes.entries == 0:
        return 1
    blocks = ceil(sizes.columns * row / cache)  # (91)
    faster = sizes.columns * row + (blocks - 1) * sizes.rows * row < read
    return blocks if faster and sizes.entries // (sizes.rows * blocks) >= FEWEST_PER_ROW else 1


def _over_link(sizes: _Sizes, row: int, link: Any, carries: str) -> tuple[float, float, float]:
    """The bytes that go there and back, and how long they take (69)."""
    check_known("link_carries", carries, ("all", "matrix"))
    if link is None:
        return 0.0, 0.0, 0.0
    there_rate, back_rate = link if isinstance(link, tuple) and len(link) == 2 else (link, link)
    factors = carries == "all"
    there = float(sizes.matrix + factors * sizes.columns * row)
    back = float(factors * sizes.rows * row)
    return there, back, _seconds(there, "link", there_rate) + _seconds(back, "link", back_rate)


def _seconds(amount: float, name: str, rate: Any) -> float:
    check_number(name, rate, least=0, exclusive=True)
    return amount / rate
