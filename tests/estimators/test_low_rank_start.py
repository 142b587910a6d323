"""`init="low_rank"`: something smaller is solved first, and A has the last word."""

import numpy as np
import pytest
from numpy.testing import assert_array_equal

from symclust import OffDiagonalSymNMF, SymNMF
from symclust.exceptions import CombinationError
from symclust.operators import Dense


def blocks(n=240, k=6, seed=0, dtype=np.float64):
    rng = np.random.default_rng(seed)
    labels = np.arange(n) * k // n
    A = np.where(labels[:, None] == labels, 1.0, 0.1) * rng.uniform(0.3, 1.7, size=(n, n))
    return (np.triu(A) + np.triu(A, 1).T).astype(dtype), labels


def fit(A, init="low_rank", **options):
    return SymNMF(6, affinity="precomputed", init=init, random_state=0, **options).fit(A)


@pytest.mark.parametrize("dtype", [np.float32, np.float64])
def test_it_ends_where_the_exact_start_ends(dtype):
    A, labels = blocks(n=900, dtype=dtype)
    model = fit(A)
    assert model.converged_
    assert model.membership_.dtype == dtype
    assert model.objective_ == pytest.approx(fit(A, "merge").objective_, rel=1e-3)
    assert model.objective_ == pytest.approx(
        np.sum((A - model.membership_ @ model.membership_.T) ** 2), rel=1e-5
    )
    assert len(set(zip(model.labels_.tolist(), labels.tolist(), strict=True))) == 6
    assert model.merge_path_.n_clusters[-1] == 6


def test_a_is_read_for_the_approximation_and_for_the_last_iterations_alone(monkeypatch):
    A, _ = blocks(n=600)
    columns, product = [], Dense._product

    def counted(self, H):
        columns.append(H.shape[1])
        return product(self, H)

    monkeypatch.setattr(Dense, "_product", counted)
    model = fit(A, solver="barzilai_borwein")
    # The approximation takes 3 products with 12 + 10 columns; the rest are iterations on A.
    assert sum(columns) <= 3 * 22 + 6 * (model.n_iter_ + 3)


def test_it_repeats_and_takes_several_starts():
    A, _ = blocks()
    one, again = (fit(A, n_init=3) for _ in range(2))
    assert len(one.inits_) == 3
    assert_array_equal(one.membership_, again.membership_)


def test_sparsity_is_part_of_the_problem_that_is_solved_first():
    A, _ = blocks()
    model = fit(A, sparsity=5.0)
    assert model.converged_
    assert model.objective_ == pytest.approx(fit(A, "merge", sparsity=5.0).objective_, rel=1e-3)


def test_others_do_not_know_it():
    with pytest.raises(CombinationError, match="init='low_rank'"):
        OffDiagonalSymNMF(3, affinity="precomputed", init="low_rank").fit(blocks()[0])
