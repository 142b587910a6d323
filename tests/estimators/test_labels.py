"""Labels, samples that belong nowhere, and what is said of clusterings that are hardly any."""

import warnings

import networkx as nx
import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from hypothesis.extra.numpy import arrays
from scipy import sparse
from sklearn.cluster import DBSCAN

from symclust import (
    NMF,
    Diana,
    DivisiveClustering,
    HierarchicalLeftStochastic,
    HierarchicalNMF,
    HierarchicalSymNMF,
    KernelConvexNMF,
    KernelKMeans,
    LeftStochastic,
    LinkageClustering,
    OffDiagonalSymNMF,
    SparseNMF,
    SpectralNJW,
    SpectralUnnormalized,
    SpectralYuShi,
    SphericalKMeans,
    SymmetricFactorization,
    SymNMF,
)
from symclust._labels import (
    OF_FEATURES,
    empty_rows,
    is_lopsided,
    labels_of,
    leave_out_isolated,
    warn_of_degenerate,
)
from symclust.estimators._communities import members_by_share
from symclust.exceptions import DegenerateWarning
from symclust.metrics import average_normalized_cut, within_cluster_similarity
from symclust.operators import Gram, as_operator

factors = st.tuples(st.integers(1, 8), st.integers(1, 4)).flatmap(
    lambda shape: arrays(np.float64, shape, elements=st.sampled_from([0.0, 0.0, 0.25, 0.5, 1.0]))
)


@settings(max_examples=80)
@given(factors)
def test_the_largest_entry_is_the_label_in_either_form(H):
    expected = [int(np.argmax(row)) if max(row) > 0 else -1 for row in H]
    stored = sparse.csr_array(H)
    stored.data[:1] = 0  # a zero that is stored is still a zero
    for form in (H, sparse.csr_array(H)):
        assert labels_of(form).tolist() == expected
        assert empty_rows(form).tolist() == [label < 0 for label in expected]
    assert labels_of(stored).tolist() == labels_of(stored.toarray()).tolist()
    assert empty_rows(stored).tolist() == empty_rows(stored.toarray()).tolist()


@settings(max_examples=30)
@given(factors, st.sampled_from([0.25, 1.0]))
def test_sparse_memberships_make_the_same_communities(H, threshold):
    dense, stored = (members_by_share(M, labels_of(M), threshold) for M in (H, sparse.csr_array(H)))
    assert [part.tolist() for part in dense] == [part.tolist() for part in stored]


def isolated_in(labels, K):
    """The slow and obvious version."""
    K = np.asarray(K)
    alone = [np.count_nonzero(labels == label) == 1 for label in labels]
    lonely = [not np.delete(row, i).any() for i, row in enumerate(K)]
    return np.where(np.array(lonely) & ~np.array(alone), -1, labels)


@settings(max_examples=60)
@given(st.integers(0, 2**31), st.booleans())
def test_isolated_samples_are_those_without_others(seed, signed):
    rng = np.random.RandomState(seed)
    K = rng.randint(-2 if signed else 0, 3, (7, 7)) * (rng.rand(7, 7) < 0.2)
    K = np.triu(K, 1) + np.triu(K, 1).T + np.diag(rng.randint(0, 2, 7))
    labels = rng.randint(0, 4, 7)
    for form in (K.astype(float), sparse.csr_array(K.astype(np.float32))):
        np.testing.assert_array_equal(leave_out_isolated(labels, as_operator(form)), isolated_in(labels, K))


def test_a_gram_operator_has_isolated_samples_too():
    X = np.array([[1.0, 0.3, 0.0], [0.2, 0.7, 0.0], [0.0, 0.0, 0.3]])
    assert leave_out_isolated(np.zeros(3, dtype=int), Gram(X)).tolist() == [0, 0, -1]


# Estimators -------------------------------------------------------------------------------------------------

