"""Places of the nodes of a graph in a drawing: each by itself, or a large graph as one disc per cluster."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import ArrayLike
from scipy.signal import fftconvolve
from scipy.sparse import csr_array, issparse, triu

from symclust._types import Array
from symclust.exceptions import InputError
from symclust.plotting.plot_similarity import block_sums
from symclust.validation import check_number

STEPS = 90
EXACT = 2000  # nodes up to which all pairs repel each other; beyond, cells of a grid do
CELLS = 128  # on a side
DISC_AREA = 0.22  # of the picture, all discs together
NODE_AREA = 0.08  # of the picture, all nodes together, up to the largest radius
LARGEST_NODE = 0.016


@dataclass(frozen=True)
class GraphMap:
    """A graph in the plane; lengths are in units of the side of the picture."""

    positions: Array  # centres of nodes or discs, between 0 and 1
    radii: Array
    clusters: Array  # −1 for none
    nodes: Array  # the number of each node; of a disc, how many nodes it stands for
    edges: Array  # pairs of marks
    weights: Array  # of edges, the largest being 1
    is_aggregated: bool  # marks are discs that stand for clusters
    n_hidden: int  # edges that were left out because they are the weakest


def graph_map(
    A: Any,
    labels: ArrayLike | None = None,
    *,
    max_nodes: int = 2000,
    max_edges: int = 6000,
    max_discs: int = 120,
    random_state: int = 0,
) -> GraphMap:
    """Lay out a graph: nodes by forces, more than `max_nodes` as one disc per cluster."""
    for name, value in (("max_nodes", max_nodes), ("max_edges", max_edges), ("max_discs", max_discs)):
        check_number(name, value, least=1, whole=True)
    n = A.shape[0]
    if labels is None and n > max_nodes:
        raise InputError(
            f"A graph of {n:,} nodes is drawn as one disc per cluster: give labels, or max_nodes={n}."
        )
    groups = np.zeros(n, dtype=np.intp) if labels is None else np.asarray(labels)
    if groups.shape != (n,) or groups.dtype.kind not in "iu":
        raise InputError(f"labels must be {n} whole numbers, one per node; got shape {groups.shape}.")
    rng = np.random.default_rng(random_state)
    if n > max_nodes:
        return _discs(A, groups, max_discs, max_edges, rng)
    return _nodes(A, groups if labels is not None else None, max_edges, rng)


# One mark per node ------------------------------------------------------------------------------------------


def _nodes(A: Any, labels: Array | None, max_edges: int, rng: np.random.Generator) -> GraphMap:
    W = _positive(A)
    n = W.shape[0]
    start = _start_by_walks(W, rng) if labels is None else _start_by_clusters(W, labels, rng)
    positions = _into_square(_by_forces(W, start))
    radius = min(LARGEST_NODE, float(np.sqrt(NODE_AREA / (np.pi * max(n, 1)))))
    edges, weights, hidden = _heaviest(W, max_edges)
    clusters = np.full(n, -1) if labels is None else labels
    return GraphMap(positions, np.full(n, radius), clusters, np.arange(n), edges, weights, False, hidden)


def _positive(A: Any) -> csr_array:
    """The positive weights between different nodes, the mean being 1."""
    W = csr_array(A if issparse(A) else A.toarray() if hasattr(A, "toarray") else np.asarray(A))
    W = W.astype(np.float64)
    W.setdiag(0)
    W.data[~(W.data > 0)] = 0
    W.eliminate_zeros()
    if W.nnz:
        W.data /= W.data.mean()
    return W


def _start_by_walks(W: csr_array, rng: np.random.Generator) -> Array:
    """Places of nodes near the mean of their neighbours: roughly, two eigenvectors of a walk."""
    degrees = np.maximum(W @ np.ones(W.shape[0]), 1e-12)[:, np.newaxis]
    P = rng.standard_normal((W.shape[0], min(2, W.shape[0])))
    for _ in range(60):
        P = 0.5 * (P + (W @ P) / degrees)
        P = np.linalg.qr(P - P.mean(axis=0))[0]
    places = np.zeros((W.shape[0], 2))
    places[:, : P.shape[1]] = P * np.sqrt(W.shape[0])
    return places + 0.01 * rng.standard_normal(places.shape)


def _start_by_clusters(W: csr_array, labels: Array, rng: np.random.Generator) -> Array:
    """Places around the centre of each node's cluster, the centres being laid out first."""
    names, groups = np.unique(labels, return_inverse=True)
    Z = csr_array((np.ones(len(groups)), groups, np.arange(len(groups) + 1)), shape=(len(groups), len(names)))
    sizes = np.bincount(groups)
    blocks = csr_array(Z.T @ (W @ Z)).toarray() / np.sqrt(np.outer(sizes, sizes))
    centres = _by_forces(_positive(blocks), _circle(len(names)), n_steps=200)
    spread = np.sqrt(sizes / len(groups))[groups, np.newaxis]
    scale = np.sqrt(len(groups) / max(len(names), 1))
    return scale * centres[groups] + 0.3 * np.sqrt(len(groups)) * spread * rng.standard_normal(
        (len(groups), 2)
    )


def _circle(k: int) -> Array:
    angle = 2 * np.pi * np.arange(k) / max(k, 1)
    return np.column_stack([np.cos(angle), np.sin(angle)]) * np.sqrt(k)


