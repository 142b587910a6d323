"""Tables are read as they were written, and what was guessed is told."""

import gzip
import io
import json

import numpy as np
import pandas as pd
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import symclust
from symclust.exceptions import CombinationError, InputError, OptionError
from symclust.operators import Dense, Network
from symclust.readers import read_described

PEOPLE = pd.DataFrame({"age": [29, 27, 51], "height": [1.7, 1.85, 1.66]}, index=["ann", "bob", "cem"])


def write(path, text, encoding="utf-8"):
    path.write_bytes(text.encode(encoding))
    return path


@pytest.fixture
def text(tmp_path):
    return lambda text, name="t.csv", **options: read_described(write(tmp_path / name, text), **options)


def same(found, expected):
    pd.testing.assert_frame_equal(found, expected, check_names=False, check_dtype=False)


# Round trips ------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("sep", [",", "\t", ";", "|"])
@pytest.mark.parametrize("ending", [".csv", ".tsv", ".csv.gz", ".txt", ".dat", ".TXT"])
def test_delimited_text_comes_back_with_its_names(tmp_path, sep, ending):
    path = tmp_path / f"people{ending}"
    PEOPLE.to_csv(path, sep=sep, index_label="name")
    found = read_described(path)
    same(found.data, PEOPLE)
    assert (found.kind, found.names) == ("features", ["ann", "bob", "cem"])


def test_parquet_comes_back_with_its_names(tmp_path):
    PEOPLE.to_parquet(tmp_path / "a.parquet")
    PEOPLE.rename_axis("name").reset_index().to_parquet(tmp_path / "b.parquet", index=False)
    PEOPLE.reset_index(drop=True).to_parquet(tmp_path / "c.pq")
    for name in ("a.parquet", "b.parquet"):
        found = read_described(tmp_path / name)
        same(found.data, PEOPLE)
        assert found.names == ["ann", "bob", "cem"]
    assert read_described(tmp_path / "c.pq").names is None


cells = st.one_of(
    st.integers(-(2**40), 2**40), st.floats(allow_nan=False, allow_infinity=False, width=32).map(float)
)
names = st.text(
    st.characters(codec="utf-8", exclude_categories=("Cc", "Cs", "Zl", "Zp", "Zs")), min_size=1, max_size=8
)


@settings(max_examples=150)
@given(st.data())
def test_any_table_of_numbers_comes_back(data):
    n, d = data.draw(st.integers(2, 6)), data.draw(st.integers(2, 4))
    ids = data.draw(st.lists(names.map("r".__add__), min_size=n, max_size=n, unique=True))
    columns = data.draw(st.lists(names.map("c_".__add__), min_size=d, max_size=d, unique=True))
    values = data.draw(st.lists(st.lists(cells, min_size=d, max_size=d), min_size=n, max_size=n))
    table = pd.DataFrame(values, index=ids, columns=columns)
    sep = data.draw(st.sampled_from([",", "\t", ";"]))
    file = io.StringIO()
    table.to_csv(file, sep=sep, index_label="id")
    found = read_bytes(file.getvalue(), delimiter=sep, kind="features")
    assert found.data.index.tolist() == found.names == ids
    assert found.data.columns.tolist() == columns
    np.testing.assert_allclose(found.data.to_numpy(dtype=float), table.to_numpy(dtype=float), rtol=1e-12)


@settings(max_examples=100)
@given(st.data())
def test_the_delimiter_of_numbers_is_found(data):
    n, d = data.draw(st.integers(2, 6)), data.draw(st.integers(2, 5))
    values = np.array(data.draw(st.lists(st.lists(cells, min_size=d, max_size=d), min_size=n, max_size=n)))
    sep = data.draw(st.sampled_from([",", "\t", ";", "|", " "]))
    lines = "\n".join(sep.join(repr(float(value)) for value in row) for row in values)
    found = read_bytes(lines, kind="features")
    np.testing.assert_array_equal(found.data.to_numpy(), values.astype(float))


def read_bytes(text, **options):
    """Read a text as it comes from a pipe."""
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr("sys.stdin", io.TextIOWrapper(io.BytesIO(text.encode())))
        return read_described("-", **options)


