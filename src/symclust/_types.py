"""Names for arguments and results.

SciPy's sparse arrays, graphs and tables carry no types, and mypy can do nothing with a union with an untyped
class: their aliases are for the reader.
"""

from __future__ import annotations

import os
from abc import ABC, abstractmethod
from collections.abc import Callable, Sequence
from typing import Any, TypeAlias

import numpy as np

Array: TypeAlias = np.ndarray


class DeviceArray(ABC):
    """An array that stays on a device of its own, such as a GPU.

    It follows NumPy's protocols (`__array_ufunc__`, `__array_function__`), so that code in NumPy's operators
    and functions works on it in its place. Its methods below stand for compiled kernels. It never becomes an
    ndarray unasked: n × k numbers would cross at every step.

    `tensor` holds the numbers, as the library that computes there has them.
    """

    tensor: Any

    @abstractmethod
    def gram(self) -> Array:
        """HᵀH in double precision, k × k numbers on the host."""

    @abstractmethod
    def inner(self, other: Any) -> float:
        """The sum of products of entries, added in double precision."""

    @abstractmethod
    def norm(self) -> float:
        """The root of the sum of squared entries."""


Features: TypeAlias = Any
"""Samples in rows: ndarray or csr_array, float32 or float64."""

Matrix: TypeAlias = Any
"""Similarities held as numbers: ndarray or csr_array."""

SimilarityLike: TypeAlias = Any
"""Similarities in any form: ndarray, csr_array or Operator."""

Data: TypeAlias = Any
"""Input of `fit`: samples × features, similarities or a network, in any form that can be read."""

Fitted: TypeAlias = Any
"""A fitted estimator, or the answer of `topics`, `subtypes`, `segment_image` or `select_n_clusters`."""

Image: TypeAlias = Any
"""An image: an array, or a file to read it from."""

Names: TypeAlias = Any
"""Names in order: a list, an array or an index; None for numbers."""

FilePath: TypeAlias = str | os.PathLike[str]
"""A file or folder."""

DataFrame: TypeAlias = Any
"""A pandas DataFrame; pandas is optional."""

Init: TypeAlias = Any
"""The name of a start, or the factors to start from."""

AffinityLike: TypeAlias = str | Callable[..., Any]
"""The name of an affinity, or a function of the samples that returns similarities."""

ColumnsLike: TypeAlias = Sequence[int] | slice | Array | None
"""Numbers of columns, a mask or a slice; None for all."""

Options: TypeAlias = dict[str, Any] | None
"""Parameters of something that another parameter names."""

RandomState: TypeAlias = int | np.random.RandomState | None
"""A seed, a generator, or None for numbers that differ from run to run."""

Callback: TypeAlias = Callable[[Any], object] | None
"""A function of the progress that returns True to stop, or None."""
