"""NMF, SparseNMF, AffineNMF and GraphNMF: what is fitted, what is refused, what a fitted model answers."""

import os
import pickle
import signal
import tracemalloc
import warnings

import networkx as nx
import numpy as np
import pandas as pd
import pytest
import scipy.sparse as sp
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy.optimize import nnls
from sklearn.metrics import adjusted_rand_score
from sklearn.utils.estimator_checks import parametrize_with_checks
from threadpoolctl import threadpool_limits

from symclust import NMF, AffineNMF, GraphNMF, SparseNMF
from symclust.exceptions import (
    CombinationError,
    InputError,
    InterruptedWarning,
    NotConvergedWarning,
    OptionError,
)
from symclust.metrics import clustering_accuracy

FAMILY = [NMF, SparseNMF, AffineNMF, GraphNMF]
SOLVERS = ["bpp", "hals", "multiplicative", "projected_gradient"]
# The one check that looks at no tag: it hands every clusterer standardised samples × 2 features.
UNSUITED = {"check_clustering": "gives negative features, which have no nonnegative parts"}


@parametrize_with_checks([cls(max_iter=30) for cls in FAMILY], expected_failed_checks=lambda model: UNSUITED)
@pytest.mark.filterwarnings("ignore")
def test_scikit_learns_own_checks(estimator, check):
    check(estimator)


@pytest.mark.parametrize("cls", FAMILY)
def test_the_unsuited_check_passes_once_its_data_suits(cls, blobs):
    X, y = blobs
    model = cls(3, random_state=0).fit(X)
    assert adjusted_rand_score(y, model.labels_) == 1
    assert set(model.labels_) == {0, 1, 2}


@pytest.fixture(scope="module")
def mixtures():
    """Samples that mix three kinds, with a few zeros."""
    rng = np.random.RandomState(0)
    X = rng.dirichlet([0.4] * 3, 80) @ (rng.random_sample((3, 30)) * (rng.random_sample((3, 30)) < 0.5))
    return X + 0.01 * rng.random_sample(X.shape)


@pytest.mark.parametrize("cls", FAMILY)
@pytest.mark.parametrize("is_sparse", [False, True])
def test_what_is_fitted_belongs_together(cls, mixtures, is_sparse):
    X = sp.csr_array(mixtures) if is_sparse else mixtures
    model = cls(3, random_state=0).fit(X)
    assert model.membership_.shape == (80, 3) and model.components_.shape == (3, 30)
    np.testing.assert_allclose(np.linalg.norm(model.components_, axis=1), 1)
    np.testing.assert_array_equal(model.labels_, model.membership_.argmax(axis=1))
    error = np.linalg.norm(mixtures - model.inverse_transform(model.membership_)) / np.linalg.norm(mixtures)
    assert model.relative_error_ == pytest.approx(error, rel=1e-6)
    assert model.converged_ and model.history_.stationarity[-1] <= model.tol
    assert model.n_iter_ == len(model.history_) - 1
    assert model.objective_ == model.inits_.min() == model.history_.objective[-1]


@pytest.mark.filterwarnings("ignore")
@pytest.mark.parametrize("cls", FAMILY)
@given(
    n=st.integers(1, 12),
    d=st.integers(1, 6),
    k=st.integers(1, 12),
    solver=st.sampled_from(SOLVERS),
    dtype=st.sampled_from([np.float32, np.float64]),
    is_sparse=st.booleans(),
    seed=st.integers(0, 2**32 - 1),
)
@settings(max_examples=40)
def test_training_samples_are_placed_where_they_are(cls, n, d, k, solver, dtype, is_sparse, seed):
    """With as many clusters as features, or more, there are many memberships that fit equally well."""
    rng = np.random.RandomState(seed)
    X = rng.poisson(1.0, (n, d)) * rng.choice([1.0, rng.random_sample()], (n, d))
    X[rng.random_sample(n) < 0.2] = X[0]
    X = sp.csr_array(X.astype(dtype)) if is_sparse else X.astype(dtype)
    solver = "hals" if cls is GraphNMF and solver == "bpp" else solver
    model = cls(min(k, n), solver=solver, max_iter=30, random_state=0).fit(X)
    np.testing.assert_array_equal(model.transform(X), model.membership_)
    np.testing.assert_array_equal(model.predict(X), model.labels_)


