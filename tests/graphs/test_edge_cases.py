"""What is odd about data: duplicates, zero rows, isolated points, few samples, precisions, wrong options."""

import pickle
import warnings

import numpy as np
import pytest
from scipy import sparse

from symclust.exceptions import CombinationError, InputError, OptionError
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
from symclust.registry import options, resolve

FUNCTIONS = [cosine, gaussian, self_tuning, nearest_neighbors]
AFFINITIES = [
    Cosine(), Cosine(3, True), Gaussian(), Gaussian(0.5, 3, True), SelfTuning(), SelfTuning(3, 7, True),
    NearestNeighbors(), NearestNeighbors(2, "cosine", False),
]  # fmt: skip


def dense(A):
    return A if isinstance(A, np.ndarray) else A.toarray()


def cases(q=3):
    yield from (cosine, gaussian, self_tuning)
    for function in (cosine, gaussian, self_tuning):
        yield lambda X, function=function, **options: function(X, n_neighbors=q, **options)
    yield nearest_neighbors


@pytest.mark.parametrize("function", list(cases()))
@pytest.mark.parametrize("n", [1, 2, 3, 5, 7, 8, 9])
def test_few_samples(function, n):
    X = np.random.default_rng(0).random((n, 4)) + 0.1
    A = dense(function(X, normalize=True))
    assert A.shape == (n, n)
    assert np.isfinite(A).all()
    assert not A.diagonal().any()
    assert n == 1 or A.any(axis=1).all()


@pytest.mark.parametrize("function", list(cases()))
@pytest.mark.parametrize("d", [2, 30])
def test_constant_data_is_all_duplicates(function, d):
    E = dense(function(np.full((20, d), 3.0), normalize=False))
    np.testing.assert_allclose(E[E != 0], 1, rtol=1e-14)
    assert (np.count_nonzero(E, axis=1) >= 1).all()  # at least to the first, which stands for all
    A = dense(function(np.full((20, d), 3.0), normalize=True))
    assert np.isfinite(A).all()


def test_neighbours_and_scales_are_those_of_distinct_rows():
    X = np.vstack([np.zeros((9, 2)), np.random.default_rng(0).random((30, 2)) + 5])
    affinity, alone = SelfTuning(n_neighbors=12), SelfTuning(n_neighbors=12)
    E, F = dense(affinity.fit(X)), dense(alone.fit(X[8:]))
    np.testing.assert_array_equal(E[8:, 8:][1:, 1:], F[1:, 1:])
    np.testing.assert_allclose(E[:9, 9:], np.tile(F[0, 1:], (9, 1)) * np.sqrt(9) / 9)  # 9 edges for 3
    np.testing.assert_array_equal(E[0, :9], [0, *np.ones(8)])  # copies are joined to the first
    assert not E[1:9, 1:9].any()
    np.testing.assert_array_equal(affinity.scales_[8:], alone.scales_)
    np.testing.assert_array_equal(affinity.scales_[:9], alone.scales_[0])
    assert affinity.extend(np.zeros((1, 2)))[0, 0] == 1


def test_duplicates_in_a_complete_graph_have_similarity_one_and_the_smallest_scale():
    X = np.vstack([np.zeros((9, 2)), np.random.default_rng(0).random((30, 2)) + 5])
    affinity = SelfTuning()
    E = dense(affinity.fit(X))
    np.testing.assert_array_equal(E[:9, :9], 1 - np.eye(9))
    assert (affinity.scales_ > 0).all()
    np.testing.assert_array_equal(affinity.scales_[:9], affinity.scales_[9:].min())
    assert (affinity.extend(np.zeros((1, 2)))[:, :9] == 1).sum() == 9


def test_default_sigma_passes_over_duplicates():
    X = np.repeat([0.0, 0.0, 1.0], [20, 20, 1])[:, None]
    affinity = Gaussian()
    affinity.fit(X)
    assert affinity.sigma_ == 1.0  # only the last sample has a seventh neighbour at a positive distance


