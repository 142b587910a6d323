"""`init="split_merge"`: moves are kept only where they lower the objective."""

import numpy as np
import pytest
from numpy.testing import assert_array_equal
from sklearn.datasets import load_digits

from symclust import SymNMF
from symclust.constraints import Nonnegative
from symclust.exceptions import CombinationError
from symclust.graphs import nearest_neighbors
from symclust.objectives import Frobenius
from symclust.operators import Dense
from symclust.solvers import Control, Problem, Starts, _starts, run
from symclust.solvers.row_descent import RowDescent

A = nearest_neighbors(load_digits().data[:600])


def fit(init, seed=0, **options):
    return SymNMF(10, affinity="precomputed", init=init, random_state=seed, **options).fit(A)


def test_it_is_never_above_the_start_it_begins_with_and_sometimes_below():
    plain = np.array([fit("auto", seed).objective_ for seed in range(6)])
    moved = np.array([fit("split_merge", seed).objective_ for seed in range(6)])
    assert (moved <= plain * (1 + 1e-6)).all()
    assert (moved < plain * (1 - 1e-5)).any()


def test_the_end_is_stationary_and_repeats():
    one, again = fit("split_merge", n_init=2), fit("split_merge", n_init=2)
    assert one.converged_
    assert one.optimality().relative_projected_gradient <= 1e-2
    assert len(one.inits_) == 2
    assert_array_equal(one.membership_, again.membership_)


def test_a_move_repairs_two_clusters_in_one_column_and_a_third_in_two():
    labels = np.repeat(np.arange(4), 15)
    B = np.where(labels[:, None] == labels, 1.0, 0.0)
    problem = Problem(Dense(B), Frobenius(Dense(B)), Nonnegative())
    wrong = np.repeat([0, 0, 1, 2, 3], [15, 15, 15, 8, 7])  # 0 and 1 together, 3 halved
    H = 0.5 * (wrong[:, None] == np.arange(4))
    stuck = run(problem, RowDescent(), [H], Control(tol=1e-6))[0]
    assert stuck.objective > 100  # one of the clusters that share a column is not explained at all
    starts = Starts("split_merge", 4, 1, np.random.RandomState(0))
    found = _starts._split_and_merge(problem, RowDescent(), starts, stuck, None, Control())
    assert np.sum((B - found.H @ found.H.T) ** 2) < 1e-2 * stuck.objective
    assert len(set(zip(labels.tolist(), found.H.argmax(axis=1).tolist(), strict=True))) == 4


def test_it_ends_when_the_time_is_up():
    with pytest.warns(Warning, match="time_limit"):
        model = fit("split_merge", time_limit=1e-4)
    assert model.labels_.shape == (600,)


def test_a_factor_that_is_held_sparse_is_refused(monkeypatch):
    monkeypatch.setattr(_starts, "has_many_zeros", lambda shape: True)
    with pytest.raises(CombinationError, match=r"split_merge.*held sparse.*'tree' or 'merge'"):
        fit("split_merge")
