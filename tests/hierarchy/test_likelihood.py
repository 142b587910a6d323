"""Moves by the likelihood of the planted partition: the formula, what they raise, and when labels stay."""

import sys

import networkx as nx
import numpy as np
import pytest
import scipy.sparse as sp
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy.special import xlogy
from sklearn.datasets import make_blobs
from sklearn.metrics import normalized_mutual_info_score

from symclust import HierarchicalSymNMF, SymNMF
from symclust._labels import labels_of
from symclust.datasets import lfr, planted_partition
from symclust.hierarchy import LeafGraph, PlantedPartition, planted_log_likelihood, raise_likelihood
from symclust.hierarchy.communities.levels import found_on_all_scales
from symclust.operators import Sparse


def leaf_graph(A):
    return LeafGraph.whole(Sparse(sp.csr_array(A)))


def random_labels(seed):
    rng = np.random.default_rng(seed)
    A, y = planted_partition(120, 5, degree=8, mixing=rng.uniform(0.1, 0.6), random_state=seed)
    noise = rng.integers(y.max() + 1, size=len(y))
    return A, np.where(rng.uniform(size=len(y)) < 0.4, noise, y).astype(np.int32)


def poisson(A, labels, a, b):
    """The log-likelihood of a multigraph with loops, without the factorials of the weights."""
    d, total = A.sum(axis=1), A.sum()
    expected = np.where(labels[:, None] == labels, a, b) * np.outer(d, d) / total
    return (xlogy(A, expected).sum() - expected.sum()) / 2


@pytest.mark.parametrize("seed", range(3))
def test_the_profile_is_the_largest_likelihood(seed):
    A, labels = random_labels(seed)
    A, fit = A.toarray(), PlantedPartition.of(leaf_graph(A), labels)
    best = poisson(A, labels, fit.a, fit.b)
    for a, b in ((1.02, 1), (1 / 1.02, 1), (1, 1.02), (1, 1 / 1.02)):
        assert poisson(A, labels, a * fit.a, b * fit.b) < best
    other = np.roll(labels, 3)
    again = PlantedPartition.of(leaf_graph(A), other)
    assert fit.log_likelihood - again.log_likelihood == pytest.approx(
        best - poisson(A, other, again.a, again.b)
    )


def test_modularity_at_the_resolution_and_likelihood_agree():
    A, labels = random_labels(5)
    A, fit, d = A.toarray(), PlantedPartition.of(leaf_graph(A), labels), A.toarray().sum(axis=1)

    def both(labels):
        same = labels[:, None] == labels
        gain = np.sum((A - fit.resolution * np.outer(d, d) / A.sum()) * same) / 2
        return np.log(fit.a / fit.b) * gain, poisson(A, labels, fit.a, fit.b)

    here, there = both(labels), both(np.roll(labels, 1))
    assert here[0] - there[0] == pytest.approx(here[1] - there[1])


@settings(max_examples=40, deadline=None)
@given(st.integers(0, 10_000), st.integers(1, 8))
def test_moves_never_lower_the_likelihood_and_keep_the_clusters(seed, least):
    A, labels = random_labels(seed)
    graph, k = leaf_graph(A), labels.max() + 1
    before = np.bincount(labels, minlength=k)
    moved = raise_likelihood(graph, labels, k, least, seed)
    assert (np.bincount(moved, minlength=k) >= np.minimum(before, least)).all()
    assert planted_log_likelihood(graph, moved) >= planted_log_likelihood(graph, labels) - 1e-9


def test_labels_stay_if_clusters_are_unions_of_communities():
    A = nx.to_numpy_array(nx.ring_of_cliques(12, 6))
    labels = (np.arange(72) >= 33).astype(np.int32)  # through the middle of a clique
    assert (raise_likelihood(leaf_graph(A), labels, 2, 1, 0) == labels).all()
    twelve = np.repeat(np.arange(12), 6).astype(np.int32)
    displaced = np.where(np.arange(72) % 7 == 0, (twelve + 1) % 12, twelve).astype(np.int32)
    assert (raise_likelihood(leaf_graph(A), displaced, 12, 1, 0) == twelve).all()


