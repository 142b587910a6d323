"""How firmly each sample stands in its cluster, for sentences and pictures."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from symclust._threads import cached_property
from symclust._types import Array
from symclust.estimators import Standing

CLOSE = 0.5  # a sample is in doubt if the second cluster has at least this share of what its own has
LIKENESS = "may as well belong to {other}"


@dataclass(frozen=True, eq=False)
class Belonging:
    """A view on the `Standing` of samples.

    Its confidence is a probability if calibrated, else a share in memberships.
    """

    standing: Standing
    is_calibrated: bool

    @cached_property
    def confidence(self) -> Array:
        """The confidence of each sample; 0 for one in no cluster."""
        return np.nan_to_num(self.standing.confidence)

    @property
    def rival(self) -> Array:
        """The second cluster of each sample; −1 if there is none."""
        return self.standing.second

    @property
    def strength(self) -> Array:
        """How much ties each sample to its cluster."""
        return self.standing.strength

    @cached_property
    def rivalry(self) -> Array:
        """The share of the second cluster relative to the own: 0 for none, 1 for a tie, infinite for more."""
        own, second = self.confidence, self.standing.second_share
        return np.divide(second, own, out=np.where(second > 0, np.inf, 0.0), where=own > 0)

    @cached_property
    def is_clear(self) -> Array:
        """Whether the own cluster of each sample is more than twice as probable as any other."""
        return (self.rivalry < CLOSE) & (self.strength > 0)

    def typical(self, members: Array, count: int) -> Array:
        """The most typical of some samples of a cluster: strong, sure, and clear if any is."""
        clear = members[self.is_clear[members]]
        members = clear if clear.size else members
        return members[np.argsort(-(self.strength * self.confidence)[members], kind="stable")[:count]]

    def doubtful(self, members: Array, count: int) -> Array:
        """The most doubtful of some samples of a cluster, the most torn first."""
        torn = members[(self.rivalry[members] >= CLOSE) & (self.rival[members] >= 0)]
        return torn[np.argsort(-self.rivalry[torn], kind="stable")[:count]]

    def overlaps(self, labels: Array, n_clusters: int) -> dict[tuple[int, int], int]:
        """For pairs of clusters how many samples of either are torn between the two."""
        torn = np.flatnonzero((labels >= 0) & ~self.is_clear & (self.rival >= 0))
        low = np.minimum(labels[torn], self.rival[torn]).astype(np.int64)
        high = np.maximum(labels[torn], self.rival[torn]).astype(np.int64)
        pairs, counts = np.unique(low * n_clusters + high, return_counts=True)
        return {divmod(int(p), n_clusters): int(c) for p, c in zip(pairs, counts, strict=True)}
