"""Every solver of two factors on every variant that it does not refuse."""

import numpy as np
import pytest
import scipy.sparse as sp

from symclust import registry
from symclust.constraints import Nonnegative
from symclust.exceptions import CombinationError, OptionError
from symclust.operators import Bipartite
from symclust.solvers import Control, Problem, run
from symclust.two_factors import Smooth, TwoFactors, starting_points

FAMILY = "two_factors.solvers"
SOLVERS = registry.options(FAMILY)
EXACT = ("bpp", "active_set")
FAST = [name for name in SOLVERS if not name.startswith("multiplicative")]


def make(name, problem):
    """Return the solver, or skip where it refuses the problem."""
    solver = registry.resolve(FAMILY, name)()
    try:
        solver.check(problem)
    except CombinationError:
        assert name in EXACT and isinstance(problem.objective, Smooth)
        pytest.skip("refused")
    return solver


def start(problem, k=3, n_init=1, seed=0):
    return starting_points(problem.objective, "random", k, n_init, np.random.RandomState(seed))


def solve(problem, name, starts, tol=1e-6, max_iter=3000):
    return run(problem, make(name, problem), starts, Control(tol=tol, max_iter=max_iter))


class CountingBipartite(Bipartite):
    """Remembers how often each half of the product was taken."""

    counts = (0, 0)

    def times(self, C):
        self.counts = (self.counts[0] + 1, self.counts[1])
        return super().times(C)

    def transposed_times(self, W):
        self.counts = (self.counts[0], self.counts[1] + 1)
        return super().transposed_times(W)


def test_these_are_all():
    assert {*EXACT, "hals", "multiplicative", "multiplicative_as_printed", "projected_gradient"} == set(
        SOLVERS
    )


def test_both_exact_solvers_take_the_same_steps(planted, as_problem):
    problem = as_problem(planted(), is_sparse=True)
    one, other = (solve(problem, name, start(problem), tol=0, max_iter=10)[0] for name in EXACT)
    np.testing.assert_allclose(one.H, other.H, atol=1e-8)


def test_an_unknown_one_is_named_as_the_parameter_is():
    with pytest.raises(OptionError, match=r"^solver='x' is not known\. Choose one of 'active_set', 'bpp'"):
        registry.resolve(FAMILY, "x")


@pytest.mark.parametrize("name", SOLVERS)
def test_the_objective_never_rises(planted, as_problem, variant, name):
    problem = as_problem(planted(seed=1), variant)
    (result,) = solve(problem, name, start(problem), tol=1e-9, max_iter=60)
    steps = np.diff(result.history.objective)
    assert result.n_iter >= 5
    assert np.all(steps <= 1e-12 * problem.objective.squared_norm)
    assert result.history.objective[-1] < 0.9 * result.history.objective[0]


@pytest.mark.parametrize("is_sparse", [False, True])
@pytest.mark.parametrize("name", FAST)
def test_the_end_is_stationary_by_the_formulas(planted, as_problem, variant, name, is_sparse):
    """Confirmed on dense matrices: no entry of either factor can be moved by itself to any gain."""
    if variant == "smooth as printed":
        pytest.skip("it has no minimum: the memberships shrink for ever")
    X = planted(seed=2)
    problem = as_problem(X, variant, is_sparse)
    (result,) = solve(problem, name, start(problem))
    assert result.converged, result.stop_reason
    W, C = problem.operator.sides(result.H)
    value, gradient = _dense_gradient(X, W, C, variant, problem.objective)
    assert result.objective == pytest.approx(value, rel=1e-9)
    projected = np.where((result.H > 0) | (gradient < 0), gradient, 0)
    if variant == "affine":
        np.testing.assert_array_equal(W[:, 0], problem.objective.level)
        projected[: len(X), 0] = 0
    assert np.linalg.norm(projected) <= 1.01e-6 * result.reference
    assert result.H.min() >= 0


def _dense_gradient(X, W, C, variant, objective):
    residual = W @ C.T - X
    value, to_W, to_C = np.sum(residual**2), 2 * residual @ C, 2 * residual.T @ W
    if variant == "sparse":
        value += 0.3 * np.sum(C**2) + 0.2 * np.sum(W.sum(axis=1) ** 2)
        to_W = to_W + 0.4 * W.sum(axis=1, keepdims=True)
        to_C = to_C + 0.6 * C
    if variant == "smooth":
        S = objective.laplacian.graph.toarray()
        L = np.diag(S.sum(axis=1)) - S
        squares, roughness = np.sum(C**2, axis=0), np.diag(W.T @ L @ W)
        value += 0.7 * squares @ roughness
        to_W = to_W + 1.4 * (L @ W) * squares
        to_C = to_C + 1.4 * C * roughness
    return value, np.concatenate([to_W, to_C])


