"""Whatever is in a file, it is read or refused in our own words, never with an error of some library."""

import gzip
import io
from functools import cache
from pathlib import Path
from shutil import rmtree
from tempfile import TemporaryDirectory, mkdtemp

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

from symclust.exceptions import SymclustError
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
    nx.write_edgelist(graph, folder / "a.edges", data=False)
    (folder / "a.jsonl").write_text('{"id": 1, "text": "one"}\n{"id": 2, "text": "two"}\n')
    (folder / "a.txt").write_text("The first one.\nAnd another\n")
    (folder / "a.csv.gz").write_bytes(gzip.compress((folder / "a.csv").read_bytes()))
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


@settings(max_examples=400)
@given(st.data())
def test_damaged_files_are_refused_in_our_words(data):
    name = data.draw(st.sampled_from(sorted(whole())))
    content = bytearray(whole()[name])
    for _ in range(data.draw(st.integers(1, 4))):
        place = data.draw(st.integers(0, len(content) - 1))
        match data.draw(st.sampled_from(["change", "cut", "insert"])):
            case "change":
                content[place] = data.draw(st.integers(0, 255))
            case "cut":
                del content[max(place, 1) :]
            case _:
                content[place:place] = data.draw(st.binary(min_size=1, max_size=6))
    with TemporaryDirectory() as folder:
        path = Path(folder, name)
        path.write_bytes(content)
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
