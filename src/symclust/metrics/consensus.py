"""How well a tree fits the similarities it was grown from, and how clearly samples belong to one cluster."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import ArrayLike
from scipy import sparse
from scipy.cluster.hierarchy import cophenet, linkage
from scipy.spatial.distance import squareform
from scipy.special import entr

from symclust._types import Array, Matrix
from symclust.exceptions import InputError, InputTypeError
from symclust.validation import check_features

ROUNDING = 1e-10  # of numbers up to 1 and their averages


def cophenetic_correlation(consensus_matrix: ArrayLike) -> float:
    r"""Correlation of the distances 1 − C with those that an average-linkage tree puts in their place.

    .. math:: \operatorname{corr}\bigl((1 - c_{ij})_{i < j}, (t_{ij})_{i < j}\bigr)

    where t_ij is the height at which the tree joins samples i and j (Kuang 2014, section 4.2; Brunet, Tamayo,
    Golub and Mesirov 2004). Perfect blocks, where every pair is always or never together, give 1. What comes
    near 1 is not therefore a clustering: any distances that a tree fits do, and the values for different
    numbers of clusters are often hardly different.

    Parameters
    ----------
    consensus_matrix : array-like of shape (n_samples, n_samples)
        C: how often two samples are in one cluster, or other similarities, symmetric. Its diagonal does not
        matter.

    Returns
    -------
    float
        At most 1. NaN if all pairs are equally similar: nothing varies, and there is no correlation.

    See Also
    --------
    symclust.selection.ConsensusMatrix : C from the labels of many runs.

    Examples
    --------
    >>> import numpy as np
    >>> from symclust.metrics import cophenetic_correlation
    >>> cophenetic_correlation(np.kron(np.eye(2), np.ones((3, 3))))
    1.0
    >>> C = np.array([[1.0, 0.9, 0.4, 0.1], [0.9, 1.0, 0.5, 0.0], [0.4, 0.5, 1.0, 0.6], [0.1, 0.0, 0.6, 1.0]])
    >>> round(cophenetic_correlation(C), 3)
    0.831
    """
    C = _read_similarities(consensus_matrix)
    distances = squareform(1 - C / (np.abs(C).max(initial=0) or 1), checks=False)  # units do not matter
    if distances.size == 0 or np.ptp(distances) <= ROUNDING:
        return float("nan")
    heights = cophenet(linkage(distances, method="average"))
    if np.abs(distances - heights).max() <= ROUNDING:
        return 1.0  # and not 1 − 2e-16
    return _correlation(distances, heights)


def average_entropy(membership: Matrix) -> float:
    r"""Average entropy of the memberships of a sample; smaller means clusters that are better separated.

    .. math:: E = -\frac{1}{n} \sum_i \sum_j p_{ij} \ln p_{ij}, \quad p_{ij} = h_{ij} / \sum_l h_{il}

    (Kuang 2014, (47), with the minus sign that is missing there). It is 0 where every sample belongs to one
    cluster alone, and ln k where all belong to all k clusters alike.

    Parameters
    ----------
    membership : array-like or sparse of shape (n_samples, n_clusters)
        H, nonnegative, for example `membership_` of a fitted model. Rows need not add up to 1. Samples
        without any membership say nothing about separation and are left out.

    Returns
    -------
    float
        From 0 to ln k; comparable for equal numbers of clusters.

    Examples
    --------
    >>> from symclust.metrics import average_entropy
    >>> average_entropy([[1.0, 0.0], [0.0, 3.0]])
    0.0
    >>> round(average_entropy([[2.0, 2.0], [0.0, 3.0], [0.0, 0.0]]), 4)
    0.3466
    """
    H = check_features(membership, name="membership")
    H = sparse.csr_array(H, dtype=np.float64)
    if H.data.min(initial=0) < 0:
        raise InputError(
            f"A membership is {H.data.min():.3g}: shares of a sample cannot be negative. Give those of a "
            "nonnegative factor, for example NMF's or SymNMF's membership_."
        )
    sums = H.sum(axis=1)
    if not sums.any():
        raise InputError("All memberships are zero: no sample belongs to a cluster, and there is no entropy.")
    shares = H.data / np.repeat(np.where(sums > 0, sums, 1), np.diff(H.indptr))  # zeros may be stored
    return float(entr(shares).sum() / np.count_nonzero(sums)) + 0.0  # (47): entr(p) is −p ln p; 0.0, not -0.0


def _read_similarities(C: Any) -> Array:
    """A symmetric array of finite numbers; anything else is refused."""
    if sparse.issparse(C):
        raise InputTypeError(
            "The consensus matrix is sparse, and a tree needs all pairs: give it as an array (toarray()), or "
            "only the rows and columns of some samples."
        )
    C = np.asarray(C)
    if C.dtype.kind not in "biuf":
        raise InputTypeError(f"The consensus matrix holds {C.dtype}; expected an array of numbers.")
    if C.ndim != 2 or C.shape[0] != C.shape[1]:
        raise InputError(f"The consensus matrix has shape {C.shape}; expected a row and a column per sample.")
    C = C.astype(np.float64)
    if not np.isfinite(C).all():
        raise InputError("The consensus matrix contains NaN or infinity; expected a number for every pair.")
    if not np.allclose(C, C.T, rtol=1e-6, atol=ROUNDING):
        raise InputError("The consensus matrix is not symmetric: C[i, j] and C[j, i] have to be equal.")
    return C


def _correlation(x: Array, y: Array) -> float:
    """The correlation of two vectors, at most 1; NaN if one of them is constant."""
    x, y = x - x.mean(), y - y.mean()
    norm = np.sqrt((x @ x) * (y @ y))
    return float(np.clip((x @ y) / norm, -1, 1)) if norm > 0 else float("nan")
