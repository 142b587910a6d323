"""LeftStochastic as a user meets it."""

import itertools
import os
import signal
import warnings

import numpy as np
import pytest
from numpy.testing import assert_allclose, assert_array_equal
from scipy import sparse
from sklearn.utils.estimator_checks import parametrize_with_checks
from threadpoolctl import threadpool_limits

from symclust import HierarchicalLeftStochastic, LeftStochastic
from symclust.constraints import project_simplex
from symclust.exceptions import CombinationError, InputError, NotConvergedWarning, OptionError
from symclust.left_stochastic import freedom
from symclust.metrics import clustering_accuracy

CENTRED = "gives a centred kernel, whose rows add up to zero: no plane away from the origin fits it"
UNSUITED = {
    "check_clustering": "gives samples × features where a square similarity is due",
    "check_transformer_data_not_an_array": CENTRED,
    "check_transformer_general": CENTRED,
    "check_transformer_preserve_dtypes": CENTRED,
}


@parametrize_with_checks(
    [
        LeftStochastic(),
        LeftStochastic(solver="multiplicative", n_init=2, max_iter=50),
        LeftStochastic(affinity="precomputed"),
    ],
    expected_failed_checks=lambda model: UNSUITED if model.affinity == "precomputed" else {},
)
@pytest.mark.filterwarnings("ignore")
def test_scikit_learns_own_checks(estimator, check):
    check(estimator)


@pytest.fixture(scope="module")
def factor():
    return np.random.default_rng(0).dirichlet(np.full(3, 0.3), 60)


@pytest.mark.parametrize("solver", ["rotation", "multiplicative"])
def test_memberships_are_probabilities_and_the_objective_is_3(factor, solver):
    K = factor @ np.diag([1.0, 1.5, 2.0]) @ factor.T
    options = {"affinity": "precomputed", "n_init": 2, "max_iter": 3000, "random_state": 0}
    model = LeftStochastic(3, solver=solver, **options).fit(K)
    P = model.membership_
    assert P.min() >= 0
    assert_allclose(P.sum(axis=1), 1, rtol=1e-10)
    squared = np.linalg.norm(K - P @ P.T / model.scale_) ** 2
    assert model.objective_ == pytest.approx(squared, rel=1e-8)
    assert model.relative_error_ == pytest.approx(np.sqrt(squared) / np.linalg.norm(K), rel=1e-8)
    assert_array_equal(model.labels_, P.argmax(axis=1))
    assert model.objective_ == model.inits_.min()
    assert "converged" in model.stop_reason_


def test_the_multiplicative_solver_descends_to_a_stationary_point(factor):
    K = factor @ np.diag([1.0, 1.5, 2.0]) @ factor.T
    options = {"affinity": "precomputed", "random_state": 0, "n_init": 2, "tol": 1e-5, "max_iter": 20_000}
    model = LeftStochastic(3, solver="multiplicative", **options).fit(K)
    assert np.all(np.diff(model.history_.objective) <= 1e-12 * np.sum(K**2))
    P, c, step = model.membership_, model.scale_, 1e-6
    value = lambda P: np.linalg.norm(K - P @ P.T / c) ** 2  # noqa: E731
    # Moving a little probability from one cluster to another gains nothing, wherever there is any to move.
    for i in range(0, 60, 7):
        for a, b in [(0, 1), (1, 0), (0, 2), (2, 0), (1, 2), (2, 1)]:
            if P[i, a] > 1e-2:
                moved = P.copy()
                moved[i, [a, b]] += [-step, step]
                assert (value(moved) - value(P)) / step > -1e-2


def test_unseen_samples_get_the_nearest_point_of_the_simplex(factor):
    K = 4 * factor @ factor.T
    model = LeftStochastic(3, affinity="precomputed", random_state=0).fit(K)
    new = np.array([[0.2, 0.5, 0.3], [1.0, 0.0, 0.0]])
    placed = model.transform(4 * new @ factor.T)
    order = [int(np.abs(model.membership_[:, [j]] - factor).sum(axis=0).argmin()) for j in range(3)]
    assert_allclose(placed, new[:, order], atol=1e-6)
    assert_array_equal(model.transform(K), model.membership_)


