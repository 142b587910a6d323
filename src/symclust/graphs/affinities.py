"""Affinities: the base class and those that measure distances, Gaussian, self-tuning, nearest neighbours."""

from __future__ import annotations

from abc import ABC, abstractmethod
from copy import copy
from functools import partial
from typing import Any, Self

import numpy as np
from scipy import sparse

from symclust import registry
from symclust._types import Array, ColumnsLike, Features, Matrix, SimilarityLike
from symclust.exceptions import CombinationError, InputError, OptionError, warn
from symclust.graphs._bridges import MANY_PIECES, bridged, pieces_of
from symclust.graphs._complete import complete_graph, cross_graph
from symclust.graphs._copies import SampleSearch, directions
from symclust.graphs._neighbors import NeighborSearch, directed, union, union_among_new
from symclust.graphs._scaling import SCALES, Scaling
from symclust.graphs.normalized_cut import NormalizedCut, row_sums
from symclust.operators import bordered, stacked
from symclust.validation import check_features, check_known, check_memory, check_number

__all__ = ["Gaussian", "NearestNeighbors", "SelfTuning", "gaussian", "nearest_neighbors", "self_tuning"]

SCALE_NEIGHBOR = 7  # the default scale looks as far as the self-tuning one
WEIGHTS = ("cosine", "fuzzy", "gaussian", "self_tuning")  # of the edges between neighbours
METRICS = ("cosine", "euclidean")
METHODS = ("approximate", "auto", "exact")  # of looking for neighbours


class Affinity(ABC):
    """A rule that turns samples into similarities, and later compares unseen samples with them.

    A subclass compares training samples with each other (`_similarity`), unseen ones with them (`_cross`),
    and those that join them with all (`_join`). The normalised cut afterwards is a step of its own.

    The union rule (24) keeps `n_neighbors` edges per sample; None keeps the complete graph. `normalize`
    divides by the square roots of the degrees (25); these row sums are then in `degrees_`. The training
    samples are in `X_`.
    """

    _method = "exact"  # how neighbours are looked for; `NearestNeighbors` sets it for the rule it follows

    def __init__(self, n_neighbors: int | None = None, normalize: bool = False) -> None:
        self.n_neighbors = n_neighbors
        self.normalize = normalize

    @abstractmethod
    def _similarity(self, X: Features, q: int | None) -> SimilarityLike:
        """Similarity of the training samples, fresh: of each to q neighbours, or of all to all."""

    @abstractmethod
    def _cross(self, X_new: Features, q: int | None) -> Matrix:
        """Similarity of unseen samples (rows) to the training samples (columns), fresh."""

    @abstractmethod
    def _join(self, X: Features, n: int, q: int | None) -> Matrix:
        """Similarity of the samples from number n on to all of X, fresh, and learn what they bring."""

    def fit(self, X: Any, check_input: bool = True) -> SimilarityLike:
        """Return the similarity of the samples, with zero self-edges; `extend` goes on from there.

        ``check_input=False`` takes X, which `validation.check_features` has returned, as it is and keeps it.
        """
        self._check_options()
        self.X_ = check_features(X, copy=True) if check_input else X
        return self._normalized(self._similarity(self.X_, self._edges(self.X_.shape[0])))

    def _points(self, X: Features) -> Features | None:
        """Return the rows between which distances are taken; None if similarities do not fall with one."""
        return X

    def _normalized(self, E: SimilarityLike) -> SimilarityLike:
        if not self.normalize:
            return E
        self._cut = NormalizedCut()
        A = self._cut.fit(E, self._degrees(E))
        self.degrees_ = self._cut.degrees_
        return A

    def extend(self, X_new: Any, check_input: bool = True) -> Matrix:
        """Return the similarity of unseen samples (rows) to the training samples (columns).

        Scales and degrees of the training samples stay as `fit` found them; a new sample's degree is the sum
        of its own similarities. With `n_neighbors` a new sample is joined to its nearest training samples,
        and does not change their neighbours. A copy of a training sample is one at distance zero.
        """
        X_new = self._like_training(check_features(X_new) if check_input else X_new)
        E = self._cross(X_new, self._edges(self.X_.shape[0]))
        return self._cut.extend(E) if self.normalize else E

    def grown(self, A: SimilarityLike, X_new: Features) -> tuple[Self, SimilarityLike]:
        """Return the rule and its similarity once samples have joined those of `fit`; both are new objects.

        With `n_neighbors` a new sample is joined to its nearest among all; the others keep their scales and
        the neighbours they chose. Degrees are those of the grown graph. A is the similarity that this rule
        has returned; X_new is as `validation.check_features` returns it.
        """
        rule, n = copy(self), self.X_.shape[0]
        rule.X_ = stacked([self.X_, self._like_training(X_new)])
        B = rule._join(rule.X_, n, rule._edges(rule.X_.shape[0]))
        return rule, rule._normalized(bordered(self.before(A), B))

    def joined(self, A: SimilarityLike, most: int) -> tuple[Self, SimilarityLike]:
        """Return the rule and its graph, with bridges between pieces if it falls into more than `most`.

        A is the similarity that `fit` has returned, and `most` the number of clusters: with more pieces,
        chance would decide which of them belong together.
        """
        pieces = pieces_of(A) if sparse.issparse(A) else []
        points = self._points(self.X_) if most < len(pieces) <= MANY_PIECES else None
        if points is None:
            return self, A
        rule = copy(self)
        return rule, rule._normalized(bridged(self.before(A), pieces, points))

    def before(self, A: SimilarityLike) -> SimilarityLike:
        """Return the similarities before normalisation: A itself if there was none, else a fresh array."""
        return self._cut.before(A) if self.normalize else A

    def _edges(self, n: int) -> int | None:
        """Return how many neighbours each of n samples is joined to; None is all."""
        return self.n_neighbors

    def _degrees(self, E: SimilarityLike) -> Array:
        return row_sums(E)

    def _check_options(self) -> None:
        if self.n_neighbors is not None:
            check_number("n_neighbors", self.n_neighbors, least=1, whole=True)

    def _like_training(self, X_new: Features) -> Features:
        """Return X_new in the precision and form (dense or sparse) of the training samples."""
        if X_new.shape[1] != self.X_.shape[1]:
            raise InputError(
                f"X has {X_new.shape[1]} features, but {type(self).__name__} is expecting {self.X_.shape[1]} "
                "features as input: those of the training samples, in the same order."
            )
        X_new = X_new.astype(self.X_.dtype, copy=False)
        if sparse.issparse(self.X_):
            return sparse.csr_array(X_new)
        return X_new.toarray() if sparse.issparse(X_new) else X_new


