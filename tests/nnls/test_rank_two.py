"""Two columns: equal to the best of the four active sets."""

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from symclust.exceptions import InputError
from symclust.nnls import block_pivoting, rank_two

numbers = st.floats(-10, 10).map(lambda x: 0.0 if abs(x) < 1e-6 else x)
columns = st.lists(st.tuples(numbers, numbers), min_size=1, max_size=4)


def value(G, r, x):
    return x @ G @ x / 2 - r @ x


def best_of_four(G, r):
    """Least value over the active sets, each solved by a pseudoinverse."""
    values = [0.0]
    for free in ([0], [1], [0, 1]):
        x = np.zeros(2)
        x[free] = np.linalg.pinv(G[np.ix_(free, free)]) @ r[free]
        if (x >= -1e-12).all():
            values.append(value(G, r, x))
    return min(values)


@given(columns, st.lists(numbers, min_size=4, max_size=4))
@settings(max_examples=200)
def test_is_the_best_of_the_four_active_sets(rows, y):
    B = np.array(rows)
    r = B.T @ np.array(y)[: len(B)]  # in the range of G, of any sign
    G = B.T @ B
    x = rank_two(G, r[None])[0]
    assert (x >= 0).all()
    scale = 1 + abs(G).max() + abs(r).max() ** 2
    assert value(G, r, x) <= best_of_four(G, r) + 1e-9 * scale


@pytest.mark.parametrize("factor", [1.0, 3.0, -2.0])
def test_parallel_columns(factor):
    b = np.array([1.0, 2.0, 2.0])
    B = np.stack([b, factor * b], axis=1)
    for y in (b, -b):
        x = rank_two(B.T @ B, (B.T @ y)[None])[0]
        reachable = y @ b > 0 or factor < 0
        np.testing.assert_allclose(B @ x, y if reachable else 0, atol=1e-12)


def test_zero_columns():
    np.testing.assert_allclose(rank_two(np.diag([2.0, 0.0]), [[4.0, 0.0], [-1.0, 0.0]]), [[2, 0], [0, 0]])
    np.testing.assert_array_equal(rank_two(np.zeros((2, 2)), [[0.0, 0.0]]), [[0, 0]])


@pytest.mark.parametrize("scale", [1e-150, 1.0, 1e150])
def test_scale_does_not_matter(scale):
    G = np.array([[2.0, 1.0], [1.0, 2.0]])
    np.testing.assert_allclose(rank_two(G * scale, np.array([[3.0, 3.0]]) * scale), [[1, 1]])


def test_many_rows_agree_with_block_pivoting():
    rng = np.random.default_rng(0)
    B = rng.random((5, 2))
    R = rng.normal(size=(100_000, 2))
    np.testing.assert_allclose(rank_two(B.T @ B, R), block_pivoting(B.T @ B, R), atol=1e-10)
    single = rank_two((B.T @ B).astype(np.float32), R.astype(np.float32))
    assert single.dtype == np.float32
    np.testing.assert_allclose(single, rank_two(B.T @ B, R), rtol=1e-3, atol=1e-3)


def test_other_sizes_are_refused():
    with pytest.raises(InputError, match=r"expected \(2, 2\)"):
        rank_two(np.eye(3), np.ones((1, 3)))
