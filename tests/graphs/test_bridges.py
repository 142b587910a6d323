"""Pieces of a graph beyond the clusters asked for, and samples far from all others."""

import numpy as np
import pandas as pd
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy import sparse
from scipy.sparse.csgraph import connected_components
from scipy.spatial.distance import cdist
from sklearn.datasets import make_blobs
from sklearn.metrics import adjusted_rand_score

from symclust import HierarchicalSymNMF, SpectralNJW, SymNMF
from symclust.graphs._bridges import bridged, pieces_of

MODELS = [SymNMF, HierarchicalSymNMF, SpectralNJW]


@settings(max_examples=30)
@given(
    seed=st.integers(0, 2**32 - 1),
    n_pieces=st.integers(2, 6),
    form=st.sampled_from([np.asarray, sparse.csr_array]),
)
def test_bridges_join_all_pieces_and_run_between_nearest_samples(seed, n_pieces, form):
    rng = np.random.default_rng(seed)
    piece = np.repeat(np.arange(n_pieces), 5)
    X = (
        rng.normal(size=(5 * n_pieces + 1, 2))
        + 10 * rng.normal(size=(n_pieces + 1, 2))[np.append(piece, n_pieces)]
    )
    E = sparse.lil_array((len(X), len(X)))
    E[:-1, :-1] = (piece[:, None] == piece) & ~np.eye(len(piece), dtype=bool)
    E = E.tocsr()
    assert [part.tolist() for part in pieces_of(E)] == np.arange(5 * n_pieces).reshape(n_pieces, 5).tolist()
    A = bridged(E, pieces_of(E), form(X))
    assert connected_components(A)[0] == 2  # a sample without edges has none
    extra = sparse.coo_array(A - E)
    assert (abs(extra - extra.T)).max() == 0
    assert extra.nnz == 2 * (n_pieces - 1)
    assert extra.data.min() > 0 and extra.data.max() <= 0.1 * (1 + 1e-12)
    D = cdist(X[:-1], X[:-1])
    for i, j in zip(*extra.coords, strict=True):
        assert D[i, j] == pytest.approx(D[i][piece == piece[j]].min())


@pytest.mark.parametrize("model", MODELS)
def test_pieces_beyond_the_clusters_are_joined_by_their_distances(model):
    """Six tight groups in three pairs: no edge joins any two of them."""
    centers = np.array([[0, 0], [4, 0], [100, 0], [104, 0], [0, 100], [4, 100]])
    X = np.repeat(centers, 60, axis=0) + 0.1 * np.random.default_rng(0).normal(size=(360, 2))
    labels = model(3, affinity_params={"scale": None}, random_state=0).fit(X).labels_
    assert adjusted_rand_score(np.repeat([0, 1, 2], 120), labels) == 1


def test_two_categories_in_a_small_table_do_not_merge_groups_by_chance():
    rng = np.random.default_rng(0)
    y = np.repeat([0, 1], 60)
    table = pd.DataFrame({"length": rng.normal(size=120) + 4 * y, "width": rng.normal(size=120) + 4 * y})
    table["sex"], table["side"] = (rng.choice(["a", "b"], 120) for _ in range(2))
    for model in MODELS:
        assert adjusted_rand_score(y, model(2, random_state=0).fit(table).labels_) > 0.8


def test_as_many_pieces_as_clusters_stay_apart():
    X, y = make_blobs(200, 2, centers=[[0, 0], [50, 0]], random_state=0)
    model = SymNMF(2, random_state=0).fit(X)
    assert connected_components(model.affinity_matrix_)[0] == 2
    assert adjusted_rand_score(y, model.labels_) == 1


@pytest.mark.parametrize("model", MODELS[:2])
@pytest.mark.parametrize("size", [10, 1e3, 1e6])
def test_a_handful_of_far_outliers_takes_no_cluster(model, size):
    X, y = make_blobs(500, 5, centers=4, random_state=3)
    rng = np.random.default_rng(1)
    for far in (np.ones((5, 5)), np.eye(5)[[0] * 5], rng.normal(size=(5, 5))):
        outliers = X.mean(axis=0) + size * far * X.std(axis=0) + rng.normal(size=(5, 5))
        labels = model(4, random_state=0).fit(np.r_[X, outliers]).labels_
        assert adjusted_rand_score(y, labels[:500]) == 1
