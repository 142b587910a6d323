"""Peak memory of fitting 1M nodes and 20M nonzeros with 16 clusters, in units of A and of n × k arrays."""

from __future__ import annotations

import subprocess
import sys

from benchmarks._tools import table

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

A = random_graph(2000, 4000)
SymNMF(16, affinity="precomputed", max_iter=2, random_state=0).fit(A)  # libraries and threads are there now
parts = [np.load(f"{sys.argv[1]}/{name}.npy") for name in ("data", "indices", "indptr")]
A = sp.csr_array(tuple(parts), shape=(1_000_000, 1_000_000))
size = sum(part.nbytes for part in parts)
open("/proc/self/clear_refs", "w").write("5")  # the high-water mark starts anew
before = memory("VmRSS")
model = SymNMF(16, affinity="precomputed", max_iter=int(sys.argv[2]), random_state=0).fit(A)
print(size, before, memory("VmHWM"), model.history_.seconds[-1])
"""


def main() -> None:
    import tempfile

    import numpy as np

    from benchmarks.speed.product import random_graph

    with tempfile.TemporaryDirectory() as folder:
        A = random_graph()
        for name in ("data", "indices", "indptr"):
            np.save(f"{folder}/{name}.npy", getattr(A, name))
        del A
        command = [sys.executable, "-c", SCRIPT, folder, "20"]
        size, before, peak, took = map(float, subprocess.check_output(command).split())
    array = 1_000_000 * 16 * 8
    rows = [
        {
            "A (MB)": size / 1e6,
            "n × k array (MB)": array / 1e6,
            "process with A before fit (MB)": before / 1e6,
            "peak (MB)": peak / 1e6,
            "fit added, in n × k arrays": (peak - before) / array,
            "allowed": 8.0,
            "s": took,
        }
    ]
    table("Peak memory, 1M nodes, 20M nonzeros, 16 clusters", rows)


if __name__ == "__main__":
    main()
