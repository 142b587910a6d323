"""Nonnegative matrix factorization of a data matrix, and its variants."""

from __future__ import annotations

import math
from collections.abc import Sequence
from typing import Any, ClassVar

import numpy as np
from sklearn.utils import check_random_state

from symclust import _kernels, registry
from symclust._labels import NOWHERE
from symclust._types import Array, Callback, Init, Options, RandomState, SimilarityLike
from symclust.constraints import Nonnegative
from symclust.estimators._data_factors import FAMILY, DataFactors
from symclust.exceptions import CombinationError, InputError
from symclust.inputs.placing import TINY, KnownRows
from symclust.inputs.reading import read_graph
from symclust.operators import Bipartite, Operator
from symclust.solvers import Control, Problem, Result, run
from symclust.two_factors import Affine, Smooth, SmoothAsPrinted, SparseRows, TwoFactors, starting_points
from symclust.validation import check_known, check_n_clusters, check_number

# Of what the clusters explain. With 1/5 pictures win and gene expression loses: docs/evidence/quality.md.
GRAPH_SHARE = 0.1
PLAIN = 100  # iterations that the choice of λ may take
PART_ITERATIONS, PART_SWEEPS = 60, 8  # of the factorization of a part, and of each factor in one iteration


class NMF(DataFactors):
    r"""Cluster samples by factoring their data matrix.

    Finds W, C ≥ 0 that minimise

    .. math:: \|X - WC^T\|_F^2

    (thesis, chapter 2). The rows of `components_` are the columns of C scaled to length 1, and `membership_`
    is W with the scale of C. A sample belongs to the cluster of its largest membership, and to none, label
    −1, if all are zero.

    Parameters
    ----------
    n_clusters : int or "auto", default=8
        Number of clusters k; "auto" chooses it, and `selection_` says why.
    solver : str, default="bpp"
        "bpp", "active_set", "hals", "multiplicative", "multiplicative_as_printed" or "projected_gradient".
        Each factor in turn by block principal pivoting or the active-set method (exact), by a sweep over its
        columns, by multiplicative updates, or by projected gradient steps. An iteration of each takes one
        product with X and one with Xᵀ.
    init : {"spectral", "random", "nndsvd", "nndsvda", "nndsvdar"} or pair of arrays, default="spectral"
        Leading singular vectors, turned to be as nonnegative as possible; uniform random numbers;
        nonnegative parts of the singular vectors, with zeros, the mean of X or small random numbers in the
        gaps; or W (n_samples, k) and C (n_features, k) themselves.
    n_init : int, default=1
        Number of starts, run side by side so that X is read once for all; the one with the lowest objective
        is kept. Only "random" and "nndsvdar" differ from start to start.
    tol : float, default=1e-3
        Stop when the projected gradient, thesis (9)-(10), is tol times that of the start.
    max_iter : int, default=1000
        Stop after this many iterations.
    time_limit : float, default=None
        Stop after this many seconds.
    assign_labels : {"auto", "argmax", "scaled", "kmeans"}, default="auto"
        How labels are read off memberships, as in `SymNMF`; "auto" is "argmax".
    random_state : int, RandomState or None, default=None
        Makes a run repeatable, to the bit and on any number of threads.
    callback : callable, default=None
        As in `SymNMF`.

    Attributes
    ----------
    components_ : ndarray of shape (n_clusters, n_features)
        The features of the clusters, each row of length 1.
    membership_ : ndarray of shape (n_samples, n_clusters)
        How much of each cluster is in a sample: ``membership_ @ components_`` approximates X.
    labels_ : ndarray of shape (n_samples,)
        Cluster of each sample.
    objective_ : float
        The objective at the factors as they were found, before components are scaled.
    relative_error_ : float
        ‖X − WCᵀ‖ / ‖X‖.
    history_, n_iter_, converged_, stop_reason_, inits_
        As in `SymNMF`.
    node_names_ : list or None
        Names of the samples: the index of a DataFrame, `obs_names` of an AnnData.

    See Also
    --------
    SparseNMF : memberships with fewer entries.
    AffineNMF : with a baseline that all samples share.
    GraphNMF : with a graph of the samples.

    Examples
    --------
    >>> import numpy as np
    >>> from symclust import NMF
    >>> X = np.array([[3.0, 3.0, 0.0], [1.0, 1.0, 0.0], [0.0, 0.0, 2.0], [0.0, 0.0, 5.0]])
    >>> model = NMF(2).fit(X)
    >>> model.labels_[0] == model.labels_[1] != model.labels_[2] == model.labels_[3]
    np.True_
    >>> model.inverse_transform(model.membership_).round(3).tolist() == X.tolist()
    True
    """

    def __init__(
        self,
        n_clusters: int | str = 8,
        *,
        solver: str = "bpp",
        init: Init = "spectral",
        n_init: int = 1,
        tol: float = 1e-3,
        max_iter: int = 1000,
        time_limit: float | None = None,
        assign_labels: str = "auto",
        random_state: RandomState = None,
        callback: Callback = None,
    ) -> None:
        self.n_clusters = n_clusters
        self.solver = solver
        self.init = init
        self.n_init = n_init
        self.tol = tol
        self.max_iter = max_iter
        self.time_limit = time_limit
        self.assign_labels = assign_labels
        self.random_state = random_state
        self.callback = callback

    def _make_objective(self, A: Bipartite, X: Any) -> TwoFactors:
        return TwoFactors(A)

    # Many parts at once, for choosing the number of clusters ------------------------------------------------

    _parts_have_offset: ClassVar[bool | None] = False  # None if the kernel does not have the objective

    @property
    def _takes_parts(self) -> bool:
        """Whether `_label_parts` finds what a fit to each part would."""
        return (
            self._parts_have_offset is not None
            and self.solver in ("anls", "bpp", "hals")
            and isinstance(self.init, str)
            and self.time_limit is None
            and self.assign_labels in ("auto", "argmax")
            and self.callback is None
        )

    def _label_parts(
        self, X: Array, parts: Sequence[Array], candidates: Sequence[int], seeds: Sequence[int], place: bool
    ) -> Array:
        """Return the labels of all samples by fits to parts of them, n_parts × n_candidates × n_samples.

        Single precision and few iterations do: labels settle long before factors. Samples outside a part
        are placed as `predict` does if `place` is set, and have −1 otherwise.
        """
        labels = np.full((len(parts), len(candidates), len(X)), NOWHERE, dtype=np.int32)
        largest = float(X.max())
        if not np.isfinite(largest):
            raise InputError(
                f"Distances from X to its factors overflow: its largest entry is {largest}. Rescale the "
                "features, for example X / X.max(), and fill in what is not finite."
            )
        _kernels.label_parts(
            np.ascontiguousarray(X / max(largest, TINY), dtype=np.float32),
            np.cumsum([0, *map(len, parts)], dtype=np.int64),
            np.concatenate(parts).astype(np.int64),
            np.array(candidates, dtype=np.int64),
            np.array(seeds, dtype=np.uint64),
            bool(self._parts_have_offset),
            self.n_init,
            min(self.max_iter, PART_ITERATIONS),
            PART_SWEEPS,
            self.tol,
            place,
            labels,
        )
        return labels


