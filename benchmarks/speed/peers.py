"""Whole calls beside what a user would call instead: processor seconds on one thread, one process.

Each row names both calls. The graph is part of a call wherever the user would pay for it.
"""

from __future__ import annotations

import subprocess
import sys
import time
import warnings
from collections.abc import Callable, Iterator
from typing import Any

import faiss
import numpy as np
from scipy import sparse
from sklearn.cluster import KMeans, SpectralClustering
from sklearn.datasets import load_digits, load_iris, make_blobs
from sklearn.decomposition import NMF as PeerNMF
from sklearn.metrics import normalized_mutual_info_score
from sklearn.neighbors import NearestNeighbors
from threadpoolctl import threadpool_limits

from benchmarks._graphs import as_igraph, graph_quality, labelled_graph, leiden
from benchmarks._images import drawn_images
from benchmarks._tools import labelled, table
from symclust import NMF, HierarchicalSymNMF, SymNMF, segment_image
from symclust.graphs._neighbors import NeighborSearch
from symclust.metrics import boundary_map, boundary_precision_recall

TILE = 512
TEXTS = ("k1b", "la1", "reviews")
PEER_ITERATIONS = {"cd": (5, 10, 20, 200), "mu": (10, 30, 60, 200)}


def main() -> None:
    warnings.simplefilter("ignore")
    faiss.omp_set_num_threads(1)
    with threadpool_limits(1):
        table("Neighbours: all rows beside all others", neighbours())
        table("Vectors, from rows to labels", vectors())
        table("NMF of documents: to the error that scikit-learn reaches", documents())
        table("Images of 240 x 160 pixels", images())
        table("A network of 317,080 nodes", network())
    table("Start-up", startup())


def timed(work: Callable[[], Any], repeat: int = 1) -> tuple[float, Any]:
    """Return the processor seconds of the best of some calls, and what it returned."""
    best = np.inf
    for _ in range(repeat):
        start = time.process_time()
        answer = work()
        best = min(best, time.process_time() - start)
    return best, answer


def samples() -> Iterator[tuple[str, np.ndarray, np.ndarray]]:
    iris, digits = load_iris(), load_digits()
    yield "iris", iris.data, iris.target
    yield "digits", digits.data, digits.target
    if found := labelled("mnist6000"):
        yield "mnist6000", *found
    yield "blobs, 50,000 x 20", *make_blobs(50_000, 20, centers=20, cluster_std=5.0, random_state=0)


def neighbours() -> Iterator[dict[str, Any]]:
    """Exact neighbours; the limit is the time of the products of half of all pairs of tiles."""
    for name, X, _ in list(samples())[1:]:
        q, single, repeat = len(X).bit_length(), X.astype(np.float32), 3 if len(X) < 10_000 else 1
        flat = faiss.IndexFlatL2(X.shape[1])
        flat.add(single)
        calls = {
            "ours": lambda X=X, q=q: NeighborSearch(X).nearest(q),
            "scikit-learn, NearestNeighbors(q).fit(X).kneighbors()": lambda X=X, q=q: (
                NearestNeighbors(n_neighbors=q).fit(X).kneighbors()
            ),
            "faiss, IndexFlatL2, float32": lambda flat=flat, x=single, q=q: flat.search(x, q + 1),
            "limit: products": lambda x=single: products(x),
        }
        yield {"data": name} | {call: timed(work, repeat)[0] for call, work in calls.items()}


def products(X: np.ndarray) -> None:
    tiles = [X[first : first + TILE] for first in range(0, len(X), TILE)]
    for i, own in enumerate(tiles):
        for other in tiles[: i + 1]:
            own @ other.T


def vectors() -> Iterator[dict[str, Any]]:
    for name, X, y in samples():
        k, q = len(np.unique(y)), len(X).bit_length()
        calls = {
            f"SymNMF({k}).fit(X)": SymNMF(k, random_state=0),
            f"KMeans({k}, n_init=10)": KMeans(k, n_init=10, random_state=0),
            f"SpectralClustering({k}, affinity='nearest_neighbors', n_neighbors={q}, eigen_solver='lobpcg', "
            "assign_labels='cluster_qr')": SpectralClustering(
                k, affinity="nearest_neighbors", n_neighbors=q, eigen_solver="lobpcg",
                assign_labels="cluster_qr", random_state=0,
            ),
        }  # fmt: skip
        for call, model in calls.items():
            took, labels = timed(lambda m=model, X=X: m.fit(X).labels_, 20 if len(X) < 200 else 1)
            yield {"data": name, "call": call, "s": took, "NMI": normalized_mutual_info_score(y, labels)}


