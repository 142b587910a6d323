"""Projections against every possible support, sign and angle of small cases."""

from itertools import combinations, product

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from hypothesis.extra.numpy import arrays
from numpy.testing import assert_allclose, assert_array_equal

from symclust.constraints import L1, OnePerRow, Orthogonal, Simplex, Sparse, Unit

VECTORS = arrays(np.float64, st.integers(1, 4), elements=st.floats(-5, 5))


def supports(k, largest):
    return [list(S) for size in range(1, largest + 1) for S in combinations(range(k), size)]


def nearest(v, candidates):
    return min(candidates, key=lambda c: np.linalg.norm(v - c))


def assert_as_near(found, v, best):
    """Compare distances: to the nearest point they are flat, so points agree to half the digits only."""
    assert np.linalg.norm(v - found) == pytest.approx(np.linalg.norm(v - best), abs=1e-12)
    assert_allclose(found, best, atol=1e-6)


def on_simplex(v, total):
    """Every support: the affine projection, where it is nonnegative."""
    candidates = []
    for S in supports(len(v), len(v)):
        c = np.zeros_like(v)
        c[S] = v[S] - (v[S].sum() - total) / len(S)
        if c.min() >= 0:
            candidates.append(c)
    return nearest(v, candidates)


@settings(max_examples=150)
@given(VECTORS, st.floats(0.1, 4))
def test_simplex(v, total):
    found = Simplex(total).project(v[None])[0]
    assert Simplex(total).violation(found[None]) <= 1e-12
    assert_as_near(found, v, on_simplex(v, total))


@settings(max_examples=100)
@given(VECTORS, st.floats(0.1, 4))
def test_l1_ball(v, radius):
    candidates = [v] if np.abs(v).sum() <= radius else []
    for signs in product([-1, 1], repeat=len(v)):
        candidates.append(np.array(signs) * on_simplex(np.array(signs) * v, radius))
    found = L1(radius).project(v[None])[0]
    assert L1(radius).violation(found[None]) <= 1e-12
    assert_as_near(found, v, nearest(v, candidates))


@settings(max_examples=100)
@given(VECTORS, st.integers(1, 4))
def test_sparse(v, s):
    candidates = []
    for S in supports(len(v), min(s, len(v))):
        c = np.zeros_like(v)
        c[S] = v[S]
        candidates.append(c)
    found = Sparse(s).project(v[None])[0]
    assert np.count_nonzero(found) <= s
    assert np.linalg.norm(v - found) == pytest.approx(np.linalg.norm(v - nearest(v, candidates)), abs=1e-12)


@settings(max_examples=60)
@given(arrays(np.float64, (3, 2), elements=st.floats(-5, 5)))
def test_one_per_row(H):
    candidates = []
    for places in product([-1, 0, 1], repeat=3):  # −1: the row is zero
        c = np.zeros_like(H)
        for i, j in enumerate(places):
            if j >= 0:
                c[i, j] = max(H[i, j], 0)
        candidates.append(c)
    found = OnePerRow().project(H)
    G = found.T @ found
    assert_array_equal(G - np.diag(np.diag(G)), 0)  # orthogonal columns
    assert np.linalg.norm(H - found) == pytest.approx(np.linalg.norm(H - nearest(H, candidates)), abs=1e-12)


ANGLES = np.linspace(0, 2 * np.pi, 2000, endpoint=False)
GRID = np.pi / 2000  # how far a point of the circle may lie from the nearest angle


@settings(max_examples=60)
@given(arrays(np.float64, 2, elements=st.floats(-5, 5)))
def test_unit(v):
    circle = np.stack([np.cos(ANGLES), np.sin(ANGLES)], axis=1)
    found = Unit().project(v[None])[0]
    best = np.linalg.norm(v - circle, axis=1).min()
    assert np.linalg.norm(found) == pytest.approx(1, abs=1e-14)
    assert best - GRID <= np.linalg.norm(v - found) <= best + 1e-9


@settings(max_examples=60)
@given(arrays(np.float64, (2, 2), elements=st.floats(-5, 5)))
def test_orthogonal(H):
    c, s = np.cos(ANGLES), np.sin(ANGLES)
    turns = np.stack([np.stack([c, -s], axis=1), np.stack([s, c], axis=1)], axis=1)
    flips = turns * np.array([1, -1])
    best = np.linalg.norm(H - np.concatenate([turns, flips]), axis=(1, 2)).min()
    found = Orthogonal().project(H)
    assert_allclose(found.T @ found, np.eye(2), atol=1e-14)
    assert best - 2 * GRID <= np.linalg.norm(H - found) <= best + 1e-9


@pytest.mark.parametrize("v", [[0.0, 0.0], [1e-320, 0.0], [1e300, -1e300]])
def test_unit_vectors_of_extreme_lengths(v):
    assert np.linalg.norm(Unit().project(np.array([v]))) == pytest.approx(1, abs=1e-14)


def test_equal_entries_are_told_apart_by_their_order():
    assert Sparse(1).project(np.array([[2.0, -2.0]])).tolist() == [[2.0, 0.0]]
    assert OnePerRow().project(np.array([[2.0, 2.0]])).tolist() == [[2.0, 0.0]]


def test_large_entries_do_not_swallow_the_sum_of_the_simplex():
    found = Simplex().project(np.array([[1e17, 1e17, -1e17]]))
    assert_allclose(found, [[0.5, 0.5, 0.0]])
