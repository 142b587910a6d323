"""Estimators that descend on an objective from one or several starts: options, fit, optimality."""

from __future__ import annotations

from abc import abstractmethod
from dataclasses import dataclass, replace
from functools import partial
from typing import Any, ClassVar, Self

import numpy as np
from scipy import sparse
from sklearn.utils import check_random_state
from sklearn.utils.validation import check_is_fitted

from symclust import _kernels
from symclust._labels import labels_of
from symclust._threads import keeps_results, single_threaded_blas
from symclust._types import Array
from symclust.estimators._base import SimilarityEstimator
from symclust.exceptions import InputError
from symclust.inputs.similarity import SETTLED, Similarity
from symclust.objectives import HasGradient, gram, is_sparse_factor
from symclust.operators import Operator
from symclust.solvers import Control, Problem, Result, Solver, run
from symclust.starts import Setting, Start, count_starts, inits_with, solve, start_of_labels
from symclust.storage import recorded, stop_recording
from symclust.validation import check_known, check_n_clusters, check_scale, check_similarity, check_stored

FOLLOWING = 3  # iterations after which memberships have followed refined labels


class DescentEstimator(SimilarityEstimator):
    """Factors a similarity by descending on an objective.

    A subclass makes the problem and the solver; parameters are stored by its ``__init__``.
    """

    _nonnegative: ClassVar[bool] = True  # whether similarities and starts with negative entries are refused
    _init_properties: ClassVar[tuple[str, ...]] = ()  # of `Init`, that a start has to have
    # `refine` is a parameter of those that improve labels by a rule of the data.
    _by_default: ClassVar[dict[str, Any]] = SimilarityEstimator._by_default | {"refine": None}
    refine: str | None
    _settles = False  # whether tol="auto" ends a descent from a clustering when labels settle
    _left_out: ClassVar[dict[str, str]] = SimilarityEstimator._left_out | {
        "_problem": "the objective",
        "ignored_": "the pairs that were ignored",
    }

    @abstractmethod
    def _make_problem(self, A: Operator) -> Problem:
        """The problem for this similarity."""

    @abstractmethod
    def _make_solver(self, problem: Problem) -> Solver:
        """The solver of the problem."""

    def fit(self, X: Any, y: Any = None) -> Self:
        """Factor the similarity of samples × features, of a graph, `AttributedGraph` or operator, or X."""
        control = self._make_control()
        self._check_options()
        n_init = count_starts(self.init, self.n_init)
        similarity = self._read(X)
        A = similarity.operator
        if control.settles > 0 and self.refine is not None:
            control = replace(control, settles=similarity.rule.settled(A))
        n_clusters = check_n_clusters(self.n_clusters, A.n)
        problem = self._make_problem(A)
        # Pairs that the problem leaves out may be anything.
        check_similarity(problem.operator, nonnegative=self._nonnegative)
        check_scale(problem.operator)
        init = self._read_init((A.n, n_clusters))
        solver, rng = self._make_solver(problem), check_random_state(self.random_state)
        self._problem = problem
        setting = Setting(problem, solver, control, n_clusters, n_init, rng)
        if problem.operator is A:
            setting = replace(setting, graph=similarity.graph)
        results, points = self._solve(init, setting)
        self.inits_ = np.array([result.objective for result in results])
        best = int(self.inits_.argmin())
        self.merge_path_ = points[best].merge_path
        self.reference_ = results[best].reference
        self._store(similarity, self._refined(similarity, setting, results[best]))
        self.relative_error_ = self._measure_error(problem)
        return self

    def _make_control(self) -> Control:
        """When to stop; the clock of the fit starts here."""
        is_auto = self._settles and isinstance(self.tol, str) and self.tol == "auto"
        tol = Control.tol if is_auto else self.tol
        settles = SETTLED if is_auto else 0.0
        return Control(tol, self.max_iter, self.time_limit, self.callback, settles=settles)

    def _solve(self, init: Any, setting: Setting) -> tuple[list[Result], list[Start]]:
        """The ends of all starts, and the starts."""
        return solve(init, setting)

    def _refined(self, similarity: Similarity, setting: Setting, end: Result) -> Result:
        """The end of a descent with labels improved by a rule of the data, and H as it follows them.

        It is as it was without such a rule, after an interrupt, and if the time is up.
        """
        control, rule = setting.control, similarity.rule
        has_rule = self.refine is not None and (control.settles > 0 or not rule.moves_once_settled)
        if not has_rule or end.interrupted or control.is_over():
            return end
        A, k = similarity.operator, setting.n_columns
        labels = self._fit_labels(end.H, A)
        refine = partial(rule.refined, A, labels, k, setting.rng)
        try:
            refined = recorded("refinement", refine, setting.rng, partial(_can_be_labels, labels, k))
        except KeyboardInterrupt:
            stop_recording()
            if not keeps_results():
                raise
            reason = f"{end.stop_reason}; then the run was interrupted"
            return replace(end, stop_reason=reason, interrupted=True)
        moved = 0 if refined is None else int(np.count_nonzero(refined != labels))
        if not moved:
            return end
        reason = f"{end.stop_reason}; refining then moved {moved:,} of {A.n:,} samples"
        return replace(following(setting, refined, end), stop_reason=reason)

    def _measure_error(self, problem: Problem) -> float:
        """The relative error of the fit."""
        return problem.objective.relative_error(self.membership_, self.objective_)

    def optimality(self) -> SetOptimality | EntryOptimality:
        """Residuals of all optimality conditions at the solution, computed afresh."""
        check_is_fitted(self)
        return measure_optimality(self._problem, self.membership_, self.reference_)

    def _saved_state(self, data: bool) -> dict[str, Any]:
        state = super()._saved_state(data)
        state.pop("_problem", None)
        return state

    def _restore(self) -> None:
        if "_training" in vars(self):
            self._problem = self._make_problem(self._training.operator)

    def _check_options(self) -> None:
        """Refuse impossible options before anything is computed."""
        super()._check_options()
        check_n_clusters(self.n_clusters)
        if isinstance(self.init, str) or self.init is None:
            check_known("init", self.init, inits_with(*self._init_properties), ", or give an array")

    def _read_init(self, shape: tuple[int, int]) -> Any:
        """The name or the array of the start; `shape` is that of H."""
        return self.init if isinstance(self.init, str) else _check_start(self.init, shape, self._nonnegative)


