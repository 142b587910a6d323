"""Weights of documents against the formulas written out with dense matrices."""

from itertools import product

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from hypothesis.extra.numpy import arrays
from scipy import sparse
from sklearn.feature_extraction.text import TfidfVectorizer
from sklearn.utils.estimator_checks import parametrize_with_checks

from symclust.documents import DocumentWeights
from symclust.exceptions import InputError, OptionError

SWITCHES = [
    (*switches, logs)
    for switches in product((True, "plain", "positive", False), (True, False), (True, False))
    for logs in (False, True)
]
COUNTS = arrays(np.int64, st.tuples(st.integers(1, 8), st.integers(1, 6)), elements=st.integers(0, 5))


@parametrize_with_checks([DocumentWeights(), DocumentWeights(tfidf=False, normalized_cut=False)])
def test_scikit_learns_own_checks(estimator, check):
    check(estimator)


def twin(counts, tfidf, unit_norm, normalized_cut, log_counts):
    """The three steps of thesis 2.2.1 with X Xᵀ formed."""
    X = np.log(1 + counts) if log_counts else counts.astype(float)
    if tfidf in ("plain", "positive"):
        X = X * np.log((len(X) + (tfidf == "positive")) / np.maximum((counts > 0).sum(axis=0), 1))
    elif tfidf:
        X = X * (np.log((1 + len(X)) / (1 + (counts > 0).sum(axis=0))) + 1)
    if unit_norm:
        lengths = np.linalg.norm(X, axis=1)
        X = X / np.where(lengths > 0, lengths, 1)[:, None]
    if normalized_cut:
        degrees = (X @ X.T).sum(axis=1)
        X = X / np.sqrt(np.where(degrees > 0, degrees, 1))[:, None]
    return X


@pytest.mark.parametrize("switches", SWITCHES)
@given(counts=COUNTS)
@settings(max_examples=25)
def test_equals_the_dense_twin(switches, counts):
    expected = twin(counts, *switches)
    model = DocumentWeights(*switches)
    np.testing.assert_allclose(model.fit_transform(counts), expected, atol=1e-12)
    np.testing.assert_allclose(model.transform(sparse.csr_array(counts)).toarray(), expected, atol=1e-12)


@given(counts=COUNTS)
@settings(max_examples=40)
def test_the_degrees_of_the_result_are_those_of_a_normalised_graph(counts):
    X = DocumentWeights().fit_transform(counts)
    used = counts.any(axis=1)
    if used.any():
        # D^-1/2 E D^-1/2 has the eigenvalue 1, and no larger one
        assert np.linalg.norm(X, 2) == pytest.approx(1)
    assert not X[~used].any()


def test_the_first_two_steps_are_scikit_learns():
    texts = ["ice hockey ice", "hockey stick", "stick to space", "space orbit"]
    ours = TfidfVectorizer(use_idf=False, norm=None).fit_transform(texts)
    theirs = TfidfVectorizer().fit_transform(texts)
    np.testing.assert_allclose(
        DocumentWeights(normalized_cut=False).fit_transform(ours).toarray(), theirs.toarray()
    )


@pytest.mark.parametrize("dtype", [np.float32, np.float64])
@pytest.mark.parametrize("form", [np.array, sparse.csr_array, sparse.csr_matrix, sparse.csc_array])
def test_precision_and_kind_stay(dtype, form):
    X = form(np.eye(3, dtype=dtype))
    model = DocumentWeights().fit(X)
    out = model.transform(X)
    assert out.dtype == dtype
    assert sparse.issparse(out) == sparse.issparse(X)
    assert model.sum_.dtype == np.float64


def test_what_was_given_is_not_changed():
    X = sparse.csr_array(np.array([[2.0, 1.0], [0.0, 3.0]]))
    before = X.copy()
    DocumentWeights().fit(X).transform(X)
    assert (before != X).nnz == 0


def test_new_documents_get_the_weights_of_the_old_ones():
    rng = np.random.RandomState(0)
    counts = rng.poisson(0.7, (30, 12))
    model = DocumentWeights().fit(counts)
    np.testing.assert_array_equal(model.transform(counts[3:5]), model.transform(counts)[3:5])


def test_a_new_document_of_unseen_terms_becomes_zero():
    model = DocumentWeights().fit([[1, 1, 0], [2, 0, 0]])
    assert model.transform([[0, 0, 4], [1, 0, 4]]).any(axis=1).tolist() == [False, True]


def test_empty_documents_stay_zero():
    X = DocumentWeights().fit_transform(sparse.csr_array(np.array([[0, 0], [1, 2], [0, 0]])))
    assert np.isfinite(X.data).all()
    assert X.toarray().any(axis=1).tolist() == [False, True, False]


def test_stored_zeros_are_no_terms_of_their_documents():
    counts = np.array([[3.0, 0.0], [2.0, 1.0], [0.0, 5.0]])
    stored = sparse.csr_array((counts.ravel(), np.tile([0, 1], 3), np.arange(0, 7, 2)), shape=(3, 2))
    np.testing.assert_allclose(
        DocumentWeights().fit_transform(stored).toarray(), DocumentWeights().fit_transform(counts)
    )
    assert stored.nnz == 6


def test_an_unknown_idf_is_refused():
    with pytest.raises(
        OptionError, match=r"tfidf='smooth' is not known. Choose one of True, False, 'plain', 'positive'"
    ):
        DocumentWeights(tfidf="smooth").fit([[1, 2]])


def test_negative_counts_are_refused():
    with pytest.raises(InputError, match=r"Negative values in data.*-2"):
        DocumentWeights().fit([[1, -2], [0, 1]])


def test_names_of_terms_pass_through():
    assert list(DocumentWeights().fit([[1, 2]]).get_feature_names_out(["ice", "puck"])) == ["ice", "puck"]
