"""Which other rotations of a factor are possible, and what they give."""

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy.optimize import linear_sum_assignment

from symclust import LeftStochastic
from symclust.exceptions import InputError
from symclust.left_stochastic import assign_sizes
from symclust.left_stochastic.clusterings import (
    canonical,
    measure_angles,
    other_clusterings,
    possible_angles,
)
from symclust.left_stochastic.descent import memberships, plane_basis


def turned(P, angle):
    B = plane_basis(3, np.dtype(float))
    R = np.array([[np.cos(angle), np.sin(angle)], [-np.sin(angle), np.cos(angle)]])
    return 1 / 3 + P @ B @ R @ B.T


def at(angles, radii):
    """Points of the plane by angle from the first vertex, in degrees, and radius."""
    B = plane_basis(3, np.dtype(float))
    vertex = np.arctan2(B[0, 1], B[0, 0])
    a = np.deg2rad(angles) + vertex
    return 1 / 3 + (np.asarray(radii)[:, None] * np.column_stack([np.cos(a), np.sin(a)])) @ B.T


def brute_force(P, steps=720):
    """Labels of all rotations on a grid that leave no row outside."""
    found = set()
    for angle in np.linspace(0, 2 * np.pi / 3, steps, endpoint=False):
        Q = turned(P, angle)
        if Q.min() >= -1e-9:
            found.add(canonical(Q.argmax(axis=1)).tobytes())
    return found


@settings(max_examples=20)
@given(st.integers(1, 8), st.integers(0, 10_000), st.sampled_from([0.3, 1.0, 5.0]))
def test_all_clusterings_of_three_clusters_are_found(n, seed, concentration):
    P = np.random.default_rng(seed).dirichlet(np.full(3, concentration), n)
    own = {canonical(P.argmax(axis=1)).tobytes()}
    others = {labels.tobytes() for labels in other_clusterings(P, 1e-9, 1000, 0, np.random.RandomState(0))}
    assert brute_force(P) - own <= others
    # What the grid is too coarse to see must still be possible.
    for start, stop in possible_angles(measure_angles(P, 1e-9)):
        assert turned(P, (start + stop) / 2).min() >= -1e-7


def passes_angle_test(P):
    """α < β of section 2.4, found by turning in small steps until a row is outside or changes its cluster."""
    own, step = P.argmax(axis=1), np.deg2rad(0.05)
    for way in (step, -step):
        Q, turns = turned(P, way), 1
        while Q.min() >= 0 and turns * step < 2 * np.pi / 3:
            if (Q.argmax(axis=1) != own).any():
                return False
            turns += 1
            Q = turned(P, turns * way)
    return True


def fitted(P):
    return LeftStochastic(P.shape[1], affinity="precomputed", random_state=0).fit(P @ P.T)


def test_the_angle_test_of_the_paper():
    vertices = at([0, 120, 240], [0.8, 0.8, 0.8])
    assert passes_angle_test(vertices)
    assert fitted(vertices).is_unique_
    inner = at([0, 120, 240, 50], [0.5, 0.5, 0.5, 0.2])  # the last may cross the border at 60° first
    assert not passes_angle_test(inner)
    assert not fitted(inner).is_unique_


def test_samples_that_all_cross_together_keep_their_clusters():
    """The paper's condition is sufficient: it fails here, and yet all rotations give the same clusters."""
    P = at([0, 120, 240], [0.1, 0.1, 0.1])
    assert not passes_angle_test(P)
    model = fitted(P)
    assert model.is_unique_
    assert model.alternative_clusterings() == []


@pytest.mark.parametrize("seed", [15, 17, 52])
def test_rotations_far_away_are_followed_to_their_end(seed):
    """Starts near the identity are done at once; those from elsewhere take their time and find more."""
    n = {15: 12, 17: 6, 52: 4}[seed]
    concentration = {0: 0.5, 1: 1.0, 2: 2.0}[seed % 3]
    P = np.random.default_rng(seed).dirichlet(np.full(4, concentration), n)
    others = other_clusterings(P, 1e-8, 20, 200, np.random.RandomState(0))
    assert others
    own = canonical(P.argmax(axis=1)).tolist()
    assert all(labels.tolist() != own for labels in others)


