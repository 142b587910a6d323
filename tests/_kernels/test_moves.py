"""Local moves between clusters, against a twin that looks at every cluster of a dense graph."""

from collections import deque

import networkx as nx
import numpy as np
import pytest
import scipy.sparse as sp
from hypothesis import given, settings
from hypothesis import strategies as st
from numpy.testing import assert_allclose, assert_array_equal

from symclust import _kernels
from symclust.hierarchy import LeafGraph
from symclust.metrics import average_normalized_cut
from symclust.operators import Sparse

NO_FENCE = np.empty(0, dtype=np.int32)


def shuffled(n, seed):
    """Fisher and Yates with SplitMix64."""
    mask, state, order = (1 << 64) - 1, seed, list(range(n))
    for i in range(n - 1, 0, -1):
        state = (state + 0x9E3779B97F4A7C15) & mask
        z = ((state ^ (state >> 30)) * 0xBF58476D1CE4E5B9) & mask
        z = ((z ^ (z >> 27)) * 0x94D049BB133111EB) & mask
        j = (z ^ (z >> 31)) % (i + 1)
        order[i], order[j] = order[j], order[i]
    return order


def modularity(A, labels, resolution=1.0):
    Z = (labels[:, None] == np.unique(labels)).astype(float)
    return np.trace(Z.T @ A @ Z) / A.sum() - resolution * ((Z.T @ A.sum(axis=1)) ** 2).sum() / A.sum() ** 2


def association(A, labels):
    parts = [labels == k for k in np.unique(labels)]
    return sum(A[np.ix_(p, p)].sum() / A[p].sum() for p in parts if A[p].sum() > 0)


def twin(A, labels, order, smallest, both, resolution=1.0, fence=None):
    """Move nodes as the kernel does; scores are computed anew for each possible move."""
    labels, waiting, moves = labels.copy(), deque(order), 0
    neighbours = (A > 0) & ~np.eye(len(A), dtype=bool)
    if fence is not None:
        neighbours &= fence[:, None] == fence
    while waiting:
        i = waiting.popleft()
        if smallest and (labels == labels[i]).sum() - 1 < smallest:
            continue
        best, to = modularity(A, labels, resolution) + 1e-12, labels[i]
        for k in dict.fromkeys(labels[neighbours[i]]):  # in the order of the neighbours: the first of equals
            there = np.where(np.arange(len(A)) == i, k, labels)
            is_less_cut = not both or association(A, there) > association(A, labels) + 1e-12
            worth = modularity(A, there, resolution)
            if k != labels[i] and is_less_cut and worth > best + 1e-14:
                best, to = worth, k
        if to != labels[i]:
            labels[i], moves = to, moves + 1
            beside = np.flatnonzero(neighbours[i] & (labels != to))
            waiting.extend(j for j in beside if j not in waiting)
    return labels, moves


def random_graph(n, seed, groups=4):
    """Weights without ties; some loops, and pieces that are apart."""
    rng = np.random.default_rng(seed)
    y = rng.integers(groups, size=n)
    A = rng.uniform(0.5, 2, (n, n)) * (rng.uniform(size=(n, n)) < np.where(y[:, None] == y, 0.4, 0.08))
    A = np.triu(A)
    return A + np.triu(A, 1).T, rng.integers(groups, size=n).astype(np.int32)


def arrays(A, dtype=float):
    return LeafGraph.whole(Sparse(sp.csr_array(A.astype(dtype))))._arrays


@pytest.mark.parametrize("seed", range(4))
@pytest.mark.parametrize("both", [False, True])
@pytest.mark.parametrize("smallest", [0, 1, 7])
@pytest.mark.parametrize("resolution", [0.5, 1.0, 2.5])
def test_moves_are_those_of_the_twin(seed, both, smallest, resolution):
    A, start = random_graph(40, seed)
    labels = start.copy()
    moves = _kernels.move_nodes(*arrays(A), 4, smallest, both, resolution, labels)
    expected, count = twin(A, start, range(40), smallest, both, resolution)
    assert_array_equal(labels, expected)
    assert moves == count > 0


@pytest.mark.parametrize("seed", range(4))
@pytest.mark.parametrize("fenced", [False, True])
@pytest.mark.parametrize("resolution", [1.0, 2.5])
def test_joined_nodes_are_those_of_the_twin(seed, fenced, resolution):
    A, fence = random_graph(40, seed)
    group, *coarse = _kernels.join_nodes(*arrays(A), fence if fenced else NO_FENCE, resolution, seed)
    within = fence if fenced else None
    expected, _ = twin(A, np.arange(40), shuffled(40, seed), 0, False, resolution, within)
    first = list(dict.fromkeys(expected.tolist()))
    assert_array_equal(group, [first.index(k) for k in expected])
    for found, again in zip(coarse, _kernels.contract_graph(*arrays(A), group)[1:], strict=True):
        assert_array_equal(found, again)
    if fenced:
        assert len(set(zip(group, fence, strict=True))) == group.max() + 1


@pytest.mark.parametrize("dtype", [np.float32, np.float64])
def test_contraction_sums_edges(dtype):
    A, labels = random_graph(30, 1)
    group, indptr, indices, weights, loops, volumes, sizes = _kernels.contract_graph(
        *arrays(A, dtype), labels
    )
    Z = (labels[:, None] == np.arange(4)).astype(float)
    B = Z.T @ A @ Z
    assert_array_equal(group, labels)
    found = sp.csr_array((weights, indices, indptr), shape=(4, 4)).toarray()
    assert_allclose(found + np.diag(loops), B, rtol=1e-6)
    assert_allclose(volumes, B.sum(axis=1), rtol=1e-6)
    assert_array_equal(sizes, Z.sum(axis=0))


def test_both_types_of_weights_move_alike():
    A = nx.to_numpy_array(nx.les_miserables_graph())
    start = (np.arange(len(A)) % 5).astype(np.int32)
    single, double = start.copy(), start.copy()
    _kernels.move_nodes(*arrays(A, np.float32), 5, 1, True, 1.0, single)
    _kernels.move_nodes(*arrays(A), 5, 1, True, 1.0, double)
    assert_array_equal(single, double)


@settings(max_examples=60)
@given(st.integers(0, 10_000), st.booleans(), st.integers(0, 4), st.floats(0.1, 5))
def test_neither_measure_becomes_worse(seed, both, smallest, resolution):
    rng = np.random.default_rng(seed)
    graph = nx.gnp_random_graph(int(rng.integers(2, 40)), rng.uniform(0.05, 0.5), seed=seed)
    A = nx.to_numpy_array(graph)
    start = rng.integers(3, size=len(A)).astype(np.int32)
    labels = LeafGraph.whole(Sparse(sp.csr_array(A))).moved(start, 3, smallest, both, resolution)
    before, after = np.bincount(start, minlength=3), np.bincount(labels, minlength=3)
    assert (after >= np.minimum(before, smallest)).all()
    if A.any():
        assert modularity(A, labels, resolution) >= modularity(A, start, resolution) - 1e-9
    if both and smallest:
        assert average_normalized_cut(A, labels) <= average_normalized_cut(A, start) + 1e-9


def test_edges_of_no_weight_to_speak_of():
    A = np.kron(np.eye(2), np.ones((3, 3))) - np.eye(6)
    A[2, 3] = A[3, 2] = 5e-324
    labels = np.array([0, 0, 1, 1, 1, 0], dtype=np.int32)
    _kernels.move_nodes(*arrays(A), 2, 1, False, 1.0, labels)
    assert_array_equal(labels, [0, 0, 0, 1, 1, 1])
