"""Every affinity against the paper's formulas in plain NumPy, dense and sparse, fitted and extended."""

import numpy as np
import pytest
from scipy import sparse

from symclust.graphs import (
    Cosine,
    Gaussian,
    NearestNeighbors,
    SelfTuning,
    cosine,
    gaussian,
    nearest_neighbors,
    self_tuning,
)
from symclust.graphs.fuzzy import local_weights

FORMS = [np.asarray, sparse.csr_array, sparse.coo_matrix, sparse.csc_array]


@pytest.fixture(params=[3, 40], ids=["few features", "many features"])
def X(request):
    rng = np.random.default_rng(0)
    X = rng.random((50, request.param))
    X[:, 2:] *= rng.random((50, request.param - 2)) < 0.7  # zeros, so that the sparse form is sparse
    return X


def distances(X, Y=None):
    Y = X if Y is None else Y
    return np.sqrt(((X[:, None] - Y[None]) ** 2).sum(-1))


def reference_scales(D, rank, own):
    D = D + np.where(np.eye(*D.shape), np.inf, 0) if own else D
    return np.sort(D, axis=1)[:, rank - 1]


def reference_self_tuning(X):
    D = distances(X)
    scales = reference_scales(D, 7, own=True)
    E = np.exp(-(D**2) / np.outer(scales, scales))
    np.fill_diagonal(E, 0)
    return E


def reference_gaussian(X, sigma):
    E = np.exp(-(distances(X) ** 2) / sigma**2)
    np.fill_diagonal(E, 0)
    return E


def reference_cosine(X):
    U = X / np.linalg.norm(X, axis=1, keepdims=True)
    E = U @ U.T
    np.fill_diagonal(E, 0)
    return E


def chosen(D, q):
    """The union rule (24) by a full sort."""
    D = D.copy()
    np.fill_diagonal(D, np.inf)
    near = np.zeros(D.shape, bool)
    np.put_along_axis(near, np.argsort(D, axis=1)[:, :q], True, axis=1)
    return near | near.T


def normalized(E):
    d = E.sum(1)
    return E / np.sqrt(np.outer(d, d))


def test_complete_gaussian(X):
    np.testing.assert_allclose(gaussian(X, sigma=1.3), reference_gaussian(X, 1.3), rtol=1e-12)


def test_complete_self_tuning(X):
    np.testing.assert_allclose(self_tuning(X), reference_self_tuning(X), rtol=1e-12)


@pytest.mark.parametrize("form", FORMS)
def test_complete_cosine_is_an_operator_that_keeps_X(X, form):
    A = cosine(form(X))
    assert A.shape == (50, 50)
    np.testing.assert_allclose(A.toarray(), reference_cosine(X), rtol=1e-12)
    np.testing.assert_allclose(A @ np.ones(50), reference_cosine(X).sum(1), rtol=1e-12)


@pytest.mark.parametrize("form", FORMS)
@pytest.mark.parametrize("q", [1, 4, 12, 80])
def test_sparse_graphs_follow_the_union_rule(X, form, q):
    near = chosen(distances(X), q)
    np.testing.assert_allclose(
        self_tuning(form(X), n_neighbors=q).toarray(), reference_self_tuning(X) * near, rtol=1e-12
    )
    np.testing.assert_allclose(
        gaussian(form(X), 0.8, n_neighbors=q).toarray(), reference_gaussian(X, 0.8) * near, rtol=1e-12
    )
    E = reference_cosine(X)
    np.testing.assert_allclose(
        cosine(form(X), n_neighbors=q).toarray(), E * chosen(1 - E, q), rtol=1e-12, atol=1e-15
    )


@pytest.mark.parametrize("form", FORMS)
def test_the_default_graph(X, form):
    E = reference_self_tuning(X) * chosen(distances(X), 6)  # floor(log2 50) + 1
    A = nearest_neighbors(form(X))
    assert isinstance(A, sparse.csr_array)
    np.testing.assert_allclose(A.toarray(), normalized(E), rtol=1e-12)
    np.testing.assert_allclose(nearest_neighbors(form(X), normalize=False).toarray(), E, rtol=1e-12)


@pytest.mark.parametrize("weights", ["self_tuning", "cosine"])
@pytest.mark.parametrize("form", FORMS)
def test_graphs_have_short_indices(X, weights, form):
    A = nearest_neighbors(form(X), weights=weights)
    assert A.indptr.dtype == A.indices.dtype == np.int32
    assert A.has_canonical_format


@pytest.mark.parametrize(("n", "q"), [(2, 1), (15, 4), (16, 5), (17, 5), (63, 6), (64, 7)])
def test_default_number_of_neighbours(n, q):
    X = np.random.default_rng(2).random((n, 3))
    default, same, more = (nearest_neighbors(X, n_neighbors=count).toarray() for count in (None, q, q + 1))
    np.testing.assert_array_equal(default, same)
    assert n == 2 or np.count_nonzero(more) > np.count_nonzero(default)


