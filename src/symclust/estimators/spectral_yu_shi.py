"""Spectral clustering of Yu and Shi."""

from __future__ import annotations

import numpy as np

from symclust._threads import single_threaded_blas
from symclust.estimators._spectral import SpectralEstimator, unit_rows
from symclust.operators import Operator

ROUNDS = 100  # of turning and rounding; a few dozen are enough


class SpectralYuShi(SpectralEstimator):
    """Leading eigenvectors of D^-1/2 K D^-1/2, turned until each row has one large entry (Yu and Shi 2003).

    The rows are scaled to unit length and rotated; rounding each to its largest entry, and finding the
    rotation nearest to the rounded rows, alternate.

    Parameters
    ----------
    n_clusters : int, default=2
        Number of clusters k.
    affinity : str or callable, default="nearest_neighbors"
        How samples become similarities, as in `SymNMF`, but without the normalised cut: this method has its
        own normalisation.
    affinity_params : dict, default=None
        Parameters of the affinity, as in `SymNMF`.
    n_init : int, default=10
        Number of starting rotations; the best is kept.
    random_state : int, RandomState or None, default=None
        Makes a run repeatable.

    Attributes
    ----------
    labels_, membership_, affinity_matrix_, node_names_
        As in `SymNMF`; membership_ has a one in each row.
    objective_ : float
        Squared distance of the turned rows to the rounded ones.

    Examples
    --------
    >>> import numpy as np
    >>> from symclust import SpectralYuShi
    >>> K = np.kron(np.eye(2), np.ones((3, 3)))
    >>> labels = SpectralYuShi(2, affinity="precomputed", random_state=0).fit(K).labels_
    >>> labels[0] == labels[1] == labels[2] != labels[3] == labels[4] == labels[5]
    np.True_
    """

    def _cluster(self, K: Operator, k: int, rng: np.random.RandomState) -> tuple[np.ndarray, float]:
        rows = unit_rows(K, k)
        with single_threaded_blas():
            found = [_discretise(rows, _start(rows, rng)) for _ in range(self.n_init)]
        return min(found, key=lambda pair: pair[1])


def _start(rows: np.ndarray, rng: np.random.RandomState) -> np.ndarray:
    """Return k rows that are far from parallel to each other, the first at random, as columns."""
    chosen = [int(rng.randint(len(rows)))]
    nearness = np.zeros(len(rows), dtype=rows.dtype)
    for _ in range(rows.shape[1] - 1):
        nearness += np.abs(rows @ rows[chosen[-1]])
        chosen.append(int(nearness.argmin()))
    return rows[chosen].T


def _discretise(rows: np.ndarray, R: np.ndarray) -> tuple[np.ndarray, float]:
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
