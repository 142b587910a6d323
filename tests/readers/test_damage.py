"""Whatever is in a file, it is read or refused in our own words, never with an error of some library."""

import gzip
import io
import json
import re
import tracemalloc
from functools import cache
from pathlib import Path
from shutil import rmtree
from tempfile import mkdtemp

import anndata
import networkx as nx
import numpy as np
import pandas as pd
import pytest
import scipy.io
import scipy.sparse as sp
from hypothesis import example, given, settings
from hypothesis import strategies as st
from skimage.io import imsave

from symclust.exceptions import InputError, OptionError, SymclustError
from symclust.readers import read_described

TABLE = pd.DataFrame({"name": ["ann", "bob"], "a": [1.5, 2], "b": [3, 4]})


@cache
def whole():
    """Return the bytes of a small, sound file of each format."""
    folder = Path(mkdtemp())
    graph = nx.path_graph(4)
    TABLE.to_csv(folder / "a.csv", index=False)
    TABLE.to_parquet(folder / "a.parquet")
    np.save(folder / "a.npy", np.eye(3))
    sp.save_npz(folder / "a.npz", sp.eye_array(3).tocsr())
    scipy.io.mmwrite(folder / "a.mtx", sp.eye_array(3))
    nx.write_graphml(graph, folder / "a.graphml")
    nx.write_gml(graph, folder / "a.gml")
    nx.write_gexf(graph, folder / "a.gexf")
    nx.write_pajek(graph, folder / "a.net")
    nx.write_edgelist(graph, folder / "a.edges", data=False)
    nx.write_edgelist(graph, folder / "b.edges")
    (folder / "b.json").write_text(json.dumps(nx.node_link_data(graph)))
    TABLE.to_json(folder / "a.json", orient="records")
    TABLE.to_excel(folder / "a.xlsx", index=False)
    (folder / "a.jsonl").write_text('{"id": 1, "text": "one"}\n{"id": 2, "text": "two"}\n')
    (folder / "a.txt").write_text("The first one.\nAnd another\n")
    for name in ("a.csv", "a.npy", "a.npz", "a.mtx", "a.jsonl"):
        (folder / f"{name}.gz").write_bytes(gzip.compress((folder / name).read_bytes()))
    anndata.AnnData(np.eye(3)).write_h5ad(folder / "a.h5ad")
    imsave(folder / "a.png", np.zeros((4, 4), dtype=np.uint8), check_contrast=False)
    content = {path.name: path.read_bytes() for path in folder.iterdir()}
    rmtree(folder)
    return content


def read_or_refuse(path, **options):
    try:
        read_described(path, **options)
    except SymclustError as error:
        assert len(str(error)) > 20


NUMBERS = (0, -1, 2**31, 2**32, 2**40, 2**63, 10**30, "9" * 5000, "1e400", "nan", "-inf")
NESTS = (b"[" * 50_000, b'{"a":' * 50_000, b"<node>" * 2000, b"(" * 9000, b"graph [ " * 5000)


def numbers_in(content):
    return [match.span() for match in re.finditer(rb"\d+", content)]


def mutated(content, name, rng):
    """Return a file with some damage: bytes that changed, came or went, sizes and nesting without measure."""
    packed = name.endswith(".gz") and rng.random() < 0.7  # else the damage is to gzip's own bytes
    content = bytearray(gzip.decompress(content) if packed else content)
    for _ in range(rng.integers(1, 5)):
        place, other = sorted(rng.integers(0, len(content) + 1, 2).tolist())
        match rng.integers(7):
            case 0 if place < len(content):
                content[place] = rng.integers(256)
            case 1:
                del content[max(place, 1) :]
            case 2:
                content[place:place] = rng.bytes(rng.integers(1, 7))
            case 3:
                content[place:other] = content[place:other] * int(rng.integers(3))
            case 4:
                content[place:place] = NESTS[rng.integers(len(NESTS))]
            case 5 if spans := numbers_in(content):
                start, stop = spans[rng.integers(len(spans))]
                content[start:stop] = str(NUMBERS[rng.integers(len(NUMBERS))]).encode()
            case _ if len(content) > 8:
                start = int(rng.integers(len(content) - 8))
                content[start : start + 4] = int(rng.integers(2**32)).to_bytes(4, "little")
        content = content or bytearray(b"1")
    return gzip.compress(bytes(content)) if packed else bytes(content)