def _check_weight(name: str, value: float | str) -> None:
    if isinstance(value, str):
        check_known(name, value, ("auto",), ", or give a number")
    else:
        check_number(name, value, least=0)


class SparseNMF(NMF):
    r"""Cluster samples by a factorization in which each has few memberships.

    Finds W, C ≥ 0 that minimise

    .. math:: \|X - WC^T\|_F^2 + \alpha \|C\|_F^2 + \beta \sum_i \|w_i\|_1^2

    (thesis (11), whose W is our C and whose H is our W).

    Parameters
    ----------
    sparsity : float, default=0.01
        The weight β: larger values give rows of memberships with fewer entries.
    ridge : float or "auto", default="auto"
        The weight α, which keeps the entries of C from growing; "auto" takes the square of the largest entry
        of X. It goes with a sparsity above 0: if one of the two weights is 0, the other's term vanishes by
        the scale of the factors alone, and the rest is `NMF`.
    n_clusters, solver, init, n_init, tol, max_iter, time_limit, assign_labels, random_state, callback
        As in `NMF`.

    Attributes
    ----------
    ridge_ : float
        The α that was used.
    components_, membership_, labels_, objective_, relative_error_, history_, inits_, node_names_
        As in `NMF`, like `n_iter_`, `converged_` and `stop_reason_`.

    Notes
    -----
    Only √(αβ) matters: with W/t and tC for W and C both terms have that weight, for t = (α/β)^¼. The descent
    works on these, whose sizes are alike, so that a change of the unit of X changes nothing but units.

    Examples
    --------
    >>> import numpy as np
    >>> from symclust import NMF, SparseNMF
    >>> rng = np.random.RandomState(0)
    >>> X = rng.dirichlet([0.3] * 4, 60) @ rng.random_sample((4, 20))
    >>> plain, sparse = NMF(4).fit(X), SparseNMF(4, sparsity=0.5).fit(X)
    >>> bool(np.mean(sparse.membership_ == 0) > np.mean(plain.membership_ == 0))
    True
    """

    def __init__(
        self,
        n_clusters: int | str = 8,
        *,
        sparsity: float = 0.01,
        ridge: float | str = "auto",
        solver: str = "bpp",
        init: Init = "spectral",
        n_init: int = 1,
        tol: float = 1e-3,
        max_iter: int = 1000,
        time_limit: float | None = None,
        assign_labels: str = "auto",
        random_state: RandomState = None,
        callback: Callback = None,
    ) -> None:
        super().__init__(
            n_clusters,
            solver=solver,
            init=init,
            n_init=n_init,
            tol=tol,
            max_iter=max_iter,
            time_limit=time_limit,
            assign_labels=assign_labels,
            random_state=random_state,
            callback=callback,
        )
        self.sparsity = sparsity
        self.ridge = ridge

    _parts_have_offset: ClassVar[bool | None] = None

    def _check_options(self) -> None:
        super()._check_options()
        check_number("sparsity", self.sparsity, least=0)
        _check_weight("ridge", self.ridge)
        if self.ridge != "auto" and self.sparsity == 0:
            raise CombinationError(f"ridge={self.ridge!r} has no effect with sparsity=0: set ridge='auto'.")

    def _make_objective(self, A: Bipartite, X: Any) -> TwoFactors:
        self.ridge_ = A.largest() ** 2 if self.ridge == "auto" else float(self.ridge)
        weight = math.sqrt(self.ridge_) * math.sqrt(self.sparsity)
        return SparseRows(A, weight, weight)


