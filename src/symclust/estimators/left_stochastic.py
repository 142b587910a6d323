"""Left-stochastic clustering: all clusters at once, or by splits in two."""

from __future__ import annotations

from typing import Any, ClassVar, Self

import numpy as np
from sklearn.utils import check_random_state
from sklearn.utils.validation import check_is_fitted

from symclust._labels import leave_out_isolated
from symclust._threads import single_threaded_blas
from symclust._types import AffinityLike, Array, Data, Options, RandomState
from symclust.constraints import Simplex, project_simplex
from symclust.estimators._base import SimilarityEstimator, warn_of_negative_part
from symclust.estimators.divisive import TreeEstimator
from symclust.exceptions import CombinationError
from symclust.inputs.placing import Placer
from symclust.inputs.similarity import Similarity
from symclust.left_stochastic import (
    ErrorParts,
    Freedom,
    Rotation,
    assign_sizes,
    embed,
    error_parts,
    freedom,
    other_clusterings,
    rotate,
    second_half,
)
from symclust.nnls import block_pivoting
from symclust.objectives import Frobenius
from symclust.operators import Operator, as_operator
from symclust.solvers import HISTORY, Control, Problem, Result, StochasticMultiplicative, run
from symclust.validation import check_known, check_n_clusters, check_number, check_scale, check_similarity

SOLVERS = ("rotation", "multiplicative", "multiplicative_as_printed")
PENALTY = 100.0  # weight of the sum, relative to the Gram matrix
PASSES = 6  # each corrects the sum by what the one before left over, and gains two digits


