"""GeneTable documents from all the places they may be in."""

import gzip
import json
import os
from pathlib import Path

import numpy as np
import pandas as pd
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy import sparse

from symclust.applications.topics._corpus import read_corpus
from symclust.exceptions import InputError, InputTypeError, OptionError


def read(texts, **options):
    return read_corpus(texts, **{"encoding": "utf-8", **options})


def write_lines(path, values):
    opener = gzip.open if path.suffix == ".gz" else open
    with opener(path, "wt", encoding="utf-8") as file:
        file.write("\n".join(json.dumps(value) for value in values))
    return path


@pytest.mark.parametrize("form", [list, tuple, iter, np.array, pd.Series, lambda texts: (t for t in texts)])
def test_strings_in_any_container(form):
    corpus = read(form(["a b", "c"]))
    assert (corpus.texts, corpus.names, corpus.notes) == (["a b", "c"], ["0", "1"], [])


def test_a_dict_brings_names():
    corpus = read({"first": "a b", 2: None})
    assert (corpus.texts, corpus.names) == (["a b", ""], ["first", "2"])


def test_gaps_are_empty_documents():
    assert read(["a", None, float("nan"), np.nan]).texts == ["a", "", "", ""]
    assert read(pd.Series(["a", None], dtype="string")).texts == ["a", ""]


def test_what_is_no_text_is_refused_by_its_place():
    with pytest.raises(InputTypeError, match=r"Document 1 is of type int, not a string: '7'"):
        read(["a", 7])
    with pytest.raises(InputTypeError, match="Document 0 is of type bytes"):
        read([b"a"])
    for wrong in (3, b"abc", None):
        with pytest.raises(InputTypeError, match="cannot be read from"):
            read(wrong)


@pytest.mark.parametrize("text", ["", "just one text", "x" * 10_000, "nul \0 byte"])
def test_a_string_that_is_no_path_is_taken_for_the_slip_it_is(text):
    with pytest.raises(InputError, match="Give a list of strings"):
        read(text)


def test_a_folder_is_read_in_order_without_what_is_hidden(tmp_path):
    for name in ("b.txt", "a/z.md", "a/y.txt", ".hidden.txt", ".git/config", "a/.secret"):
        path = tmp_path / name
        path.parent.mkdir(exist_ok=True)
        path.write_text(f"text of {name}", encoding="utf-8")
    corpus = read(tmp_path)
    assert corpus.names == ["a/y.txt", "a/z.md", "b.txt"]
    assert corpus.texts[0] == "text of a/y.txt"
    assert read(str(tmp_path)).names == corpus.names


def test_a_folder_with_what_is_no_text_reports_it(tmp_path):
    (tmp_path / "latin.txt").write_bytes("café".encode("latin-1"))
    (tmp_path / "model.pkl").write_bytes(b"\x80\x04\0\0")
    (tmp_path / "marked.txt").write_bytes(b"\xef\xbb\xbfmarked")
    corpus = read(tmp_path)
    assert corpus.texts == ["caf\ufffd", "marked"]
    assert corpus.notes == [
        "Skipped, since text has no zero bytes: model.pkl.",
        "Bytes that are not utf-8 were replaced by U+FFFD in latin.txt.",
    ]
    assert read(tmp_path, encoding="latin-1").texts[0] == "café"


@pytest.mark.skipif(not hasattr(os, "symlink"), reason="no links on this system")
def test_links_are_not_followed(tmp_path):
    (tmp_path / "outside.txt").write_text("secret")
    folder = tmp_path / "folder"
    folder.mkdir()
    (folder / "inside.txt").write_text("inside")
    (folder / "link.txt").symlink_to(tmp_path / "outside.txt")
    (folder / "loop").symlink_to(tmp_path, target_is_directory=True)
    assert read(folder).names == ["inside.txt"]


def test_an_empty_folder_and_an_unknown_file_are_refused(tmp_path):
    with pytest.raises(InputError, match="There are no text files below"):
        read(tmp_path)
    (tmp_path / "model.npz").write_bytes(b"PK")
    with pytest.raises(InputError, match=r"neither a folder nor a \.jsonl file"):
        read(tmp_path / "model.npz")


@pytest.mark.parametrize("name", ["docs.jsonl", "docs.jsonl.gz", "DOCS.NDJSON"])
def test_json_lines(tmp_path, name):
    path = write_lines(
        tmp_path / name, [{"text": "eins"}, "zwei", {"text": None}, {"other": 1}, {"text": "fünf"}]
    )
    corpus = read(path)
    assert corpus.texts == ["eins", "zwei", "", "", "fünf"]
    assert corpus.names == [f"line {i}" for i in range(1, 6)]


def test_json_lines_with_another_key_and_blank_lines(tmp_path):
    path = tmp_path / "docs.jsonl"
    path.write_text('{"body": "a"}\n\n   \n{"body": "b"}\n')
    assert read(path, text_key="body").names == ["line 1", "line 4"]
    with pytest.raises(InputError, match="no line with the key 'text'; its keys are 'body'"):
        read(path)


