"""Ctrl-C on the loop: what is kept, what is said of it, and when there is nothing to keep.

The signals are real: sent from inside a product, a sweep or a callback, and once by another thread.
"""

import os
import signal
import threading

import numpy as np
import pytest
from scipy import sparse

from symclust import NMF, OffDiagonalSymNMF, SymmetricFactorization, SymNMF, registry
from symclust.datasets import planted_partition
from symclust.exceptions import InterruptedWarning, NotConvergedWarning
from symclust.operators import Dense, Operator
from symclust.solvers import Control, RowDescent, run
from symclust.starts import Setting, solve

N, K = 96, 3


def press():
    """Send SIGINT; Python raises KeyboardInterrupt before the next line."""
    signal.raise_signal(signal.SIGINT)


class Pressed(Dense):
    """A dense A; Ctrl-C is pressed at the given calls for products and for blocks of rows."""

    def __init__(self, A, products=(), blocks=()):
        super().__init__(A)
        self.products, self.blocks = list(products), list(blocks)
        self.n_products = self.n_blocks = 0

    def _product(self, H):
        self.n_products += 1
        if self.n_products in self.products:
            press()
        return super()._product(H)

    def block(self, rows):
        self.n_blocks += 1
        if self.n_blocks in self.blocks:
            press()
        return super().block(rows)