# What is guessed, and told ----------------------------------------------------------------------------------


def test_header_and_ids_are_recognised(text):
    assert text("a,b\n1,2\n3,4\n").names is None
    assert text("a,b\n1,2\n3,4\n").data.columns.tolist() == ["a", "b"]
    bare = text("1,2\n3,4\n5,6\n")
    assert bare.data.shape == (3, 2)
    assert any("no header" in note for note in bare.notes)
    assert text("ann,1,2\nbob,3,4\n").names == ["ann", "bob"]
    assert text("ID,a,b\n7,1,2\n9,3,4\n").names == [7, 9]
    assert text("sample_id,a\n007,1\n009,3\n").names == ["007", "009"]
    assert text("a,b,name\n1,2,x\n3,4,y\n").names == ["x", "y"]
    assert text("a,b\nr1,1,2\nr2,3,4\n").names == ["r1", "r2"]  # as R writes it
    assert text(',a,b\n"x, y",1,2\nz,3,4\n').names == ["x, y", "z"]


def test_an_index_that_only_counts_is_left_out(text):
    found = text(",a,b\n0,1,2\n1,3,4\n")
    assert found.names is None
    assert found.data.columns.tolist() == ["a", "b"]
    assert any("only counts" in note for note in found.notes)


def test_ids_by_name_number_or_not_at_all(text):
    table = "a,code,b\n1,x,2\n3,y,4\n"
    assert text(table, id_column="code").names == text(table, id_column=1).names == ["x", "y"]
    assert text("id,a\n7,1\n9,2\n", id_column=None).data.columns.tolist() == ["id", "a"]


def test_the_delimiter_is_told(text):
    assert text("a;b\n1;2\n3;4\n").notes == ["Fields are separated by a semicolon."]
    assert text("a,b\n1,2\n3,4\n").notes == []
    assert text("1.5   2\n3 4.5\n", "x.txt").data.shape == (2, 2)
    assert text("a!b\n1!2\n3!4\n", delimiter="!").data.columns.tolist() == ["a", "b"]


def test_decimal_commas(text):
    found = text("name;x;y\nann;1,5;2\nbob;2,25;3\n")
    assert found.data.x.tolist() == [1.5, 2.25]
    assert "Numbers are written with a decimal comma." in found.notes


def test_other_encodings_and_line_ends(tmp_path):
    table = "name,größe\näa,1\nöb,2\n"
    for encoding in ("utf-8", "utf-8-sig", "utf-16"):
        path = tmp_path / f"{encoding}.csv"
        path.write_text(table, encoding=encoding)
        assert read_described(path).names == ["äa", "öb"]
    path = write(tmp_path / "l.csv", table.replace("\n", "\r\n"), "latin-1")
    assert read_described(path, encoding="latin-1").data.columns.tolist() == ["größe"]
    assert read_described(write(tmp_path / "r.csv", table.replace("\n", "\r"))).names == ["äa", "öb"]


def test_comments_above_a_table(text):
    assert text("# made by hand\n# twice\na,b\n1,2\n3,4\n").data.columns.tolist() == ["a", "b"]
    assert text("#a,b\n1,2\n3,4\n").data.columns.tolist() == ["a", "b"]


def test_a_delimiter_at_the_end_of_lines(text):
    found = text("a,b,\n1,2,\n3,4,\n")
    assert found.data.columns.tolist() == ["a", "b"]
    assert any("empty column" in note for note in found.notes)


def test_titles_and_footnotes_around_a_table(text):
    above = 'Title:,"Towns\n\nof one land"\nSource:,office\n=====\nTable\n'
    body = ' ,"area, km",people,\n\n"Ulm, City of",118.0,126,\nBonn,141.5,331,\n'
    body += "".join(f"town {i},{i}.5,{i},\n" for i in range(9))
    below = '=====\nFootnotes\n"1 - in thousands, rounded"\n'
    found = text(above + body + below)
    assert found.names[:3] == ["Ulm, City of", "Bonn", "town 0"]
    assert found.data.iloc[:2].to_dict("list") == {"area, km": [118, 141.5], "people": [126, 331]}
    assert found.notes[:2] == [
        "Left out the lines below the table.",
        "Left out 4 shorter lines above the table.",
    ]
    same(text(body).data, found.data)
    for end in ("tow", "Footnotes\n", "=====\nTrier,117,112\n"):  # a table that was cut off, or has two parts
        with pytest.raises(InputError, match="is ragged"):
            text(body + end)


