"""Documents come back with their names, and `topics` takes them."""

import gzip
import io
import json

import pandas as pd
import pytest

import symclust
from symclust.exceptions import InputError
from symclust.readers import read_described

TEXTS = {
    "a": "ice hockey team",
    "b": "hockey puck on ice",
    "c": "orbit of the moon",
    "d": "moon rocket in orbit",
}
LONG = [f"This is document number {i} about things that are of interest to us." for i in range(3)]


def test_a_folder_of_texts(tmp_path):
    (tmp_path / "sub").mkdir()
    for name, text in (("b.md", "bee"), ("a.txt", "ant"), ("sub/c.html", "<p>cod</p>"), (".hidden", "x")):
        (tmp_path / name).write_text(text)
    (tmp_path / "d.bin").write_bytes(b"\0\1")
    found = read_described(tmp_path)
    assert found.kind == "texts"
    assert found.data == {"a.txt": "ant", "b.md": "bee", "sub/c.html": "<p>cod</p>"}
    assert found.names == list(found.data)
    assert found.notes == ["Skipped, since text has no zero bytes: d.bin."]


@pytest.mark.parametrize("ending", [".jsonl", ".ndjson", ".jsonl.gz", ".txt"])
def test_json_lines(tmp_path, ending):
    data = "".join(json.dumps({"id": name, "text": text}) + "\n" for name, text in TEXTS.items()).encode()
    (tmp_path / f"a{ending}").write_bytes(gzip.compress(data) if ending.endswith("gz") else data)
    found = read_described(tmp_path / f"a{ending}")
    assert found.data == TEXTS
    assert found.notes == ["Texts are under the key 'text'.", "Documents are named by the key 'id'."]
    assert read_described(tmp_path / f"a{ending}", id_column=None).names[0] == "line 1"


def test_json_lines_of_strings_and_other_keys(tmp_path):
    path = tmp_path / "a.jsonl"
    path.write_text('"one"\n\n"two"\n')
    assert read_described(path).data == {"line 1": "one", "line 3": "two"}
    path.write_text("".join(json.dumps({"n": i, "story": text}) + "\n" for i, text in enumerate(LONG)))
    assert list(read_described(path).data.values()) == LONG
    assert read_described(path, text_column="story", id_column="n").names == ["0", "1", "2"]
    with pytest.raises(
        InputError, match=r"no line with the key 'body'; its keys are 'n', 'story'.*text_column"
    ):
        read_described(path, text_column="body")
    with pytest.raises(InputError, match="not every line has a value of its own under the key 'm'"):
        read_described(path, id_column="m")
    path.write_text('{"a": "x", "b": "y"}\n')
    with pytest.raises(InputError, match=r"Which key of a\.jsonl holds the texts\? It has 'a', 'b'"):
        read_described(path)


@pytest.mark.parametrize(("ending", "sep"), [(".csv", ","), (".tsv", "\t"), (".csv.gz", ";")])
@pytest.mark.parametrize("column", ["text", "Body", "abstract"])
def test_tables_with_a_text_column(tmp_path, ending, sep, column):
    path = tmp_path / f"a{ending}"
    table = pd.DataFrame(
        {"id": list(TEXTS), column: [f'{text}, "quoted"\nnext line' for text in TEXTS.values()], "y": 1}
    )
    table.to_csv(path, sep=sep, index=False)
    found = read_described(path)
    assert found.kind == "texts"
    assert found.data == dict(zip(table.id, table[column], strict=True))


def test_tables_with_long_texts_under_another_name(tmp_path):
    pd.DataFrame({"title": ["x", "y", "x"], "story": LONG}).to_csv(tmp_path / "a.csv", index=False)
    found = read_described(tmp_path / "a.csv")
    assert found.data == {"row 1": LONG[0], "row 2": LONG[1], "row 3": LONG[2]}
    assert "Texts are in column 'story'." in found.notes
    assert list(read_described(tmp_path / "a.csv", text_column="title").data.values()) == ["x", "y", "x"]
    with pytest.raises(InputError, match=r"There is no column 'body'\? It has 'title', 'story'"):
        read_described(tmp_path / "a.csv", text_column="body")


def test_one_document_per_line(tmp_path, monkeypatch):
    (tmp_path / "a.txt").write_text("The first one.\n\nAnother, somewhat longer one\n")
    found = read_described(tmp_path / "a.txt")
    assert found.data == {"line 1": "The first one.", "line 3": "Another, somewhat longer one"}
    assert found.notes == ["Each of 2 lines is a document."]
    monkeypatch.setattr("sys.stdin", io.TextIOWrapper(io.BytesIO(b"1 2\n3 4\n")))
    assert read_described("-", kind="texts").data == {"line 1": "1 2", "line 2": "3 4"}


def test_topics_take_what_is_read_and_keep_names(tmp_path):
    for name, text in TEXTS.items():
        (tmp_path / f"{name}.txt").write_text(text)
    tree = symclust.topics(symclust.read(tmp_path), 2, random_state=0)
    assert tree.names == ["a.txt", "b.txt", "c.txt", "d.txt"]
    series = pd.Series(TEXTS)
    assert symclust.topics(series, 2, random_state=0).names == list("abcd")
    assert symclust.topics(series.reset_index(drop=True), 2, random_state=0).names == ["0", "1", "2", "3"]
