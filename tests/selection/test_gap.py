"""The gap statistic against a plain implementation."""

import numpy as np
import pytest
from scipy import sparse
from sklearn.cluster import KMeans

from symclust.selection import Features, Pairs, Study
from symclust.selection.methods.gap import Gap, within_variation


def test_variation_is_that_of_all_pairs():
    rng = np.random.RandomState(0)
    X, labels = rng.normal(size=(20, 3)), rng.randint(-1, 3, size=20)
    expected = 0.0
    for cluster in range(3):
        part = X[labels == cluster]
        distances = np.linalg.norm(part[:, None] - part[None], axis=2)
        expected += distances.sum() / (2 * len(part))
    assert within_variation(Features(X), labels) == pytest.approx(expected)


@pytest.mark.parametrize("form", [np.asarray, sparse.csr_array], ids=["dense", "sparse"])
def test_variation_of_similarities(form):
    rng = np.random.RandomState(0)
    A = rng.uniform(size=(12, 12))
    A, labels = A + A.T, rng.randint(2, size=12)
    expected = 0.0
    for cluster in range(2):
        part = np.flatnonzero(labels == cluster)
        distances = [1 - A[i, j] / A.max() for i in part for j in part if i != j]
        expected += sum(distances) / (2 * len(part))
    assert within_variation(Pairs(form(A)), labels) == pytest.approx(expected)


def study_of(X, candidates=(2, 3, 4, 5)):
    return Study(Features(X), KMeans(n_init=5), candidates, np.random.RandomState(0))


def test_clusters_and_none():
    rng = np.random.RandomState(0)
    X = np.concatenate([rng.normal(centre, 0.3, size=(30, 2)) for centre in (0, 4, 8)])
    answer = Gap(10).choose(study_of(X))
    assert answer.n_clusters == 3 and answer.candidates.tolist() == [1, 2, 3, 4, 5]
    assert answer.p_values[2] == pytest.approx(1 / 11)
    box = rng.uniform(size=(100, 2))
    assert Gap(10).choose(study_of(box)).n_clusters == 1


def test_the_rule_is_that_of_the_thesis():
    rng = np.random.RandomState(0)
    answer = Gap(5).choose(study_of(rng.normal(size=(60, 2))))
    gaps, deviation = answer.curves["gap"].values, answer.curves["gap"].spread
    fits = [k for k in range(4) if gaps[k] >= gaps[k + 1] - deviation[k]]
    assert answer.n_clusters == (answer.candidates[fits[0]] if fits else 5)


def test_a_gap_that_still_grows_is_told():
    rng = np.random.RandomState(0)
    X = np.concatenate([rng.normal(9 * centre, 0.1, size=(12, 2)) for centre in range(6)])
    answer = Gap(5).choose(study_of(X, (2, 3)))
    assert answer.n_clusters == 3 and "there may be more" in str(answer)
