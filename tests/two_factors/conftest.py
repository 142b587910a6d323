"""Small data and problems that the tests of two factors share."""

import numpy as np
import pytest
import scipy.sparse as sp
from threadpoolctl import threadpool_limits

from symclust.constraints import Nonnegative
from symclust.operators import Bipartite, Dense
from symclust.solvers import Problem
from symclust.two_factors import Affine, Smooth, SmoothAsPrinted, SparseRows, TwoFactors


@pytest.fixture(autouse=True, scope="session")
def one_thread():
    # Problems of a few dozen samples gain nothing from threads, and lose much of them on a busy machine.
    with threadpool_limits(1, user_api="openmp"):
        yield


def ring(n, dtype=np.float64):
    """Each sample joined to the next two, with unequal weights."""
    S = np.zeros((n, n), dtype=dtype)
    for i in range(n):
        for step, weight in ((1, 1.0), (2, 0.5 + i / n)):
            S[i, (i + step) % n] = S[(i + step) % n, i] = weight
    return S


VARIANTS = {
    "plain": TwoFactors,
    "sparse": lambda A: SparseRows(A, ridge=0.3, sparsity=0.2),
    "affine": Affine,
    "smooth": lambda A: Smooth(A, Dense(ring(A.n_samples, A.dtype)), weight=0.7),
    "smooth as printed": lambda A: SmoothAsPrinted(A, Dense(ring(A.n_samples, A.dtype)), weight=0.7),
}


@pytest.fixture(params=VARIANTS, scope="session")
def variant(request):
    return request.param


@pytest.fixture(scope="session")
def planted():
    """Return a function that makes samples of k kinds, with zeros, over n × d."""

    def make(n=24, d=15, k=3, seed=0, noise=0.05):
        rng = np.random.default_rng(seed)
        W = rng.dirichlet([0.3] * k, n)
        C = rng.uniform(size=(d, k)) * (rng.uniform(size=(d, k)) < 0.6)
        X = W @ C.T + noise * rng.uniform(size=(n, d))
        X[rng.uniform(size=X.shape) < 0.3] = 0
        return X

    return make


@pytest.fixture(scope="session")
def as_problem():
    """Return a function that makes the problem of a variant, for dense or sparse X."""

    def make(X, variant="plain", is_sparse=False):
        A = Bipartite(sp.csr_array(X) if is_sparse else X)
        return Problem(A, VARIANTS[variant](A), Nonnegative())

    return make
