"""What holds for every constraint of the registry, and for one of the user's own."""

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from hypothesis.extra.numpy import arrays
from numpy.testing import assert_allclose, assert_array_equal

from symclust import registry
from symclust.constraints import L1, Constraint, Orthogonal, Sparse, Unit, as_constraint
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


@pytest.mark.parametrize("name", ["free", "nonnegative"])
def test_random_points_have_the_size_that_is_asked_for(name):
    constraint = as_constraint(name)
    for level, expected in (((), 1.0), ((0.25,), 0.25)):
        H = constraint.random((500, 8), np.random.RandomState(0), *level)
        assert np.sqrt(np.mean(H**2)) == pytest.approx(expected, rel=0.05)


@pytest.mark.parametrize("name", ["free", "nonnegative", "sparse", "one_per_row"])
def test_random_points_of_a_cone_grow_with_their_level(name):
    one, three = (
        as_constraint(name).random((9, 4), np.random.RandomState(0), *level) for level in ((), (3,))
    )
    assert_allclose(three, 3 * one)


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


@pytest.mark.parametrize(
    ("constraint", "H", "expected"),
    [
        ("one_per_row", [[0.0, 3.0], [2.0, 0.5]], 0.5),
        ("one_per_row", [[0.0, 3.0], [-2.0, 0.0]], 2.0),
        ("one_per_row", [[3.0], [2.0]], 0.0),
        (Sparse(1), [[0.0, 3.0], [2.0, -0.5]], 0.5),
        (Sparse(1, "columns"), [[0.0, 3.0], [2.0, -0.5]], 0.5),
        (Sparse(2, "all"), [[0.0, 3.0], [2.0, -0.5]], 0.5),
        (L1(2.0), [[0.0, 3.0], [2.0, -0.5]], 1.0),
        (L1(2.0, "columns"), [[0.0, 3.0], [2.0, -0.5]], 1.5),
        (Unit(), [[0.0, 1.0], [3.0, -4.0]], 4.0),
        (Unit("columns"), [[0.0], [0.25]], 0.75),
        ("orthogonal", [[1.0, 0.5], [0.0, 1.0]], 0.5),
        ("simplex", [[0.5, 0.5], [0.5, 0.75]], 0.25),
        ("simplex", [[1.0, 0.0], [1.5, -0.5]], 0.5),
        (Box(), [[3.0, 0.0]], 1.0),
    ],
)
def test_a_violation_is_how_far_the_worst_entry_or_vector_is_off(constraint, H, expected):
    assert as_constraint(constraint).violation(np.array(H)) == pytest.approx(expected)


@every_set
def test_no_rows_violate_nothing(constraint):
    k = 0 if isinstance(constraint, Orthogonal) else 3  # three columns are not orthonormal without rows
    assert constraint.violation(np.empty((0, k))) == 0.0


def test_entries_counted_in_columns_do_not_limit_a_row():
    assert [Sparse(2, axis).most_per_row for axis in ("rows", "columns", "all")] == [2, None, None]


@pytest.mark.parametrize(
    ("constraint", "H", "gradient", "expected"),
    [
        ("one_per_row", [[0, 2]], [[-3, 4]], [[0, 4]]),  # the entry stays in its column
        (
            "one_per_row",
            [[0, 0], [0, 2]],
            [[-1, -3], [-3, 4]],
            [[0, -3], [0, 4]],
        ),  # the steepest way out of zero
        ("one_per_row", [[0, 0], [1, 0]], [[2, 3], [-5, -6]], [[0, 0], [-5, 0]]),  # no way out of zero
        ("nonnegative", [[0, 0, 2]], [[3, -3, 4]], [[0, -3, 4]]),
        ("free", [[0, -2]], [[3, -3]], [[3, -3]]),
        ("unit", [[0, 1], [0.6, 0.8]], [[3, 5], [0.6, 0.8]], [[3, 0], [0, 0]]),
        (Unit("columns"), [[0, 0.6], [1, 0.8]], [[3, 0.6], [5, 0.8]], [[3, 0], [0, 0]]),
        ("orthogonal", [[1, 0], [0, 1], [0, 0]], [[3, 5], [1, 4], [7, 8]], [[0, 2], [-2, 0], [7, 8]]),
        ("simplex", [[0.5, 0.5, 0.0]], [[1, 1, 2]], [[0, 0, 0]]),
        ("simplex", [[0.5, 0.5]], [[1, 1.2]], [[-0.1, 0.1]]),
    ],
)
def test_projected_gradients_that_are_known(constraint, H, gradient, expected):
    H, gradient = np.array(H, dtype=float), np.array(gradient, dtype=float)
    assert_allclose(as_constraint(constraint).projected_gradient(H, gradient), expected, atol=1e-12)


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


@pytest.mark.parametrize("dtype", [complex, bool, object, str])
def test_a_projection_that_is_no_numbers_is_named(dtype):
    class Wrong:
        def project(self, H):
            return np.ones(SHAPE).astype(dtype)

    with pytest.raises(InputError, match=r"Wrong\.project must return an array of numbers.*and dtype "):
        as_constraint(Wrong()).project(np.ones(SHAPE))


@pytest.mark.parametrize("dtype", [np.float32, np.float64])
@pytest.mark.parametrize("answer", [np.int64, np.uint8, np.float64, "rows", "lists"])
def test_a_projection_of_the_users_own_keeps_the_precision_and_the_order_of_h(dtype, answer):
    class Own:
        def project(self, H):
            H[:] = 1
            return H.T.copy().T if answer == "rows" else H.tolist() if answer == "lists" else H.astype(answer)

    H = np.zeros(SHAPE, dtype=dtype)
    found = as_constraint(Own()).project(H)
    assert (found.dtype, found.flags.c_contiguous) == (dtype, True)
    assert_array_equal(found, np.ones(SHAPE))
    assert_array_equal(H, np.zeros(SHAPE))  # it works on a copy


@pytest.mark.parametrize("size", [0.0, 1e-30, 1.0, 1e30])
def test_the_default_measure_of_stationarity_has_the_unit_of_the_gradient(size):
    # At the lower corner of the box, or of a tiny or a huge one: only negative entries lead inside.
    class Corner:
        def project(self, H):
            return np.maximum(H, size)

    H, gradient = np.full((2, 2), size), np.array([[3.0, -4.0], [0.0, 1e-3]])
    for scale in (1e-20, 1.0, 1e20):
        found = as_constraint(Corner()).projected_gradient(H, scale * gradient)
        assert_allclose(found, scale * np.array([[0.0, -4.0], [0.0, 0.0]]), rtol=1e-4)
    assert_array_equal(as_constraint(Corner()).projected_gradient(H, 0 * gradient), np.zeros((2, 2)))


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