LONELY = nx.disjoint_union(nx.complete_graph(7), nx.complete_graph(6))
LONELY.add_edge(0, 7)
LONELY.add_node("lonely")
ON_GRAPHS = [
    SymNMF(2, random_state=0),
    OffDiagonalSymNMF(2, random_state=0),
    SymmetricFactorization(2, random_state=0),
    SymmetricFactorization(2, constraint="simplex", random_state=0),
    SymmetricFactorization(2, constraint="unit", random_state=0),
    LeftStochastic(2, random_state=0),
    KernelKMeans(2, random_state=0),
    KernelConvexNMF(2, random_state=0),
    SpectralNJW(2, random_state=0),
    SpectralYuShi(2, random_state=0),
    LinkageClustering(2, linkage="single", affinity="nearest_neighbors"),
    HierarchicalSymNMF(2, random_state=0),
    DivisiveClustering(SymNMF(random_state=0)),
]


@pytest.mark.parametrize("affinity", ["precomputed", "nearest_neighbors"])
@pytest.mark.parametrize("model", ON_GRAPHS, ids=lambda model: repr(model)[:40])
def test_a_node_without_edges_belongs_nowhere(model, affinity):
    model.set_params(affinity=affinity)
    if isinstance(model, LinkageClustering):  # which leaves the last merge to the lonely node
        model.set_params(n_clusters=1)
    with pytest.warns(DegenerateWarning, match=r"1 of 14 samples .*the first: lonely.*label is -1"):
        model.fit(LONELY)
    assert model.labels_[-1] == -1
    assert (model.labels_[:-1] >= 0).all()
    edges = nx.to_numpy_array(LONELY)
    assert model.predict(edges[[-1, 0]]).tolist() == [-1, model.labels_[0]]
    assert model.predict(np.zeros((1, 14))).tolist() == [-1]
    for threshold in (None, 0.01):
        found = model.communities(threshold)
        assert found.clusters_of("lonely") == set()
        assert sum(map(len, found)) >= 13


@pytest.mark.parametrize("cls", [SpectralUnnormalized, Diana, HierarchicalLeftStochastic, LinkageClustering])
@pytest.mark.filterwarnings("ignore:The similarity has negative")
def test_a_lonely_sample_may_be_a_cluster_by_itself(cls):
    A = nx.to_numpy_array(nx.disjoint_union(nx.complete_graph(5), nx.empty_graph(1)))
    model = cls(2, affinity="precomputed")
    labels = model.fit(A).labels_
    assert sorted(np.bincount(labels)) == [1, 5]
    assert model.predict(A).tolist() == labels.tolist()


def test_lonely_nodes_move_no_centre_of_k_means():
    A = nx.to_numpy_array(
        nx.disjoint_union_all([nx.complete_graph(6), nx.complete_graph(6), nx.empty_graph(9)])
    )
    with pytest.warns(DegenerateWarning, match="9 of 21"):
        model = SymmetricFactorization(2, affinity="precomputed", random_state=0).fit(A)
    assert sorted(np.bincount(model.labels_[:12])) == [6, 6]


@pytest.mark.parametrize("form", [np.asarray, sparse.csr_array])
@pytest.mark.parametrize("cls", [NMF, SparseNMF, SphericalKMeans, HierarchicalNMF])
@pytest.mark.filterwarnings("ignore::sklearn.exceptions.ConvergenceWarning")
def test_a_sample_without_entries_belongs_nowhere(cls, form):
    X = np.kron(np.eye(2), np.ones((5, 3))) + 0.05 * np.random.RandomState(0).rand(10, 6)
    X[3] = 0
    with pytest.warns(DegenerateWarning, match=r"1 of 10 samples .*\(the first: 3\)"):
        model = cls(2).fit(form(X))
    assert np.flatnonzero(model.labels_ < 0).tolist() == [3]
    assert not model.membership_[3].any()
    assert model.predict(form(X))[3] == -1


