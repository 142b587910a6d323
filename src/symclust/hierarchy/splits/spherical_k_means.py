"""Split by spherical k-means with two centres."""

from __future__ import annotations

import numpy as np

from symclust.hierarchy.samples import Samples
from symclust.hierarchy.splits._base import Halves, Split
from symclust.hierarchy.splits._centres import by_labels, unit_columns

__all__ = ["SphericalKMeans"]


class SphericalKMeans(Split):
    """k-means of rows of unit length by their cosine with two centres of unit length.

    The first centre is a random sample, the second the sample least similar to it; iterations stop when no
    sample changes sides. Memberships are 0 and 1.

    Examples
    --------
    >>> import numpy as np
    >>> from symclust.hierarchy.samples import Samples
    >>> from symclust.hierarchy.splits import SphericalKMeans
    >>> X = np.array([[1.0, 0.1], [9.0, 0.0], [0.0, 1.0]])
    >>> side = SphericalKMeans()(Samples.of(X), np.random.RandomState(0)).side
    >>> bool(side[0] == side[1] != side[2])
    True
    """

    def __call__(self, samples: Samples, random_state: np.random.RandomState) -> Halves | None:
        """Return the two clusters, or None where all samples have one direction."""
        n = samples.shape[0]
        if n < 2:
            return None
        X = samples.csr()
        lengths = np.sqrt(np.asarray(X.multiply(X).sum(axis=1)).ravel())
        X = samples.scaled(1 / lengths).csr()
        first = random_state.randint(n)
        second = int(np.argmin(X @ X[[first]].toarray().ravel()))
        centres = X[[first, second]].toarray().T
        labels = np.full(n, -1)
        n_iter = 0
        while n_iter < self.max_iter:
            n_iter += 1
            cosines = X @ centres
            new = (cosines[:, 1] > cosines[:, 0]).astype(np.intp)
            if np.array_equal(new, labels):
                break
            labels = new
            Z = np.stack([labels == 0, labels == 1], axis=1).astype(X.dtype)
            centres = unit_columns(X.T @ Z)
        return by_labels(X, labels, n_iter)
