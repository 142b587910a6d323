"""Dense and sparse forms of the same numbers: the choice of affinity="auto" and the clusters are the same."""

import numpy as np
import pytest
from scipy import sparse
from sklearn.datasets import load_breast_cancer, load_digits
from sklearn.feature_extraction.text import TfidfTransformer
from sklearn.metrics import adjusted_rand_score

from symclust import (
    Diana,
    HierarchicalLeftStochastic,
    HierarchicalSymNMF,
    KernelConvexNMF,
    KernelKMeans,
    LeftStochastic,
    OffDiagonalSymNMF,
    SpectralNJW,
    SpectralUnnormalized,
    SpectralYuShi,
    SymmetricFactorization,
    SymNMF,
    select_n_clusters,
)
from symclust.selection._data import Features

FORMS = [sparse.csr_array, sparse.csc_matrix, sparse.coo_array]
WITHOUT_SEED = (Diana, HierarchicalLeftStochastic)
ESTIMATORS = [
    *WITHOUT_SEED,
    HierarchicalSymNMF,
    KernelConvexNMF,
    KernelKMeans,
    LeftStochastic,
    OffDiagonalSymNMF,
    SpectralNJW,
    SpectralUnnormalized,
    SpectralYuShi,
    SymNMF,
    SymmetricFactorization,
]


def counts(n=240, words=120, topics=3):
    """Counts of words of documents, each about one topic."""
    rng = np.random.default_rng(0)
    weights = np.full((topics, words), 0.3)
    for topic in range(topics):
        weights[topic, topic::topics] += 3 * rng.random(len(range(topic, words, topics)))
    weights /= weights.sum(axis=1, keepdims=True)
    return rng.poisson(12 * weights[np.arange(n) % topics]).astype(float)


DATA = {
    "breast cancer": lambda: load_breast_cancer().data,
    "digits": lambda: load_digits().data[:400],
    "counts": counts,
    "tf-idf": lambda: TfidfTransformer().fit_transform(counts()).toarray(),
    "signs": lambda: np.random.default_rng(0).normal(size=(200, 6)) + 1.2 * (np.arange(200) % 3)[:, None],
}


def fitted(estimator, X, k=3):
    seed = {} if estimator in WITHOUT_SEED else {"random_state": 0}
    return estimator(k, **seed).fit(X)


@pytest.mark.parametrize("name", DATA)
@pytest.mark.parametrize("estimator", ESTIMATORS)
def test_the_same_numbers_give_the_same_clusters(estimator, name):
    X = DATA[name]()
    dense, stored = fitted(estimator, X), fitted(estimator, sparse.csr_array(X))
    assert stored.affinity_ == dense.affinity_
    assert adjusted_rand_score(dense.labels_, stored.labels_) == 1


@pytest.mark.parametrize("name", DATA)
@pytest.mark.parametrize("form", FORMS)
@pytest.mark.parametrize("dtype", [np.float32, np.float64])
def test_every_form_and_precision(form, name, dtype):
    X = DATA[name]()
    dense, stored = fitted(SymNMF, X), fitted(SymNMF, form(X.astype(dtype)))
    assert stored.affinity_ == dense.affinity_
    assert adjusted_rand_score(dense.labels_, stored.labels_) > (0.95 if dtype == np.float32 else 0.999)


@pytest.mark.parametrize("name", ["breast cancer", "counts"])
def test_the_same_number_of_clusters(name):
    X = DATA[name]()[:200]
    found = [
        select_n_clusters(form(X), SpectralNJW(random_state=0), range(2, 5), method="auto", random_state=0)
        for form in (np.asarray, sparse.csr_array)
    ]
    assert found[0].n_clusters == found[1].n_clusters


@pytest.mark.parametrize("name", ["breast cancer", "counts"])
def test_the_same_data_without_clusters(name):
    X = DATA[name]()
    nulls = [Features(form(X)).null(np.random.RandomState(0)).X for form in (np.asarray, sparse.csr_array)]
    np.testing.assert_allclose(sparse.csr_array(nulls[1]).toarray(), nulls[0])