def _check_start(init: Any, shape: tuple[int, int], nonnegative: bool) -> Any:
    if sparse.issparse(init) and init.shape == shape:
        init = check_stored(init, "init")
        _check_start(np.append(init.data, 0.0).reshape(-1, 1), (init.data.size + 1, 1), nonnegative)
        return init
    init = np.asarray(init)
    if init.shape != shape or init.dtype.kind not in "fiu":
        raise InputError(
            f"init must be a name or an array of numbers of shape (n_samples, n_clusters) = {shape}; "
            f"got shape {init.shape} and dtype {init.dtype}."
        )
    if not np.isfinite(init).all() or (nonnegative and init.min() < 0):
        raise InputError(f"init must hold finite numbers{' that are not negative' if nonnegative else ''}.")
    if not init.any():
        raise InputError(
            "init is zero everywhere: the gradient is zero there, and no descent begins. Give a name, "
            "such as 'random', or an array with other numbers."
        )
    return init


# Memberships that follow labels ------


def _can_be_labels(labels: Array, k: int, answer: Any) -> bool:
    """Whether an answer from a file refines labels."""
    if answer is None:
        return True
    return (
        answer.shape == labels.shape and answer.dtype.kind == "i" and -1 <= answer.min() <= answer.max() < k
    )


def following(setting: Setting, labels: Array, end: Result) -> Result:
    """The end of a descent that goes on for a few iterations from labels, and keeps them."""
    problem, k = setting.problem, setting.n_columns
    brief = replace(setting.control, tol=0.0, max_iter=FOLLOWING, callback=None, settles=0.0)
    sparse_form = is_sparse_factor(end.H)
    H = start_of_labels(problem.operator, labels, k, sparse_form)
    after = run(problem, setting.solver, [H], brief, [end.reference], certify=False)[0]
    H = led_by(after.H, labels)
    with single_threaded_blas():
        on_device = problem.operator.to_device(H)
        product = problem.operator @ on_device if problem.objective.needs_product(on_device) else None
        value, size = problem.measure(on_device, product)
        value = problem.objective.certify(on_device, value)
    stationarity = size / end.reference if end.reference > 0 else 0.0
    later: Any = after.history[1:].copy()
    later.iteration += end.n_iter
    later[-1] = (*later[-1].tolist()[:2], value, stationarity)
    history = np.concatenate([end.history, later]).view(np.recarray)
    return replace(
        end, H=H, objective=value, stationarity=stationarity, history=history, interrupted=after.interrupted
    )


