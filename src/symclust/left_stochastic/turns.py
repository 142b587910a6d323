"""Rotations in the plane of the simplex, elements of SO(k − 1)."""

from __future__ import annotations

import numpy as np
from scipy.linalg import helmert

from symclust._types import Array


def plane_basis(k: int, dtype: np.dtype) -> Array:
    """Return B, k × (k − 1): orthonormal columns that span the plane of the simplex, BᵀB = I and Bᵀ1 = 0."""
    return helmert(k).T.astype(dtype) if k > 1 else np.empty((1, 0), dtype=dtype)


def nearest_rotation(T: Array) -> Array:
    """Return the rotations g nearest to the matrices T, the maximisers of ⟨g, T⟩ (orthogonal Procrustes).

    UVᵀ may be a reflection: the singular vector of the smallest singular value is flipped where it is.
    """
    U, _, Vt = np.linalg.svd(T)
    U[..., -1:] *= np.sign(np.linalg.det(U @ Vt))[..., None, None]
    return U @ Vt


def random_rotations(count: int, size: int, rng: np.random.RandomState) -> Array:
    """Return rotations distributed uniformly, (count, size, size)."""
    Q, R = np.linalg.qr(rng.standard_normal((count, size, size)))
    Q *= np.sign(np.diagonal(R, axis1=1, axis2=2))[:, None, :]
    Q[..., -1] *= np.sign(np.linalg.det(Q))[:, None]
    return Q


def far_apart_rotation(points: Array, basis: Array) -> Array:
    """Return the rotation that brings k samples far from each other nearest to the vertices.

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