def test_damaged_files_are_refused_in_our_words(tmp_path):
    rng = np.random.default_rng(0)
    names = sorted(whole())
    for number in range(900):
        name = names[number % len(names)]
        path = tmp_path / name
        path.write_bytes(mutated(whole()[name], name, rng))
        read_or_refuse(path)


@settings(max_examples=300)
@given(st.one_of(st.binary(max_size=60), st.text(st.sampled_from('ab1.,;\t \n"#%-+e{}[]:'), max_size=60)))
@example(b"\n\n")
@example('"')
@example(",,,\n,,\n")
@example("a\n")
@example("#\n%\n")
def test_any_text_is_read_or_refused(content):
    data = content if isinstance(content, bytes) else content.encode()
    for kind in ("auto", "features", "similarity", "graph", "texts"):
        with pytest.MonkeyPatch.context() as patch:
            patch.setattr("sys.stdin", io.TextIOWrapper(io.BytesIO(data)))
            read_or_refuse("-", kind=kind)


def peak_while_reading(path):
    """Return the bytes of memory that reading takes, refused or not; NumPy's arrays count too."""
    tracemalloc.start()
    read_or_refuse(path)
    peak = tracemalloc.get_traced_memory()[1]
    tracemalloc.stop()
    return peak


def test_an_array_is_unpacked_only_as_far_as_its_header_says(tmp_path):
    content = gzip.decompress(whole()["a.npy.gz"]) + bytes(120 << 20)
    (tmp_path / "a.npy.gz").write_bytes(gzip.compress(content, mtime=0))
    assert peak_while_reading(tmp_path / "a.npy.gz") < 20 << 20


def test_a_small_text_takes_little_memory_whatever_it_unpacks_to(tmp_path):
    (tmp_path / "a.csv.gz").write_bytes(gzip.compress(b"a b\n" * (30 << 20), mtime=0))
    read_or_refuse(tmp_path / "a.csv.gz")  # imports libraries
    # The budget, which is asked for and given back at once, and what was read until then.
    assert peak_while_reading(tmp_path / "a.csv.gz") < 400 << 20


def test_deep_json_in_a_file_without_an_ending_that_tells(tmp_path):
    (tmp_path / "a.txt").write_bytes(b'{"a":' + b"[" * 100_000 + b"\n")
    read_or_refuse(tmp_path / "a.txt")


def test_headers_of_arrays_are_read_only_as_far_as_they_may_reach(tmp_path):
    content = b"\x93NUMPY\x02\x00" + (50 << 20).to_bytes(4, "little") + b" " * (50 << 20)
    (tmp_path / "a.npy.gz").write_bytes(gzip.compress(content, mtime=0))
    assert peak_while_reading(tmp_path / "a.npy.gz") < 10 << 20


@pytest.mark.parametrize("encoding", ["punycode", "idna", "undefined", "rot13", "zlib", "a\0b", None, 3])
@pytest.mark.parametrize("name", ["a.csv", "a.txt", "a.jsonl", "."])
def test_encodings_that_no_file_has(name, encoding, tmp_path):
    path = tmp_path / name
    (path if name != "." else path / "a.txt").write_bytes(b"{\xe4 b, c\n1,2\n")
    with pytest.raises(OptionError, match="is not known for files"):
        read_described(path, encoding=encoding)


def test_an_empty_path_is_not_the_current_folder():
    with pytest.raises(InputError, match="The path is empty"):
        read_described("")
