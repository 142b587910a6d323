"""Similarity by short random walks: the formula, pruning, nodes that join later, refusals."""

import networkx as nx
import numpy as np
import pytest
import scipy.sparse as sp
from hypothesis import given, settings
from hypothesis import strategies as st

from symclust.exceptions import CombinationError, InputError, OptionError
from symclust.graphs import RandomWalk, cosine, random_walk


def by_the_formula(W, T):
    d = W.sum(axis=1)
    P, inverse = W / d[:, None], np.diag(1 / d)
    total = sum(np.linalg.matrix_power(P, r) for r in range(1, T + 1))
    M = np.log(np.maximum(1, d.sum() / T * total @ inverse))
    np.fill_diagonal(M, 0)
    return M


@settings(max_examples=30)
@given(st.integers(3, 20), st.integers(1, 6), st.integers(0, 100))
def test_without_pruning_it_is_netmf(n, window, seed):
    W = nx.to_numpy_array(nx.gnp_random_graph(n, 0.5, seed)) + nx.to_numpy_array(nx.cycle_graph(n))
    assert random_walk(W, window, n).toarray() == pytest.approx(by_the_formula(W, window), abs=1e-9)


def test_pruned_rows_are_symmetric_and_small():
    W = nx.to_scipy_sparse_array(nx.barabasi_albert_graph(2000, 5, seed=0), dtype=np.float64)
    M = random_walk(W, 3, 20)
    assert (M != M.T).nnz == 0
    assert M.diagonal().max() == 0
    assert M.data.min() > 0
    assert W.shape[0] * 15 < M.nnz <= 2 * 20 * W.shape[0]


def test_what_is_given_stays_as_it_is_and_forms_agree():
    graph = nx.karate_club_graph()
    dense = nx.to_numpy_array(graph)
    kept = sp.coo_array(dense)
    M = random_walk(graph)
    for form in (dense, kept, sp.csc_array(dense)):
        assert (random_walk(form) != M).nnz == 0
    assert (kept.toarray() == nx.to_numpy_array(graph)).all()


def test_precision_and_index_type_stay():
    W = sp.csr_array(nx.to_numpy_array(nx.karate_club_graph()), dtype=np.float32)
    assert random_walk(W).dtype == np.float32
    W.indices, W.indptr = W.indices.astype(np.int64), W.indptr.astype(np.int64)
    assert random_walk(W).nnz == random_walk(W.astype(np.float64)).nnz


def test_a_node_that_joins_with_the_edges_of_another_becomes_similar_to_the_same():
    W = nx.to_numpy_array(nx.ring_of_cliques(6, 8))
    step = RandomWalk(3, 48)
    M = step.fit(W).toarray()
    joined = step.extend(W[:3]).toarray()
    others = ~np.eye(3, 48, dtype=bool)
    assert joined[others] == pytest.approx(M[:3][others], rel=1e-6)
    assert step.extend(sp.csr_array((1, 48))).nnz == 0


def test_isolated_nodes_stay_so_and_loops_count():
    W = np.zeros((4, 4))
    W[0, 1] = W[1, 0] = W[1, 1] = 1
    M = random_walk(W).toarray()
    assert not M[2:].any()
    assert M.diagonal().max() == 0
    assert random_walk(sp.csr_array((3, 3))).nnz == 0


def test_refusals_name_what_is_wrong():
    W = nx.to_numpy_array(nx.path_graph(3))
    with pytest.raises(OptionError, match="window=0"):
        random_walk(W, 0)
    with pytest.raises(OptionError, match=r"n_kept=1\.5"):
        random_walk(W, 3, 1.5)
    with pytest.raises(InputError, match=r"Negative values.*\(0, 1\) is -1"):
        random_walk(-W)
    with pytest.raises(CombinationError, match="n_neighbors="):
        random_walk(cosine(np.eye(3)))


def test_an_edge_to_a_node_without_edges_says_nothing():
    W = nx.to_numpy_array(nx.disjoint_union(nx.cycle_graph(5), nx.empty_graph(1)))
    step = RandomWalk(2, 6)
    step.fit(W)
    with_it, without = np.array([[1.0, 0, 0, 0, 0, 1]]), np.array([[1.0, 0, 0, 0, 0, 0]])
    assert (step.extend(with_it) != step.extend(without)).nnz == 0
    assert step.extend(np.array([[0.0, 0, 0, 0, 0, 1]])).nnz == 0
