"""Small problems that the tests of the solvers share."""

import numpy as np
import pytest

from symclust.constraints import Nonnegative
from symclust.objectives import Frobenius
from symclust.operators import Dense, as_operator
from symclust.solvers import Problem


@pytest.fixture
def planted():
    """Return a function that makes a noisy similarity of k groups."""

    def make(n=30, k=3, seed=0, between=0.05):
        rng = np.random.default_rng(seed)
        groups = np.arange(n) * k // n
        A = np.where(groups[:, None] == groups, 1.0, between) * rng.uniform(0.5, 1.5, size=(n, n))
        return np.triu(A) + np.triu(A, 1).T

    return make


@pytest.fixture
def as_problem():
    """Return a function that makes the SymNMF problem of a similarity."""

    def make(A, sparsity=0.0):
        operator = Dense(A) if isinstance(A, np.ndarray) else as_operator(A)
        return Problem(operator, Frobenius(operator, sparsity), Nonnegative())

    return make


@pytest.fixture
def positive():
    """Return a function that makes a strictly positive start."""

    def make(n=30, k=3, seed=0):
        return np.random.default_rng(seed).uniform(0.1, 1, size=(n, k))

    return make
