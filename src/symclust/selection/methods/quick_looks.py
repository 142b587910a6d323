"""Quick looks: the silhouette and the modularity of one clustering for each candidate."""

from __future__ import annotations

from typing import Any

import numpy as np
from scipy import sparse
from sklearn.metrics import silhouette_samples

from symclust._types import Array
from symclust.selection._answer import Curve, Selection
from symclust.selection._data import Data, Features
from symclust.selection._method import Method
from symclust.selection._pairs import pairs_of, similarity_sums
from symclust.selection._rules import chance_of
from symclust.selection._study import NOWHERE, Study
from symclust.validation import check_number

__all__ = ["Modularity", "Silhouette"]


class Silhouette(Method):
    r"""The number of clusters with the largest average silhouette (Rousseeuw 1987), from scikit-learn.

    For each sample, a is its average distance to the others of its cluster and b the smallest average
    distance to another cluster: (b − a) / max(a, b). Distances are Euclidean for samples × features, also
    where an estimator clusters their neighbour graph. For similarities alone they are

    .. math:: 1 - \frac{a_{ij}}{\sqrt{\max_l a_{il} \max_l a_{jl}}}

    over different samples, cut at 0. Samples that are in no cluster are left out. The method cannot answer
    one cluster, and it favours few, round ones.

    Parameters
    ----------
    max_samples : int, default=2000
        If there are more samples, this many are drawn and compared with each other.

    Examples
    --------
    >>> import numpy as np
    >>> from sklearn.cluster import KMeans
    >>> from sklearn.datasets import make_blobs
    >>> from symclust.selection import Features, Study
    >>> from symclust.selection.methods.quick_looks import Silhouette
    >>> X, _ = make_blobs(90, centers=[[0, 0], [9, 0], [0, 9]], random_state=0)
    >>> study = Study(Features(X), KMeans(n_init=3), (2, 3, 4, 5), np.random.RandomState(0))
    >>> print(Silhouette().choose(study))
    3 clusters have the largest average silhouette, 0.79. The method cannot answer one cluster.
    """

    def __init__(self, max_samples: int = 2000) -> None:
        self.max_samples = max_samples

    def choose(self, study: Study) -> Selection:
        """Return the candidate with the largest average silhouette."""
        check_number("max_samples", self.max_samples, least=2, whole=True)
        labels = _label_all(study)
        n = study.data.n
        drawn = np.sort(study.rng.permutation(n)[: self.max_samples])
        distances, metric = _distances(study.data, drawn)
        each = np.array([_silhouettes(distances, metric, own[drawn]) for own in labels])
        averages = np.array([np.nan if np.isnan(own).all() else np.nanmean(own) for own in each])
        best = int(np.nanargmax(averages)) if np.isfinite(averages).any() else 0
        stability = np.full(n, np.nan)
        stability[drawn] = np.clip(each[best], 0, 1)
        k = study.candidates[best]
        return Selection(
            k,
            "silhouette",
            np.array(study.candidates),
            "silhouette",
            {"silhouette": Curve(averages)},
            f"{k} clusters have the largest average silhouette, {averages[best]:.2f}. "
            "The method cannot answer one cluster.",
            stability=stability,
        )


def _label_all(study: Study) -> Array:
    """Return the labels of all samples for each candidate."""
    return study.label_parts([np.arange(study.data.n)], "clusterings", place=False)[0]


def _distances(data: Data, drawn: Array) -> tuple[Any, str]:
    """Return what scikit-learn compares the drawn samples by: their features, or distances."""
    samples = data if isinstance(data, Features) else getattr(data, "source", None)
    if isinstance(samples, Features):
        return samples.X[drawn], "euclidean"
    A = pairs_of(data, "silhouette")
    largest = np.sqrt(_row_maxima(A)[drawn])
    A = A[drawn][:, drawn]
    scale = np.outer(largest, largest)
    part = A.toarray() if sparse.issparse(A) else A
    close = np.divide(part, scale, out=np.zeros_like(part), where=scale > 0)
    distances = np.maximum(1 - close, 0)
    np.fill_diagonal(distances, 0)
    return distances, "precomputed"