def test_solvers_agree_where_the_minimum_is_clear(as_problem):
    X = np.kron(np.diag([3.0, 2.0, 1.0]), np.ones((4, 3))) + 0.01
    problem = as_problem(X)
    H = np.kron(np.eye(3), np.ones((4, 1)))
    H = np.concatenate([H, np.kron(np.eye(3), np.ones((3, 1)))]) + 0.1
    ends = {name: solve(problem, name, [H.copy()], tol=1e-8)[0] for name in FAST}
    slow = solve(problem, "multiplicative", [H.copy()], tol=0, max_iter=3000)[0]
    objectives = [end.objective for end in (*ends.values(), slow)]
    np.testing.assert_allclose(objectives, objectives[0], rtol=1e-5, atol=1e-9)
    W, C = problem.operator.sides(ends["bpp"].H)
    for end in ends.values():
        other, weights = problem.operator.sides(end.H)
        np.testing.assert_allclose(other @ weights.T, W @ C.T, atol=1e-5)


def test_multiplicative_updates_are_left_behind(planted, as_problem):
    problem = as_problem(planted(n=60, d=40, k=4, seed=4))
    starts = start(problem, k=4)
    exact = solve(problem, "bpp", [H.copy() for H in starts], tol=0, max_iter=60)[0]
    slow = solve(problem, "multiplicative", [H.copy() for H in starts], tol=0, max_iter=60)[0]
    assert exact.stationarity < 0.1 * slow.stationarity


@pytest.mark.parametrize("name", SOLVERS)
def test_starts_side_by_side_end_where_single_ones_do(planted, as_problem, variant, name):
    problem = as_problem(planted(), variant, is_sparse=True)
    starts = start(problem, n_init=3)
    together = solve(problem, name, [H.copy() for H in starts], max_iter=20)
    for H, of_many in zip(starts, together, strict=True):
        (alone,) = solve(problem, name, [H.copy()], max_iter=20)
        np.testing.assert_allclose(of_many.H, alone.H, rtol=1e-9, atol=1e-12)


@pytest.mark.parametrize("name", SOLVERS)
def test_an_iteration_takes_one_product_each_way_for_all_starts(planted, name):
    A = CountingBipartite(sp.csr_array(planted()))
    problem = Problem(A, TwoFactors(A), Nonnegative())
    starts = start(problem, n_init=4)
    A.counts = (0, 0)
    solve(problem, name, starts, tol=0, max_iter=7)
    assert A.counts == (8, 8)  # one pair for the first point


@pytest.mark.parametrize("name", SOLVERS)
def test_sparse_and_dense_data_lead_to_the_same_point(planted, as_problem, variant, name):
    X = planted(seed=5)
    ends = []
    for is_sparse in (False, True):
        problem = as_problem(X, variant, is_sparse)
        ends.append(solve(problem, name, start(problem), max_iter=15)[0].H)
    np.testing.assert_allclose(ends[0], ends[1], rtol=1e-8, atol=1e-10)


@pytest.mark.parametrize("name", SOLVERS)
def test_single_precision_stays(planted, as_problem, variant, name):
    X = planted(seed=6)
    double = as_problem(X, variant)
    single = as_problem(X.astype(np.float32), variant)
    starts = [H.astype(np.float32) for H in start(double)]
    (end,) = solve(single, name, starts, tol=1e-3, max_iter=300)
    (exact,) = solve(double, name, start(double), tol=1e-3, max_iter=300)
    assert end.H.dtype == np.float32
    assert end.objective == pytest.approx(exact.objective, rel=2e-2)


def test_block_pivoting_refuses_a_graph_and_names_who_does_not(planted, as_problem):
    problem = as_problem(planted(), "smooth")
    words = r"Bpp needs separate rows.*Smooth.*'hals', 'multiplicative', .*'projected_gradient'"
    with pytest.raises(CombinationError, match=words):
        registry.resolve(FAMILY, "bpp")().check(problem)


@pytest.mark.parametrize("name", SOLVERS)
def test_data_without_entries_are_stationary_at_once(as_problem, name):
    problem = as_problem(np.zeros((5, 4)))
    (result,) = solve(problem, name, start(problem, k=2))
    assert result.converged and result.objective == 0


@pytest.mark.parametrize("name", SOLVERS)
def test_samples_and_features_without_entries_end_at_zero(planted, as_problem, name):
    X = planted(seed=7)
    X[3], X[:, 2] = 0, 0
    problem = as_problem(X)
    (result,) = solve(problem, name, start(problem), max_iter=5)
    W, C = problem.operator.sides(result.H)
    assert not W[3].any() and not C[2].any()
