"""Something that tells clusters apart: the one thing that a new kind of data has to bring."""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Sequence
from dataclasses import dataclass

from symclust._types import Array
from symclust.describe.description import Trait

__all__ = ["Evidence", "Found"]


class Evidence(ABC):
    """Something that tells clusters apart."""

    key: str = ""  # how its words are to be read

    @abstractmethod
    def traits(self, labels: Array, n_clusters: int) -> Sequence[Sequence[Trait]]:
        """The traits of each cluster, the most telling first."""

    def typical(self, labels: Array, n_clusters: int) -> Sequence[Sequence[str]] | None:
        """The most typical samples of each cluster; None to choose them by their similarities."""
        return None

    def pictures(self, labels: Array, n_clusters: int) -> Array | None:
        """A picture of each cluster, larger being brighter; None if samples are none."""
        return None


@dataclass(frozen=True, eq=False)
class Found(Evidence):
    """Traits that an answer has found on its way."""

    found: Sequence[Sequence[Trait]]
    members: Sequence[Sequence[str]] | None = None
    key: str = ""

    def traits(self, labels: Array, n_clusters: int) -> Sequence[Sequence[Trait]]:
        """The traits as they were found."""
        return self.found

    def typical(self, labels: Array, n_clusters: int) -> Sequence[Sequence[str]] | None:
        """The members as they were found."""
        return self.members
