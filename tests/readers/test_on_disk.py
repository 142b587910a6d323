"""Files of edges become the same matrix on disk as in memory, whatever the memory limit."""

import gzip
import tempfile
from pathlib import Path

import numpy as np
import pandas as pd
import pytest
from hypothesis import given
from hypothesis import strategies as st
from numpy.testing import assert_array_equal

import symclust
from symclust.exceptions import InputError
from symclust.operators import OnDisk
from symclust.readers import build_on_disk, read_described

NAMES = st.sampled_from(["0", "1", "2", "17", "300", "0042", "ann", "bob", "x-1", "çelik"])
WEIGHTS = st.sampled_from(["1", "2.5", "1e-3", "0"])


def same(A, B):
    assert list(range(A.n) if A.names is None else A.names) == B.names
    assert_array_equal(A.indptr, B.indptr)
    assert_array_equal(A.toarray(), B.csr.toarray())


@st.composite
def texts(draw):
    is_weighted = draw(st.booleans())
    names = NAMES if draw(st.booleans()) else st.integers(0, 40).map(str)
    rows = draw(st.lists(st.tuples(names, names, WEIGHTS), min_size=2, max_size=60))
    between = draw(st.sampled_from([",", "\t", " ", ";"]))
    header = draw(st.sampled_from(["", "source{0}target{0}weight\n", "# a comment\n# another\n"]))
    lines = [between.join(row if is_weighted else row[:2]) for row in rows]
    lines.insert(draw(st.integers(0, len(lines))), draw(st.sampled_from(["% note", "", lines[0]])))
    title = header.format(between) if is_weighted or "source" not in header else f"source{between}target\n"
    return title + draw(st.sampled_from(["\n", "\r\n"])).join(lines)


@given(text=texts(), memory_limit=st.sampled_from([1, 10_000, 10**6]), packed=st.booleans())
def test_texts_become_the_network_that_they_are_in_memory(text, memory_limit, packed):
    with tempfile.TemporaryDirectory() as place:
        path = Path(place) / ("friends.edges.gz" if packed else "friends.edges")
        path.write_bytes(gzip.compress(text.encode()) if packed else text.encode())
        try:
            expected = read_described(path, duplicates="max")
        except InputError:
            with pytest.raises(InputError, match=r"friends\.edges"):
                build_on_disk(path, Path(place) / "built", duplicates="max", memory_limit=memory_limit)
            return
        found = build_on_disk(path, Path(place) / "built", duplicates="max", memory_limit=memory_limit)
        same(found, expected.data)
        without_places = [[note.split("(")[0] for note in notes] for notes in (found.notes, expected.notes)]
        assert without_places[0] == without_places[1]


def test_a_name_after_many_numbers_makes_all_names_texts(tmp_path):
    lines = [f"{i} {i + 1}" for i in range(200)] + ["ann 3"]
    (tmp_path / "a.edges").write_text("\n".join(lines))
    found = build_on_disk(tmp_path / "a.edges", tmp_path / "built", memory_limit=1)
    same(found, symclust.read(tmp_path / "a.edges"))
    assert found.names[:2] == ["0", "1"]


def test_columns_are_chosen_by_name(tmp_path):
    (tmp_path / "a.csv").write_text("date,Weight,Source,Target\n1,2.5,4,7\n2,3.5,7,9\n")
    found = build_on_disk(tmp_path / "a.csv", tmp_path / "b")
    assert found.names == [4, 7, 9] and found.largest() == 3.5
    assert "Weights are in the second column, 'Weight'." in found.notes
    assert build_on_disk(tmp_path / "a.csv", tmp_path / "c", weight="date").largest() == 2
    assert build_on_disk(tmp_path / "a.csv", tmp_path / "d", weight=None).largest() == 1