class NearestNeighbors(Affinity):
    """The affinity behind `nearest_neighbors`, with `extend` for unseen samples."""

    columns: ColumnsLike = None
    _scaling: Scaling | None = None  # models of older versions have neither

    def __init__(
        self,
        n_neighbors: int | None = None,
        weights: str = "self_tuning",
        normalize: bool = True,
        metric: str = "euclidean",
        method: str = "auto",
        scale: str | None = None,
        columns: ColumnsLike = None,
    ) -> None:
        super().__init__(n_neighbors, normalize)
        self.weights = weights
        self.metric = metric
        self.method = method
        self.scale = scale
        self.columns = columns

    def _check_options(self) -> None:
        super()._check_options()
        check_known("weights", self.weights, WEIGHTS)
        check_known("metric", self.metric, METRICS)
        check_known("method", self.method, METHODS)
        if self.scale is not None:
            check_known("scale", self.scale, SCALES, ", or None")

    def _edges(self, n: int) -> int | None:
        return self.n_neighbors or n.bit_length()  # ⌊log2 n⌋ + 1

    def _similarity(self, X: Features, q: int | None) -> SimilarityLike:
        self._rule = registry.resolve("graphs", self.weights)()
        self._rule._method = self.method
        self._scaling = None if self.scale is None else Scaling.of(self._chosen(X), self.scale)
        return self._rule._similarity(self.measured(X), q)

    def _cross(self, X_new: Features, q: int | None) -> Matrix:
        return self._rule._cross(self.measured(X_new), q)

    def _join(self, X: Features, n: int, q: int | None) -> Matrix:
        self._rule = copy(self._rule)
        return self._rule._join(self.measured(X), n, q)

    def _points(self, X: Features) -> Features | None:
        return None if self.weights == "cosine" else self.measured(X)

    def measured(self, X: Features) -> Features:
        """Return the rows between which distances are taken."""
        X, is_euclidean = self._chosen(X), self.metric == "euclidean"
        if self._scaling is not None:
            X = self._scaling(X, centred=not is_euclidean)  # no distance depends on the origin
        return X if is_euclidean else directions(X)

    def _chosen(self, X: Features) -> Features:
        """Return the columns of this view."""
        if self.columns is None:
            return X
        try:
            return X[:, self.columns if isinstance(self.columns, slice) else np.asarray(self.columns)]
        except (IndexError, TypeError) as error:
            raise OptionError(
                f"columns={self.columns!r:.80} are not among the {X.shape[1]} columns of X: give their "
                "numbers, a mask or a slice."
            ) from error