def test_indefinite_similarities_are_cut_with_a_warning_that_says_how_much(factor):
    K = factor @ factor.T - 0.5 * np.eye(60)
    with pytest.warns(
        UserWarning, match=r"down to -0\.5.*LeftStochastic cuts: about .* % of its squared norm"
    ):
        model = LeftStochastic(2, affinity="precomputed", random_state=0).fit(K)
    values, vectors = np.linalg.eigh(K)
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        cut = LeftStochastic(2, affinity="precomputed", random_state=0).fit(
            (vectors * values.clip(0)) @ vectors.T
        )
    assert_allclose(model.membership_, cut.membership_, atol=1e-9)


def test_the_hierarchical_form_says_so_once(factor):
    K = factor @ factor.T - 0.5 * np.eye(60)
    with pytest.warns(UserWarning, match=r"down to -0\.5.*HierarchicalLeftStochastic cuts: about") as said:
        HierarchicalLeftStochastic(4, affinity="precomputed").fit(K)
    assert len(said) == 1 and said[0].filename == __file__


@pytest.mark.parametrize("model", [LeftStochastic(3, random_state=0), HierarchicalLeftStochastic(3)])
def test_no_warning_for_graphs_that_symclust_makes(model, blobs):
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        model.fit(blobs[0])
    assert clustering_accuracy(blobs[1], model.labels_) == 1


def test_negative_similarities_are_welcome(factor):
    K = np.where(np.equal.outer(np.arange(40) % 2, np.arange(40) % 2), 1.0, -0.2) + 0.1 * np.eye(40)
    model = LeftStochastic(2, affinity="precomputed").fit(K)
    assert clustering_accuracy(np.arange(40) % 2, model.labels_) == 1


def test_similarities_whose_squares_are_zero(factor):
    model = LeftStochastic(3, affinity="precomputed", random_state=0).fit(1e-200 * factor @ factor.T)
    assert clustering_accuracy(factor.argmax(axis=1), model.labels_) == 1
    assert np.isnan(model.relative_error_)


@pytest.mark.parametrize("cls", [LeftStochastic, HierarchicalLeftStochastic])
@pytest.mark.parametrize(("dtype", "size"), [(np.float64, 1e-320), (np.float32, 1e-40)])
def test_similarities_without_digits_are_refused(factor, cls, dtype, size):
    """They ended in an SVD that did not converge."""
    with pytest.raises(InputError, match="The similarity is too small: its largest entry is"):
        cls(3, affinity="precomputed").fit((size * factor @ factor.T).astype(dtype))


@pytest.mark.parametrize(("dtype", "size"), [(np.float64, 3e-308), (np.float32, 2e-38)])
def test_a_scale_that_overflows_is_refused(dtype, size):
    """It is a sum over the inverse eigenvalues: of the smallest numbers it has no counterpart."""
    with pytest.raises(InputError, match=r"scale c\*.*overflows.*Multiply it by a constant"):
        LeftStochastic(10, affinity="precomputed").fit(np.diag(np.full(12, size, dtype)))


@pytest.mark.parametrize("solver", ["rotation", "multiplicative"])
def test_small_similarities_are_factored_or_refused_by_name(factor, solver):
    """In single precision the descent at this size ended with an error above one."""
    K = (1e-30 * factor @ factor.T).astype(np.float32)
    model = LeftStochastic(3, affinity="precomputed", solver=solver, random_state=0)
    if solver == "multiplicative":
        with pytest.raises(InputError, match=r"The similarity is of size.*Multiply it by a constant"):
            model.fit(K)
    else:
        assert model.fit(K).relative_error_ < 1e-3