def similarity(seed=0):
    rng = np.random.default_rng(seed)
    A = rng.uniform(size=(N, N)) + 3 * np.kron(np.eye(K), np.ones((N // K, N // K)))
    return A + A.T


def brute_force(A, H):
    return np.square(A - H @ H.T).sum()


def is_consistent(result, A):
    """What is said of H is true of H."""
    assert result.objective == pytest.approx(brute_force(A, result.H), rel=1e-10)
    assert result.history.objective[-1] == result.objective
    assert result.history.stationarity[-1] == result.stationarity
    gradient = 4 * (result.H @ (result.H.T @ result.H) - A @ result.H)
    projected = np.where(result.H > 0, gradient, np.minimum(gradient, 0))
    assert result.stationarity == pytest.approx(np.linalg.norm(projected) / result.reference, rel=1e-8)


def descend(as_problem, operator, solver="row_descent", starts=1, **control):
    H = [np.random.default_rng(s).uniform(0.1, 1, size=(N, K)) for s in range(starts)]
    options = {"tol": 0.0, "max_iter": 10, **control}
    return run(as_problem(operator), registry.resolve("solvers", solver)(), H, Control(**options))


@pytest.mark.parametrize("sweeps", [0, 1, 4])
def test_in_the_middle_of_a_sweep(as_problem, sweeps):
    A = similarity()
    first = np.random.default_rng(0).uniform(0.1, 1, size=(N, K))
    before = descend(as_problem, Dense(A), max_iter=sweeps)[0].H if sweeps else first
    # A sweep over 96 rows takes 6 blocks: the signal comes when half of H has changed.
    result = descend(as_problem, Pressed(A, blocks=[6 * sweeps + 4]))[0]
    assert result.interrupted
    assert not result.converged
    assert result.stop_reason == f"interrupted after {sweeps} iterations; the result so far is kept"
    assert result.n_iter == sweeps
    assert np.all(np.any(before != result.H, axis=1) == (np.arange(N) < 48))
    is_consistent(result, A)
    assert result.objective < brute_force(A, before)


@pytest.mark.parametrize("solver", registry.options("solvers"))
def test_in_the_middle_of_any_solver(as_problem, solver):
    A = similarity()
    operator = Pressed(A, products=[5], blocks=[16])
    result = descend(as_problem, operator, solver)[0]
    if operator.n_products >= 5 or operator.n_blocks >= 16:
        assert result.interrupted
        assert result.stop_reason.startswith("interrupted after")
    else:
        assert solver in ("coordinate", "procrustes")  # they read columns, or settle before
    is_consistent(result, A)


def test_while_the_first_point_is_measured(as_problem):
    A = similarity()
    result = descend(as_problem, Pressed(A, products=[1]))[0]
    assert result.stop_reason == "interrupted after 0 iterations; the result so far is kept"
    assert result.reference > 0
    is_consistent(result, A)


def test_while_the_last_point_is_measured(as_problem):
    A = similarity()
    # Row descent asks for the product of the first point and of the last.
    result = descend(as_problem, Pressed(A, products=[2]), max_iter=3)[0]
    assert result.interrupted
    assert result.stop_reason.startswith("stopped at max_iter=3")
    assert result.stop_reason.endswith("; then the run was interrupted")
    is_consistent(result, A)


def test_several_starts_are_all_kept(as_problem):
    A = similarity()
    for result in descend(as_problem, Pressed(A, blocks=[16]), starts=3):
        assert result.interrupted
        assert "interrupted after 2 iterations" in result.stop_reason
        is_consistent(result, A)


def test_a_start_that_had_converged_says_both(as_problem):
    A, pressed = similarity(), []
    near = descend(as_problem, Dense(A), tol=1e-9, max_iter=3000)[0]
    far = np.random.default_rng(7).uniform(0.1, 1, size=(N, K))

    def callback(progress):
        if not pressed and progress.start == 1 and progress.iteration == 3:
            pressed.append(True)
            press()

    control = Control(tol=1e-6, callback=callback)
    problem, solver = as_problem(Dense(A)), registry.resolve("solvers", "row_descent")()
    first, second = run(problem, solver, [near.H, far], control, [near.reference] * 2)
    assert (first.converged, first.interrupted) == (True, True)
    assert first.stop_reason == "stationary from the start; then the run was interrupted"
    assert (second.converged, second.interrupted) == (False, True)
    is_consistent(second, A)


def test_a_second_one_is_raised(as_problem):
    # The first in the third sweep, the second while the point that is left is measured.
    with pytest.raises(KeyboardInterrupt):
        descend(as_problem, Pressed(similarity(), products=[2], blocks=[16]))


# The starts -------------------------------------------------------------------------------------------------


def start(as_problem, operator, init="merge", n_init=1):
    control, rng = Control(tol=1e-3), np.random.RandomState(0)
    return solve(init, Setting(as_problem(operator), RowDescent(), control, K, n_init, rng))


@pytest.mark.parametrize("n_init", [1, 3])
@pytest.mark.parametrize("block", [3, 40])
def test_in_the_first_descent_of_merge(as_problem, block, n_init):
    A = similarity()
    operator = Pressed(A, blocks=[block])
    results, points = start(as_problem, operator, n_init=n_init)
    assert operator.n_blocks == block  # nothing is swept after the signal
    for result, point in zip(results, points, strict=True):
        assert result.H.shape == (N, K)
        assert len(point.merge_path) == K
        assert result.interrupted
        assert not result.converged
        assert result.stop_reason == "interrupted while the start was made; what there was of it is kept"
        assert result.n_iter == 0
        is_consistent(result, A)


def test_a_second_one_while_merging_is_raised(as_problem):
    with pytest.raises(KeyboardInterrupt):  # the fourth product is the first of the merging
        start(as_problem, Pressed(similarity(), products=[4], blocks=[9]))


@pytest.mark.parametrize("init", ["spectral", "nndsvd"])
def test_without_k_columns_there_is_nothing_to_keep(as_problem, init, monkeypatch):
    monkeypatch.setattr(Operator, "eigsh", lambda *args, **options: press())
    with pytest.raises(KeyboardInterrupt):
        start(as_problem, Dense(similarity()), init)


@pytest.mark.parametrize("init", ["greedy", "zero"])
def test_columns_that_are_still_growing_are_nothing_to_keep(as_problem, init, monkeypatch):
    A = sparse.csr_array(similarity())
    problem = as_problem(A)
    columns = type(problem.objective.columns(np.zeros((N, K))))
    monkeypatch.setattr(columns, "visit", lambda *args: press())
    with pytest.raises(KeyboardInterrupt):
        solve(init, Setting(problem, RowDescent(), Control(), K, 1, np.random.RandomState(0)))


# Estimators -------------------------------------------------------------------------------------------------


def press_at(iteration):
    def callback(progress):
        if progress.iteration == iteration:
            press()

    return callback


@pytest.mark.parametrize(
    "model",
    [
        SymNMF(K, affinity="precomputed", tol=0, random_state=0, callback=press_at(4)),
        SymNMF(K, affinity="precomputed", tol=0, n_init=2, random_state=0, callback=press_at(4)),
        SymmetricFactorization(K, affinity="precomputed", tol=0, random_state=0, callback=press_at(4)),
    ],
    ids=["SymNMF", "two starts", "SymmetricFactorization"],
)
def test_an_interrupted_model_is_whole_and_says_so(model):
    A = similarity()
    with pytest.warns(InterruptedWarning, match="interrupted after 4 iterations") as caught:
        model.fit(A)
    assert caught[0].filename == __file__
    assert issubclass(caught[0].category, NotConvergedWarning)
    assert not model.converged_
    assert model.stop_reason_ == "interrupted after 4 iterations; the result so far is kept"
    assert model.objective_ == pytest.approx(brute_force(A, model.membership_), rel=1e-9)
    assert model.history_.objective[-1] == model.objective_ == model.inits_.min()
    assert model.labels_.shape == (N,)
    assert model.predict(A[:3]).shape == (3,)


@pytest.mark.parametrize(
    "cls", [SymNMF, OffDiagonalSymNMF, SymmetricFactorization], ids=lambda cls: cls.__name__
)
def test_ctrl_c_in_the_first_descent_is_not_convergence(cls, monkeypatch):
    A, calls = similarity(), []
    plain = Dense.block

    def block(self, rows):
        calls.append(rows)
        if len(calls) == 20:
            press()
        return plain(self, rows)

    monkeypatch.setattr(Dense, "block", block)
    model = cls(K, init="merge", affinity="precomputed", random_state=0)
    with pytest.warns(InterruptedWarning, match="interrupted while the start was made"):
        model.fit(A)
    assert len(calls) == 20
    assert not model.converged_
    assert model.membership_.any()


@pytest.mark.filterwarnings("ignore::symclust.exceptions.NotConvergedWarning")
def test_the_absolute_loss_is_interrupted_where_the_squared_one_leads_it(monkeypatch):
    A, calls = (similarity() > 5).astype(float), []
    plain = Dense.block

    def block(self, rows):
        calls.append(rows)
        if len(calls) == 20:
            press()
        return plain(self, rows)

    monkeypatch.setattr(Dense, "block", block)
    model = OffDiagonalSymNMF(K, loss="absolute", init="random", affinity="precomputed", random_state=0)
    model.fit(A)
    assert model.stop_reason_.startswith("interrupted while the start was made")
    E = np.abs(A - model.membership_ @ model.membership_.T)
    assert model.objective_ == pytest.approx(E.sum() - np.trace(E), rel=1e-10)


@pytest.mark.filterwarnings("ignore::symclust.exceptions.NotConvergedWarning")
def test_two_factors_are_kept_too():
    X = np.random.default_rng(0).uniform(size=(30, 8))
    model = NMF(3, init="random", tol=0, random_state=0, callback=press_at(4)).fit(X)
    assert not model.converged_
    assert model.stop_reason_.startswith("interrupted after 4 iterations")
    assert model.objective_ == pytest.approx(np.square(X - model.membership_ @ model.components_).sum())


def test_a_signal_from_another_thread_ends_a_fit_in_compiled_sweeps():
    A, _ = planted_partition(20_000, 4, degree=20, mixing=0.3, random_state=0)
    running = threading.Event()

    def press_once():
        running.wait()
        os.kill(os.getpid(), signal.SIGINT)

    thread = threading.Thread(target=press_once)
    thread.start()
    model = SymNMF(
        4,
        affinity="precomputed",
        init="random",
        tol=0,
        max_iter=10**6,
        random_state=0,
        callback=lambda p: running.set(),
    )
    with pytest.warns(InterruptedWarning, match="interrupted after"):
        model.fit(A)
    thread.join()
    H = model.membership_
    exact = A.multiply(A).sum() - 2 * np.sum(H * (A @ H)) + np.square(H.T @ H).sum()
    assert model.objective_ == pytest.approx(exact, rel=1e-9)