def nearest_neighbors(
    X: Features,
    n_neighbors: int | None = None,
    weights: str = "self_tuning",
    normalize: bool = True,
    metric: str = "euclidean",
    method: str = "auto",
    scale: str | None = None,
    columns: ColumnsLike = None,
) -> SimilarityLike:
    """Join each sample to its nearest neighbours: the default graph (Kuang, Yun and Park 2015, 7.1).

    An edge is kept if either end has the other among its q nearest neighbours (24), so a sample has q or
    more edges.

    Parameters
    ----------
    X : array-like or sparse of shape (n_samples, n_features)
    n_neighbors : int, optional
        q; by default ⌊log2 n⌋ + 1. Where there are fewer other samples, all of them.
    weights : {"self_tuning", "fuzzy", "gaussian", "cosine"}
        The similarity of two joined samples, with the defaults of the function of that name; "cosine" also
        looks for neighbours by cosine.
    normalize : bool
        Apply `normalized_cut` (25).
    metric : {"euclidean", "cosine"}
        "cosine" compares directions: distances are taken between rows scaled to length 1, so that brighter
        copies of an image, longer documents and deeper sequenced cells lie with the others of their kind. A
        zero row keeps its place at the origin.
    method : {"auto", "exact", "approximate"}
        "approximate" looks through as many of the lists that faiss (extra `ann`) sorts samples into as find
        98 % of the neighbours. "auto" does so for 200,000 dense samples or more with 10 features or more, if
        faiss is installed and an eighth of the lists is enough; everything else is exact.
    scale : {None, "soft", "standard", "arcsinh"}
        How columns are brought to one unit first. "standard" divides each by its standard deviation, "soft"
        by that or the median one of all columns, whichever is larger; "arcsinh" takes the inverse hyperbolic
        sine of (x − median) / MAD, which tames long tails.
    columns : list of int, mask or slice, optional
        The columns to compare; by default all.

    Returns
    -------
    A : csr_array of shape (n_samples, n_samples)
        Symmetric, with zero diagonal, nonnegative (except for cosines of features with mixed signs).

    Notes
    -----
    Memory grows with n q. Distances are exact, and approximate neighbours repeat to the bit, on any number of
    threads. A repeated sample is a neighbour by its first copy; the others have the same neighbours, and are
    joined to the first with similarity 1. All edges between samples that occur m and m' times weigh √(mm')
    times as much as one between single samples. A single sample gives the empty 1 × 1 graph.

    Examples
    --------
    >>> from symclust.graphs import nearest_neighbors
    >>> A = nearest_neighbors([[0.0], [1.0], [5.0], [6.0]], n_neighbors=1)
    >>> A.toarray().round(2).tolist()
    [[0.0, 1.0, 0.0, 0.0], [1.0, 0.0, 0.0, 0.0], [0.0, 0.0, 0.0, 1.0], [0.0, 0.0, 1.0, 0.0]]
    """
    rule = NearestNeighbors(n_neighbors, weights, normalize, metric, method, scale, columns)
    return rule.fit(check_features(X), check_input=False)


