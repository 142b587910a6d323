"""Matrices on disk: built as in memory, factored to the same bits, refused if damaged."""

import json
import os
import pickle
import signal
import subprocess
import sys
import tempfile
from pathlib import Path

import numpy as np
import pytest
import scipy.sparse as sp
from hypothesis import example, given, settings
from hypothesis import strategies as st
from numpy.testing import assert_array_equal

from symclust import SymNMF
from symclust.exceptions import InputError, InputTypeError
from symclust.graphs import normalized_cut
from symclust.operators import (
    DUPLICATES,
    OnDisk,
    Sparse,
    network_of_edges,
    number_nodes,
    save_on_disk,
    write_on_disk,
)
from symclust.operators.disk import _external_sort
from symclust.validation import check_similarity

pytestmark = pytest.mark.filterwarnings(
    "ignore::symclust.exceptions.DegenerateWarning", "ignore::symclust.exceptions.NotConvergedWarning"
)


def random_graph(n, degree=8, seed=0, dtype=np.float64):
    rng = np.random.default_rng(seed)
    A = sp.coo_array(
        (rng.uniform(0.1, 1, n * degree // 2), rng.integers(0, n, (2, n * degree // 2))), shape=(n, n)
    )
    return sp.csr_array((A + A.T).astype(dtype))


@pytest.fixture
def stored(tmp_path):
    """Return a function that puts a matrix on disk, with blocks of a few of its rows."""

    def store(A, memory_limit=20_000, name="matrix"):
        save_on_disk(A, tmp_path / name)
        return OnDisk(tmp_path / name, memory_limit=memory_limit)

    return store


# The builder ------------------------------------------------------------------------------------------------

NUMBERS = st.integers(0, 12) | st.integers(-5, 5) | st.sampled_from([10**12, -(10**15)])
TEXTS = st.sampled_from(["ann", "bob", "ç", "", "0", "cem dov"])
WEIGHTS = st.sampled_from([0.0, 1.0, 2.0, 0.1, -3.5, 1e-3])


def edge_lists():
    def of(names):
        return st.lists(st.tuples(names, names, WEIGHTS), min_size=1, max_size=120)

    return of(NUMBERS) | of(TEXTS)


def in_memory(edges, duplicates):
    source, target, w = zip(*edges, strict=True)
    i, j, names = number_nodes(source, target)
    return network_of_edges(i, j, np.array(w), names, duplicates=duplicates)


def in_chunks(edges, size):
    for first in range(0, len(edges), size):
        source, target, w = zip(*edges[first : first + size], strict=True)
        yield np.array(source), np.array(target), np.array(w)


@settings(max_examples=150)
@given(
    edges=edge_lists(),
    duplicates=st.sampled_from(DUPLICATES),
    memory_limit=st.sampled_from([1, 2000, 10**6]),
    size=st.integers(1, 50),
)
@example(edges=[("a", "b", 0.1)] * 90 + [("b", "a", 0.1)] * 90, duplicates="sum", memory_limit=1, size=7)
def test_edges_become_the_network_that_they_are_in_memory(edges, duplicates, memory_limit, size):
    with tempfile.TemporaryDirectory() as place, pytest.MonkeyPatch.context() as patch:
        patch.setattr(_external_sort, "FAN_IN", 3)  # runs are merged in several rounds
        folder = Path(place) / "network"
        try:
            expected, notes = in_memory(edges, duplicates)
        except InputError:
            with pytest.raises(InputError, match=r"listed \d+ times.*duplicates="):
                write_on_disk(
                    in_chunks(edges, size), folder, duplicates=duplicates, memory_limit=memory_limit
                )
            assert not list(Path(place).iterdir())
            return
        found = write_on_disk(
            in_chunks(edges, size), folder, duplicates=duplicates, memory_limit=memory_limit
        )
        assert list(range(found.n) if found.names is None else found.names) == expected.names
        assert_array_equal(found.indptr, expected.indptr)
        A = found._sparse_rows(slice(0, found.n))
        assert_array_equal(A.indices, expected.indices)
        assert_array_equal(A.data, expected.values)
        assert found.notes == notes
        assert found.asymmetry() == 0
        assert sorted(path.name for path in Path(place).iterdir()) == ["network"]


def test_many_edges_become_the_same_network(tmp_path):
    rng = np.random.default_rng(3)
    i, j, w = rng.integers(0, 800, 9_000), rng.integers(0, 800, 9_000), rng.uniform(size=9_000)
    expected, notes = network_of_edges(i, j, w, range(800), duplicates="sum")
    chunks = ((i[part], j[part], w[part]) for part in np.split(np.arange(9_000), 9))
    found = write_on_disk(chunks, tmp_path / "a", duplicates="sum", memory_limit=200_000)
    assert (found._sparse_rows(slice(0, 800)) != expected.csr).nnz == 0
    assert found.notes == notes


def test_weights_in_single_precision_and_default_ones(tmp_path):
    edges = [(np.array([0, 1]), np.array([1, 2]), None)]
    A = write_on_disk(edges, tmp_path / "a", dtype=np.float32)
    assert A.dtype == np.float32
    assert A.toarray().tolist() == [[0, 1, 0], [1, 0, 1], [0, 1, 0]]


def test_what_is_not_finite_is_named_by_its_place(tmp_path):
    edges = [(["a"], ["b"], [1.0]), (["b", "b"], ["c", "d"], [1.0, np.nan])]
    with pytest.raises(InputError, match=r"between 'b' and 'd' is nan \(row 3\)"):
        write_on_disk(edges, tmp_path / "a")
    assert not list(tmp_path.iterdir())


@pytest.mark.parametrize(
    ("edges", "error", "words"),
    [
        ([], InputError, "no edges"),
        ([([0], [1], None), (["a"], ["b"], None)], InputTypeError, "Give all as texts"),
        ([([0.5], [1.5], None)], InputTypeError, "whole numbers or texts; got 0.5"),
        ([([0, 1], [1], None)], InputError, "one length"),
    ],
)
def test_edges_that_are_none_are_refused(tmp_path, edges, error, words):
    with pytest.raises(error, match=words):
        write_on_disk(edges, tmp_path / "a")
    assert not list(tmp_path.iterdir())


def test_a_folder_that_is_there_is_left_alone(tmp_path):
    (tmp_path / "a").mkdir()
    with pytest.raises(InputError, match="is there already"):
        write_on_disk([([0], [1], None)], tmp_path / "a")
    with pytest.raises(InputError, match="is there already"):
        save_on_disk(sp.eye_array(3), tmp_path / "a")


def test_a_folder_is_found_from_elsewhere_and_needs_one_to_be_in(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    A = save_on_disk(sp.eye_array(3), "eye")
    monkeypatch.chdir("/")
    assert_array_equal(A @ np.ones(3), np.ones(3))
    assert_array_equal(pickle.loads(pickle.dumps(A)) @ np.ones(3), np.ones(3))
    with pytest.raises(InputError, match="in a folder that does not exist"):
        save_on_disk(sp.eye_array(3), tmp_path / "no" / "eye")


def test_names_of_any_kind_are_kept_as_texts_and_have_to_differ(tmp_path):
    A = Sparse(sp.eye_array(3).tocsr())
    A.names = [(0, 1), (0, 2), (1, 2)]
    assert save_on_disk(A, tmp_path / "pairs").names == ["(0, 1)", "(0, 2)", "(1, 2)"]
    A.names = [1, "1", 2]
    with pytest.raises(InputError, match="1 of the 3 rows have the name of another"):
        save_on_disk(A, tmp_path / "twice")
    assert not (tmp_path / "twice").exists()


def test_numbers_that_63_bits_do_not_hold_are_not_taken_for_others(tmp_path):
    large = np.array([2**63 + 5, 7], dtype=np.uint64)
    with pytest.raises(InputError, match=r"Node 9223372036854775813 .* as texts"):
        write_on_disk([(large, np.array([1, 2]), None)], tmp_path / "large")
    i, j, names = number_nodes(large, np.array([1, 2]))
    assert names == [1, 2, 7, 2**63 + 5] and i.tolist() == [3, 2] and j.tolist() == [0, 1]
    near = np.array([2**53, 2**53 + 1], dtype=np.uint64)  # the same as floats
    assert number_nodes(near, np.array([1, 2]))[2] == [1, 2, 2**53, 2**53 + 1]
    assert number_nodes(large, np.array([-1, 2]))[2] == [2**63 + 5, -1, 7, 2]


def test_names_are_kept(tmp_path):
    A = Sparse(random_graph(4, 2))
    for names in (["d", "c", "b", "a"], [3, 5, 7, 9], None):
        A.names = names
        assert save_on_disk(A, tmp_path / f"{names}").names == names


# The operator -----------------------------------------------------------------------------------------------


@pytest.mark.parametrize("dtype", [np.float32, np.float64])
def test_products_and_sums_have_the_bits_of_those_in_memory(stored, dtype):
    A = Sparse(random_graph(3000, dtype=dtype))
    B = stored(A)
    assert len(list(B.blocks())) > 10
    H = np.random.default_rng(0).uniform(size=(3000, 5)).astype(dtype)
    for a, b in ((A, B), (normalized_cut(A), normalized_cut(B))):
        assert_array_equal(a @ H, b @ H)
        assert_array_equal(a.diagonal(), b.diagonal())
        assert a.squared_norm() == b.squared_norm()
        assert a.largest() == b.largest()
        assert check_similarity(a) == check_similarity(b)


def half_still(n):
    """A graph and a start of which every tenth row moves for long; the others are at their best, zero."""
    moves = np.arange(n) % 10 == 0
    A = sp.csr_array((n, n))
    for rows, seed in ((moves, 1), (~moves, 2)):
        place = sp.eye_array(n, format="csr")[rows]
        A = A + place.T @ random_graph(rows.sum(), seed=seed) @ place
    return Sparse(A), np.random.default_rng(1).uniform(size=(n, 4)) * moves[:, None]


def fits(A, **options):
    # Of a given start, so that no method of choosing one comes in.
    H = np.random.default_rng(1).uniform(size=(A.n, 4)).astype(A.dtype)
    return SymNMF(4, affinity="precomputed", init=H, tol=1e-4, max_iter=12, **options).fit(A)


@pytest.mark.parametrize("memory_limit", [100_000, 10_000_000])
@pytest.mark.parametrize("n", [2_000, 20_000])
def test_partial_sweeps_have_the_bits_of_those_in_memory(stored, n, memory_limit):
    A, H = half_still(n)
    options = {"affinity": "precomputed", "init": H, "tol": 1e-4, "max_iter": 8, "solver": "row_descent"}
    expected, found = SymNMF(4, **options).fit(A), SymNMF(4, **options).fit(stored(A, memory_limit))
    assert_array_equal(found.membership_, expected.membership_)
    assert found.objective_ == expected.objective_


@pytest.mark.parametrize("solver", ["row_descent", "anls", "hals"])
@pytest.mark.parametrize(("n", "memory_limit"), [(700, 5_000), (20_000, 400_000), (20_000, 10_000_000)])
def test_fits_have_the_bits_of_those_in_memory(stored, solver, n, memory_limit):
    """Below and above the 8192 rows from which sweeps have several lanes; rows that move in memory or not."""
    A = Sparse(random_graph(n))
    expected, found = fits(A, solver=solver), fits(stored(A, memory_limit), solver=solver)
    assert_array_equal(found.membership_, expected.membership_)
    assert found.objective_ == expected.objective_
    assert found.n_iter_ == expected.n_iter_


def test_rows_that_still_move_are_kept_in_a_file_where_memory_ends(stored, monkeypatch):
    from symclust.operators.disk import on_disk

    kinds = []
    for name in ("ArrayEntries", "FileEntries"):
        cls = getattr(on_disk, name)
        monkeypatch.setattr(on_disk, name, lambda *args, cls=cls, name=name: kinds.append(name) or cls(*args))
    A, H = half_still(20_000)
    for limit, expected in ((100_000, "FileEntries"), (10_000_000, "ArrayEntries")):
        operator = stored(A, limit, name=expected)
        kinds.clear()
        SymNMF(4, affinity="precomputed", init=H, max_iter=3, solver="row_descent").fit(operator)
        assert set(kinds) == {expected}


def test_a_normalised_cut_and_other_starts_work(stored):
    A = stored(random_graph(500))
    for options in ({"affinity": "normalized_cut"}, {"init": "random"}, {}):
        model = SymNMF(3, random_state=0, max_iter=30, **{"affinity": "precomputed", **options}).fit(A)
        assert model.membership_.shape == (500, 3) and len(model.labels_) == 500


@pytest.mark.parametrize("options", [{"init": "merge"}, {"affinity": "normalized_cut"}], ids=str)
@pytest.mark.parametrize("dtype", [np.float32, np.float64])
def test_starts_and_the_normalised_cut_have_the_bits_of_those_in_memory(stored, options, dtype):
    A = random_graph(2_000, dtype=dtype)
    options = {"affinity": "precomputed", "init": "merge", "random_state": 0, "max_iter": 5, **options}
    given = {"affinity_params": {"of": "precomputed"}} if options["affinity"] == "normalized_cut" else {}
    expected, found = SymNMF(4, **options, **given).fit(A), SymNMF(4, **options).fit(stored(A))
    assert_array_equal(found.membership_, expected.membership_)
    assert found.objective_ == expected.objective_


@pytest.mark.parametrize("memory_limit", [2_000, 60_000])
def test_a_submatrix_is_in_memory_where_it_fits(stored, memory_limit):
    A = random_graph(1000)
    chosen = np.random.default_rng(1).permutation(1000)[:300]
    found = stored(A, memory_limit).submatrix(chosen)
    assert isinstance(found, Sparse) == (memory_limit > 50_000)
    assert_array_equal(found.toarray(), A[chosen][:, chosen].toarray())
    empty = stored(sp.csr_array((3, 3)), name="empty").submatrix(slice(0, 2))
    assert_array_equal(empty.toarray(), np.zeros((2, 2)))


def test_products_of_rows_are_done_before_another_thread_gets_their_memory(stored, monkeypatch):
    from symclust.operators.disk import on_disk

    A = random_graph(500)
    operator, H, spmm = stored(A), np.ones((500, 2)), on_disk._kernels.spmm
    operator.rows(slice(0, 100))  # leaves memory for others to use

    def interrupted(*arrays):
        for array in operator._buffers.take(1):  # as another thread would, and write into it
            array.fill(1)
        spmm(*arrays)

    monkeypatch.setattr(on_disk._kernels, "spmm", interrupted)
    assert_array_equal(operator._rows_product(slice(100, 200), H), (A @ H)[100:200])


def test_single_precision_is_measured_in_double(stored):
    H = np.kron(np.eye(3), np.ones((4, 1)))
    A = Sparse(sp.csr_array(H @ H.T, dtype=np.float32))
    models = [fits_exactly(a) for a in (A, stored(A, 100))]
    assert models[0].objective_ == models[1].objective_ < 1e-9


def fits_exactly(A):
    start = np.kron(np.eye(3), np.ones((4, 1))) + 0.1
    return SymNMF(3, affinity="precomputed", init=start, tol=1e-6).fit(A)


def test_an_operator_is_pickled_by_its_folder(stored):
    A = stored(random_graph(300)).scaled(np.linspace(1, 2, 300))
    again = pickle.loads(pickle.dumps(A))
    assert_array_equal(again @ np.ones(300), A @ np.ones(300))
    assert len(pickle.dumps(A)) < 10_000


def test_two_passes_at_once_do_not_disturb_each_other(stored):
    A = stored(random_graph(1000))
    expected = [block.values.copy() for block in A.blocks()]
    for first, second, values in zip(A.blocks(), A.blocks(), expected, strict=True):
        assert_array_equal(first.values, values)
        assert_array_equal(second.values, values)


def test_a_pass_that_is_given_up_leaves_no_thread(stored):
    import threading

    A = stored(random_graph(1000))
    blocks = A.blocks()
    next(blocks)
    blocks.close()
    assert not [thread for thread in threading.enumerate() if thread.name.startswith("symclust-read")]


def test_what_is_not_symmetric_or_negative_is_found(stored):
    A = random_graph(400)
    A.data[777] += 0.5
    operator, expected = stored(A, 4_000), Sparse(A)
    assert operator.asymmetry() == pytest.approx(0.5)
    assert sorted(operator.asymmetric_entry()) == sorted(expected.asymmetric_entry())
    with pytest.raises(InputError, match="not symmetric"):
        check_similarity(operator)
    B = random_graph(400)
    B.data *= -1
    assert stored(B, name="b").negative_entry() == Sparse(B).negative_entry()


def test_values_that_change_places_are_not_symmetric(stored):
    A = sp.csr_array(np.array([[0, 1.0, 2.0], [2.0, 0, 1.0], [1.0, 2.0, 0]]))  # the same values on both sides
    assert stored(A).asymmetry() == 1


# Damage -----------------------------------------------------------------------------------------------------


def cut_off(path):
    path.write_bytes(path.read_bytes()[:-3])


def overwrite(number, at=-1):
    def change(path):
        data = np.load(path)
        data[at] = number
        np.save(path, data)

    return change


def header_with(**changes):
    def change(path):
        path.write_text(json.dumps(json.loads(path.read_text()) | changes))

    return change


@pytest.mark.parametrize(
    ("name", "damage", "words"),
    [
        ("header.json", Path.unlink, "no file header.json"),
        ("header.json", lambda path: path.write_text("{"), "header.json .*damaged"),
        ("header.json", lambda path: path.write_text("[]"), "header.json .*damaged"),
        ("header.json", header_with(version=2), "version 2"),
        ("header.json", header_with(n=0), "n is 0"),
        ("header.json", header_with(n=299), "indptr.npy does not fit"),
        ("header.json", header_with(n_entries="1"), "n_entries is '1'"),
        ("header.json", header_with(dtype="object"), "entries are 'object'"),
        ("header.json", header_with(names="pickled"), "names or notes"),
        ("header.json", header_with(names="texts"), "names.json .*damaged"),
        ("indptr.npy", Path.unlink, "indptr.npy is missing or damaged"),
        ("indptr.npy", overwrite(0), "do not rise"),
        ("indptr.npy", overwrite(10**9, 5), "do not rise"),
        ("indices.npy", cut_off, "indices.npy does not fit"),
        ("indices.npy", overwrite(300, 9), "column numbers outside 0 to 299"),
        ("indices.npy", overwrite(-1, 9), "column numbers outside 0 to 299"),
        ("indices.npy", overwrite(299, 0), "do not increase"),
        ("values.npy", cut_off, "values.npy does not fit"),
        ("values.npy", lambda path: np.save(path, np.zeros(3)), "values.npy does not fit"),
        ("values.npy", lambda path: path.write_bytes(b"PK"), "values.npy is missing or damaged"),
        ("values.npy", overwrite(np.nan), "NaN"),
    ],
)
def test_a_damaged_folder_is_refused(stored, name, damage, words):
    folder = stored(random_graph(300)).folder
    damage(folder / name)
    with pytest.raises(InputError, match=words):
        A = OnDisk(folder, memory_limit=5000)
        check_similarity(A)
        _ = A.names


def test_a_file_that_is_cut_off_while_it_is_used_is_noticed(stored):
    A = stored(random_graph(300))
    cut_off(A.folder / "values.npy")
    with pytest.raises(InputError, match=r"values.npy (ends too early|in .* was changed)"):
        A @ np.ones(300)


def test_a_file_that_is_changed_while_it_is_used_is_noticed(stored):
    A = stored(random_graph(300))
    overwrite(2.5)(A.folder / "values.npy")
    os.utime(A.folder / "values.npy", ns=(0, 10**18))  # clocks of some file systems tick slowly
    with pytest.raises(InputError, match=r"values.npy in .* was changed while it was used"):
        A @ np.ones(300)


@pytest.mark.parametrize("solver", ["row_descent", "anls"])
@pytest.mark.parametrize("is_seen", [True, False])
def test_nan_during_a_fit_ends_it_by_the_name_of_the_file(stored, solver, is_seen):
    A = stored(random_graph(300))
    values = A.folder / "values.npy"

    def damage(progress):
        about = values.stat()
        overwrite(np.nan, 7)(values)
        os.utime(values, ns=(about.st_atime_ns, about.st_mtime_ns + is_seen))

    model = SymNMF(2, affinity="precomputed", solver=solver, init="random", callback=damage, random_state=0)
    with pytest.raises(
        InputError, match=r"values.npy in .* was changed" + ("" if is_seen else " or damaged.*nan")
    ):
        model.fit(A)


def test_a_fit_whose_objective_is_not_finite_is_refused():
    A = random_graph(50)

    def damage(progress):
        A.data[:] = np.nan

    model = SymNMF(2, affinity="precomputed", init="random", callback=damage, random_state=0)
    with pytest.raises(InputError, match=r"The objective has become nan: the matrix was changed"):
        model.fit(Sparse(A))


@pytest.mark.parametrize("kind", ["numbers", "texts"])
def test_damaged_names_are_refused(kind, tmp_path):
    ends = np.array([5, 7]) if kind == "numbers" else np.array(["ann", "bob"], dtype=object)
    A = write_on_disk([(ends, ends[::-1].copy(), None)], tmp_path / "a", duplicates="first")
    path = A.folder / ("names.npy" if kind == "numbers" else "names.json")
    content = path.read_bytes()
    path.write_bytes(
        content.replace(b"ann", b"eve") if kind == "texts" else content[:-8] + b"\x09" + bytes(7)
    )
    with pytest.raises(InputError, match=f"{path.name} in 'a' is damaged: its checksum is wrong"):
        _ = OnDisk(A.folder).names
    path.write_bytes(content.replace(b"ann", b"bob") if kind == "texts" else content[:-8] + content[-16:-8])
    header = json.loads((A.folder / "header.json").read_text())
    del header["names_crc32"]  # as older versions wrote it
    (A.folder / "header.json").write_text(json.dumps(header))
    with pytest.raises(
        InputError, match=f"{path.name} in 'a' is damaged: some rows have the name of another"
    ):
        _ = OnDisk(A.folder).names


@pytest.mark.skipif(not hasattr(signal, "SIGXFSZ"), reason="needs limits on the size of files")
def test_a_full_disk_is_named_and_leaves_nothing(tmp_path):
    """The limit is on the size of files, which fails like a full disk, in a process of its own."""
    code = """
import resource, signal, sys
import numpy as np
from pathlib import Path
from symclust.exceptions import InputError
from symclust.operators import write_on_disk, save_on_disk
import scipy.sparse as sp
signal.signal(signal.SIGXFSZ, signal.SIG_IGN)
resource.setrlimit(resource.RLIMIT_FSIZE, (10_000, 10_000))
edges = [(np.arange(5000), np.arange(5000) + 1, None)]
for build, content in ((write_on_disk, edges), (save_on_disk, sp.eye_array(5000))):
    try:
        build(content, Path(sys.argv[1]) / "a")
    except InputError as error:
        print(error)
"""
    found = subprocess.run(
        [sys.executable, "-c", code, str(tmp_path)], capture_output=True, text=True, check=True
    )
    first, second = found.stdout.splitlines()
    assert first.startswith(
        f"Building 'a' has failed in {str(tmp_path)!r}: File too large. About 500,000 bytes"
    )
    assert "are free" in second and "About 100,000 bytes" in second
    assert not list(tmp_path.iterdir())


def test_models_of_it_are_saved_without_data(stored, tmp_path):
    model = SymNMF(2, affinity="precomputed", init="random", random_state=0).fit(stored(random_graph(60)))
    with pytest.raises(InputTypeError, match="data=False"):
        model.save(tmp_path / "model")
    model.save(tmp_path / "model", data=False)
