"""Clusters read off a factor: other ones that it allows as well, and those of given sizes.

All left-stochastic factors of PPᵀ are rotations of P about the normal of the simplex that leave no row
outside (Arora, Gupta, Kapila and Fazel 2013, theorem 3). Two clusters have none but the exchange of names.
For three the rotations are angles, and the possible ones are known exactly; for more, some are tried.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
from scipy import sparse
from scipy.optimize import linprog

from symclust._types import Array
from symclust.exceptions import InputError
from symclust.left_stochastic.descent import (
    descend,
    memberships,
    nearest_rotation,
    plane_basis,
    random_rotations,
)

PERIOD = 2 * np.pi / 3  # turning by it exchanges names only
INRADIUS = 1 / np.sqrt(6)  # of the simplex of three: points within may turn freely
SIZES = (0.03, 0.1, 0.3, 1.0)  # of the rotations near the identity that are tried


def canonical(labels: Array) -> Array:
    """Labels renamed in the order in which they appear: equal for equal partitions."""
    _, first, inverse = np.unique(labels, return_index=True, return_inverse=True)
    return np.argsort(np.argsort(first))[inverse]


@dataclass(frozen=True)
class Angles:
    """The points of three clusters by how far they may turn."""

    border: Array  # from 0 to 120°, where a point turning anticlockwise meets the border of two clusters
    outside: Array  # half of the angle around it in which the point is outside the simplex; 0 if it never is
    free: Array  # points that cross borders without leaving the simplex, those at the very centre excepted


def measure_angles(P: Array, tolerance: float) -> Angles:
    """The angles of the rows of P, in linear time."""
    basis = plane_basis(3, P.dtype)
    x = (P @ basis).astype(np.float64)
    radius = np.hypot(*x.T)
    vertex = np.arctan2(basis[0, 1], basis[0, 0])
    border = (np.pi / 3 - (np.arctan2(x[:, 1], x[:, 0]) - vertex)) % PERIOD
    reach = INRADIUS + tolerance
    outside = np.arccos(np.divide(reach, radius, out=np.ones_like(radius), where=radius > reach))
    return Angles(border, outside, (outside == 0) & (radius > tolerance))


@dataclass(frozen=True)
class Freedom:
    """How far the samples of three clusters may turn about the simplex's centre, in radians (section 2.4).

    α_c and α_ac (`outside`) are the angles at which the first sample leaves the simplex; 120° if none does
    before the names of the clusters have changed places. β_c and β_ac (`border`) are those at which the first
    sample crosses the border of two clusters.
    """

    outside_clockwise: float
    outside_anticlockwise: float
    border_clockwise: float
    border_anticlockwise: float

    @property
    def is_enough(self) -> bool:
        """Whether samples leave the simplex before they change clusters: the condition of the paper."""
        clockwise = self.outside_clockwise < self.border_clockwise
        return clockwise and self.outside_anticlockwise < self.border_anticlockwise


def freedom(P: Array, tolerance: float) -> Freedom:
    """α and β of theorem 4 for three clusters."""
    angles = measure_angles(P, tolerance)
    held = angles.outside > 0
    turning = held | angles.free
    return Freedom(
        float(np.min((PERIOD - angles.border - angles.outside)[held], initial=PERIOD)),
        float(np.min((angles.border - angles.outside)[held], initial=PERIOD)),
        float(np.min((PERIOD - angles.border)[turning], initial=PERIOD)),
        float(np.min(angles.border[turning], initial=PERIOD)),
    )


def possible_angles(angles: Angles) -> list[tuple[float, float]]:
    """The intervals of [0, 120°) in which no point is outside, from left to right."""
    held = angles.outside > 0
    start = (angles.border - angles.outside)[held]
    stop = (angles.border + angles.outside)[held]
    # Intervals that reach over an end are repeated at the other.
    start = np.concatenate([start, start - PERIOD, start + PERIOD])
    stop = np.concatenate([stop, stop - PERIOD, stop + PERIOD])
    order = np.argsort(start, kind="stable")
    reached = np.maximum.accumulate(np.concatenate([[0.0], stop[order]]))
    begins = np.concatenate([start[order], [PERIOD]])
    gaps = (begins > reached) & (reached < PERIOD) & (begins > 0)
    return [(float(a), float(min(b, PERIOD))) for a, b in zip(reached[gaps], begins[gaps], strict=True)]


def other_clusterings(
    P: Array, tolerance: float, most: int, n_rotations: int, rng: np.random.RandomState
) -> list[Array]:
    """The labels of other factors of PPᵀ, up to `most` that differ by more than names.

    P has rows on the simplex; the others are parameters of `LeftStochastic.alternative_clusterings`.
    """
    k = P.shape[1]
    if k < 3:
        return []
    points = np.ascontiguousarray(P @ plane_basis(k, P.dtype))
    turns = _angle_turns(P, tolerance) if k == 3 else _tried_turns(points, tolerance, n_rotations, rng)
    seen = {canonical(P.argmax(axis=1)).tobytes()}
    found: list[Array] = []
    for turn in turns:
        labels = canonical(memberships(points, turn).argmax(axis=1))
        if labels.tobytes() not in seen:
            seen.add(labels.tobytes())
            found.append(labels)
        if len(found) == most:
            break
    return found


def _angle_turns(P: Array, tolerance: float) -> list[Array]:
    """One rotation for each interval of angles in which the clusters are the same, from 0 on.

    By the condition of 2.4, α_c < β_c and α_ac < β_ac, the intervals next to 0 on both sides have no crossing
    within. Those further on count as much, and all are returned; sorting them takes n log n.
    """
    angles = measure_angles(P, tolerance)
    crossings = np.sort(angles.border[angles.free])
    turns = []
    for start, stop in possible_angles(angles):
        inside = crossings[(crossings > start) & (crossings < stop)]
        borders = np.concatenate([[start], inside, [stop]])
        wide = np.diff(borders) > tolerance  # samples that cross together do so up to rounding
        turns += [_plane_turn(angle) for angle in ((borders[:-1] + borders[1:]) / 2)[wide]]
    return turns


def _plane_turn(angle: float) -> Array:
    """The anticlockwise rotation of points that are rows."""
    return np.array([[np.cos(angle), np.sin(angle)], [-np.sin(angle), np.cos(angle)]])


def _tried_turns(points: Array, tolerance: float, count: int, rng: np.random.RandomState) -> list[Array]:
    """Rotations into the simplex found from starts near the identity and from random ones."""
    size = points.shape[1]
    noise = rng.standard_normal((count // 2, size, size)) / np.sqrt(size)
    steps = np.resize(SIZES, len(noise))[:, None, None]
    near = nearest_rotation(np.eye(size) + steps * (noise - noise.transpose(0, 2, 1)))
    starts = np.concatenate([near, random_rotations(count - len(near), size, rng)])
    ends = descend(points, starts, True, 1e-3, 200)
    return [end.turn for end in ends if end.misfit <= len(points) * tolerance**2]


def assign_sizes(P: Array, sizes: Any) -> Array:
    """Labels with `sizes[j]` samples in cluster j and the largest sum of probabilities.

    A transport problem: max Σ p_ij x_ij with Σ_j x_ij = 1 and Σ_i x_ij = sizes_j, whose vertices are whole
    numbers; solved by SciPy's simplex method.
    """
    n, k = P.shape
    sizes = np.asarray(sizes)
    if sizes.shape != (k,) or not _are_counts(sizes) or sizes.sum() != n:
        raise InputError(
            f"sizes must be {k} whole numbers, one per cluster, that add up to {n} samples; got {sizes!r}."
        )
    rows = sparse.kron(sparse.eye_array(n), np.ones((1, k)))
    columns = sparse.kron(np.ones((1, n)), sparse.eye_array(k))
    equal = np.concatenate([np.ones(n), sizes])
    A = sparse.vstack([rows, columns]).tocsr()
    # Presolving takes a hundred times longer than solving: 33 s instead of 0.14 s for 4,000 samples.
    found = linprog(
        -P.reshape(-1).astype(np.float64),
        A_eq=A,
        b_eq=equal,
        bounds=(0, 1),
        method="highs-ds",
        options={"presolve": False},
    )
    return found.x.reshape(n, k).argmax(axis=1)


def _are_counts(sizes: Array) -> bool:
    return sizes.dtype.kind in "iuf" and bool(np.all((sizes >= 0) & (sizes == np.round(sizes))))
