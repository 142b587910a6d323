"""Gram and low-rank operators: norms without n x n, signs, and errors."""

import numpy as np
import pytest
import scipy.sparse as sp
from hypothesis import given, settings
from hypothesis import strategies as st

from symclust.exceptions import InputError, InputTypeError
from symclust.operators import Gram, LowRank, Shifted, SparseFactor


@settings(max_examples=40)
@given(
    seed=st.integers(0, 2**32 - 1),
    n=st.integers(1, 20),
    d=st.integers(0, 30),
    is_sparse=st.booleans(),
    self_edges=st.booleans(),
)
def test_norm_product_and_extremes_for_any_shape(seed, n, d, is_sparse, self_edges):
    rng = np.random.default_rng(seed)
    X = rng.normal(size=(n, d)) * (rng.uniform(size=(n, d)) < 0.4)
    s = rng.normal(size=n)
    A = s[:, None] * (X @ X.T) * s
    if not self_edges:
        np.fill_diagonal(A, 0)
    operator = Gram(sp.csr_array(X) if is_sparse else X, scale=s, self_edges=self_edges)
    H = rng.normal(size=(n, 3))
    size = max(1.0, float(((s[:, None] * X) ** 2).sum()) ** 2)
    np.testing.assert_allclose(operator @ H, A @ H, atol=1e-13 * size)
    assert operator.squared_norm() == pytest.approx((A**2).sum(), rel=1e-10, abs=1e-13 * size)
    assert operator.largest() == pytest.approx(A.max(), abs=1e-13 * size)


def test_removing_a_large_diagonal_leaves_float32_norms_accurate():
    # ‖A‖² is 1e-6 of the squared diagonal that is taken away.
    X = np.hstack([np.eye(400), np.full((400, 1), 1e-2**0.5 * 0.2236)]).astype(np.float32)
    A = X.astype(np.float64) @ X.astype(np.float64).T
    np.fill_diagonal(A, 0)
    for given_X in (X, sp.csr_array(X)):
        assert Gram(given_X, self_edges=False).squared_norm() == pytest.approx((A**2).sum(), rel=1e-7)


def test_nonnegative_factors_answer_without_looking_at_rows(monkeypatch):
    operator = Gram(np.ones((5, 2)))
    monkeypatch.setattr(Gram, "_rows", None)
    assert operator.is_nonnegative()
    assert operator.largest() == 2.0
    with pytest.raises(TypeError):
        operator.scaled([-1, 1, 1, 1, 1]).is_nonnegative()


def test_signed_factors_may_have_nonnegative_products():
    X = np.array([[-1.0, 0.5], [-2.0, 1.0]])
    assert Gram(X).is_nonnegative()
    assert not Gram(X * [[1], [-1]]).is_nonnegative()
    assert Gram(X, scale=[1, -1]).is_nonnegative() is False


def test_input_is_not_copied():
    X = np.ones((4, 2), dtype=np.float32)
    assert np.shares_memory(Gram(X)._factor.X, X)
    S = sp.csr_array(X)
    assert np.shares_memory(Gram(S)._factor.X.data, S.data)
    assert np.shares_memory(Gram(S)._factor.take(slice(1, 3)).X.data, S.data)


def test_low_rank_of_an_eigendecomposition_is_the_matrix():
    A = np.random.default_rng(0).normal(size=(30, 30))
    A = A + A.T
    values, vectors = np.linalg.eigh(A)
    np.testing.assert_allclose(LowRank(vectors, values).toarray(), A, atol=1e-12)
    np.testing.assert_allclose(LowRank(vectors).toarray(), np.eye(30), atol=1e-12)


def test_errors():
    X = np.ones((4, 2))
    with pytest.raises(InputTypeError, match="NumPy array or a SciPy sparse array, got list"):
        Gram([[1.0]])
    with pytest.raises(InputTypeError, match="use Gram"):
        LowRank(sp.eye_array(3))
    with pytest.raises(InputError, match=r"`scale`.*4.*\(2,\)"):
        Gram(X, scale=[1, 2])
    with pytest.raises(InputError, match=r"`weights`.*2.*\(4,\)"):
        LowRank(X, np.ones(4))
    with pytest.raises(InputError, match="2 dimensions"):
        Gram(np.ones(3))


@pytest.mark.parametrize("dtype", [np.float32, np.float64])
@pytest.mark.parametrize("form", [np.asarray, sp.csr_array])
def test_rows_without_similarity_to_others_are_isolated(form, dtype):
    """Their products are the diagonal subtracted from itself: zero up to rounding only."""
    rng = np.random.default_rng(0)
    X = np.kron(np.eye(50), rng.uniform(size=(1, 7))) * rng.uniform(0.1, 10, size=(50, 1))
    X = np.vstack([X, X[:1], np.zeros((1, X.shape[1]))]).astype(dtype)
    expected = np.isin(np.arange(52), [0, 50], invert=True)
    A = Gram(form(X), self_edges=False)
    for operator in (A, Shifted(A, None, 0.3), A.scaled(np.linspace(1, 2, 52)), A.submatrix(np.arange(51))):
        np.testing.assert_array_equal(operator.isolated(), expected[: operator.n])
    assert not Gram(form(X)).isolated()[:51].any()


@pytest.mark.parametrize("self_edges", [True, False])
def test_the_norm_of_sparse_data_comes_from_the_cheaper_side(self_edges, monkeypatch):
    """Many entries per row and few a column: XXᵀ has few entries, XᵀX has many."""
    X = sp.random_array((60, 4000), density=0.01, format="csr", rng=0)
    for data, other in ((X, "squared_gram"), (X.T, "squared_outer")):
        A = (data @ data.T).toarray()
        if not self_edges:
            np.fill_diagonal(A, 0)
        with monkeypatch.context() as patched:
            patched.setattr(SparseFactor, other, None)
            assert Gram(data, self_edges=self_edges).squared_norm() == pytest.approx((A**2).sum(), rel=1e-13)


def test_orthogonal_rows_have_no_norm_without_self_edges():
    X = sp.csr_array(np.diag(np.random.default_rng(0).random(30)))
    assert Gram(X, self_edges=False).squared_norm() == 0