@pytest.mark.parametrize("form", [np.asarray, sparse.csr_array])
@pytest.mark.parametrize("q", [None, 3])
@pytest.mark.parametrize("normalize", [False, True])
def test_zero_rows_are_isolated_under_cosine(form, q, normalize):
    """Zero rows are at distance 1 of unit rows, nearer than those of cosine below 0.5: no neighbours."""
    X = np.random.default_rng(0).random((30, 6)) * (np.random.default_rng(1).random((30, 6)) < 0.3) + np.eye(
        30, 6
    )
    X[10:20] = 0
    affinity = Cosine(q, normalize)
    A = dense(affinity.fit(form(X)))
    rest = np.r_[0:10, 20:30]
    assert not A[10:20].any()
    assert not A[:, 10:20].any()
    np.testing.assert_allclose(
        A[np.ix_(rest, rest)], dense(Cosine(q, normalize).fit(form(X[rest]))), rtol=1e-13
    )
    assert not dense(affinity.extend(form(np.zeros((1, 6))))).any()


@pytest.mark.parametrize("form", [np.asarray, sparse.csr_array])
@pytest.mark.parametrize("q", [None, 2])
def test_nothing_but_zero_rows(form, q):
    affinity = Cosine(q, normalize=True)
    assert not dense(affinity.fit(form(np.zeros((4, 3))))).any()
    assert dense(affinity.extend(form(np.ones((2, 3))))).shape == (2, 4)


@pytest.mark.parametrize("form", [np.asarray, sparse.csr_array])
@pytest.mark.parametrize("dtype", [np.float32, np.float64])
@pytest.mark.parametrize("seed", range(5))
def test_a_sample_that_shares_no_feature_is_isolated_after_normalisation(form, dtype, seed):
    """Its degree is what rounding leaves of 1 − 1: it must neither blow up nor count as negative."""
    X = np.zeros((20, 60), dtype=dtype)
    X[:19, :30] = np.random.default_rng(seed).random((19, 30))
    X[19, 30:] = np.random.default_rng(seed + 10).random(30)
    affinity = Cosine(normalize=True)
    A = affinity.fit(form(X))
    assert affinity.degrees_[19] == 0
    assert not (A @ np.ones(20))[19]
    assert np.abs(A.toarray()).max() < 1


def test_cosine_survives_lengths_whose_squares_overflow_or_vanish():
    X = np.array([[3.0, 4.0], [4.0, 3.0], [0.0, 2.0]])
    for factor in (1e200, 1e-200, np.array([[1e200], [1.0], [1e-200]])):
        for q in (None, 2):
            np.testing.assert_allclose(dense(cosine(X * factor, q)), dense(cosine(X, q)), rtol=1e-14)


def test_cosines_of_mixed_signs_are_kept_but_not_normalised():
    X = np.array([[1.0, 0.1], [-1.0, 0.1], [-1.0, 0.0], [1.0, 0.0]])
    A = dense(cosine(X, n_neighbors=3))
    np.testing.assert_allclose(A, dense(cosine(X)), rtol=1e-12)
    assert A.min() < -0.9
    for q in (None, 3):
        with pytest.raises(InputError, match="negative"):
            cosine(X, q, normalize=True)


@pytest.mark.parametrize("q", [None, 2])
def test_a_scale_that_leaves_no_similarity_warns_and_isolates_all(q):
    with pytest.warns(UserWarning, match="All similarities are 0.*larger sigma"):
        A = dense(gaussian([[0.0], [1.0], [2.0]], sigma=1e-3, n_neighbors=q, normalize=True))
    assert not A.any()


def test_an_outlier_is_isolated_by_underflow_without_a_warning():
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        A = gaussian([[0.0], [1.0], [1e6]], sigma=1.0, normalize=True)
    assert not A[2].any()
    assert A[0, 1] == pytest.approx(1)


@pytest.mark.parametrize("function", list(cases()))
@pytest.mark.parametrize("normalize", [False, True])
def test_precision_stays(function, normalize):
    X = np.random.default_rng(0).random((40, 5))
    exact = dense(function(X, normalize=normalize))
    single = function(X.astype(np.float32), normalize=normalize)
    assert single.dtype == np.float32
    np.testing.assert_allclose(dense(single), exact, rtol=1e-4, atol=1e-6)
    integers = (100 * X).astype(int)
    np.testing.assert_array_equal(
        dense(function(integers, normalize=normalize)),
        dense(function(integers.astype(float), normalize=normalize)),
    )
    assert function(integers, normalize=normalize).dtype == np.float64