@pytest.mark.parametrize("k", [3, 20])  # starts in one batch, and a batch for each, on other threads
def test_an_interrupt_ends_the_rotation_and_leaves_the_model_as_it_was(k, monkeypatch):
    # Its next number goes to one thread alone, which a length asked for later does not.
    calls = itertools.count()

    def project(Q):
        if next(calls) == 10:
            os.kill(os.getpid(), signal.SIGINT)
        return project_simplex(Q)

    monkeypatch.setattr("symclust.left_stochastic.descent.project_simplex", project)
    monkeypatch.setattr("symclust.left_stochastic.descent._Batch._judge", lambda *_: True)  # never done
    P = np.random.default_rng(0).dirichlet(np.full(k, 0.3), 1000)
    model = LeftStochastic(k, affinity="precomputed", max_iter=20_000, random_state=0)
    with pytest.raises(KeyboardInterrupt):
        model.fit(P @ P.T)
    # Fewer than a single start would have made; a busy machine hears signals late.
    assert next(calls) < 20_000
    assert not hasattr(model, "labels_")


@pytest.mark.parametrize("affinity", ["precomputed", "nearest_neighbors", "cosine"])
def test_what_was_given_may_be_changed_afterwards(factor, affinity):
    X = factor @ factor.T
    model = LeftStochastic(3, affinity=affinity, random_state=0).fit(X)
    new = np.random.default_rng(1).permuted(X[:10], axis=1)
    before = model.transform(new), model.predict(factor @ factor.T)
    X[:] = 0
    assert_array_equal(model.transform(new), before[0])
    assert_array_equal(model.predict(factor @ factor.T), before[1])


def test_one_cluster():
    model = LeftStochastic(1, affinity="precomputed").fit(np.ones((5, 5)))
    assert_array_equal(model.membership_, np.ones((5, 1)))
    assert model.objective_ == pytest.approx(0, abs=1e-12)


def test_sparse_and_dense_agree(factor):
    K = factor @ factor.T
    dense, csr = (
        LeftStochastic(3, affinity="precomputed", random_state=0).fit(M) for M in (K, sparse.csr_array(K))
    )
    assert sparse.issparse(csr.affinity_matrix_)
    assert clustering_accuracy(dense.labels_, csr.labels_) == 1


def test_the_same_bits_on_one_thread_and_on_two():
    X = np.random.default_rng(0).normal(size=(1500, 4))
    models = []
    for threads in (1, 2):
        with threadpool_limits(threads):
            models.append(LeftStochastic(4, random_state=0).fit(X))
    assert_array_equal(models[0].membership_, models[1].membership_)


def test_too_few_iterations_are_reported(factor):
    K = factor @ np.diag([1.0, 1.5, 2.0]) @ factor.T
    with pytest.warns(NotConvergedWarning, match="max_iter") as warned:
        LeftStochastic(3, affinity="precomputed", solver="multiplicative", max_iter=2).fit(K)
    assert warned[0].filename == __file__  # the line that called fit


@pytest.mark.parametrize(
    ("options", "error", "words"),
    [
        ({"solver": "magic"}, OptionError, "'rotation', 'multiplicative'"),
        ({"n_init": 0}, OptionError, "n_init=0"),
        ({"tol": -1}, OptionError, "tol=-1"),
        ({"n_clusters": 9}, InputError, "needs a similarity with 9 positive eigenvalues; this one, .* has 3"),
    ],
)
@pytest.mark.filterwarnings("ignore")
def test_refusals(factor, options, error, words):
    with pytest.raises(error, match=words):
        LeftStochastic(**{"n_clusters": 3, "affinity": "precomputed"} | options).fit(factor @ factor.T)


