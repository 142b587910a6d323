"""Metrics of clusterings of similarities, against their definitions."""

import numpy as np
import pandas as pd
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy import sparse
from sklearn.metrics import homogeneity_completeness_v_measure

from symclust.exceptions import InputError, OptionError
from symclust.metrics import (
    conditional_perplexity,
    membership_calibration,
    within_cluster_similarity,
)
from symclust.operators import as_operator

LABELS = st.lists(st.tuples(st.integers(0, 3), st.integers(0, 3)), min_size=2, max_size=30)


def similarity(n=12, seed=0):
    K = np.random.default_rng(seed).normal(size=(n, n))
    return K + K.T


@settings(max_examples=40)
@given(LABELS)
def test_within_cluster_similarity_is_the_average_over_pairs(pairs):
    labels = np.array([a for a, _ in pairs])
    K = similarity(len(labels))
    same = labels[:, None] == labels
    assert within_cluster_similarity(K, labels) == pytest.approx(K[same].mean())
    for form in (sparse.csr_array(K), as_operator(K)):
        assert within_cluster_similarity(form, labels) == pytest.approx(K[same].mean())


@pytest.mark.parametrize("dtype", [bool, np.int8, np.uint8, np.int64, np.float16, np.float32])
@pytest.mark.parametrize("form", [np.asarray, sparse.csr_array, pd.DataFrame, np.ndarray.tolist])
def test_within_cluster_similarity_of_numbers_of_any_kind(form, dtype):
    if form is sparse.csr_array and dtype is np.float16:
        pytest.skip("SciPy has no sparse matrices of half precision")
    rng = np.random.default_rng(0)
    K, labels = rng.integers(0, 100, (40, 40)), np.repeat(["a", "b"], 20)
    K = np.maximum(K, K.T).astype(dtype)
    same = labels[:, None] == labels
    assert within_cluster_similarity(form(K), labels) == pytest.approx(K[same].astype(float).mean())


@settings(max_examples=40)
@given(LABELS)
def test_perplexity_is_two_to_the_conditional_entropy(pairs):
    y, z = map(np.array, zip(*pairs, strict=True))
    _, counts = np.unique(y, return_counts=True)
    entropy = -np.sum(counts / len(y) * np.log2(counts / len(y)))
    homogeneity = homogeneity_completeness_v_measure(y, z)[0]  # 1 − H(L|C)/H(L)
    assert conditional_perplexity(y, z) == pytest.approx(2 ** ((1 - homogeneity) * entropy), rel=1e-9)


def test_calibration_of_probabilities_drawn_from_themselves():
    rng = np.random.default_rng(0)
    P = rng.dirichlet([0.5, 0.5, 0.5], 20_000)
    y = np.array([rng.choice(3, p=p) for p in P])
    found = membership_calibration(y, 7 * P)
    assert found["count"].sum() == 20_000
    np.testing.assert_allclose(found.agreement, found.confidence, atol=0.05)


@pytest.mark.parametrize(
    "call",
    [
        lambda: within_cluster_similarity(np.eye(3), [0, 1]),
        lambda: within_cluster_similarity(np.eye(3), [[0], [1], [1]]),
        lambda: within_cluster_similarity(np.empty((0, 0)), []),
        lambda: conditional_perplexity([0, 1], [0]),
        lambda: membership_calibration([0, 1], np.ones((3, 2))),
        lambda: membership_calibration([0, 1], -np.ones((2, 2))),
        lambda: membership_calibration([0, 1], np.full((2, 2), np.nan)),
        lambda: membership_calibration([0, 1], [[np.inf, 0], [0, 1]]),
        lambda: membership_calibration([], np.ones((0, 2))),
    ],
)
def test_shapes_that_do_not_fit_are_refused(call):
    with pytest.raises(InputError):
        call()


@pytest.mark.parametrize("n_bins", [0, -1, 2.5, "auto"])
def test_a_number_of_bins_that_is_none_is_refused(n_bins):
    with pytest.raises(OptionError, match="n_bins"):
        membership_calibration([0, 1], np.eye(2), n_bins)