@pytest.mark.parametrize("weights", ["gaussian", "cosine"])
def test_weights_are_those_of_the_function_of_that_name(X, weights):
    function = {"gaussian": gaussian, "cosine": cosine}[weights]
    A = nearest_neighbors(X, n_neighbors=5, weights=weights)
    np.testing.assert_array_equal(A.toarray(), function(X, n_neighbors=5, normalize=True).toarray())


@pytest.mark.parametrize("function", [gaussian, self_tuning, cosine])
@pytest.mark.parametrize("q", [None, 5])
def test_normalize_divides_by_the_roots_of_the_degrees(X, function, q):
    E, A = (function(X, n_neighbors=q, normalize=flag) for flag in (False, True))
    E, A = (M if isinstance(M, np.ndarray) else M.toarray() for M in (E, A))
    np.testing.assert_allclose(A, normalized(E), rtol=1e-10, atol=1e-15)


def test_default_sigma_is_the_median_distance_to_the_seventh_neighbour(X):
    affinity = Gaussian()
    affinity.fit(X)
    assert affinity.sigma_ == pytest.approx(np.median(reference_scales(distances(X), 7, own=True)), rel=1e-13)


# Unseen samples ---------------------------------------------------------------------------------------------


def cut(E_new, training_degrees):
    return E_new / np.sqrt(np.outer(E_new.sum(1), training_degrees))


def keep_nearest(E, D, q):
    near = np.zeros(D.shape, bool)
    np.put_along_axis(near, np.argsort(D, axis=1, kind="stable")[:, :q], True, axis=1)
    return E * near


@pytest.fixture
def X_new(X):
    """Unseen samples and, at the end, copies of training samples."""
    return np.vstack([np.random.default_rng(1).random((9, X.shape[1])), X[10:14]])


@pytest.mark.parametrize("normalize", [False, True])
def test_extend_complete_kernels(X, X_new, normalize):
    D = distances(X_new, X)
    local = np.outer(reference_scales(D, 7, own=False), reference_scales(distances(X), 7, own=True))
    cases = [
        (SelfTuning(normalize=normalize), np.exp(-(D**2) / local), reference_self_tuning(X)),
        (Gaussian(0.9, normalize=normalize), np.exp(-(D**2) / 0.81), reference_gaussian(X, 0.9)),
    ]
    for affinity, E_new, E in cases:
        affinity.fit(X)
        expected = cut(E_new, E.sum(1)) if normalize else E_new
        np.testing.assert_allclose(affinity.extend(X_new), expected, rtol=1e-11)


@pytest.mark.parametrize("form", [np.asarray, sparse.csr_array])
@pytest.mark.parametrize("normalize", [False, True])
def test_extend_cosine(X, X_new, form, normalize):
    E_new = (X_new / np.linalg.norm(X_new, axis=1)[:, None]) @ (X / np.linalg.norm(X, axis=1)[:, None]).T
    E = reference_cosine(X)
    affinity = Cosine(normalize=normalize)
    affinity.fit(form(X))
    A_new = affinity.extend(form(X_new))
    assert sparse.issparse(A_new) == (form is sparse.csr_array)
    expected = cut(E_new, E.sum(1)) if normalize else E_new
    np.testing.assert_allclose(A_new.toarray() if sparse.issparse(A_new) else A_new, expected, rtol=1e-10)

    affinity = Cosine(n_neighbors=4, normalize=normalize)
    affinity.fit(form(X))
    E_new = keep_nearest(E_new, -E_new, 4)
    expected = cut(E_new, (E * chosen(-E, 4)).sum(1)) if normalize else E_new
    np.testing.assert_allclose(affinity.extend(form(X_new)).toarray(), expected, rtol=1e-10)


@pytest.mark.parametrize("form", [np.asarray, sparse.csr_array])
def test_extend_the_default_graph(X, X_new, form):
    D = distances(X_new, X)
    local = np.outer(reference_scales(D, 7, own=False), reference_scales(distances(X), 7, own=True))
    E_new = keep_nearest(np.exp(-(D**2) / local), D, 6)
    affinity = NearestNeighbors()
    affinity.fit(form(X))
    A_new = affinity.extend(form(X_new))
    assert isinstance(A_new, sparse.csr_array)
    expected = cut(E_new, (reference_self_tuning(X) * chosen(distances(X), 6)).sum(1))
    np.testing.assert_allclose(A_new.toarray(), expected, rtol=1e-11)


def test_extend_takes_either_form_whatever_fit_was_given(X, X_new):
    for given, new in ((np.asarray, sparse.csr_array), (sparse.csr_array, np.asarray)):
        affinity, same = NearestNeighbors(), NearestNeighbors()
        affinity.fit(given(X))
        same.fit(given(X))
        np.testing.assert_array_equal(
            affinity.extend(new(X_new)).toarray(), same.extend(given(X_new)).toarray()
        )


def test_fuzzy_weights_do_not_depend_on_the_unit_and_sum_to_the_logarithm_of_their_number():
    near = np.sort(np.random.default_rng(0).uniform(1, 2, size=(20, 16)), axis=1)
    weights = local_weights(near)
    np.testing.assert_allclose(weights.sum(axis=1), 4)  # log2 of 16
    np.testing.assert_allclose(weights[:, 0], 1)
    np.testing.assert_allclose(local_weights(1000 * near), weights)