class LeftStochastic(SimilarityEstimator):
    r"""Cluster by probabilities whose inner products are the similarities.

    Finds P, one row per sample, with rows on the probability simplex, and a scale c that minimise

    .. math:: \|K - \tfrac{1}{c} P P^T\|_F^2

    (Arora, Gupta, Kapila and Fazel 2013, equation (3)). P_ij is read as the probability that sample i belongs
    to cluster j; a sample is put into its most probable cluster.

    Parameters
    ----------
    n_clusters : int or "auto", default=2
        Number of clusters k; "auto" chooses it, and `selection_` says why. The similarity needs as many
        positive eigenvalues.
    affinity, affinity_params
        Similarities of the samples, as in `SymNMF`; they may be negative.
    solver : {"rotation", "multiplicative", "multiplicative_as_printed"}, default="rotation"
        "rotation" turns the leading eigenvectors into the simplex (Algorithm 1): exact if K = PPᵀ/c, and for
        two clusters without iterations. "multiplicative" descends on (3) itself from random starts, at the
        scale c* of the other; "multiplicative_as_printed" by the paper's update, which a projection follows,
        for comparison: it balances at points that are not stationary.
    n_init : int, default=10
        Number of starts. "rotation" starts from the rotation that brings far-apart samples to the vertices
        and from random ones; "multiplicative" from random memberships. The lowest objective wins.
    tol : float, default=1e-4
        "rotation" stops when an iteration lowers the misfit by less than this share of it, "multiplicative"
        when the projected gradient is this share of the first.
    max_iter : int, default=1000
        Stop after this many iterations.
    random_state : int, RandomState or None, default=None
        Makes a run repeatable, to the bit and on any number of threads.

    Attributes
    ----------
    labels_ : ndarray of shape (n_samples,)
        Most probable cluster of each sample; −1 for a sample that is similar to no other, whose probabilities
        mean nothing, unless it is a cluster by itself.
    membership_ : ndarray of shape (n_samples, n_clusters)
        P.
    scale_ : float
        c* of (10).
    objective_, relative_error_ : float
        The objective (3), and ‖K − PPᵀ/c‖ / ‖K‖.
    is_unique_ : bool
        Whether no other factor with the same inner products gives other clusters; computed at each use.
    inits_ : ndarray
        Objectives of the starts that were followed to their end.
    history_ : recarray
        As in `SymNMF`. For "rotation" the objective is the misfit ‖RQ − P‖² of section 3.2.3, on which it
        descends, and the stationarity the share by which the misfit fell.
    n_iter_, converged_, stop_reason_, affinity_matrix_, node_names_
        As in `SymNMF`.

    Notes
    -----
    Negative eigenvalues are cut, since no PPᵀ has any: "rotation" uses the k largest eigenvalues alone. For a
    similarity that was given, a warning names their share; graphs that symclust makes have zeros on their
    diagonals, and always have negative eigenvalues.

    Ctrl-C during "rotation" raises KeyboardInterrupt and leaves the model as it was; "multiplicative" keeps
    what it has found, with a warning.

    Examples
    --------
    >>> import numpy as np
    >>> from symclust import LeftStochastic
    >>> P = np.array([[1.0, 0.0], [0.9, 0.1], [0.6, 0.4], [0.0, 1.0], [0.2, 0.8]])
    >>> model = LeftStochastic(2, affinity="precomputed", random_state=0).fit(5 * P @ P.T)
    >>> round(model.scale_, 6), np.sort(model.membership_[2]).round(6).tolist()
    (0.2, [0.4, 0.6])
    """

    _nonnegative: ClassVar[bool] = False

    def __init__(
        self,
        n_clusters: int | str = 2,
        *,
        affinity: AffinityLike = "auto",
        affinity_params: Options = None,
        solver: str = "rotation",
        n_init: int = 10,
        tol: float = 1e-4,
        max_iter: int = 1000,
        random_state: RandomState = None,
    ) -> None:
        self.n_clusters = n_clusters
        self.affinity = affinity
        self.affinity_params = affinity_params
        self.solver = solver
        self.n_init = n_init
        self.tol = tol
        self.max_iter = max_iter
        self.random_state = random_state

    def fit(self, X: Data, y: object = None) -> Self:
        """Factor the similarity of the samples.

        Parameters
        ----------
        X : array-like, sparse, graph or Operator
            As in `SymNMF`.
        y : ignored
        """
        self._check_options()
        control = Control(self.tol, self.max_iter)
        similarity = self._read(X)
        k = check_n_clusters(self.n_clusters, similarity.operator.n)
        squared_norm = check_similarity(similarity.operator, nonnegative=False)
        warn_of_negative_part(similarity, type(self).__name__)
        solve = self._rotate if self.solver == "rotation" else self._descend
        result, self.scale_ = solve(similarity.operator, k, squared_norm, control)
        self._store(similarity, result)
        # Squares of entries below 1e-162 are zero: nothing to compare with.
        self.relative_error_ = float(np.sqrt(result.objective / squared_norm)) if squared_norm else np.nan
        return self

    def _fit_labels(self, H: Array, A: Operator) -> Array:
        return leave_out_isolated(self._labels_of(H), A)

    def _make_placer(self, similarity: Similarity) -> SimplexPlacer:
        return SimplexPlacer(similarity, self.membership_, self.scale_)

    def _rotate(self, K: Operator, k: int, squared_norm: float, control: Control) -> tuple[Result, float]:
        """The factor that Algorithm 1 finds, and its scale."""
        rng = check_random_state(self.random_state)
        found = rotate(K, k, self.n_init, control.tol, control.max_iter, rng, squared_norm)
        self.inits_ = np.array(found.objectives)
        return rotation_result(found, control), found.embedding.scale

    def _descend(self, K: Operator, k: int, squared_norm: float, control: Control) -> tuple[Result, float]:
        """The best factor that a descent on (3) finds, and the scale."""
        check_scale(K)
        rng = check_random_state(self.random_state)
        scale = embed(K, k).scale
        starts = [random_memberships(K, k, rng) for _ in range(self.n_init)]
        results = descend_multiplicatively(K, scale, starts, control, self.solver == "multiplicative")
        self.inits_ = np.array([result.objective for result in results])
        best = results[int(self.inits_.argmin())]
        best.H *= best.H.dtype.type(np.sqrt(scale))
        return best, scale

    @property
    def is_unique_(self) -> bool:
        """Whether no other left-stochastic factor of PPᵀ gives other clusters than P.

        Always for two clusters. For three, by the angles of the samples (section 2.4): no sample can be
        turned over the border of two clusters before one leaves the simplex, and no possible angle further on
        gives other clusters either, which the paper's test does not see. For more clusters,
        `alternative_clusterings` finds none, with its defaults: evidence, not proof.
        """
        return not self.alternative_clusterings(most=1, random_state=0)

    def alternative_clusterings(
        self,
        tolerance: float | str = "auto",
        *,
        most: int = 20,
        n_rotations: int = 200,
        random_state: RandomState = None,
    ) -> list[Array]:
        """Labels of other factors with the same inner products, by rotation (sections 2.4 and 6).

        Parameters
        ----------
        tolerance : float or "auto", default="auto"
            How far outside the simplex samples may be, on average, for a rotation to count: rounding, or a
            larger number for clusterings that fit the similarities almost as well.
        most : int, default=20
            Return at most this many.
        n_rotations : int, default=200
            For more than three clusters, how many rotations are tried; for three all are known.
        random_state : int, RandomState or None, default=None
            For the rotations tried.

        Returns
        -------
        list of ndarray of shape (n_samples,)
            Empty if none was found. They differ from `labels_` and from each other by more than names.

        Examples
        --------
        >>> import numpy as np
        >>> from symclust import LeftStochastic
        >>> angles = np.arange(12) * np.pi / 6
        >>> circle = np.column_stack([np.cos(angles), np.sin(angles)])
        >>> K = 1 / 3 + 0.1 * circle @ circle.T
        >>> model = LeftStochastic(3, affinity="precomputed", random_state=0).fit(K)
        >>> model.is_unique_, len(model.alternative_clusterings()) > 0
        (False, True)
        """
        check_is_fitted(self)
        P = self.membership_
        if isinstance(tolerance, str):
            check_known("tolerance", tolerance, ("auto",), ", or give a number")
            tolerance = float(np.sqrt(np.finfo(P.dtype).eps))
        check_number("tolerance", tolerance, least=0)
        check_number("most", most, least=1, whole=True)
        check_number("n_rotations", n_rotations, least=2, whole=True)
        return other_clusterings(P, tolerance, most, n_rotations, check_random_state(random_state))

    def freedom(self) -> Freedom:
        """How far the samples may turn before one leaves the simplex, and before one changes clusters.

        The angles α and β of section 2.4, for three clusters. `is_unique_` sees further than comparing them.

        Examples
        --------
        >>> import numpy as np
        >>> from symclust import LeftStochastic
        >>> P = np.array([[1.0, 0.0, 0.0], [0.0, 1.0, 0.0], [0.0, 0.0, 1.0], [0.5, 0.3, 0.2]])
        >>> model = LeftStochastic(3, affinity="precomputed", random_state=0).fit(P @ P.T)
        >>> found = model.freedom()
        >>> bool(found.outside_clockwise < 1e-6), bool(found.border_clockwise > 0.3), found.is_enough
        (True, True, True)
        """
        check_is_fitted(self)
        P = self.membership_
        if P.shape[1] != 3:
            raise CombinationError(
                f"The rotations of {P.shape[1]} clusters are not angles: freedom() is for three. Choose "
                "alternative_clusterings() or is_unique_."
            )
        return freedom(P, float(np.sqrt(np.finfo(P.dtype).eps)))

    def error_parts(self) -> ErrorParts:
        """The objective as a sum of six terms: the errors of three steps, and their products, (5)-(8).

        K to its best approximation of rank k, that to points in a plane, and those to the simplex.

        Examples
        --------
        >>> import numpy as np
        >>> from symclust import LeftStochastic
        >>> K = np.kron(np.eye(2), np.ones((3, 3))) + 0.1 * np.eye(6)
        >>> model = LeftStochastic(2, affinity="precomputed").fit(K)
        >>> parts = model.error_parts()
        >>> round(parts.rank, 3), round(parts.total, 3) == round(model.objective_, 3)
        (0.04, True)
        """
        check_is_fitted(self)
        return error_parts(as_operator(self.affinity_matrix_), self.membership_, self.scale_)

    def assign_sizes(self, sizes: Any) -> Array:
        """Labels with given numbers of samples in the clusters and the largest sum of probabilities.

        Parameters
        ----------
        sizes : sequence of int
            How many samples each cluster gets, in the order of the columns of `membership_`.

        Examples
        --------
        >>> import numpy as np
        >>> from symclust import LeftStochastic
        >>> P = np.array([[1.0, 0.0], [0.9, 0.1], [0.6, 0.4], [0.0, 1.0], [0.2, 0.8]])
        >>> model = LeftStochastic(2, affinity="precomputed").fit(P @ P.T)
        >>> np.bincount(model.labels_).tolist(), np.bincount(model.assign_sizes([1, 4])).tolist()
        ([3, 2], [1, 4])
        """
        check_is_fitted(self)
        return assign_sizes(self.membership_, sizes)

    def _check_options(self) -> None:
        check_n_clusters(self.n_clusters)
        check_known("solver", self.solver, SOLVERS)
        check_number("n_init", self.n_init, least=1, whole=True)


