"""How the samples of a node are divided in two.

A split is called with the `Samples` of a node, a random state, `tol` and `max_iter`; it returns `Halves`, or
None where the samples cannot be divided.

===================  ==========================================================================
`rank_two`           NMF with two columns, thesis, Algorithm 5
`active_set`         the same by a solver for any number of columns, for comparison: nmf-hier of the thesis
`k_means`            scikit-learn's k-means with two centres
`spherical_k_means`  the same by cosines
===================  ==========================================================================
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any, Self

import numpy as np
import scipy.sparse as sp

from symclust._types import Array
from symclust.hierarchy.topics.block_samples import AnySamples
from symclust.hierarchy.topics.samples import Samples, Sides
from symclust.k_means import SphericalRuns, opposite_samples, plain_k_means
from symclust.nnls import active_set as solve_by_active_set

__all__ = ["active_set", "k_means", "rank_two", "spherical_k_means"]

TOL, MAX_ITER = 5e-3, 500
POWER_STEPS = 2  # 8 lead to no better trees, and cost more than they save


@dataclass(frozen=True)
class Halves:
    """Two parts of some samples.

    `side` is 0 or 1 for each sample. `terms` (n_features × 2) has the weights of the features in the two
    parts, columns of unit length; `memberships` (n × 2) shows how much of each part a sample has.
    """

    side: Array
    terms: Array
    memberships: Array
    n_iter: int

    @classmethod
    def by_membership(cls, terms: Array, memberships: Array, n_iter: int) -> Self | None:
        """Put each sample on the side of its larger membership; one without any goes to the larger side."""
        side = (memberships[:, 1] > memberships[:, 0]).astype(np.int8)
        lost = ~memberships.any(axis=1)
        n_right = int(np.count_nonzero(side))  # samples without membership are on the left so far
        if lost.any() and 2 * n_right > len(side) - int(lost.sum()):
            side[lost] = 1
            n_right += int(lost.sum())
        if n_right in (0, len(side)):
            return None
        return cls(side, terms, memberships, n_iter)

    @classmethod
    def by_label(cls, X: sp.csr_array, labels: Array, n_iter: int) -> Self | None:
        """Put samples on the sides 0 and 1 of their labels; the terms are the mean rows, of unit length."""
        Z = np.stack([labels == 0, labels == 1], axis=1).astype(X.dtype)
        return cls.by_membership(unit_columns(X.T @ Z), Z, n_iter)

    def parts(self) -> tuple[Array, Array]:
        """Return the numbers of the samples on both sides."""
        return np.flatnonzero(self.side == 0), np.flatnonzero(self.side == 1)


Split = Callable[[Any, np.random.RandomState], Halves | None]  # with tol and max_iter filled in


def rank_two(
    samples: AnySamples, random_state: np.random.RandomState, tol: float = TOL, max_iter: int = MAX_ITER
) -> Halves | None:
    """Return the two sides of min ‖X − WCᵀ‖² over W, C ≥ 0; None if all samples have one direction.

    Two columns, by alternating least squares (thesis, Algorithm 5). An iteration reads X once and Xᵀ once,
    and ends with a step on in the direction C moved, unless that explains less. It stops when the projected
    gradient (9)-(10) is at most `tol` times that of the first point. A sample belongs to the side of the
    larger of its two entries of W, for columns of C of unit length.

    The start comes from the second left singular vector u of X, found by a few steps of orthogonal iteration:
    C = Xᵀ [max(u, 0), max(−u, 0)], sums of the samples on either side. It depends on the random state only
    through the vector that these steps start from.

    Examples
    --------
    >>> import numpy as np
    >>> from symclust.hierarchy import Samples
    >>> from symclust.hierarchy.topics.splits import rank_two
    >>> X = np.array([[1.0, 0.1], [9.0, 0.0], [0.0, 1.0]])
    >>> side = rank_two(Samples.of(X), np.random.RandomState(0)).side
    >>> bool(side[0] == side[1] != side[2])
    True
    """
    if min(samples.shape) < 2:
        return None
    C = _second_direction(samples, random_state)
    if C is None:
        return None
    return Halves.by_membership(*samples.factor(C, tol, max_iter))


def _second_direction(samples: AnySamples, random_state: np.random.RandomState) -> Array | None:
    """Return C (n_features × 2) from the second singular vector; None if X has rank one."""
    V = random_state.standard_normal((samples.shape[1], 2)).astype(samples.dtype)
    V[:, 0] = samples.total()
    U, G = samples.two_directions(V, POWER_STEPS)
    squared, Q = np.linalg.eigh(G)  # squared singular values, the lower first
    if squared[0] <= 100 * np.finfo(samples.dtype).eps * squared[1]:
        return None
    return unit_columns(samples.sum_of_sides(U, Sides(Q, np.zeros(2, dtype=bool))))


def active_set(
    samples: Samples, random_state: np.random.RandomState, tol: float = TOL, max_iter: int = MAX_ITER
) -> Halves | None:
    """Return the two sides as `rank_two` does, by alternating least squares with an active-set solver.

    The baseline nmf-hier of the thesis (5.6.2): nothing is known of there being two columns, and no step goes
    further than the minimiser. The sides are nearly always those of `rank_two`; it takes longer.
    """
    if min(samples.shape) < 2:
        return None
    C = _second_direction(samples, random_state)
    if C is None:
        return None
    first, n_iter = 0.0, 0
    while n_iter < max_iter:
        n_iter += 1
        W = solve_by_active_set(C.T @ C, samples.times(C))
        G, R = W.T @ W, samples.transposed_times(W)
        gradient = C @ G - R
        slope = float(np.linalg.norm(gradient[(gradient < 0) | (C > 0)]))
        C = unit_columns(solve_by_active_set(G, R, C))
        first = first or slope
        if slope <= tol * first:
            break
    return Halves.by_membership(C, solve_by_active_set(C.T @ C, samples.times(C)), n_iter)


def k_means(
    samples: Samples, random_state: np.random.RandomState, tol: float = TOL, max_iter: int = MAX_ITER
) -> Halves | None:
    """Return the two clusters of scikit-learn's k-means, or None if all samples are the same.

    The baseline kmeans-hier of the thesis (5.6.2). The terms of a part are its centre, memberships 0 and 1.
    """
    if samples.shape[0] < 2:
        return None
    X = samples.csr()
    model = plain_k_means(X, 2, 1, random_state, tol=tol, max_iter=max_iter, copy_x=False)
    return Halves.by_label(X, model.labels_, model.n_iter_)


def spherical_k_means(
    samples: Samples, random_state: np.random.RandomState, tol: float = TOL, max_iter: int = MAX_ITER
) -> Halves | None:
    """Return two clusters by the cosine with centres of unit length; None if all have one direction.

    The first centre is a random sample, the second the sample least similar to it; iterations stop when no
    sample changes sides, whatever `tol`. Memberships are 0 and 1.
    """
    if samples.shape[0] < 2:
        return None
    X = samples.csr()
    unit = samples.scaled(1 / np.sqrt(np.asarray(X.multiply(X).sum(axis=1)).ravel()))
    runs = SphericalRuns(unit.csr(), 2, factor=unit)
    start = opposite_samples(runs, random_state)
    if start is None:
        return None
    run = runs.run([start], max_iter)[0]
    assert run.labels is not None
    return Halves.by_label(unit.csr(), run.labels, len(run.objectives))


def unit_columns(C: Array) -> Array:
    """Return C with columns of unit length; zero columns stay zero."""
    lengths = np.sqrt(np.square(C, dtype=np.float64).sum(axis=0))
    return (C / np.where(lengths > 0, lengths, 1)).astype(C.dtype)
