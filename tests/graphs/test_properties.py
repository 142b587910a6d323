"""What holds for all data."""

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from hypothesis.extra.numpy import array_shapes, arrays
from scipy import sparse

from symclust.graphs import cosine, gaussian, nearest_neighbors, self_tuning

BUILDERS = {
    "cosine": lambda X, normalize: cosine(X, normalize=normalize),
    "cosine, neighbours": lambda X, normalize: cosine(X, 3, normalize),
    "gaussian": lambda X, normalize: gaussian(X, normalize=normalize),
    "gaussian, neighbours": lambda X, normalize: gaussian(X, 0.7, 3, normalize),
    "self-tuning": lambda X, normalize: self_tuning(X, normalize=normalize),
    "self-tuning, neighbours": lambda X, normalize: self_tuning(X, 3, normalize=normalize),
    "default": lambda X, normalize: nearest_neighbors(X, normalize=normalize),
}
# Few different values make duplicates, ties and zero rows common; the floats bring extremes.
few = st.sampled_from([0.0, 0.5, 1.0, 2.0])
samples = array_shapes(min_dims=2, max_dims=2, min_side=1, max_side=14).flatmap(
    lambda shape: (
        arrays(np.float32, shape, elements=few)
        | arrays(np.float64, shape, elements=few | st.floats(1e-100, 1e6))
    )
)
builders = pytest.mark.parametrize("build", BUILDERS.values(), ids=BUILDERS.keys())
accept_sparse = [
    name for name in BUILDERS if name not in ("gaussian", "self-tuning")
]  # these want dense samples


def dense(A):
    return A if isinstance(A, np.ndarray) else A.toarray()


@builders
@pytest.mark.filterwarnings("ignore:All similarities are 0")
@settings(max_examples=30)
@given(X=samples, normalize=st.booleans())
def test_symmetric_without_self_edges_between_zero_and_one(build, X, normalize):
    A = build(X, normalize)
    if sparse.issparse(A):
        assert A.has_canonical_format
        assert abs(A - A.T).max() == 0
    A = dense(A)
    rounding = 100 * np.finfo(A.dtype).eps
    np.testing.assert_allclose(A, A.T, rtol=rounding, atol=rounding)
    assert A.dtype == X.dtype
    assert not A.diagonal().any()
    assert A.min() >= 0
    # A degree that is small against the self-edge taken out of it keeps fewer digits.
    assert A.max() <= 1 + (1e-3 if normalize else rounding)
    if normalize and A.any():
        assert np.linalg.eigvalsh(A.astype(float)).max() == pytest.approx(1, abs=1e-4)


@builders
@settings(max_examples=15)
@given(
    seed=st.integers(0, 2**32 - 1), n=st.integers(1, 25), d=st.sampled_from([2, 15]), normalize=st.booleans()
)
def test_renumbering_the_samples_renumbers_the_graph(build, seed, n, d, normalize):
    rng = np.random.default_rng(seed)
    X = rng.random((n, d))  # in general position: ties would be broken by number
    order = rng.permutation(n)
    A = dense(build(X, normalize))
    np.testing.assert_allclose(
        dense(build(X[order], normalize)), A[np.ix_(order, order)], rtol=1e-9, atol=1e-13
    )


@pytest.mark.parametrize("name", [name for name in accept_sparse if name != "cosine"])
@settings(max_examples=40)
@given(
    seed=st.integers(0, 2**32 - 1), n=st.integers(2, 60), d=st.sampled_from([2, 9]), most=st.integers(1, 3)
)
def test_sparse_and_dense_samples_full_of_ties_give_the_same_edges(name, seed, n, d, most):
    X = np.random.default_rng(seed).integers(0, most + 1, (n, d)).astype(float)
    thin, full = BUILDERS[name](sparse.csr_array(X), False), BUILDERS[name](X, False)
    np.testing.assert_array_equal(thin.indptr, full.indptr)
    np.testing.assert_array_equal(thin.indices, full.indices)
    np.testing.assert_allclose(thin.data, full.data, rtol=1e-12)


@pytest.mark.parametrize("name", accept_sparse)
@settings(max_examples=15)
@given(seed=st.integers(0, 2**32 - 1), n=st.integers(2, 25), normalize=st.booleans())
def test_sparse_and_dense_samples_give_the_same_graph(name, seed, n, normalize):
    rng = np.random.default_rng(seed)
    X = rng.random((n, 6))
    X[:, 2:] *= rng.random((n, 4)) < 0.5
    build = BUILDERS[name]
    np.testing.assert_allclose(
        dense(build(sparse.csr_array(X), normalize)), dense(build(X, normalize)), rtol=1e-9, atol=1e-13
    )
