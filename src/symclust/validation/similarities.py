"""Similarities: their entries, their size, and features that may be similarities instead."""

from __future__ import annotations

from typing import Any

import numpy as np
from scipy import sparse

from symclust.exceptions import InputError

PAIRS = (
    "Put 0 where two samples are not similar at all. Pairs about which nothing is known are named in ignore= "
    "of OffDiagonalSymNMF, with 0 in their place."
)
LEAST_SQUARE = 10  # rows: fewer are symmetric by chance, or an example that somebody typed


def check_similarity(
    operator: Any, *, nonnegative: bool = True, symmetric: bool = False, name: str = "The similarity"
) -> float:
    """‖A‖² of a similarity; one that is not finite, too small, asymmetric or negative is refused.

    Symmetry, whose check takes longest, is up to rounding, and taken for granted with `symmetric`. Negative
    entries are refused if `nonnegative`. `name` is for messages about symmetry.
    """
    squared_norm = float(operator.squared_norm())
    if not np.isfinite(squared_norm):
        raise InputError(
            "The similarity contains NaN, infinity, or values whose squares overflow. Every pair needs a "
            f"finite number. {PAIRS}"
        )
    _check_not_vanishing(operator, squared_norm)
    if not symmetric:
        _check_symmetric(operator, squared_norm, name)
    if nonnegative and not operator.is_nonnegative():
        raise InputError(
            f"Negative values in data: some similarities are negative{_negative_entry(operator)}, and this "
            "model builds them from nonnegative numbers. SymmetricFactorization takes them as they are. Or "
            "shift or clip them, turn distances into similarities first (for example exp(-d**2 / sigma**2)), "
            "or choose an affinity without negative values, such as 'nearest_neighbors'."
        )
    return squared_norm


def _check_not_vanishing(operator: Any, squared_norm: float) -> None:
    least = float(np.finfo(operator.dtype).tiny)
    if squared_norm <= (operator.n * least) ** 2 and 0 < (size := _size(operator)) < least:
        raise InputError(
            f"The similarity is too small: its largest entry is {size:.2g}, and numbers below {least:.2g} "
            f"have lost digits in {operator.dtype}. Multiply it by a constant, for example A / abs(A).max()."
        )


def _size(operator: Any) -> float:
    """The size of the largest entry, from all entries: needed if squares vanish."""
    place = operator.negative_entry()
    return max(float(operator.largest()), -_value(operator, *place) if place else 0.0)


def _check_symmetric(operator: Any, squared_norm: float, name: str) -> None:
    asymmetry = operator.asymmetry()
    # The largest entry of some operators is a search through all n × n, spared if possible. Entries may be
    # large and negative; ‖A‖/n is never above the largest magnitude.
    largest = max(operator.largest(), np.sqrt(squared_norm) / operator.n) if asymmetry else 0.0
    if asymmetry > 1e4 * np.finfo(operator.dtype).eps * max(largest, asymmetry):
        i, j = operator.asymmetric_entry()
        raise InputError(
            f"{name} is not symmetric: a_ij and a_ji differ by up to {asymmetry:.3g} "
            f"(entries are as large as {largest:.3g}), most at {_place(operator, i, j)}: "
            f"{_value(operator, i, j):.6g} against {_value(operator, j, i):.6g}. "
            "Symmetrise it first, for example with (A + A.T) / 2."
        )


def _negative_entry(operator: Any) -> str:
    place = operator.negative_entry()
    return f" ({_value(operator, *place):.3g} at {_place(operator, *place)})" if place else ""


def _value(operator: Any, i: int, j: int) -> float:
    return float(operator.entries([i], [j])[0])


def _place(operator: Any, i: int, j: int) -> str:
    """Row and column in words, and the names of the nodes if they are others."""
    names = operator.names
    if names is None or (names[i], names[j]) == (i, j):
        return f"row {i}, column {j}"
    return f"row {i}, column {j} ({names[i]!r} and {names[j]!r})"


def refuse_other_names(frame: Any) -> None:
    """Refuse a DataFrame of similarities whose rows and columns have different names."""
    if not frame.index.equals(frame.columns):
        raise InputError(
            "The DataFrame's index and columns differ, so rows and columns may not be in the same order. "
            "Reorder them (df.loc[names, names]), or pass df.to_numpy() if they already agree."
        )


def check_scale(operator: Any) -> None:
    """Refuse a similarity so large or small that gradients of ‖A − HHᵀ‖² overflow or vanish.

    H is of size √‖A‖ and the gradient, whose square is summed in float64, of size ‖A‖√‖A‖; in the precision
    of A itself sizes up to ‖A‖² occur.
    """
    own, double = np.finfo(operator.dtype), np.finfo(np.float64)
    least = max(float(own.tiny) ** (1 / 2), float(double.tiny) ** (1 / 3))
    most = min(float(own.max) ** (1 / 2), float(double.max) ** (1 / 3))
    norm = float(np.sqrt(operator.squared_norm())) or _size(operator)  # squares of small entries may be 0
    if norm and not least <= norm <= most:
        raise InputError(
            f"The similarity is of size ‖A‖ = {norm:.2g}; sizes from {least:.2g} to {most:.2g} can be "
            f"factored in {operator.dtype}. Multiply it by a constant, for example A / abs(A).max()."
        )


def looks_like_similarity(X: Any) -> bool:
    """Whether samples × features may be the similarities of samples, or a graph, instead.

    These are matrices of at least ten rows, dense or sparse, that are square, symmetric to the bit, without
    negative entries and with some off the diagonal. Measured features are not symmetric by chance. The cost
    is a few passes over X, mostly one row if it is not symmetric.
    """
    n, d = X.shape
    if n != d or n < LEAST_SQUARE:
        return False
    if sparse.issparse(X):
        is_symmetric = X.data.min(initial=0) >= 0 and (X != X.T).nnz == 0
        return bool(is_symmetric and X.count_nonzero() > np.count_nonzero(X.diagonal()))
    is_symmetric = np.array_equal(X[0], X[:, 0]) and X.min() >= 0 and np.array_equal(X, X.T)
    return bool(is_symmetric and np.count_nonzero(X) > np.count_nonzero(X.diagonal()))


def refuse_ambiguous(X: Any) -> None:
    """Refuse a symmetric matrix that may hold similarities or features, and name the options that decide."""
    diagonal = X.diagonal()
    kind, distances = "and not negative, as similarities are", ""
    if not diagonal.any():
        kind = "with zeros on its diagonal, as the adjacency matrix of a graph has"
        if not sparse.issparse(X) and np.count_nonzero(X) == X.size - len(X):
            distances = (
                " If they are distances, turn them into similarities first, for example "
                "np.exp(-(D / np.median(D)) ** 2)."
            )
    elif (diagonal == diagonal[0]).all():
        kind = f"with {diagonal[0]:g} all along its diagonal, as similarities have"
    raise InputError(
        f"X is a symmetric matrix, {X.shape[0]} × {X.shape[1]}, {kind}. If its entries are similarities of "
        "samples, say affinity='precomputed'; if it is the adjacency matrix of a network, affinity='network'."
        f"{distances} If its rows are samples and its columns features, name what compares them, for example "
        "affinity='nearest_neighbors'."
    )
