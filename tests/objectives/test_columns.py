"""Descent on columns, for every objective that offers it: every form of A goes the same way."""

import numpy as np
import pytest
import scipy.sparse as sp
from numpy.testing import assert_allclose, assert_array_equal

from symclust import registry
from symclust.objectives import Absolute, Frobenius, IgnoredPairs
from symclust.operators import Dense, Gram, Masked, Sparse

N, K = 30, 3
DTYPES = (np.float32, np.float64)
OBJECTIVES = {
    name: cls
    for name in registry.options("objectives")
    if hasattr(cls := registry.resolve("objectives", name), "columns")
}
FORMS = ("dense", "sparse", "gram", "masked dense")
CASES = [(name, ignored) for name in OBJECTIVES for ignored in (False, True)
         if not (ignored and OBJECTIVES[name] is Frobenius)]  # fmt: skip


def make(name, form, ignored=False, dtype=np.float64):
    """Return the objective for one form of the same A."""
    rng = np.random.default_rng(0)
    X = (rng.uniform(size=(N, 6)) * (rng.uniform(size=(N, 6)) < 0.5)).astype(dtype)
    mask = np.triu(rng.uniform(size=(N, N)) < 0.2, 1)
    mask = sp.csr_array((mask | mask.T).astype(float))
    nothing = sp.csr_array((N, N))
    A = X @ X.T
    operator = {
        "dense": lambda: Dense(A),
        "sparse": lambda: Sparse(sp.csr_array(A)),
        "gram": lambda: Gram(X),
        "masked dense": lambda: Masked(Dense(A), nothing),
    }[form]()
    cls = OBJECTIVES[name]
    return cls(operator.without(mask), IgnoredPairs.of(mask)) if ignored else cls(operator)


def value(objective, H):
    H = H.astype(float)
    E = objective.operator.toarray().astype(float) - H @ H.T
    columns = objective.columns(H)
    if not columns.full_diagonal:
        np.fill_diagonal(E, 0)
    if columns.ignored.any:
        E[columns.ignored.products(H).nonzero()] = 0
    return np.abs(E).sum() if isinstance(objective, Absolute) else np.sum(E**2)


def start(dtype=np.float64, zeros=0.3):
    rng = np.random.default_rng(1)
    return (rng.uniform(size=(N, K)) * (rng.uniform(size=(N, K)) >= zeros)).astype(dtype)


def go(objective, H, order, parts=1, placed=None):
    """Visit all entries of all columns in an order, in several calls; perhaps place one in each before."""
    columns = objective.columns(H)
    for l in range(K):
        columns.open(l)
        assert_array_equal(columns.x, H[:, l])
        if placed is not None:
            columns.place(*placed)
        for ids in np.array_split(order, parts):
            columns.visit(ids)
        columns.close()
        assert_array_equal(columns.x, H[:, l])
    return columns


def test_there_are_objectives_with_columns():
    assert set(OBJECTIVES) >= {"absolute", "frobenius", "off_diagonal"}


@pytest.mark.parametrize("form", FORMS)
@pytest.mark.parametrize("dtype", DTYPES)
@pytest.mark.parametrize(("name", "ignored"), CASES)
def test_the_decrease_is_that_of_the_objective(name, ignored, form, dtype):
    objective, H = make(name, form, ignored, dtype), start(dtype)
    first = value(objective, H)
    columns = go(objective, H, np.arange(N))
    assert H.dtype == dtype
    assert H.min() >= 0
    last = value(objective, H)
    assert last < 0.9 * first
    assert columns.decrease == pytest.approx(first - last, rel=1e-5 if dtype is np.float32 else 1e-11)
    assert columns.stationarity > 0


@pytest.mark.parametrize("placed", [None, (4, 0.7)])
@pytest.mark.parametrize("dtype", DTYPES)
@pytest.mark.parametrize(("name", "ignored"), CASES)
def test_every_form_goes_the_same_way(name, ignored, dtype, placed):
    order = np.random.default_rng(2).permutation(N)
    results = []
    for form in FORMS:
        for parts in (1, 4):
            H = start(dtype)
            columns = go(make(name, form, ignored, dtype), H, order, parts, placed)
            results.append((H, columns.decrease, columns.stationarity))
    tolerance = 1e-3 if dtype is np.float32 else 1e-8
    for H, decrease, stationarity in results[1:]:
        assert_allclose(H, results[0][0], rtol=tolerance, atol=tolerance)
        assert decrease == pytest.approx(results[0][1], rel=tolerance)
        assert stationarity == pytest.approx(results[0][2], rel=tolerance)


@pytest.mark.parametrize("form", FORMS)
@pytest.mark.parametrize(("name", "ignored"), CASES)
def test_descending_is_opening_visiting_closing(name, ignored, form):
    objective, H, other = make(name, form, ignored), start(), start()
    columns = objective.columns(H)
    for l in range(K):
        columns.descend(l)
    expected = go(objective, other, np.arange(N))
    assert_array_equal(H, other)
    assert columns.decrease == expected.decrease


@pytest.mark.parametrize("form", FORMS)
@pytest.mark.parametrize(("name", "ignored"), CASES)
def test_a_placed_entry_is_seen_by_the_others(name, ignored, form):
    # As if H had held it from the beginning; the decrease counts from there.
    objective, H, other = make(name, form, ignored), start(), start()
    other[4, 0] = 0.7
    columns, expected = objective.columns(H), objective.columns(other)
    columns.open(0)
    columns.place(4, 0.7)
    assert H[4, 0] == columns.x[4] == 0.7
    expected.open(0)
    for each in (columns, expected):
        each.visit(np.delete(np.arange(N), 4))
        each.visit(np.array([4]))
        each.close()
        each.descend(1)
    assert_allclose(H, other, rtol=1e-9, atol=1e-12)
    assert columns.decrease == pytest.approx(expected.decrease, rel=1e-10)


@pytest.mark.parametrize("form", FORMS)
@pytest.mark.parametrize(("name", "ignored"), CASES)
def test_columns_may_be_taken_in_any_order_and_again(name, ignored, form):
    objective, H = make(name, form, ignored), start()
    first, columns = value(objective, H), objective.columns(H)
    for l in (2, 0, 2, 2, 1, 0):
        before, so_far = value(objective, H), columns.decrease
        columns.descend(l)
        assert columns.decrease - so_far == pytest.approx(before - value(objective, H), abs=1e-11 * first)