@pytest.mark.parametrize("orient", ["records", "columns", "split", "list"])
def test_tables_in_json(tmp_path, orient):
    content = PEOPLE.rename_axis("name").reset_index() if orient in ("records", "list") else PEOPLE
    (tmp_path / "a.json").write_text(
        json.dumps(content.to_dict(orient) if orient != "columns" else content.to_dict())
    )
    found = read_described(tmp_path / "a.json")
    same(found.data, PEOPLE)
    assert found.names == ["ann", "bob", "cem"]


def test_workbooks(tmp_path):
    PEOPLE.to_excel(tmp_path / "a.xlsx", index_label="name")
    found = read_described(tmp_path / "a.xlsx")
    same(found.data, PEOPLE)
    assert (found.kind, found.names) == ("features", ["ann", "bob", "cem"])


@pytest.mark.parametrize("row", [1, 2, 250])
@pytest.mark.parametrize("fields", ["7,8", "7,8,9,10", "7", "7,8,9,10,11"])
@pytest.mark.parametrize("quoted", [False, True])
def test_one_row_of_another_width_is_found_wherever_it_is(text, row, fields, quoted):
    rows = [f'"{i}",{i + 1},{i + 2}' if quoted else f"{i},{i + 1},{i + 2}" for i in range(300)]
    rows.insert(row, fields)
    with pytest.raises(InputError, match=rf"line {row + 2} has {fields.count(',') + 1} field"):
        text("a,b,c\n" + "\n".join(rows), kind="features")


# Text and gaps ----------------------------------------------------------------------------------------------

MIXED = "name,age,town\nann,29,Ulm\nbob,27,Bonn\ncem,51,Ulm\n"
HOLES = "name,a,b\nann,1,2\nbob,,4\ncem,3,\n"


def test_text_columns_as_told(text):
    assert text(MIXED, text_columns="drop").data.columns.tolist() == ["age"]
    made = text(MIXED, text_columns="one_hot")
    assert made.data.columns.tolist() == ["age", "town=Bonn", "town=Ulm"]
    assert made.data["town=Ulm"].tolist() == [1, 0, 1]
    assert text(MIXED, columns=["age"]).data.columns.tolist() == ["age"]
    bare = text("1,x\n2,y\n", text_columns="one_hot", id_column=None)
    assert bare.data.columns.tolist() == ["0", "1=x", "1=y"]


def test_missing_values_as_told(text):
    dropped = text(HOLES, missing="drop_rows")
    assert dropped.data.index.tolist() == dropped.names == ["ann"]
    assert any("Left out 2 of 3 rows" in note for note in dropped.notes)
    same(
        text(HOLES, missing="mean").data,
        pd.DataFrame({"a": [1, 2, 3], "b": [2, 4, 3]}, index=["ann", "bob", "cem"]),
    )
    assert text(HOLES.replace("3,", "3,5"), missing="drop_columns").data.columns.tolist() == ["b"]
    for word in ("NA", "nan", "?", "null"):
        assert text(f"a,b\n1,2\n{word},4\n", missing="drop_rows").data.shape == (1, 2)


def test_a_column_without_any_value_has_no_mean(text):
    found = text("a,b\n1,\n2,\n", missing="mean")
    assert found.data.columns.tolist() == ["a"]


def test_text_has_no_mean(text):
    with pytest.raises(CombinationError, match=r"missing='mean' is not possible.*'town'"):
        text(MIXED.replace("Bonn", ""), missing="mean", text_columns="one_hot")


def test_flags_are_numbers(text):
    assert text("a,b\nTrue,1\nFalse,2\n").data.a.tolist() == [1.0, 0.0]


