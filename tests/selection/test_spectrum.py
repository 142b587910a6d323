"""The Bethe-Hessian: its matrix, its count, and what it is not for."""

import networkx as nx
import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy import sparse
from scipy.sparse.linalg import ArpackNoConvergence
from sklearn.cluster import KMeans

from symclust import SymNMF
from symclust.datasets import planted_partition
from symclust.exceptions import CombinationError, InputError
from symclust.selection import Features, Pairs, Study
from symclust.selection._nulls import shuffled_pairs
from symclust.selection.methods import spectrum
from symclust.selection.methods.spectrum import BetheHessian, _matrix, _two_core, lowest_eigenvalues

CANDIDATES = tuple(range(2, 13))


def choose(data, candidates=CANDIDATES):
    data = data if isinstance(data, Pairs | Features) else Pairs(data)
    study = Study(data, SymNMF(affinity="precomputed"), candidates, np.random.RandomState(0))
    return BetheHessian().choose(study)


def adjacency(graph):
    return sparse.csr_array(nx.to_scipy_sparse_array(graph, dtype=float))


def weighted(A, seed):
    upper = sparse.csr_array(sparse.triu(A, 1))
    upper.data = np.random.RandomState(seed).gamma(3, size=upper.nnz)
    return sparse.csr_array(upper + upper.T)


def plain(A):
    """The matrix of the paper for weights 1, from its formula."""
    A = A.toarray()
    d = A.sum(axis=1)
    r = np.sqrt((d**2).sum() / d.sum() - 1)
    return (r**2 - 1) * np.eye(len(d)) - r * A + np.diag(d)


def non_backtracking_count(A):
    """Real eigenvalues of the non-backtracking matrix beyond the root of the mean excess degree."""
    i, j = A.nonzero()
    B = (j[:, None] == i[None, :]) & (i[:, None] != j[None, :])
    values = np.linalg.eigvals(B.astype(float))
    d = np.bincount(i)
    r = np.sqrt((d**2).sum() / d.sum() - 1)
    return int(((np.abs(values.imag) < 1e-8) & (values.real > r)).sum())


def test_the_matrix_is_that_of_the_paper_where_weights_are_one():
    A = _two_core(planted_partition(120, 3, degree=8, mixing=0.2, random_state=0)[0])
    assert np.allclose(_matrix(A).toarray(), plain(A))
    assert np.allclose(_matrix(7 * A).toarray(), plain(A))  # a unit of weight means nothing


def test_a_weighted_matrix_follows_its_formula():
    W = _two_core(weighted(planted_partition(60, 2, degree=14, mixing=0.2, random_state=0)[0], 0))
    w = W.toarray() / W.data.mean()
    d = (w > 0).sum(axis=1)
    r2 = ((d - 1) * (w**2).sum(axis=1)).sum() / d.sum()
    assert w.max() < 0.9 * np.sqrt(r2)
    expected = np.diag(1 + (w**2 / (r2 - w**2)).sum(axis=1)) - np.sqrt(r2) * w / (r2 - w**2)
    assert np.allclose(_matrix(W).toarray(), (r2 - 1) * expected)


@settings(deadline=None, max_examples=15)
@given(k=st.integers(1, 3), seed=st.integers(0, 1000))
def test_it_counts_what_the_non_backtracking_matrix_has_beyond_its_bulk(k, seed):
    A = _two_core(planted_partition(60, k, degree=6, mixing=0.1 if k > 1 else 0, random_state=seed)[0])
    values = lowest_eigenvalues(A, 60, np.random.RandomState(0))
    assert int((values < 0).sum()) == non_backtracking_count(A)


@settings(deadline=None, max_examples=15)
@given(seed=st.integers(0, 1000), leaves=st.integers(1, 20))
def test_trees_that_hang_on_a_network_change_no_sign(seed, leaves):
    rng = np.random.RandomState(seed)
    graph = nx.gnm_random_graph(25, 60, seed=seed)
    core = _two_core(adjacency(graph))
    for leaf in range(25, 25 + leaves):
        graph.add_edge(leaf, int(rng.randint(leaf)))
    assert (_two_core(adjacency(graph)) != core).nnz == 0
    d = np.array([degree for _, degree in graph.degree(range(graph.number_of_nodes()))])
    whole = nx.to_numpy_array(graph, nodelist=range(graph.number_of_nodes()))
    for r in (1.5, 2.5):  # at any r, the part without the trees has as many negative eigenvalues
        full = (r * r - 1) * np.eye(len(d)) - r * whole + np.diag(d)
        A = core.toarray()
        part = (r * r - 1) * np.eye(len(A)) - r * A + np.diag(A.sum(axis=1))
        assert (np.linalg.eigvalsh(full) < 0).sum() == (np.linalg.eigvalsh(part) < 0).sum()


