"""The kernel that walks a sparse matrix and its transpose together, against its NumPy twin."""

import numpy as np
import pytest
import scipy.sparse as sp
from hypothesis import given, settings
from hypothesis import strategies as st

from symclust import _kernels
from symclust.operators import Dense, Sparse


def twin(A):
    dense = A.toarray()
    return float(np.abs(dense - dense.T).max())


def random_matrix(seed, n, density, kind):
    rng = np.random.default_rng(seed)
    A = sp.random_array((n, n), density=density, rng=rng, format="csr")
    if kind != "free":
        A = sp.csr_array(A + A.T)
    if kind == "disturbed" and A.nnz:
        A.data[rng.integers(A.nnz)] += 0.25
    A.sum_duplicates()
    return A


@settings(max_examples=60)
@given(
    seed=st.integers(0, 2**32 - 1),
    n=st.integers(1, 12),
    density=st.floats(0, 1),
    kind=st.sampled_from(["free", "symmetric", "disturbed"]),
    dtype=st.sampled_from([np.float32, np.float64]),
    index=st.sampled_from([np.int32, np.int64]),
)
def test_kernel_equals_its_twin(seed, n, density, kind, dtype, index):
    A = random_matrix(seed, n, density, kind).astype(dtype)
    assert _kernels.asymmetry(A.indptr.astype(index), A.indices.astype(index), A.data) == twin(A)


@pytest.mark.parametrize("where", [(0, 1), (4, 0), (2, 4), (4, 3)])
def test_an_entry_without_partner_counts_in_full(where):
    A = sp.lil_array(np.diag(np.arange(1.0, 6.0)))
    A[where] = -7.0
    assert Sparse(A).asymmetry() == 7.0
    assert Dense(A.toarray()).asymmetry() == 7.0


def test_explicit_zeros_are_partners_of_nothing():
    A = sp.csr_array((np.array([0.0, 3.0, 3.0]), ([0, 1, 2], [2, 2, 1])), shape=(3, 3))
    assert Sparse(A).values.size == 3
    assert Sparse(A).asymmetry() == 0.0


@pytest.mark.parametrize("where", [(5, 600), (700, 20), (513, 512)])
def test_dense_tiles_cover_everything(where):
    A = np.zeros((701, 701), dtype=np.float32)
    A[where] = 0.5
    assert Dense(A).asymmetry() == 0.5


def survey_twin(A):
    return float(np.sum(A.astype(float) ** 2)), A.min(), A.max(), np.abs(A - A.T).max()


@settings(max_examples=40)
@given(
    seed=st.integers(0, 2**32 - 1),
    n=st.integers(1, 150),
    disturbed=st.integers(0, 3),
    dtype=st.sampled_from([np.float32, np.float64]),
)
def test_dense_kernel_equals_its_twin(seed, n, disturbed, dtype):
    rng = np.random.default_rng(seed)
    A = rng.normal(size=(n, n)).astype(dtype)
    A = A + A.T
    A[rng.integers(0, n, disturbed), rng.integers(0, n, disturbed)] += 0.25
    squares, *rest = _kernels.survey_dense(A)
    assert squares == pytest.approx(survey_twin(A)[0], rel=1e-13)
    assert rest == [float(number) for number in survey_twin(A)[1:]]


@pytest.mark.parametrize("place", [(0, 0), (3, 150), (150, 3), (199, 199)])
@pytest.mark.parametrize("value", [np.nan, np.inf, -np.inf])
def test_one_reading_sees_what_is_not_finite(place, value):
    A = np.ones((200, 200))
    A[place] = value
    assert not np.isfinite(Dense(A).squared_norm())
    assert _kernels.survey_dense(A)[1:3] == (min(value, 1.0), max(value, 1.0)) or np.isnan(value)
