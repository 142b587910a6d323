"""Nonnegative matrix factorization with a baseline."""

from __future__ import annotations

from typing import Any

from symclust.estimators.nmf import NMF
from symclust.operators import Bipartite
from symclust.solvers import Result
from symclust.two_factors import Affine, TwoFactors


class AffineNMF(NMF):
    r"""Cluster samples by what they have beyond a baseline that all of them share.

    Finds W, C, b ≥ 0 that minimise

    .. math:: \|X - \mathbf{1}b^T - WC^T\|_F^2

    (thesis (44)-(46)). Features that are alike in all samples go to the baseline, and the memberships of
    different clusters overlap less.

    Parameters
    ----------
    n_clusters, solver, init, n_init, tol, max_iter, time_limit, random_state, callback
        As in `NMF`.

    Attributes
    ----------
    components_, membership_, labels_, history_, n_iter_, converged_, stop_reason_, inits_
        As in `NMF`.
    baseline_ : ndarray of shape (n_features,)
        The offset b.
    objective_, relative_error_ : float
        Of the fit with the baseline.

    Examples
    --------
    >>> import numpy as np
    >>> from symclust import AffineNMF
    >>> X = np.kron(np.eye(2), np.ones((3, 2))) + np.array([0.0, 5.0, 0.0, 5.0])
    >>> model = AffineNMF(2, tol=1e-6).fit(X)
    >>> model.baseline_.round(2).tolist()
    [0.0, 5.0, 0.0, 5.0]
    >>> model.labels_[0] == model.labels_[1] == model.labels_[2] != model.labels_[3]
    np.True_
    """

    def _make_objective(self, A: Bipartite, X: Any) -> TwoFactors:
        return Affine(A)

    def _store(self, objective: TwoFactors, best: Result) -> None:
        super()._store(objective, best)
        self.baseline_ = self._placer.offset
