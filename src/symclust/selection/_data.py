"""Samples as a study sees them: parts of them, others beside a part, and data like them without clusters."""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Callable
from dataclasses import dataclass
from functools import cached_property
from typing import Any

import numpy as np
from scipy import sparse
from sklearn.metrics import pairwise_distances_argmin

from symclust._types import Array
from symclust.selection._nulls import UniformBox, shuffled_entries, shuffled_pairs

NOWHERE = -1  # the label of a sample that was placed in no cluster


class Data(ABC):
    """Samples that can be taken in part."""

    n: int

    @abstractmethod
    def take(self, part: Array) -> Any:
        """Return what an estimator fits on some of the samples."""

    @abstractmethod
    def place(self, model: Any, labels: Array, part: Array, rest: Array) -> Array:
        """Return labels of the samples `rest` by a model fitted on `part`, where it found `labels`.

        Where there is no model, or it cannot predict, the labels alone decide.
        """

    @abstractmethod
    def null(self, rng: np.random.RandomState) -> Data:
        """Return data like these that have no clusters."""


@dataclass(frozen=True, eq=False)
class Features(Data):
    """Samples × features, dense or CSR."""

    X: Any

    @property
    def n(self) -> int:  # type: ignore[override]
        """The number of samples."""
        return self.X.shape[0]

    @property
    def is_dense(self) -> bool:
        """Whether the features are held in an ordinary array."""
        return not sparse.issparse(self.X)

    def take(self, part: Array) -> Any:
        """Return the rows of the part."""
        return self.X[part]

    def place(self, model: Any, labels: Array, part: Array, rest: Array) -> Array:
        """Return what the model predicts; the nearest centre where it cannot."""
        if hasattr(model, "predict"):
            return model.predict(self.X[rest])
        known = np.unique(labels[labels >= 0])
        if not known.size:
            return np.full(len(rest), NOWHERE)
        centres = np.vstack([np.asarray(self.X[part[labels == c]].mean(axis=0)).ravel() for c in known])
        return known[pairwise_distances_argmin(self.X[rest], centres)]

    def null(self, rng: np.random.RandomState) -> Features:
        """Return samples from the box of the principal components, Algorithm 3; sparse ones shuffled."""
        return Features(self._box.draw(rng) if self.is_dense else shuffled_entries(self.X, rng))

    @cached_property
    def _box(self) -> UniformBox:
        return UniformBox(self.X)


@dataclass(frozen=True, eq=False)
class Pairs(Data):
    """Similarities of samples, n × n, dense or CSR.

    Attributes
    ----------
    A : ndarray or csr_array
        The similarities.
    source : Data or None
        What they were made of: features, or the edges of a network. None where they were given.
    make : callable or None
        From data like `source` to similarities.
    """

    A: Any
    source: Data | None = None
    make: Callable[[Any], Any] | None = None

    @property
    def n(self) -> int:  # type: ignore[override]
        """The number of samples."""
        return self.A.shape[0]

    def take(self, part: Array) -> Any:
        """Return the similarities inside the part."""
        return self.A[part][:, part]

    def place(self, model: Any, labels: Array, part: Array, rest: Array) -> Array:
        """Place samples by their similarities to those of the part.

        A model without `predict` gives each to the cluster it is most similar to on average.
        """
        A = self.A[rest][:, part]
        if hasattr(model, "predict"):
            return model.predict(A)
        known, places = np.unique(labels, return_inverse=True)
        H = np.zeros((len(part), len(known)))
        H[np.arange(len(part)), places] = 1
        H = H[:, known >= 0] / np.maximum(H[:, known >= 0].sum(axis=0), 1)
        average = np.asarray(A @ H)
        return np.where(average.any(axis=1), known[known >= 0][average.argmax(axis=1)], NOWHERE)

    def null(self, rng: np.random.RandomState) -> Pairs:
        """Return similarities without clusters.

        Where they were made of something, a null of that is made into similarities in the same way: a graph
        of neighbours has structure even where the samples have none. Otherwise each sample keeps its degree.
        """
        if self.source is None or self.make is None:
            return Pairs(shuffled_pairs(self.A, rng))
        source = self.source.null(rng)
        given = source.X if isinstance(source, Features) else source.A  # type: ignore[attr-defined]
        return Pairs(self.make(given), source, self.make)
