"""What a product costs when the row blocks of A lie with workers: bytes, flops, memory and seconds."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import DTypeLike

from symclust.operators.dask._workers import encoded_bytes
from symclust.validation import check_number, float_dtype

__all__ = ["ClusterSpeed", "DaskCost", "dask_cost_model"]

FACTORS_ON_CLIENT = 8  # arrays of the size of H that a fit holds at a time
FACTORS_ON_WORKER = 2  # H in pieces, and put together


@dataclass(frozen=True)
class ClusterSpeed:
    """What a cluster can do; ``benchmarks/speed/dask.py`` measures these numbers.

    Attributes
    ----------
    flops : float
        Additions and multiplications a second of one core in a sparse product.
    network : float
        Bytes a second that one machine sends or receives, with packing and unpacking.
    hops : int
        How often bytes between client and workers are sent: 2 through the scheduler, which is Dask's default,
        1 with ``Client(..., direct_to_workers=True)``.
    latency : float
        Seconds of a product of which there is nothing to compute.
    task : float
        Seconds that a block adds to this.
    client_flops : float
        Additions and multiplications a second of the client in its share of an iteration.
    """

    flops: float = 2e9
    network: float = 1e9
    hops: int = 2
    latency: float = 5e-3
    task: float = 1e-3
    client_flops: float = 2e9


@dataclass(frozen=True)
class DaskCost:
    """One product A @ H on a cluster, and the share of the client in an iteration.

    Attributes
    ----------
    flops : float
        Of all workers together.
    sent, exchanged, returned : float
        Bytes of H from the client to workers, of H between workers, and of AH from workers to the client.
        What goes through the scheduler counts each time it is sent.
    worker_memory, client_memory : float
        Bytes that the largest worker and the client hold.
    compute, communicate, wait, client : float
        Seconds: the workers' arithmetic, the transfers, the latency, and what the client does beside the
        product in an iteration that needs one.
    """

    flops: float
    sent: float
    exchanged: float
    returned: float
    worker_memory: float
    client_memory: float
    compute: float
    communicate: float
    wait: float
    client: float

    @property
    def bytes_moved(self) -> float:
        """All bytes over the network."""
        return self.sent + self.exchanged + self.returned

    @property
    def product(self) -> float:
        """Seconds of a product: sending, computing and bringing back follow one another."""
        return self.compute + self.communicate + self.wait


def dask_cost_model(
    n: int,
    nonzeros: float,
    n_clusters: int,
    *,
    n_workers: int,
    threads: int = 1,
    machines: int | None = None,
    cores: int | None = None,
    n_blocks: int | None = None,
    density: float = 1.0,
    dtype: DTypeLike = np.float64,
    speed: ClusterSpeed | None = None,
) -> DaskCost:
    r"""Predict what a product of `OnDask` costs, and what the client needs beside it.

    With h the bytes of H (only its nonzeros where that is less), W workers on M machines, b bytes a second
    and r hops, a product takes

    .. math:: \frac{r h}{b} + \frac{(W - 1) h}{M b} + \frac{2 \, \mathrm{nnz}(A) \, k}{f \min(W t, c)}
              + \frac{r n k s}{b} + \mathrm{latency}

    seconds: H goes out once, workers take the pieces that they lack from each other, each multiplies its
    blocks on t threads of f flops a second, of which c cores run as many at a time as they are, and AH comes
    back in numbers of s bytes. The client then updates H in 4 n k² flops.

    Parameters
    ----------
    n : int
        Nodes.
    nonzeros : float
        Of A: twice the number of edges.
    n_clusters : int
        Columns of H, k.
    n_workers, threads : int
        Worker processes, W, and the threads of each, t.
    machines : int, optional
        On which the workers run, M; a machine each by default.
    cores : int, optional
        Of all these machines; more threads than cores are no faster. As many as threads by default.
    n_blocks : int, optional
        Blocks of rows; four for each thread by default.
    density : float, default=1.0
        The share of H that is not zero.
    dtype : {np.float64, np.float32}
        Of A and H.
    speed : ClusterSpeed, optional
        What the machines can do.

    Returns
    -------
    DaskCost

    Examples
    --------
    Ten times the workers do not make a product ten times faster: H still leaves the client once.

    >>> from symclust.operators import dask_cost_model
    >>> few, many = (dask_cost_model(10**7, 10**9, 16, n_workers=W) for W in (4, 40))
    >>> round(few.compute / many.compute), round(few.product / many.product, 1)
    (10, 1.5)
    """
    for name, value in (("n", n), ("n_clusters", n_clusters), ("n_workers", n_workers), ("threads", threads)):
        check_number(name, value, least=1, whole=True)
    check_number("nonzeros", nonzeros, least=0)
    check_number("density", density, least=0, most=1)
    speed, size = speed or ClusterSpeed(), float_dtype(dtype).itemsize
    machines, cores = machines or n_workers, cores or n_workers * threads
    n_blocks = n_blocks or 4 * n_workers * threads
    factor = float(n) * n_clusters * size
    h = min(factor, encoded_bytes(n, n_clusters, density * n * n_clusters, size))
    sent, exchanged, returned = speed.hops * h, (n_workers - 1) * h, speed.hops * factor
    flops = 2.0 * nonzeros * n_clusters
    index = 4 if max(n, nonzeros / n_blocks) < 2**31 else 8
    own = -(-n_blocks // n_workers) / n_blocks  # the share of the worker with most blocks
    return DaskCost(
        flops,
        sent,
        exchanged,
        returned,
        own * (nonzeros * (index + size) + n * index + factor) + FACTORS_ON_WORKER * factor,
        FACTORS_ON_CLIENT * factor,
        flops / (speed.flops * min(n_workers * threads, cores)),
        (sent + exchanged / machines + returned) / speed.network,
        speed.latency + n_blocks * speed.task,
        4.0 * n * n_clusters**2 / speed.client_flops,
    )
