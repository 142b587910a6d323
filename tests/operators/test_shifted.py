"""The regularised similarity A − λL."""

import networkx as nx
import numpy as np
import pytest
import scipy.sparse as sp
from numpy.testing import assert_allclose

from symclust.exceptions import InputError
from symclust.operators import Dense, Shifted, Sparse

W = np.array([[0, 1, 0], [1, 0, 2], [0, 2, 0]])
L = np.diag(W.sum(axis=1)) - W


@pytest.mark.parametrize(
    "graph", [W, sp.csr_array(W), nx.from_numpy_array(W)], ids=["array", "sparse", "networkx"]
)
@pytest.mark.parametrize("dtype", [np.float32, np.float64])
def test_the_graph_may_come_in_any_form_and_takes_the_dtype_of_the_similarity(graph, dtype):
    operator = Shifted(np.ones((3, 3), dtype=dtype), graph, 0.25)
    assert operator.dtype == operator.graph.dtype == dtype
    assert_allclose(operator.toarray(), 1 - 0.25 * L)


def test_the_laplacian_has_constant_vectors_in_its_kernel():
    assert_allclose(Shifted(np.zeros((3, 3)), W, 2.0) @ np.ones(3), 0, atol=1e-15)


def test_a_submatrix_keeps_the_degrees_of_the_whole_graph():
    part = Shifted(np.zeros((3, 3)), sp.csr_array(W), 1.0).submatrix([1, 2])
    assert_allclose(part.toarray(), -L[1:, 1:])


def test_with_its_own_graph_a_product_is_taken_once():
    class Counting(Dense):
        products = 0

        def _product(self, H):
            type(self).products += 1
            return super()._product(H)

    A = Counting(W.astype(float))
    operator = Shifted(A, None, 0.5)
    before = Counting.products
    assert_allclose(operator @ np.eye(3), W - 0.5 * L)
    assert Counting.products == before + 1
    assert_allclose(operator.submatrix([1, 2]).toarray(), (W - 0.5 * L)[1:, 1:])


def test_signs():
    assert Shifted(4 * np.eye(3), W, 1.0).is_nonnegative()
    assert not Shifted(np.eye(3), W, 1.0).is_nonnegative()  # a degree of 3 against 1 on the diagonal
    assert not Shifted(4 * np.eye(3), W, -1.0).is_nonnegative()


@pytest.mark.parametrize("kind", [np.asarray, sp.csr_array])
def test_asymmetry_of_either_part_shows(kind):
    crooked = W.astype(float)
    crooked[0, 1] += 0.5
    assert Shifted(np.eye(3), kind(crooked), 2.0).asymmetry() == pytest.approx(1.0)
    assert Shifted(kind(crooked), W, 2.0).asymmetry() == pytest.approx(0.5)
    assert Shifted(kind(crooked), kind(crooked), 2.0).asymmetry() == pytest.approx(1.5)
    assert Shifted(kind(W), kind(W), 2.0).asymmetry() == 0.0


def test_errors():
    with pytest.raises(InputError, match=r"\(3, 3\).*\(4, 4\).*same nodes"):
        Shifted(np.eye(4), W, 1.0)
    with pytest.raises(InputError, match=r"float32.*float64"):
        Shifted(np.eye(3), Sparse(sp.csr_array(W.astype(np.float32))), 1.0)
    with pytest.raises(InputError, match=r"`degrees`.*\(2,\)"):
        Shifted(Dense(np.eye(3)), W, 1.0, degrees=[1, 2])
