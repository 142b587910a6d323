"""Weights from high to low, beside NumPy's stable sort."""

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from hypothesis.extra.numpy import arrays

from symclust._kernels import falling_order


@settings(max_examples=100)
@given(arrays(np.float32, st.integers(0, 60), elements=st.floats(0, width=32, allow_infinity=False)))
def test_is_the_stable_order(weights):
    np.testing.assert_array_equal(falling_order(weights), np.argsort(-weights, kind="stable"))


@pytest.mark.parametrize("dtype", [np.float32, np.float64])
def test_many_weights_with_ties(dtype):
    weights = np.round(np.random.default_rng(0).random(50_000) ** 8, 4).astype(dtype)
    expected = np.argsort(-weights.astype(np.float32), kind="stable")
    np.testing.assert_array_equal(falling_order(weights), expected)


def test_what_differs_by_rounding_keeps_its_order():
    weights = np.array([1.0, 1.0 + 1e-12, 1.0 - 1e-12, 2.0])
    np.testing.assert_array_equal(falling_order(weights), [3, 0, 1, 2])
