"""Symmetric nonnegative matrix factorization."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from symclust.constraints import Nonnegative
from symclust.estimators._descent import DescentEstimator, check_solver, make_solver
from symclust.objectives import Frobenius
from symclust.operators import Operator
from symclust.solvers import Problem, Solver
from symclust.validation import check_number


class SymNMF(DescentEstimator):
    r"""Cluster by factoring a similarity matrix.

    Finds H ≥ 0 with one column a cluster that minimises

    .. math:: \|A - HH^T\|_F^2 + 2 \beta \sum_i \|h_i\|_1^2

    (Kuang, Yun and Park 2015, equations (6) and (18)). Sample i belongs to the cluster of the largest entry
    of its row h_i. A sample without any similarity to others has a row of zeros; it is counted to cluster 0,
    so that every sample has a label, and a warning says how many there are.

    Parameters
    ----------
    n_clusters : int, default=8
        Number of clusters k.
    affinity : str or callable, default="nearest_neighbors"
        How samples become similarities: "nearest_neighbors" (self-tuning weights between neighbours,
        normalised cut), "cosine", "gaussian", "self_tuning" (complete graphs unless `affinity_params` says
        otherwise), "precomputed" (X is the similarity, dense or sparse), or a function of X that returns one.
        Graphs of networkx and igraph and our own operators are similarities already; graphs get the
        normalised cut unless the affinity is "precomputed".
    affinity_params : dict, default=None
        Parameters of the affinity, as in the function of its name in `symclust.graphs`, for example
        ``{"n_neighbors": 20}``.
    solver : str, default="auto"
        "row_descent", "anls", "hals", "newton", "projected_newton", "projected_gradient", "coordinate" or
        "multiplicative". "auto" takes "row_descent" wherever rows of A are at hand and "anls" for operators
        known by products alone.
    init : {"merge", "random", "spectral", "greedy", "zero"} or array of shape (n_samples, n_clusters)
        Where the descent starts, default "merge". "merge" descends briefly with 2k columns, merges the found
        clusters down to k and starts from there; "greedy" and "zero" are those of `OffDiagonalSymNMF`,
        "nndsvd", "nndsvda" and "nndsvdar" those of `NMF`.
    n_init : int, default=1
        Number of starts, run side by side so that A is read once for all; the one with the lowest objective
        is kept.
    tol : float, default=1e-2
        Stop when ‖∇ᴾf(H)‖ ≤ tol · ‖∇ᴾf(H₀)‖.
    max_iter : int, default=1000
        Stop after so many iterations.
    time_limit : float, default=None
        Stop after so many seconds from the beginning of `fit`; a start that takes longer is cut short.
    sparsity : float, default=0.0
        The weight β of the L1 term: larger values give rows with fewer nonzeros.
    coupling : "auto", "increasing" or float, default="auto"
        The weight α of the solvers with two coupled factors, "anls" and "hals". "auto" takes the largest
        eigenvalue of A; "increasing" lets it grow until the factors agree.
    random_state : int, RandomState or None, default=None
        Makes a run repeatable, to the bit and on any number of threads.
    callback : callable, default=None
        Called after each iteration of each start with an object that has `start`, `iteration`, `seconds`,
        `objective` and `stationarity`; returning True stops the run, and what was found so far is kept.

    Attributes
    ----------
    labels_ : ndarray of shape (n_samples,)
        Cluster of each sample, in the order of the samples or nodes.
    membership_ : ndarray of shape (n_samples, n_clusters)
        The factor H.
    objective_ : float
        The objective at H.
    relative_error_ : float
        ‖A − HHᵀ‖ / ‖A‖.
    history_ : recarray
        `iteration`, `seconds`, `objective` and `stationarity` (relative) after every iteration of the start
        that was kept.
    n_iter_ : int
        Iterations of that start.
    converged_ : bool
        Whether `tol` was reached.
    stop_reason_ : str
        Why it stopped, in words.
    inits_ : ndarray of shape (n_init,)
        Objectives that the starts ended at.
    merge_path_ : recarray or None
        With ``init="merge"``: for each merge the number of clusters left, the gain in explained energy and
        the two sizes.
    affinity_matrix_ : ndarray, csr_array or Operator
        The similarity A.
    node_names_ : list or None
        Names of the nodes, for graphs.

    See Also
    --------
    symclust.graphs : from data to similarity.
    symclust.metrics.clustering_accuracy : how well clusters match known classes.

    Examples
    --------
    >>> import numpy as np
    >>> from symclust import SymNMF
    >>> X = np.array([[0.0, 0.1], [0.1, 0.0], [0.2, 0.1], [5.0, 5.1], [5.1, 5.0], [5.2, 5.1]])
    >>> labels = SymNMF(2, affinity_params={"n_neighbors": 2}, random_state=0).fit_predict(X)
    >>> labels[0] == labels[1] == labels[2] != labels[3] == labels[4] == labels[5]
    np.True_
    """

    def __init__(
        self,
        n_clusters: int = 8,
        *,
        affinity: str | Callable[..., Any] = "nearest_neighbors",
        affinity_params: dict[str, Any] | None = None,
        solver: str = "auto",
        init: Any = "merge",
        n_init: int = 1,
        tol: float = 1e-2,
        max_iter: int = 1000,
        time_limit: float | None = None,
        sparsity: float = 0.0,
        coupling: float | str = "auto",
        random_state: Any = None,
        callback: Callable[[Any], object] | None = None,
    ) -> None:
        self.n_clusters = n_clusters
        self.affinity = affinity
        self.affinity_params = affinity_params
        self.solver = solver
        self.init = init
        self.n_init = n_init
        self.tol = tol
        self.max_iter = max_iter
        self.time_limit = time_limit
        self.sparsity = sparsity
        self.coupling = coupling
        self.random_state = random_state
        self.callback = callback

    def _check_options(self) -> None:
        super()._check_options()
        check_solver(self.solver, self.coupling)
        check_number("sparsity", self.sparsity, least=0)

    def _make_problem(self, A: Operator) -> Problem:
        return Problem(A, Frobenius(A, self.sparsity), Nonnegative())

    def _make_solver(self, problem: Problem) -> Solver:
        return make_solver(self.solver, problem.objective, self.coupling)
