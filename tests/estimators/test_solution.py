"""What is known of the solution, and when and why it stopped."""

import warnings

import numpy as np
import pytest
from scipy import sparse

from symclust import SymNMF, registry
from symclust.exceptions import InputError, NotConvergedWarning

A = np.random.RandomState(0).random_sample((30, 30))
A = np.kron(np.eye(3), np.full((10, 10), 2.0)) + A + A.T
SOLVERS = pytest.mark.parametrize("solver", registry.options("solvers"))
# A rotation of eigenvectors has a goal of its own, and knows nothing of sparsity; nor do single columns.
DESCENTS = pytest.mark.parametrize("solver", sorted({*registry.options("solvers")} - {"procrustes"}))
SPARSE = sorted({*registry.options("solvers")} - {"procrustes", "columnwise"})


def model(**options):
    return SymNMF(3, **{"affinity": "precomputed", "random_state": 0, **options})


def gradient(A, H, sparsity=0.0):
    return 4 * (H @ H.T @ H - A @ H + sparsity * H.sum(axis=1, keepdims=True))


@pytest.mark.parametrize(
    ("solver", "sparsity"),
    [*((name, 0.5) for name in SPARSE), *((name, 0.0) for name in [*SPARSE, "columnwise"])],
)
@pytest.mark.parametrize("form", [np.asarray, sparse.csr_array])
def test_all_residuals_against_numpy(solver, sparsity, form):
    fitted = model(solver=solver, sparsity=sparsity, tol=1e-2).fit(form(A))
    H, found = fitted.membership_, fitted.optimality()
    D = gradient(A, H, sparsity)
    projected = np.where(H > 0, D, np.minimum(D, 0))
    assert H.min() >= 0
    assert found.primal_infeasibility == 0
    assert found.dual_infeasibility == pytest.approx(max(0, -D[H == 0].min(initial=0)), abs=1e-9)
    assert found.complementarity == pytest.approx(np.abs(H * D).max(), abs=1e-9)
    assert found.projected_gradient == pytest.approx(np.linalg.norm(projected), rel=1e-6, abs=1e-9)
    misfit = np.square(A - H @ H.T).sum()
    assert found.objective == pytest.approx(misfit + 2 * sparsity * np.square(H.sum(axis=1)).sum())
    assert fitted.objective_ == pytest.approx(found.objective)
    assert fitted.relative_error_ == pytest.approx(np.sqrt(misfit / np.square(A).sum()))
    assert found.relative_projected_gradient == pytest.approx(fitted.history_.stationarity[-1])
    assert found.relative_projected_gradient <= fitted.tol


def test_stationarity_is_relative_to_the_given_start():
    H = np.random.RandomState(1).random_sample((30, 3))
    fitted = model(init=H, tol=1e-4).fit(A)
    D = gradient(A, H)
    found = fitted.optimality()
    assert found.relative_projected_gradient == pytest.approx(found.projected_gradient / np.linalg.norm(D))


def test_optimality_is_that_of_the_fit():
    fitted = model(sparsity=0.5).fit(A)
    found = fitted.optimality()
    assert fitted.set_params(sparsity=9.0).optimality() == found


@SOLVERS
def test_history(solver):
    history = model(solver=solver, n_init=2, init="random").fit(A).history_
    assert history.dtype.names == ("iteration", "seconds", "objective", "stationarity")
    np.testing.assert_array_equal(history.iteration, np.arange(len(history)))
    assert (np.diff(history.seconds) >= 0).all()
    assert history.stationarity[0] == pytest.approx(1)
    assert history.objective[-1] < history.objective[0]
    # Some descend on the coupled objective, one on the largest of the last ten values.
    if solver not in ("anls", "hals", "barzilai_borwein"):
        assert (np.diff(history.objective) <= 1e-9 * history.objective[0]).all()


@SOLVERS
def test_convergence_is_told_in_words(solver):
    fitted = model(solver=solver).fit(A)
    assert fitted.converged_
    assert fitted.stop_reason_.startswith("converged: stationarity ")
    assert f"after {fitted.n_iter_} iterations (tol 1.0e-02)" in fitted.stop_reason_
    assert fitted.n_iter_ == fitted.history_.iteration[-1]


@SOLVERS
def test_stopping_at_max_iter_warns(solver):
    with pytest.warns(NotConvergedWarning, match=r"SymNMF stopped at max_iter=2 with stationarity .*\(tol"):
        fitted = model(solver=solver, init="random", max_iter=2, tol=1e-12).fit(A)
    assert (fitted.n_iter_, fitted.converged_, len(fitted.history_)) == (2, False, 3)


def test_the_warning_points_to_the_line_of_the_user():
    with pytest.warns(NotConvergedWarning) as caught:
        model(max_iter=1, tol=1e-12).fit(A)
    assert caught[0].filename == __file__


@SOLVERS
def test_stopping_at_a_time_limit_warns(solver):
    with pytest.warns(NotConvergedWarning, match=r"stopped at time_limit=1e-09 s after 1 iterations"):
        fitted = model(solver=solver, init="random", time_limit=1e-9, tol=1e-12).fit(A)
    assert fitted.membership_.shape == (30, 3)