@pytest.mark.parametrize("texts", [False, True])
def test_parquet_files_and_folders_of_them(tmp_path, texts):
    rng = np.random.default_rng(0)
    i, j = rng.integers(0, 50, (2, 300))
    frame = pd.DataFrame({"source": i, "target": j, "weight": rng.uniform(size=300)})
    if texts:
        frame = frame.assign(source=frame.source.map("n{}".format), target=frame.target.map("n{}".format))
    (tmp_path / "parts").mkdir()
    frame.to_parquet(tmp_path / "whole.parquet")
    frame[:120].to_parquet(tmp_path / "parts" / "0.parquet")
    frame[120:].to_parquet(tmp_path / "parts" / "1.parquet")
    frame.to_csv(tmp_path / "whole.csv", index=False)
    expected = symclust.read(tmp_path / "whole.csv", duplicates="sum")
    for name in ("whole.parquet", "parts"):
        built = tmp_path / f"built {name}"
        same(build_on_disk(tmp_path / name, built, duplicates="sum", memory_limit=5000), expected)


def test_a_folder_is_opened_by_read(tmp_path):
    (tmp_path / "a.edges").write_text("ann bob\nbob cem\ncem cem\n")
    build_on_disk(tmp_path / "a.edges", tmp_path / "built")
    found = read_described(tmp_path / "built", memory_limit=100)
    assert isinstance(found.data, OnDisk) and found.data.memory_limit == 100
    assert (found.kind, found.names) == ("graph", ["ann", "bob", "cem"])
    assert found.notes[-1] == "Dropped 1 self-loop (the first: 'cem', edge 3)."


@pytest.mark.parametrize(
    ("name", "content", "words"),
    [
        ("a.edges", b"# nothing\n", "a.edges holds no edges"),
        ("a.edges", b"ann\nbob\n", "one field per line"),
        ("a.edges", b"a b 1\nb c x\n", r"the weight in edge 2 is 'x', not a number"),
        ("a.edges", b"a b 1\nb c\n", r"a.edges is ragged"),
        ("a.edges", b"a b 1\nb c nan\n", r"a.edges: The weight .* 'b' and 'c' is nan \(edge 2\)"),
        ("a.edges", b"a b 1\na b 1\n", r"a.edges: .* listed 2 times \(edge 1 and edge 2"),
        ("a.edges", "a b\n".encode("utf-16"), "no text in UTF-8"),
        ("a.edges", b"a b\nb \xff\n", "no text in UTF-8"),
        ("a.edges.gz", gzip.compress(b"a b\n" * 9999, mtime=0)[:-30], "compressed and ends too early"),
        ("a.parquet", b"PAR1", "a.parquet is not a Parquet file"),
    ],
)
def test_what_cannot_be_read_is_named(tmp_path, name, content, words):
    (tmp_path / name).write_bytes(content)
    with pytest.raises(InputError, match=words):
        build_on_disk(tmp_path / name, tmp_path / "built")
    assert [path.name for path in tmp_path.iterdir()] == [name]


def test_gaps_in_parquet_are_named(tmp_path):
    pd.DataFrame({"source": ["a", "b"], "target": ["b", None]}).to_parquet(tmp_path / "a.parquet")
    with pytest.raises(InputError, match=r"a.parquet: edge 2 has an end of an edge without a name"):
        build_on_disk(tmp_path / "a.parquet", tmp_path / "built")
    (tmp_path / "empty").mkdir()
    with pytest.raises(InputError, match="no Parquet files in empty"):
        build_on_disk(tmp_path / "empty", tmp_path / "built")


@pytest.mark.parametrize("source", [["x", "y", "z"], [2**63 + 1, 2**64 - 1, 3]], ids=["texts", "large"])
def test_whole_numbers_beside_other_names_become_texts(tmp_path, source):
    kind = object if isinstance(source[0], str) else np.uint64
    frame = pd.DataFrame({"source": np.array(source, dtype=kind), "target": [10, 11, 12]})
    frame.to_parquet(tmp_path / "a.parquet")
    frame.to_csv(tmp_path / "a.edges", index=False, header=False, sep=" ")
    expected = [str(name) for pair in zip(source, [10, 11, 12], strict=True) for name in pair]
    for name in ("a.parquet", "a.edges"):
        found = build_on_disk(tmp_path / name, tmp_path / f"built {name}", memory_limit=1)
        assert found.names == expected
        assert_array_equal(found.degrees(), np.ones(6))