class HierarchicalLeftStochastic(TreeEstimator):
    """Split clusters in two by left-stochastic decomposition, the least similar cluster first.

    With two clusters the decomposition needs the two leading eigenvectors and no iterations. Beginning with
    all samples, the leaf whose samples are least similar to each other is split, until there are n_clusters
    leaves (Arora, Gupta, Kapila and Fazel 2013, 3.3). For many clusters it is many times faster than
    `LeftStochastic`, whose rotations have n_clusters dimensions.

    Parameters
    ----------
    n_clusters : int or "auto", default=2
        Number of leaves; "auto" chooses it, and `selection_` says why.
    affinity, affinity_params
        Similarities of the samples, as in `SymNMF`; they may be negative.
    time_limit : float, default=None
        Seconds after which the tree is left as it is then, with one split at least.
    random_state : int, RandomState or None, default=None
        Makes the choice of ``n_clusters="auto"`` repeatable; nothing else is left to chance.

    Attributes
    ----------
    labels_ : ndarray of shape (n_samples,)
        Leaf of each sample, numbered from left to right; −1 for a sample that is similar to no other, unless
        it is a leaf by itself.
    membership_ : ndarray of shape (n_samples, n_clusters)
        A one at the leaf of each sample; zeros alone for label −1.
    tree_ : Tree
        All splits: ``tree_.cut(k)`` gives the labels when there were k leaves, ``tree_.linkage()`` is for
        SciPy's ``dendrogram``, ``tree_.to_newick()`` and ``tree_.to_json()`` for other programs.
    objective_ : float
        Average within-cluster similarity (17) of the leaves; larger is better.
    affinity_matrix_, node_names_
        As in `SymNMF`.

    Notes
    -----
    A split reads the two largest eigenvalues alone, so negative ones are cut; a warning says how much of a
    given similarity they make up.

    See Also
    --------
    LeftStochastic : all clusters at once, with probabilities.
    DivisiveClustering : the same splits by any other method.

    Examples
    --------
    >>> import numpy as np
    >>> from symclust import HierarchicalLeftStochastic
    >>> K = np.kron(np.array([[3.0, 1.0, 0.0], [1.0, 3.0, 0.0], [0.0, 0.0, 3.0]]), np.ones((2, 2)))
    >>> K += 0.1 * np.eye(6)
    >>> model = HierarchicalLeftStochastic(3, affinity="precomputed").fit(K)
    >>> model.labels_.tolist(), model.tree_.cut(2).tolist()
    ([0, 0, 1, 1, 2, 2], [0, 0, 0, 0, 1, 1])
    """

    _fits_by_chance: ClassVar[bool] = False

    def _comment(self, similarity: Similarity) -> None:
        warn_of_negative_part(similarity, type(self).__name__)

    def _bisect(self, K: Operator) -> Array | None:
        return second_half(K)


