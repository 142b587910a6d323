"""Arrays come back as they were saved; nothing is unpickled, and no header is believed beyond its file."""

import gzip

import numpy as np
import pytest
import scipy.io
import scipy.sparse as sp

import symclust
from symclust.exceptions import InputError, OptionError
from symclust.operators import Dense, Network, Sparse
from symclust.readers import read_described

X = np.random.default_rng(0).random((20, 3))
RING = sp.csr_array(np.roll(np.eye(12), 1, axis=0) + np.roll(np.eye(12), -1, axis=0))
SIMILARITY = np.kron(np.eye(2), np.ones((6, 6))) + 0.1


@pytest.mark.parametrize("dtype", ["float64", "float32", "int8", "uint16", "bool", ">f8"])
@pytest.mark.parametrize("order", ["C", "F"])
def test_npy(tmp_path, dtype, order):
    array = np.asarray(10 * X, dtype=dtype, order=order)
    np.save(tmp_path / "a.npy", array)
    found = read_described(tmp_path / "a.npy")
    assert (found.kind, found.data.dtype) == ("features", np.dtype(dtype))
    np.testing.assert_array_equal(found.data, array)
    (tmp_path / "a.npy.gz").write_bytes(gzip.compress((tmp_path / "a.npy").read_bytes()))
    np.testing.assert_array_equal(read_described(tmp_path / "a.npy.gz").data, array)


def test_npy_of_pairs(tmp_path):
    np.save(tmp_path / "s.npy", SIMILARITY)
    np.save(tmp_path / "w.npy", RING.toarray())
    similarity, graph = read_described(tmp_path / "s.npy"), read_described(tmp_path / "w.npy")
    assert isinstance(similarity.data, Dense)
    assert isinstance(graph.data, Network)
    assert (similarity.kind, graph.kind) == ("similarity", "graph")
    assert read_described(tmp_path / "s.npy", kind="features").data.shape == (12, 12)
    assert read_described(tmp_path / "s.npy", kind="graph").notes == [
        "Dropped 12 self-loops on the diagonal."
    ]
    symclust.SymNMF(2, random_state=0).fit(similarity.data)


@pytest.mark.parametrize("save", [np.savez, np.savez_compressed])
def test_npz_with_one_matrix_and_others_beside_it(tmp_path, save):
    save(tmp_path / "a.npz", X=X, y=np.arange(20), classes=np.array(["a", "b"]))
    found = read_described(tmp_path / "a.npz")
    np.testing.assert_array_equal(found.data, X)
    assert found.notes == ["Read 'X'; also in the file: 'y', 'classes'."]
    np.testing.assert_array_equal(read_described(tmp_path / "a.npz", key="X").data, X)


def test_npz_with_several_matrices_asks(tmp_path):
    np.savez(tmp_path / "a.npz", X=X, Z=X + 1)
    with pytest.raises(InputError, match=r"holds 2 matrices: 'X', 'Z'\. Say which one to read.*key='X'"):
        read_described(tmp_path / "a.npz")
    np.testing.assert_array_equal(read_described(tmp_path / "a.npz", key="Z").data, X + 1)
    with pytest.raises(OptionError, match=r"key='W' is not in a\.npz\. It holds 'X', 'Z'"):
        read_described(tmp_path / "a.npz", key="W")


@pytest.mark.parametrize("form", ["csr", "csc", "coo"])
def test_npz_of_scipy(tmp_path, form):
    matrix = sp.random_array((15, 7), density=0.3, rng=np.random.default_rng(0)).asformat(form)
    sp.save_npz(tmp_path / "a.npz", matrix)
    found = read_described(tmp_path / "a.npz")
    assert sp.issparse(found.data)
    np.testing.assert_array_equal(found.data.toarray(), matrix.toarray())


def test_npz_in_the_parts_of_a_sparse_matrix(tmp_path):
    parts = {"A_data": RING.data, "A_indices": RING.indices, "A_indptr": RING.indptr, "A_shape": RING.shape}
    np.savez(tmp_path / "a.npz", **parts, y=np.zeros(12))
    found = read_described(tmp_path / "a.npz")
    assert found.kind == "graph"
    np.testing.assert_array_equal(found.data.csr.toarray(), RING.toarray())
    parts["A_indices"] = RING.indices + 5
    np.savez(tmp_path / "a.npz", **parts)
    with pytest.raises(InputError, match=r"A_data, A_indices, A_indptr, A_shape of a\.npz are not the parts"):
        read_described(tmp_path / "a.npz")


@pytest.mark.parametrize("ending", [".mtx", ".mtx.gz"])
@pytest.mark.parametrize("matrix", [X, sp.random_array((9, 4), density=0.4, rng=1), (X > 0.5).astype(int)])
def test_matrix_market(tmp_path, ending, matrix):
    scipy.io.mmwrite(tmp_path / "a.mtx", matrix)
    if ending == ".mtx.gz":
        (tmp_path / "a.mtx.gz").write_bytes(gzip.compress((tmp_path / "a.mtx").read_bytes()))
    found = read_described(tmp_path / f"a{ending}")
    assert sp.issparse(found.data) == sp.issparse(matrix)
    dense = found.data.toarray() if sp.issparse(found.data) else found.data
    np.testing.assert_allclose(dense, matrix.toarray() if sp.issparse(matrix) else matrix, rtol=1e-12)


def test_symmetric_matrix_market_stays_sparse(tmp_path):
    scipy.io.mmwrite(tmp_path / "w.mtx", RING, symmetry="symmetric")
    found = read_described(tmp_path / "w.mtx")
    assert found.kind == "graph"
    np.testing.assert_array_equal(found.data.csr.toarray(), RING.toarray())
    small = tmp_path / "path.mtx"
    small.write_text("%%MatrixMarket matrix coordinate pattern symmetric\n% three nodes\n3 3 2\n2 1\n3 2\n")
    found = read_described(small)
    assert found.data.csr.toarray().tolist() == [
        [0, 1, 0],
        [1, 0, 1],
        [0, 1, 0],
    ]  # counted from 1 in the file
    assert isinstance(read_described(small, kind="similarity").data, Sparse)


def test_content_tells_what_an_ending_does_not(tmp_path):
    np.save(tmp_path / "a.npy", X)
    (tmp_path / "a.bin").write_bytes((tmp_path / "a.npy").read_bytes())
    found = read_described(tmp_path / "a.bin")
    np.testing.assert_array_equal(found.data, X)
    assert found.notes == ["By its first bytes it is of the format npy."]


def test_pictures_in_arrays(tmp_path):
    picture = np.zeros((8, 9, 3), dtype=np.uint8)
    np.save(tmp_path / "a.npy", picture)
    assert read_described(tmp_path / "a.npy").kind == "image"
    np.save(tmp_path / "grey.npy", picture[:, :, 0])
    assert read_described(tmp_path / "grey.npy", kind="image").data.shape == (8, 9)