def test_a_split_by_another_method_puts_the_undecided_with_the_larger_part():
    class Noisy(DBSCAN):
        """DBSCAN with the parameters that a splitter needs; its noise is labelled −1."""

        def __init__(self, n_clusters=2, affinity="precomputed"):
            super().__init__(eps=0.5, min_samples=2, metric="precomputed")
            self.n_clusters, self.affinity = n_clusters, affinity

        def fit(self, K):
            return super().fit(1 - K)

    K = np.kron(np.eye(3), np.ones((4, 4)))[:10, :10]
    K[9] = K[:, 9] = 0.1  # noise
    K[8, 9] = K[9, 8] = 0.1
    K = K[np.r_[:4, 4:8, 9]][:, np.r_[:4, 4:8, 9]]
    labels = DivisiveClustering(Noisy(), affinity="precomputed").fit(K).labels_
    assert len(set(labels[:4])) == len(set(labels[4:8])) == 1
    assert labels[0] != labels[4]


def test_a_flat_tree_copes_with_lonely_nodes():
    with pytest.warns(DegenerateWarning):
        flat = HierarchicalSymNMF(2, random_state=0).fit(LONELY).flatten()
    assert flat.labels_[-1] == -1
    assert sorted(np.bincount(flat.labels_[:-1])) == [6, 7]


# Warnings ---------------------------------------------------------------------------------------------------


def said(labels, n_clusters):
    with warnings.catch_warnings(record=True) as caught:
        warnings.simplefilter("always")
        warn_of_degenerate("Model", np.asarray(labels), n_clusters, OF_FEATURES)
    assert all(warning.category is DegenerateWarning for warning in caught)
    return [str(warning.message) for warning in caught]


def test_what_is_said():
    assert said([0, 1, 1, 0], 2) == []
    assert said([0] * 80 + [1] * 20, 2) == []
    assert said([0] * 5, 1) == []
    (fewer,) = said([0, 0, 3, 3], 5)
    assert "found 2 of the 5 clusters" in fewer
    assert "n_clusters" in fewer
    (one,) = said([0] * 1222 + [1] * 2, 2)
    assert "one of 2 clusters holds 1,222 of 1,224 samples (99.8%)" in one
    (nowhere,) = said([0, 1, -1], 2)
    assert "1 of 3 samples belong to no cluster (the first: 2)" in nowhere
    assert len(said([-1, -1], 3)) == 1


@settings(max_examples=50)
@given(st.lists(st.integers(0, 500), min_size=2, max_size=20).filter(any))
def test_lopsided_is_what_its_rule_says(sizes):
    sizes = np.array(sizes)
    rest, n, k = sizes.sum() - sizes.max(), sizes.sum(), len(sizes)
    assert is_lopsided(sizes) == (10 * k * rest < n * (k - 1))
    if sizes.max() <= 0.9 * n:
        assert not is_lopsided(sizes)


def test_a_lopsided_answer_is_not_silent():
    graph = nx.complete_graph(60)
    graph.add_edge(0, "leaf")
    with pytest.warns(DegenerateWarning, match=r"SymNMF: one of 2 clusters holds \d+ of 61.*random_walk"):
        start = np.eye(61)[:, [0, -1]] + np.arange(61)[:, None] % 2 * [1, 0]
        SymNMF(2, affinity="nearest_neighbors", init=start, random_state=0).fit(graph)


def test_fewer_clusters_are_not_silent():
    A = np.kron(np.eye(2), np.ones((4, 4)))
    with pytest.warns(DegenerateWarning, match="SymNMF found 2 of the 3 clusters asked for"):
        SymNMF(3, affinity="precomputed", tol=1e-6, random_state=0).fit(A)


# Who reads labels -------------------------------------------------------------------------------------------


def test_metrics_leave_out_samples_in_no_cluster():
    K = np.kron(np.eye(2), np.ones((3, 3)))
    K = np.pad(K, (0, 2))
    labels = np.array([0, 0, 0, 1, 1, 1, -1, -1])
    assert within_cluster_similarity(K, labels) == 1
    assert average_normalized_cut(K, labels) == 0
    K[0, 7] = K[7, 0] = 1  # an edge to nowhere leaves its cluster
    assert average_normalized_cut(K, labels) == pytest.approx(0.5 * (1 / 10))
    with pytest.raises(ValueError, match="All labels are -1"):
        within_cluster_similarity(K, np.full(8, -1))