@pytest.mark.parametrize("cls", [NMF, SparseNMF, AffineNMF])
@pytest.mark.parametrize("solver", SOLVERS)
def test_the_objective_is_that_of_the_memberships_reported(cls, solver, mixtures):
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", NotConvergedWarning)
        model = cls(3, solver=solver, max_iter=3, random_state=0).fit(mixtures)
    error = np.linalg.norm(mixtures - model.inverse_transform(model.membership_)) / np.linalg.norm(mixtures)
    assert model.relative_error_ == pytest.approx(error, rel=1e-9)
    assert model.objective_ == model.inits_.min() == model.history_.objective[-1]


@pytest.mark.parametrize("cls", FAMILY)
def test_sparse_and_dense_are_fitted_alike(cls, mixtures):
    dense, sparse = (cls(3, random_state=0).fit(X) for X in (mixtures, sp.coo_array(mixtures)))
    np.testing.assert_allclose(sparse.membership_, dense.membership_, rtol=1e-5, atol=1e-6)


@pytest.mark.parametrize("cls", FAMILY)
def test_precision_stays(cls, mixtures):
    model = cls(3, random_state=0).fit(mixtures.astype(np.float32))
    for array in (model.membership_, model.components_, model.transform(mixtures.astype(np.float32))):
        assert array.dtype == np.float32
    assert cls(3, random_state=0).fit((20 * mixtures).astype(int)).membership_.dtype == np.float64


@pytest.mark.parametrize("cls", FAMILY)
@pytest.mark.parametrize("init", ["random", "spectral", "nndsvda"])
def test_the_same_bits_on_any_number_of_threads(cls, init):
    X = sp.random_array((600, 400), density=0.05, rng=np.random.default_rng(0), format="csr")
    fits = []
    for threads in (1, 2):
        with threadpool_limits(threads):
            fits.append(cls(4, init=init, max_iter=8, tol=0, random_state=3).fit(X))
    np.testing.assert_array_equal(fits[0].membership_, fits[1].membership_)
    np.testing.assert_array_equal(fits[0].components_, fits[1].components_)


def test_memberships_of_new_samples_are_least_squares(mixtures):
    model = NMF(3, random_state=0).fit(mixtures)
    new = mixtures[::-1][:10] + 0.05
    expected = [nnls(model.components_.T, x)[0] for x in new]
    np.testing.assert_allclose(model.transform(new), expected, rtol=1e-7, atol=1e-10)


def test_memberships_of_new_samples_are_sparse_where_those_of_training_are(mixtures):
    model = SparseNMF(3, sparsity=0.3, random_state=0).fit(mixtures)
    new = mixtures[:10] * 2  # the penalty is quadratic: all doubles with the sample
    np.testing.assert_allclose(model.transform(new), 2 * model.membership_[:10], rtol=1e-7, atol=1e-12)


def test_the_baseline_of_new_samples_is_known():
    rng = np.random.RandomState(0)
    X = (rng.gamma(1, size=(80, 3)) * (rng.random_sample((80, 3)) < 0.4)) @ rng.random_sample((3, 30)) + 1
    model = AffineNMF(3, tol=1e-6, random_state=0).fit(X)
    np.testing.assert_allclose(model.baseline_, 1, atol=0.15)
    assert not model.transform(model.baseline_[None]).round(6).any()
    np.testing.assert_allclose(model.inverse_transform(np.zeros((1, 3)))[0], model.baseline_)


def test_a_baseline_is_found_and_makes_memberships_sparser():
    rng = np.random.RandomState(1)
    X = np.kron(np.eye(3), np.ones((20, 5))) * rng.uniform(0.5, 1.5, (60, 15)) + rng.uniform(1, 3, 15)
    plain, affine = NMF(3, random_state=0).fit(X), AffineNMF(3, random_state=0).fit(X)
    assert affine.relative_error_ < plain.relative_error_
    assert np.mean(affine.membership_ < 1e-6) > np.mean(plain.membership_ < 1e-6)
    assert adjusted_rand_score(np.repeat(range(3), 20), affine.labels_) == 1