def _row_maxima(A: Any) -> Array:
    found = A.max(axis=1)
    return (found.toarray() if sparse.issparse(found) else np.asarray(found)).ravel()


def _silhouettes(distances: Any, metric: str, labels: Array) -> Array:
    """Return the silhouette of each sample, NaN for those in no cluster; all NaN for a single cluster."""
    placed = np.flatnonzero(labels != NOWHERE)
    found = np.full(len(labels), np.nan)
    if 2 <= len(np.unique(labels[placed])) < len(placed):
        own = distances[placed][:, placed] if metric == "precomputed" else distances[placed]
        found[placed] = silhouette_samples(own, labels[placed], metric=metric)
    return found


class Modularity(Method):
    r"""The number of clusters with the largest modularity (Newman and Girvan 2004).

    .. math:: Q = \sum_C \left(\frac{a(C, C)}{vol(V)} - \frac{vol(C)^2}{vol(V)^2}\right)

    of the clusters that the estimator finds with each candidate, in the network or the similarities,
    diagonal left out. Chance alone gives modularity; so the same is done on `n_nulls` similarities without
    clusters, and the answer is 1 where their largest values reach that of the data with a probability of
    `level` or more (a t-test of one value). Nothing is adjusted for chance beyond that, see
    `AdjustedModularity`: the largest modularity is often reached with more clusters than there are, and in
    large networks, where small clusters are merged, with fewer.

    Parameters
    ----------
    n_nulls : int, default=5
        Number of similarities without clusters; each is clustered with every candidate.
    level : float, default=0.02
        The probability with which data without clusters may be given some.
    """

    def __init__(self, n_nulls: int = 5, level: float = 0.02) -> None:
        self.n_nulls = n_nulls
        self.level = level

    def choose(self, study: Study) -> Selection:
        """Return the candidate with the largest modularity, or 1."""
        check_number("n_nulls", self.n_nulls, least=3, whole=True)
        check_number("level", self.level, least=0, most=1, exclusive=True)
        A = pairs_of(study.data, "modularity")
        values = np.array([modularity(A, own) for own in _label_all(study)])
        nulls = np.array([_null_modularity(study, seed) for seed in study.seeds(self.n_nulls)])
        p = chance_of(values.max(), nulls.max(axis=1))
        best = study.candidates[int(values.argmax())]
        curves = {
            "modularity": Curve(values),
            "modularity (null)": Curve(nulls.mean(axis=0), nulls.std(axis=0), "standard deviation"),
        }
        return Selection(
            best if p < self.level else 1,
            "modularity",
            np.array(study.candidates),
            "modularity",
            curves,
            _sentence(best, values.max(), p, p < self.level),
            p_values=(1 + (nulls >= values).sum(axis=0)) / (1 + self.n_nulls),
        )


def _null_modularity(study: Study, seed: int) -> Array:
    """Return the modularity for each candidate on similarities without clusters."""
    null = study.data.null(np.random.RandomState(seed))
    A = pairs_of(null, "modularity")
    return np.array([modularity(A, own) for own in _label_all(study.on(null))])


def modularity(A: Any, labels: Array) -> float:
    """Return the modularity of labels; samples with label −1 are in no cluster."""
    labels, degrees = np.asarray(labels), similarity_sums(A)
    placed, total = np.flatnonzero(labels != NOWHERE), degrees.sum()
    if not placed.size or total <= 0:
        return 0.0
    column = np.unique(labels[placed], return_inverse=True)[1]
    Z = sparse.csr_array((np.ones(len(placed)), (placed, column)), shape=(len(labels), column.max() + 1))
    inside = Z.multiply(A @ Z).sum() if sparse.issparse(A) else (Z.T @ A @ Z.toarray()).trace()
    volumes = np.bincount(column, degrees[placed])
    return float(inside / total - ((volumes / total) ** 2).sum())


def _sentence(best: int, largest: float, p: float, found: bool) -> str:
    with_chance = f"similarities without clusters reach it with probability {p:.1g}"
    if found:
        return f"{best} clusters have the largest modularity, {largest:.2f}; {with_chance}."
    return f"One cluster: the largest modularity is {largest:.2f}, with {best}, but {with_chance}."
