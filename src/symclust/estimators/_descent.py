"""What estimators share that descend on an objective from one or several starts."""

from __future__ import annotations

from abc import abstractmethod
from typing import Any, ClassVar, Self

import numpy as np
from sklearn.utils.validation import check_is_fitted

from symclust.estimators._base import SimilarityEstimator
from symclust.estimators._optimality import EntryOptimality, Optimality, SetOptimality, measure_optimality
from symclust.estimators._options import check_init, make_starts
from symclust.exceptions import OptionError
from symclust.operators import Operator
from symclust.solvers import Control, Problem, Result, Solver, Start, Starts, solve
from symclust.validation import check_n_clusters, check_number, check_scale, check_similarity


class DescentEstimator(SimilarityEstimator):
    """Factors a similarity by descending on an objective.

    A subclass says which problem it solves and with what; parameters are stored by its ``__init__``.
    """

    _nonnegative: ClassVar[bool] = True  # whether similarities and starts with negative entries are refused

    @abstractmethod
    def _make_problem(self, A: Operator) -> Problem:
        """Return what is minimised for this similarity."""

    @abstractmethod
    def _make_solver(self, problem: Problem) -> Solver:
        """Return how it is minimised."""

    def fit(self, X: Any, y: Any = None) -> Self:
        """Factor the similarity of the samples.

        Parameters
        ----------
        X : array-like, sparse, graph or Operator
            Samples × features; or with ``affinity="precomputed"`` the n × n similarity; or a networkx or
            igraph graph; or an operator of `symclust.operators`.
        y : ignored
            For scikit-learn's conventions.
        """
        self._check_options()
        control = Control(self.tol, self.max_iter, self.time_limit, self.callback)
        similarity = self._read(X)
        A = similarity.operator
        n_clusters = check_n_clusters(self.n_clusters, A.n)
        problem = self._make_problem(A)
        # What a problem leaves out may be anything.
        check_similarity(problem.operator, nonnegative=self._nonnegative)
        check_scale(problem.operator)
        shape = (A.n, n_clusters)
        starts = make_starts(self.init, self.n_init, self.random_state, shape, self._nonnegative)
        self._problem = problem
        results, points = self._solve(problem, starts, control)
        self.inits_ = np.array([result.objective for result in results])
        best = int(self.inits_.argmin())
        self.merge_path_ = points[best].merge_path
        self.reference_ = results[best].reference
        self._store(similarity, results[best])
        self.relative_error_ = self._measure_error(problem)
        return self

    def _solve(self, problem: Problem, starts: Starts, control: Control) -> tuple[list[Result], list[Start]]:
        """Return where every start ended, and the starts."""
        return solve(problem, self._make_solver(problem), starts, control)

    def _measure_error(self, problem: Problem) -> float:
        """Return the relative error of the fit."""
        return problem.objective.relative_error(self.membership_, self.objective_)

    def optimality(self) -> Optimality | EntryOptimality | SetOptimality:
        """Return the residuals of all optimality conditions at the solution, computed afresh.

        Examples
        --------
        >>> import numpy as np
        >>> from symclust import SymNMF
        >>> A = np.kron(np.eye(2), np.ones((3, 3)))
        >>> model = SymNMF(2, affinity="precomputed", random_state=0).fit(A)
        >>> model.optimality().relative_projected_gradient <= model.tol
        True
        """
        check_is_fitted(self)
        return measure_optimality(self._problem, self.membership_, self.reference_)

    def _check_options(self) -> None:
        """Refuse what can be refused before anything is computed."""
        check_n_clusters(self.n_clusters)
        check_init(self.init)
        check_number("n_init", self.n_init, least=1, whole=True)
        check_number("max_iter", self.max_iter, least=1, whole=True)
        check_number("tol", self.tol, least=0)
        if self.time_limit is not None:
            check_number("time_limit", self.time_limit, least=0, exclusive=True)
        if self.callback is not None and not callable(self.callback):
            raise OptionError(f"callback={self.callback!r} must be a function of one argument, or None.")
