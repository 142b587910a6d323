"""The one-variable problem x⁴/4 + a x²/2 + b x over x >= 0, reached through one entry of one column."""

import numpy as np
import pytest
from hypothesis import example, given, settings
from hypothesis import strategies as st

from symclust import _kernels

EPS = np.finfo(float).eps


def quartic(x, a, b):
    return x * x * (x * x / 4 + a / 2) + b * x


def quartic_minimiser(a, b, guess=0.0):
    """Two nodes and one column: the first node's problem has curvature a and slope b.

    The second entry of H is 1 and a₁₂ = −b makes the slope; a₁₁ = −a makes the curvature, since G holds
    nothing but the guess itself.
    """
    H, G = np.array([[guess], [1.0]]), np.array([[guess * guess]])
    indptr, indices = np.array([0, 2, 2], np.int32), np.array([0, 1], np.int32)
    values, diagonal = np.array([-a, -b]), np.array([-a, 0.0])
    ids, none = np.arange(2), np.empty(0, dtype=np.int64)
    _kernels.coordinate_sparse(
        indptr, indices, values, diagonal, H, H[:, 0].copy(), G, 0, True, ids, none, none, np.zeros(2)
    )
    return H[0, 0]


def scaled(lowest, highest):
    """Numbers of both signs whose size is a power of ten anywhere between the two."""
    sizes = st.floats(lowest, highest).map(lambda e: 10.0**e)
    return st.one_of(st.just(0.0), sizes, sizes.map(lambda x: -x))


def best_on_a_grid(a, b):
    """Return the lowest value at zero, at the roots of the derivative, and on a grid that covers them."""
    unit = np.sqrt(abs(a)) + np.cbrt(abs(b))  # no minimiser lies beyond
    roots = unit * np.roots([1.0, 0.0, a / unit**2, b / unit**3]).real if unit > 0 else np.zeros(1)
    x = np.concatenate([[0.0], roots[roots > 0], np.linspace(0, 2 * unit, 2001)])
    return quartic(x, a, b).min()


def rounding(x, a, b, guess=0.0):
    """Rounding of the value, and of a slope that is met as a difference of terms with the guess in them."""
    unit = np.sqrt(abs(a)) + np.cbrt(abs(b))
    return 8 * EPS * (x**4 + abs(a) * x * x + abs(b * x) + guess * (abs(a) + guess**2) * (x + unit))


def check(a, b, guess=0.0):
    x = quartic_minimiser(a, b, guess)
    unit = np.sqrt(abs(a)) + np.cbrt(abs(b))
    assert np.isfinite(x)
    assert x >= 0
    # Below rounding of the values that the problem has on its own scale, nothing can be told apart.
    smallest = EPS**2 * (unit**4 + abs(a) * unit**2)
    assert quartic(x, a, b) <= best_on_a_grid(a, b) + rounding(x, a, b, guess) + smallest


@settings(max_examples=300)
@given(a=scaled(-3, 3), b=scaled(-3, 3))
@example(a=0.0, b=0.0)
@example(a=-1.0, b=0.0)
@example(a=1.0, b=0.0)
@example(a=0.0, b=-8.0)
@example(a=-3.0, b=2.0)  # a double root: the derivative touches zero
def test_the_minimiser_on_ordinary_scales(a, b):
    check(a, b)


@settings(max_examples=300)
@given(a=scaled(-60, 60), b=scaled(-60, 60))
def test_the_minimiser_on_extreme_scales(a, b):
    check(a, b)


@settings(max_examples=200)
@given(a=scaled(-2, 2), b=scaled(-2, 2), guess=st.floats(-3, 3).map(lambda e: 10.0**e))
def test_a_guess_saves_steps_but_no_accuracy(a, b, guess):
    check(a, b, guess)


@settings(max_examples=100)
@given(a=scaled(-3, 3), b=scaled(-3, 3), e=st.integers(-20, 20))
def test_the_minimiser_scales_with_the_problem(a, b, e):
    s = 2.0**e  # powers of two scale without rounding
    assert quartic_minimiser(a * s**2, b * s**3) == pytest.approx(s * quartic_minimiser(a, b), rel=1e-12)


@settings(max_examples=100)
@given(x=st.floats(-5, 5).map(lambda e: 10.0**e), a=scaled(-2, 2))
def test_a_known_root_is_found_exactly(x, a):
    if a < -(x**2) / 2:  # keep the root on the convex part, where it is the global minimiser
        a = -(x**2) / 2
    b = -(x**3) - a * x
    assert quartic_minimiser(a, b) == pytest.approx(x, rel=1e-9)


@pytest.mark.parametrize(
    ("a", "b", "expected"),
    [
        (0.0, 0.0, 0.0), (1.0, 1.0, 0.0), (-4.0, 0.0, 2.0), (0.0, -27.0, 3.0), (-3.0, 2.0, 0.0),
        (-3.0, 1.5, 0.0), (-3.0, 1.4, 1.4189200554), (1.0, -2.0, 1.0),
    ],
)  # fmt: skip
def test_worked_examples(a, b, expected):
    # At a = −3 zero and the other minimiser are equally good for b = 1.4142: left of it the other one wins.
    assert quartic_minimiser(a, b) == pytest.approx(expected, abs=1e-9)
