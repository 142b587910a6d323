"""Tensors of PyTorch as operators, and matrices of the host whose rows are sent to a device."""

import sys
import threading
import warnings
from contextlib import nullcontext
from types import SimpleNamespace

import numpy as np
import pytest
import scipy.sparse as sp
from numpy.testing import assert_allclose, assert_array_equal

from symclust.exceptions import InputError, InputTypeError, MissingExtraError, OptionError
from symclust.operators import DenseTensor, Gram, Offloaded, OnDisk, SparseTensor, as_operator, save_on_disk
from symclust.operators.torch import offloaded as module

torch = pytest.importorskip("torch", reason="PyTorch is not installed")


def symmetric(n=30, seed=0):
    A = np.random.default_rng(seed).uniform(size=(n, n)) * (
        np.random.default_rng(1).uniform(size=(n, n)) < 0.3
    )
    return A + A.T


# Tensors ----------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("kind", ["float16", "bfloat16", "float32", "float64", "int32", "bool"])
def test_single_and_double_precision_stay_and_others_become_one_of_them(kind):
    A = torch.tensor(symmetric() > 0.5).to(getattr(torch, kind))
    for tensor, cls in ((A, DenseTensor), (A.to_sparse_csr(), SparseTensor), (A.to_sparse(), SparseTensor)):
        operator = as_operator(tensor)
        assert type(operator) is cls
        assert operator.dtype == (np.float32 if "16" in kind or kind == "float32" else np.float64)
        assert operator.given is tensor
        assert_array_equal(operator.toarray(), A.to(torch.float64).numpy())


def test_what_needs_no_copy_is_not_copied_and_another_precision_is_made_when_asked_for():
    A = torch.tensor(symmetric())
    assert as_operator(A).values.data_ptr() == A.data_ptr()
    csr = A.to_sparse_csr()
    assert as_operator(csr).values.data_ptr() == csr.values().data_ptr()
    assert as_operator(A, np.float32).dtype == np.float32


def test_a_tensor_with_gradients_is_read_without_them():
    operator = as_operator(torch.tensor(symmetric(), requires_grad=True))
    assert not (operator @ torch.ones(30)).requires_grad


def test_products_come_back_as_what_was_multiplied():
    A = symmetric()
    H = np.random.default_rng(2).uniform(size=(30, 3))
    for operator in (as_operator(torch.tensor(A)), Offloaded(A, device="cpu", memory_limit=3000)):
        assert isinstance(operator @ H, np.ndarray)
        product = operator @ torch.tensor(H)
        assert isinstance(product, torch.Tensor)
        assert_allclose(product.numpy(), A @ H)
        assert_allclose((operator @ torch.tensor(H[:, 0])).numpy(), A @ H[:, 0])
        with pytest.raises(InputError, match=r"\(30, 30\).*\(29, 2\)"):
            operator @ torch.ones(29, 2)


@pytest.mark.parametrize("layout", ["dense", "csr"])
def test_the_entry_that_is_wrong_is_found_on_the_device(layout):
    A = symmetric()
    A[4, 7], A[7, 4] = 5.0, 4.25
    A[9, 2] = A[2, 9] = -3.0
    A[11, 12], A[12, 11] = 0.5, 0.0  # in a sparse tensor: without a partner
    tensor = torch.tensor(A)
    operator = as_operator(tensor if layout == "dense" else tensor.to_sparse_csr())
    assert operator.asymmetry() == pytest.approx(0.75)
    assert set(operator.asymmetric_entry()) == {4, 7}
    assert set(operator.negative_entry()) == {2, 9}
    assert operator.largest() == 5.0
    A[7, 4] = 5.0
    tensor = torch.tensor(A)
    operator = as_operator(tensor if layout == "dense" else tensor.to_sparse_csr())
    assert operator.asymmetry() == 0.5
    assert set(operator.asymmetric_entry()) == {11, 12}


def test_what_is_no_similarity_is_refused():
    with pytest.raises(InputError, match=r"square.*\(3, 4\)"):
        as_operator(torch.ones(3, 4))
    with pytest.raises(InputTypeError, match=r"complex64.*A\.real"):
        as_operator(torch.ones(3, 3, dtype=torch.complex64))
    with pytest.raises(InputTypeError, match=r"sparse_csc.*to_sparse_csr"):
        as_operator(torch.eye(3).to_sparse_csc())
    damaged = torch.eye(3).to_sparse_csr()
    damaged.col_indices()[1] = 7
    with pytest.raises(InputError, match="damaged"):
        as_operator(damaged)


def test_csr_out_of_order_is_refused_and_coo_is_put_in_order():
    indptr, columns = torch.tensor([0, 2, 3, 4]), torch.tensor([1, 0, 0, 2])
    values = torch.tensor([1.0, 2.0, 1.0, 3.0])
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        A = torch.sparse_csr_tensor(indptr, columns, values, (3, 3))
    with pytest.raises(InputError, match="as COO"):
        as_operator(A)
    rows = torch.tensor([0, 0, 1, 2])
    coo = torch.sparse_coo_tensor(torch.stack([rows, columns]), values, (3, 3), check_invariants=True)
    assert_array_equal(as_operator(coo).toarray(), [[2, 1, 0], [1, 0, 0], [0, 0, 3]])


def test_an_empty_sparse_tensor_has_answers():
    operator = as_operator(torch.zeros(5, 5).to_sparse_csr())
    assert operator.squared_norm() == operator.largest() == operator.asymmetry() == 0
    assert operator.negative_entry() is None
    assert operator.isolated().all()
    assert_array_equal(operator.entries([0, 1], [1, 4]), 0)