def test_the_search_stops_when_enough_are_found(monkeypatch):
    looks = []
    monkeypatch.setattr(
        "symclust.left_stochastic.clusterings.memberships",
        lambda points, turn: looks.append(1) or memberships(points, turn),
    )
    P = np.random.default_rng(0).dirichlet(np.full(3, 30.0), 500)
    assert len(other_clusterings(P, 1e-8, 2, 0, np.random.RandomState(0))) == 2
    assert len(looks) < 10


def test_clusters_beyond_a_gap_are_seen_though_the_angle_test_does_not():
    """Two points hold the factor at ±20°; a third leaves the simplex at −5° and is back, across, at −15°."""
    reach = (1 / np.sqrt(6)) / np.cos(np.deg2rad([30, 30, 5]))
    P = at([10, -10, -50], reach)
    assert P.min() > -1e-9
    assert passes_angle_test(P)
    assert len(other_clusterings(P, 1e-9, 10, 0, np.random.RandomState(0))) == 1
    moved = turned(P, np.deg2rad(-17))
    assert moved.min() > 0
    assert canonical(moved.argmax(axis=1)).tolist() != canonical(P.argmax(axis=1)).tolist()


@pytest.mark.parametrize("k", [3, 4, 5])
def test_a_factor_with_a_sample_at_every_vertex_is_unique(k):
    P = np.vstack([np.eye(k), np.random.default_rng(0).dirichlet(np.full(k, 0.3), 40)])
    model = LeftStochastic(k, affinity="precomputed", random_state=0).fit(P @ P.T)
    assert model.is_unique_
    assert model.alternative_clusterings(random_state=1) == []


@pytest.mark.parametrize("k", [3, 4, 5])
def test_samples_near_the_centre_may_turn_freely(k):
    P = np.random.default_rng(0).dirichlet(np.full(k, 60.0), 40)
    K = P @ P.T
    model = LeftStochastic(k, affinity="precomputed", random_state=0).fit(K)
    assert not model.is_unique_
    others = model.alternative_clusterings(most=5, random_state=0)
    assert len(others) == 5
    assert len({canonical(labels).tobytes() for labels in [*others, model.labels_]}) == 6


def test_two_clusters_are_unique():
    P = np.random.default_rng(0).dirichlet([5.0, 5.0], 30)
    assert LeftStochastic(2, affinity="precomputed").fit(P @ P.T).is_unique_


@settings(max_examples=25)
@given(st.integers(2, 12), st.integers(2, 4), st.integers(0, 1000))
def test_given_sizes_are_kept_and_the_sum_is_the_largest(n, k, seed):
    rng = np.random.default_rng(seed)
    P = rng.dirichlet(np.ones(k), n)
    sizes = rng.multinomial(n, np.full(k, 1 / k))
    labels = assign_sizes(P, sizes)
    assert np.bincount(labels, minlength=k).tolist() == sizes.tolist()
    places = np.repeat(np.arange(k), sizes)  # one column a place: an assignment problem
    rows, columns = linear_sum_assignment(P[:, places], maximize=True)
    assert P[np.arange(n), labels].sum() == pytest.approx(P[:, places][rows, columns].sum())


def test_sizes_may_be_shares_of_the_samples():
    P = np.full((8, 2), 0.5)
    assert np.bincount(assign_sizes(P, 8 * np.array([0.75, 0.25]))).tolist() == [6, 2]


@pytest.mark.parametrize(
    "sizes", [[1, 2], [3, 3, -1], [1.5, 1.5, 2], [1, 1, 1], [np.nan, 2, 3], [np.inf, -np.inf, 5], "abc"]
)
def test_sizes_that_do_not_fit_are_refused(sizes):
    with pytest.raises(InputError, match="3 whole numbers"):
        assign_sizes(np.full((5, 3), 1 / 3), sizes)
