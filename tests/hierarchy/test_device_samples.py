"""Splits on a device, here that of the processor, against those of the compiled kernels."""

import numpy as np
import pytest
import scipy.sparse as sp
from numpy.testing import assert_allclose, assert_array_equal

from symclust import HierarchicalNMF
from symclust.hierarchy import Samples
from symclust.hierarchy.topics import samples as module
from symclust.nnls import rank_two
from symclust.operators import RankTwoOnDevice, rows_of_tensor

torch = pytest.importorskip("torch", reason="PyTorch is not installed")
from symclust.operators.torch.rank_two import best_rows  # noqa: E402

pytestmark = pytest.mark.filterwarnings("ignore:Sparse CSR tensor support:UserWarning")


def documents(dtype=np.float64, seed=0):
    rng = np.random.default_rng(seed)
    X = sp.random_array((300, 60), density=0.1, rng=rng, format="csr").toarray()
    X += 0.5 * np.kron(np.eye(5), rng.random((60, 12)) < 0.4)
    return X.astype(dtype)


@pytest.fixture
def always(monkeypatch):
    """The device takes every part, and says how often."""
    calls = []
    factor = RankTwoOnDevice.factor

    def counted(self, *given):
        calls.append(self.X.device.type)
        return factor(self, *given)

    monkeypatch.setattr(module, "WORTH_A_DEVICE", 0)
    monkeypatch.setattr(RankTwoOnDevice, "factor", counted)
    return calls


@pytest.mark.parametrize("dtype", [np.float32, np.float64])
@pytest.mark.parametrize("form", [lambda X: X, lambda X: X.to_sparse_csr(), lambda X: X.to_sparse()])
def test_a_tensor_gives_the_tree_of_the_array(always, dtype, form):
    X = documents(dtype)
    there = HierarchicalNMF(5, random_state=0).fit(form(torch.tensor(X)))
    assert len(always) >= 4
    here = HierarchicalNMF(5, random_state=0).fit(X)
    assert_array_equal(there.labels_, here.labels_)
    assert there.components_.dtype == dtype
    assert_allclose(there.components_, here.components_, atol=1e-3)
    assert_array_equal(there.predict(form(torch.tensor(X))), here.labels_)
    assert_allclose(there.transform(torch.tensor(X[:5])), here.transform(X[:5]), atol=1e-2)


def test_small_parts_stay_with_the_host(monkeypatch):
    monkeypatch.setattr(RankTwoOnDevice, "factor", lambda *given: pytest.fail("was sent to the device"))
    assert HierarchicalNMF(3, random_state=0).fit(torch.tensor(documents())).n_clusters_ == 3


def test_the_iteration_is_that_of_the_kernel():
    samples = Samples.of(documents())
    C = np.random.default_rng(1).random((samples.shape[1], 2))
    there = RankTwoOnDevice(samples.rows, samples.transposed, samples.shape, "cpu")
    found = there.factor(C.copy(), 1e-6, 500, module.FIRST_PART, module.GROWTH, module.ROUNDING)
    expected = samples.factor(C.copy(), 1e-6, 500)
    assert abs(found[2] - expected[2]) <= 1
    for one, other in zip(found[:2], expected[:2], strict=True):
        assert_allclose(one, other, atol=1e-4)


@pytest.mark.parametrize(
    "G", [[[2.0, 1.0], [1.0, 2.0]], [[4.0, 2.0], [2.0, 1.0]], [[0.0, 0.0], [0.0, 3.0]], np.zeros((2, 2))]
)
def test_rows_with_two_entries(G):
    G, R = np.array(G), np.random.default_rng(0).normal(size=(50, 2))
    found = best_rows(torch.tensor(G), torch.tensor(R)).numpy()
    value = lambda X: np.einsum("ij,jk,ik->i", X, G, X) / 2 - np.sum(R * X, axis=1)  # noqa: E731
    expected = rank_two(G, R)
    bounded = (R <= 0) | (G.diagonal() > 0)  # without an end no row is best
    assert_allclose(value(found)[bounded.all(axis=1)], value(expected)[bounded.all(axis=1)], atol=1e-12)


def test_a_tensor_as_rows_of_the_host():
    X = documents()
    assert_array_equal(rows_of_tensor(torch.tensor(X)), X)
    for sparse in (torch.tensor(X).to_sparse_csr(), torch.tensor(X).to_sparse()):
        assert_array_equal(rows_of_tensor(sparse).toarray(), X)