class AffineNMF(NMF):
    r"""Cluster samples by what they have beyond a baseline that all of them share.

    Finds W, C, b ≥ 0 that minimise

    .. math:: \|X - \mathbf{1}b^T - WC^T\|_F^2

    (thesis (44)-(46)). Features that are alike in all samples go to the baseline, and the memberships of
    different clusters overlap less.

    Parameters
    ----------
    n_clusters, solver, init, n_init, tol, max_iter, time_limit, assign_labels, random_state, callback
        As in `NMF`.

    Attributes
    ----------
    baseline_ : ndarray of shape (n_features,)
        The offset b.
    components_, membership_, labels_, objective_, relative_error_, history_, inits_, node_names_
        As in `NMF`, like `n_iter_`, `converged_` and `stop_reason_`; errors are those with the baseline.

    Examples
    --------
    >>> import numpy as np
    >>> from symclust import AffineNMF
    >>> X = np.kron(np.eye(2), np.ones((3, 2))) + np.array([0.0, 5.0, 0.0, 5.0])
    >>> model = AffineNMF(2, tol=1e-6).fit(X)
    >>> model.baseline_.round(2).tolist()
    [0.0, 5.0, 0.0, 5.0]
    >>> model.labels_[0] == model.labels_[1] == model.labels_[2] != model.labels_[3]
    np.True_
    """

    _parts_have_offset: ClassVar[bool | None] = True

    def _make_objective(self, A: Bipartite, X: Any) -> TwoFactors:
        return Affine(A)

    def _store(self, objective: TwoFactors, best: Result) -> None:
        super()._store(objective, best)
        self.baseline_ = self._placer.offset


