"""Columns brought to one unit before distances are taken."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from scipy import sparse

from symclust._types import Array, Features
from symclust.validation import check_memory

SCALES = ("arcsinh", "soft", "standard", "words")
ALIKE = 5.0  # largest standard deviation of columns in one unit, in multiples of the smallest
NORMAL = 1.4826  # standard deviations in a median absolute deviation of normal numbers


@dataclass(frozen=True)
class Scaling:
    """(x − offset) / unit for each column; of log(1 + x) for "words", and then its arcsinh for "arcsinh".

    "standard" divides by the standard deviation; "soft" by that or the median one of all columns, whichever
    is larger, so that a column that hardly varies is not blown up; "arcsinh" by the median absolute
    deviation, once the median is subtracted: linear in the middle and logarithmic far out, on both sides;
    "words" multiplies by log((1 + n) / df), with df the samples that have the column (`DocumentWeights`).
    """

    how: str
    offset: Array
    unit: Array

    @classmethod
    def of(cls, X: Features, how: str) -> Scaling:
        """Return the scaling that brings the columns of X to one unit."""
        if how == "words":
            n, frequencies = X.shape[0], (X != 0).sum(axis=0)
            return cls(how, np.zeros(X.shape[1]), 1 / np.log((1 + n) / np.maximum(frequencies, 1)))
        if how == "arcsinh":
            X = _dense(X)
            offset = np.median(X, axis=0)
            unit = NORMAL * np.median(np.abs(X - offset), axis=0)
            spread = X.std(axis=0)
            return cls(how, _rounded(offset), _rounded(_positive(np.where(unit > 0, unit, spread))))
        offset, unit = means_and_spreads(X)
        if how == "soft" and unit.any():
            unit = np.maximum(unit, np.median(unit[unit > 0]))
        return cls(how, _rounded(offset), _rounded(_positive(unit)))

    def __call__(self, X: Features, centred: bool = True) -> Features:
        """Return rows in these units; sparse ones stay sparse unless they have to be centred."""
        if self.how == "words":
            X = np.log1p(X)
        if sparse.issparse(X) and (self.how == "words" or (not centred and self.how != "arcsinh")):
            return sparse.csr_array(X.multiply(1 / self.unit), dtype=X.dtype)
        scaled = (_dense(X) - self.offset) / self.unit
        return (np.arcsinh(scaled) if self.how == "arcsinh" else scaled).astype(X.dtype, copy=False)


def means_and_spreads(X: Features) -> tuple[Array, Array]:
    """Return mean and standard deviation of each column; that of a constant one is 0."""
    if not sparse.issparse(X):
        mean, spread = X.mean(axis=0, dtype=np.float64), X.std(axis=0, dtype=np.float64)
    else:
        X = X.astype(np.float64)
        mean = X.mean(axis=0)
        spread = np.sqrt(np.maximum(X.power(2).mean(axis=0) - mean**2, 0))
    return mean, np.where(spread > 1e-7 * np.abs(mean), spread, 0.0)


def columns_are_alike(X: Features) -> bool:
    """Whether columns seem to have one unit: spreads of one size, or rows of length 1."""
    _, spread = means_and_spreads(X)
    spread = spread[spread > 0]
    if not spread.size or spread.max() <= ALIKE * spread.min():
        return True
    squares = X.power(2).sum(axis=1) if sparse.issparse(X) else np.einsum("ij,ij->i", X, X, dtype=np.float64)
    return bool((np.abs(squares - 1) < 1e-2).all())


def _positive(unit: Array) -> Array:
    return np.where(unit > 0, unit, 1.0)


def _rounded(values: Array) -> Array:
    """Return seven digits: sums over dense and over sparse columns differ in the last of sixteen."""
    with np.errstate(over="ignore"):
        single = values.astype(np.float32).astype(np.float64)
    return np.where(np.isfinite(single) & ((single != 0) | (values == 0)), single, values)


def _dense(X: Features) -> Array:
    if not sparse.issparse(X):
        return X
    check_memory(
        X.shape[0] * X.shape[1] * X.dtype.itemsize,
        f"Centring {X.shape[0]} sparse samples of {X.shape[1]} features",
        "Give affinity_params={'scale': None} to compare them as they are.",
    )
    return X.toarray()
