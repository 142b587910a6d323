"""Weighted kernel k-means descends, whatever the kernel."""

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy import sparse

from symclust import KernelKMeans
from symclust.estimators.baselines._definite import make_definite
from symclust.operators import Dense, Sparse

pytestmark = pytest.mark.filterwarnings("ignore:The similarity has negative eigenvalues")


def unequal_graph(seed, n=20):
    """A graph without self-loops, hence indefinite, whose degrees differ by orders of magnitude."""
    rng = np.random.default_rng(seed)
    scales = 10 ** rng.uniform(-1, 2, n)
    A = np.triu(rng.random((n, n)) < 0.3, 1) * np.outer(scales, scales)
    return A + A.T


@given(seed=st.integers(0, 2**32 - 1), k=st.integers(2, 10), weighted=st.sampled_from(["degree", "drawn"]))
@settings(max_examples=60, deadline=None)
@pytest.mark.parametrize(("form", "way"), [(Dense, "clip"), (Dense, "shift"), (Sparse, "auto")])
def test_the_objective_never_rises_and_is_never_negative(form, way, seed, k, weighted):
    A = unequal_graph(seed)
    weights = "degree" if weighted == "degree" else np.random.default_rng(seed).lognormal(0, 2, len(A))
    model = KernelKMeans(
        k, weights=weights, indefinite=way, init="samples", n_init=2, affinity="precomputed", random_state=0
    ).fit(form(A if form is Dense else sparse.csr_array(A)))
    values = model.history_.objective
    assert np.diff(values).max(initial=0) <= 1e-9 * values[0]
    assert values.min() >= -1e-9 * values[0]


@pytest.mark.parametrize("way", ["clip", "shift"])
def test_definite_is_meant_with_the_weights(way):
    A = unequal_graph(0)
    weights = A.sum(axis=1)
    K, shift = make_definite(Dense(A), way, "KernelKMeans", True, weights)
    M = np.sqrt(np.outer(weights, weights)) * K.toarray() + shift * np.eye(len(A))
    values = np.linalg.eigvalsh(M)
    assert values[0] >= -1e-12 * values[-1]
    if way == "shift":
        assert values[0] <= 0.06 * shift  # and no more than needed
    else:
        unclipped = np.linalg.eigvalsh(np.sqrt(np.outer(weights, weights)) * A)
        np.testing.assert_allclose(values[-3:], unclipped[-3:])


def test_a_definite_kernel_stays_as_it_is():
    X = np.random.default_rng(0).normal(size=(30, 4))
    K = Dense(X @ X.T)
    assert make_definite(K, "auto", "KernelKMeans", False, np.arange(1.0, 31)) == (K, 0.0)