@pytest.mark.parametrize("n", [600, 1500])  # all eigenvalues at once, and Lanczos iterations
@pytest.mark.parametrize("weigh", [lambda A: A, lambda A: weighted(A, 1)], ids=["ones", "weights"])
def test_planted_communities_are_counted(n, weigh):
    A, _ = planted_partition(n, 5, degree=12, mixing=0.2, random_state=0)
    found = choose(weigh(A))
    assert found.n_clusters == 5
    assert (found.scores < 0).tolist() == [k <= 5 for k in CANDIDATES]


@pytest.mark.parametrize("n", [600, 1500])
def test_networks_without_communities_have_one_cluster(n):
    A, _ = planted_partition(n, 4, degree=12, mixing=0.2, random_state=0)
    found = choose(shuffled_pairs(A, np.random.RandomState(0)))
    assert found.n_clusters == 1
    assert found.sentence.startswith("One cluster")


def test_equal_pieces_are_each_counted():
    assert choose(adjacency(nx.disjoint_union_all([nx.complete_graph(5)] * 7))).n_clusters == 7
    piece = planted_partition(1100, 1, degree=8, mixing=0, random_state=0)[0]
    assert choose(sparse.csr_array(sparse.block_diag([piece] * 3))).n_clusters == 3


def test_small_pieces_without_communities_count_nothing():
    graph = nx.disjoint_union_all([nx.complete_graph(12)] * 2 + [nx.path_graph(4)] * 6 + [nx.empty_graph(3)])
    assert choose(adjacency(graph)).n_clusters == 2
    for nothing in (nx.path_graph(6), nx.cycle_graph(6), nx.empty_graph(4)):
        assert choose(adjacency(nothing), (2, 3)).n_clusters == 1


def test_the_answer_stays_among_the_candidates():
    A, _ = planted_partition(600, 8, degree=20, mixing=0.1, random_state=0)
    found = choose(A, (2, 3, 4))
    assert found.n_clusters == 4
    assert "at least" in found.sentence


def test_the_network_itself_is_looked_at_where_similarities_were_made_of_one():
    A, _ = planted_partition(300, 3, degree=12, mixing=0.1, random_state=0)
    walks = SymNMF(affinity="network").fit(A).affinity_matrix_
    assert choose(Pairs(walks, Pairs(A), lambda W: W)).n_clusters == choose(A).n_clusters == 3


def test_what_is_no_network_is_refused():
    X = np.random.RandomState(0).uniform(size=(40, 3))
    graph = SymNMF(3, random_state=0).fit(X).affinity_matrix_
    with pytest.raises(CombinationError, match="neighbour graph of samples is not such a network"):
        choose(Pairs(graph, Features(X), lambda X: X))
    with pytest.raises(CombinationError, match="neighbour graph"):
        BetheHessian().choose(Study(Features(X), KMeans(), (2, 3), np.random.RandomState(0)))
    with pytest.raises(CombinationError, match="100% of the pairs"):
        choose(X @ X.T)
    with pytest.raises(InputError, match="negative entries, down to -1"):
        choose(sparse.csr_array([[0, -1.0, 0], [-1.0, 0, 0], [0, 0, 0]]))


def test_eigenvalues_that_lanczos_does_not_find(monkeypatch):
    A = planted_partition(300, 3, degree=10, mixing=0.2, random_state=0)[0]
    expected = lowest_eigenvalues(A, 6, np.random.RandomState(0))[:6]

    def fails(*arguments, **options):
        raise ArpackNoConvergence("no convergence", np.empty(0), np.empty((300, 0)))

    monkeypatch.setattr(spectrum, "DENSE", 10)
    monkeypatch.setattr(spectrum, "eigsh", fails)
    found = lowest_eigenvalues(A, 6, np.random.RandomState(0))[:6]
    np.testing.assert_allclose(found, expected, atol=1e-2)