@pytest.mark.parametrize("affinity", AFFINITIES)
def test_extend_keeps_precision_and_survives_pickling(affinity):
    X = np.random.default_rng(0).random((30, 5)).astype(np.float32)
    affinity.fit(X)
    A_new = affinity.extend(np.ones((2, 5)))
    assert A_new.dtype == np.float32
    assert A_new.shape == (2, 30)
    np.testing.assert_array_equal(
        dense(pickle.loads(pickle.dumps(affinity)).extend(np.ones((2, 5)))), dense(A_new)
    )


@pytest.mark.parametrize("function", [gaussian, self_tuning])
def test_a_sparse_X_does_not_become_a_dense_graph(function):
    X = sparse.random_array((100_000, 50), density=0.001, rng=0)
    with pytest.raises(CombinationError, match=r"80 GB.*n_neighbors="):
        function(X)


@pytest.mark.parametrize("function", FUNCTIONS)
def test_wrong_options_are_refused(function):
    X = np.eye(4)
    for q in (0, -1, 2.0, True, "3"):
        with pytest.raises(OptionError, match="n_neighbors"):
            function(X, n_neighbors=q)


def test_wrong_options_of_single_affinities_are_refused():
    for sigma in (0, -1.0, np.inf, np.nan, "1"):
        with pytest.raises(OptionError, match="sigma"):
            gaussian(np.eye(3), sigma=sigma)
    for rank in (0, 1.5, None):
        with pytest.raises(OptionError, match="scale_neighbor"):
            self_tuning(np.eye(3), scale_neighbor=rank)
    with pytest.raises(OptionError, match="'cosine', 'fuzzy', 'gaussian', 'self_tuning'"):
        nearest_neighbors(np.eye(3), weights="nearest_neighbors")


@pytest.mark.parametrize("function", FUNCTIONS)
def test_unusable_features_are_refused(function):
    with pytest.raises(InputError, match="NaN"):
        function([[1.0, np.nan], [0.0, 1.0]])


@pytest.mark.parametrize("affinity", AFFINITIES)
def test_extend_wants_the_features_of_fit(affinity):
    affinity.fit(np.random.default_rng(0).random((10, 4)))
    with pytest.raises(InputError, match=r"3 features.*expecting 4 features"):
        affinity.extend(np.ones((2, 3)))
    with pytest.raises(InputError, match="NaN"):
        affinity.extend(np.full((2, 4), np.nan))


def test_the_input_is_not_changed():
    X = np.random.default_rng(0).random((30, 5))
    for form in (np.asarray, sparse.csr_array):
        for function in cases():
            if form is sparse.csr_array and function in (gaussian, self_tuning):
                continue
            given = form(X.copy())
            function(given, normalize=True)
            np.testing.assert_array_equal(dense(given), X)


def test_the_registry_finds_the_classes():
    assert {"cosine", "gaussian", "self_tuning", "nearest_neighbors", "normalized_cut"} <= set(
        options("graphs")
    )
    assert resolve("graphs", "self_tuning") is SelfTuning
    assert resolve("graphs", "nearest_neighbors") is NearestNeighbors


@pytest.mark.parametrize("function", [gaussian, self_tuning])
def test_a_complete_graph_that_memory_does_not_hold_is_refused_before_any_work(function, monkeypatch):
    monkeypatch.setattr("symclust.validation.memory._available_memory", lambda: 8 * 10**9)
    monkeypatch.setattr("symclust.graphs._neighbors.choose_finder", None)
    with pytest.raises(InputError, match=r"200000 samples.*320 GB.*8 GB are available.*n_neighbors="):
        function(np.zeros((200_000, 1)))


@pytest.mark.parametrize("affinity", AFFINITIES)
@pytest.mark.parametrize("form", [np.array, sparse.csr_array])
def test_what_becomes_of_the_training_samples_later_changes_nothing(affinity, form):
    if (
        form is sparse.csr_array
        and affinity.n_neighbors is None
        and isinstance(affinity, Gaussian | SelfTuning)
    ):
        pytest.skip("complete graphs are made of dense samples")
    X = form(np.random.default_rng(0).random((30, 5)))
    affinity.fit(X)
    expected = dense(affinity.extend(X[:3] * 1.1))
    new = X[:3] * 1.1
    if form is np.array:
        X[:] = 7
    else:
        X.data[:], X.indices[:] = 7, 0
    np.testing.assert_array_equal(dense(affinity.extend(new)), expected)
