"""Files that cannot be read, and what each is told. The table in docs/evidence is made from these.

``python tests/readers/test_malformed.py`` writes it again.
"""

import gzip
import io
import json
import re
import zipfile
from collections.abc import Callable
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np
import pytest

from symclust.exceptions import InputError
from symclust.readers import read_described

DOCUMENT = Path(__file__).parents[2] / "docs" / "evidence" / "malformed_files.md"
BEGIN, END = "<!-- malformed files -->", "<!-- end -->"
TABLE = b"name,age,height\nann,29,1.70\nbob,27,1.85\ncem,51,1.66\n"
MARKET = b"%%MatrixMarket matrix coordinate real general\n3 3 2\n"
BOMB = gzip.compress(bytes(4 << 20), mtime=0)
MEMORY = 1 << 20  # bytes of memory that the bombs find


class Case(NamedTuple):
    what: str
    file: str
    content: bytes | Callable[[Path], None]
    message: str
    options: dict[str, Any] | None = None


def npy(array, pickled=False):
    file = io.BytesIO()
    np.save(file, array, allow_pickle=pickled)
    return file.getvalue()


def npz(**arrays):
    file = io.BytesIO()
    np.savez(file, **arrays)
    return file.getvalue()


def header_of(size):
    text = "{'descr': '<f8', 'fortran_order': False, 'shape': (2, 2), }".ljust(size) + "\n"
    return b"\x93NUMPY\x02\x00" + len(text).to_bytes(4, "little") + text.encode() + bytes(32)


def zip_bomb():
    file = io.BytesIO()
    with zipfile.ZipFile(file, "w", zipfile.ZIP_DEFLATED) as archive:
        archive.writestr("X.npy", npy(np.zeros((1024, 1024))))
    return file.getvalue()


