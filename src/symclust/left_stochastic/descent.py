"""Turn the points into the simplex: rotate, project, find the rotation nearest to the projection, again."""

from __future__ import annotations

import time
from dataclasses import dataclass

import numpy as np
from scipy.linalg import helmert

from symclust._threads import checkpoint, map_blocks, single_threaded_blas, split
from symclust._types import Array
from symclust.constraints import project_simplex

PATIENCE = 5  # iterations whose common progress is judged: a single one may fail
ACCURACY = 1e-2  # of the points, relative to the root of machine precision: closer to the simplex is rounding
GROWTH, MOST = 0.1, 0.9  # of the momentum, which begins anew when the misfit rises
BATCH = 1 << 15  # numbers of one batch of starts: small problems go side by side, large ones one by one


# Rotations in the plane of the simplex, elements of SO(k − 1) -----------------------------------------------


def plane_basis(k: int, dtype: np.dtype) -> Array:
    """B, k × (k − 1): orthonormal columns that span the plane of the simplex, BᵀB = I and Bᵀ1 = 0."""
    return helmert(k).T.astype(dtype) if k > 1 else np.empty((1, 0), dtype=dtype)


def nearest_rotation(T: Array) -> Array:
    """The rotations g nearest to the matrices T, the maximisers of ⟨g, T⟩ (orthogonal Procrustes).

    UVᵀ may be a reflection: then the singular vector of the smallest singular value is flipped.
    """
    U, _, Vt = np.linalg.svd(T)
    U[..., -1:] *= np.sign(np.linalg.det(U @ Vt))[..., None, None]
    return U @ Vt


def random_rotations(count: int, size: int, rng: np.random.RandomState) -> Array:
    """Rotations distributed uniformly, (count, size, size)."""
    Q, R = np.linalg.qr(rng.standard_normal((count, size, size)))
    Q *= np.sign(np.diagonal(R, axis1=1, axis2=2))[:, None, :]
    Q[..., -1] *= np.sign(np.linalg.det(Q))[:, None]
    return Q


def far_apart_rotation(points: Array, basis: Array) -> Array:
    """The rotation that brings k samples far from each other nearest to the vertices.

    The samples are found one by one, each the one least explained by those before (successive projection).
    If every cluster has a sample that belongs to it alone, these are found and the rotation is exact.
    """
    k = basis.shape[0]
    left = np.column_stack([np.full(len(points), 1 / np.sqrt(k), dtype=points.dtype), points])
    chosen = []
    for _ in range(k):
        lengths = np.einsum("ij,ij->i", left, left)
        chosen.append(int(lengths.argmax()))
        direction = left[chosen[-1]] / np.sqrt(max(lengths[chosen[-1]], np.finfo(left.dtype).tiny))
        left = left - np.outer(left @ direction, direction)
    return nearest_rotation(points[chosen].T @ basis)


# Descent ----------------------------------------------------------------------------------------------------


@dataclass
class Descent:
    """The end of a start."""

    turn: Array  # the best rotation met
    misfit: float  # ‖Q − P‖² there, the distance that the projection on the simplex still moves
    misfits: list[float]  # of every iteration
    clock: list[float]  # when it was known
    converged: bool = False  # the misfit had stopped falling, or was rounding
    exact: bool = False  # it was rounding


def memberships(points: Array, turn: Array) -> Array:
    """The rotated points, projected on the simplex."""
    basis = plane_basis(points.shape[1] + 1, points.dtype)
    with single_threaded_blas():
        Q = points @ (turn.astype(points.dtype) @ basis.T)
    Q += Q.dtype.type(1 / Q.shape[1])
    return project_simplex(Q)


def descend(
    points: Array,
    turns: Array,
    outside_only: bool,
    tol: float,
    max_iter: int,
    one_is_enough: bool = False,
) -> list[Descent]:
    """Lower the misfit from every start.

    The steps converge linearly and slowly. Each is prolonged by a share of the one before, which grows to 0.9
    and begins anew when the misfit rises: a third to a quarter of the iterations. The best rotation is kept.
    """
    size = max(1, BATCH // max(points.size, 1))
    with single_threaded_blas():
        batches = map_blocks(
            lambda part: _Batch(points, turns[part], outside_only).run(tol, max_iter, one_is_enough),
            split(len(turns), size),
        )
    return [descent for batch in batches for descent in batch]


class _Batch:
    """Starts side by side; those that are done keep their place and are not computed any more."""

    def __init__(self, points: Array, turns: Array, outside_only: bool) -> None:
        self.points, self.outside_only = points, outside_only
        self.basis = plane_basis(points.shape[1] + 1, points.dtype)
        self.turns = turns.astype(points.dtype)
        self.found = [Descent(turn, np.inf, [], []) for turn in self.turns]
        self.last: Array | None = None
        self.momentum = np.zeros(len(turns), dtype=points.dtype)
        eps = float(np.finfo(points.dtype).eps)
        self.rounding = 8 * eps  # entries of Q this far below zero
        self.zero = ACCURACY**2 * eps * len(points)

    def run(self, tol: float, max_iter: int, one_is_enough: bool) -> list[Descent]:
        active = np.arange(len(self.turns))
        for _ in range(max_iter):
            checkpoint()  # Ctrl-C reaches the main thread alone
            active = self._step(active, tol)
            if not active.size or (one_is_enough and any(found.exact for found in self.found)):
                break
        return self.found

    def _step(self, active: Array, tol: float) -> Array:
        k = self.basis.shape[0]
        Q = self.points @ (self.turns[active] @ self.basis.T)
        Q += Q.dtype.type(1 / k)
        P = project_simplex(Q)
        outside = Q.min(axis=2) < -self.rounding
        Q -= P
        misfits = np.einsum("sij,sij->s", Q, Q, dtype=np.float64)
        going = [self._judge(*pair, tol) for pair in zip(active, misfits, strict=True)]
        if self.outside_only:
            P *= outside[:, :, None]
        # T = XᵀY with Y = (P − 1/k)B; the 1/k drop out since 1ᵀB = 0. The rotation nearest to T is found for
        # the points themselves, not for the rotated ones: it is whole and need not be composed with the last.
        self.turns[active] = nearest_rotation(self._prolonged(active, self.points.T @ P @ self.basis))
        return active[going]

    def _prolonged(self, active: Array, T: Array) -> Array:
        if self.last is None:
            self.last = T.copy()
        share = self.momentum[active, None, None]
        longer = T + share * (T - self.last[active])
        self.last[active] = T
        return longer

    def _judge(self, start: int, misfit: float, tol: float) -> bool:
        """Note the misfit; return whether this start goes on."""
        found = self.found[start]
        found.misfits.append(float(misfit))
        found.clock.append(time.perf_counter())
        if misfit < found.misfit:
            found.misfit, found.turn = float(misfit), self.turns[start].copy()
        fell = len(found.misfits) < 2 or misfit <= found.misfits[-2]
        self.momentum[start] = min(self.momentum[start] + GROWTH, MOST) if fell else 0
        if misfit <= self.zero:
            found.converged = found.exact = True
            return False
        if len(found.misfits) > PATIENCE:
            before = min(found.misfits[:-PATIENCE])
            found.converged = before - found.misfit <= PATIENCE * tol * before
        return not found.converged
