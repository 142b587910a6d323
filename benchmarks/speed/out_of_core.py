"""A graph four times larger than the memory a process may have: built and factored under that limit.

The limit is RLIMIT_DATA, which counts everything a process writes to, libraries included, and not the pages
that the system keeps of files. Beside it the same fit in memory without a limit has to give the same bits.
"""

from __future__ import annotations

import hashlib
import json
import os
import subprocess
import sys
import tempfile
import time
from pathlib import Path

from benchmarks._tools import table

LIMIT = 500_000_000  # bytes; importing the package takes more than a third of it
TIMES = 4
N_NODES, N_CLUSTERS, ITERATIONS = 100_000, 8, 5
ENTRY = 12  # bytes of an entry: a column number of 4, a value of 8
BUFFERS = 32 << 20
CHUNK = 200_000  # edges made at a time


def edges(n_edges: int):
    """Eight equal clusters, and one edge in five to anywhere."""
    import numpy as np

    rng = np.random.default_rng(0)
    for first in range(0, n_edges, CHUNK):
        size = min(CHUNK, n_edges - first)
        i = rng.integers(0, N_NODES, size)
        j = (i + N_CLUSTERS * rng.integers(1, N_NODES // N_CLUSTERS, size)) % N_NODES
        yield i, np.where(rng.uniform(size=size) < 0.2, rng.integers(0, N_NODES, size), j), None


def build(folder: str) -> dict:
    from symclust.operators import write_on_disk

    n_edges = int(1.12 * TIMES * LIMIT / ENTRY / 2)  # some are drawn twice
    A = write_on_disk(edges(n_edges), folder, duplicates="first", memory_limit=2 * BUFFERS)
    return {"nonzeros": A.n_entries}


def fit(folder: str, where: str, solver: str) -> dict:
    import warnings

    import numpy as np
    import scipy.sparse as sp

    from symclust import SymNMF
    from symclust.operators import OnDisk, Sparse

    warnings.simplefilter("ignore")
    A = OnDisk(folder, memory_limit=BUFFERS)
    if where == "memory":
        parts = [np.load(f"{folder}/{name}.npy") for name in ("values", "indices", "indptr")]
        A = Sparse(sp.csr_array(tuple(parts), shape=A.shape))
    options = {"init": "random", "random_state": 0, "max_iter": ITERATIONS, "tol": 0, "solver": solver}
    start, processor = time.perf_counter(), time.process_time()
    model = SymNMF(N_CLUSTERS, affinity="precomputed", **options).fit(A)
    bits = hashlib.sha256(model.membership_.tobytes()).hexdigest()
    seconds = {"s": time.perf_counter() - start, "processor s": time.process_time() - processor}
    return seconds | {"bits": bits[:12], "objective": model.objective_}


def in_process(*arguments: str, limited: bool) -> dict:
    """Run a function of this file in a process of its own, under the limit or not."""
    command = [sys.executable, "-m", "benchmarks.speed.out_of_core", str(int(limited)), *arguments]
    start = time.perf_counter()
    done = subprocess.run(command, capture_output=True, text=True, check=False)
    found = json.loads(done.stdout) if done.returncode == 0 else {"failed": done.stderr.split("\n")[-2]}
    return {"process (s)": time.perf_counter() - start} | found


def run_here(limited: str, name: str, *arguments: str) -> None:
    import resource

    if limited == "1":
        resource.setrlimit(resource.RLIMIT_DATA, (LIMIT, LIMIT))
    found = {"build": build, "fit": fit}[name](*arguments)
    found["peak (MB)"] = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss * 1024 / 1e6
    print(json.dumps(found))


def read_cold(folder: str) -> float:
    """Return the bytes a second at which the disk gives what memory has forgotten of the file of values."""
    path = Path(folder) / "values.npy"
    with path.open("rb", buffering=0) as file:
        os.fsync(file.fileno())
        os.posix_fadvise(file.fileno(), 0, 0, os.POSIX_FADV_DONTNEED)
        start, total, buffer = time.perf_counter(), 0, bytearray(BUFFERS)
        while count := file.readinto(buffer):
            total += count
    return total / (time.perf_counter() - start)


def main() -> None:
    with tempfile.TemporaryDirectory() as place:
        folder = f"{place}/graph"
        built = in_process("build", folder, limited=True)
        size = sum(path.stat().st_size for path in Path(folder).iterdir())
        table(
            f"Built under a limit of {LIMIT / 1e6:.0f} MB: {size / 1e6:,.0f} MB on disk",
            [built | {"disk (MB/s)": read_cold(folder) / 1e6}],
        )
        rows = []
        for solver in ("row_descent", "anls"):
            found = in_process("fit", folder, "disk", solver, limited=True)
            memory = in_process("fit", folder, "memory", solver, limited=False)
            refused = in_process("fit", folder, "memory", solver, limited=True)
            if "failed" in found or "failed" in memory:
                sys.exit(f"{solver} failed: {found.get('failed') or memory['failed']}")
            rows += [
                {"solver": solver, "A": "on disk, limited", **found, "times": found["s"] / memory["s"]},
                {"solver": solver, "A": "in memory, free", **memory, "times": 1.0},
                {"solver": solver, "A": "in memory, limited", **refused},
            ]
            assert found["bits"] == memory["bits"], "the same bits are expected"
        table(f"Out of core: {ITERATIONS} iterations, {N_CLUSTERS} clusters, {N_NODES:,} nodes", rows)


if __name__ == "__main__":
    run_here(*sys.argv[1:])
