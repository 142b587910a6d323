"""AnnData, images, standard input, paths that are none, and libraries that are not there."""

import io
import os
import sys

import anndata
import h5py
import numpy as np
import pytest
import scipy.sparse as sp
from skimage.io import imsave

import symclust
from symclust.exceptions import InputError, InputTypeError, MissingExtraError
from symclust.readers import read_described

X = np.random.default_rng(0).poisson(3, (12, 5)).astype(np.float32)


@pytest.mark.parametrize("form", [np.asarray, sp.csr_matrix])
def test_anndata(tmp_path, form):
    adata = anndata.AnnData(form(X))
    adata.obs_names = [f"cell{i}" for i in range(12)]
    adata.var_names = [f"gene{i}" for i in range(5)]
    adata.write_h5ad(tmp_path / "a.h5ad", compression="gzip")
    found = read_described(tmp_path / "a.h5ad")
    assert (found.kind, found.names) == ("expression", list(adata.obs_names))
    assert sp.issparse(found.data.X) == sp.issparse(adata.X)
    model = symclust.NMF(2).fit(found.data)
    assert model.to_dataframe().index.tolist() == found.names
    assert model.feature_names_in_.tolist() == list(adata.var_names)


def test_anndata_does_not_follow_links_to_other_files(tmp_path):
    anndata.AnnData(X).write_h5ad(tmp_path / "a.h5ad")
    with h5py.File(tmp_path / "a.h5ad", "a") as file:
        file["uns"]["secret"] = h5py.ExternalLink("b.h5", "/x")
    with pytest.raises(InputError, match="refers to another file at 'secret'"):
        read_described(tmp_path / "a.h5ad")


@pytest.mark.parametrize("ending", [".png", ".tif", ".bmp"])
@pytest.mark.parametrize("shape", [(7, 9), (7, 9, 3)])
def test_images(tmp_path, ending, shape):
    picture = np.random.default_rng(0).integers(0, 255, shape).astype(np.uint8)
    imsave(tmp_path / f"a{ending}", picture, check_contrast=False)
    found = read_described(tmp_path / f"a{ending}")
    assert found.kind == "image"
    np.testing.assert_array_equal(found.data[..., : 3 if len(shape) == 3 else None], picture)
    (tmp_path / "nameless").write_bytes((tmp_path / f"a{ending}").read_bytes())
    if ending != ".bmp":
        np.testing.assert_array_equal(read_described(tmp_path / "nameless").data, picture)


def test_jpeg(tmp_path):
    picture = np.full((8, 8, 3), 100, dtype=np.uint8)
    imsave(tmp_path / "a.jpg", picture, check_contrast=False)
    assert abs(read_described(tmp_path / "a.jpg").data.astype(int) - 100).max() < 5


@pytest.mark.parametrize(
    ("text", "kind"),
    [("a,b\n1,2\n3,4\n", "features"), ("a b\nb c\n", "graph"), ("a text\nanother text\n", "texts")],
)
def test_standard_input(monkeypatch, text, kind):
    monkeypatch.setattr("sys.stdin", io.TextIOWrapper(io.BytesIO(text.encode())))
    found = read_described("-", kind=kind)
    assert found.kind == kind


def test_named_pipes(tmp_path):
    read_end, write_end = os.pipe()
    os.write(write_end, b"name,a\nann,1\nbob,2\n")
    os.close(write_end)
    try:
        assert read_described(f"/dev/fd/{read_end}", kind="features").names == ["ann", "bob"]
    finally:
        os.close(read_end)


@pytest.mark.parametrize(
    ("path", "error", "message"),
    [
        (None, InputTypeError, "read takes the path of a file or a folder.*got NoneType"),
        ("https://example.org/a.csv", InputError, "is an address: nothing is fetched"),
        ("/no/such/folder/a.csv", InputError, "does not exist. There is no folder '/no/such/folder'"),
        ("a\0.csv", InputError, "does not exist|cannot be a path"),
        ("/dev/zero", InputError, "is a device"),
    ],
)
def test_paths_that_are_none(path, error, message):
    with pytest.raises(error, match=message):
        read_described(path)


def test_a_slip_in_a_name_is_noticed(tmp_path):
    (tmp_path / "people.csv").write_text("a,b\n1,2\n")
    with pytest.raises(InputError, match=r"does not exist\. Did you mean 'people\.csv'\?"):
        read_described(tmp_path / "poeple.csv")


@pytest.mark.parametrize(
    ("name", "missing", "extra"),
    [
        ("a.csv", "pandas", "tables"),
        ("a.parquet", "pyarrow.parquet", "tables"),
        ("a.graphml", "networkx", "graphs"),
        ("a.png", "imageio.v3", "images"),
        ("a.h5ad", "anndata", "expression"),
    ],
)
def test_libraries_that_are_not_there_are_named(tmp_path, monkeypatch, name, missing, extra):
    (tmp_path / name).write_text("a,b\n1,2\n3,4\n")
    monkeypatch.setitem(sys.modules, missing, None)
    with pytest.raises(
        MissingExtraError, match=rf"Reading a\.\w+ needs .* pip install 'symclust\[{extra}\]'"
    ):
        read_described(tmp_path / name)
