"""NMF of 20,000 documents x 10,000 terms against scikit-learn's, from one start to the same objective.

scikit-learn has no callback: it runs a fixed number of iterations, and how long ours take to its objective
is read off their history. Where ours end above it (multiplicative updates), as many iterations are compared.
"""

from __future__ import annotations

import warnings
from typing import Any

import numpy as np
import scipy.sparse as sp
from sklearn.decomposition import NMF as PeerNMF

from benchmarks._tools import seconds, table, timed
from symclust import NMF
from symclust.operators import Bipartite

DOCUMENTS, TERMS, WORDS, CLUSTERS = 20_000, 10_000, 80, 20
PEERS = {"cd": 40, "mu": 100}
SOLVERS = ("bpp", "hals", "projected_gradient", "multiplicative")


def documents() -> sp.csr_array:
    """Words of a topic and words of any text, rows of length 1."""
    rng = np.random.default_rng(0)
    topic = rng.integers(0, CLUSTERS, DOCUMENTS)
    ranks = np.minimum((TERMS / 40 * rng.pareto(1.1, (DOCUMENTS, WORDS))).astype(np.int64), TERMS - 1)
    width = TERMS // CLUSTERS
    own = topic[:, None] * width + (width * rng.random((DOCUMENTS, WORDS)) ** 2).astype(np.int64)
    columns = np.where(rng.random((DOCUMENTS, WORDS)) < 0.5, own, ranks).astype(np.int32)
    indptr = np.arange(DOCUMENTS + 1) * WORDS
    X = sp.csr_array((np.ones(columns.size), columns.reshape(-1), indptr), shape=(DOCUMENTS, TERMS))
    X.sum_duplicates()
    lengths = np.sqrt(X.multiply(X).sum(axis=1))
    return sp.csr_array(sp.diags_array(1 / lengths) @ X)


def start(X: sp.csr_array) -> tuple[np.ndarray, np.ndarray]:
    rng = np.random.default_rng(1)
    level = np.sqrt(X.mean() / CLUSTERS)
    return tuple(2 * level * rng.random((rows, CLUSTERS)) for rows in X.shape)


def peer(X: sp.csr_array, W: np.ndarray, C: np.ndarray, solver: str) -> tuple[float, float]:
    """Return the seconds of scikit-learn's NMF and the objective it ends at."""
    model = PeerNMF(CLUSTERS, init="custom", solver=solver, tol=0, max_iter=PEERS[solver])
    H = np.ascontiguousarray(C.T)
    time, _ = timed(lambda: model.fit_transform(sp.csr_matrix(X), W=W.copy(), H=H.copy()))
    return time, model.reconstruction_err_**2


def ours(X: sp.csr_array, init: tuple[np.ndarray, np.ndarray], solver: str) -> Any:
    return NMF(CLUSTERS, solver=solver, init=init, tol=0, max_iter=max(PEERS.values())).fit(X).history_


def compare(history: Any, target: float, iterations: int) -> dict[str, float]:
    reached = np.flatnonzero(history.objective <= target * (1 + 1e-6))
    if reached.size:
        return {"s": float(history.seconds[reached[0]]), "iterations": int(reached[0])}
    an_iteration = float(history.seconds[-1] - history.seconds[0]) / (len(history) - 1)
    return {"s": an_iteration * iterations, "iterations": iterations}


def main() -> None:
    warnings.simplefilter("ignore")
    X = documents()
    W, C = start(X)
    A = Bipartite(X)
    pair = seconds(lambda: (A.times(C), A.transposed_times(W)), repeat=5)
    histories = {solver: ours(X, (W, C), solver) for solver in SOLVERS}
    rows = []
    for name, iterations in PEERS.items():
        time, target = peer(X, W, C, name)
        for solver in SOLVERS:
            found = compare(histories[solver], target, iterations)
            rows.append(
                {
                    "scikit-learn": name,
                    "objective": target,
                    "its s": time,
                    "its iterations": iterations,
                    "ours": solver,
                    **found,
                    "its s / ours": time / found["s"],
                }
            )
    table("NMF of documents: time to scikit-learn's objective", rows)
    per_iteration = [
        {"solver": s, "iteration / two products": float(np.median(np.diff(h.seconds))) / pair}
        for s, h in histories.items()
    ]
    table("NMF of documents: cost of an iteration", per_iteration)


if __name__ == "__main__":
    main()