def test_sparsity_gives_more_zeros_and_the_ridge_is_the_largest_entry_squared(mixtures):
    zeros = []
    for sparsity in (0.0, 0.1, 1.0):
        model = SparseNMF(3, sparsity=sparsity, random_state=0).fit(mixtures)
        zeros.append(np.mean(model.membership_ == 0))
        assert model.ridge_ == mixtures.max() ** 2
    assert zeros[0] < zeros[1] < zeros[2]
    assert SparseNMF(3, ridge=0.5, random_state=0).fit(mixtures).ridge_ == 0.5


def test_the_objective_belongs_to_the_factors_as_found(mixtures):
    """The penalties of the rescaled factors differ; those of thesis (11) at W and C are in `objective_`."""
    model = SparseNMF(3, sparsity=0.1, random_state=0).fit(mixtures)
    scale = model._placer.norms / (model.ridge_ / 0.1) ** 0.25
    W, C = model.membership_ / scale, model.components_.T * scale
    value = np.sum((mixtures - W @ C.T) ** 2) + model.ridge_ * np.sum(C**2) + 0.1 * np.sum(W.sum(axis=1) ** 2)
    assert model.objective_ == pytest.approx(value, rel=1e-9)


def test_of_the_two_weights_only_their_product_matters(mixtures):
    """The scale that the factors share freely makes one term small where the other's weight is large."""
    fits = [SparseNMF(3, ridge=r, sparsity=0.04 / r, random_state=0).fit(mixtures) for r in (1.0, 100.0)]
    np.testing.assert_allclose(fits[0].membership_, fits[1].membership_, rtol=1e-6, atol=1e-9)
    plain = NMF(3, random_state=0).fit(mixtures)
    for weights in ({"ridge": 0.0}, {"sparsity": 0.0}):
        without = SparseNMF(3, **weights, random_state=0).fit(mixtures)
        np.testing.assert_array_equal(without.membership_, plain.membership_)


@pytest.mark.filterwarnings("error")
@pytest.mark.parametrize("dtype", [np.float32, np.float64])
@pytest.mark.parametrize("init", ["spectral", "random", "nndsvda"])
@pytest.mark.parametrize("cls", FAMILY)
def test_the_unit_of_the_data_does_not_matter(cls, init, mixtures, dtype):
    """The same fit, the same number of iterations, and memberships that differ by the unit."""
    model = cls(3, init=init, random_state=0).fit(mixtures.astype(dtype))
    rtol = 1e-2 if dtype == np.float32 else 1e-6
    for unit in (1e-12, 1e12):
        other = cls(3, init=init, random_state=0).fit((mixtures * unit).astype(dtype))
        assert other.relative_error_ == pytest.approx(model.relative_error_, rel=rtol)
        assert abs(other.n_iter_ - model.n_iter_) <= 0.1 * model.n_iter_
        np.testing.assert_allclose(
            other.membership_ / unit, model.membership_, atol=rtol * model.membership_.max()
        )


@pytest.mark.parametrize("cls", FAMILY)
@pytest.mark.parametrize(("dtype", "largest"), [(np.float32, "1e-15 and 1e"), (np.float64, "1e-75 and 1e")])
def test_data_beyond_the_range_of_products_are_refused(cls, mixtures, dtype, largest):
    """They gave a start that looked stationary, since its gradient had overflowed or vanished."""
    scale = 1e20 if dtype == np.float32 else 1e160
    for factor in (scale, 1 / scale):
        with pytest.raises(InputError, match=f"Multiply X by a constant that brings it between {largest}"):
            cls(3).fit((mixtures * factor).astype(dtype))


def test_the_graph_smooths_memberships(mixtures):
    rough = []
    for weight in (0.0, 1.0, 100.0):
        model = GraphNMF(3, graph_regularization=weight, random_state=0).fit(mixtures)
        S = model.graph_
        unit = model.membership_ / np.linalg.norm(model.membership_)
        L = sp.diags_array(S.sum(axis=1)) - S
        rough.append(np.trace(unit.T @ (L @ unit)))
    assert rough[0] > rough[1] > rough[2]