def documents() -> Iterator[dict[str, Any]]:
    """The start is part of both; ours is timed by its callback, scikit-learn by its number of iterations."""
    for name in TEXTS:
        if (found := labelled(name)) is None:
            continue
        X, k = weighted(found[0]), len(np.unique(found[1]))
        size, curve = float(np.sqrt(X.power(2).sum())), []
        start = time.process_time()
        NMF(
            k, random_state=0, callback=lambda at, c=curve: c.append((time.process_time(), at.objective))
        ).fit(X)
        for solver, iterations in PEER_ITERATIONS.items():
            for count in iterations:
                model = PeerNMF(
                    k,
                    solver=solver,
                    max_iter=count,
                    random_state=0,
                    init="nndsvda" if solver == "mu" else None,
                )
                took, _ = timed(lambda m=model, X=X: m.fit_transform(X))
                target = model.reconstruction_err_**2 * (1 + 1e-6)
                ours = next((at - start for at, value in curve if value <= target), np.nan)
                yield {
                    "data": name, "k": k, "scikit-learn": solver, "its iterations": model.n_iter_,
                    "relative error": model.reconstruction_err_ / size, "its s": took, "ours s": ours,
                    "its s / ours": took / ours,
                }  # fmt: skip


def weighted(X: sparse.csr_array) -> sparse.csr_array:
    """Return tf-idf of the terms of two documents or more, rows of length 1."""
    X = X[:, np.bincount(X.indices, minlength=X.shape[1]) > 1]
    X = X @ sparse.diags_array(np.log(X.shape[0] / np.bincount(X.indices, minlength=X.shape[1])))
    return sparse.csr_array(sparse.diags_array(1 / np.sqrt(X.power(2).sum(axis=1))) @ X)


def images() -> Iterator[dict[str, Any]]:
    from skimage.graph import cut_normalized, rag_mean_color
    from skimage.segmentation import felzenszwalb, slic

    def normalized(image: np.ndarray) -> np.ndarray:
        superpixels = slic(image, compactness=30, n_segments=400, start_label=1)
        return cut_normalized(superpixels, rag_mean_color(image, superpixels, mode="similarity"))

    calls = {
        "segment_image(image)": lambda image: segment_image(image, random_state=0).labels,
        "scikit-image, cut_normalized of 400 SLIC superpixels": normalized,
        "scikit-image, felzenszwalb(image, 100, min_size=50)": lambda image: felzenszwalb(
            image, 100, min_size=50
        ),
    }
    drawn = list(drawn_images(step=4))
    for call, work in calls.items() if drawn else ():
        runs = [timed(lambda one=one, work=work: work(one.image)) for one in drawn]
        curves = [
            boundary_precision_recall(one.boundaries, boundary_map(labels), thresholds=1)
            for one, (_, labels) in zip(drawn, runs, strict=True)
        ]
        yield {
            "call": call, "s": float(np.mean([took for took, _ in runs])), "F": sum(curves).best_f,
        }  # fmt: skip


def network() -> Iterator[dict[str, Any]]:
    if (found := labelled_graph("com_dblp")) is None:
        return
    A, _ = found
    theirs, labels = timed(lambda: leiden(as_igraph(A), 0))
    k = int(labels.max()) + 1
    yield {"call": "igraph, community_leiden('modularity')", "s": theirs, **graph_quality(A, labels)}
    for call, model in {
        f"HierarchicalSymNMF({k}, affinity='precomputed')": HierarchicalSymNMF(
            k, affinity="precomputed", random_state=0
        ),
        f"HierarchicalSymNMF({k}, affinity='network')": HierarchicalSymNMF(
            k, affinity="network", random_state=0
        ),
        f"SymNMF({k}, affinity='network')": SymNMF(k, affinity="network", random_state=0),
    }.items():
        took, labels = timed(lambda model=model: model.fit(A).labels_)
        yield {"call": call, "s": took, **graph_quality(A, labels)}


def startup() -> Iterator[dict[str, Any]]:
    told = "import sys, time; print(time.process_time(), file=sys.stderr)"
    for name, code in {
        "python": "",
        "import symclust": "import symclust",
        "symclust --help": "import sys; sys.argv = ['symclust', '--help']\nfrom symclust.cli import main\n"
        "try: main()\nexcept SystemExit: pass",
        "from symclust import SymNMF": "from symclust import SymNMF",
        "from sklearn.cluster import KMeans": "from sklearn.cluster import KMeans",
    }.items():
        runs = [
            subprocess.run(
                [sys.executable, "-c", f"{code}\n{told}"], capture_output=True, text=True, check=True
            ).stderr
            for _ in range(3)
        ]
        yield {"call": name, "processor s": min(float(run.split()[-1]) for run in runs)}


if __name__ == "__main__":
    main()
