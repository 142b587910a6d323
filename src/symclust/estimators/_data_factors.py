"""The base of estimators that factor a data matrix, X ≈ WCᵀ."""

from __future__ import annotations

from abc import abstractmethod
from typing import Any, ClassVar, Self

import numpy as np
from numpy.typing import ArrayLike
from scipy import sparse
from sklearn.utils import check_random_state
from sklearn.utils.validation import check_is_fitted

from symclust import _kernels, registry
from symclust._labels import OF_FEATURES, warn_of_degenerate
from symclust._threads import single_threaded_blas
from symclust._types import Array, Features
from symclust.constraints import Nonnegative
from symclust.estimators._base import Clusterer
from symclust.exceptions import InputError
from symclust.inputs.placing import halves
from symclust.nnls import block_pivoting
from symclust.operators import Bipartite
from symclust.solvers import Control, Problem, Result, run
from symclust.starts import count_starts, inits_with
from symclust.storage import data_are
from symclust.two_factors import RowProblem, TwoFactors, starting_points
from symclust.validation import (
    check_features,
    check_known,
    check_n_clusters,
    check_nonnegative,
    check_number,
    check_range,
)

FAMILY = "two_factors.solvers"


class DataFactors(Clusterer):
    """Factors a nonnegative data matrix and reads clusters off the memberships."""

    _nonnegative: ClassVar[bool] = True

    @abstractmethod
    def _make_objective(self, A: Bipartite, X: Any) -> TwoFactors:
        """The objective for this data."""

    def fit(self, X: Features, y: object = None) -> Self:
        """Factor the samples, in rows and without negative entries; a sparse X stays sparse."""
        self._check_options()
        control = Control(self.tol, self.max_iter, self.time_limit, self.callback)
        checked = self._read(X)
        check_range(checked)
        data_are(checked)
        self._note_features(X)
        k = check_n_clusters(self.n_clusters, checked.shape[0])
        A = Bipartite(checked)
        objective = self._make_objective(A, checked)
        problem = Problem(A, objective, Nonnegative())
        solver = registry.resolve(FAMILY, self.solver)()
        solver.check(problem)  # before a start is made, which takes products
        rng = check_random_state(self.random_state)
        n_init = count_starts(self.init, self.n_init)
        starts = starting_points(objective, self._read_init(checked.shape, k), k, n_init, rng)
        results = run(problem, solver, starts, control)
        best = min(results, key=lambda result: result.objective)
        self._placer = DataPlacer(objective, best.H)
        if objective.separate_rows and solver.ends_exactly:
            self._settle(objective, best)
        self.inits_ = np.array([result.objective for result in results])
        self._store(objective, best)
        self._warn(best)
        return self

    def _settle(self, objective: TwoFactors, best: Result) -> None:
        """Take the last step on W exactly: training samples get the rows that `transform` would give them.

        A solver's last W is only near the minimum for its C, and if C has dependent columns, as with more
        clusters than features, there are many minima.
        """
        A = objective.operator
        W, C = A.sides(best.H)
        Y = self._placer.solve(A)
        if not np.array_equal(Y, W[:, objective.free]):  # block pivoting has mostly been there
            best.H = objective.join(Y, C)
            best.objective = objective.value(best.H, A @ best.H, objective.gram(best.H))
            best.history.objective[-1] = best.objective

    def _store(self, objective: TwoFactors, best: Result) -> None:
        W, _ = objective.operator.sides(best.H)
        # The objective belongs to the factors as they were found: rescaling them changes penalties.
        self.objective_ = best.objective
        self.relative_error_ = objective.relative_error(best.H, best.objective)
        self.components_ = self._placer.components
        self.membership_ = W[:, objective.free] * self._placer.norms
        self._learn_assignment(self.membership_, "argmax")
        self.labels_ = self._labels_of(self.membership_)
        self.history_, self.n_iter_ = best.history, best.n_iter
        self.converged_, self.stop_reason_ = best.converged, best.stop_reason

    def _warn(self, best: Result) -> None:
        best.warn(type(self).__name__)
        warn_of_degenerate(
            type(self).__name__, self.labels_, self._n_features_out, OF_FEATURES, self.node_names_
        )

    # Options and input --------------------------------------------------------------------------------------

    def _check_options(self) -> None:
        super()._check_options()
        check_n_clusters(self.n_clusters)
        registry.resolve(FAMILY, self.solver)
        if isinstance(self.init, str) or self.init is None:
            check_known("init", self.init, inits_with("two_factors"), ", or give a pair of arrays (W, C)")
        check_number("n_init", self.n_init, least=1, whole=True)

    def _read(self, X: Any) -> Any:
        X = check_features(X)
        check_nonnegative(X, type(self).__name__)
        return X

    def _read_init(self, shape: tuple[int, int], k: int) -> Any:
        if isinstance(self.init, str):
            return self.init
        if not isinstance(self.init, tuple | list) or len(self.init) != 2:
            raise InputError(
                f"init must be a name or a pair of arrays (W, C), got {type(self.init).__name__}."
            )
        pair = tuple(np.asarray(array) for array in self.init)
        for name, array, rows in zip("WC", pair, shape, strict=True):
            if array.shape != (rows, k) or array.dtype.kind not in "fiu":
                raise InputError(
                    f"{name} of init=(W, C) must be an array of numbers of shape {(rows, k)}; "
                    f"got shape {array.shape} and dtype {array.dtype}."
                )
            if not np.isfinite(array).all() or array.min() < 0:
                raise InputError(f"{name} of init=(W, C) must hold finite numbers that are not negative.")
        return pair

    # Of a fitted model --------------------------------------------------------------------------------------

    @property
    def _n_features_out(self) -> int:
        return self.components_.shape[0]

    def fit_transform(self, X: Features, y: object = None) -> Array:
        """Fit, and return the memberships of the samples, `membership_`."""
        return self.fit(X).membership_

    def transform(self, X: Features) -> Array:
        """The memberships of samples, n_samples × n_clusters.

        Each row solves the nonnegative least squares problem of its sample with the components as they are,
        exactly: thesis (39). So do the rows of `membership_`.
        """
        check_is_fitted(self)
        checked = self._read(X)
        self._note_features(X, reset=False)
        return self._place(checked)

    def _place(self, X: Any) -> Array:
        """A row of memberships for each row of X."""
        return self._placer.memberships(X)

    def predict(self, X: Features) -> Array:
        """Cluster of each sample, read off its row of `transform` as `labels_` are; −1 for zeros."""
        return self._labels_of(self.transform(X))

    def score(self, X: Features, y: object = None) -> float:
        r"""The share of held-out features that the components explain; larger is better, 1 is all.

        The features are cut into two fixed halves S and T. Each sample is placed by one half, as `transform`
        does, and compared in the other with what its memberships then predict, both ways:

        .. math:: 1 - \frac{\sum_i \|x_{iT} - C_T w(x_{iS})\|^2}{\sum_i \|x_{iT}\|^2}

        The score, which may be negative, does not grow with the number of clusters by itself: components that
        fit noise do not help with unseen features (Owen and Perry 2009). So ``GridSearchCV`` without
        `scoring` finds a number that the data support.
        """
        check_is_fitted(self)
        checked = self._read(X)
        self._note_features(X, reset=False)
        return self._placer.score(checked)

    def inverse_transform(self, X: ArrayLike) -> Array:
        """Samples with the given memberships, n_samples × n_features."""
        check_is_fitted(self)
        memberships = check_features(X, name="memberships")
        if memberships.shape[1] != len(self.components_):
            raise InputError(
                f"Memberships have {memberships.shape[1]} columns; expected one for each of the "
                f"{len(self.components_)} components."
            )
        return np.asarray(memberships @ self.components_) + self._placer.offset


