"""Row descent as a solver: the forms of A agree, and what is tracked is exact."""

import numpy as np
import pytest
import scipy.sparse as sp
from numpy.testing import assert_allclose

from symclust import registry
from symclust.constraints import Nonnegative
from symclust.objectives import Frobenius, IgnoredPairs, OffDiagonal
from symclust.operators import Gram, Operator, Shifted, as_operator, on_lines
from symclust.solvers import Problem, State, choose_solver
from symclust.solvers import row_descent as module


class ProductOnly(Operator):
    def __init__(self, A):
        super().__init__(len(A), A.dtype)
        self.A = A

    def _product(self, H):
        return self.A @ H


def make():
    return registry.resolve("solvers", "row_descent")()


def advance(problem, H, times=1):
    state = State(H.copy())
    state.objective, _ = problem.measure(state.H, problem.operator @ state.H)
    for _ in range(times):
        make().advance(problem, [state])
    return state


def test_all_forms_of_one_matrix_take_the_same_sweep(as_problem, positive, monkeypatch):
    monkeypatch.setattr(module, "MOST_PARTIAL", 0)  # sparse forms add sweeps over the rows that still move
    X = np.random.default_rng(0).uniform(size=(70, 5))
    A, H = X @ X.T, positive(n=70)
    expected = advance(as_problem(A), H, 3)
    for form in (sp.csr_array(A), Gram(X), Gram(sp.csr_array(X)), ProductOnly(A)):
        found = advance(as_problem(form), H, 3)
        assert_allclose(found.H, expected.H, rtol=1e-8, atol=1e-10)
        assert found.objective == pytest.approx(expected.objective, rel=1e-9)
        assert found.stationarity == pytest.approx(expected.stationarity, rel=1e-7)


def documents(n=70, d=40, dtype=np.float64):
    rng = np.random.default_rng(3)
    X = rng.uniform(size=(n, d)) * (rng.uniform(size=(n, d)) < 0.2)
    return sp.csr_array(X.astype(dtype))


def ring(n):
    i = np.arange(n)
    W = sp.coo_array((np.full(n, 0.5), (i, (i + 1) % n)), shape=(n, n))
    return sp.csr_array(W + W.T)


FORMS_OF_SPARSE_DATA = {
    "gram": Gram,
    "without self-edges": lambda X: Gram(X, scale=np.linspace(0.5, 1, X.shape[0]), self_edges=False),
    "masked": lambda X: Gram(X).without(ring(X.shape[0])),
    "shifted by a graph": lambda X: Shifted(Gram(X), ring(X.shape[0]).astype(X.dtype), 0.1),
    "graph shifted by it": lambda X: Shifted(ring(X.shape[0]).astype(X.dtype), Gram(X), 0.1),
    "shifted by itself": lambda X: Shifted(Gram(X, self_edges=False), None, 0.1),
}


@pytest.mark.parametrize("dtype", [np.float32, np.float64])
@pytest.mark.parametrize("form", FORMS_OF_SPARSE_DATA)
def test_sparse_data_is_swept_over_as_its_similarities_are(form, dtype, as_problem, positive, monkeypatch):
    """For longer than XᵀH is kept without being computed anew."""
    operator = FORMS_OF_SPARSE_DATA[form](documents(dtype=dtype))
    A, H = sp.csr_array(operator.toarray()), positive(n=70).astype(dtype)
    monkeypatch.setattr(Gram, "block", None)
    times = module.FRESH_GRAM + 3
    expected, found = advance(as_problem(A), H, times), advance(as_problem(operator), H, times)
    tolerance = 1e-3 if dtype is np.float32 else 1e-7
    assert found.H.dtype == dtype
    assert_allclose(found.H, expected.H, rtol=tolerance, atol=tolerance)
    assert found.objective == pytest.approx(expected.objective, rel=tolerance)


def test_starts_on_sparse_data_run_side_by_side(as_problem, positive):
    problem = as_problem(Gram(documents(), self_edges=False))
    starts = [positive(n=70, seed=s) for s in range(3)]
    together = [State(H.copy()) for H in starts]
    for _ in range(4):
        make().advance(problem, together)
    make().advance(problem, together[1:])  # the first is done and has left
    for state, H in zip(together[1:], starts[1:], strict=True):
        assert_allclose(state.H, advance(problem, H, 5).H, rtol=1e-9, atol=1e-11)


def test_pairs_of_sparse_data_may_be_ignored(positive):
    X, mask = documents(), ring(70)
    ignored = IgnoredPairs.of(mask)
    operator = Gram(X).without(mask)
    problems = [
        Problem(A, OffDiagonal(A, ignored), Nonnegative())
        for A in (operator, as_operator(sp.csr_array(operator.toarray())))
    ]
    found, expected = (advance(problem, positive(n=70), 5) for problem in problems)
    assert_allclose(found.H, expected.H, rtol=1e-7, atol=1e-9)
    assert found.objective == pytest.approx(expected.objective, rel=1e-9)


