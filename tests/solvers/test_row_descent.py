"""Row descent as a solver: the forms of A agree, and what is tracked is exact."""

import numpy as np
import pytest
import scipy.sparse as sp
from numpy.testing import assert_allclose

from symclust import registry
from symclust.objectives import Frobenius
from symclust.operators import Gram, Operator
from symclust.solvers import State, choose_solver
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
    for form in (sp.csr_array(A), Gram(X), ProductOnly(A)):
        found = advance(as_problem(form), H, 3)
        assert_allclose(found.H, expected.H, rtol=1e-8, atol=1e-10)
        assert found.objective == pytest.approx(expected.objective, rel=1e-9)
        assert found.stationarity == pytest.approx(expected.stationarity, rel=1e-7)


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


def test_auto_takes_row_descent_where_rows_are_cheap():
    X = np.random.default_rng(0).uniform(size=(6, 2))
    assert choose_solver(Frobenius(Gram(X))) == "row_descent"
    assert choose_solver(Frobenius(ProductOnly(X @ X.T))) == "anls"