def test_without_weight_the_graph_changes_nothing(mixtures):
    plain = NMF(3, solver="hals", random_state=0).fit(mixtures)
    graph = GraphNMF(3, graph_regularization=0, random_state=0).fit(mixtures)
    np.testing.assert_allclose(graph.history_.objective[:-1], plain.history_.objective[:-1], rtol=1e-6)


def expression(noise, factor, seed=0):
    """Return samples of three kinds that share most of what they have, as cells do, and their kinds."""
    rng = np.random.RandomState(seed)
    kinds = np.repeat(np.arange(3), (20, 12, 8))
    profiles = rng.lognormal(0, 1, 100) * np.where(rng.rand(3, 100) < 0.15, factor, 1.0)
    X = profiles[kinds] * rng.lognormal(0, noise, (40, 100))
    return np.maximum(X - np.quantile(X, 0.3), 0), kinds


@pytest.fixture
def alike():
    return expression(0.5, 2.0)


@pytest.mark.parametrize("seed", [0, 1])
@pytest.mark.parametrize(("noise", "factor"), [(0.3, 2.0), (0.5, 2.0), (0.5, 4.0), (0.8, 4.0)])
def test_the_default_weight_of_the_graph_keeps_clusters_apart(noise, factor, seed):
    X, kinds = expression(noise, factor, seed)
    model, plain = (cls(3, random_state=0).fit(X) for cls in (GraphNMF, NMF))
    assert model.converged_ and model.n_iter_ < 300
    assert len(set(model.labels_)) == 3
    assert clustering_accuracy(kinds, model.labels_) >= clustering_accuracy(kinds, plain.labels_)


def test_a_heavy_graph_leaves_one_cluster(alike):
    assert len(set(GraphNMF(3, graph_regularization=10.0, random_state=0).fit(alike[0]).labels_)) == 1


def test_the_default_weight_of_the_graph_does_not_depend_on_units(alike):
    X, _ = alike
    S = GraphNMF(3, random_state=0, max_iter=1).fit(X).graph_
    model = GraphNMF(3, graph=S, random_state=0).fit(X)
    for x, s in [(1e-3, 1.0), (1e4, 1.0), (1.0, 50.0), (1e2, 1e-3)]:
        other = GraphNMF(3, graph=S * s, random_state=0).fit(X * x)
        assert other.graph_regularization_ * s == pytest.approx(model.graph_regularization_, rel=1e-3)
        np.testing.assert_array_equal(other.labels_, model.labels_)


def test_the_default_weight_of_the_graph_is_a_tenth_of_what_clusters_explain(alike):
    X, _ = alike
    model = GraphNMF(3, random_state=0).fit(X)
    one, many = (NMF(k, solver="hals", max_iter=100).fit(X) for k in (1, 3))
    L = sp.diags_array(model.graph_.sum(axis=1)) - model.graph_
    roughness = np.trace(many.membership_.T @ (L @ many.membership_))
    expected = 0.1 * (one.objective_ - many.objective_) / roughness
    assert model.graph_regularization_ == pytest.approx(expected, rel=0.05)
    # No clusters at all is worse than the clusters without the graph, so a descent from them keeps some.
    assert many.objective_ + model.graph_regularization_ * roughness < one.objective_


def test_a_graph_without_edges_and_a_single_cluster_have_no_weight(mixtures):
    for k, graph in [(3, sp.csr_array((80, 80))), (1, "nearest_neighbors")]:
        model = GraphNMF(k, graph=graph, random_state=0).fit(mixtures)
        assert model.graph_regularization_ == pytest.approx(0, abs=1e-6)


@pytest.mark.parametrize("kind", ["array", "sparse", "networkx"])
def test_a_graph_can_be_given(mixtures, kind):
    S = np.kron(np.eye(8), np.ones((10, 10))) - np.eye(80)
    given = {"array": S, "sparse": sp.coo_array(S), "networkx": nx.from_numpy_array(S)}[kind]
    model = GraphNMF(3, graph=given, graph_regularization=0.5, random_state=0).fit(mixtures)
    reference = GraphNMF(3, graph=S, graph_regularization=0.5, random_state=0).fit(mixtures)
    np.testing.assert_allclose(model.membership_, reference.membership_, rtol=1e-6, atol=1e-8)


