"""Symmetric nonnegative matrix factorization without the diagonal."""

from __future__ import annotations

from typing import Any

import numpy as np
from scipy import sparse
from sklearn.utils.validation import check_is_fitted

from symclust._types import AffinityLike, Callback, Init, Options, RandomState
from symclust.constraints import Nonnegative
from symclust.estimators._streaming import StreamingEstimator
from symclust.exceptions import CombinationError, InputError
from symclust.inputs.ignored import read_ignored
from symclust.inputs.similarity import Similarity
from symclust.objectives import Absolute, IgnoredPairs, OffDiagonal, row_lengths
from symclust.operators import Operator
from symclust.solvers import Problem, Solver, check_solver, choose_solver, make_solver
from symclust.validation import check_known

LOSSES = {"squared": OffDiagonal, "absolute": Absolute}


class OffDiagonalSymNMF(StreamingEstimator):
    r"""Cluster by factoring a similarity matrix whose diagonal says nothing.

    Finds H ≥ 0 with one column per cluster that minimises, over all pairs of different samples,

    .. math:: \sum_{i \ne j} (A_{ij} - h_i^T h_j)^2 \quad\text{or}\quad \sum_{i \ne j} |A_{ij} - h_i^T h_j|

    (Moutier, Vandaele and Gillis 2021, equation (3)). A sample's similarity to itself need not be
    explained, so that clusters may overlap freely: with enough columns, every nonnegative similarity has an
    exact factorization of this kind. The absolute loss is robust against wrong entries and suits binary
    similarities with errors; its result depends strongly on the start.

    Parameters
    ----------
    n_clusters : int or "auto", default=8
        Number of clusters k; "auto" chooses it, and `selection_` says why.
    loss : {"squared", "absolute"}, default="squared"
        The cost of a misfit.
    affinity, affinity_params
        Similarities of the samples, as in `SymNMF`.
    solver : str, default="auto"
        "row_descent" or "coordinate" (Algorithms 2 and 4), "projected_gradient" or "multiplicative"; the
        absolute loss has "coordinate" alone. "auto" takes "row_descent" for the squared loss if rows of A are
        at hand.
    init : str or array of shape (n_samples, n_clusters), default="greedy"
        As in `SymNMF`, and "greedy": columns grown one after the other from their best-connected samples
        (Algorithm 6). "random" and "merge" begin with a few sweeps of the squared loss whatever the loss is:
        the absolute loss gets nowhere from random numbers. To the letter of the paper, for comparison:
        "random_as_printed", "greedy_as_printed" (Algorithm 6), "greedy_throughout" (Algorithm 5).
    n_init : int, default=1
        Number of starts for inits that are random; the one with the lowest objective is kept.
    tol : float, default=1e-2
        Stop when the stationarity is at most `tol` times that of the start: ‖∇ᴾf(H)‖ for the squared loss;
        for the absolute loss, which has no gradient, the decrease that changing single entries could bring.
    ignore : sparse or dense mask of shape (n_samples, n_samples), default=None
        Symmetric, nonzero at pairs that carry no information: unmeasured similarities, edges that nobody
        looked for. They are left out like the diagonal, whatever A holds there (any finite number). A pair
        costs k² for each visit of its rows.
    max_iter, time_limit, assign_labels, random_state, callback
        As in `SymNMF`.

    Attributes
    ----------
    membership_ : ndarray or csr_array of shape (n_samples, n_clusters)
        The factor H; sparse if that of `SymNMF` would be, for the squared loss without ignored pairs.
    objective_ : float
        The objective at H; every pair counts twice, as (i, j) and (j, i).
    relative_error_ : float
        √f(H) / √f(0) for the squared loss, f(H) / f(0) for the absolute one.
    labels_, history_, n_iter_, converged_, stop_reason_, inits_, merge_path_, affinity_matrix_, node_names_
        As in `SymNMF`.

    See Also
    --------
    SymNMF : with the diagonal.
    symclust.metrics.factor_accuracy : how close H is to a known one.

    Examples
    --------
    Two cliques that share their middle node (example 1 of the paper), recovered exactly:

    >>> import numpy as np
    >>> from symclust import OffDiagonalSymNMF
    >>> A = np.array([[1, 1, 0], [1, 1, 1], [0, 1, 1]])
    >>> model = OffDiagonalSymNMF(2, loss="absolute", affinity="precomputed").fit(A)
    >>> model.membership_
    array([[1., 0.],
           [1., 1.],
           [0., 1.]])
    >>> model.objective_
    0.0
    """

    def __init__(
        self,
        n_clusters: int | str = 8,
        *,
        loss: str = "squared",
        affinity: AffinityLike = "auto",
        affinity_params: Options = None,
        solver: str = "auto",
        init: Init = "greedy",
        n_init: int = 1,
        tol: float = 1e-2,
        max_iter: int = 1000,
        time_limit: float | None = None,
        ignore: Any = None,
        assign_labels: str = "auto",
        random_state: RandomState = None,
        callback: Callback = None,
    ) -> None:
        self.n_clusters = n_clusters
        self.loss = loss
        self.affinity = affinity
        self.affinity_params = affinity_params
        self.solver = solver
        self.init = init
        self.n_init = n_init
        self.tol = tol
        self.max_iter = max_iter
        self.time_limit = time_limit
        self.ignore = ignore
        self.assign_labels = assign_labels
        self.random_state = random_state
        self.callback = callback

    def impute(self) -> sparse.csr_array:
        """Return the similarities that the factorization gives to the pairs of `ignore`.

        Returns
        -------
        csr_array of shape (n_samples, n_samples)
            h_i·h_j at the ignored pairs and on the diagonal, which is always ignored; nothing elsewhere.

        Examples
        --------
        >>> import numpy as np
        >>> from symclust import OffDiagonalSymNMF
        >>> A = np.kron(np.eye(2), np.ones((4, 4)))
        >>> unknown = np.zeros((8, 8))
        >>> unknown[0, 1] = unknown[1, 0] = 1
        >>> model = OffDiagonalSymNMF(2, ignore=unknown, affinity="precomputed", tol=1e-6)
        >>> model = model.fit(A * (1 - unknown))
        >>> round(float(model.impute()[0, 1]), 3)
        1.0
        """
        check_is_fitted(self)
        if sparse.issparse(self.membership_):  # as it is only where no pair is ignored
            return sparse.csr_array(
                sparse.diags_array(row_lengths(self.membership_).astype(self.membership_.dtype))
            )
        pairs = sparse.csr_array(sparse.eye_array(len(self.membership_)) + self.ignored_)
        return IgnoredPairs.of(pairs).products(self.membership_)

    def binarize(self) -> np.ndarray:
        """Return a factor of zeros and ones for a similarity of zeros and ones.

        Every entry takes the better of 0 and 1, the others staying as they are, over and over until none
        changes (the transformation behind lemma 2). What is counted is the absolute loss, which is then the
        number of wrong pairs, whatever loss was fitted. With one cluster and memberships up to 1, it does not
        rise.

        Returns
        -------
        ndarray of int of shape (n_samples, n_clusters)

        Examples
        --------
        >>> import numpy as np
        >>> from symclust import OffDiagonalSymNMF
        >>> A = np.array([[1, 1, 0], [1, 1, 1], [0, 1, 1]])
        >>> OffDiagonalSymNMF(2, affinity="precomputed").fit(A).binarize().sum(axis=0)
        array([2, 2])
        """
        check_is_fitted(self)
        objective = Absolute(self._problem.operator, self._problem.objective.ignored)
        odd = objective.find_other_than(0.0, 1.0)
        if odd is not None:
            raise InputError(
                f"binarize() is for similarities of zeros and ones, but this one holds {odd:.6g}. "
                "Fit a binary similarity with affinity='precomputed', or use communities(threshold=...)."
            )
        H: Any = self.membership_
        return objective.binarize(H.toarray() if sparse.issparse(H) else H).astype(int)

    def _check_options(self) -> None:
        super()._check_options()
        check_known("loss", self.loss, tuple(LOSSES))
        check_solver(self.solver)

    def _join(self, X: Any) -> Similarity:
        if self.ignore is not None:
            raise CombinationError(
                "ignore names pairs of the samples of fit, and says nothing of those that join: partial_fit "
                "works without it. Fit anew, with a mask for all samples."
            )
        return super()._join(X)

    def _make_problem(self, A: Operator) -> Problem:
        ignored = IgnoredPairs()
        self.ignored_ = sparse.csr_array(A.shape)
        if self.ignore is not None:
            self.ignored_ = read_ignored(self.ignore, A.n)
            ignored = IgnoredPairs.of(self.ignored_)
            A = A.without(self.ignored_)
        return Problem(A, LOSSES[self.loss](A, ignored), Nonnegative())

    def _make_solver(self, problem: Problem) -> Solver:
        return make_solver(choose_solver(problem.objective) if self.solver == "auto" else self.solver)
