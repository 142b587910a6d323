"""What holds for every constraint of the registry, and for one of the user's own."""

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from hypothesis.extra.numpy import arrays
from numpy.testing import assert_allclose, assert_array_equal

from symclust import registry
from symclust.constraints import L1, Constraint, Sparse, Unit, as_constraint
from symclust.exceptions import InputError, OptionError


class Box:
    """Entries between −1 and 2: a user's own constraint."""

    def project(self, H):
        return np.clip(H, -1, 2, out=H)


GIVEN = [
    *registry.options("constraints"),
    Unit("columns"),
    Sparse(1),
    Sparse(2, "columns"),
    Sparse(5, "all"),
    L1(0.5),
    L1(2.0, "columns"),
    Box(),
]
SHAPE = (4, 3)
MATRICES = arrays(np.float64, SHAPE, elements=st.floats(-10, 10).filter(lambda x: x == 0 or abs(x) > 1e-3))


SETS = [as_constraint(given) for given in GIVEN]
every_set = pytest.mark.parametrize("constraint", SETS, ids=lambda c: repr(c).split(" object")[0])


@every_set
@settings(max_examples=15)
@given(H=MATRICES, other=MATRICES)
def test_no_point_of_the_set_is_nearer_than_the_projection(constraint, H, other):
    projected = constraint.project(H.copy())
    assert projected.shape == H.shape
    assert projected.flags.c_contiguous
    assert constraint.violation(projected) <= 1e-12
    feasible = constraint.project(other.copy())
    assert np.linalg.norm(H - projected) <= np.linalg.norm(H - feasible) + 1e-9
    assert_allclose(constraint.project(projected), projected, atol=1e-12)


@every_set
@settings(max_examples=15)
@given(H=MATRICES)
def test_violation_is_zero_exactly_inside(constraint, H):
    distance = np.abs(H - constraint.project(H.copy())).max()
    assert (constraint.violation(H) <= 1e-12) == (distance <= 1e-12)


@every_set
@settings(max_examples=15)
@given(H=MATRICES, gradient=MATRICES)
def test_the_projected_gradient_is_a_direction_of_descent_or_zero(constraint, H, gradient):
    H = constraint.project(H)
    kept = constraint.projected_gradient(H, gradient)
    noise = 1e-8 * np.linalg.norm(gradient) ** 2 + 1e-30  # H itself is in the set up to rounding
    assert np.sum(gradient * kept) >= 0.4 * np.sum(kept**2) - noise


@every_set
@settings(max_examples=15)
@given(H=MATRICES, gradient=MATRICES)
def test_it_vanishes_where_short_steps_go_nowhere(constraint, H, gradient):
    H, t = constraint.project(H), 1e-6
    kept = constraint.projected_gradient(H, gradient)
    moved = (H - constraint.project(H - t * gradient)) / t
    # Equal up to the curvature of the set; where two points are equally near, either may be chosen.
    if not np.any(np.diff(np.sort(np.abs(H - t * gradient), axis=None)) < 1e-4):
        assert_allclose(np.linalg.norm(kept), np.linalg.norm(moved), rtol=1e-2, atol=1e-3)


@every_set
def test_random_points_are_feasible_and_differ(constraint):
    rng = np.random.RandomState(0)
    one, two = (constraint.random((20, 3), rng, 0.5) for _ in range(2))
    assert constraint.violation(one) <= 1e-12
    assert not np.array_equal(one, two)
    assert np.linalg.matrix_rank(one) == 3


@every_set
@pytest.mark.parametrize("dtype", [np.float32, np.float64])
def test_precision_is_kept(constraint, dtype):
    H = np.random.default_rng(0).normal(size=SHAPE).astype(dtype)
    P = constraint.project(H.copy())
    assert P.dtype == dtype
    assert constraint.projected_gradient(P, H).dtype == dtype
    assert constraint.violation(P) <= 8 * np.finfo(dtype).eps


@every_set
def test_rows_can_be_taken_in_blocks_where_it_is_said(constraint):
    H = np.random.default_rng(0).normal(size=(8, 3))
    P = constraint.project(H.copy())
    if constraint.by_rows:
        assert_array_equal(
            np.concatenate([constraint.project(H[:5].copy()), constraint.project(H[5:].copy())]), P
        )
    assert not constraint.nonnegative or P.min() >= 0


@pytest.mark.parametrize("kind, parameters", [(Unit, ()), (Sparse, (2,)), (L1, (0.3,))])
def test_columns_are_the_rows_of_the_transpose(kind, parameters):
    H = np.random.default_rng(0).normal(size=(5, 4))
    constraint, twin = kind(*parameters, "columns"), kind(*parameters, "rows")
    assert_array_equal(constraint.project(H), twin.project(H.T.copy()).T)
    assert constraint.violation(H) == twin.violation(H.T)


def test_names_objects_and_everything_else():
    assert isinstance(as_constraint("free"), Constraint)
    unit = Unit("columns")
    assert as_constraint(unit) is unit
    assert repr(unit) == "Unit(axis='columns')"
    with pytest.raises(OptionError, match=r"constraint='round' is not known\. Choose one of 'free', 'l1'"):
        as_constraint("round")
    for wrong in (3, None, Box):
        with pytest.raises(OptionError, match=r"is not known.*'simplex'.*`project`"):
            as_constraint(wrong)


def test_a_projection_of_the_wrong_shape_is_named():
    class Wrong:
        def project(self, H):
            return H[:, 0]

    with pytest.raises(InputError, match=r"Wrong\.project.*\(4, 3\).*\(4,\)"):
        as_constraint(Wrong()).project(np.ones(SHAPE))


def test_a_projection_that_is_not_finite_is_named():
    class Sphere:
        def project(self, H):
            with np.errstate(invalid="ignore"):
                return H / np.linalg.norm(H, axis=1, keepdims=True)

    sphere = as_constraint(Sphere())
    assert sphere.violation(sphere.project(np.ones(SHAPE))) <= 1e-12
    with pytest.raises(InputError, match=r"Sphere\.project.*NaN.*may be zero"):
        sphere.project(np.zeros(SHAPE))


def test_parameters_that_are_not_possible():
    with pytest.raises(OptionError, match=r"axis='sideways'.*'rows', 'columns'"):
        Unit("sideways")
    with pytest.raises(OptionError, match=r"axis='sideways'.*'all'"):
        Sparse(2, "sideways")
    with pytest.raises(OptionError, match=r"n_nonzero=0"):
        Sparse(0)
    with pytest.raises(OptionError, match=r"radius=0"):
        L1(0)
    with pytest.raises(OptionError, match=r"total=-1"):
        registry.resolve("constraints", "simplex")(-1)
    with pytest.raises(InputError, match=r"3 orthonormal columns.*\(2, 3\)"):
        as_constraint("orthogonal").project(np.ones((2, 3)))