@pytest.mark.parametrize("solver", SOLVERS)
def test_starts_are_those_of_every_solver(mixtures, solver):
    """The first objective of the history is that of the start."""
    first = [
        NMF(3, solver=name, init="random", max_iter=1, random_state=7).fit(mixtures).history_.objective[0]
        for name in ("bpp", solver)
    ]
    assert first[0] == first[1]


@pytest.mark.parametrize("cls", FAMILY)
def test_several_starts_keep_the_best(cls, mixtures):
    model = cls(3, init="random", n_init=4, random_state=0).fit(mixtures)
    assert model.inits_.shape == (4,) and len(set(model.inits_)) > 1
    assert model.objective_ == model.inits_.min()


def test_factors_can_be_given(mixtures):
    fitted = NMF(3, tol=1e-6, random_state=0).fit(mixtures)
    again = NMF(3, init=(fitted.membership_, fitted.components_.T), tol=1e-2).fit(mixtures)
    assert again.objective_ <= fitted.objective_ * (1 + 1e-9)
    with pytest.warns(RuntimeWarning, match="always the same"):
        NMF(3, init=(fitted.membership_, fitted.components_.T), n_init=3).fit(mixtures)


@pytest.mark.parametrize("cls", FAMILY)
def test_the_size_of_given_factors_does_not_matter(cls, mixtures):
    """From large ones every gradient looked small beside the first."""
    rng = np.random.RandomState(0)
    W, C = rng.random_sample((80, 3)), rng.random_sample((30, 3))
    model = cls(3, init=(W, C)).fit(mixtures)
    for size in (1e-6, 1e6):
        other = cls(3, init=(size * W, C)).fit(mixtures)
        assert other.relative_error_ == pytest.approx(model.relative_error_, rel=0.05)
    given = W.astype(np.float32), C.astype(np.float32)
    assert cls(3, init=given).fit(mixtures.astype(np.float32)).membership_.dtype == np.float32


def test_numpys_true_stops_too(mixtures):
    with pytest.warns(NotConvergedWarning, match="stopped by the callback after 2 iterations"):
        NMF(3, init="random", tol=0, callback=lambda p: np.bool_(p.iteration == 2)).fit(mixtures)


def test_callback_limits_and_reasons(mixtures):
    seen = []
    model = NMF(
        3, init="random", tol=0, callback=lambda p: seen.append(p) or p.iteration == 3, random_state=0
    )
    with pytest.warns(NotConvergedWarning, match="stopped by the callback after 3 iterations"):
        model.fit(mixtures)
    assert [p.iteration for p in seen] == [1, 2, 3] and not model.converged_
    with pytest.warns(NotConvergedWarning, match="max_iter=2"):
        NMF(3, init="random", tol=0, max_iter=2, random_state=0).fit(mixtures)
    with pytest.warns(NotConvergedWarning, match="time_limit=1e-09 s after 1 iterations"):
        NMF(3, init="random", tol=0, time_limit=1e-9, random_state=0).fit(mixtures)


def test_an_interrupt_keeps_what_was_found(mixtures):
    def interrupt(progress):
        if progress.iteration == 3:
            os.kill(os.getpid(), signal.SIGINT)

    model = NMF(3, solver="hals", init="random", tol=0, callback=interrupt, random_state=0)
    with pytest.warns(InterruptedWarning, match="NMF interrupted after 3 iterations; the result so far"):
        model.fit(mixtures)
    assert not model.converged_
    error = np.linalg.norm(mixtures - model.inverse_transform(model.membership_)) / np.linalg.norm(mixtures)
    assert model.relative_error_ == pytest.approx(error, rel=1e-9)
    np.testing.assert_array_equal(model.predict(mixtures), model.labels_)


def test_samples_without_entries_are_told_of(mixtures):
    X = mixtures.copy()
    X[5] = 0
    with pytest.warns(UserWarning, match="1 of 80 samples belong to no cluster"):
        model = NMF(3, random_state=0).fit(X)
    assert not model.membership_[5].any() and model.labels_[5] == -1


