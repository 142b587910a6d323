"""Symmetric factorization under any constraint, with a graph regulariser."""

from __future__ import annotations

from dataclasses import replace
from typing import Any, ClassVar

import numpy as np

from symclust import _kernels
from symclust._labels import leave_out_isolated
from symclust._types import AffinityLike, Array, Callback, Init, Options, RandomState
from symclust.constraints import Nonnegative, as_constraint
from symclust.estimators._descent import DescentEstimator
from symclust.exceptions import CombinationError
from symclust.inputs.placing import Placer
from symclust.inputs.similarity import Similarity
from symclust.objectives import Frobenius
from symclust.operators import Operator, Shifted
from symclust.solvers import Problem, Result, RowSolver, Solver, check_solver, make_solver, orthant_solver
from symclust.starts import Setting, Start, solve
from symclust.validation import check_known, check_number

STEP_RULES = ("auto", "accelerated", "adaptive", "lanczos", "search")


class SymmetricFactorization(DescentEstimator):
    r"""Cluster by factoring a similarity whose entries, like those of the factor, may have both signs.

    Minimises, over H in a set of your choice,

    .. math:: \|A - HH^T\|_F^2 + \lambda \sum_{ij} A_{ij} \|h_i - h_j\|_2^2

    (Zhang and Liu, equation (5)). The second term pulls together the rows of samples that are similar and
    pushes apart those with negative similarity. Up to a constant the sum is ‖M − HHᵀ‖² with M = A − λL and L
    the Laplacian of A (6), which the solvers minimise; neither M nor L is ever formed.

    Parameters
    ----------
    n_clusters : int or "auto", default=8
        Number of columns of H, and of clusters; "auto" chooses it, and `selection_` says why.
    constraint : str or object, default="free"
        The set of H: "free", "nonnegative", "unit" (rows of length 1), "sparse" (two entries per row),
        "orthogonal" (orthonormal columns), "l1" (rows with ‖h‖₁ ≤ 1), "simplex" (rows that are
        probabilities), "one_per_row" (nonnegative and orthogonal, as in k-means); a class of
        `symclust.constraints` with other parameters, such as ``Sparse(3, axis="columns")``; or any object
        with a method `project` from an n × k array to the nearest one in its set.
    graph_regularization : float, default=0.0
        The weight λ. Values between 0 and 1 make sense for every scale of A, since L scales with A.
    affinity, affinity_params
        Similarities of the samples, as in `SymNMF`; they may be negative.
    solver : str, default="auto"
        "projected_gradient" works for every set, and so does "procrustes", which turns eigenvectors;
        "columnwise" for "free" and "nonnegative"; for "nonnegative" those of `SymNMF` too. "auto" takes
        "projected_gradient", except "row_descent" for "nonnegative" if A is an array, dense or sparse, or has
        few rows.
    step_rule : {"auto", "accelerated", "adaptive", "lanczos", "search"}, default="auto"
        How "projected_gradient" chooses its steps: 1/(2L) as in the paper, with σ_max of L from a power
        iteration now and then ("adaptive") or accurate at each point ("lanczos"); with momentum that is
        dropped whenever f would rise ("accelerated", which "auto" is); or by trial ("search"). A rule that
        is named makes ``solver="auto"`` take "projected_gradient".
    coupling : "auto", "increasing" or float, default="auto"
        The weight between the two factors of "columnwise", "anls" and "hals"; "auto" takes the bound of the
        paper's corollary 1 for the first, and that of `SymNMF` for the others.
    init : {"merge", "random", "spectral", ...} or array of shape (n_samples, n_clusters), default="merge"
        Projected onto the set. "merge" finds clusters with a nonnegative factor first, as in `SymNMF`;
        "random" is a random point of the set; "spectral" takes the leading eigenvectors of M, turned towards
        the axes. An array is scaled up if it is far too small.
    n_init : int, default=1
        Number of starts, run side by side; the one with the lowest objective is kept.
    assign_labels : {"auto", "argmax", "scaled", "kmeans"}, default="auto"
        As in `SymNMF` for sets of nonnegative factors; for others "auto" is "kmeans", k-means on the rows.
    tol : float, default=1e-3
        Stop when ‖∇ᴾf(H)‖ ≤ tol · ‖∇ᴾf(R)‖, with R a random point of the set.
    max_iter, time_limit, random_state, callback
        As in `SymNMF`.

    Attributes
    ----------
    labels_ : ndarray of shape (n_samples,)
        Cluster of each sample; −1 for one whose row is zero, or that is similar to no other.
    membership_ : ndarray of shape (n_samples, n_clusters)
        The factor H.
    objective_, misfit_, roughness_ : float
        ‖M − HHᵀ‖²; ‖A − HHᵀ‖²; and Σ A_ij ‖h_i − h_j‖². `misfit_` + λ · `roughness_` is (5).
    relative_error_ : float
        ‖A − HHᵀ‖ / ‖A‖.
    history_, n_iter_, converged_, stop_reason_, inits_, merge_path_, affinity_matrix_, node_names_
        As in `SymNMF`.

    See Also
    --------
    symclust.constraints : the sets.
    SymNMF : the nonnegative case without regulariser.

    Examples
    --------
    Friends and foes: a negative similarity says that two should not be together.

    >>> import numpy as np
    >>> from symclust import SymmetricFactorization
    >>> A = np.array([[0, 1, 1, -1], [1, 0, 1, 0], [1, 1, 0, -1], [-1, 0, -1, 0]])
    >>> model = SymmetricFactorization(2, affinity="precomputed", random_state=0).fit(A)
    >>> bool(model.labels_[0] == model.labels_[1] == model.labels_[2] != model.labels_[3])
    True
    """

    _nonnegative: ClassVar[bool] = False
    _init_properties: ClassVar[tuple[str, ...]] = ("any_set",)

    def __init__(
        self,
        n_clusters: int | str = 8,
        *,
        constraint: Any = "free",
        graph_regularization: float = 0.0,
        affinity: AffinityLike = "auto",
        affinity_params: Options = None,
        solver: str = "auto",
        step_rule: str = "auto",
        coupling: float | str = "auto",
        init: Init = "merge",
        n_init: int = 1,
        assign_labels: str = "auto",
        tol: float = 1e-3,
        max_iter: int = 1000,
        time_limit: float | None = None,
        random_state: RandomState = None,
        callback: Callback = None,
    ) -> None:
        self.n_clusters = n_clusters
        self.constraint = constraint
        self.graph_regularization = graph_regularization
        self.affinity = affinity
        self.affinity_params = affinity_params
        self.solver = solver
        self.step_rule = step_rule
        self.coupling = coupling
        self.init = init
        self.n_init = n_init
        self.assign_labels = assign_labels
        self.tol = tol
        self.max_iter = max_iter
        self.time_limit = time_limit
        self.random_state = random_state
        self.callback = callback

    def _check_options(self) -> None:
        super()._check_options()
        as_constraint(self.constraint)
        check_solver(self.solver, coupling=self.coupling)
        check_known("step_rule", self.step_rule, STEP_RULES)
        check_number("graph_regularization", self.graph_regularization, least=0)
        if self.step_rule != "auto" and self.solver not in ("auto", "projected_gradient"):
            raise CombinationError(
                f"step_rule={self.step_rule!r} has no meaning for solver={self.solver!r}: it belongs to "
                "'projected_gradient'."
            )

    def _saved_state(self, data: bool) -> dict[str, Any]:
        state = super()._saved_state(data)
        state.pop("_similarity", None)  # `_make_problem` sets it
        return state

    def _make_problem(self, A: Operator) -> Problem:
        self._similarity = A
        M = Shifted(A, None, self.graph_regularization) if self.graph_regularization else A
        return Problem(M, Frobenius(M), as_constraint(self.constraint))

    def _make_solver(self, problem: Problem) -> Solver:
        name = self.solver
        if name == "auto":
            if "nonnegative" in problem.constraint.offers and self.step_rule == "auto":
                return orthant_solver(problem.operator)
            name = "projected_gradient"
        rule = "accelerated" if self.step_rule == "auto" else self.step_rule
        return make_solver(name, coupling=self.coupling, step_rule=rule)

    def _solve(self, init: Any, setting: Setting) -> tuple[list[Result], list[Start]]:
        return solve(init, setting, replace(setting.problem, constraint=Nonnegative()))

    def _measure_error(self, problem: Problem) -> float:
        """Split the objective into the two terms of (5) on the way."""
        A, H = self._similarity, self.membership_
        AH, G = A @ H, _kernels.gram(H)[0]
        fit = _kernels.inner(H.reshape(-1), AH.reshape(-1))
        plain = problem.objective if A is problem.operator else Frobenius(A)
        misfit = max(plain.squared_norm - 2 * fit + float(np.sum(G * G)), 0.0)
        self.misfit_ = plain.certify(H, misfit)
        lengths = np.einsum("il,il->i", H, H, dtype=np.float64)
        self.roughness_ = 2 * (float(A.degrees().astype(np.float64) @ lengths) - fit)  # (7)
        return plain.relative_error(H, self.misfit_)

    def _fit_labels(self, H: Array, A: Operator) -> Array:
        return leave_out_isolated(super()._fit_labels(H, A), A)

    def _best_assignment(self, A: Operator) -> str:
        return super()._best_assignment(A) if self._problem.constraint.nonnegative else "kmeans"

    @property
    def centers_(self) -> Array | None:
        """The centres of k-means on the rows, n_clusters × n_clusters, if it reads the labels."""
        self._check_fitted()
        return getattr(self.assignment_, "centers", None)

    def _make_placer(self, similarity: Similarity) -> Placer:
        # Off the diagonal M = A − λL is (1 + λ)A.
        solve = RowSolver(self._problem.constraint)
        return Placer(similarity, self.membership_, solve, 1 + self.graph_regularization)
