"""How many entries of a factor are zero."""

from __future__ import annotations

from typing import Any

import numpy as np
from scipy import sparse

from symclust.exceptions import InputError
from symclust.validation import check_number

__all__ = ["factor_sparseness"]


def factor_sparseness(factor: Any, *, threshold: float = 0.0) -> float:
    r"""Share of entries with :math:`|h_{ij}| \le` threshold (Kuang 2014, table 4, where it is zero).

    Sparse memberships read as a hard clustering, sparse weights of terms as a few words a topic.

    Parameters
    ----------
    factor : array-like or sparse
        For example `membership_` or `components_`.
    threshold : float, default=0.0
        Entries up to this size count as zero. Multiplicative updates, for example, never reach zero itself.

    Returns
    -------
    float
        Between 0 and 1; the table lists it in percent.

    Examples
    --------
    >>> from symclust.metrics import factor_sparseness
    >>> factor_sparseness([[0.0, 0.3], [0.7, 0.0], [0.0, 0.9]])
    0.5
    """
    check_number("threshold", threshold, least=0)
    H = sparse.csr_array(factor) if sparse.issparse(factor) else np.asarray(factor)
    size = int(np.prod(H.shape))
    if size == 0:
        raise InputError(f"A factor of shape {H.shape} has no entries, of which a share could be zero.")
    values = H.data if sparse.issparse(H) else H
    return 1.0 - float(np.count_nonzero(~(np.abs(values) <= threshold))) / size  # NaN is not zero
