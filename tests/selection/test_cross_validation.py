"""Hidden pairs: which are drawn, what is predicted about them, and the answers."""

import networkx as nx
import numpy as np
import pytest
from hypothesis import assume, given, settings
from hypothesis import strategies as st
from scipy import sparse
from sklearn.cluster import KMeans

from symclust import OffDiagonalSymNMF, SymNMF
from symclust.datasets import planted_partition
from symclust.exceptions import CombinationError, InputError
from symclust.selection import Features, Pairs, Study
from symclust.selection._nulls import shuffled_pairs
from symclust.selection.methods.cross_validation import CrossValidation, Hidden, hidden_error, hide


def study(data, candidates=(2, 3, 4, 5), seed=0, **options):
    data = data if isinstance(data, Pairs | Features) else Pairs(data)
    return Study(data, SymNMF(affinity="precomputed"), candidates, np.random.RandomState(seed), **options)


def similarity(n, k, seed=0):
    rng = np.random.RandomState(seed)
    y = np.arange(n) % k
    A = (y[:, None] == y) + 0.2 * rng.uniform(size=(n, n))
    A = (A + A.T) / 2
    np.fill_diagonal(A, 0)
    return A


@settings(deadline=None, max_examples=40)
@given(
    n=st.integers(20, 60), edges=st.floats(0.1, 0.45), share=st.floats(0.1, 0.6), seed=st.integers(0, 10**6)
)
def test_of_a_network_edges_and_as_many_other_pairs_are_hidden(n, edges, share, seed):
    A = sparse.csr_array(nx.to_scipy_sparse_array(nx.gnp_random_graph(n, edges, seed=seed), dtype=float))
    assume(round(share * A.nnz / 2) >= 5 and A.nnz < 0.5 * n * (n - 1))
    hidden = hide(A, share, np.random.RandomState(seed))
    values = np.asarray(A[hidden.i, hidden.j]).ravel()
    assert (hidden.i < hidden.j).all()
    assert len(np.unique(hidden.i * n + hidden.j)) == len(hidden.i)
    assert (values > 0).sum() == round(share * A.nnz / 2)
    assert (values > 0).sum() == (values == 0).sum()
    # Weights count all pairs: those with an edge and those without.
    assert np.isclose(hidden.weights[values > 0].sum(), A.nnz / 2)
    assert np.isclose(hidden.weights[values == 0].sum(), n * (n - 1) / 2 - A.nnz / 2)


def test_of_similarities_of_all_pairs_any_are_hidden():
    hidden = hide(similarity(20, 2), 0.1, np.random.RandomState(0))
    assert len(hidden.i) == 19
    assert (hidden.weights == 1).all()


@pytest.mark.parametrize("form", [np.asarray, sparse.csr_array], ids=["dense", "sparse"])
def test_the_error_is_that_of_the_estimator_that_ignores_the_hidden_pairs(form):
    A = similarity(30, 3)
    A[A < 0.5] = 0
    hidden = hide(A, 0.2, np.random.RandomState(0))
    mask = np.zeros_like(A)
    mask[hidden.i, hidden.j] = mask[hidden.j, hidden.i] = 1
    model = OffDiagonalSymNMF(3, ignore=mask, affinity="precomputed", init="merge", random_state=1)
    H = model.fit(A * (1 - mask)).membership_
    foretold = np.minimum((H @ H.T)[hidden.i, hidden.j], A.max())
    expected = hidden.weights @ (A[hidden.i, hidden.j] - foretold) ** 2
    assert np.isclose(hidden_error(form(A), hidden, 3, seed=1), expected, rtol=1e-6)


def test_hidden_entries_are_not_looked_at_by_the_fit():
    A = similarity(30, 3)
    pairs = np.array([0, 1, 2]), np.array([3, 4, 5])
    changed = A.copy()
    changed[pairs] = changed[pairs[::-1]] = A.max()
    # With the same fit and a single pair, the errors are (a − p)² and (b − p)²: both lead to the same p.
    for place in range(3):
        one = Hidden(pairs[0], pairs[1], np.eye(3)[place])
        first, second = (hidden_error(M, one, 3, seed=0) for M in (A, changed))
        a, b = A[pairs][place], changed[pairs][place]
        foretold = ((first - second) / (a - b) - (a + b)) / -2
        assert np.isclose((a - foretold) ** 2, first)


@pytest.mark.parametrize("k", [2, 3, 4])
def test_planted_communities_are_found(k):
    A, _ = planted_partition(50 * k, k, degree=16, mixing=0.15, random_state=k)
    found = CrossValidation().choose(study(A))
    assert found.n_clusters == k
    assert found.scores.argmax() == k - 2
    assert 0 < found.scores.max() < 1


def test_clusters_of_similarities_are_found():
    assert CrossValidation().choose(study(similarity(45, 3))).n_clusters == 3


def test_without_clusters_the_answer_is_one():
    A, _ = planted_partition(150, 3, degree=16, mixing=0.15, random_state=0)
    found = CrossValidation().choose(study(shuffled_pairs(A, np.random.RandomState(0))))
    assert found.n_clusters == 1
    assert found.scores.max() <= 0
    assert found.sentence.startswith("One cluster")


def test_answers_do_not_depend_on_the_number_of_jobs():
    A, _ = planted_partition(80, 2, degree=10, mixing=0.2, random_state=0)
    first, second = (CrossValidation(n_folds=2).choose(study(A, (2, 3), n_jobs=jobs)) for jobs in (None, 2))
    assert np.array_equal(first.scores, second.scores)


def test_too_few_pairs_and_features_are_refused():
    with pytest.raises(InputError, match="hides 2, which says nothing"):
        CrossValidation().choose(study(nx.to_numpy_array(nx.path_graph(20))))
    with pytest.raises(CombinationError, match="looks at similarities"):
        CrossValidation().choose(Study(Features(np.eye(5)), KMeans(), (2, 3), np.random.RandomState(0)))
