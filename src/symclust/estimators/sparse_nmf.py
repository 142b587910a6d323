"""Nonnegative matrix factorization with sparse memberships."""

from __future__ import annotations

import math
from collections.abc import Callable
from typing import Any

from symclust.estimators.nmf import NMF
from symclust.operators import Bipartite
from symclust.two_factors import SparseRows, TwoFactors
from symclust.validation import check_number


class SparseNMF(NMF):
    r"""Cluster samples by a factorization in which each has few memberships.

    Finds W, C ≥ 0 that minimise

    .. math:: \|X - WC^T\|_F^2 + \alpha \|C\|_F^2 + \beta \sum_i \|w_i\|_1^2

    (thesis (11), whose W is our C and whose H is our W).

    Parameters
    ----------
    sparsity : float, default=0.01
        The weight β: larger values give rows of memberships with fewer entries.
    ridge : float, default=None
        The weight α; None takes the square of the largest entry of X. It keeps the entries of C from growing:
        if one of the two weights is 0, the other's term vanishes by the scale of the factors alone, and what
        is left is `NMF`.
    n_clusters, solver, init, n_init, tol, max_iter, time_limit, random_state, callback
        As in `NMF`.

    Attributes
    ----------
    components_, membership_, labels_, history_, n_iter_, converged_, stop_reason_, inits_
        As in `NMF`.
    objective_ : float
        The objective at W and C as they were found: with unit components the penalties would be others.
    relative_error_ : float
        ‖X − WCᵀ‖ / ‖X‖.
    ridge_ : float
        The α that was used.

    Notes
    -----
    Only √(αβ) matters: with W/t and tC for W and C both terms have that weight, for t = (α/β)^¼. The descent
    works on these, whose sizes are alike, so that a change of the unit of X changes nothing but units.

    Examples
    --------
    >>> import numpy as np
    >>> from symclust import NMF, SparseNMF
    >>> rng = np.random.RandomState(0)
    >>> X = rng.dirichlet([0.3] * 4, 60) @ rng.random_sample((4, 20))
    >>> plain, sparse = NMF(4).fit(X), SparseNMF(4, sparsity=0.5).fit(X)
    >>> bool(np.mean(sparse.membership_ == 0) > np.mean(plain.membership_ == 0))
    True
    """

    def __init__(
        self,
        n_clusters: int = 8,
        *,
        sparsity: float = 0.01,
        ridge: float | None = None,
        solver: str = "bpp",
        init: Any = "spectral",
        n_init: int = 1,
        tol: float = 1e-3,
        max_iter: int = 1000,
        time_limit: float | None = None,
        random_state: Any = None,
        callback: Callable[[Any], object] | None = None,
    ) -> None:
        super().__init__(
            n_clusters,
            solver=solver,
            init=init,
            n_init=n_init,
            tol=tol,
            max_iter=max_iter,
            time_limit=time_limit,
            random_state=random_state,
            callback=callback,
        )
        self.sparsity = sparsity
        self.ridge = ridge

    def _check_options(self) -> None:
        super()._check_options()
        check_number("sparsity", self.sparsity, least=0)
        if self.ridge is not None:
            check_number("ridge", self.ridge, least=0)

    def _make_objective(self, A: Bipartite, X: Any) -> TwoFactors:
        self.ridge_ = A.largest() ** 2 if self.ridge is None else float(self.ridge)
        weight = math.sqrt(self.ridge_) * math.sqrt(self.sparsity)
        return SparseRows(A, weight, weight)
