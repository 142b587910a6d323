"""Pairs of samples that carry no information."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Any

import numpy as np
from scipy import sparse

from symclust import _kernels
from symclust._types import Array


def _nothing() -> Array:
    return np.empty(0, dtype=np.int64)


@dataclass(frozen=True)
class IgnoredPairs:
    """The pattern of a symmetric mask without its diagonal, as CSR; empty arrays where nothing is ignored."""

    indptr: Array = field(default_factory=_nothing)
    indices: Array = field(default_factory=_nothing)

    @classmethod
    def of(cls, mask: sparse.csr_array) -> IgnoredPairs:
        """Take the pattern of a canonical CSR mask."""
        return cls(mask.indptr.astype(np.int64), mask.indices.astype(np.int64))

    @property
    def arrays(self) -> tuple[Array, Array]:
        """What the kernels want."""
        return self.indptr, self.indices

    @property
    def any(self) -> bool:
        """Whether there are any."""
        return self.indices.size > 0

    def products(self, H: Array) -> Any:
        """Return h_i·h_j at the pairs, as a csr_array."""
        values = np.empty(self.indices.size, dtype=H.dtype)
        _kernels.pattern_products(self.indptr, self.indices, np.ascontiguousarray(H), values)
        return sparse.csr_array((values, self.indices, self.indptr), shape=(len(H), len(H)))
