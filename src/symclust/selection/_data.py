"""Samples as a study sees them: parts of them, others beside a part, and data like them without clusters."""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import numpy as np
from scipy import sparse
from sklearn.metrics import pairwise_distances_argmin

from symclust._threads import cached_property
from symclust._types import Array
from symclust.exceptions import InputError
from symclust.operators import Operator
from symclust.selection._nulls import UniformBox, shuffled_entries, shuffled_pairs
from symclust.validation import share_of_zeros

MOSTLY_ZEROS, HALF = 0.9, 0.5  # a box has no zeros
LARGEST_BOX = 10**7  # entries, if half of them are zero: as an array they would take far more room
NOWHERE = -1  # the label of a sample that was placed in no cluster
LARGEST_DENSE = 4000  # samples of an operator that may be written out as a matrix: 128 MB


class Data(ABC):
    """Samples that can be taken in part."""

    n: int

    @abstractmethod
    def take(self, part: Array) -> Any:
        """Return the data of some of the samples."""

    @abstractmethod
    def place(self, model: Any, labels: Array, part: Array, rest: Array) -> Array:
        """Return labels of the samples `rest` by a model fitted on `part`, with the labels found there.

        Without a model, or with one that cannot predict, the labels alone decide.
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
        """Return the labels that the model predicts; those of the nearest centres if it cannot."""
        if hasattr(model, "predict"):
            return model.predict(self.X[rest])
        known = np.unique(labels[labels >= 0])
        if not known.size:
            return np.full(len(rest), NOWHERE)
        centres = np.vstack([np.asarray(self.X[part[labels == c]].mean(axis=0)).ravel() for c in known])
        return known[pairwise_distances_argmin(self.X[rest], centres)]

    def null(self, rng: np.random.RandomState) -> Features:
        """Return samples from the box of the principal components, Algorithm 3, or with entries shuffled."""
        if not self._are_counts:
            return Features(self._box.draw(rng))
        Z = shuffled_entries(self.X, rng)
        return Features(Z.toarray() if self.is_dense else Z)

    @cached_property
    def _are_counts(self) -> bool:
        """Whether features are zero for most samples, like words, or too many to be decomposed."""
        zeros, size = share_of_zeros(self.X), self.X.shape[0] * self.X.shape[1]
        return zeros >= MOSTLY_ZEROS or (zeros >= HALF and size > LARGEST_BOX)

    @cached_property
    def _box(self) -> UniformBox:
        return UniformBox(self.X if self.is_dense else self.X.toarray())


@dataclass(frozen=True, eq=False)
class Pairs(Data):
    """Similarities of samples, n × n.

    Attributes
    ----------
    A : ndarray, csr_array or Operator
        The similarities. Their parts are taken of `matrix`.
    source : Data or None
        The features or the network that they were made of; None if they were given.
    make : callable or None
        From data like `source` to similarities.
    graph : callable or None
        The graph that A was made of, before degrees were divided out of its weights; None if A is one.
    is_network : bool
        Whether the samples are nodes of a network, that of `source` or A itself.
    """

    A: Any
    source: Data | None = None
    make: Callable[[Any], Any] | None = None
    graph: Callable[[], Any] | None = None
    is_network: bool = False

    @property
    def n(self) -> int:  # type: ignore[override]
        """The number of samples."""
        return self.A.shape[0]

    @cached_property
    def matrix(self) -> Any:
        """The similarities as an ndarray or csr_array; an operator is written out if it is small enough."""
        if not isinstance(self.A, Operator):
            return self.A
        if self.n > LARGEST_DENSE:
            raise InputError(
                f"The number of clusters is chosen by parts of a matrix, and {self.A!r} is known by its "
                f"products alone; up to {LARGEST_DENSE:,} samples are written out. Give a matrix, a graph or "
                "fewer samples, or have an affinity keep neighbours only, for example by "
                "affinity_params={'n_neighbors': 15}."
            )
        return self.A.toarray()

    def take(self, part: Array) -> Any:
        """Return the similarities inside the part."""
        return self.matrix[part][:, part]

    def place(self, model: Any, labels: Array, part: Array, rest: Array) -> Array:
        """Place samples by their similarities to those of the part.

        A model without `predict` gives each to the cluster it is most similar to on average.
        """
        A = self.matrix[rest][:, part]
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

        A null of their source is made into similarities in the same way, since a graph of neighbours has
        structure even if the samples have none. Without a source each sample keeps its degree.
        """
        if self.source is None or self.make is None:
            return Pairs(shuffled_pairs(self.matrix, rng))
        source = self.source.null(rng)
        given = source.X if isinstance(source, Features) else source.matrix  # type: ignore[attr-defined]
        return Pairs(self.make(given), source, self.make)
