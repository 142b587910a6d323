"""Hypothesis for all tests: no clock decides, since machines are busy at times. Small data and problems."""

import io
import signal
import warnings
from contextlib import redirect_stdout
from importlib.util import find_spec

import numpy as np
import pytest
from hypothesis import HealthCheck, Phase, settings
from sklearn.datasets import make_blobs
from threadpoolctl import threadpool_limits

from symclust import _kernels
from symclust.constraints import Nonnegative
from symclust.objectives import Frobenius
from symclust.operators import Dense, as_operator
from symclust.solvers import Problem

# What is not named here stays as it was: where CI is set, the same examples are drawn each time.
settings.register_profile("symclust", settings(deadline=None, suppress_health_check=[HealthCheck.too_slow]))
settings.load_profile("symclust")
# For `make mutate`: that an example fails is enough, a smaller one is not looked for.
settings.register_profile("mutants", settings(), phases=[Phase.explicit, Phase.generate])


def pytest_configure(config):
    """Take back Ctrl-C, which is ignored in what a script starts with `&`, and examples that need PyTorch."""
    signal.signal(signal.SIGINT, signal.default_int_handler)
    if find_spec("torch") is None:
        given = config.option.ignore_glob or []
        config.option.ignore_glob = [*given, "/*/symclust/operators/torch/*.py"]


@pytest.fixture(scope="session")
def blobs():
    """Return 90 positive samples in three clusters, apart in distance and in direction, and their labels."""
    centers = [[20.0, 1.0, 1.0], [1.0, 20.0, 1.0], [1.0, 1.0, 20.0]]
    X, y = make_blobs(90, centers=centers, cluster_std=0.6, random_state=0)
    X = abs(X)
    X.flags.writeable = False
    return X, y


@pytest.fixture
def on_threads(monkeypatch):
    """Return a function that calls another on so many threads of ours, of BLAS and of scikit-learn.

    In this process: starting Python and importing everything takes longer than most of what is called.
    """

    def call(threads, function, *arguments):
        monkeypatch.setenv("OMP_NUM_THREADS", str(threads))
        before = _kernels.max_threads()
        _kernels._module.set_default_threads(threads)
        try:
            with threadpool_limits(threads), warnings.catch_warnings():
                return function(*arguments)
        finally:
            _kernels._module.set_default_threads(before)

    return call


@pytest.fixture
def printed_on(on_threads):
    """Return a function that runs a program on so many threads, and returns what it prints."""

    def run(threads, program):
        with redirect_stdout(io.StringIO()) as text:
            on_threads(threads, exec, program, {"__name__": "program"})
        return text.getvalue()

    return run


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