@pytest.mark.parametrize("form", [np.asarray, sp.csr_array])
@pytest.mark.parametrize("sparsity", [0.0, 0.4])
def test_the_tracked_objective_is_the_exact_one(as_problem, planted, positive, form, sparsity):
    problem = as_problem(form(planted(n=60, between=0.0)), sparsity)
    state = advance(problem, positive(n=60), 10)
    exact, _ = problem.measure(state.H, problem.operator @ state.H)
    assert state.objective == pytest.approx(exact, rel=1e-10)
    assert state.AH is None


def test_extra_sweeps_visit_only_rows_that_still_move(as_problem, monkeypatch):
    # One clique starts at its solution, the other far from it: the first must not be touched again.
    H = np.kron(np.eye(2), np.ones((20, 1)))
    problem = as_problem(sp.csr_array(H @ H.T))
    visited, kernel = [], module._kernels.row_sweep_sparse

    def spy(*arguments):
        visited.append(arguments[9].astype(bool))
        return kernel(*arguments)

    monkeypatch.setattr(module._kernels, "row_sweep_sparse", spy)
    start = H.copy()
    start[35:] = 0.2
    make().advance(problem, [State(start)])
    assert visited[0].all()
    assert len(visited) > 1
    for mask in visited[1:]:
        assert not mask[:20].any()


def test_auto_takes_row_descent_where_a_sweep_is_worth_its_cost(monkeypatch):
    X = np.random.default_rng(0).uniform(size=(6, 2))
    sparse = Gram(sp.csr_array(X))
    assert choose_solver(Frobenius(Gram(X))) == choose_solver(Frobenius(sparse)) == "row_descent"
    assert sparse.sweep_cost < Gram(X).sweep_cost
    assert choose_solver(Frobenius(ProductOnly(X @ X.T))) == "barzilai_borwein"
    monkeypatch.setattr(Gram, "sweep_cost", 100.0)
    assert choose_solver(Frobenius(sparse)) == "barzilai_borwein"


@pytest.mark.parametrize("form", [np.asarray, sp.csr_array, "gram", "held sparse"])
def test_sweeps_over_some_rows_move_no_others_and_lower_the_objective(form, as_problem, positive):
    X = documents(n=300)
    A, H = (X @ X.T).toarray(), positive(n=300)
    problem = as_problem(Gram(X) if form == "gram" else sp.csr_array(A) if form == "held sparse" else form(A))
    active = np.zeros(300, dtype=np.uint8)
    active[[150, *range(280, 300)]] = 1
    start = sp.csr_array(H) if form == "held sparse" else H.copy()
    found = module.sweep_rows(problem, start, active, 2)
    found = found.toarray() if sp.issparse(found) else found
    moved = (found != H).any(axis=1)
    assert moved[active > 0].all()
    # A dense A is swept in blocks of rows, here of 18, of which rows 144 to 161 and 270 to 299 are concerned.
    near = np.isin(np.arange(300) // 18, [8, 15, 16]) if form is np.asarray else active > 0
    assert not moved[~near].any()
    assert np.sum((A - found @ found.T) ** 2) < np.sum((A - H @ H.T) ** 2)
    # What is left to gain in each row is little: they were minimised last, one after the other.
    gradient = 4 * (found @ (found.T @ found) - A @ found)
    free = np.where(found > 0, gradient, np.minimum(gradient, 0))
    before = 4 * (H @ (H.T @ H) - A @ H)
    assert np.linalg.norm(free[280:]) < 0.2 * np.linalg.norm(before[280:])


@pytest.mark.parametrize("starts", [1, 2])
def test_where_h_lies_in_memory_changes_no_bit(as_problem, starts):
    n, k, rng = 20_000, 8, np.random.default_rng(0)
    half = sp.random_array((n, n), density=5e-4, rng=rng, format="csr")
    problem = as_problem(half + half.T)
    room = rng.uniform(size=n * k + 16)
    found = []
    for first in range(8):  # one of eight places in a line of the cache, of which one is its beginning
        H = room[first : first + n * k].reshape(n, k)
        H[:] = np.random.default_rng(1).uniform(size=(n, k))
        states = [State(H.copy() if s else H) for s in range(starts)]
        for state in states:
            state.objective = 0.0
        make().advance(problem, states)
        assert starts > 1 or on_lines([states[0].H]) is states[0].H
        found.append(states[-1].H.copy())
    for other in found[1:]:
        np.testing.assert_array_equal(other, found[0])


def test_small_factors_and_rows_of_other_sizes_stay_where_they_are():
    for shape in ((100, 8), (50_000, 5)):
        H = np.ones(np.prod(shape) + 1)[1:].reshape(shape)
        assert on_lines([H]) is H
