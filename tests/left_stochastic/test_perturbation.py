"""Theorem 5: a perturbed similarity has a factor near the true one."""

import numpy as np
import pytest

from symclust import LeftStochastic


@pytest.mark.parametrize("size", [1e-6, 1e-3, 1e-1])
@pytest.mark.filterwarnings("ignore:The similarity has negative eigenvalues")
def test_the_objective_stays_below_the_bound_and_the_factor_near(size):
    rng = np.random.default_rng(0)
    P = rng.dirichlet(np.full(3, 0.15), 100)
    K = P @ P.T
    W = rng.normal(size=K.shape)
    W = (W + W.T) * (size * np.linalg.norm(K) / np.linalg.norm(W + W.T))
    model = LeftStochastic(3, affinity="precomputed", random_state=0).fit(K + W)
    epsilon = np.linalg.norm(W)
    found = model.membership_ / np.sqrt(model.scale_)
    assert np.linalg.norm(K - found @ found.T) <= 2 * epsilon
    U, _, Vt = np.linalg.svd(found.T @ P)
    error = np.linalg.norm(P - found @ (U @ Vt))
    smallest = np.linalg.eigvalsh(K + W)[-3]
    assert error <= epsilon * (1 + np.sqrt(3) / smallest * (np.sqrt(np.trace(K)) + epsilon))  # (11), C₁ = 1
