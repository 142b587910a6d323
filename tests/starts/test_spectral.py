"""The spectral start is (nearly) the solution where clusters are separate."""

import numpy as np
import pytest
import scipy.sparse as sp
from numpy.testing import assert_allclose

from symclust.objectives import Frobenius
from symclust.operators import Dense, Gram, Sparse
from symclust.starts import Spectral


def cliques(sizes, dtype=np.float64):
    return sp.block_diag([np.ones((m, m)) for m in sizes]).toarray().astype(dtype)


@pytest.mark.parametrize("dtype", [np.float32, np.float64])
@pytest.mark.parametrize("form", [Dense, lambda A: Sparse(sp.csr_array(A)), "gram"])
@pytest.mark.parametrize("sizes", [(3, 4, 5), (30, 30, 40), (7,)])
def test_separate_cliques_are_found(sizes, form, dtype):
    A, Z = cliques(sizes, dtype), np.repeat(np.eye(len(sizes), dtype=dtype), sizes, axis=0)
    H = Spectral().factor(Frobenius(Gram(Z) if form == "gram" else form(A)), len(sizes))
    assert H.dtype == dtype
    assert H.shape == (sum(sizes), len(sizes))
    assert_allclose(H @ H.T, A, atol=5e-3)
    labels = H.argmax(axis=1)
    truth = np.repeat(np.arange(len(sizes)), sizes)
    assert len(set(zip(labels, truth, strict=True))) == len(sizes)


def test_every_entry_is_positive_so_that_any_solver_can_move_it():
    A = np.random.default_rng(0).uniform(size=(30, 30))
    assert Spectral().factor(Frobenius(Dense(A + A.T)), 4).min() > 0


def test_repeats_to_the_bit_whatever_the_random_numbers():
    A = np.random.default_rng(0).uniform(size=(90, 90))
    operator = Sparse(sp.csr_array(A + A.T))
    one = Spectral().factor(Frobenius(operator), 3, np.random.RandomState(0))
    assert np.array_equal(one, Spectral().factor(Frobenius(operator), 3, np.random.RandomState(1)))


def test_negative_eigenvalues_are_left_out():
    A = 1.0 - np.eye(2)  # eigenvalues 1 and −1
    H = Spectral().factor(Frobenius(Dense(A)), 2)
    assert np.all(np.isfinite(H))
    assert H.min() >= 0
