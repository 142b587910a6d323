"""How clearly each sample belongs to its cluster, and which other cluster comes second."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
from scipy import sparse

from symclust._threads import cached_property
from symclust._types import Array
from symclust.estimators import labels_of

COLUMNS = 64  # clusters whose sums are formed at once: n × 64 numbers


@dataclass(frozen=True, eq=False)
class Belonging:
    """How strongly samples belong to their own cluster, and to the one that comes second.

    Attributes
    ----------
    share : ndarray of shape (n_samples,)
        Share of the own cluster in what a sample has with all clusters; 0 for one in no cluster.
    rivalry : ndarray of shape (n_samples,)
        Strength of the second cluster relative to the own: 0 for none, 1 for a tie.
    rival : ndarray of shape (n_samples,)
        The second cluster; −1 if there is none.
    strength : ndarray of shape (n_samples,)
        How much there is of the sample in its cluster, on the scale of the model: the core has much.
    limit : float
        A sample belongs clearly to its cluster if its rivalry stays below this.
    likeness : str
        What doubtful samples have in common with another cluster, in words; ``{other}`` stands for that.
    """

    share: Array
    rivalry: Array
    rival: Array
    strength: Array
    limit: float
    likeness: str

    @cached_property
    def is_clear(self) -> Array:
        """Whether each sample belongs clearly to its cluster."""
        return (self.rivalry < self.limit) & (self.strength > 0)

    def typical(self, members: Array, count: int) -> Array:
        """The most typical of some samples of a cluster: strong, little torn, and clear if any is."""
        clear = members[self.is_clear[members]]
        members = clear if clear.size else members
        return members[np.argsort(-(self.strength * self.share)[members], kind="stable")[:count]]

    def doubtful(self, members: Array, count: int) -> Array:
        """The most doubtful of some samples of a cluster, the most torn first."""
        torn = members[(self.rivalry[members] >= self.limit) & (self.rival[members] >= 0)]
        return torn[np.argsort(-self.rivalry[torn], kind="stable")[:count]]

    def overlaps(self, labels: Array, n_clusters: int) -> dict[tuple[int, int], int]:
        """For pairs of clusters how many samples of either are torn between the two."""
        torn = np.flatnonzero((labels >= 0) & ~self.is_clear & (self.rival >= 0))
        low = np.minimum(labels[torn], self.rival[torn]).astype(np.int64)
        high = np.maximum(labels[torn], self.rival[torn]).astype(np.int64)
        pairs, counts = np.unique(low * n_clusters + high, return_counts=True)
        return {divmod(int(p), n_clusters): int(c) for p, c in zip(pairs, counts, strict=True)}


def by_memberships(H: Any, labels: Array) -> Belonging:
    """Read it off degrees of membership: clear is at most half as much in any other cluster."""
    likeness = "belong at least half as much to {other} as to their own"
    return _of_scores(H, labels, 0.5, likeness)


def by_connections(A: Any, labels: Array, n_clusters: int) -> Belonging | None:
    """Read it off similarities.

    In a sparse graph, the weight of the links to each cluster counts. Where all pairs have a similarity, a
    large cluster would win by its size: there the mean counts, and clear is below 90 % of the own.
    """
    if sparse.issparse(A):
        placed = np.flatnonzero(labels >= 0)
        Z = sparse.csr_array((np.ones(len(placed)), (placed, labels[placed])), (len(labels), n_clusters))
        A = sparse.csr_array(A)
        own = sparse.diags_array(A.diagonal())
        scores = sparse.csr_array((A - own).astype(np.float64) @ Z)
        return _of_scores(
            scores, labels, 0.5, "are tied to {other} at least half as strongly as to their own"
        )
    scores = _mean_similarities(A, labels, n_clusters)
    return _of_scores(scores, labels, 0.9, "are nearly as similar to {other} as to their own")


def _mean_similarities(A: Any, labels: Array, n_clusters: int) -> Array:
    """The mean similarity of each sample to each cluster, not counting itself."""
    sums = np.empty((len(labels), n_clusters))
    for first in range(0, n_clusters, COLUMNS):
        clusters = np.arange(first, min(first + COLUMNS, n_clusters))
        sums[:, clusters] = np.asarray(A @ (labels[:, np.newaxis] == clusters).astype(np.float64))
    counts = np.tile(
        np.bincount(labels[labels >= 0], minlength=n_clusters).astype(np.float64), (len(labels), 1)
    )
    placed = np.flatnonzero(labels >= 0)
    if isinstance(A, np.ndarray):  # of others, the diagonal may take n products
        sums[placed, labels[placed]] -= np.diagonal(A)[placed]
        counts[placed, labels[placed]] -= 1
    return np.divide(sums, counts, out=np.zeros_like(sums), where=counts > 0)


def _of_scores(scores: Any, labels: Array, limit: float, likeness: str) -> Belonging:
    """Compare each sample's score in its cluster with its largest in another; negative ones are zero."""
    n = len(labels)
    placed = np.flatnonzero(labels >= 0)
    S = (
        sparse.csr_array(scores, dtype=np.float64, copy=True)
        if sparse.issparse(scores)
        else np.maximum(scores, 0.0)
    )
    if sparse.issparse(S):
        S.data = np.maximum(S.data, 0)
    total = np.asarray(S @ np.ones(S.shape[1]))
    own = np.zeros(n)
    own[placed] = np.asarray(S[placed, labels[placed]]).ravel()
    rest = _without_own(S, labels)
    second = rest.max(axis=1)
    second = second.toarray().ravel() if sparse.issparse(second) else second
    rival = labels_of(rest)
    rivalry = np.divide(second, own, out=np.where(second > 0, np.inf, 0.0), where=own > 0)
    share = np.divide(own, total, out=np.zeros(n), where=total > 0)
    return Belonging(
        share, np.where(labels >= 0, rivalry, 0), np.where(labels >= 0, rival, -1), own, limit, likeness
    )


def _without_own(S: Any, labels: Array) -> Any:
    """Scores with zero in the place of each sample's own cluster."""
    if not sparse.issparse(S):
        rest = np.array(S)
        placed = np.flatnonzero(labels >= 0)
        rest[placed, labels[placed]] = 0
        return rest
    rest = S.copy()
    rest.data[rest.indices == np.repeat(labels, np.diff(rest.indptr))] = 0
    return rest