def led_by(H: Any, labels: Array) -> Any:
    """H with the largest entry of each row at its label, the others as they are if possible.

    If another entry is larger, the label's entry and the largest one become their mean, the latter a last
    digit less, and no other exceeds that. A label of −1 has a row of zeros.
    """
    rows = np.flatnonzero(labels_of(H) != labels)
    if not rows.size:
        return H
    own, block = labels[rows], H[rows]
    mine = sparse.csr_array((own >= 0, (np.arange(len(rows)), np.maximum(own, 0))), shape=block.shape)
    largest = block.max(axis=1)
    largest = largest.toarray().ravel() if sparse.issparse(block) else largest
    level = (largest + np.asarray(block[np.arange(len(rows)), np.maximum(own, 0)]).ravel()) / 2
    level = np.where(own >= 0, level, 0).astype(H.dtype)
    below = np.nextafter(level, np.zeros_like(level))
    if sparse.issparse(block):
        block.data = np.minimum(block.data, np.repeat(below, np.diff(block.indptr)))
        block = sparse.csr_array(block - block.multiply(mine) + mine.multiply(level[:, np.newaxis]))
        block.eliminate_zeros()
        place = np.arange(H.shape[0])
        place[rows] = H.shape[0] + np.arange(len(rows))
        return sparse.csr_array(sparse.vstack([H, block], format="csr")[place], dtype=H.dtype)
    block = np.minimum(block, below[:, np.newaxis])
    block[np.arange(len(rows)), np.maximum(own, 0)] = level
    H = H.copy()
    H[rows] = block
    return H


# How close a point is to satisfying the optimality conditions ------


@dataclass(frozen=True)
class SetOptimality:
    """Residuals of optimality on a set, all zero at a stationary point.

    Beside the objective f(H), they are the largest amount by which H leaves the set and ‖∇ᴾf(H)‖, the part of
    the gradient that the set does not hold. `tol` bounds the latter relative to the first point, or to a
    random one of another set than H ≥ 0.
    """

    objective: float
    primal_infeasibility: float
    projected_gradient: float
    relative_projected_gradient: float


@dataclass(frozen=True)
class Optimality(SetOptimality):
    """Residuals of the Karush-Kuhn-Tucker conditions at H ≥ 0: those of `SetOptimality` and two more.

    They are the amount by which the smallest gradient entry with H = 0 lies below zero, and the largest
    |H·∇f|.
    """

    dual_infeasibility: float
    complementarity: float


@dataclass(frozen=True)
class EntryOptimality:
    """Residuals of optimality in every single entry of H ≥ 0, for objectives without a gradient.

    `possible_decrease` sums the decreases by minimising over single entries, each by itself; `tol` bounds it
    relative to the first point. The others are as in `SetOptimality`.
    """

    objective: float
    primal_infeasibility: float
    possible_decrease: float
    relative_possible_decrease: float


def measure_optimality(problem: Problem, H: Array, reference: float) -> SetOptimality | EntryOptimality:
    """All residuals at H, computed afresh by one product, or one pass for a sparse factor."""

    def relative(size: float) -> float:
        return size / reference if reference > 0 else 0.0

    objective, certify = problem.objective, problem.objective.certify
    H = problem.operator.to_device(H)
    if is_sparse_factor(H):
        value, found = objective.measure_sparse(H)
        norm, infeasibility = (
            float(np.sqrt(found.squared_gradient)),
            max(0.0, -float(H.data.min(initial=0.0))),
        )
        return Optimality(
            value, infeasibility, norm, relative(norm), max(0.0, -found.lowest), found.complementarity
        )
    infeasibility = problem.constraint.violation(H)
    if not isinstance(objective, HasGradient):
        value, decrease = problem.measure(H, None)
        return EntryOptimality(value, infeasibility, decrease, relative(decrease))
    AH = problem.operator @ H
    if "nonnegative" not in problem.constraint.offers:
        value, norm = problem.measure(H, AH)
        return SetOptimality(certify(H, value), infeasibility, norm, relative(norm))
    G = gram(H)
    gradient = objective.gradient(H, AH, G)
    norm = _kernels.norm(problem.constraint.projected_gradient(H, gradient))
    value = certify(H, objective.value(H, AH, G))
    dual = float(max(0.0, -gradient[H <= 0].min(initial=0.0)))
    complementarity = float(np.abs(H * gradient).max(initial=0.0))
    return Optimality(value, infeasibility, norm, relative(norm), dual, complementarity)
