"""Clusters of a graph: ours and what people would use instead.

Seconds run from the adjacency matrix in memory to labels, conversion to the library's own graph included.
"""

from __future__ import annotations

import os
from typing import Any

import numpy as np
import scipy.sparse as sp

from benchmarks.speed._peers import peer

NETWORK = {"requires": ("scikit-network==0.33.5",), "own": True, "imports": ("sknetwork.clustering",)}
SPECTRAL = {"requires": ("scikit-learn",), "imports": ("sklearn.cluster",)}
PYPLANC = {
    "requires": ("pyplanc==0.0.2",),
    "own": True,
    "imports": ("pyplanc",),
    "environ": {"OPENBLAS_NUM_THREADS": "1"},  # it has threads of its own
}


@peer("HierarchicalSymNMF", imports=("symclust",))
def tree(A: sp.csr_array, k: int | None = None, seed: int = 0) -> dict[str, Any]:
    return _tree(A, k, seed)


@peer("HierarchicalSymNMF(n_init=1)", imports=("symclust",))
def tree_once(A: sp.csr_array, k: int | None = None, seed: int = 0) -> dict[str, Any]:
    """One cut for each leaf instead of the better of two, in half the memory."""
    return _tree(A, k, seed, n_init=1)


def _tree(A: sp.csr_array, k: int | None, seed: int, **options: Any) -> dict[str, Any]:
    from symclust import HierarchicalSymNMF

    model = HierarchicalSymNMF(k, affinity="precomputed", random_state=seed, **options)
    return {"labels": model.fit(A).labels_}


@peer("SymNMF", imports=("symclust",))
def symnmf(A: sp.csr_array, k: int, seed: int = 0) -> dict[str, Any]:
    from symclust import SymNMF

    return {"labels": SymNMF(k, affinity="network", random_state=seed).fit(A).labels_}


@peer("Leiden, igraph", requires=("igraph",), imports=("igraph",))
def igraph_leiden(A: sp.csr_array, seed: int = 0) -> dict[str, Any]:
    from benchmarks._graphs import as_igraph, leiden

    return {"labels": leiden(as_igraph(A), seed)}


@peer("Leiden, scikit-network", **NETWORK)
def network_leiden(A: sp.csr_array, seed: int = 0) -> dict[str, Any]:
    from sknetwork.clustering import Leiden

    return {"labels": _of_network(Leiden, A, seed)}


@peer("Louvain, scikit-network", **NETWORK)
def network_louvain(A: sp.csr_array, seed: int = 0) -> dict[str, Any]:
    from sknetwork.clustering import Louvain

    return {"labels": _of_network(Louvain, A, seed)}


def _of_network(method: Any, A: sp.csr_array, seed: int) -> np.ndarray:
    """Ask for labels alone; what else it can return costs memory."""
    plain = method(random_state=seed, return_probs=False, return_aggregate=False)
    return plain.fit_predict(sp.csr_matrix(A))


def _spectral(A: sp.csr_array, k: int, solver: str, seed: int) -> dict[str, Any]:
    from sklearn.cluster import SpectralClustering

    model = SpectralClustering(
        k, affinity="precomputed", eigen_solver=solver, assign_labels="cluster_qr", random_state=seed
    )
    return {"labels": model.fit_predict(A)}


@peer("spectral, scikit-learn lobpcg + cluster_qr", **SPECTRAL)
def spectral_lobpcg(A: sp.csr_array, k: int, seed: int = 0) -> dict[str, Any]:
    return _spectral(A, k, "lobpcg", seed)


@peer(
    "spectral, scikit-learn amg + cluster_qr",
    requires=("scikit-learn", "pyamg"),
    own=True,
    imports=("sklearn.cluster", "pyamg"),
)
def spectral_amg(A: sp.csr_array, k: int, seed: int = 0) -> dict[str, Any]:
    return _spectral(A, k, "amg", seed)


@peer("spectral, SciPy eigsh + cluster_qr", requires=("scipy",), imports=("benchmarks.quality._methods",))
def spectral_lanczos(A: sp.csr_array, k: int, seed: int = 0) -> dict[str, Any]:
    """Leading eigenvectors of the normalised graph by products alone: no factorization that could fill up."""
    from benchmarks.quality._methods import cluster_qr, embedding

    return {"labels": cluster_qr(embedding(A.astype(np.float64), k, seed))}


def _planc(A: sp.csr_array, k: int, iterations: list[int], algorithm: str) -> dict[str, Any]:
    """Return seconds and objective after so many iterations.

    Every run has a random start of its own: pyplanc takes no seed, and with a given start it does not move.
    """
    import time

    import pyplanc

    A = sp.csc_matrix(A)
    norm, curve = float((A.data**2).sum()), []
    for count in iterations:
        begin = time.perf_counter()
        H = np.asarray(pyplanc.symNMF(A, k, niter=count, algo=algorithm, ncores=os.cpu_count()).H)
        took = time.perf_counter() - begin
        curve.append((took, norm - 2 * float(np.sum(H * (A @ H))) + float(np.sum((H.T @ H) ** 2))))
    return {"curve": curve, "labels": H.argmax(axis=1)}


@peer("pyplanc gnsym", **PYPLANC)
def pyplanc_gnsym(A: sp.csr_array, k: int, iterations: list[int]) -> dict[str, Any]:
    return _planc(A, k, iterations, "gnsym")


@peer("pyplanc anlsbpp", **PYPLANC)
def pyplanc_anlsbpp(A: sp.csr_array, k: int, iterations: list[int]) -> dict[str, Any]:
    return _planc(A, k, iterations, "anlsbpp")