class DistanceKernel(Affinity):
    """exp(−‖x_i − x_j‖² / (σ_i σ_j)); a subclass finds the positive σ, `scales_` of the training samples."""

    @property
    @abstractmethod
    def _scale_rank(self) -> int:
        """The number of neighbours that `_fit_scales` and `_new_scales` need."""

    @abstractmethod
    def _fit_scales(self, distances: Array) -> Array:
        """σ of the training samples, from the distances to their neighbours in ascending order."""

    @abstractmethod
    def _new_scales(self, distances: Array) -> Array:
        """σ of unseen samples, from the distances to their nearest training samples."""

    def _similarity(self, X: Features, q: int | None) -> Matrix:
        if q is None:
            _check_complete(X)
        self._search = self._make_search(X, q)
        distances, neighbors = self._search.nearest(max(q or 0, self._scale_rank))
        self.scales_ = self._fit_scales(distances)
        if q is None:
            E = complete_graph(X, partial(_kernel, self.scales_, self.scales_))
            found = E.any()
        else:
            assert isinstance(self._search, SampleSearch)
            W = self._directed(distances[:, :q], neighbors[:, :q], self.scales_)
            E = self._search.tied(union(W))  # (24)
            found = E.nnz
        if not found and X.shape[0] > 1:
            warn(
                "All similarities are 0: the samples are too far apart for the scale (sigma between "
                f"{self.scales_.min():.3g} and {self.scales_.max():.3g}). Choose a larger sigma."
            )
        return E

    def _cross(self, X_new: Features, q: int | None) -> Matrix:
        distances, neighbors = self._search.nearest(max(q or 0, self._scale_rank), X_new)
        scales = self._new_scales(distances)
        if q is None:
            return cross_graph(X_new, self._search.X, partial(_kernel, scales, self.scales_))
        return self._directed(distances[:, :q], neighbors[:, :q], scales)

    def _join(self, X: Features, n: int, q: int | None) -> Matrix:
        if q is None:
            _check_complete(X)
        self._search = self._make_search(X, q)
        rows = np.arange(n, X.shape[0])
        distances, neighbors = self._search.nearest(max(q or 0, self._scale_rank), rows=rows)
        scales = self._new_scales(distances)
        self.scales_ = np.concatenate([self.scales_, scales])
        if q is not None:
            assert isinstance(self._search, SampleSearch)
            W = self._directed(distances[:, :q], neighbors[:, :q], scales)
            return self._search.tied(union_among_new(W, n))
        B = cross_graph(X[n:], X, partial(_kernel, scales, self.scales_))
        upper = np.triu(B[:, n:], 1)
        B[:, n:] = upper + upper.T
        return B

    def _make_search(self, X: Features, q: int | None) -> NeighborSearch | SampleSearch:
        # In a complete graph all are joined, and a copy is a neighbour like others.
        return (NeighborSearch if q is None else SampleSearch)(X, method=self._method)

    def _directed(self, distances: Array, neighbors: Array, scales: Array) -> sparse.csr_array:
        X = self._search.X
        weights = _kernel(scales, self.scales_, distances**2, slice(None), neighbors)
        return directed(weights.astype(X.dtype, copy=False), neighbors, X.shape[0])


def _kernel(left: Array, right: Array, squared: Array, rows: slice, columns: slice | Array) -> Array:
    """Return exp(−d² / (σ_i σ_j)), the form shared by (9) and (22); σ_i is of the left, σ_j of the right."""
    with np.errstate(over="ignore", under="ignore"):
        # A product of two tiny scales may underflow to 0, and 0 / 0 would spoil duplicates.
        scales = np.maximum(left[rows, None] * right[columns], np.finfo(np.float64).tiny)
        return np.exp(-squared / scales)


def _check_complete(X: Features) -> None:
    """Refuse a complete graph that is too large, or that a sparse X does not expect."""
    n, size = X.shape[0], X.shape[0] ** 2 * X.dtype.itemsize
    if sparse.issparse(X):
        raise CombinationError(
            f"The complete graph of {n} sparse samples would be a dense n x n array of {size / 1e9:.3g} GB. "
            "Give n_neighbors= to get a sparse graph, or X.toarray() if a dense one is what you want."
        )
    check_memory(
        size,
        f"The complete graph of {n} samples, an n x n array,",
        "Give n_neighbors= (in affinity_params of an estimator) to get a sparse graph, or use "
        "affinity='nearest_neighbors'.",
    )


def _positive(scales: Array) -> Array:
    """Replace zeros, which duplicates give, by the smallest positive scale, or 1: their similarity is 1."""
    positive = scales[scales > 0]
    return np.where(scales > 0, scales, positive.min() if positive.size else 1.0)


class Gaussian(DistanceKernel):
    """The affinity behind `gaussian`, with `extend` for unseen samples and the scale in `sigma_`."""

    def __init__(
        self, sigma: float | None = None, n_neighbors: int | None = None, normalize: bool = False
    ) -> None:
        super().__init__(n_neighbors, normalize)
        self.sigma = sigma

    def _check_options(self) -> None:
        super()._check_options()
        if self.sigma is not None:
            check_number("sigma", self.sigma, least=0, exclusive=True)

    @property
    def _scale_rank(self) -> int:
        return SCALE_NEIGHBOR if self.sigma is None else 0

    def _fit_scales(self, distances: Array) -> Array:
        self.sigma_ = _typical(distances) if self.sigma is None else float(self.sigma)
        return self._new_scales(distances)

    def _new_scales(self, distances: Array) -> Array:
        return np.full(distances.shape[0], self.sigma_)


def _typical(distances: Array) -> float:
    last = distances[:, min(SCALE_NEIGHBOR, distances.shape[1]) - 1] if distances.size else distances.ravel()
    positive = last[last > 0]
    return float(np.median(positive)) if positive.size else 1.0