def test_names_and_frames(mixtures):
    frame = pd.DataFrame(mixtures, columns=[f"term{i}" for i in range(30)])
    model = NMF(3, random_state=0).set_output(transform="pandas").fit(frame)
    assert list(model.get_feature_names_out()) == ["nmf0", "nmf1", "nmf2"]
    assert list(model.transform(frame).columns) == ["nmf0", "nmf1", "nmf2"]


@pytest.mark.parametrize("cls", FAMILY)
@pytest.mark.parametrize("is_sparse", [False, True])
def test_what_was_given_may_be_changed_afterwards(cls, is_sparse, mixtures):
    X = sp.csr_array(mixtures) if is_sparse else mixtures.copy()
    rng = np.random.RandomState(0)
    init = rng.random_sample((80, 3)), rng.random_sample((30, 3))
    given = [array.copy() for array in init]
    model = cls(3, init=init).fit(X)
    for array, copy in zip(init, given, strict=True):
        np.testing.assert_array_equal(array, copy)
    answers = (
        lambda: model.transform(mixtures),
        lambda: model.transform(mixtures[::-1] / 2),
        lambda: model.inverse_transform(np.eye(3)),
    )
    before = [answer() for answer in answers]
    for array in (X.data if is_sparse else X, *init):
        array[:] = 0
    for answer, expected in zip(answers, before, strict=True):
        np.testing.assert_array_equal(answer(), expected)


@pytest.mark.parametrize("cls", FAMILY)
def test_a_fitted_model_holds_nothing_of_the_size_of_the_data(cls):
    X = sp.random_array((2000, 300), density=0.2, rng=np.random.default_rng(0), format="csr")
    model = cls(2, init="random", max_iter=3, tol=0, random_state=0).fit(X)
    assert len(pickle.dumps(model)) < X.data.nbytes
    copy = pickle.loads(pickle.dumps(model))
    np.testing.assert_array_equal(copy.transform(X[:50]), model.transform(X[:50]))


@pytest.mark.parametrize("cls", [NMF, SparseNMF, AffineNMF])
@pytest.mark.parametrize("solver", SOLVERS)
def test_no_dense_array_of_the_size_of_the_data(cls, solver):
    X = sp.random_array((3000, 4000), density=0.002, rng=np.random.default_rng(0), format="csr")
    tracemalloc.start()
    cls(3, solver=solver, max_iter=2, tol=0, random_state=0).fit(X)
    peak = tracemalloc.get_traced_memory()[1]
    tracemalloc.stop()
    assert peak < 0.15 * 8 * 3000 * 4000


@pytest.mark.parametrize(
    ("options", "error", "words"),
    [
        (
            {"solver": "newton"},
            OptionError,
            r"solver='newton' is not known. Choose one of 'active_set', 'bpp'",
        ),
        ({"init": "merge"}, OptionError, r"init='merge' is not known.*'random', 'spectral', or give a pair"),
        ({"init": np.ones((80, 3))}, InputError, r"pair of arrays \(W, C\), got ndarray"),
        (
            {"init": (np.ones((80, 3)), np.ones((3, 30)))},
            InputError,
            r"C of init.*\(30, 3\); got shape \(3, 30\)",
        ),
        ({"init": (-np.ones((80, 3)), np.ones((30, 3)))}, InputError, "W of init.*not negative"),
        ({"n_clusters": 81}, OptionError, "n_clusters=81 is not possible with n_samples=80"),
        ({"tol": -1}, OptionError, "tol=-1"),
        ({"n_init": 0}, OptionError, "n_init=0"),
        ({"callback": 3}, OptionError, "callback=3"),
    ],
)
def test_what_cannot_be_used_is_refused(mixtures, options, error, words):
    with pytest.raises(error, match=words):
        NMF(**{"n_clusters": 3, **options}).fit(mixtures)


def test_negative_data_are_refused_by_name(mixtures):
    for X in (mixtures - 1, sp.csr_array(mixtures - 1)):
        with pytest.raises(InputError, match="Negative values in data passed to AffineNMF"):
            AffineNMF(3).fit(X)
    with pytest.raises(InputError, match="Negative values"):
        NMF(3).fit(mixtures).transform(-mixtures)


