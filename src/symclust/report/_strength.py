"""Which samples of a cluster are typical of it."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

__all__ = ["Strength"]


@dataclass(frozen=True)
class Strength:
    """How strongly samples belong to their clusters, by the best measure that a model offers.

    Attributes
    ----------
    name : str
        What the strongest are called on the page.
    values : ndarray of shape (n_samples,) or (n_samples, n_clusters)
        By sample, or by sample and cluster.
    n_clusters : int
        Number of clusters, also of empty ones.
    """

    name: str
    values: NDArray[np.floating]
    n_clusters: int

    @classmethod
    def of(cls, model: Any) -> Strength:
        """Read it off a model: degrees of membership, else connections, else nothing."""
        labels = np.asarray(model.labels_)
        n_clusters = int(labels.max(initial=-1)) + 1
        H = _memberships(model)
        if H is not None:
            n_clusters = H.shape[1]
            if _has_degrees(model, H):
                return cls("Strongest members", H, n_clusters)
        A = getattr(model, "affinity_matrix_", None)
        if A is None:
            return cls("Members", np.zeros(len(labels)), n_clusters)
        degrees = np.asarray(A @ np.ones(len(labels), dtype=A.dtype), dtype=np.float64)
        return cls("Best connected members", degrees, n_clusters)

    def strongest(self, members: NDArray[np.intp], cluster: int | None, count: int) -> NDArray[np.intp]:
        """Return the strongest of some samples in a cluster, strongest first."""
        values = self.values[members] if self.values.ndim == 1 else self.values[members, cluster]
        return members[np.argsort(-values, kind="stable")[:count]]


def _memberships(model: Any) -> NDArray[np.floating] | None:
    """Return H; None for trees whose leaves do not overlap, where n × k zeros and ones say nothing new."""
    if hasattr(model, "tree_") and not getattr(model, "soft", False):
        return None
    H = getattr(model, "membership_", None)
    return None if H is None else np.asarray(H)


def _has_degrees(model: Any, H: NDArray[np.floating]) -> bool:
    """Whether column l of H says how much samples belong to cluster l, more than yes or no."""
    by_k_means = getattr(model, "centers_", None) is not None
    return not by_k_means and bool(((H != 0) & (H != 1)).any())
