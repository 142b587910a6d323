"""What input must be, and the words said when it is not."""

from __future__ import annotations

from typing import Any

import numpy as np
from scipy import sparse
from sklearn.utils.validation import check_array

from symclust.exceptions import InputError, InputTypeError

__all__ = ["check_features"]


def check_features(X: Any, *, name: str = "X") -> Any:
    """Return samples × features as a C-ordered array or a CSR array of float32 or float64.

    float32 and float64 stay what they are; integers, bools and other floats become float64. A sparse input
    comes back with sorted indices and without duplicate entries; what was given is never changed.

    Parameters
    ----------
    X : array-like or sparse of shape (n_samples, n_features)
    name : str
        What the messages call it.

    Raises
    ------
    InputError
        For another number of dimensions, no samples, no features, complex numbers, NaN or infinity.
    InputTypeError
        For entries that are not numbers.

    Examples
    --------
    >>> from symclust.validation import check_features
    >>> check_features([[1, 2], [3, 4]]).dtype
    dtype('float64')
    """
    try:
        # scikit-learn's words, which its check_estimator looks for; finiteness is ours, to say where.
        X = check_array(
            X,
            accept_sparse="csr",
            dtype=[np.float64, np.float32],
            order="C",
            ensure_all_finite=False,
            input_name=name,
        )
    except TypeError as error:
        raise InputTypeError(str(error)) from error
    except ValueError as error:
        raise InputError(str(error)) from error
    if sparse.issparse(X):
        X = _canonical(sparse.csr_array(X))
    _check_finite(X, name)
    return X


def _canonical(X: sparse.csr_array) -> sparse.csr_array:
    if not X.has_canonical_format:
        X = X.copy()  # sum_duplicates works in place, on arrays that may be the user's
        X.sum_duplicates()
    return X


def _check_finite(X: Any, name: str) -> None:
    values = X.data if sparse.issparse(X) else X
    with np.errstate(all="ignore"):
        if np.isfinite(values.sum()):  # one pass without a temporary; only an overflow needs the second look
            return
    for word, found in (("NaN", np.isnan(values)), ("infinity", np.isinf(values))):
        count = int(np.count_nonzero(found))
        if count:
            row, column = _first_position(X, found)
            raise InputError(
                f"Input {name} contains {word}. Entries concerned: {count}, the first at row {row}, column "
                f"{column}. Remove those samples or features, or fill the gaps, for example with "
                "sklearn.impute.SimpleImputer."
            )


def _first_position(X: Any, found: np.ndarray) -> tuple[int, int]:
    first = int(np.argmax(found))  # in C order, which for CSR is the order of the stored entries
    if sparse.issparse(X):
        return int(np.searchsorted(X.indptr, first, side="right")) - 1, int(X.indices[first])
    return first // X.shape[1], first % X.shape[1]
