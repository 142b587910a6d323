"""Weights that make documents comparable: tf-idf, unit length, normalised cut."""

from __future__ import annotations

from typing import Any

import numpy as np
from scipy import sparse
from sklearn.base import BaseEstimator, OneToOneFeatureMixin, TransformerMixin, clone
from sklearn.preprocessing import normalize
from sklearn.utils.validation import check_is_fitted, validate_data

from symclust.exceptions import InputError, OptionError
from symclust.operators import RowBlocks, is_dask, over_blocks
from symclust.validation import check_features

__all__ = [
    "DocumentWeights",
]


class DocumentWeights(OneToOneFeatureMixin, TransformerMixin, BaseEstimator):
    r"""Weigh a matrix of counts as Kuang (2014, 2.2.1) does before clustering documents.

    Three steps, each of which can be left out: tf-idf; rows of unit length, so that long documents count no
    more than short ones; and the normalised-cut weighting (7)

    .. math:: x_i \leftarrow x_i / \sqrt{x_i^T s}, \qquad s = \sum_j x_j

    after which factoring X approximates the normalised cut of the graph whose weights are the cosines
    :math:`x_i^T x_j`. That graph is never formed: s is one sum over the rows, the degrees are one product.

    Parameters
    ----------
    tfidf : bool or {"plain", "positive"}, default=True
        Multiply counts by the inverse document frequency of their term: True takes
        :class:`~sklearn.feature_extraction.text.TfidfTransformer`'s log((1 + n) / (1 + df)) + 1, "plain" the
        textbooks' log(n / df), which leaves out terms that are everywhere and served NMF of TDT2 better;
        "positive" is log((1 + n) / df), which is nearly the same and leaves no document without weights.
    unit_norm : bool, default=True
        Scale rows to Euclidean length 1.
    normalized_cut : bool, default=True
        Divide rows by the square root of their degree.
    log_counts : bool, default=False
        Take log(1 + count) in place of counts, so that a word that a document repeats does not drown others.

    Attributes
    ----------
    idf_ : ndarray of shape (n_features,)
        Inverse document frequencies; ones without `tfidf`.
    sum_ : ndarray of shape (n_features,)
        s of the documents seen by `fit`, in double precision; with it new documents get their degrees.

    Notes
    -----
    A document without terms keeps its zero row. A new document that shares no term with those of `fit` has
    degree 0 and becomes a zero row: the graph does not connect it with any of them.

    Examples
    --------
    >>> from scipy.sparse import csr_array
    >>> from symclust.documents import DocumentWeights
    >>> counts = csr_array([[3, 0], [2, 0], [0, 5]])
    >>> DocumentWeights().fit_transform(counts).toarray().round(3).tolist()
    [[0.707, 0.0], [0.707, 0.0], [0.0, 1.0]]
    """

    def __init__(
        self,
        tfidf: bool | str = True,
        unit_norm: bool = True,
        normalized_cut: bool = True,
        log_counts: bool = False,
    ) -> None:
        self.tfidf = tfidf
        self.unit_norm = unit_norm
        self.normalized_cut = normalized_cut
        self.log_counts = log_counts

    def fit(self, X: Any, y: Any = None) -> DocumentWeights:
        """Learn the document frequencies and the sum of the weighted documents.

        Parameters
        ----------
        X : array-like, sparse or Dask array of shape (n_documents, n_terms)
            Counts, or other weights of at least 0. What is learned of a Dask array is added up over its
            blocks of rows.
        y : ignored
            For scikit-learn's conventions.
        """
        if is_dask(X):
            self.fit_blocks(X)
        else:
            self._fit(self._read(X, reset=True))
        return self

    def fit_transform(self, X: Any, y: Any = None) -> Any:
        """Learn and return the weighted documents; the work before (7) is done once.

        Parameters
        ----------
        X, y
            As in `fit`.
        """
        if is_dask(X):
            return self.fit(X).transform(X)
        counts = self._read(X, reset=True)
        return self._finish(self._fit(counts), X)

    def transform(self, X: Any) -> Any:
        """Documents with the weights learned from those of `fit`.

        Parameters
        ----------
        X : array-like, sparse or Dask array of shape (n_documents, n_terms)
            Counts of the same terms.

        Returns
        -------
        ndarray, csr_array or Dask array of shape (n_documents, n_terms)
            Sparse for sparse X, a Dask array that is still to be computed for one; in the precision of X.
        """
        check_is_fitted(self)
        if is_dask(X):
            validate_data(self, X, reset=False, skip_check_array=True)
            return over_blocks(X, weighted_rows, self)
        return self._finish(self._lengthen(self._read(X, reset=False)), X)

    def _read(self, X: Any, reset: bool) -> sparse.csr_array:
        given, X = X, check_features(X)
        validate_data(self, given, reset=reset, skip_check_array=True)
        values = X.data if sparse.issparse(X) else X
        if values.size and values.min() < 0:
            raise InputError(
                f"Negative values in data: counts of terms are at least 0, but the smallest entry of X is "
                f"{values.min():.3g}."
            )
        return sparse.csr_array(X) if values.all() else _without_zeros(X)

    def _fit(self, counts: sparse.csr_array) -> sparse.csr_array:
        self.idf_ = self._inverse_frequencies(_frequencies(counts)[0], counts.shape[0], counts.dtype)
        X = self._lengthen(counts)
        self.sum_ = _sum(X)
        return X

    def fit_blocks(self, X: Any) -> None:
        """Learn from a Dask array, or from blocks of counts as CSR without stored zeros."""
        validate_data(self, X, reset=True, skip_check_array=True)
        counts = X if isinstance(X, RowBlocks) else RowBlocks.of(X).map(_read_block, clone(self))
        frequencies = counts.sum(_frequencies)[0]
        self.idf_ = self._inverse_frequencies(frequencies, counts.shape[0], counts.dtype)
        self.sum_ = counts.sum(_sum_of_lengthened, self)[0]

    def _inverse_frequencies(self, frequencies: np.ndarray, n: int, dtype: Any) -> np.ndarray:
        if self.tfidf not in (True, False, "plain", "positive"):
            raise OptionError(
                f"tfidf={self.tfidf!r} is not known. Choose one of True, False, 'plain', 'positive'."
            )
        if isinstance(self.tfidf, str):
            n += self.tfidf == "positive"
            return np.log(n / np.maximum(frequencies, 1)).astype(dtype)
        if not self.tfidf:
            return np.ones(len(frequencies), dtype)
        return np.log(np.asarray(n + 1, dtype) / (frequencies.astype(dtype) + 1)) + np.asarray(1, dtype)

    def _lengthen(self, counts: sparse.csr_array) -> sparse.csr_array:
        values = np.log1p(counts.data) if self.log_counts else counts.data
        X = _with_values(counts, values * self.idf_[counts.indices])
        return sparse.csr_array(normalize(X, copy=False)) if self.unit_norm else X

    def _finish(self, X: sparse.csr_array, given: Any) -> Any:
        if self.normalized_cut:
            degrees = X @ self.sum_  # X Xᵀ 1 without X Xᵀ
            roots = np.zeros_like(degrees)
            np.divide(1.0, np.sqrt(degrees), out=roots, where=degrees > 0)
            scale = np.repeat(roots, np.diff(X.indptr)).astype(X.dtype)
            X = _with_values(X, X.data * scale)  # (7)
        return X if sparse.issparse(given) else X.toarray()

    def __sklearn_tags__(self) -> Any:
        tags = super().__sklearn_tags__()
        tags.input_tags.sparse = True
        tags.input_tags.positive_only = True
        tags.transformer_tags.preserves_dtype = ["float64", "float32"]
        return tags


def _frequencies(counts: sparse.csr_array) -> tuple[np.ndarray]:
    return (np.bincount(counts.indices, minlength=counts.shape[1]),)


def _sum(X: sparse.csr_array) -> np.ndarray:
    return X.T @ np.ones(X.shape[0])


# What is done with a block of a Dask array.


def _read_block(rows: Any, weights: DocumentWeights) -> sparse.csr_array:
    return weights._read(rows, reset=True)


def _sum_of_lengthened(counts: sparse.csr_array, weights: DocumentWeights) -> tuple[np.ndarray]:
    return (_sum(weights._lengthen(counts)),)


def weighted_rows(rows: Any, weights: DocumentWeights) -> Any:
    """Some documents with weights that were learned before."""
    return weights.transform(rows)


def _without_zeros(X: Any) -> sparse.csr_array:
    """X without stored zeros, which scikit-learn would count as terms of their documents."""
    X = sparse.csr_array(X, copy=True)
    X.eliminate_zeros()
    return X


def _with_values(X: sparse.csr_array, values: np.ndarray) -> sparse.csr_array:
    return sparse.csr_array((values, X.indices, X.indptr), shape=X.shape)