class DataPlacer:
    """Solves the least squares problem of W for new samples; holds C, and nothing of the data.

    `components` are the free columns of C, scaled to length 1, as rows, k × d. Their lengths `norms` give the
    scale of the memberships, which the two factors happen to share in some way. `offset`, of length d, is the
    part that all samples have, whatever their memberships.
    """

    def __init__(self, objective: TwoFactors, H: Array) -> None:
        C = objective.operator.sides(H)[1].copy()  # without the memberships beside it
        free = C[:, objective.free]
        self.norms = np.sqrt(np.einsum("ij,ij->j", free, free, dtype=np.float64)).astype(C.dtype)
        self.components = np.ascontiguousarray((free / np.where(self.norms > 0, self.norms, 1)).T)
        self.offset = objective.offset(C)
        self._C, self._free = C, objective.free
        self._problem = _problem_of(objective, C)
        self._halves = [(half, _problem_of(objective, C[half])) for half in halves(len(C))]

    def memberships(self, X: Any) -> Array:
        """A row of memberships for each row of X."""
        return self.solve(Bipartite(X.astype(self._C.dtype, copy=False))) * self.norms

    def solve(self, A: Bipartite) -> Array:
        """The rows of W for the samples of A."""
        return self._solve(A, self._C, self._problem)

    def _solve(self, A: Bipartite, C: Array, problem: RowProblem) -> Array:
        with single_threaded_blas():
            return block_pivoting(problem.left, A.times(C)[:, self._free] + problem.right)

    def score(self, X: Any) -> float:
        """The share of each half of the features that the other half explains, as one number."""
        missed = total = 0.0
        (first, of_first), (second, of_second) = self._halves
        for given, problem, held_out in ((first, of_first, second), (second, of_second, first)):
            if given.size and held_out.size:
                part = X[:, given].astype(self._C.dtype, copy=False)
                W = self._solve(Bipartite(part), self._C[given], problem)
                found = self._squares(W.astype(np.float64), X[:, held_out].astype(np.float64), held_out)
                missed, total = missed + found[0], total + found[1]
        return 1 - missed / total if total > 0 else 0.0

    def _squares(self, W: Array, X: Any, features: Array) -> tuple[float, float]:
        """‖X − 1bᵀ − WCᵀ‖² and ‖X‖² for some of the features, without an array of their size."""
        C, b = self._C[features, self._free].astype(np.float64), self.offset[features].astype(np.float64)
        norm = float((X.data**2).sum() if sparse.issparse(X) else (X**2).sum())
        fit = float((W * (X @ C)).sum() + (X @ b).sum())
        size = float(((W @ (C.T @ C)) * W).sum() + 2 * (W @ (C.T @ b)).sum() + len(W) * (b @ b))
        return max(norm - 2 * fit + size, 0.0), norm


def _problem_of(objective: TwoFactors, C: Array) -> RowProblem:
    """The problem of a sample without entries or neighbours, the part that all samples share."""
    problem = objective.samples_problem(C, np.zeros((1, C.shape[1]), C.dtype), _kernels.gram(C)[0])
    return RowProblem(problem.left, problem.right)  # without the graph, if there is one