def test_options_of_the_variants_are_checked(mixtures):
    with pytest.raises(OptionError, match="sparsity=-1"):
        SparseNMF(3, sparsity=-1).fit(mixtures)
    with pytest.raises(OptionError, match="ridge=-1"):
        SparseNMF(3, ridge=-1).fit(mixtures)
    with pytest.raises(OptionError, match="graph_regularization=-1"):
        GraphNMF(3, graph_regularization=-1).fit(mixtures)
    with pytest.raises(OptionError, match=r"graph_regularization='much' is not known.*or give a number"):
        GraphNMF(3, graph_regularization="much").fit(mixtures)
    with pytest.raises(CombinationError, match=r"Bpp needs separate rows.*'hals'"):
        GraphNMF(3, solver="bpp").fit(mixtures)
    with pytest.raises(InputError, match="The graph has 5 nodes, but X has 80 samples"):
        GraphNMF(3, graph=np.ones((5, 5))).fit(mixtures)
    with pytest.raises(CombinationError, match="graph_params"):
        GraphNMF(3, graph=np.ones((80, 80)), graph_params={"n_neighbors": 3}).fit(mixtures)
    for name in ("knn", "precomputed"):
        with pytest.raises(
            OptionError, match=rf"graph='{name}' is not known.*'self_tuning', or give the simil"
        ):
            GraphNMF(3, graph=name).fit(mixtures)
    with pytest.raises(OptionError, match=r"graph_params=.'k': 3. does not fit graph='cosine'"):
        GraphNMF(3, graph="cosine", graph_params={"k": 3}).fit(mixtures)
    with pytest.raises(InputError, match="not symmetric"):
        GraphNMF(3, graph=np.triu(np.ones((80, 80)))).fit(mixtures)


def test_memberships_of_a_wrong_width_are_refused(mixtures):
    model = NMF(3, random_state=0).fit(mixtures)
    with pytest.raises(InputError, match="Memberships have 4 columns; expected one for each of the 3"):
        model.inverse_transform(np.ones((2, 4)))


def test_multiplicative_updates_may_end_as_printed(mixtures):
    """Without the exact last step memberships have no zeros, and fit no better."""
    options = {"init": "random", "max_iter": 40, "tol": 0.0, "random_state": 0}
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", NotConvergedWarning)
        printed = NMF(3, solver="multiplicative_as_printed", **options).fit(mixtures)
        ours = NMF(3, solver="multiplicative", **options).fit(mixtures)
    np.testing.assert_array_equal(printed.components_, ours.components_)
    assert printed.membership_.min() > 0
    assert printed.objective_ > ours.objective_
    np.testing.assert_array_equal(printed.transform(mixtures), ours.membership_)
    error = np.linalg.norm(mixtures - printed.inverse_transform(printed.membership_)) ** 2
    assert printed.objective_ == pytest.approx(error, rel=1e-9)


def test_graph_regularised_updates_are_those_of_the_paper(mixtures):
    """Cai and others (2011), (14) and (15), and columns of length 1 at the end."""
    rng = np.random.default_rng(0)
    n, d = mixtures.shape
    V, U, S = rng.random((n, 3)), rng.random((d, 3)), np.triu(rng.random((n, n)) < 0.2, 1).astype(float)
    S += S.T
    # The scale that given factors are brought to: it matters here.
    ratio = np.sqrt(np.linalg.norm(U, axis=0) / np.linalg.norm(V, axis=0))
    size = np.sqrt(np.sum(mixtures * (V @ U.T)) / np.sum((V @ U.T) ** 2))
    V, U = V * ratio * size, U / ratio * size
    options = {"init": (V, U), "max_iter": 30, "tol": 0.0}
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", NotConvergedWarning)
        model = GraphNMF(
            3, graph=S, graph_regularization=2.0, scaled=False, solver="multiplicative_as_printed", **options
        ).fit(mixtures)
    for _ in range(30):
        U = U * (mixtures.T @ V) / (U @ V.T @ V)
        V = V * (mixtures @ U + 2 * S @ V) / (V @ U.T @ U + 2 * S.sum(axis=1)[:, None] * V)
    lengths = np.linalg.norm(U, axis=0)
    np.testing.assert_allclose(model.components_, (U / lengths).T, rtol=1e-9)
    np.testing.assert_allclose(model.membership_, V * lengths, rtol=1e-9)