@pytest.mark.parametrize("estimator", [SymNMF, HierarchicalSymNMF])
def test_the_likelihood_finds_more_where_communities_are_weak(estimator):
    found = {}
    for refine in (None, "default"):
        scores = []
        for seed in range(3):
            A, y = lfr(1000, 0.7, random_state=seed)
            options = {} if refine else {"refine": "both" if estimator is HierarchicalSymNMF else None}
            model = estimator(y.max() + 1, affinity="network", random_state=0, **options).fit(A)
            scores.append(normalized_mutual_info_score(y, model.labels_))
        found[refine] = np.mean(scores)
    assert found["default"] > found[None] + 0.01


def test_settled_labels_of_samples_move_and_stationary_ones_stay():
    """In the graph of neighbours, as in a tree; a number as `tol` asks for a stationary point."""
    X, _ = make_blobs(500, centers=30, n_features=8, center_box=(0, 5), random_state=0)
    plain, model = (SymNMF(30, random_state=0, refine=refine).fit(X) for refine in (None, "auto"))
    graph = LeafGraph.whole(Sparse(sp.csr_array(model._training.rule.graph(model.affinity_matrix_))))
    before, after = (planted_log_likelihood(graph, one.labels_.astype(np.int32)) for one in (plain, model))
    assert after > before and "refining then moved" in model.stop_reason_
    assert (labels_of(model.membership_) == model.labels_).all()
    stationary = [SymNMF(30, random_state=0, tol=1e-3, refine=refine).fit(X) for refine in (None, "auto")]
    np.testing.assert_array_equal(*(one.membership_ for one in stationary))
    given = [
        SymNMF(30, affinity="precomputed", random_state=0, refine=r).fit(plain.affinity_matrix_)
        for r in (None, "auto")
    ]
    np.testing.assert_array_equal(*(one.membership_ for one in given))


def test_memberships_follow_the_labels():
    A, y = lfr(1000, 0.7, random_state=1)
    plain, model = (
        SymNMF(y.max() + 1, affinity="network", random_state=0, refine=refine).fit(A)
        for refine in (None, "auto")
    )
    moved = np.count_nonzero(plain.labels_ != model.labels_)
    assert moved > 10
    assert f"refining then moved {moved} of 1,000 samples" in model.stop_reason_
    assert (labels_of(model.membership_) == model.labels_).all()
    assert model.n_iter_ == model.history_.iteration[-1] == plain.n_iter_ + 3
    misfit = np.linalg.norm(model.affinity_matrix_ - model.membership_ @ model.membership_.T)
    assert model.objective_ == pytest.approx(misfit**2) == model.history_.objective[-1]
    assert model.optimality().relative_projected_gradient == pytest.approx(model.history_.stationarity[-1])


def test_likelier_communities_found_from_single_nodes_replace_the_labels(monkeypatch):
    A, y = lfr(1000, mixing=0.7, random_state=0)
    graph, k = leaf_graph(A), int(y.max()) + 1
    labels = HierarchicalSymNMF(k, refine="both", affinity="precomputed", random_state=0).fit(A).labels_
    found = raise_likelihood(graph, labels.astype(np.int32), k, 1, 0)
    monkeypatch.setattr(sys.modules[PlantedPartition.__module__], "STARTS", 0)
    moved = raise_likelihood(graph, labels.astype(np.int32), k, 1, 0)
    assert planted_log_likelihood(graph, found) > planted_log_likelihood(graph, moved)
    assert np.bincount(found, minlength=k).all()


def test_from_single_nodes_those_without_edges_are_no_communities():
    A = sp.block_diag([np.ones((4, 4)) - np.eye(4)] * 3 + [np.zeros((2, 2))], format="csr")
    labels = found_on_all_scales(leaf_graph(A), 0)
    assert len(np.unique(labels)) == 3
