"""Algorithm 1: a left-stochastic factor from eigenvectors and rotations."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from symclust import _kernels
from symclust._threads import single_threaded_blas
from symclust._types import Array
from symclust.left_stochastic.descent import (
    Descent,
    descend,
    far_apart_rotation,
    memberships,
    plane_basis,
    random_rotations,
)
from symclust.left_stochastic.embedding import Embedding, embed
from symclust.operators import Operator

SAMPLE = 1000  # points with which the starts descend first: k² numbers are to be found, not n
ROUGH = 10  # how much sooner they stop than the finalists, in multiples of tol
FINALISTS = 2  # starts that go on with all points


@dataclass(frozen=True)
class Rotation:
    """A left-stochastic factor P of a similarity, with rows on the simplex."""

    P: Array
    objective: float  # ‖K − PPᵀ/c‖², the objective (3)
    objectives: list[float]  # of all finalists
    descent: Descent  # of the finalist that won
    embedding: Embedding  # the points that were rotated


def rotate(
    operator: Operator,
    k: int,
    n_init: int,
    tol: float,
    max_iter: int,
    rng: np.random.RandomState,
    squared_norm: float | None = None,
) -> Rotation:
    """The left-stochastic factor that Algorithm 1 finds.

    The starts descend with a sample of the points. The most promising two go on with all points, fitted to
    those outside the simplex and the first also to all of them, and the objective (3) decides between them.
    Parameters are those of `LeftStochastic`; without `squared_norm`, ‖K‖², K is read once more.
    """
    embedding = embed(operator, k)
    points = embedding.points
    if k <= 2:
        # One dimension has no rotations: half the line belongs to each cluster.
        turn = np.ones((k - 1, k - 1), dtype=points.dtype)
        finalists = descend(points, turn[None], False, tol, 1)
        finalists[0].converged = True
    else:
        turns = _best_turns(embedding, n_init, tol, max_iter, rng)
        finalists = descend(points, turns, True, tol, max_iter, one_is_enough=True)
        finalists += descend(points, turns[:1], False, tol, max_iter, one_is_enough=True)
        # If one is exact, the objectives of the others differ from its own by rounding only.
        finalists = [found for found in finalists if found.exact] or finalists
        finalists = _most_promising(embedding, finalists)
    factors = [memberships(points, finalist.turn) for finalist in finalists]
    squared_norm = operator.squared_norm() if squared_norm is None else squared_norm
    products = np.split(operator @ np.concatenate(factors, axis=1), len(factors), axis=1)  # K is read once
    objectives = [
        objective(squared_norm, embedding.scale, *pair) for pair in zip(factors, products, strict=True)
    ]
    best = int(np.argmin(objectives))
    return Rotation(factors[best], objectives[best], objectives, finalists[best], embedding)


def _best_turns(
    embedding: Embedding, n_init: int, tol: float, max_iter: int, rng: np.random.RandomState
) -> Array:
    """The most promising rotations after a descent with a sample of the points."""
    points = embedding.points
    turns = starting_turns(points, n_init, rng)
    sample = points
    if len(points) > SAMPLE:
        sample = points[np.sort(rng.choice(len(points), SAMPLE, replace=False))]
    heats = descend(sample, turns, True, ROUGH * tol, max_iter, one_is_enough=True)
    return np.stack([heat.turn for heat in _most_promising(embedding, heats)])


def _most_promising(embedding: Embedding, found: list[Descent]) -> list[Descent]:
    points = embedding.points
    promise = [_rough_objective(embedding, memberships(points, descent.turn)) for descent in found]
    return [found[place] for place in np.argsort(promise, kind="stable")[:FINALISTS]]


def _rough_objective(embedding: Embedding, P: Array) -> float:
    """The objective (3) for MMᵀ instead of cK, less a constant: no product with K."""
    with single_threaded_blas():
        fit, G = embedding.factor.T @ P, P.T @ P
    return float(np.sum(G * G) - 2 * np.sum(fit * fit))


def starting_turns(points: Array, n_init: int, rng: np.random.RandomState) -> Array:
    """Rotations to start from: the first brings far-apart samples to the vertices, the others are random."""
    with single_threaded_blas():
        basis = plane_basis(points.shape[1] + 1, points.dtype)
        first = far_apart_rotation(points, basis)[None]
        others = random_rotations(n_init - 1, points.shape[1], rng)
        return np.concatenate([first, others.astype(points.dtype)])


def objective(squared_norm: float, scale: float, P: Array, KP: Array) -> float:
    """‖K − PPᵀ/c‖² (3) through the trace form, exact to about 1e-16 ‖K‖²."""
    fit = _kernels.inner(P.reshape(-1), np.ascontiguousarray(KP).reshape(-1)) / scale
    G = _kernels.gram(P)[0] / scale
    return max(squared_norm - 2 * fit + float(np.sum(G * G)), 0.0)
