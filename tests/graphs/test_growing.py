"""Samples that join: similarities of the new to all, the old ones as they were."""

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy import sparse

from symclust.graphs import (
    Cosine,
    Gaussian,
    NearestNeighbors,
    NormalizedCut,
    RandomWalk,
    SelfTuning,
    normalized_cut,
)
from symclust.operators import Operator, bordered

RULES = {
    "gaussian": lambda: Gaussian(sigma=1.5),
    "gaussian, median scale": Gaussian,
    "gaussian, neighbours": lambda: Gaussian(n_neighbors=4),
    "self_tuning": SelfTuning,
    "self_tuning, normalised": lambda: SelfTuning(normalize=True),
    "cosine": Cosine,
    "cosine, normalised": lambda: Cosine(normalize=True),
    "cosine, neighbours": lambda: Cosine(n_neighbors=4, normalize=True),
    "neighbours": NearestNeighbors,
    "neighbours by direction": lambda: NearestNeighbors(5, metric="cosine", normalize=False),
    "neighbours, cosines": lambda: NearestNeighbors(5, weights="cosine"),
}
every_rule = pytest.mark.parametrize("name", RULES)


def samples(n, d=4, seed=0):
    return np.random.default_rng(seed).random((n, d)) + np.eye(2, d)[np.arange(n) % 2]


def dense(A):
    return A if isinstance(A, np.ndarray) else A.toarray()


def before_the_cut(rule, A):
    """Similarities before the normalised cut, slowly."""
    if not rule.normalize:
        return dense(A)
    roots = np.sqrt(rule.degrees_)
    return dense(A) * roots[:, None] * roots


@pytest.mark.parametrize("form", [np.asarray, sparse.csr_array])
@pytest.mark.parametrize("dtype", [np.float32, np.float64])
@every_rule
def test_old_similarities_stay_and_new_rows_mirror_new_columns(name, form, dtype):
    X = form(samples(40).astype(dtype))
    rule = RULES[name]()
    if form is sparse.csr_array and not isinstance(rule, Cosine) and not rule._edges(40):
        pytest.skip("complete graphs of sparse samples are refused")
    A = rule.fit(X[:30])
    asked, old = dense(rule.extend(X[35:])), dense(A).copy()
    grown, whole = rule.grown(A, X[30:])
    assert whole.shape == (40, 40)
    assert whole.dtype == A.dtype
    assert type(whole) is type(A)
    if not isinstance(whole, Operator):
        np.testing.assert_array_equal(dense(whole), dense(whole).T)
        assert not dense(whole).diagonal().any()
    tolerance = {"rtol": 2e-5, "atol": 1e-6} if dtype == np.float32 else {"rtol": 1e-10, "atol": 1e-14}
    E = before_the_cut(grown, whole)
    np.testing.assert_allclose(E[:30, :30], before_the_cut(rule, A), **tolerance)
    if rule.normalize:
        np.testing.assert_allclose(dense(whole), normalized_cut(E), **tolerance)
    # Neither the rule nor its matrix has changed: a step that fails later leaves the model as it was.
    np.testing.assert_array_equal(dense(A), old)
    np.testing.assert_array_equal(dense(rule.extend(X[35:])), asked)


@pytest.mark.parametrize("name", ["gaussian", "cosine", "cosine, normalised"])
def test_complete_graphs_are_those_of_all_samples(name):
    X = samples(40)
    rule = RULES[name]()
    grown, A = rule.grown(rule.fit(X[:30]), X[30:])
    np.testing.assert_allclose(dense(A), dense(RULES[name]().fit(X)), rtol=1e-11, atol=1e-14)
    np.testing.assert_allclose(dense(grown.extend(X[:3] + 0.1)), dense(_fitted(name, X).extend(X[:3] + 0.1)))


def _fitted(name, X):
    rule = RULES[name]()
    rule.fit(X)
    return rule


def slow_self_tuning(X, n, q):
    """Edges that new samples choose among all, with the scales of old ones from their own graph."""
    D = np.sqrt(((X[:, None] - X[None]) ** 2).sum(-1))
    np.fill_diagonal(D, np.inf)
    scales = np.concatenate([np.sort(D[:n, :n])[:, 6], np.sort(D[n:])[:, 6]])
    B = np.zeros((len(X) - n, len(X)))
    for i in range(n, len(X)):
        for j in np.argsort(D[i])[:q]:
            B[i - n, j] = np.exp(-(D[i, j] ** 2) / (scales[i] * scales[j]))
    B[:, n:] = np.maximum(B[:, n:], B[:, n:].T)
    return B