CASES = [
    Case(
        "ragged rows",
        "people.csv",
        TABLE + b"dov,33\neve,40,1.7,5\n",
        "people.csv is ragged: line 5 has 2 fields where 3 are expected, and 1 more likewise. Fix it, or "
        "name another delimiter (delimiter=...); fields with a delimiter in them need quotes.",
    ),
    Case(
        "text among numbers",
        "people.csv",
        TABLE.replace(b"27", b"27 years"),
        "people.csv: column 'age' holds 1 text among 3 rows, the first '27 years' in row 1 ('bob'). Fix it, "
        "or say what to do: text_columns='drop' leaves such columns out, text_columns='one_hot' makes a "
        "column for each value, id_column=... takes one for names of samples, columns=[...] chooses.",
        {"text_columns": "error"},
    ),
    Case(
        "a column of text",
        "people.csv",
        b"age,town,height\n29,Ulm,1.70\n27,Bonn,1.85\n51,Ulm,1.66\n",
        "people.csv: column 'town' holds 3 texts among 3 rows, the first 'Ulm' in row 0 (from 0 on). Fix it, "
        "or say what to do: text_columns='drop' leaves such columns out, text_columns='one_hot' makes a "
        "column for each value, id_column=... takes one for names of samples, columns=[...] chooses.",
        {"text_columns": "error"},
    ),
    Case(
        "a missing value",
        "people.csv",
        TABLE.replace(b"27", b""),
        "people.csv has 1 missing value, in column 'age'; the first in row 1 ('bob') of column 'age'. Say "
        "what to do: missing='drop_rows', missing='drop_columns' or missing='mean'.",
        {"missing": "error"},
    ),
    Case(
        "an infinite value",
        "people.csv",
        TABLE.replace(b"27", b"inf"),
        "people.csv: row 1 ('bob') of column 'age' is infinite. Fix it, or leave the row or the column out.",
        {"missing": "error"},
    ),
    Case(
        "a sample without a name",
        "people.csv",
        TABLE.replace(b"bob", b""),
        "people.csv: column 'name' names the samples, but row 1 (from 0 on) has no name. Fill it in, or "
        "say id_column=None.",
        {"id_column": "name"},
    ),
    Case(
        "two samples of one name",
        "people.csv",
        TABLE.replace(b"cem", b"ann"),
        "people.csv: column 'name' names the samples, but 'ann' occurs twice, in rows 0 and 2 (from "
        "0 on). Give each sample a name of its own, or say id_column=None (no names) or "
        "id_column='...' (another column).",
        {"id_column": "name"},
    ),
    Case(
        "a header alone",
        "people.csv",
        b"name,age,height\n",
        "people.csv has a header and no rows. If its only line holds numbers or names of a sample, say "
        "header=False.",
        {"header": True},
    ),
    Case("an empty file", "people.csv", b"", "people.csv is empty: there is nothing to read."),
    Case(
        "a file that is not UTF-8",
        "people.csv",
        TABLE.replace(b"cem", b"c\xe9m"),
        "people.csv is not utf-8: line 4 holds the byte 0xe9. Say what it is, for example encoding='latin-1' "
        "or encoding='cp1252'.",
    ),
    Case(
        "something else with the ending of a table",
        "people.csv",
        b"\x89PNG\r\n\x1a\n\0\0\0\rIHDR",
        "people.csv is not text: byte 8 is zero. It begins like a file of the format 'image'. Give it the "
        "ending of its format, such as .csv, .npy, .npz, .parquet, .h5ad, .png.",
    ),
    Case(
        "a first line without an end",
        "people.csv",
        b"a," * (9 << 20),
        "The first line of people.csv is longer than 17 MB: this is not a table. Each row has a line of its "
        "own.",
    ),
    Case(
        "an asymmetric table of similarities",
        "alike.csv",
        b",a,b,c\na,1,2,0\nb,3,1,0\nc,0,0,1\n",
        "alike.csv: The similarity is not symmetric: a_ij and a_ji differ by up to 1 (entries are as large "
        "as 3), most at row 0, column 1 ('a' and 'b'): 2 against 3. Symmetrise it first, for "
        "example with (A + A.T) / 2.",
    ),
    Case(
        "distances in place of similarities",
        "far.csv",
        b",a,b,c\na,0,2,3\nb,2,0,4\nc,3,4,0\n",
        "far.csv holds a symmetric matrix, 3 × 3, with zeros on the diagonal alone, as distances have. If "
        "these are distances, turn them into similarities first, for example np.exp(-(D / np.median(D)) ** "
        "2). If not, say what they are: kind='similarity', kind='graph' or kind='features'.",
    ),
    Case(
        "a gzip file that was cut off",
        "people.csv.gz",
        gzip.compress(TABLE, mtime=0)[:-10],
        "people.csv.gz is compressed and ends too early: it was cut off. Copy or download it again.",
    ),
    Case(
        "a gzip file that fills memory",
        "people.csv.gz",
        BOMB,
        "people.csv.gz is too large: reading on after 4 MB would take 0.0252 GB of memory, of which 0.00105 "
        "GB are available. Read a part of it, or unpack it first if you trust it.",
    ),
    Case(
        "a gzip file that grows beyond measure",
        "people.csv.gz",
        gzip.compress(bytes(64 << 20), mtime=0),
        "people.csv.gz is too large: reading on after 50 MB would take 0.302 GB of memory; at most 0.288 GB "
        "are spent on a file of",
    ),
    Case(
        "an edge listed twice",
        "friends.txt",
        b"ann bob 1\nbob cem 2\nann bob 3\n",
        "friends.txt: The edge between 'ann' and 'bob' is listed 2 times (line 1 and line 3; weights 1, 3). "
        "An edge is listed once, or once from each end with the same weight. Say what to do about others: "
        "duplicates='sum', 'max' or 'first'.",
    ),
    Case(
        "an edge with two weights",
        "friends.txt",
        b"ann bob 1\nbob ann 2\nbob cem 1\n",
        "friends.txt: The edge between 'bob' and 'ann' is listed 2 times (line 1 and line 2; weights 1, 2). "
        "An edge is listed once, or once from each end with the same weight. Say what to do about others: "
        "duplicates='sum', 'max' or 'first'.",
    ),
    Case(
        "an edge without its other end",
        "friends.edges",
        b"# friends\nann bob\nbob cem\ncem\n",
        "friends.edges is ragged: line 4 has 1 field where 2 are expected. Fix it, or name another "
        "delimiter (delimiter=...); fields with a delimiter in them need quotes.",
    ),
    Case(
        "a weight that is no number",
        "friends.edges",
        b"ann bob 1\nbob cem much\n",
        "friends.edges: the weight in line 2 is 'much', not a number. Fix it, or say weight=None to give "
        "every edge the weight 1.",
    ),
    Case(
        "a weight that is missing",
        "friends.csv",
        b"source,target,weight\nann,bob,1\nbob,cem,nan\n",
        "friends.csv: The weight of the edge between 'bob' and 'cem' is nan (line 3). Every edge needs a "
        "finite number: fix it, or leave the edge out.",
    ),
    Case(
        "GraphML with a DOCTYPE",
        "friends.graphml",
        b'<?xml version="1.0"?><!DOCTYPE lolz [<!ENTITY lol "lol">]><graphml>&lol;</graphml>',
        "friends.graphml has a DOCTYPE or ENTITY declaration, which no graph needs and which lets a small "
        "file fill all memory. Remove it.",
    ),
    Case(
        "GraphML that was cut off",
        "friends.graphml",
        b'<?xml version="1.0"?><graphml><graph>',
        "friends.graphml cannot be read: no element found: line 1, column 37.",
    ),
    Case(
        "indices that count from 0",
        "a.mtx",
        MARKET + b"0 1 5\n2 2 1\n",
        "a.mtx is damaged: entry 1 is at row 0, column 1. Indices of MatrixMarket count from 1 to the size "
        "of the matrix, here 3 × 3.",
    ),
    Case(
        "MatrixMarket that was cut off",
        "a.mtx",
        MARKET.replace(b"3 3 2", b"3 3 2000") + b"1 1 5\n",
        "a.mtx is cut off: it announces 2,000 entries, for which 61 bytes are too few.",
    ),
    Case(
        "MatrixMarket that declares too many rows",
        "a.mtx",
        MARKET.replace(b"3 3 2", b"300000000 300000000 1") + b"1 1 5\n",
        "A matrix of 300,000,000 × 300,000,000, as a.mtx declares, would take 2.4 GB of memory; at most "
        "0.268 GB are spent on a file of 74 bytes. Give a file with less in it.",
    ),
    Case(
        "symmetric MatrixMarket that is not square",
        "a.mtx",
        b"%%MatrixMarket matrix array real symmetric\n0 3000000000\n",
        "a.mtx is damaged: it declares a symmetric matrix of 0 × 3,000,000,000. Symmetric ones are square.",
    ),
    Case(
        "an array of the wrong shape",
        "a.npy",
        npy(np.zeros(7)),
        "a.npy has 1 dimension, shape (7,); expected a matrix with one row per sample. Reshape it, for "
        "example array.reshape(len(array), -1).",
    ),
    Case(
        "an array that was cut off",
        "a.npy",
        npy(np.zeros((40, 40)))[:200],
        "a.npy is not an array saved by NumPy, or is damaged: Failed to read all data for array. Expected "
        "(40, 40) = 1600 elements, could only read 9 elements",
    ),
    Case(
        "an array of negative shape",
        "a.npy",
        npy(np.zeros((40, 40))).replace(b"(40, 40)", b"(-1, 40)"),
        "a.npy is not an array saved by NumPy, or is damaged: the shape (-1, 40) is negative.",
    ),
    Case(
        "a compressed array that was cut off",
        "a.npy.gz",
        gzip.compress(npy(np.random.default_rng(0).random((40, 40))), mtime=0)[:-500],
        "a.npy.gz is compressed and ends too early: it was cut off. Copy or download it again.",
    ),
    Case(
        "a pickled array",
        "a.npy",
        npy(np.array([{"a": 1}], dtype=object), pickled=True),
        "a.npy holds Python objects, which would be unpickled: that can run any code. Save numbers instead, "
        "for example numpy.save(path, array.astype(float)).",
    ),
    Case(
        "objects in an archive",
        "a.npz",
        npz(X=np.array([[None, 1]], dtype=object)),
        "X.npy of a.npz holds Python objects, which would be unpickled: that can run any code. Save numbers "
        "instead, for example numpy.save(path, array.astype(float)).",
    ),
    Case(
        "a huge header",
        "a.npy",
        header_of(100_000),
        "a.npy is not an array saved by NumPy, or is damaged: EOF: reading array header, expected 100001 "
        "bytes got 10000.",
    ),
    Case(
        "an archive that fills memory",
        "a.npz",
        zip_bomb(),
        "The array of shape (1024, 1024) and dtype float64 that X.npy of a.npz declares would take 0.00839 "
        "GB of memory, of which 0.00105 GB are available. Give a file with less in it.",
    ),
    Case(
        "a matrix in an archive that declares too many rows",
        "a.npz",
        npz(
            format=np.array(b"coo"),
            shape=np.array([400_000_000, 3]),
            data=np.ones(1),
            row=np.zeros(1, int),
            col=np.zeros(1, int),
        ),
        "A matrix of shape (400000000, 3), as a.npz declares, would take 3.2 GB of memory; at most 0.269 GB "
        "are spent on a file of",
    ),
    Case(
        "several matrices in an archive",
        "a.npz",
        npz(X=np.eye(2), Z=np.eye(3)),
        "a.npz holds 2 matrices: 'X', 'Z'. Say which one to read, for example key='X'.",
    ),
    Case(
        "NaN in an array",
        "a.npy",
        npy(np.array([[1.0, np.nan], [2.0, 3.0]])),
        "Input a.npy contains NaN. Entries concerned: 1, the first at row 0, column 1. Remove those samples "
        "or features, or fill the gaps, for example with sklearn.impute.SimpleImputer.",
    ),
    Case(
        "a graph that is not square",
        "a.npy",
        npy(np.ones((3, 2))),
        "a.npy has shape (3, 2); similarities and graphs are square, with one row and one column for each "
        "sample. Say kind='features' if its rows are samples and its columns features.",
        {"kind": "graph"},
    ),
    Case(
        "a line that is not JSON",
        "docs.jsonl",
        json.dumps({"text": "a"}).encode() + b"\n{text: b}\n",
        "Line 2 of docs.jsonl is not JSON: Expecting property name enclosed in double quotes: line 1 column "
        "2 (char 1).",
    ),
    Case(
        "JSON that is nested too deeply",
        "docs.jsonl",
        b'{"text": ' + b"[" * 100_000 + b"\n",
        "Line 1 of docs.jsonl is not JSON: maximum recursion depth exceeded",
    ),
    Case(
        "a number with thousands of digits",
        "docs.jsonl",
        b'{"id": ' + b"9" * 5000 + b', "text": "a"}\n',
        "Line 1 of docs.jsonl is not JSON: Exceeds the limit (4300 digits) for integer string conversion: "
        "value has 5000 digits",
    ),
    Case(
        "a folder without texts",
        "empty",
        lambda path: path.mkdir(),
        "There are no text files below '<folder>/empty'; hidden files and links are skipped.",
    ),
    Case(
        "an image that was cut off",
        "a.png",
        b"\x89PNG\r\n\x1a\n\0\0",
        "a.png is not an image that can be read, or is damaged:",
    ),
    Case(
        "a pickle",
        "model.pkl",
        b"\x80\x04K\x01.",
        "model.pkl: files that end in .pkl are not read. Pickles can run any code and are never opened.",
    ),
    Case(
        "a spreadsheet",
        "a.xlsx",
        b"PK\x03\x04",
        "a.xlsx is not a workbook, or is damaged: File is not a zip file.",
    ),
]


