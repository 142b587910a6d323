"""Nonnegative matrix factorization with a graph of the samples."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np

from symclust.estimators._input import read_graph
from symclust.estimators._known_rows import KnownRows
from symclust.estimators.nmf import NMF
from symclust.operators import Bipartite
from symclust.two_factors import Smooth, TwoFactors
from symclust.validation import check_number


class GraphNMF(NMF):
    r"""Cluster samples by a factorization whose memberships vary little over a graph.

    Finds W, C ≥ 0 that minimise

    .. math:: \|X - WC^T\|_F^2 + \lambda \sum_l \|c_l\|^2 w_l^T L w_l, \quad L = D - S

    where S holds the similarities of the samples and D their sums: graph-regularised NMF (Cai, He, Han and
    Huang 2011), with components of length 1 as in that paper. L is seen through products with S alone.

    Parameters
    ----------
    n_clusters : int, default=8
        Number of clusters k.
    graph : str, array, sparse array, graph or Operator, default="nearest_neighbors"
        The similarities S: made of X as the `affinity` of that name in `SymNMF` does, or given, n × n.
    graph_params : dict, default=None
        Parameters of a `graph` that is named, for example ``{"n_neighbors": 5}``.
    graph_regularization : float, default=10.0
        The weight λ. Both terms have the unit of X², so that it is a pure number as long as the graph's
        degrees are about 1, which those of the default are.
    solver : {"hals", "multiplicative", "projected_gradient"}, default="hals"
        As in `NMF`; "multiplicative" is the paper's. "bpp" takes each sample by itself, which the graph does
        not allow.
    init, n_init, tol, max_iter, time_limit, random_state, callback
        As in `NMF`.

    Attributes
    ----------
    components_, membership_, labels_, history_, n_iter_, converged_, stop_reason_, inits_
        As in `NMF`.
    objective_ : float
        The objective.
    relative_error_ : float
        ‖X − WCᵀ‖ / ‖X‖.
    graph_ : ndarray, csr_array or Operator
        The similarities S.

    Notes
    -----
    `transform` knows no neighbours of an unseen sample: its memberships are those of plain NMF with the
    components found. A sample seen in training keeps its row of `membership_`.

    Examples
    --------
    Without the graph the fourth sample, half of each kind, is between the clusters:

    >>> import numpy as np
    >>> from symclust import GraphNMF
    >>> X = np.array([[1.0, 0.0], [1.0, 0.1], [0.9, 0.0], [0.5, 0.5], [0.1, 1.0], [0.0, 1.0]])
    >>> friends = np.zeros((6, 6))
    >>> friends[3, :3] = friends[:3, 3] = 1
    >>> model = GraphNMF(2, graph=friends, graph_regularization=3.0).fit(X)
    >>> model.labels_[3] == model.labels_[0] != model.labels_[5]
    np.True_
    """

    def __init__(
        self,
        n_clusters: int = 8,
        *,
        graph: Any = "nearest_neighbors",
        graph_params: dict[str, Any] | None = None,
        graph_regularization: float = 10.0,
        solver: str = "hals",
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
        self.graph = graph
        self.graph_params = graph_params
        self.graph_regularization = graph_regularization

    def _check_options(self) -> None:
        super()._check_options()
        check_number("graph_regularization", self.graph_regularization, least=0)

    def _make_objective(self, A: Bipartite, X: Any) -> TwoFactors:
        similarity = read_graph(self.graph, self.graph_params, X)
        self.graph_ = similarity.matrix
        self._known = KnownRows(X)
        return Smooth(A, similarity.operator, self.graph_regularization)

    def _place(self, X: Any) -> np.ndarray:
        placed = super()._place(X)
        known = self._known.find(self._known.keys(X))
        placed[known >= 0] = self.membership_[known[known >= 0]]
        return placed
