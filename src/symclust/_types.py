"""Names for what goes in and what comes out.

SciPy's sparse arrays carry no types, and mypy can do nothing with a union with an untyped class: the aliases
other than `Array` are for the reader.
"""

from __future__ import annotations

from typing import Any, TypeAlias

import numpy as np

__all__ = ["Array", "Features", "Matrix", "SimilarityLike"]

Array: TypeAlias = np.ndarray

Features: TypeAlias = Any
"""Samples in rows: ndarray or csr_array, float32 or float64."""

Matrix: TypeAlias = Any
"""Similarities held as numbers: ndarray or csr_array."""

SimilarityLike: TypeAlias = Any
"""Similarities in any form: ndarray, csr_array or Operator."""
