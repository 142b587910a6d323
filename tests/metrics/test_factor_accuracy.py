from itertools import permutations

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from hypothesis.extra.numpy import arrays
from scipy.sparse import csr_array

from symclust.exceptions import InputError, InputTypeError
from symclust.metrics import factor_accuracy


def brute_force(H_true, H):
    n, r = H.shape
    errors = [np.linalg.norm(H[:, list(p)] - H_true) for p in permutations(range(r))]
    return 1 - np.sqrt(min(errors) ** 2 / (r * n))


shapes = st.tuples(st.integers(1, 7), st.integers(1, 5))
pairs = shapes.flatmap(
    lambda shape: st.tuples(*[arrays(np.float64, shape, elements=st.floats(0, 2, width=16))] * 2)
)


@given(pairs)
def test_equals_the_best_of_all_orders_of_columns(pair):
    H_true, H = pair
    assert factor_accuracy(H_true, H) == pytest.approx(brute_force(H_true, H))
    assert factor_accuracy(H_true, H) == pytest.approx(factor_accuracy(H, H_true))


@given(arrays(np.float32, (6, 4), elements=st.floats(0, 1, width=32)), st.permutations(range(4)))
def test_order_of_columns_does_not_matter(H, order):
    # Inner products do not tell columns apart that differ by less than rounding.
    assert factor_accuracy(H, H[:, order]) == pytest.approx(1.0)


def test_values_matter_not_only_clusters():
    H = np.repeat(np.eye(2), 3, axis=0)
    assert factor_accuracy(H, 0.8 * H) == pytest.approx(1 - 0.2 * np.sqrt(0.5))
    assert factor_accuracy(H, 10 * H) < 0


def test_takes_lists_integers_and_sparse_factors():
    H = np.repeat(np.eye(3, dtype=int), 2, axis=0)
    assert factor_accuracy(H.tolist(), csr_array(H)) == 1.0


def test_refuses_what_is_no_pair_of_factors():
    with pytest.raises(InputError, match=r"H_true has shape \(3, 2\) and H \(3, 3\).*columns of zeros"):
        factor_accuracy(np.ones((3, 2)), np.ones((3, 3)))
    with pytest.raises(InputError, match=r"\(3, 2\) and H \(2, 3\)"):
        factor_accuracy(np.ones((3, 2)), np.ones((2, 3)))
    with pytest.raises(InputError, match="Expected 2D array"):
        factor_accuracy([1, 0], [1, 0])
    with pytest.raises(InputError, match="Input H contains NaN"):
        factor_accuracy([[1.0]], [[np.nan]])
    with pytest.raises((InputError, InputTypeError), match="must be a number"):
        factor_accuracy([["a"]], [["b"]])
