"""Sampled least squares: unbiased, read only what they sample, and hand over to exact steps."""

import numpy as np
import pytest
from numpy.testing import assert_allclose, assert_array_equal

from symclust import SymNMF
from symclust.constraints import Nonnegative
from symclust.datasets import planted_partition
from symclust.objectives import Frobenius
from symclust.operators import Sparse
from symclust.operators import sparse as module
from symclust.solvers import Control, Problem, run
from symclust.solvers.coupled import Anls
from symclust.solvers.sampled_anls import SampledAnls, sample_rows


def graph(n=3000, k=5):
    A, _ = planted_partition(n, k, degree=30, mixing=0.1, random_state=0)
    return Sparse(A)


def problem_of(operator):
    return Problem(operator, Frobenius(operator), Nonnegative())


def start(n, k=5, dtype=np.float64):
    return np.random.default_rng(0).uniform(size=(n, k)).astype(dtype) / 10


def test_samples_give_the_normal_equations_on_average():
    A, rng = graph(n=400), np.random.default_rng(1)
    W = rng.uniform(size=(400, 3)) ** 4
    G, AW = np.zeros((3, 3)), np.zeros((400, 3))
    for _ in range(2000):
        kept, weights = sample_rows(W, 0.1, rng)
        G += (W[kept] * weights[:, None]).T @ W[kept] / 2000
        AW += A.combine_rows(kept, W[kept] * weights[:, None]) / 2000
    assert_allclose(G, W.T @ W, rtol=0.02, atol=0.02 * np.abs(W.T @ W).max())
    assert np.linalg.norm(AW - A @ W) < 0.03 * np.linalg.norm(A @ W)


def test_rows_that_decide_much_are_always_kept():
    W = np.ones((2000, 2))
    W[[3, 500]] = [[0.0, 90.0], [90.0, 0.0]]
    for seed in range(20):
        kept, weights = sample_rows(W, 1.0, np.random.default_rng(seed))
        assert_array_equal(weights[np.isin(kept, [3, 500])], [1, 1])
        assert len(kept) < 400


def test_a_sample_of_few_rows_is_all_of_them():
    kept, weights = sample_rows(np.ones((10, 2)), 1.0, np.random.default_rng(0))
    assert_array_equal(kept, np.arange(10))
    assert_array_equal(weights, 1)


def test_a_is_read_as_a_whole_once_an_iteration(monkeypatch):
    monkeypatch.setattr(module, "FEW_NONZEROS", 0)
    A, products, sampled = graph(), [], []
    product, combine = Sparse._product, Sparse.combine_rows
    monkeypatch.setattr(Sparse, "_product", lambda self, H: products.append(1) or product(self, H))
    monkeypatch.setattr(
        Sparse, "combine_rows", lambda self, ids, w: sampled.append(len(ids)) or combine(self, ids, w)
    )
    run(problem_of(A), SampledAnls(coupling=30.0), [start(A.n)], Control(tol=0, max_iter=3))
    assert len(products) == 4  # the start, and one for each iteration
    assert len(sampled) == 15
    assert max(sampled) < A.n / 5


@pytest.mark.parametrize("dtype", [np.float32, np.float64])
def test_it_lowers_the_objective_and_ends_where_anls_ends(dtype):
    A = Sparse(graph().csr.astype(dtype))
    control = Control(tol=1e-3, max_iter=300)
    (exact,) = run(problem_of(A), Anls(), [start(A.n, dtype=dtype)], control)
    (sampled,) = run(problem_of(A), SampledAnls(), [start(A.n, dtype=dtype)], control)
    assert sampled.converged
    assert sampled.H.dtype == dtype
    assert sampled.objective <= exact.objective * 1.01
    early = sampled.history.objective[:3]
    assert (np.diff(early) < 0).all()


def test_it_repeats():
    A, _ = planted_partition(600, 4, degree=20, mixing=0.1, random_state=0)
    one, again = (
        SymNMF(4, affinity="precomputed", solver="sampled_anls", init="random", random_state=0).fit(A)
        for _ in range(2)
    )
    assert_array_equal(one.membership_, again.membership_)
