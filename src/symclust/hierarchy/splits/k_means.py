"""Split by k-means with two centres."""

from __future__ import annotations

import numpy as np
from sklearn import cluster

from symclust._threads import single_threaded_libraries
from symclust.hierarchy.samples import Samples
from symclust.hierarchy.splits._base import Halves, Split
from symclust.hierarchy.splits._centres import by_labels

__all__ = ["KMeans"]


class KMeans(Split):
    """scikit-learn's k-means; the term weights of a part are its centre.

    The baseline kmeans-hier of the thesis (5.6.2). Memberships are 0 and 1.

    Examples
    --------
    >>> import numpy as np
    >>> from symclust.hierarchy.samples import Samples
    >>> from symclust.hierarchy.splits import KMeans
    >>> X = np.array([[1.0, 0.1], [0.9, 0.0], [0.0, 1.0]])
    >>> side = KMeans()(Samples.of(X), np.random.RandomState(0)).side
    >>> bool(side[0] == side[1] != side[2])
    True
    """

    def __call__(self, samples: Samples, random_state: np.random.RandomState) -> Halves | None:
        """Return the two clusters, or None where all samples are the same."""
        if samples.shape[0] < 2:
            return None
        X = samples.csr()
        model = cluster.KMeans(
            2, n_init=1, tol=self.tol, max_iter=self.max_iter, random_state=random_state, copy_x=False
        )
        with single_threaded_libraries():
            labels = model.fit_predict(X)
        return by_labels(X, labels, model.n_iter_)
