"""What symclust is compared with, and the calls that all parts make."""

from __future__ import annotations

from collections.abc import Callable
from importlib.util import find_spec
from typing import Any

import numpy as np
from scipy.linalg import qr, svd
from scipy.sparse import csr_array, diags_array
from scipy.sparse.csgraph import connected_components
from scipy.sparse.linalg import LinearOperator, eigsh
from sklearn.cluster import HDBSCAN, KMeans, SpectralClustering
from sklearn.mixture import GaussianMixture
from sklearn.preprocessing import StandardScaler

from benchmarks._graphs import as_igraph, leiden, louvain
from benchmarks.quality._runs import Method
from symclust import HierarchicalSymNMF, SymNMF


def ours(X: Any, k: int) -> dict[str, Method]:
    """Return the calls of somebody who has read nothing but the first example."""
    return {
        "SymNMF": lambda seed: SymNMF(k, random_state=seed).fit(X).labels_,
        "HierarchicalSymNMF": lambda seed: HierarchicalSymNMF(k, random_state=seed).fit(X).labels_,
    }


FULL = 40  # features up to which a mixture has full covariances: beyond, diagonal ones


def peers(X: np.ndarray, k: int) -> dict[str, Method]:
    """Return the methods that people pick for vectors; all but HDBSCAN are given k.

    Nobody standardises for them: give standardised columns where units differ. GaussianMixture gets a floor
    of variances that lets it end, SpectralClustering its graph of neighbours instead of all pairs.
    """
    shape = "full" if X.shape[1] <= FULL else "diag"
    methods: dict[str, Method] = {
        "k-means": lambda seed: KMeans(k, n_init=10, random_state=seed).fit(X).labels_,
        "Gaussian mixture": lambda seed: GaussianMixture(
            k, covariance_type=shape, reg_covar=1e-4, random_state=seed
        ).fit_predict(X),
        "spectral": lambda seed: (
            SpectralClustering(k, affinity="nearest_neighbors", random_state=seed).fit(X).labels_
        ),
        "HDBSCAN": lambda seed: HDBSCAN(copy=True).fit(X).labels_,
    }
    if has("genieclust"):
        import genieclust

        methods["Genie"] = lambda seed: genieclust.Genie(k).fit_predict(X)
    return methods


def standardised(X: np.ndarray) -> np.ndarray:
    return StandardScaler().fit_transform(X)


def ours_precomputed(A: csr_array, k: int) -> dict[str, Method]:
    given = {"affinity": "precomputed"}
    return {
        "SymNMF, precomputed": lambda seed: SymNMF(k, random_state=seed, **given).fit(A).labels_,
        "HierarchicalSymNMF, precomputed": lambda seed: (
            HierarchicalSymNMF(k, random_state=seed, **given).fit(A).labels_
        ),
    }


def spectral(graph: Callable[[], csr_array], k: int) -> dict[str, Method]:
    """Return scikit-learn's SpectralClustering in two kinds, with an eigensolver that ends.

    Its own solvers factor a shifted matrix (arpack), which fills up on networks, or take minutes for tens of
    clusters (lobpcg). The leading eigenvectors of D^-½WD^-½ are the same ones and need products alone. The
    graph is made in each run, so that its time counts.
    """
    return {
        "spectral (k-means)": lambda seed: (
            KMeans(k, n_init=10, random_state=seed).fit(embedding(graph(), k, seed)).labels_
        ),
        "spectral (cluster_qr)": lambda seed: cluster_qr(embedding(graph(), k, seed)),
    }


def embedding(W: csr_array, k: int, seed: int) -> np.ndarray:
    degrees = np.asarray(W.sum(axis=1)).ravel()
    roots = np.divide(1, np.sqrt(degrees), out=np.zeros_like(degrees), where=degrees > 0)
    scaled = diags_array(roots) @ W @ diags_array(roots)
    return leading_eigenvectors(scaled, W, np.sqrt(degrees), k, seed) * roots[:, np.newaxis]


def cluster_qr(vectors: np.ndarray) -> np.ndarray:
    """Damle, Minden and Ying (2019), as in scikit-learn."""
    chosen = qr(vectors.T, pivoting=True)[2][: vectors.shape[1]]
    left, _, right = svd(vectors[chosen].T)
    return np.argmax(np.abs(vectors @ (left @ right)), axis=1)


def leading_eigenvectors(A: csr_array, W: csr_array, lengths: np.ndarray, k: int, seed: int) -> np.ndarray:
    """Return k eigenvectors of A = D^-½WD^-½ with the largest eigenvalues.

    The eigenvalue 1 comes once for each component of the graph, and Lanczos iterations miss repeated ones:
    those eigenvectors, known in closed form, are put in first, of the largest components if there are many.
    """
    component = connected_components(W, directed=False)[1]
    largest = np.argsort(-np.bincount(component), kind="stable")[:k]
    known = (component[:, np.newaxis] == largest) * lengths[:, np.newaxis]
    known = known / np.maximum(np.linalg.norm(known, axis=0), np.finfo(float).tiny)
    if len(largest) == k:
        return known
    start = np.random.default_rng(seed).standard_normal(len(lengths))
    rest = LinearOperator(A.shape, matvec=lambda x: A @ x - known @ (known.T @ x), dtype=float)
    others = eigsh(rest, k - len(largest), which="LA", v0=start, tol=1e-6)[1]
    return np.column_stack([known, others[:, ::-1]])


def has(library: str) -> bool:
    """Whether an optional library is installed; says so where it is not."""
    found = find_spec(library) is not None
    if not found:
        print(f"(skipped what needs {library}: pip install {library})")
    return found


def community_methods(graph: Any) -> dict[str, Method]:
    """Return methods that find the number of communities themselves, and are not told it."""
    found = {
        "tree, by modularity": lambda seed: HierarchicalSymNMF(None, random_state=seed).fit(graph).labels_,
        "tree, auto": lambda seed: HierarchicalSymNMF("auto", random_state=seed).fit(graph).labels_,
        "Leiden": lambda seed: leiden(graph, seed, n_iterations=-1),
        "Louvain": lambda seed: louvain(graph, seed),
    }
    return {**found, "Infomap": lambda seed: infomap_labels(graph, seed)} if has("infomap") else found


def infomap_labels(graph: Any, seed: int) -> np.ndarray:
    from infomap import Infomap

    network = Infomap(f"--two-level --silent --seed {seed + 1}")
    network.add_nodes(range(graph.vcount()))
    network.add_links(graph.get_edgelist())
    network.run()
    modules = network.get_modules()
    return np.array([modules[node] for node in range(graph.vcount())])


def network_methods(A: csr_array, k: int) -> dict[str, Method]:
    """Return everything for a network; igraph's graph is the default form of it, where igraph is there."""
    told = spectral(lambda: A, k)
    if not has("igraph"):
        return told
    graph = as_igraph(A)
    return {**ours(graph, k), **told, **community_methods(graph)}
