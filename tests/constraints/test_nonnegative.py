"""H ≥ 0."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from hypothesis.extra.numpy import arrays
from numpy.testing import assert_array_equal

from symclust.constraints import Nonnegative

MATRICES = arrays(np.float64, (3, 2), elements=st.floats(-10, 10))


@given(MATRICES, MATRICES)
def test_the_projection_is_the_nearest_point(H, other):
    projected = Nonnegative().project(H)
    assert projected.min() >= 0
    assert np.linalg.norm(H - projected) <= np.linalg.norm(H - np.abs(other)) + 1e-12
    assert_array_equal(Nonnegative().project(projected), projected)


@given(MATRICES, MATRICES)
def test_the_projected_gradient_vanishes_exactly_where_no_step_helps(H, gradient):
    H = Nonnegative().project(H)
    projected = Nonnegative().projected_gradient(H, gradient)
    for h, slope, kept in zip(H.flat, gradient.flat, projected.flat, strict=True):
        can_move = slope < 0 or (slope > 0 and h > 0)
        assert kept == (slope if can_move else 0)


@given(MATRICES)
def test_violation_is_the_largest_step_outside(H):
    assert Nonnegative().violation(H) == max(0.0, -H.min())


def test_violation_of_nothing():
    assert Nonnegative().violation(np.empty((0, 3))) == 0.0


@pytest.mark.parametrize("dtype", [np.float32, np.float64])
def test_precision_is_kept(dtype):
    H = np.array([[-1.0, 2.0]], dtype=dtype)
    assert Nonnegative().project(H).dtype == dtype
    assert Nonnegative().projected_gradient(Nonnegative().project(H), H).dtype == dtype
