"""Samples that join a fitted factorization: the matrix grows, and the descent goes on from H."""

from __future__ import annotations

from typing import Any, Self

import numpy as np
from scipy import sparse

from symclust._threads import single_threaded_blas, split
from symclust._types import Array, Data
from symclust.estimators._descent import DescentEstimator
from symclust.exceptions import CombinationError, DegenerateWarning, InputError, warn
from symclust.inputs.placing import solve_by_row
from symclust.inputs.similarity import Similarity
from symclust.nnls import block_pivoting
from symclust.objectives import HasRowProblem, gram, is_sparse_factor
from symclust.operators import Operator, as_operator, stacked
from symclust.solvers import Problem, run, sweep_rows, sweeps_pay
from symclust.validation import PAIRS, check_features, check_scale, check_similarity, is_a, sample_names

FIRST_SWEEPS = 2  # over new rows and those they touch, before A is read as a whole
COMPARED = 1024  # known samples with which new ones are compared
# H explains less than this share of the usual for 0 to 39 % of new samples of known classes, and mostly for
# 90 % and more of those of a class that was left out (digits, planted partitions).
LITTLE, FEWEST = 0.5, 5
BYTES = 8 << 20  # of rows of A made at a time, if they are not stored


class StreamingEstimator(DescentEstimator):
    """A factorization that samples can join after the fit."""

    def partial_fit(self, X: Data, y: object = None) -> Self:
        """Add samples without a fit from scratch; the first call is a `fit`.

        X has the features of `fit`, or similarities of m new samples to the n known ones and, in m further
        columns, to each other (else zero). Clusters keep their numbers; the new samples come last.
        """
        if not hasattr(self, "membership_"):
            return self.fit(X)
        control = self._make_control()
        self._check_same_options()
        n = self._training.operator.n
        similarity = self._join(X)
        problem = self._make_problem(similarity.operator)
        check_similarity(problem.operator, nonnegative=self._nonnegative, symmetric=True)
        check_scale(problem.operator)
        solver = self._make_solver(problem)
        solver.check(problem)
        H = stacked([self.membership_, _placed(similarity.operator, self.membership_)])
        H = _swept(problem, H, n, neighbors=False)
        unexplained = _count_unexplained(similarity.operator, H, n)
        H, settles = _swept(problem, H, n, neighbors=True), is_sparse_factor(H)
        watches = control.settles > 0 and isinstance(H, np.ndarray)
        result = run(
            problem, solver, [H], control, [self.reference_], least=0, settles=settles, watch_labels=watches
        )[0]
        self._problem, self.merge_path_ = problem, None
        self.inits_ = np.array([result.objective])
        self._store(similarity, result)
        self.relative_error_ = self._measure_error(problem)
        _warn_of_unexplained(type(self).__name__, unexplained, len(self.labels_) - n, H.shape[1])
        return self

    def _check_same_options(self) -> None:
        k, params = self.membership_.shape[1], self.get_params(deep=False)
        type(self)(**{**params, "n_clusters": k})._check_options()
        if self.n_clusters not in ("auto", k):
            raise CombinationError(
                f"n_clusters={self.n_clusters!r}, but the model has {k} clusters, and partial_fit keeps "
                "them. Fit anew for another number."
            )

    def _join(self, X: Any) -> Similarity:
        """The similarity of all samples; an X that cannot join them is refused."""
        self._training.rule.check_growth(self._training.operator)
        self._refuse_similarity(X)
        takes_pairs = self._training.rule.origin != "samples"
        rows = self._read_new_pairs(X) if takes_pairs else self._check_new(X)
        names = _all_names(self.node_names_, sample_names(X), self._training.operator.n, rows.shape[0])
        if takes_pairs:
            self.n_features_in_ = self._training.operator.n + rows.shape[0]
            if self.__dict__.pop("feature_names_in_", None) is not None and _are_texts(names):
                self.feature_names_in_ = np.array(names, dtype=object)
        return self._training.joined(rows, names)

    def _read_new_pairs(self, X: Any) -> Any:
        """The similarities of new samples to all, m × (n + m)."""
        n, B = self._training.operator.n, check_features(X, gaps=PAIRS)
        m, width = B.shape
        if width not in (n, n + m):
            raise InputError(
                f"X has {width} features, but {type(self).__name__} is expecting {n} features as input: the "
                f"similarities of each new sample to the {n} that are known; or {n + m}, with those to the "
                f"{m} new ones behind them."
            )
        if is_a(X, "pandas", "DataFrame"):
            _check_columns(list(X.columns), self.node_names_, sample_names(X))
        if width == n:
            return _with_zeros(B, m)
        among = as_operator(B[:, n:])
        check_similarity(among, nonnegative=False, name="The similarity of the new samples to each other")
        return B


def _with_zeros(B: Any, m: int) -> Any:
    """B with m columns of zeros behind the others."""
    if sparse.issparse(B):
        return sparse.csr_array((B.data, B.indices, B.indptr), shape=(B.shape[0], B.shape[1] + m))
    return np.pad(B, ((0, 0), (0, m)))


