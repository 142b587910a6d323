"""Expression profiles of samples in clusters, as the thesis simulates them."""

from __future__ import annotations

import numpy as np
from sklearn.utils import check_random_state

from symclust._types import Array
from symclust.validation import check_n_clusters, check_number

NUISANCE_LEVEL = 0.5  # the middle of what the centres are drawn from


def simulated_expression(
    n_clusters: int = 4,
    noise: float = 0.35,
    *,
    n_samples: int | None = None,
    n_features: int = 200,
    n_nuisance: int = 80,
    outliers: float = 0.15,
    random_state: int | np.random.RandomState | None = None,
) -> tuple[Array, Array]:
    r"""Mixture of Gaussians with features that say nothing and entries that are wrong (thesis, section 4.5).

    The centres are uniform on [0, 1] in each feature but the last `n_nuisance`, where all of them are 0.5.
    Each sample takes a centre at random and adds noise of standard deviation `noise`; a share `outliers` of
    all entries is replaced by uniform numbers from [0, 1], and the least entry of the matrix is subtracted
    from all. The thesis leaves open what nuisance features and outliers are: this is our reading.

    Parameters
    ----------
    n_clusters : int, default=4
        The number of centres K.
    noise : float, default=0.35
        Standard deviation σ; the thesis takes 0.25 to 0.5.
    n_samples : int, default=None
        None takes 60 for each cluster.
    n_features, n_nuisance : int, default=200, 80
        All features, and those without information among them.
    outliers : float, default=0.15
        Share of entries that are replaced.
    random_state : int, RandomState or None
        Makes the data repeatable.

    Returns
    -------
    X : ndarray of shape (n_samples, n_features)
        Nonnegative.
    y : ndarray of shape (n_samples,)
        The centre of each sample.

    Examples
    --------
    >>> from symclust.datasets import simulated_expression
    >>> X, y = simulated_expression(3, random_state=0)
    >>> X.shape, float(X.min())
    ((180, 200), 0.0)
    """
    k = check_n_clusters(n_clusters)
    check_number("noise", noise, least=0)
    check_number("n_features", n_features, least=1, whole=True)
    check_number("n_nuisance", n_nuisance, least=0, most=n_features, whole=True)
    check_number("outliers", outliers, least=0, most=1)
    n = 60 * k if n_samples is None else check_n_clusters(n_samples)
    rng = check_random_state(random_state)
    centres = rng.uniform(size=(k, n_features))
    centres[:, n_features - n_nuisance :] = NUISANCE_LEVEL
    y = rng.randint(k, size=n)
    X = centres[y] + noise * rng.standard_normal((n, n_features))
    is_outlier = rng.uniform(size=X.shape) < outliers
    X[is_outlier] = rng.uniform(size=np.count_nonzero(is_outlier))
    return X - X.min(), y