def gaussian(
    X: Features, sigma: float | None = None, n_neighbors: int | None = None, normalize: bool = False
) -> SimilarityLike:
    """Gaussian similarity e_ij = exp(−‖x_i − x_j‖² / σ²), e_ii = 0 (Kuang, Yun and Park 2015, (9)).

    Parameters
    ----------
    X : array-like or sparse of shape (n_samples, n_features)
    sigma : float, optional
        The scale σ. By default the median over the samples of the distance to the 7th neighbour (or the last
        of fewer), without those that have so many duplicates that it is 0; 1 if it is 0 for all.
    n_neighbors : int, optional
        Keep only edges between a sample and its nearest neighbours (24). By default all, in a dense n × n
        array, for which a sparse X is refused.
    normalize : bool
        Apply `normalized_cut` (25).

    Returns
    -------
    A : ndarray, or csr_array if `n_neighbors` is given, of shape (n_samples, n_samples)

    Notes
    -----
    Copies have similarity 1 before normalisation; with `n_neighbors` they are joined as by
    `nearest_neighbors`. A σ far below the distances makes similarities underflow to 0: samples without edges
    are isolated, with a warning if all are.

    Examples
    --------
    >>> from symclust.graphs import gaussian
    >>> gaussian([[0.0], [1.0], [3.0]], sigma=2.0).round(3).tolist()
    [[0.0, 0.779, 0.105], [0.779, 0.0, 0.368], [0.105, 0.368, 0.0]]
    """
    return Gaussian(sigma, n_neighbors, normalize).fit(check_features(X), check_input=False)


class SelfTuning(DistanceKernel):
    """The affinity behind `self_tuning`, with `extend` for unseen samples and local scales in `scales_`."""

    def __init__(
        self, n_neighbors: int | None = None, scale_neighbor: int = 7, normalize: bool = False
    ) -> None:
        super().__init__(n_neighbors, normalize)
        self.scale_neighbor = scale_neighbor

    def _check_options(self) -> None:
        super()._check_options()
        check_number("scale_neighbor", self.scale_neighbor, least=1, whole=True)

    @property
    def _scale_rank(self) -> int:
        return self.scale_neighbor

    def _fit_scales(self, distances: Array) -> Array:
        return _positive(self._local(distances))

    def _new_scales(self, distances: Array) -> Array:
        local = self._local(distances)
        return np.where(local > 0, local, self.scales_.min())

    def _local(self, distances: Array) -> Array:
        """Distance to the k̂-th neighbour, below (22)."""
        if not distances.shape[1]:  # a single sample has no neighbours
            return np.zeros(distances.shape[0])
        return distances[:, min(self.scale_neighbor, distances.shape[1]) - 1]


def self_tuning(
    X: Features, n_neighbors: int | None = None, scale_neighbor: int = 7, normalize: bool = False
) -> SimilarityLike:
    """Self-tuning: e_ij = exp(−‖x_i − x_j‖² / (σ_i σ_j)), e_ii = 0 (Kuang, Yun and Park 2015, (22)).

    The local scale σ_i is the distance of x_i to its 7th neighbour: dense and thin regions are both
    connected.

    Parameters
    ----------
    X : array-like or sparse of shape (n_samples, n_features)
    n_neighbors : int, optional
        Keep only edges between a sample and its nearest neighbours (24). By default all, in a dense n × n
        array, for which a sparse X is refused.
    scale_neighbor : int
        The neighbour that sets the scale, or the last of fewer.
    normalize : bool
        Apply `normalized_cut` (25).

    Returns
    -------
    A : ndarray, or csr_array if `n_neighbors` is given, of shape (n_samples, n_samples)

    Notes
    -----
    In a complete graph a sample with 7 or more copies has σ_i = 0 and gets the smallest positive scale of the
    data instead (1 if there is none): copies have similarity 1 before normalisation. With `n_neighbors`,
    scales and neighbours are those of the distinct samples, and copies are joined as by `nearest_neighbors`.

    Examples
    --------
    >>> from symclust.graphs import self_tuning
    >>> self_tuning([[0.0], [1.0], [3.0]], scale_neighbor=1).round(3).tolist()
    [[0.0, 0.368, 0.011], [0.368, 0.0, 0.135], [0.011, 0.135, 0.0]]
    """
    return SelfTuning(n_neighbors, scale_neighbor, normalize).fit(check_features(X), check_input=False)
