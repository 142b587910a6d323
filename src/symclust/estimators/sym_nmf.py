"""Symmetric nonnegative matrix factorization."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from typing import Any, ClassVar

from symclust.constraints import Nonnegative
from symclust.estimators._descent import check_solver, make_solver
from symclust.estimators._streaming import StreamingEstimator
from symclust.objectives import Frobenius
from symclust.operators import Operator
from symclust.solvers import Control, Problem, Result, Solver, Start, Starts
from symclust.validation import check_number


class SymNMF(StreamingEstimator):
    r"""Cluster by factoring a similarity matrix.

    Finds H ≥ 0 with one column per cluster that minimises

    .. math:: \|A - HH^T\|_F^2 + 2 \beta \sum_i \|h_i\|_1^2

    (Kuang, Yun and Park 2015, equations (6) and (18)). Sample i belongs to the cluster of the largest entry
    of its row h_i. A sample without any similarity to others has a row of zeros and belongs to no cluster:
    its label is −1, and a warning says how many there are.

    Parameters
    ----------
    n_clusters : int or "auto", default=8
        Number of clusters k. "auto" chooses it; `selection_` then says why (docs/how_many_clusters.md).
    affinity : str or callable, default="auto"
        How X becomes similarities; `affinity_` says in words what was done.

        - "auto" depends on the values of X: for vectors the neighbour graph of the paper, by direction if
          they are nonnegative and have many features; for those with at least 90 % zeros and nothing
          negative, such as weights of words, random walks along cosines of neighbours; for networks random
          walks, or the normalised cut with exponent 0.3 or 0.4 where they have many edges
          (``docs/evidence/quality.md``).
        - "nearest_neighbors" is the graph of the paper: self-tuning weights between neighbours, normalised
          cut. "cosine", "gaussian" and "self_tuning" are complete graphs unless `affinity_params` says
          otherwise.
        - "random_walk" and "normalized_cut" turn one graph into another; ``affinity_params={"of": ...}``
          names the first: neighbours unless X is a graph.
        - "precomputed": X is the similarity, dense or sparse, taken as it is; "network": X is the adjacency
          matrix of a network, treated like a graph under "auto".
        - A function of X that returns a similarity.

        Graphs of networkx and igraph have edges already: "precomputed" takes them as they are, and
        "nearest_neighbors" only applies the normalised cut. Operators of symclust are always taken as they
        are.
    affinity_params : dict, default=None
        Parameters of the affinity, as in the function of its name in `symclust.graphs`, for example
        ``{"n_neighbors": 20}``. For a graph, ``{"weight": "strength"}`` names the edge attribute that holds
        the weights; None gives every edge the weight 1, and by default it is "weight" where edges have that.
    solver : str, default="auto"
        "row_descent", "anls", "sampled_anls", "hals", "extrapolated_hals", "newton", "projected_newton",
        "gauss_newton", "projected_gradient", "barzilai_borwein", "coordinate" or "multiplicative". "auto"
        takes "row_descent" wherever rows of A are at hand and "barzilai_borwein" for operators known by
        products alone.
    init : str or array of shape (n_samples, n_clusters), default="auto"
        Where the descent starts. "tree" starts from the leaves of a tree such as `HierarchicalSymNMF` grows,
        on A, a matrix, or where that is large on a smaller graph of joined samples; "merge" descends briefly
        with 2k columns, merges the found clusters down to k and starts from there; "auto" takes "tree" for a
        sparse A and "merge" for others. "low_rank" solves the problem on an approximation of A of rank 2k
        (`operators.low_rank`) first, "sample" on a tenth of the samples, both faster for a large dense A;
        "split_merge" descends from "auto", then splits and merges clusters as long as that lowers the
        objective. Further: "random", "spectral", "greedy" and "zero" as in `OffDiagonalSymNMF`, "nndsvd",
        "nndsvda" and "nndsvdar" as in `NMF`.
    n_init : int, default=1
        Number of starts, run side by side so that A is read once for all; the one with the lowest objective
        is kept.
    tol : float, default=1e-2
        Stop when ‖∇ᴾf(H)‖ ≤ tol · ‖∇ᴾf(H₀)‖; where H is sparse (see `membership_`), also when an iteration
        brings less than 2 tol times the decrease of all iterations.
    max_iter : int, default=1000
        Stop after this many iterations.
    time_limit : float, default=None
        Stop this many seconds after the beginning of `fit`; a start that takes longer is cut short.
    sparsity : float, default=0.0
        The weight β of the L1 term: larger values give rows with fewer nonzeros.
    coupling : "auto", "increasing" or float, default="auto"
        The weight α of the solvers with two coupled factors, "anls", "sampled_anls", "hals" and
        "extrapolated_hals". "auto" takes the largest eigenvalue of A; "increasing" starts lower and lets
        it grow while the factors drift apart.
    random_state : int, RandomState or None, default=None
        Makes a run repeatable, to the bit and on any number of threads.
    callback : callable, default=None
        Called after each iteration of each start with an object that has `start`, `iteration`, `seconds`,
        `objective` and `stationarity`; returning True stops the run, and what was found so far is kept.

    Attributes
    ----------
    labels_ : ndarray of shape (n_samples,)
        Cluster of each sample, in the order of the samples or nodes; −1 for samples in none.
    membership_ : ndarray or csr_array of shape (n_samples, n_clusters)
        The factor H. It is a `csr_array` if there are 64 clusters or more and at least 2²⁴ entries, A is
        sparse, the solver is "row_descent" and `init` is "merge", "tree" or a sparse array: time and memory
        then follow its nonzeros. What `transform` returns has the same form.
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
        Where the start was "merge": for each merge the number of clusters left, the gain in explained energy
        and the two sizes.
    affinity_ : str
        How X was turned into similarities, in words.
    affinity_matrix_ : ndarray, csr_array or Operator
        The similarity A.
    node_names_ : list or None
        Names of the samples: the nodes of a graph, the index of a DataFrame, `obs_names` of an AnnData.

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

    _further_inits: ClassVar[tuple[str, ...]] = ("low_rank", "sample", "split_merge")

    def __init__(
        self,
        n_clusters: int | str = 8,
        *,
        affinity: str | Callable[..., Any] = "auto",
        affinity_params: dict[str, Any] | None = None,
        solver: str = "auto",
        init: Any = "auto",
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

    def _solve(self, problem: Problem, starts: Starts, control: Control) -> tuple[list[Result], list[Start]]:
        return super()._solve(problem, replace(starts, again=self._make_problem), control)

    def _make_solver(self, problem: Problem) -> Solver:
        return make_solver(self.solver, problem.objective, self.coupling)
