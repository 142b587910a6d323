"""Peak memory of fitting 1M nodes and 20M nonzeros with 16 clusters, beyond A, from three starts."""

from __future__ import annotations

import subprocess
import sys
import tempfile
from pathlib import Path

import numpy as np

from benchmarks._tools import table
from benchmarks.speed.product import random_graph

SCRIPT = """
import sys, warnings
import numpy as np
import scipy.sparse as sp
from benchmarks.speed.product import random_graph
from symclust import SymNMF
warnings.simplefilter("ignore")

def memory(field):  # VmRSS is what the process holds, VmHWM the most it has held; Linux counts in kB
    lines = open("/proc/self/status").read().splitlines()
    return 1024 * int(next(line for line in lines if line.startswith(field)).split()[1])

def fit(A, max_iter):
    options = {"affinity": "precomputed", "init": sys.argv[2], "random_state": 0}
    return SymNMF(16, max_iter=max_iter, **options).fit(A)

fit(random_graph(2000, 4000), 2)  # libraries and threads are there now
parts = [np.load(f"{sys.argv[1]}/{name}.npy") for name in ("data", "indices", "indptr")]
n = len(parts[2]) - 1
A = sp.csr_array(tuple(parts), shape=(n, n))
open("/proc/self/clear_refs", "w").write("5")  # the high-water mark starts anew
before = memory("VmRSS")
model = fit(A, 5)
print(before, memory("VmHWM"), model.history_.seconds[-1])
"""
INITS = ("tree", "merge", "random")
ALLOWED = 8.0


def main(n: int = 1_000_000, edges: int = 10_000_000) -> None:
    rows = []
    with tempfile.TemporaryDirectory() as folder:
        A = random_graph(n, edges)
        parts = {name: getattr(A, name) for name in ("data", "indices", "indptr")}
        for name, part in parts.items():
            np.save(Path(folder) / f"{name}.npy", part)
        size, array = sum(part.nbytes for part in parts.values()), n * 16 * 8
        del A, parts
        for init in INITS:
            command = [sys.executable, "-c", SCRIPT, folder, init]
            before, peak, took = map(float, subprocess.check_output(command).split())
            rows.append(
                {
                    "init": init,
                    "A (MB)": size / 1e6,
                    "n × k array (MB)": array / 1e6,
                    "peak (MB)": peak / 1e6,
                    "fit added, in n × k arrays": (peak - before) / array,
                    "allowed": ALLOWED,
                    "s": took,
                }
            )
    table("Peak memory, 1M nodes, 20M nonzeros, 16 clusters", rows)


if __name__ == "__main__":
    main()
