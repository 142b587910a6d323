"""Two clusters: half a line for each."""

from __future__ import annotations

import numpy as np
import scipy.linalg

from symclust._threads import single_threaded_blas
from symclust._types import Array
from symclust.operators import Operator, krylov_spaces

SMALL = 192  # rows up to which a dense eigenproblem takes less time than a few dozen products
STEPS = 60  # of Lanczos, after which restarts would be due
CHECKED = 3  # steps between two looks at the accuracy
ACCURACY = 1e-4  # of the eigenvectors, which are needed for signs alone


def second_half(operator: Operator) -> Array | None:
    """A mask of the samples in the second of two clusters, or None if they cannot be separated.

    Two clusters need the two leading eigenvectors alone (Arora, Gupta, Kapila and Fazel 2013, 3.2.2), up to
    the signs that depend on them. The first sample belongs to the first cluster.
    """
    if operator.n < 2:
        return None
    values, vectors = _leading_pair(operator)
    if values[1] <= 0 and not operator.diagonal().any():
        # Without self-similarities a group of samples that are all alike has one positive eigenvalue. Making
        # each as similar to itself as the most similar pair is adds to all eigenvalues alike.
        values = values + operator.dtype.type(operator.largest())
    if values[1] <= operator.n * float(np.finfo(operator.dtype).eps) * values[0]:
        return None
    # The coordinate along the line of the simplex, up to a positive factor (compare `embedding.embed`).
    sums = vectors.sum(axis=0)
    points = (sums[0] * values[1] / values[0]) * vectors[:, 1] - sums[1] * vectors[:, 0]
    return points < 0 if points[0] >= 0 else points > 0


def _leading_pair(operator: Operator) -> tuple[Array, Array]:
    """The two largest eigenvalues and their vectors, roughly.

    `Operator.eigsh` goes to machine precision, and then looks for a repeated eigenvalue that was missed; any
    two vectors of its space will do here.
    """
    with single_threaded_blas():
        if operator.n <= SMALL:
            last = operator.n - 1
            values, vectors = scipy.linalg.eigh(operator.toarray(), subset_by_index=[last - 1, last])
            return values[::-1], np.ascontiguousarray(vectors[:, ::-1])
        return _lanczos(operator) or operator.eigsh(2, tol=ACCURACY)


def _lanczos(operator: Operator) -> tuple[Array, Array] | None:
    """Two eigenpairs from one Krylov space, None if that would have to be too large."""
    # The ones are near the first eigenvector of most similarities; a little noise lets nothing be missed.
    start = 1 + np.random.default_rng(0).uniform(-0.5, 0.5, operator.n)
    for space in krylov_spaces(operator, start.astype(operator.dtype), STEPS):
        m = len(space.V)
        if m > 1 and (space.is_closed or m % CHECKED == 0):
            values, vectors = space.ritz()
            errors = space.beside[-1] * np.abs(vectors[-1, -2:])
            if space.is_closed or errors.max() <= ACCURACY * abs(values[-1]):
                ritz = space.V.T @ vectors[:, :-3:-1].astype(operator.dtype)
                return values[:-3:-1].astype(operator.dtype), ritz
    return None