# Sent by the host -------------------------------------------------------------------------------------------


@pytest.fixture
def count_sent(monkeypatch):
    sent, send = [], module._send

    def counting(block, **options):
        sent.append(block[0])
        return send(block, **options)

    monkeypatch.setattr(module, "_send", counting)
    return sent


def test_what_does_not_fit_is_sent_for_each_product_and_what_fits_once(count_sent):
    A, H = symmetric(), np.ones((30, 2))
    for limit, stays in ((2000, False), (1_000_000, True)):
        operator = Offloaded(A, device="cpu", memory_limit=limit)
        assert operator.stays == stays
        count_sent.clear()
        for _ in range(3):
            assert_allclose(operator @ H, A @ H)
        assert len(count_sent) == operator.n_blocks * (1 if stays else 3)
        rows = np.concatenate([np.arange(30)[rows] for rows in count_sent[: operator.n_blocks]])
        assert_array_equal(rows, np.arange(30))


def test_blocks_take_no_more_than_half_of_the_limit():
    A = sp.csr_array(symmetric(60))
    operator = Offloaded(A, device="cpu", memory_limit=4000)
    for rows, block in operator._blocks():
        assert block.values().numel() * 12 <= 2000
        assert_allclose(block.to_dense().numpy(), A[rows].toarray())


@pytest.mark.parametrize("dtype", [np.float32, np.float64])
def test_a_matrix_on_disk_is_streamed_and_is_the_same(tmp_path, dtype):
    A = sp.csr_array(symmetric(60).astype(dtype))
    save_on_disk(A, tmp_path / "matrix")
    operator = Offloaded(OnDisk(tmp_path / "matrix", memory_limit=3000), device="cpu", memory_limit=2500)
    assert operator.dtype == dtype and operator.n_blocks > 3
    H = np.random.default_rng(0).uniform(size=(60, 4)).astype(dtype)
    resident = as_operator(torch.tensor(A.toarray()).to_sparse_csr())
    assert_allclose(operator @ H, resident @ H, rtol=1e-6 if dtype is np.float32 else 1e-14)


def test_an_error_on_the_way_reaches_the_caller_and_leaves_no_thread(tmp_path):
    save_on_disk(sp.csr_array(symmetric(60)), tmp_path / "matrix")
    operator = Offloaded(OnDisk(tmp_path / "matrix", memory_limit=3000), device="cpu", memory_limit=2500)
    (tmp_path / "matrix" / "values.npy").write_bytes(b"")
    with pytest.raises(InputError, match="too early"):
        operator @ np.ones(60)
    blocks = Offloaded(symmetric(), device="cpu", memory_limit=2000)._blocks()
    next(blocks)
    blocks.close()
    assert not [thread for thread in threading.enumerate() if thread.name.startswith("symclust-send")]


def test_tensors_and_arrays_that_cannot_be_written_to_are_sent():
    A = symmetric()
    A.flags.writeable = False
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        assert_allclose(Offloaded(A, device="cpu") @ np.ones(30), A.sum(axis=1))
    for tensor in (torch.tensor(A), torch.tensor(A).to_sparse(), torch.tensor(A).to_sparse_csr()):
        assert_allclose(Offloaded(tensor, device="cpu") @ np.ones(30), A.sum(axis=1))


@pytest.mark.parametrize("kind", ["float16", "bfloat16"])
def test_tensors_of_half_precision_are_sent_as_single(kind):
    A = torch.tensor(symmetric() > 0.5).to(getattr(torch, kind))
    for tensor in (A, A.to_sparse(), A.to_sparse_csr()):
        operator = Offloaded(tensor, device="cpu")
        assert operator.dtype == np.float32
        assert_array_equal(operator @ np.ones(30), A.double().sum(dim=1))


def test_what_cannot_be_sent_is_refused(monkeypatch):
    with pytest.raises(OptionError, match=r"device='nowhere' cannot be used here.*'cpu'"):
        Offloaded(symmetric(), device="nowhere")
    with pytest.raises(OptionError, match="memory_limit"):
        Offloaded(symmetric(), device="cpu", memory_limit=0)
    with pytest.raises(InputTypeError, match=r"Gram.*holds none.*NumPy array"):
        Offloaded(Gram(symmetric()), device="cpu")
    monkeypatch.setitem(sys.modules, "torch", None)
    with pytest.raises(MissingExtraError, match=r"symclust\[gpu\]"):
        Offloaded(symmetric())


class Copies:
    """Stands for memory that is copied to a CUDA device; writes down what happens to it."""

    def __init__(self, log):
        self.log = log

    def to(self, device, non_blocking=False):
        self.log.append(("copy", non_blocking))
        return self

    def record_stream(self, stream):
        self.log.append(("kept for", stream))


def test_on_cuda_a_block_is_copied_from_pinned_memory_on_a_stream_of_its_own(monkeypatch):
    log = []
    stream = SimpleNamespace(synchronize=lambda: log.append("waited"))

    def on(chosen):
        log.append("own stream" if chosen is stream else "other")
        return nullcontext()

    def staged(array, pinned):
        log.append(("staged", pinned))
        return Copies(log)

    monkeypatch.setattr(torch.cuda, "Stream", lambda device: stream)
    monkeypatch.setattr(torch.cuda, "stream", on)
    monkeypatch.setattr(module, "_staged", staged)
    module._copied([np.ones(3)], torch.device("cuda"), "the products' stream")
    assert log == [
        ("staged", True),
        "own stream",
        ("copy", True),
        "waited",
        ("kept for", "the products' stream"),
    ]
