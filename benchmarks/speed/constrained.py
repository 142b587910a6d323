"""Constrained factorization of 100,000 documents x 20,000 terms, cosine similarity, with a graph regulariser.

Peak memory of a fit, and its time per iteration beside that of two sparse products with X.
"""

from __future__ import annotations

import subprocess
import sys

from benchmarks._tools import table

SCRIPT = """
import sys, time, warnings
import numpy as np
import scipy.sparse as sp
from symclust import SymmetricFactorization
from symclust.operators import Gram
warnings.simplefilter("ignore")
n, d, terms, k = map(int, sys.argv[1:5])
constraint, init = sys.argv[5:7]

def peak():  # Linux counts in kB
    lines = open("/proc/self/status").read().splitlines()
    return 1024 * int(next(line for line in lines if line.startswith("VmHWM")).split()[1])

rng = np.random.default_rng(0)
topic = rng.integers(0, k, n)
ranks = np.minimum((d / 4 * rng.pareto(1.1, (n, terms))).astype(np.int64), d - 1)  # words of any text
own = topic[:, None] * (d // k) + rng.integers(0, d // k, (n, terms))  # words of the topic
columns = np.where(rng.random((n, terms)) < 0.5, own, ranks).astype(np.int32)
X = sp.csr_array((np.ones(n * terms), columns.reshape(-1), np.arange(n + 1) * terms), shape=(n, d))
X.sum_duplicates()

begin = time.perf_counter()
model = SymmetricFactorization(
    k, constraint=constraint, graph_regularization=0.1, affinity="cosine", init=init, max_iter=30, tol=1e-9,
    assign_labels="argmax", random_state=0,
).fit(X)
whole = time.perf_counter() - begin
steps = np.diff(model.history_.seconds)
H = np.ascontiguousarray(model.membership_)
A = Gram(X)
A @ H  # the transpose is made once, as in the fit
taken = []
for _ in range(15):
    begin = time.perf_counter()
    A @ H
    taken.append(time.perf_counter() - begin)
print(peak(), whole, np.median(steps), np.median(taken), steps.min(), min(taken), X.nnz)
"""


def main(n: int = 100_000, d: int = 20_000, terms: int = 50, k: int = 20) -> None:
    rows = []
    for constraint, init in (("free", "random"), ("nonnegative", "merge")):
        command = [sys.executable, "-c", SCRIPT, *map(str, (n, d, terms, k)), constraint, init]
        peak, whole, step, products, least, fewest, nonzeros = map(
            float, subprocess.check_output(command).split()
        )
        row = {
            "constraint": constraint,
            "nonzeros": int(nonzeros),
            "peak (MB)": peak / 1e6,
            "s whole fit, 30 iterations": whole,
            "s an iteration": step,
            "s two products with X": products,
            "ratio (3 allowed)": step / products,
            "ratio of the fastest": least / fewest,
        }
        print(row, flush=True)
        rows.append(row)
    table("Documents: 100,000 x 20,000, cosine, regularised", rows)


if __name__ == "__main__":
    main()