class GraphNMF(NMF):
    r"""Cluster samples by a factorization whose memberships vary little over a graph.

    Finds W, C ≥ 0 that minimise

    .. math:: \|X - WC^T\|_F^2 + \lambda \sum_l \|c_l\|^2 w_l^T L w_l, \quad L = D - S

    with S the similarities of the samples and D their sums: graph-regularised NMF (Cai, He, Han and Huang
    2011), with components of length 1 as in that paper. L is used through products with S alone.

    Parameters
    ----------
    graph : str, array, sparse array, graph or Operator, default="nearest_neighbors"
        The similarities S: made from X as the `affinity` of that name in `SymNMF` does, or given, n × n.
    graph_params : dict, default=None
        Parameters of a `graph` that is named, for example ``{"n_neighbors": 5}``.
    graph_regularization : float or "auto", default="auto"
        The weight λ, a pure number if the graph's degrees are about 1, as those of the default are. "auto"
        takes

        .. math:: \lambda = \frac{1}{10} (f_1 - f_k) / \sum_l \|c_l\|^2 w_l^T L w_l

        with f_1 and f_k the errors of plain NMF with one and with k clusters, and its W and C: the graph's
        term is then a tenth of what k clusters explain beyond a single one, in any unit of X or of the graph.
    solver : str, default="hals"
        "hals", "multiplicative", "multiplicative_as_printed" or "projected_gradient", as in `NMF`; the third
        is the paper's. "bpp" and "active_set" take each sample by itself, which the graph does not allow.
    scaled : bool, default=True
        False leaves ‖c_l‖² out of the term: the paper's λ tr(WᵀLW), for comparison. It has no minimum, since
        W → 0 with C → ∞ removes it.
    n_clusters, init, n_init, tol, max_iter, time_limit, assign_labels, random_state, callback
        As in `NMF`.

    Attributes
    ----------
    graph_ : ndarray, csr_array or Operator
        The similarities S.
    graph_regularization_ : float
        The λ used.
    components_, membership_, labels_, objective_, relative_error_, history_, inits_, node_names_
        As in `NMF`, like `n_iter_`, `converged_` and `stop_reason_`.

    Notes
    -----
    An unseen sample has no neighbours in the graph: `transform` gives it the memberships of plain NMF with
    the components found. A sample seen in training keeps its row of `membership_`.

    Examples
    --------
    Without the graph the fourth sample, half of each kind, is between the clusters:

    >>> import numpy as np
    >>> from symclust import GraphNMF
    >>> X = np.array([[1.0, 0.0], [1.0, 0.1], [0.9, 0.0], [0.5, 0.5], [0.1, 1.0], [0.0, 1.0]])
    >>> friends = np.zeros((6, 6))
    >>> friends[3, :3] = friends[:3, 3] = 1
    >>> model = GraphNMF(2, graph=friends, graph_regularization=3.0).fit(X)
    >>> model.labels_[3] == model.labels_[0] != model.labels_[5]
    np.True_
    """

    def __init__(
        self,
        n_clusters: int | str = 8,
        *,
        graph: str | SimilarityLike = "nearest_neighbors",
        graph_params: Options = None,
        graph_regularization: float | str = "auto",
        solver: str = "hals",
        scaled: bool = True,
        init: Init = "spectral",
        n_init: int = 1,
        tol: float = 1e-3,
        max_iter: int = 1000,
        time_limit: float | None = None,
        assign_labels: str = "auto",
        random_state: RandomState = None,
        callback: Callback = None,
    ) -> None:
        super().__init__(
            n_clusters,
            solver=solver,
            init=init,
            n_init=n_init,
            tol=tol,
            max_iter=max_iter,
            time_limit=time_limit,
            assign_labels=assign_labels,
            random_state=random_state,
            callback=callback,
        )
        self.scaled = scaled
        self.graph = graph
        self.graph_params = graph_params
        self.graph_regularization = graph_regularization

    _parts_have_offset: ClassVar[bool | None] = None
    _left_out: ClassVar[dict[str, str]] = {"graph_": "their graph"}

    def _check_options(self) -> None:
        super()._check_options()
        _check_weight("graph_regularization", self.graph_regularization)

    def _make_objective(self, A: Bipartite, X: Any) -> TwoFactors:
        graph = read_graph(self.graph, self.graph_params, X)
        self.graph_ = graph.matrix
        self._known = KnownRows(X)
        self.graph_regularization_ = self._weight(A, graph)
        return (Smooth if self.scaled else SmoothAsPrinted)(A, graph, self.graph_regularization_)

    def _weight(self, A: Bipartite, graph: Operator) -> float:
        """Return λ; "auto" takes up to `PLAIN` iterations of plain NMF."""
        if not isinstance(self.graph_regularization, str):
            return float(self.graph_regularization)
        one, many = (self._plain(A, k) for k in (1, check_n_clusters(self.n_clusters)))
        roughness = Smooth(A, graph, 1.0).penalty(many.H)
        explained = max(one.objective - many.objective, 0.0)
        return GRAPH_SHARE * explained / roughness if roughness > 0 else 0.0

    def _plain(self, A: Bipartite, k: int) -> Result:
        """Return a factorization without the graph, from the default start."""
        objective = TwoFactors(A)
        start = starting_points(objective, "spectral", k, 1, check_random_state(0))
        control = Control(self.tol, min(PLAIN, self.max_iter), self.time_limit)
        solver = registry.resolve(FAMILY, "hals")()
        found = run(Problem(A, objective, Nonnegative()), solver, start, control)[0]
        if found.interrupted:
            raise KeyboardInterrupt  # of the factorization with the graph there is nothing to keep yet
        return found

    def _place(self, X: Any) -> Array:
        placed = super()._place(X)
        known = self._known.find(self._known.keys(X))
        placed[known >= 0] = self.membership_[known[known >= 0]]
        return placed
