"""What a split is asked, and what it answers."""

from __future__ import annotations

from abc import ABC, abstractmethod
from dataclasses import dataclass

import numpy as np

from symclust._types import Array
from symclust.hierarchy.samples import Samples

WORTH_THREADS = 1 << 17  # nonzeros from which passes over a node are worth all threads


@dataclass(frozen=True)
class Halves:
    """Two parts of some samples.

    Attributes
    ----------
    side : ndarray of shape (n,)
        0 or 1 for each sample.
    terms : ndarray of shape (n_features, 2)
        Weights of the features in the two parts, columns of unit length.
    memberships : ndarray of shape (n, 2)
        How much of each part a sample has.
    n_iter : int
        Iterations it took.
    """

    side: Array
    terms: Array
    memberships: Array
    n_iter: int

    def parts(self) -> tuple[Array, Array]:
        """Return the numbers of the samples on both sides."""
        return np.flatnonzero(self.side == 0), np.flatnonzero(self.side == 1)


class Split(ABC):
    """A way to divide samples.

    Parameters
    ----------
    tol : float
        When to stop iterating; what it is compared with is the split's own.
    max_iter : int
        Iterations at most.
    """

    def __init__(self, tol: float = 5e-3, max_iter: int = 500) -> None:
        self.tol = tol
        self.max_iter = max_iter

    @abstractmethod
    def __call__(self, samples: Samples, random_state: np.random.RandomState) -> Halves | None:
        """Return two parts that both have samples, or None."""


def halves(terms: Array, memberships: Array, n_iter: int) -> Halves | None:
    """Put each sample on the side of its larger membership; one without any goes to the larger side."""
    side = (memberships[:, 1] > memberships[:, 0]).astype(np.int8)
    lost = ~memberships.any(axis=1)
    n_right = int(np.count_nonzero(side))  # samples without membership are on the left so far
    if lost.any() and 2 * n_right > len(side) - int(lost.sum()):
        side[lost] = 1
        n_right += int(lost.sum())
    if n_right in (0, len(side)):
        return None
    return Halves(side, terms, memberships, n_iter)