def test_the_update_as_printed_stops_short_of_a_stationary_point(factor):
    K = factor @ np.diag([1.0, 1.5, 2.0]) @ factor.T
    options = {"affinity": "precomputed", "random_state": 0, "n_init": 2, "tol": 1e-6, "max_iter": 2000}
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", NotConvergedWarning)
        printed = LeftStochastic(3, solver="multiplicative_as_printed", **options).fit(K)
        ours = LeftStochastic(3, solver="multiplicative", **options).fit(K)
    assert_allclose(printed.membership_.sum(axis=1), 1, rtol=1e-10)
    squared = np.linalg.norm(K - printed.membership_ @ printed.membership_.T / printed.scale_) ** 2
    assert printed.objective_ == pytest.approx(squared, rel=1e-8)
    assert printed.objective_ > 1.01 * ours.objective_


@pytest.mark.parametrize("k", [1, 2, 3, 4])
@pytest.mark.parametrize("solver", ["rotation", "multiplicative"])
def test_error_parts_are_those_of_the_whole_matrices(k, solver):
    rng = np.random.default_rng(k)
    F = rng.dirichlet(np.full(k, 0.3), size=40)
    K = 2.5 * F @ F.T + 0.02 * (noise := rng.normal(size=(40, 40))) + 0.02 * noise.T
    options = {"affinity": "precomputed", "random_state": 0, "max_iter": 50}
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        model = LeftStochastic(k, solver=solver, **options).fit(K)
    values, vectors = np.linalg.eigh(K)
    M = vectors[:, -k:] * np.sqrt(values[-k:])
    normal = np.linalg.solve(M.T @ M, M.T @ np.ones(40))
    Z = M + np.outer(1 - M @ normal, normal) / (normal @ normal)  # least squares: M n = 1 for all points
    steps = [K - M @ M.T, M @ M.T - Z @ Z.T, Z @ Z.T - model.membership_ @ model.membership_.T / model.scale_]
    parts = model.error_parts()
    for name, step in zip(("rank", "plane", "simplex"), steps, strict=True):
        assert getattr(parts, name) == pytest.approx(np.sum(step**2), rel=1e-6, abs=1e-9)
    for name, (i, j) in {
        "rank_and_simplex": (0, 2),
        "rank_and_plane": (0, 1),
        "plane_and_simplex": (1, 2),
    }.items():
        assert getattr(parts, name) == pytest.approx(2 * np.sum(steps[i] * steps[j]), rel=1e-6, abs=1e-9)
    assert parts.total == pytest.approx(model.objective_, rel=1e-9)


@pytest.mark.parametrize("seed", range(4))
def test_freedom_by_turning_in_small_steps(seed):
    P = np.random.default_rng(seed).dirichlet(np.full(3, 1.5), size=7)
    axis = np.full((3, 3), 1 / 3)
    cross = np.array([[0, -1, 1], [1, 0, -1], [-1, 1, 0]]) / np.sqrt(3)
    found, size = freedom(P, 1e-9), 1e-4
    for sign, side in ((1, "anticlockwise"), (-1, "clockwise")):
        first = {}
        for angle in np.arange(size, 2 * np.pi / 3, size):
            turn = np.cos(angle) * np.eye(3) + (1 - np.cos(angle)) * axis + sign * np.sin(angle) * cross
            Q = P @ turn.T
            if Q.min() < 0:
                first.setdefault("outside", angle)
            if np.any(Q.argmax(axis=1) != P.argmax(axis=1)):
                first.setdefault("border", angle)
        expected = {name: getattr(found, f"{name}_{side}") for name in ("outside", "border")}
        for name, angle in first.items():
            assert angle == pytest.approx(expected[name], abs=2 * size), (side, name)
    assert found.is_enough == (
        found.outside_clockwise < found.border_clockwise
        and found.outside_anticlockwise < found.border_anticlockwise
    )


def test_freedom_is_for_three_clusters():
    model = LeftStochastic(2, affinity="precomputed").fit(np.kron(np.eye(2), np.ones((3, 3))))
    with pytest.raises(CombinationError, match="The rotations of 2 clusters are not angles"):
        model.freedom()
