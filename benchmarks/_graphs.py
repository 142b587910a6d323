"""Graphs with known communities, and what finds communities in them."""

from __future__ import annotations

import os
import random
from pathlib import Path
from typing import Any

import numpy as np
from scipy.sparse import csr_array, triu


def labelled_graph(name: str) -> tuple[csr_array, np.ndarray | None] | None:
    """Return the adjacency and labels of a graph, or None with a note where it is not there."""
    folder = os.environ.get("SYMCLUST_DATA")
    if not folder or not Path(folder, f"{name}.npz").exists():
        print(f"(skipped {name}: set SYMCLUST_DATA to the folder that holds {name}.npz)")
        return None
    with np.load(Path(folder, f"{name}.npz"), allow_pickle=False) as file:
        data, indices, indptr = (file[f"A_{part}"] for part in ("data", "indices", "indptr"))
        A = csr_array((data.astype(float), indices, indptr), shape=tuple(file["A_shape"]))
        return A, file.get("y")


def as_igraph(A: csr_array) -> Any:
    import igraph

    upper = triu(A, 1).tocoo()
    return igraph.Graph(n=A.shape[0], edges=np.column_stack(upper.coords))


def leiden(graph: Any, seed: int, n_iterations: int = 2, weights: str | None = None) -> np.ndarray:
    random.seed(seed)  # igraph draws from Python's generator
    found = graph.community_leiden(
        objective_function="modularity", n_iterations=n_iterations, weights=weights
    )
    return np.array(found.membership)


def louvain(graph: Any, seed: int) -> np.ndarray:
    random.seed(seed)
    return np.array(graph.community_multilevel().membership)
