"""Whether the words that describe a topic occur together."""

from __future__ import annotations

from typing import Any

import numpy as np
from scipy import sparse

from symclust._types import Array, Features, Matrix, Names
from symclust.exceptions import InputError
from symclust.validation import check_features, check_number


def topic_coherence(X: Features, topics: Names, *, n_terms: int = 20, smoothing: float = 1.0) -> Array:
    r"""Coherence of each topic (Kuang 2014, (64); Mimno and others 2011).

    .. math:: \sum_{i < j} \log \frac{D(f_i, f_j) + \mu}{D(f_i)}

    over the first K terms f_1, f_2, ... of the topic, the most important first. D(f) is the number of
    documents with the term f, D(f, g) that of documents with both.

    Parameters
    ----------
    X : array-like or sparse of shape (n_documents, n_terms)
        Counts or other weights; a document contains the terms that are not zero in its row.
    topics : array of shape (n_topics, n_terms), or sequence of sequences of int
        An array or sparse array of floating-point numbers holds weights of all terms, as `components_` does:
        the terms with the largest positive weights are taken, of equal ones the first. Anything else lists
        the numbers of each topic's terms, the most important first.
    n_terms : int, default=20
        K: how many terms of a topic count.
    smoothing : float, default=1.0
        μ, above 0: keeps the logarithm finite for terms that never meet.

    Returns
    -------
    ndarray of shape (n_topics,)
        At most slightly above 0, and larger is better. It is a sum over pairs: compare only topics
        with the same number of terms.

    Notes
    -----
    As printed, j runs from i in (64); we follow Mimno and others in leaving out the pairs of a term with
    itself, which say how rare the term is. The common term of a pair, f_i with i < j, is in the denominator.

    Examples
    --------
    >>> from symclust.metrics import topic_coherence
    >>> X = [[1, 1, 0, 0], [2, 1, 0, 0], [0, 0, 1, 0], [0, 0, 0, 1]]
    >>> topic_coherence(X, [[0, 1], [2, 3]]).round(3).tolist()
    [0.405, 0.0]
    """
    check_number("n_terms", n_terms, least=1, whole=True)
    check_number("smoothing", smoothing, least=0, exclusive=True)
    X = sparse.csc_array(check_features(X))
    chosen = _top_terms(topics, X.shape[1], n_terms)
    return np.array([_coherence(X, terms, number, smoothing) for number, terms in enumerate(chosen)])


def _top_terms(topics: Any, d: int, K: int) -> list[Array]:
    if sparse.issparse(topics):
        topics = topics.toarray()  # k × d: as large as what a factorization gives
    if isinstance(topics, np.ndarray) and topics.dtype.kind == "f":
        if topics.ndim != 2 or topics.shape[1] != d:
            raise InputError(
                f"Weights of terms have shape {topics.shape}, but X has {d} terms: give one row per topic "
                "and one column per term, or lists of the numbers of terms."
            )
        ranked = np.argsort(-topics, axis=1, kind="stable")[:, :K]
        return [row[weights[row] > 0] for row, weights in zip(ranked, topics, strict=True)]
    return [_check_terms(np.asarray(terms), number, d)[:K] for number, terms in enumerate(topics)]


def _check_terms(terms: Array, number: int, d: int) -> Array:
    if terms.size == 0:
        return np.empty(0, dtype=np.intp)
    if terms.ndim != 1 or terms.dtype.kind not in "iu" or terms.min() < 0 or terms.max() >= d:
        raise InputError(
            f"Topic {number} must be a list of whole numbers from 0 to {d - 1}, its terms; got {terms!r}."
        )
    if np.unique(terms).size < terms.size:
        raise InputError(
            f"Topic {number} lists a term twice. Whole numbers are taken for the numbers of terms: give "
            "weights of all terms as an array of floating-point numbers."
        )
    return terms


def _coherence(X: sparse.csc_array, terms: Array, number: int, mu: float) -> float:
    present = sparse.csc_array(X[:, terms])
    present.data = (present.data != 0).astype(np.float64)
    together = (present.T @ present).toarray()  # K × K
    frequency = together.diagonal()
    if not frequency.all():
        missing = terms[int(np.argmin(frequency))]
        raise InputError(
            f"Term {missing} of topic {number} is in no document, so that its coherence is not defined. "
            "Measure it on the documents that the topics come from."
        )
    return coherence_of_counts(together, mu)


def coherence_of_counts(together: Matrix, smoothing: float = 1.0) -> float:
    """Coherence of one topic from the numbers of documents that have its terms, as `topic_coherence` says.

    For collections that are in several places: these numbers can be added up.

    Parameters
    ----------
    together : array-like of shape (K, K)
        D(f_i, f_j) of its terms, the most important first, and D(f_i) on the diagonal, above 0.
    smoothing : float, default=1.0
        μ.

    Examples
    --------
    >>> from symclust.metrics import coherence_of_counts
    >>> round(coherence_of_counts([[2, 2], [2, 2]]), 3)
    0.405
    """
    together = np.asarray(together, dtype=np.float64)
    i, j = np.triu_indices(len(together), k=1)
    return float(np.log((together[i, j] + smoothing) / together.diagonal()[i]).sum())  # (64)