@pytest.mark.parametrize(
    ("options", "error", "message"),
    [
        ({"columns": ["agee"]}, InputError, r"no column 'agee'\. Did you mean 'age'\?"),
        ({"id_column": "key"}, InputError, r"no column 'key'\. It has 'name', 'age', 'town'"),
        ({"text_columns": "keep"}, OptionError, "text_columns='keep' is not known"),
        ({"missing": "zero"}, OptionError, "missing='zero' is not known"),
        ({"header": "yes"}, OptionError, "header='yes' must be True, False or 'auto'"),
        ({"delimiter": ", "}, OptionError, "delimiter=', ' must be a single character"),
        ({"encoding": "utf-99"}, OptionError, "encoding='utf-99' is not known"),
        ({"key": "X"}, OptionError, "key='X' is not an option for t.csv, which is read as table"),
        ({"kind": "tabel"}, OptionError, "kind='tabel' is not known"),
        ({"kind": "image"}, CombinationError, "kind='image' is not possible for t.csv"),
    ],
)
def test_options_that_make_no_sense(text, options, error, message):
    with pytest.raises(error, match=message):
        text(MIXED, **options)


# Similarities -----------------------------------------------------------------------------------------------

A = np.kron(np.eye(2), np.ones((6, 6))) + 0.1
NAMES = list("abcdefghijkl")


def test_a_similarity_table_keeps_its_names(tmp_path):
    table = pd.DataFrame(A, NAMES, NAMES)
    table.to_csv(tmp_path / "s.csv")
    table.to_parquet(tmp_path / "s.parquet")
    table.iloc[::-1].to_csv(tmp_path / "turned.csv")
    for name in ("s.csv", "s.parquet"):
        found = read_described(tmp_path / name)
        assert (found.kind, found.names) == ("similarity", NAMES)
        same(found.data, table)
        assert sorted(symclust.SymNMF(2, random_state=0).fit(found.data).communities()) == [
            NAMES[:6],
            NAMES[6:],
        ]
    turned = read_described(tmp_path / "turned.csv")
    same(turned.data, table.iloc[::-1, ::-1])


def test_a_similarity_table_with_numbers_for_names(tmp_path):
    numbers = list(range(101, 113))
    pd.DataFrame(A, numbers, numbers).to_csv(tmp_path / "s.csv")
    found = read_described(tmp_path / "s.csv")
    assert (found.kind, found.names) == ("similarity", numbers)
    assert found.data.columns.tolist() == numbers


def test_square_tables_without_names(tmp_path):
    np.savetxt(tmp_path / "s.csv", A, delimiter=",")
    np.savetxt(tmp_path / "w.csv", np.kron(np.eye(2), 1 - np.eye(6)), delimiter=",")
    assert isinstance(read_described(tmp_path / "s.csv").data, Dense)
    graph = read_described(tmp_path / "w.csv")
    assert graph.kind == "graph"
    assert isinstance(graph.data, Network)
    assert read_described(tmp_path / "s.csv", kind="features").data.shape == (12, 12)


def test_an_adjacency_table_is_a_graph(tmp_path):
    table = pd.DataFrame(np.kron(np.eye(2), 1 - np.eye(6)), NAMES, NAMES)
    table.to_csv(tmp_path / "w.csv")
    found = read_described(tmp_path / "w.csv")
    assert (found.kind, found.names) == ("graph", NAMES)
    np.testing.assert_array_equal(found.data.csr.toarray(), table)
    assert read_described(tmp_path / "w.csv", kind="similarity").kind == "similarity"


def test_a_table_of_similarities_has_no_gaps(text):
    with pytest.raises(CombinationError, match="needs a number for every pair"):
        text(",a,b,c\na,1,2,3\nb,2,,1\nc,3,1,1\n", missing="mean")


def test_standard_input_may_be_compressed(monkeypatch):
    data = gzip.compress(b"name,a\nann,1\nbob,2\n")
    monkeypatch.setattr("sys.stdin", io.TextIOWrapper(io.BytesIO(data)))
    assert read_described("-", kind="features").names == ["ann", "bob"]