def test_json_lines_that_are_damaged(tmp_path):
    path = tmp_path / "docs.jsonl"
    path.write_bytes(b'{"text": "a"}\n{"text": ')
    with pytest.raises(InputError, match=r"Line 2 of docs\.jsonl is not JSON"):
        read(path)
    path.write_bytes(b'{"text": ["a"]}')
    with pytest.raises(InputError, match=r"line 1 of .* holds a list, not a string, under the key 'text'"):
        read(path)
    path.write_bytes(b'{"text": "caf\xe9"}')
    assert "line 1" in read(path).notes[0]
    path.write_bytes(b"[" * 100_000)
    with pytest.raises(InputError, match="is not JSON"):
        read(path)
    packed = tmp_path / "docs.jsonl.gz"
    packed.write_bytes(gzip.compress(b'{"text": "a"}' * 100)[:-20])
    with pytest.raises(InputError, match="was cut off"):
        read(packed)
    with pytest.raises(OptionError, match="encoding='utf-99'"):
        read(write_lines(path, ["a"]), encoding="utf-99")


def test_a_matrix_with_and_without_names():
    X = np.array([[1, 0], [0, 2]])
    assert read(X).terms is None
    for form in (np.array, sparse.csr_matrix, sparse.coo_array):
        corpus = read(form(X), feature_names=["ice", "moon"])
        assert corpus.terms == ["ice", "moon"] and corpus.texts is None
        np.testing.assert_array_equal(corpus.counts.toarray(), X)
    assert read(pd.DataFrame(X, columns=["ice", "moon"])).terms == ["ice", "moon"]
    with pytest.raises(InputError, match="feature_names has 3 names, but the matrix has 2 columns"):
        read(X, feature_names=["a", "b", "c"])
    with pytest.raises(InputError, match="belong to a matrix"):
        read(["a"], feature_names=["a"])


@given(data=st.binary(max_size=200))
@settings(max_examples=100)
def test_any_bytes_are_read_or_refused_in_words(data, tmp_path_factory):
    folder = tmp_path_factory.mktemp("bytes")
    (folder / "a.txt").write_bytes(data)
    (folder / "b.txt").write_bytes(b"b")
    assert read(folder).names[-1] == "b.txt"
    for name in ("a.jsonl", "a.jsonl.gz"):
        (folder / name).write_bytes(data)
        try:
            read(folder / name)
        except InputError as error:
            assert name in str(error)


def test_a_table_of_texts_is_no_matrix_of_counts():
    with pytest.raises(InputTypeError, match=r"its column 'body' holds texts.*table\['body'\]"):
        read(pd.DataFrame({"number": [1, 2], "body": ["a b", "c"]}))


@pytest.mark.parametrize("names", [{"a": 1, "b": 0}, {"a", "b"}, "ab"])
def test_names_without_the_order_of_the_columns_are_refused(names):
    """The vocabulary_ of a vectoriser maps terms to columns; its keys stand in another order."""
    with pytest.raises(InputTypeError, match=r"get_feature_names_out\(\)"):
        read(np.eye(2), feature_names=names)


def test_json_lines_may_begin_with_a_byte_order_mark(tmp_path):
    path = tmp_path / "marked.jsonl"
    path.write_bytes(b'\xef\xbb\xbf{"text": "a"}\r\n{"text": "b"}\r\n')
    assert read(path).texts == ["a", "b"]


@pytest.mark.parametrize(
    ("encoding", "words"), [("UTF-16", "to UTF-8"), (None, "encoding=None is not known")]
)
def test_encodings_that_cannot_be_read_are_refused(tmp_path, encoding, words):
    path = write_lines(tmp_path / "lines.jsonl", ["a"])
    with pytest.raises(OptionError, match=words):
        read(path, encoding=encoding)


def test_texts_come_out_composed(tmp_path):
    """An é may be one character or two; both must become the same term."""
    (tmp_path / "a.txt").write_text("e\u0301te\u0301", encoding="utf-8")
    lines = write_lines(tmp_path / "a.jsonl", ["e\u0301te\u0301"])
    for source in (["e\u0301te\u0301"], {"name": "e\u0301te\u0301"}, lines):
        assert read(source).texts == ["été"]
    lines.unlink()
    assert read(tmp_path).texts == ["été"]


def test_long_lists_of_files_are_cut_short(tmp_path):
    for number in range(7):
        (tmp_path / f"{number}.bin").write_bytes(b"\0")
    (tmp_path / "text.txt").write_text("text")
    (note,) = read(tmp_path).notes
    assert note.endswith("0.bin, 1.bin, 2.bin, 3.bin, 4.bin and 2 more.")


def test_names_of_files_in_another_encoding_can_be_shown(tmp_path):
    try:
        Path(os.fsdecode(os.fsencode(tmp_path) + b"/caf\xe9.bin")).write_bytes(b"\0")
    except (OSError, UnicodeError):
        pytest.skip("this system has no such names")
    (tmp_path / "text.txt").write_text("text")
    (note,) = read(tmp_path).notes
    assert note.encode("utf-8") and r"caf\udce9.bin" in note