def message_of(case, folder):
    path = folder / case.file
    if callable(case.content):
        case.content(path)
    else:
        path.write_bytes(case.content)
    with pytest.raises(InputError) as caught:
        read_described(path, **(case.options or {}))
    return str(caught.value).replace(str(folder), "<folder>")


@pytest.fixture
def scarce(monkeypatch):
    """Let files find little memory, so that small ones can fill it."""
    monkeypatch.setattr("symclust.validation.memory._available_memory", lambda: MEMORY)


def needs_little_memory(case):
    return "memory" in case.what


@pytest.mark.parametrize("case", [pytest.param(case, id=case.what) for case in CASES])
def test_the_message_that_a_malformed_file_gets(case, tmp_path, request):
    if needs_little_memory(case):
        request.getfixturevalue("scarce")
    found = message_of(case, tmp_path)
    is_whole = case.message.endswith(".")  # some end in the words of a library
    assert found == case.message or (not is_whole and found.startswith(case.message))


def rows():
    shown = [(case.what, case.file, re.sub(r"[*|<>]", r"\\\g<0>", case.message)) for case in CASES]
    lines = [f"| {what} | `{file}` | {message} |" for what, file, message in shown]
    return "\n".join(
        [BEGIN, "", "| what is wrong | file | what `read` says |", "|---|---|---|", *lines, "", END]
    )


def test_the_document_shows_these_messages():
    page = DOCUMENT.read_text(encoding="utf-8")
    assert page[page.index(BEGIN) : page.index(END) + len(END)] == rows()


def test_there_are_at_least_twenty():
    assert len({case.what for case in CASES}) == len(CASES) >= 20


def test_nothing_is_left_open_or_changed(tmp_path, recwarn):
    path = tmp_path / "people.csv"
    path.write_bytes(TABLE)
    read_described(path)
    assert path.read_bytes() == TABLE
    assert not [warning for warning in recwarn if issubclass(warning.category, ResourceWarning)]


if __name__ == "__main__":
    page = DOCUMENT.read_text(encoding="utf-8")
    page = page[: page.index(BEGIN)] + rows() + page[page.index(END) + len(END) :]
    DOCUMENT.write_text(page, encoding="utf-8")
