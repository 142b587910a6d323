"""Symmetric nonnegative matrix factorization."""

from __future__ import annotations

from typing import ClassVar

from symclust._types import AffinityLike, Callback, Init, Options, RandomState
from symclust.constraints import Nonnegative
from symclust.estimators._streaming import StreamingEstimator
from symclust.objectives import Frobenius
from symclust.operators import Operator
from symclust.solvers import Problem, Solver, check_solver, choose_solver, make_solver
from symclust.validation import check_number


class SymNMF(StreamingEstimator):
    r"""Cluster by factoring a similarity matrix.

    Finds H ≥ 0 with one column per cluster that minimises

    .. math:: \|A - HH^T\|_F^2 + 2 \beta \sum_i \|h_i\|_1^2

    (Kuang, Yun and Park 2015, equations (6) and (18)). Sample i belongs to the cluster of the largest entry
    of its row h_i; one without similarities has a row of zeros and belongs to no cluster, label −1.

    Parameters
    ----------
    n_clusters : int or "auto", default=8
        Number of clusters k; "auto" chooses it, and `selection_` says why (docs/how_many_clusters.md).
    affinity : str or callable, default="auto"
        How X becomes similarities (docs/similarities.md). "auto" chooses by the values of X: for vectors
        fuzzy weights between neighbours, in units of their columns if these differ, and in two views if many
        features are nonnegative; random walks along cosines of neighbours for sparse counts; random walks, or
        a normalised cut, for networks. Further: "nearest_neighbors", the papers' graph, "multi_view",
        "fuzzy", "cosine", "gaussian", "self_tuning", "random_walk", "normalized_cut"; "precomputed" if X is
        the similarity; "network" if X is the adjacency matrix of a network; or a function of X. A graph is
        itself under "precomputed", and cut normally under "nearest_neighbors".
    affinity_params : dict, default=None
        Parameters of the affinity, as in the function of its name in `symclust.graphs`, for example
        ``{"n_neighbors": 20}``; for a graph ``{"weight": ...}``, the edge attribute of weights, or None.
    solver : str, default="auto"
        "row_descent", "anls", "hals", "newton", "projected_newton", "gauss_newton", "projected_gradient",
        "barzilai_borwein", "coordinate" or "multiplicative". "auto" takes "row_descent" if rows of A are at
        hand and "barzilai_borwein" for operators known by products alone.
    init : str or array of shape (n_samples, n_clusters), default="auto"
        "tree" starts from the leaves of the tree that `HierarchicalSymNMF` grows; "merge" descends with 2k
        columns and merges clusters down to k; "auto" takes "tree" for a sparse A and "merge" for others.
        "low_rank" first solves the problem on an approximation of rank 2k, faster for a large dense A.
        Further: "random", "spectral", "greedy", "zero", "nndsvd", "nndsvda", "nndsvdar".
    n_init : int, default=1
        Number of starts, run side by side so that A is read once; the one with the lowest objective is kept.
    tol : float or "auto", default="auto"
        A number stops when ‖∇ᴾf(H)‖ ≤ tol · ‖∇ᴾf(H₀)‖; if H is sparse, also when an iteration brings less
        than 2 tol times the decrease of all iterations. "auto" is 1e-2, and after a start from a tree also
        stops when labels have settled: an iteration moves at most one sample in 200.
    max_iter : int, default=1000
        Stop after this many iterations.
    time_limit : float, default=None
        Stop this many seconds after the beginning of `fit`; a start that takes longer is cut short.
    sparsity : float, default=0.0
        The weight β of the L1 term: larger values give rows with fewer nonzeros.
    coupling : "auto", "increasing" or float, default="auto"
        The weight α between the two factors of "anls" and "hals". "auto" takes the largest eigenvalue of A;
        "increasing" starts lower and lets it grow while the factors drift apart.
    random_state : int, RandomState or None, default=None
        Makes a run repeatable, to the bit and on any number of threads.
    callback : callable, default=None
        Called after each iteration of each start with an object that has `start`, `iteration`, `seconds`,
        `objective` and `stationarity`; returning True stops the run, and the best factor so far is kept.

    Attributes
    ----------
    labels_ : ndarray of shape (n_samples,)
        Cluster of each sample or node, −1 for none.
    membership_ : ndarray or csr_array of shape (n_samples, n_clusters)
        The factor H: a `csr_array` from 64 clusters and 2²⁴ entries on, if A is sparse, the solver
        "row_descent" and the start "merge", "tree" or a sparse array.
    objective_, relative_error_ : float
        The objective at H, and ‖A − HHᵀ‖ / ‖A‖.
    history_ : recarray
        `iteration`, `seconds`, `objective` and relative `stationarity` along the best start.
    n_iter_, converged_, stop_reason_
        Iterations of that start, whether `tol` was reached, and why it stopped, in words.
    inits_ : ndarray of shape (n_init,)
        Objectives that the starts ended at.
    merge_path_ : recarray or None
        For "merge": the clusters left, the gain in explained energy and the two sizes of each merge.
    affinity_, affinity_matrix_ : str, and ndarray, csr_array or Operator
        How X was turned into similarities, in words, and the similarity A.
    node_names_ : list or None
        Names of the samples: nodes of a graph, index of a DataFrame, `obs_names` of an AnnData.

    Examples
    --------
    >>> import numpy as np
    >>> from symclust import SymNMF
    >>> X = np.array([[0.0, 0.1], [0.1, 0.0], [0.2, 0.1], [5.0, 5.1], [5.1, 5.0], [5.2, 5.1]])
    >>> labels = SymNMF(2, affinity_params={"n_neighbors": 2}, random_state=0).fit_predict(X)
    >>> labels[0] == labels[1] == labels[2] != labels[3] == labels[4] == labels[5]
    np.True_
    """

    _settles: ClassVar[bool] = True

    def __init__(
        self,
        n_clusters: int | str = 8,
        *,
        affinity: AffinityLike = "auto",
        affinity_params: Options = None,
        solver: str = "auto",
        init: Init = "auto",
        n_init: int = 1,
        tol: float | str = "auto",
        max_iter: int = 1000,
        time_limit: float | None = None,
        sparsity: float = 0.0,
        coupling: float | str = "auto",
        random_state: RandomState = None,
        callback: Callback = None,
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
        check_solver(self.solver, coupling=self.coupling)
        check_number("sparsity", self.sparsity, least=0)

    def _make_problem(self, A: Operator) -> Problem:
        return Problem(A, Frobenius(A, self.sparsity), Nonnegative())

    def _make_solver(self, problem: Problem) -> Solver:
        name = choose_solver(problem.objective) if self.solver == "auto" else self.solver
        return make_solver(name, coupling=self.coupling)
