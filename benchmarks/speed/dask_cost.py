"""Bytes, flops, memory and seconds of a product whose row blocks of A lie with workers, by a model.

`benchmarks.speed.dask` measures the numbers of the model and compares its predictions. The tables here are
those of docs/evidence/speed.md: a small graph on one machine, and 10⁸ nodes on an imagined cluster.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import DTypeLike

from benchmarks._tools import table
from symclust.operators.dask._workers import encoded_bytes

FACTORS_ON_CLIENT = 8  # arrays of the size of H that a fit holds at a time
FACTORS_ON_WORKER = 2  # H in pieces, and put together


@dataclass(frozen=True)
class ClusterSpeed:
    """What a cluster can do; `benchmarks.speed.dask` measures these numbers.

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
    """
    speed, size = speed or ClusterSpeed(), np.dtype(dtype).itemsize
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


def main() -> None:
    here = ClusterSpeed(flops=2e9, network=2e9, hops=2)
    small = {"n_workers": (1, 2, 4), "machines": 1, "cores": 2, "n_blocks": 8, "speed": here}
    table("Dask: 100,000 nodes on one machine, by the model", list(rows(100_000, 3e7, **small)))
    direct = ClusterSpeed(flops=2e9, network=1e9, hops=1, client_flops=1e10)
    large = {"threads": 8, "n_blocks": 256, "speed": direct}
    sizes = ((np.float64, 1.0, (16,)), (np.float64, 0.15, (16,)), (np.float32, 0.15, (8, 16, 32)))
    table(
        "Dask: 100 million nodes on a cluster, by the model",
        [
            row
            for dtype, density, n_workers in sizes
            for row in rows(10**8, 2e10, n_workers=n_workers, dtype=dtype, density=density, **large)
        ],
    )


def rows(n: int, nonzeros: float, n_workers: tuple[int, ...], **options: Any) -> Iterator[dict[str, Any]]:
    """Yield a row of a table for each number of workers, for 16 clusters."""
    for W in n_workers:
        cost = dask_cost_model(n, nonzeros, 16, n_workers=W, **options)
        yield {
            "numbers": np.dtype(options.get("dtype", np.float64)).name,
            "H nonzero": options.get("density", 1.0),
            "workers": W,
            "memory of a worker (GB)": cost.worker_memory / 1e9,
            "of the client (GB)": cost.client_memory / 1e9,
            "sent (MB)": cost.sent / 1e6,
            "exchanged (MB)": cost.exchanged / 1e6,
            "returned (MB)": cost.returned / 1e6,
            "computing (s)": cost.compute,
            "moving (s)": cost.communicate,
            "product (s)": cost.product,
            "client (s)": cost.client,
        }
