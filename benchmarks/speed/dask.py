"""A on the workers of a Dask cluster of this machine: as one process does it, workers killed, cost predicted.

The blocks are read from files, and read again where a worker is lost. What the model needs to know of the
machine is measured first, on one worker. Bytes are those of the loopback interface; other traffic counts
too, so run it by itself, for example with `unshare -rn`, which gives it an interface of its own.
"""

from __future__ import annotations

import logging
import os
import signal
import subprocess
import tempfile
import time
import warnings
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import replace
from itertools import pairwise
from pathlib import Path
from typing import Any

import numpy as np
import scipy.sparse as sp

from benchmarks._tools import seconds, table, timed
from benchmarks.speed.dask_cost import ClusterSpeed, dask_cost_model
from symclust import SymNMF
from symclust.operators import OnDask, Sparse

N, DEGREE, K = 100_000, 100, 16
BLOCKS, ITERATIONS = 8, 10
SOLVERS = ("hals", "anls")
WORKERS = (1, 2, 4)
TIMEOUT = 120.0


def graph() -> sp.csr_array:
    """Sixteen clusters, half of all edges inside them."""
    rng = np.random.default_rng(0)
    i = rng.integers(0, N, N * DEGREE // 2)
    near = i - i % (N // K) + rng.integers(0, N // K, i.size)
    j = np.where(rng.uniform(size=i.size) < 0.5, near % N, rng.integers(0, N, i.size))
    A = sp.coo_array((np.ones(i.size), (i, j)), shape=(N, N)).tocsr()
    return sp.csr_array(A + A.T)


def store(A: sp.csr_array, place: str) -> None:
    for name in ("indptr", "indices", "data"):
        np.save(f"{place}/{name}.npy", getattr(A, name))


def load(place: str, first: int, last: int) -> sp.csr_array:
    indptr, indices, data = (
        np.load(f"{place}/{part}.npy", mmap_mode="r") for part in ("indptr", "indices", "data")
    )
    own = slice(indptr[first], indptr[last])
    return sp.csr_array(
        (np.array(data[own]), np.array(indices[own]), indptr[first : last + 1] - indptr[first]),
        shape=(last - first, N),
    )


def on_workers(place: str) -> OnDask:
    from dask import delayed

    borders = np.linspace(0, N, BLOCKS + 1).astype(int).tolist()
    return OnDask([delayed(load)(place, a, b) for a, b in pairwise(borders)], timeout=TIMEOUT)


@contextmanager
def cluster(n_workers: int) -> Iterator[Any]:
    from distributed import Client, LocalCluster

    options = {
        "threads_per_worker": 1,
        "memory_limit": 0,
        "host": "127.0.0.1",
        "silence_logs": logging.CRITICAL,
    }
    with (
        LocalCluster(n_workers=n_workers, processes=True, dashboard_address="127.0.0.1:0", **options) as made,
        Client(made, timeout=60) as client,
    ):
        client.wait_for_workers(n_workers, timeout=TIMEOUT)
        yield client


def fit(A: Any, solver: str, callback: Any = None) -> SymNMF:
    H = np.random.default_rng(1).uniform(size=(N, K))
    options = {"affinity": "precomputed", "init": H, "max_iter": ITERATIONS, "tol": 0, "coupling": 5.0}
    return SymNMF(K, solver=solver, callback=callback, **options).fit(A)


class Counted(Sparse):
    """Counts products with all columns, the seconds in them, and the share of nonzeros they are given."""

    def _product(self, H: np.ndarray) -> np.ndarray:
        if H.shape[1] < K:
            return super()._product(H)
        took, product = timed(lambda: super(Counted, self)._product(H))
        self.seen = [*getattr(self, "seen", []), (took, np.count_nonzero(H) / H.size)]
        return product


def loopback() -> int:
    """Return the bytes that the loopback interface has carried."""
    line = next(line for line in Path("/proc/net/dev").read_text().splitlines() if "lo:" in line)
    return int(line.split(":")[1].split()[0])


def multiply_alone(place: str) -> float:
    """Return the seconds of a product with all of A, in blocks, on one core of a worker."""
    from symclust.operators.dask.on_dask import multiply_block

    H = np.random.default_rng(0).uniform(size=(N, K))
    borders = np.linspace(0, N, BLOCKS + 1).astype(int).tolist()
    blocks = [load(place, a, b) for a, b in pairwise(borders)]
    return seconds(lambda: [multiply_block(block, H) for block in blocks], repeat=3)


def send(client: Any, size: int) -> float:
    """Return the seconds that an array takes to a worker and back."""
    array = np.random.default_rng(0).uniform(size=size // 8)
    return seconds(lambda: client.gather(client.scatter(array, hash=False)), repeat=5)


def measure_speed(place: str, nonzeros: int) -> ClusterSpeed:
    """Measure on one worker what the model asks for, but for what the client does beside products."""
    with cluster(1) as client:
        alone = client.submit(multiply_alone, place).result(timeout=TIMEOUT)
        small, large = send(client, 1 << 20), send(client, 1 << 25)
        A = on_workers(place)
        x = np.zeros((N, 1))
        wait = seconds(lambda: A @ x, repeat=5)
    return ClusterSpeed(
        flops=2 * nonzeros * K / alone,
        network=2 * 2 * ((1 << 25) - (1 << 20)) / (large - small),  # there and back, through the scheduler
        latency=max(wait - alone / K, 0.0),
        task=0.0,
    )


def predict(
    speed: ClusterSpeed, nonzeros: int, n_workers: int, densities: list[float]
) -> tuple[float, float]:
    """Return seconds and bytes of a whole fit."""
    costs = [
        dask_cost_model(
            N, nonzeros, K, n_workers=n_workers, machines=1, cores=len(os.sched_getaffinity(0)),
            n_blocks=BLOCKS, density=density, speed=speed,
        )
        for density in densities
    ]  # fmt: skip
    beside = ITERATIONS * costs[0].client
    return sum(cost.product for cost in costs) + beside, sum(cost.bytes_moved for cost in costs)


def killing(client: Any, killed: list[int]) -> Any:
    """Return a callback that kills a worker in the third iteration."""
    pid = min(client.run(os.getpid).values())

    def callback(progress: Any) -> None:
        if progress.iteration == 3:
            os.kill(pid, signal.SIGKILL)
            killed.append(pid)

    return callback


def main() -> None:
    warnings.simplefilter("ignore")
    subprocess.run(["ip", "link", "set", "lo", "up"], check=False, capture_output=True)  # of a new namespace
    with tempfile.TemporaryDirectory() as place:
        csr = graph()
        store(csr, place)
        A, here, beside = Counted(csr), {}, {}
        for solver in SOLVERS:
            A.seen = []
            took, model = timed(lambda solver=solver: fit(A, solver))
            here[solver] = took, model, [density for _, density in A.seen]
            beside[solver] = (took - sum(part for part, _ in A.seen)) / ITERATIONS
        speed = measure_speed(place, csr.nnz)
        speeds = {s: replace(speed, client_flops=4 * N * K**2 / beside[s]) for s in SOLVERS}
        table("Dask: what the model is given", [{"solver": s, **vars(speed)} for s, speed in speeds.items()])
        rows = [
            {"solver": s, "A": "in one process", "s": here[s][0], "objective": here[s][1].objective_}
            for s in SOLVERS
        ]
        for n_workers in WORKERS:
            with cluster(n_workers) as client:
                B = on_workers(place)
                B @ np.zeros((N, K))
                rows += [
                    row for s in SOLVERS for row in runs(client, B, s, n_workers, here[s], speeds[s], csr.nnz)
                ]
        table(f"Dask: {N:,} nodes, {csr.nnz:,} nonzeros, {K} clusters, {ITERATIONS} iterations", rows)


def runs(
    client: Any, B: OnDask, solver: str, n_workers: int, here: tuple, speed: ClusterSpeed, nonzeros: int
) -> Iterator[dict[str, Any]]:
    """Fit as it is, and with a worker killed where there is another one."""
    _, expected, densities = here
    for with_loss in (False, True) if n_workers > 1 else (False,):
        killed: list[int] = []
        before = loopback()
        callback = killing(client, killed) if with_loss else None
        took, model = timed(lambda callback=callback: fit(B, solver, callback))
        moved = loopback() - before
        predicted, bytes_predicted = predict(speed, nonzeros, n_workers, densities)
        gap = abs(model.objective_ / expected.objective_ - 1)
        assert gap <= 1e-6, "the same objective is expected"
        yield {
            "solver": solver,
            "A": f"{n_workers} worker{'s' * (n_workers > 1)}{', one killed' * with_loss}",
            "s": took,
            **({} if with_loss else {"predicted (s)": predicted}),
            "MB": moved / 1e6,
            **({} if with_loss else {"predicted (MB)": bytes_predicted / 1e6}),
            "objective": model.objective_,
            "gap": gap,
            "same bits": bool((model.membership_ == expected.membership_).all()),
            "lost": len(killed),
        }
        client.wait_for_workers(n_workers, timeout=TIMEOUT)
        time.sleep(2)  # nannies hear of their new workers


if __name__ == "__main__":
    main()
