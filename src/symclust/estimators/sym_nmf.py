"""Symmetric nonnegative matrix factorization."""

from __future__ import annotations

from typing import Any

import numpy as np

from symclust._types import AffinityLike, Callback, Init, Options, RandomState
from symclust.constraints import Nonnegative
from symclust.estimators._streaming import StreamingEstimator
from symclust.exceptions import warn
from symclust.objectives import Frobenius
from symclust.operators import Operator
from symclust.solvers import Problem, Result, Solver, check_solver, choose_solver, make_solver
from symclust.starts import Setting, Start
from symclust.validation import check_known, check_number

FEW = 300  # rows of a dense A whose eigenvalues are looked at: some hundredths of a second


class SymNMF(StreamingEstimator):
    r"""Cluster by factoring a similarity matrix.

    Finds H ≥ 0 with one column per cluster that minimises

    .. math:: \|A - HH^T\|_F^2 + 2 \beta \sum_i \|h_i\|_1^2

    (Kuang, Yun and Park 2015, equations (6) and (18)). The cluster of a sample is read off its row h_i; one
    without similarities has a row of zeros and belongs to no cluster, label −1.

    Parameters
    ----------
    n_clusters : int or "auto", default=8
        Number of clusters k; "auto" chooses it, and `selection_` says why (docs/how_many_clusters.md).
    affinity : str or callable, default="auto"
        How X becomes similarities (docs/similarities.md): "auto", by the values of X; "nearest_neighbors",
        "multi_view", "fuzzy", "cosine", "gaussian", "self_tuning", "random_walk" or "normalized_cut"; if X is
        a similarity "precomputed", if it is the adjacency matrix of a network "network"; or a function of X.
    affinity_params : dict, default=None
        Parameters of the function of that name in `symclust.graphs`; of a graph ``{"weight": attribute}``.
    solver : str, default="auto"
        "row_descent", the choice of "auto" if rows of A are at hand; "barzilai_borwein", its choice else;
        "anls", "hals", "newton", "newton_by_columns", "newton_delayed", "projected_newton",
        "projected_gradient", "coordinate", "multiplicative".
    init : str or array of shape (n_samples, n_clusters), default="auto"
        "tree", the leaves of `HierarchicalSymNMF`; "merge", 2k clusters merged down to k; "auto", the former
        for a sparse A and the latter for others; "low_rank", faster for a large dense A; "random",
        "spectral", "greedy", "zero", "nndsvd", "nndsvda", "nndsvdar".
    n_init : int, default=1
        Number of starts, run side by side so that A is read once; the one with the lowest objective is kept.
    tol : float or "auto", default="auto"
        Stop when ‖∇ᴾf(H)‖ ≤ tol · ‖∇ᴾf(H₀)‖ or, for a sparse H, an iteration brings less than 2 tol of the
        decrease so far; "auto" is 1e-2, and stops after a tree also when few labels change.
    max_iter, time_limit : int, default=1000, and float, default=None
        Stop after this many iterations, or seconds from the beginning of `fit`.
    sparsity : float, default=0.0
        The weight β of the L1 term: larger values give rows with fewer nonzeros.
    coupling : "auto", "increasing" or float, default="auto"
        The weight α between the two factors of "anls" and "hals". "auto" takes the largest eigenvalue of A;
        "increasing" starts lower and lets it grow while the factors drift apart.
    refine : {"auto", None}, default="auto"
        Whether labels are improved once the descent has ended: nodes of a network, and if `tol` is "auto"
        samples in a graph of neighbours, move between clusters as in `HierarchicalSymNMF`, documents as in
        `topics`, and three iterations fit H to the new labels. None ends with the descent, as in the papers.
    assign_labels : {"auto", "argmax", "scaled", "kmeans"}, default="auto"
        How labels are read off H: by the largest entry of a row, "auto" for a sparse A; by the same once
        columns are divided by their sums, "auto" for others; or by k-means of the rows.
    random_state : int, RandomState or None, default=None
        Makes a run repeatable, to the bit and on any number of threads.
    callback : callable, default=None
        Called after each iteration with its `start`, `iteration`, `seconds`, `objective` and `stationarity`;
        returning True stops the run.

    Attributes
    ----------
    labels_ : ndarray of shape (n_samples,)
        Cluster of each sample or node, −1 for none.
    membership_ : ndarray or csr_array of shape (n_samples, n_clusters)
        The factor H: a `csr_array` from 64 clusters and 2²⁴ entries on, for a sparse A and "row_descent".
    objective_, relative_error_, inits_
        The objective at H, ‖A − HHᵀ‖ / ‖A‖, and the objectives that all starts ended at.
    history_, n_iter_, converged_, stop_reason_, merge_path_
        `iteration`, `seconds`, `objective` and relative `stationarity` along the best start, and its end;
        the merges of "merge": clusters left, gain in explained energy, and two sizes.
    affinity_, affinity_matrix_, node_names_
        How X became similarities, in words; the similarity A; the names of the samples, None without names.

    Examples
    --------
    >>> from symclust import SymNMF
    >>> X = [[0.0, 0.1], [0.1, 0.0], [0.2, 0.1], [5.0, 5.1], [5.1, 5.0], [5.2, 5.1]]
    >>> SymNMF(2, affinity_params={"n_neighbors": 2}, random_state=0).fit_predict(X).tolist()
    [0, 0, 0, 1, 1, 1]
    """

    _settles = True

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
        refine: str | None = "auto",
        assign_labels: str = "auto",
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
        self.refine = refine
        self.assign_labels = assign_labels
        self.random_state = random_state
        self.callback = callback

    def _check_options(self) -> None:
        super()._check_options()
        check_solver(self.solver, coupling=self.coupling)
        check_number("sparsity", self.sparsity, least=0)
        if self.refine is not None:
            check_known("refine", self.refine, ("auto",), ", or None")

    def _make_problem(self, A: Operator) -> Problem:
        return Problem(A, Frobenius(A, self.sparsity), Nonnegative())

    def _solve(self, init: Any, setting: Setting) -> tuple[list[Result], list[Start]]:
        A, k = setting.problem.operator, setting.n_columns
        if A.is_dense and A.n <= FEW:
            _warn_of_few_eigenvalues(A, k)
        return super()._solve(init, setting)

    def _make_solver(self, problem: Problem) -> Solver:
        name = choose_solver(problem.objective) if self.solver == "auto" else self.solver
        return make_solver(name, coupling=self.coupling)


def _warn_of_few_eigenvalues(A: Operator, k: int) -> None:
    values, _ = A.eigsh(k)
    rounding = A.n * np.finfo(A.dtype).eps * abs(values[0])
    count = int(np.count_nonzero(values >= -rounding))
    if count < k:
        warn(
            f"The similarity has {count} nonnegative eigenvalues, fewer than the {k} clusters: HHᵀ has no "
            "negative ones and cannot be close to it. Ask for fewer clusters; or if the diagonal was set to "
            "zero, use OffDiagonalSymNMF, which leaves it out."
        )
