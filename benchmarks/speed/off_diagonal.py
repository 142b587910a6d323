"""Sweeps of the off-diagonal factorization: against one product, against NumPy, and as n grows."""

from __future__ import annotations

import os
from pathlib import Path

import matplotlib

matplotlib.use("Agg")
import matplotlib.pyplot as plt
import numpy as np
from scipy import sparse

from benchmarks._tools import RESULTS, seconds, table, timed
from symclust.constraints import Nonnegative
from symclust.datasets import planted_partition
from symclust.objectives import Absolute, OffDiagonal
from symclust.operators import Operator, as_operator
from symclust.solvers import Problem, State
from symclust.solvers.row_descent import _gram_matrices, _Sweep
from symclust.starts import Greedy, Random

NODES, DEGREE = 200_000, 20
SIZES = (1_000, 3_000, 10_000, 30_000, 100_000, 300_000, 1_000_000)


def main() -> None:
    against_product()
    against_numpy()
    as_n_grows()


def against_product() -> None:
    """A sweep over all rows beside one product with the same H, and beside the k × k work of the rows."""
    A, _ = planted_partition(NODES, 20, DEGREE, 0.3, random_state=0)
    operator, matching = as_operator(A), as_operator(_matching(NODES))
    rows = []
    for k in (4, 8, 16, 32, 64):
        H = Random().factor(OffDiagonal(operator), k, np.random.RandomState(0))
        product, sweep = seconds(lambda H=H: operator @ H, 5), _sweep_seconds(operator, H)
        small = seconds(lambda H=H: matching @ H, 5)
        work = max(_sweep_seconds(matching, H) - small, 0.0)
        rows.append(
            {
                "k": k,
                "product": product,
                "k × k work": work,
                "sweep": sweep,
                "sweep / (2 products + work)": sweep / (2 * product + work),
                "sweep / product": sweep / product,
            }
        )
    table(f"Squared loss: one sweep, {NODES} nodes, {A.nnz} nonzeros (seconds)", rows)


def _matching(n: int) -> sparse.csr_array:
    """Every node joined to one other: rows with all of their k × k work and next to no product."""
    i = np.arange(n)
    return sparse.csr_array((np.full(n, 20.0), (i, i ^ 1)), shape=(n, n))


def _sweep_seconds(operator: Operator, H: np.ndarray, repeat: int = 5) -> float:
    """Best time of a sweep over all rows, each from where the one before it ended."""
    problem, state = Problem(operator, OffDiagonal(operator), Nonnegative()), State(H.copy())
    sweep = _Sweep(problem, state.H, _gram_matrices([state], state.H))
    active, gradient, diagonal = np.ones(operator.n, np.uint8), np.zeros(operator.n), operator.diagonal()
    return seconds(lambda: sweep._sweep_rows(diagonal, active, gradient), repeat)


def weighted_median(a: np.ndarray, b: np.ndarray) -> float:
    """Algorithm 7, with its missing last line."""
    support = a != 0
    if not support.any():
        return 0.0
    a, b = a[support], b[support]
    order = np.argsort(b / a)
    total = np.cumsum(a[order])
    k = order[np.searchsorted(total, 0.5 * total[-1])]
    return max(0.0, b[k] / a[k])


def numpy_sweep(A: np.ndarray, H: np.ndarray) -> np.ndarray:
    """Algorithms 1 and 3 as they are written, each entry vectorised."""
    H, n = H.copy(), len(A)
    R = A - H @ H.T
    for l in range(H.shape[1]):
        h = H[:, l]
        P = R + np.outer(h, h)
        for k in range(n):
            others = np.arange(n) != k
            h[k] = weighted_median(h[others], P[k, others])
        R = P - np.outer(h, h)
    return H


def against_numpy() -> None:
    folder = os.environ.get("SYMCLUST_DATA")
    if not folder or not Path(folder, "reviews.npz").exists():
        print("(skipped the absolute loss: set SYMCLUST_DATA to the folder that holds reviews.npz)")
        return
    with np.load(Path(folder, "reviews.npz"), allow_pickle=False) as file:
        parts = file["X_data"].astype(float), file["X_indices"], file["X_indptr"]
        X = sparse.csr_array(parts, shape=tuple(file["X_shape"]))
    X = sparse.diags_array(1 / np.sqrt(X.multiply(X).sum(axis=1))) @ X
    A = (X @ X.T).toarray()
    objective = Absolute(as_operator(A))
    H = Greedy().factor(objective, 5)
    ours = H.copy()
    mine, _ = timed(lambda: _columns(objective, ours))
    theirs, expected = timed(lambda: numpy_sweep(A, H))
    again = seconds(lambda: _columns(objective, ours.copy()), 3)
    row = {"ours": mine, "NumPy": theirs, "ratio": theirs / mine, "ratio, our best of 3": theirs / again}
    table("Absolute loss: one sweep on reviews, 4069 documents, dense (seconds)",
          [{**row, "largest difference": np.abs(ours - expected).max()}])  # fmt: skip


def _columns(objective: Absolute, H: np.ndarray) -> None:
    columns = objective.columns(H)
    for column in range(H.shape[1]):
        columns.descend(column)


def as_n_grows() -> None:
    rows = []
    for n in SIZES:
        A, _ = planted_partition(n, 10, DEGREE, 0.3, random_state=0)
        operator = as_operator(A)
        H = Random().factor(OffDiagonal(operator), 10, np.random.RandomState(0))
        sweep = _sweep_seconds(operator, H, repeat=max(3, 300_000 // n))
        absolute = Absolute(operator)
        medians = seconds(lambda o=absolute, H=H: _columns(o, H.copy()), 2)
        rows.append({"n": n, "squared": sweep, "ns a node": 1e9 * sweep / n, "absolute": medians})
    slopes = {
        loss: np.polyfit(np.log([r["n"] for r in rows]), np.log([r[loss] for r in rows]), 1)[0]
        for loss in ("squared", "absolute")
    }
    table(f"One sweep as n grows, degree {DEGREE}, k = 10 (seconds; slopes {slopes})", rows)
    _draw(rows, slopes)


def _draw(rows: list[dict], slopes: dict[str, float]) -> None:
    figure, ax = plt.subplots(figsize=(5, 4))
    n = [row["n"] for row in rows]
    for loss in ("squared", "absolute"):
        ax.loglog(n, [row[loss] for row in rows], "o-", label=f"{loss} loss: slope {slopes[loss]:.2f}")
    ax.loglog(n, [rows[-1]["squared"] * m / n[-1] for m in n], "k:", label="linear")
    ax.set(xlabel="nodes", ylabel="seconds a sweep", title=f"Sparse graph, degree {DEGREE}, k = 10")
    ax.legend()
    figure.tight_layout()
    figure.savefig(RESULTS / "off_diagonal_growth.png", dpi=110)
    print(f"\nplot: {RESULTS / 'off_diagonal_growth.png'}")


if __name__ == "__main__":
    main()