@pytest.mark.filterwarnings("ignore::symclust.exceptions.NotConvergedWarning")
@DESCENTS
def test_a_callback_sees_every_iteration_of_every_start_and_may_stop(solver):
    seen = []

    def callback(progress):
        seen.append(progress)
        return progress.iteration == 3

    fitted = model(solver=solver, init="random", n_init=2, tol=1e-12, callback=callback).fit(A)
    assert [(p.iteration, p.start) for p in seen] == [(i, s) for i in (1, 2, 3) for s in (0, 1)]
    assert fitted.stop_reason_ == "stopped by the callback after 3 iterations"
    assert not fitted.converged_
    kept = int(fitted.inits_.argmin())
    np.testing.assert_allclose(
        fitted.history_.objective[1:], [p.objective for p in seen if p.start == kept], rtol=1e-9
    )


def test_only_true_stops():
    assert model(callback=lambda progress: "go on").fit(A).converged_


def test_stationary_from_the_start():
    fitted = model(init=np.kron(np.eye(3), np.ones((10, 1)))).fit(np.kron(np.eye(3), np.ones((10, 10))))
    assert (fitted.stop_reason_, fitted.n_iter_, fitted.converged_) == ("stationary from the start", 0, True)


@SOLVERS
@pytest.mark.parametrize("n", [8, 32])
@pytest.mark.filterwarnings("error")
def test_an_exact_start_is_done_soon(solver, n):
    # Its gradient is rounding; relative to itself it would never become small.
    exact = SymNMF(n, affinity="precomputed", init="spectral", solver=solver).fit(np.eye(n) + 0.01)
    assert exact.converged_
    assert exact.n_iter_ < 20


@pytest.mark.filterwarnings("ignore::symclust.exceptions.NotConvergedWarning")
@pytest.mark.parametrize("solver", SPARSE)
@pytest.mark.parametrize("form", [np.asarray, sparse.csr_array])
def test_more_sparsity_gives_fewer_nonzeros(solver, form):
    counts, objectives = [], []
    for sparsity in (0.0, 5.0, 40.0):
        fitted = model(solver=solver, sparsity=sparsity, init="random", tol=1e-4, max_iter=300).fit(form(A))
        H = fitted.membership_
        counts.append(np.count_nonzero(H / H.max() > 1e-3))
        objectives.append(fitted.objective_)
    assert counts[0] > counts[1] >= counts[2]
    assert objectives == sorted(objectives)


@pytest.mark.parametrize("solver", ["anls", "hals"])
def test_every_coupling_ends_at_a_stationary_point(solver):
    iterations = []
    for coupling in ("auto", "increasing", 50.0, 500.0):
        fitted = model(solver=solver, coupling=coupling, tol=1e-3).fit(A)
        assert fitted.converged_
        assert np.linalg.norm(np.minimum(fitted.membership_, gradient(A, fitted.membership_))) < 1
        iterations.append(fitted.n_iter_)
    assert iterations[3] > iterations[0]  # a heavy coupling allows small steps only


@pytest.mark.filterwarnings("error")
@pytest.mark.parametrize("size", [1e-12, 1e13])
@pytest.mark.parametrize("dtype", [np.float32, np.float64])
@SOLVERS
def test_clusters_do_not_depend_on_the_scale(solver, dtype, size):
    """In single precision squares of entries of AH, of size ‖A‖^1.5, would overflow."""
    plain, scaled = (model(solver=solver).fit((factor * A).astype(dtype)) for factor in (1, size))
    assert scaled.relative_error_ == pytest.approx(plain.relative_error_, rel=1e-2)
    np.testing.assert_array_equal(scaled.labels_, plain.labels_)


@pytest.mark.parametrize(("dtype", "size"), [(np.float32, 1e-25), (np.float32, 1e25), (np.float64, 1e120)])
def test_numbers_too_large_or_small_to_be_multiplied_are_refused(dtype, size):
    with pytest.raises(InputError, match=r"of size ‖A‖ = .*Multiply it by a constant"):
        model().fit((size * A).astype(dtype))


@pytest.mark.filterwarnings("ignore::sklearn.exceptions.ConvergenceWarning")
def test_too_few_nonnegative_eigenvalues_are_named():
    complete = np.ones((12, 12)) - np.eye(12)  # one positive eigenvalue, all others are -1
    with pytest.warns(UserWarning, match="1 nonnegative eigenvalues, fewer than the 3 clusters"):
        SymNMF(3, affinity="precomputed", random_state=0).fit(complete)
    for blocks in (3, 2):  # eigenvalues of zero count
        with warnings.catch_warnings(record=True) as caught:
            warnings.simplefilter("always")
            SymNMF(3, affinity="precomputed", random_state=0).fit(np.kron(np.eye(blocks), np.ones((4, 4))))
        assert not any("eigenvalues" in str(one.message) for one in caught)