def _by_forces(W: csr_array, places: Array, n_steps: int = STEPS) -> Array:
    """Places after steps of Fruchterman and Reingold (1991), edges of mean weight being of length 1.

    All pairs repel by 1/d, edges pull by w d², and a weak pull towards the middle keeps parts together that
    no edge joins.
    """
    P = places.astype(np.float32)
    pull = csr_array((np.sqrt(W.data).astype(np.float32), W.indices, W.indptr), shape=W.shape)
    rows = np.repeat(np.arange(W.shape[0]), np.diff(W.indptr))
    start = 0.3 * max(float(np.sqrt(len(P))), 1.0)
    repel = _repulsion if len(P) <= EXACT else _repulsion_of_cells
    for step in range(n_steps):
        force = repel(P)
        lengths = np.linalg.norm(P[rows] - P[pull.indices], axis=1)
        edges = csr_array((pull.data * lengths, pull.indices, pull.indptr), shape=W.shape)
        force += edges @ P - P * np.asarray(edges @ np.ones(len(P), np.float32))[:, np.newaxis]
        force -= 0.5 * (P - P.mean(axis=0))
        size = np.linalg.norm(force, axis=1, keepdims=True)
        P += force / np.maximum(size, 1e-9) * np.minimum(size, start * (1 - step / n_steps) ** 1.5)
    return P.astype(np.float64)


def _repulsion(P: Array) -> Array:
    """The sum of (p − q)/|p − q|² over all other points q, for each point p; 25 ms for 2,000 points."""
    squares = np.einsum("ij,ij->i", P, P)
    near = squares[:, np.newaxis] + squares - 2 * (P @ P.T)
    np.maximum(near, 1e-3, out=near)
    np.reciprocal(near, out=near)
    return P * near.sum(axis=1, keepdims=True) - near @ P


def _repulsion_of_cells(P: Array) -> Array:
    """The same with points moved to the middles of cells: a convolution of their counts, 10 ms."""
    low, side = P.min(axis=0), float(np.ptp(P, axis=0).max()) or 1.0
    cells = np.minimum((P - low) / side * CELLS, CELLS - 1).astype(np.intp)
    place = cells[:, 0] * CELLS + cells[:, 1]
    counts = np.bincount(place, minlength=CELLS**2).reshape(CELLS, CELLS)
    steps = np.arange(1 - CELLS, CELLS, dtype=np.float64) * side / CELLS
    squares = steps[:, np.newaxis] ** 2 + steps**2
    squares[CELLS - 1, CELLS - 1] = np.inf  # a point does not repel itself
    kernels = (steps[:, np.newaxis] / squares, steps / squares)
    fields = [fftconvolve(kernel, counts, mode="valid") for kernel in kernels]
    return np.column_stack([field.ravel()[place] for field in fields]).astype(P.dtype)


def _into_square(places: Array, margin: float = 0.03) -> Array:
    """Move and scale places into the unit square; far outliers go to its edge and do not shrink the rest."""
    if len(places) < 2:
        return np.full(places.shape, 0.5)
    low, high = np.quantile(places, [0.005, 0.995], axis=0)
    middle, side = (low + high) / 2, max(float((high - low).max()), 1e-9)
    scaled = 0.5 + (places - middle) / side * (1 - 2 * margin)
    return np.clip(scaled, margin, 1 - margin)


def _heaviest(W: csr_array, count: int) -> tuple[Array, Array, int]:
    """The heaviest edges, each once, lightest first so that heavy ones are drawn on top."""
    upper = triu(W, k=1).tocoo()
    edges = np.column_stack(upper.coords)
    order = np.argsort(upper.data, kind="stable")[-count:] if count else np.empty(0, dtype=np.intp)
    top = upper.data.max(initial=0) or 1.0
    return edges[order], upper.data[order] / top, len(edges) - len(order)


# One disc per cluster ---------------------------------------------------------------------------------------


def _discs(A: Any, labels: Array, max_discs: int, max_edges: int, rng: np.random.Generator) -> GraphMap:
    names, sizes = np.unique(labels[labels >= 0], return_counts=True)
    largest = np.sort(np.argsort(-sizes, kind="stable")[:max_discs])
    names, sizes = names[largest], sizes[largest]
    place = np.full(labels.max(initial=-1) + 2, -1)
    place[names] = np.arange(len(names))
    shown = np.flatnonzero(place[labels] >= 0)
    Z = csr_array(
        (np.ones(len(shown)), (shown, place[labels[shown]])), shape=(len(labels), max(len(names), 1))
    )
    between = _positive(block_sums(A, Z))
    # Large clusters have more edges to all others: edges per pair of nodes measure how close two are.
    pairs = between.tocoo()
    close = csr_array((pairs.data / np.sqrt(sizes[pairs.row] * sizes[pairs.col]), pairs.coords), pairs.shape)
    positions = _into_square(_by_forces(_positive(close), _circle(len(names)), n_steps=300), margin=0.12)
    radii = np.sqrt(np.maximum(sizes / max(sizes.sum(), 1), 2e-4) * DISC_AREA / np.pi)
    edges, weights, hidden = _heaviest(between, min(max_edges, 6 * len(names)))
    return GraphMap(_apart(positions, radii, rng), radii, names, sizes, edges, weights, True, hidden)


def _apart(positions: Array, radii: Array, rng: np.random.Generator) -> Array:
    """Push discs apart until none covers another, and keep them inside the picture."""
    P = positions + 1e-6 * rng.standard_normal(positions.shape)
    wanted = radii[:, np.newaxis] + radii + 0.012
    np.fill_diagonal(wanted, 0)
    for _ in range(300):
        difference = P[:, np.newaxis] - P
        distance = np.maximum(np.linalg.norm(difference, axis=2), 1e-9)
        overlap = np.maximum(wanted - distance, 0)
        if not overlap.any():
            break
        P += 0.5 * np.einsum("ij,ijk->ik", overlap / distance, difference)
        P = np.clip(P, radii[:, np.newaxis] + 0.01, 0.99 - radii[:, np.newaxis])
    return P
