"""Rows of eigenvectors, and Yu and Shi's way from them to clusters."""

from __future__ import annotations

import numpy as np

from symclust._threads import single_threaded_blas
from symclust._types import Array
from symclust.operators import Operator

__all__ = ["discretize", "embedded_rows"]

ROUNDS = 100  # of turning and rounding; a few dozen are enough


def embedded_rows(K: Operator, k: int) -> Array:
    """Return the k leading eigenvectors of K with rows of unit length, or zero."""
    _, vectors = K.eigsh(k)
    lengths = np.linalg.norm(vectors, axis=1, keepdims=True)
    return vectors / np.where(lengths > 0, lengths, 1)


def discretize(rows: Array, n_init: int, rng: np.random.RandomState) -> tuple[Array, float]:
    """Return labels and their squared distance to the rows, turned until each has one large entry.

    Yu and Shi (2003); the best of n_init starting rotations.

    Examples
    --------
    >>> import numpy as np
    >>> from symclust.baselines import discretize
    >>> rows = np.array([[0.8, 0.6], [0.8, 0.6], [-0.6, 0.8]])
    >>> labels, distance = discretize(rows, 1, np.random.RandomState(0))
    >>> bool(labels[0] == labels[1] != labels[2]), distance < 1e-12
    (True, True)
    """
    with single_threaded_blas():
        found = [_alternate(rows, _far_apart(rows, rng)) for _ in range(n_init)]
    return min(found, key=lambda pair: pair[1])


def _far_apart(rows: Array, rng: np.random.RandomState) -> Array:
    """Return k rows that are far from parallel to each other, the first at random, as columns."""
    chosen = [int(rng.randint(len(rows)))]
    nearness = np.zeros(len(rows), dtype=rows.dtype)
    for _ in range(rows.shape[1] - 1):
        nearness += np.abs(rows @ rows[chosen[-1]])
        chosen.append(int(nearness.argmin()))
    return rows[chosen].T


def _alternate(rows: Array, R: Array) -> tuple[Array, float]:
    """Alternate between rounding the turned rows and turning them towards the rounded ones."""
    k, before = rows.shape[1], -np.inf
    labels = (rows @ R).argmax(axis=1)
    for _ in range(ROUNDS):
        Z = np.eye(k, dtype=rows.dtype)[labels]
        U, values, Vt = np.linalg.svd(rows.T @ Z)
        R = U @ Vt
        labels = (rows @ R).argmax(axis=1)
        if values.sum() <= before * (1 + 1e-12):
            break
        before = float(values.sum())
    return labels, float(np.sum((rows @ R - np.eye(k)[labels]) ** 2))