@settings(deadline=None, max_examples=25)
@given(seed=st.integers(0, 2**32 - 1), n=st.integers(9, 40), m=st.integers(1, 12), q=st.integers(1, 8))
def test_new_samples_choose_their_neighbours_among_all(seed, n, m, q):
    X = np.random.default_rng(seed).normal(size=(n + m, 3))
    rule = NearestNeighbors(q, normalize=False)
    A = rule.fit(X[:n])
    grown = rule.grown(A, X[n:])[1].toarray()
    np.testing.assert_allclose(grown[n:], slow_self_tuning(X, n, q), rtol=1e-9, atol=1e-300)
    np.testing.assert_array_equal(grown[:n, :n], A.toarray())


def test_samples_without_direction_join_nobody():
    X = np.vstack([samples(12), np.zeros((2, 4)), samples(3, seed=1)])
    rule = Cosine(n_neighbors=3)
    for first in (1, 12, 13):
        B = rule.grown(rule.fit(X[:first]), X[first:])[1].toarray()
        assert not B[12:14].any()
        assert (np.count_nonzero(B[14:], axis=1) >= 3).all() or first == 1
    nothing = rule.grown(rule.fit(np.zeros((3, 4))), np.zeros((2, 4)))[1]
    assert nothing.shape == (5, 5)
    assert nothing.nnz == 0


@pytest.mark.parametrize("exponent", [0.5, 0.3, 0.0])
def test_the_normalised_cut_grows_with_the_graph(exponent):
    rng = np.random.default_rng(0)
    W = np.triu(rng.random((9, 9)) * (rng.random((9, 9)) < 0.5), 1)
    W += W.T
    W[3] = W[:, 3] = 0  # alone at first
    W[3, 8] = W[8, 3] = 2.0
    for form in (np.array, sparse.csr_array):
        step = NormalizedCut(exponent)
        A = step.fit(form(W[:7, :7]))
        np.testing.assert_allclose(dense(step.before(A)), W[:7, :7], rtol=1e-14)
        grown = step.grown(A, bordered(step.before(A), form(W[7:])))[1]
        np.testing.assert_allclose(dense(grown), normalized_cut(W, exponent), rtol=1e-13)


@pytest.mark.parametrize("measure", ["pmi", "root"])
def test_walks_from_new_nodes_follow_the_grown_graph(measure):
    rng = np.random.default_rng(0)
    W = np.triu((rng.random((40, 40)) < 0.15).astype(float), 1)
    W = sparse.csr_array(W + W.T)
    step = RandomWalk(window=2, n_kept=60, measure=measure)
    A = step.fit(W[:30, :30])
    later, grown = step.grown(A, W)
    whole = RandomWalk(window=2, n_kept=60, measure=measure).fit(W)  # which keeps every entry here
    np.testing.assert_array_equal(grown[:30, :30].toarray(), A.toarray())
    np.testing.assert_allclose(grown[30:].toarray(), whole[30:].toarray(), rtol=1e-12)
    assert abs(grown - grown.T).max() == 0
    assert (step.W_.n, later.W_.n) == (30, 40)


@settings(deadline=None, max_examples=30)
@given(
    seed=st.integers(0, 2**32 - 1),
    n=st.integers(1, 8),
    m=st.integers(1, 5),
    A_form=st.sampled_from([np.asarray, sparse.csr_array]),
    B_form=st.sampled_from([np.asarray, sparse.csr_array, sparse.coo_array]),
    dtype=st.sampled_from([np.float32, np.float64]),
)
def test_a_border_is_rows_and_columns(seed, n, m, A_form, B_form, dtype):
    rng = np.random.default_rng(seed)
    whole = (rng.random((n + m, n + m)) * (rng.random((n + m, n + m)) < 0.6)).astype(dtype)
    whole = whole + whole.T
    found = bordered(A_form(whole[:n, :n]), B_form(whole[n:].astype(np.float64)))
    assert found.dtype == dtype
    assert sparse.issparse(found) == (A_form is sparse.csr_array)
    assert not sparse.issparse(found) or found.has_canonical_format
    np.testing.assert_array_equal(dense(found), whole)
