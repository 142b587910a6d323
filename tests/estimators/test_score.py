"""Scores on what was held out: what they are, and that they do not grow with the number of clusters."""

import numpy as np
import pytest
from scipy import sparse
from scipy.optimize import nnls
from sklearn.datasets import make_blobs
from sklearn.model_selection import GridSearchCV, KFold

from symclust import (
    NMF,
    AffineNMF,
    GraphNMF,
    HierarchicalNMF,
    HierarchicalSymNMF,
    KernelKMeans,
    LeftStochastic,
    OffDiagonalSymNMF,
    SparseNMF,
    SpectralNJW,
    SphericalKMeans,
    SymmetricFactorization,
    SymNMF,
)
from symclust.datasets import planted_partition
from symclust.inputs.placing import halves

FOLDS = KFold(3, shuffle=True, random_state=0)
CANDIDATES = [2, 3, 4, 5, 7, 9, 12]


def best(model, X):
    search = GridSearchCV(model, {"n_clusters": CANDIDATES}, cv=FOLDS, error_score="raise").fit(X)
    return search.best_params_["n_clusters"]


def label_of(h):
    return int(np.argmax(h)) if np.any(h) else -1


def slow_score(A, K, H, labels, place):
    """The formula of the docstring, sample by sample and pair by pair."""
    degrees = np.abs(K.sum(axis=1))
    beyond = possible = total = 0.0
    first, second = halves(len(H))
    for given, held in ((first, second), (second, first)):
        for a in A:
            own = label_of(place(H[given], a[given]))
            p = sum(degrees[j] for j in held if labels[j] == own and own >= 0) / degrees[held].sum()
            inside = sum(a[j] for j in held if labels[j] == own and own >= 0)
            beyond += inside - p * a[held].sum()
            possible += sum(x * (1 - p) if x > 0 else -x * p for x in a[held])
            total += np.abs(a[held]).sum()
    return beyond / np.sqrt(possible * total)


@pytest.mark.parametrize("form", [np.asarray, sparse.csr_array])
def test_the_score_is_its_formula(form):
    A, _ = planted_partition(n_samples=60, n_clusters=3, degree=12, mixing=0.3, random_state=0)
    A, new = A.toarray(), np.random.RandomState(0).rand(9, 60) * (np.random.RandomState(1).rand(9, 60) < 0.2)
    A[5] = A[:, 5] = new[3] = 0
    model = SymNMF(3, affinity="precomputed", random_state=0).fit(form(A))
    for X in (new, A):  # samples seen in training are nothing special
        expected = slow_score(X, A, model.membership_, model.labels_, lambda H, a: nnls(H, a)[0])
        assert model.score(form(X)) == pytest.approx(expected, rel=1e-6)


def test_the_score_of_labels_and_of_similarities_of_both_signs():
    rng = np.random.RandomState(0)
    K = np.kron(2 * np.eye(3) - 1, np.ones((8, 8))) + 0.3 * rng.randn(24, 24)
    K = (K + K.T) / 2
    model = KernelKMeans(3, affinity="precomputed", random_state=0).fit(K)

    def averages(H, a):
        return H.T @ a / H.sum(axis=0)

    new = K[:7] + 0.1 * rng.randn(7, 24)
    expected = slow_score(new, K, model.membership_, model.labels_, averages)
    assert model.score(new) == pytest.approx(expected, rel=1e-6)
    assert 0.5 < model.score(new) <= 1


def test_scores_of_little():
    A = np.kron(np.eye(2), np.ones((4, 4)))
    model = SymNMF(2, affinity="precomputed", random_state=0).fit(A)
    assert model.score(np.zeros((3, 8))) == 0  # nothing to predict
    assert SymNMF(1, affinity="precomputed", random_state=0).fit(A).score(A) == 0
    assert SymNMF(1, affinity="precomputed").fit([[1.0]]).score([[1.0]]) == 0
    assert NMF(1).fit([[1.0], [2.0]]).score([[3.0]]) == 0  # one feature has no halves


@pytest.mark.parametrize(
    "model",
    [
        SymNMF(random_state=0),
        OffDiagonalSymNMF(random_state=0),
        SymmetricFactorization(random_state=0),
        LeftStochastic(n_init=2, random_state=0),
        KernelKMeans(n_init=3, random_state=0),
        SpectralNJW(n_init=3, random_state=0),
        HierarchicalSymNMF(random_state=0),
    ],
    ids=lambda model: type(model).__name__,
)
@pytest.mark.filterwarnings("ignore")
def test_a_search_finds_the_number_of_clusters(model):
    X, _ = make_blobs(180, centers=4, n_features=4, random_state=4)
    assert best(model, X) == 4
    A, _ = planted_partition(n_samples=180, n_clusters=4, degree=20, mixing=0.2, random_state=0)
    assert best(model.set_params(affinity="precomputed"), A) == 4


# Two factors ------------------------------------------------------------------------------------------------


def mixtures(k, seed=0):
    rng = np.random.RandomState(seed)
    X = rng.dirichlet([0.3] * k, 150) @ rng.random_sample((k, 30))
    return np.abs(X + 0.1 * rng.randn(*X.shape))


@pytest.mark.parametrize("form", [np.asarray, sparse.csr_array])
@pytest.mark.parametrize("cls", [NMF, AffineNMF])
def test_the_score_of_two_factors_is_its_formula(cls, form):
    X, new = mixtures(3), mixtures(3, seed=1)[:20]
    model = cls(3).fit(form(X))
    C, b = model.components_.T, getattr(model, "baseline_", np.zeros(30))
    missed = total = 0.0
    first, second = halves(30)
    for S, T in ((first, second), (second, first)):
        for x in new:
            w = nnls(C[S], x[S] - b[S])[0]
            missed += np.sum((x[T] - b[T] - C[T] @ w) ** 2)
            total += np.sum(x[T] ** 2)
    assert model.score(form(new)) == pytest.approx(1 - missed / total)


@pytest.mark.parametrize("k", [3, 5])
@pytest.mark.parametrize(
    "model", [NMF(), SparseNMF(), AffineNMF(), GraphNMF(graph_regularization=1.0, max_iter=60)], ids=repr
)
@pytest.mark.filterwarnings("ignore")
def test_a_search_finds_the_number_of_components(model, k):
    assert best(model, mixtures(k)) == k


@pytest.mark.parametrize("cls", [HierarchicalNMF, SphericalKMeans])
def test_no_score_is_offered_where_none_is_fair(cls):
    with pytest.raises(TypeError, match="score"):
        GridSearchCV(cls(), {"n_clusters": [2, 3]}).fit(mixtures(3))
