"""The normalised cut (25) for every form of a similarity."""

import igraph
import networkx as nx
import numpy as np
import pytest
from scipy import sparse

from symclust.exceptions import InputError
from symclust.graphs import normalized_cut
from symclust.operators import Gram, Operator, as_operator


@pytest.fixture
def E():
    rng = np.random.default_rng(0)
    E = rng.random((12, 12)) * (rng.random((12, 12)) < 0.5)
    E = E + E.T
    E[3] = E[:, 3] = 0  # an isolated node
    np.fill_diagonal(E, 0)
    return E


@pytest.fixture
def expected(E):
    d = E.sum(1)
    d[3] = 1
    return E / np.sqrt(np.outer(d, d))


def test_dense_and_sparse(E, expected):
    A = normalized_cut(E)
    assert type(A) is np.ndarray
    np.testing.assert_allclose(A, expected, rtol=1e-14)
    for form in (sparse.csr_array, sparse.csr_matrix, sparse.coo_array, sparse.csc_matrix, sparse.lil_array):
        A = normalized_cut(form(E))
        assert type(A) is sparse.csr_array
        np.testing.assert_allclose(A.toarray(), expected, rtol=1e-14)


@pytest.mark.parametrize("form", [np.asarray, sparse.csr_array])
def test_the_input_is_not_changed_and_the_result_is_symmetric_to_the_bit(E, form):
    given = form(E)
    A = normalized_cut(given)
    np.testing.assert_array_equal(given.toarray() if sparse.issparse(given) else given, E)
    assert abs(A - A.T).max() == 0


def test_operators_stay_operators(E, expected):
    for operator in (as_operator(E), as_operator(sparse.csr_array(E))):
        A = normalized_cut(operator)
        assert isinstance(A, Operator)
        np.testing.assert_allclose(A.toarray(), expected, rtol=1e-13)
    X = np.random.default_rng(1).random((8, 3))
    A = normalized_cut(Gram(X))
    assert isinstance(A, Gram)
    d = (X @ X.T).sum(1)
    np.testing.assert_allclose(A.toarray(), X @ X.T / np.sqrt(np.outer(d, d)), rtol=1e-13)


def test_graphs_give_csr():
    expected = nx.to_numpy_array(nx.path_graph(5)) / np.sqrt(np.outer([1, 2, 2, 2, 1], [1, 2, 2, 2, 1]))
    for graph in (nx.path_graph(5), igraph.Graph.Ring(5, circular=False)):
        A = normalized_cut(graph)
        assert type(A) is sparse.csr_array
        np.testing.assert_allclose(A.toarray(), expected, rtol=1e-14)


def test_largest_eigenvalue_is_one(E):
    assert np.linalg.eigvalsh(normalized_cut(E)).max() == pytest.approx(1, abs=1e-12)


@pytest.mark.parametrize("form", [np.asarray, sparse.csr_array, as_operator])
def test_negative_and_lost_degrees_are_refused(form):
    with pytest.raises(InputError, match=r"1 of 3 are negative .* -2, at node 2"):
        normalized_cut(form(np.array([[0.0, 3.0, -1.0], [3.0, 0.0, -1.0], [-1.0, -1.0, 0.0]])))
    with pytest.raises(InputError, match="NaN"):
        normalized_cut(form(np.array([[0.0, np.nan], [np.nan, 0.0]])))


@pytest.mark.parametrize("dtype", [np.float32, np.float64])
def test_tiny_similarities_neither_overflow_nor_lose_symmetry(dtype):
    tiny = np.finfo(dtype).tiny
    E = np.array([[0, tiny, 0, 0], [tiny, 0, 0, 0], [0, 0, 0, tiny / 4], [0, 0, tiny / 4, 0]], dtype=dtype)
    A = normalized_cut(E)
    assert A.dtype == dtype
    np.testing.assert_allclose(A[:2, :2], [[0, 1], [1, 0]], rtol=1e-6)
    assert not A[2:].any()  # below the smallest normal number a degree counts as zero


def test_integers_become_float64_and_float32_stays(E):
    assert normalized_cut(np.ones((2, 2), dtype=int)).dtype == np.float64
    assert normalized_cut(sparse.csr_array(E.astype(np.float32))).dtype == np.float32