class SimplexPlacer(Placer):
    """Solves min ‖a − Pp/c‖² over the simplex for the similarities a of a new sample.

    The sum of p is kept by an augmented Lagrangian: nonnegative least squares with a penalty on the sum, a
    few times with the right-hand side corrected.
    """

    def __init__(self, similarity: Similarity, P: Array, scale: float) -> None:
        super().__init__(similarity, P)
        self.scale = scale

    def _place(self, A: Any) -> Array:
        dtype = self.H.dtype
        with single_threaded_blas():
            attraction = np.ascontiguousarray(A @ self.H, dtype=dtype)
        weight = PENALTY * float(np.trace(self._gram)) / len(self._gram)
        left = (self._gram + weight).astype(dtype)
        right = attraction * dtype.type(self.scale)
        multipliers = np.full((len(right), 1), weight, dtype=dtype)
        for _ in range(PASSES):
            p = block_pivoting(left, np.ascontiguousarray(right + multipliers))
            multipliers += dtype.type(weight) * (1 - p.sum(axis=1, keepdims=True))
        return project_simplex(p)


def random_memberships(operator: Operator, k: int, rng: np.random.RandomState) -> Array:
    """Rows distributed uniformly on the simplex."""
    return rng.dirichlet(np.ones(k), operator.n).astype(operator.dtype)


def descend_multiplicatively(
    operator: Operator, scale: float, starts: list[Array], control: Control, multipliers: bool = True
) -> list[Result]:
    """Descend on (3) for H = P/√c, whose rows add up to 1/√c; so K is used as it is."""
    total = 1 / float(np.sqrt(scale))
    problem = Problem(operator, Frobenius(operator), Simplex(total))
    points = [P * P.dtype.type(total) for P in starts]
    solver = StochasticMultiplicative(multipliers)
    return run(problem, solver, points, control)


def rotation_result(found: Rotation, control: Control) -> Result:
    """A rotation as the loop would report it, which does not fit: it steps by products with K."""
    misfits = np.array(found.descent.misfits)
    history = np.empty(len(misfits), dtype=HISTORY).view(np.recarray)
    history.iteration = np.arange(1, len(misfits) + 1)
    history.seconds = np.array(found.descent.clock) - control.clock
    history.objective = misfits
    before = np.concatenate([misfits[:1], misfits[:-1]])
    fall = np.divide(np.abs(before - misfits), before, out=np.zeros_like(misfits), where=before > 0)
    history.stationarity = fall
    reason = f"stopped at max_iter after {len(misfits)} iterations with the misfit still falling"
    if found.descent.converged:
        falls = f"the misfit falls by less than {control.tol:.1e} of itself or is rounding"
        reason = f"converged after {len(misfits)} iterations: {falls}"
    return Result(found.P, found.objective, float(fall[-1]), 1.0, history, found.descent.converged, reason)