def _check_columns(columns: list[Any], old: list[Any] | None, new: list[Any] | None) -> None:
    """Refuse a table whose columns are not the samples that are known, in their order."""
    if old is None:
        return
    expected = old if len(columns) == len(old) else [*old, *(new or [])]
    for place, (given, known) in enumerate(zip(columns, expected, strict=False)):
        if given != known:
            raise InputError(
                f"Column {place} of the table is {given!r}, where the model has {known!r}: give the "
                "similarities to the known samples in the order of node_names_, then those to the new ones "
                "in the order of the rows."
            )


def _all_names(old: list[Any] | None, new: list[Any] | None, n: int, m: int) -> list[Any] | None:
    """The names of all samples; numbers stand for those that are missing on one side."""
    if old is None and new is None:
        return None
    known = list(range(n)) if old is None else old
    joining = list(range(n, n + m)) if new is None else new
    if taken := set(known) & set(joining):
        hint = " Name the new samples by the index of a DataFrame." if new is None else ""
        raise InputError(
            f"{len(taken)} of the {m} new samples have names that are taken, such as "
            f"{next(name for name in joining if name in taken)!r}.{hint}"
        )
    return [*known, *joining]


def _are_texts(names: list[Any] | None) -> bool:
    return names is not None and all(isinstance(name, str) for name in names)


# Where H goes on ------


def _placed(A: Any, H: Any) -> Any:
    """Rows of new samples, min ‖a − Hh‖² over h ≥ 0 for their similarities a to the old ones."""
    n, k = H.shape
    with single_threaded_blas():
        if is_sparse_factor(H):
            return solve_by_row(gram(H), sparse.csr_array(A.csr[n:, :n] @ H, dtype=H.dtype))
        known = np.concatenate([H, np.zeros((A.n - n, k), dtype=H.dtype)])
        attraction = np.ascontiguousarray(A.row_products(known).product(slice(n, A.n)))
        return block_pivoting(gram(H).astype(H.dtype), attraction)


def _swept(problem: Problem, H: Any, n: int, neighbors: bool) -> Any:
    """H after sweeps over the rows from n on, and over those that a sparse A joins to one of them.

    They cost the rows that are read; other rows move less, and by the solver.
    """
    A: Any = problem.operator
    by_rows = isinstance(problem.objective, HasRowProblem) and sweeps_pay(A)
    if not by_rows or (neighbors and not A.is_sparse):
        return H
    active = np.zeros(A.n, dtype=np.uint8)
    active[n:] = 1
    if neighbors:
        active[A.indices[A.indptr[n] :]] = 1
    return sweep_rows(problem, H, active, FIRST_SWEEPS)


# Whether new samples belong to the clusters there are ------


def _count_unexplained(A: Operator, H: Any, n: int) -> int:
    """The number of samples from n on whose similarities H explains far less than usual.

    Counted before the old rows move: later, a cluster that is missing may have taken the column of another.
    """
    old = np.unique(np.linspace(0, n - 1, min(n, COMPARED)).astype(np.intp))
    usual, found = _explained(A, H, old), _explained(A, H, np.arange(n, A.n))
    return int(np.count_nonzero(found < LITTLE * np.median(usual))) if usual.size else 0


def _explained(A: Any, H: Any, ids: Array) -> Array:
    """1 − ‖a_i − Hh_i‖² / ‖a_i‖² of some samples, over their similarities to others.

    Samples without similarities are left out.
    """
    G, parts = gram(H), [np.empty(0)]
    size = len(ids) if A.is_sparse else BYTES // (A.n * A.dtype.itemsize)
    for part in split(len(ids), max(1, size)):
        own, place = H[ids[part]], ids[part]
        rows = A.csr[place] if A.is_sparse else A.rows(place)
        itself, lengths = A.entries(place, place).astype(np.float64), _dots(own, own)
        total = _dots(rows, rows) - itself**2
        cross = _dots(own, rows @ H) - itself * lengths
        approximation = _dots(own, own @ G) - lengths**2
        found = total > 0
        parts.append((2 * cross - approximation)[found] / total[found])
    return np.concatenate(parts)


def _dots(X: Any, Y: Any) -> Array:
    """X_iᵀy_i of paired rows, dense or sparse, in float64."""
    if sparse.issparse(X):
        return np.asarray(X.multiply(Y).sum(axis=1, dtype=np.float64)).reshape(-1)
    return np.einsum("ij,ij->i", X, Y, dtype=np.float64)


def _warn_of_unexplained(name: str, unexplained: int, m: int, k: int) -> None:
    if unexplained >= FEWEST and 2 * unexplained > m:
        warn(
            f"{unexplained} of the {m} new samples fit none of the {k} clusters of {name}: their rows of H "
            f"explained less than {LITTLE:.0%} of what is usual. A cluster may be missing, and others may "
            "have changed to make room for it: fit anew, with all samples and more clusters.",
            DegenerateWarning,
        )
