"""Tables: CSV, TSV and other delimited text, and Parquet, as features or as similarities with names."""

from __future__ import annotations

import difflib
import itertools
import json
from dataclasses import replace
from typing import Any
from zipfile import ZipFile

import numpy as np

from symclust._optional import need
from symclust.exceptions import CombinationError, InputError, OptionError
from symclust.readers._delimited import (
    MISSING,
    Layout,
    as_names,
    is_number,
    lay_out,
    line_of,
    parse,
    take_sample,
    without_comments,
)
from symclust.readers._pairs import Described, as_network, as_similarity, describe_square, kind_of_matrix
from symclust.readers._source import FREE, Source, naming_damage
from symclust.validation import check_known, check_memory

__all__ = [
    "AUTO",
    "find_ids",
    "looks_like_header",
    "name_columns",
    "read_excel",
    "read_json",
    "read_parquet",
    "read_table",
    "take_ids",
]

TEXTS = ("auto", "error", "drop", "one_hot")
GAPS = ("auto", "error", "drop_rows", "drop_columns", "mean")
ID_NAMES = (
    "id", "ids", "name", "names", "key", "index", "identifier", "uid", "uuid", "rowname", "rownames",
    "row_names", "sample", "samples", "sample_id", "sampleid", "sample_name", "case", "case_id", "subject",
    "subject_id", "patient", "patient_id", "node", "cell", "cell_id", "barcode", "gene", "gene_id",
    "gene_name",
)  # fmt: skip
AUTO = "auto"
YEARS = (1500, 2200)
MOST_ABOVE = 6  # lines of a title above a table
OBJECTS = 16  # bytes of memory for each of JSON
BATCH = 1 << 16  # rows of a Parquet file that are read at a time
FLAGS = ("true", "false")  # which pandas reads as numbers


def read_table(
    source: Source,
    kind: str = "auto",
    delimiter: str | None = None,
    header: bool | str = AUTO,
    id_column: Any = AUTO,
    columns: Any = None,
    text_columns: str = "auto",
    missing: str = "auto",
    encoding: str = "utf-8",
) -> Described:
    """Read delimited text."""
    _check_options(header, text_columns, missing)
    data = without_comments(source.text(encoding))
    layout = lay_out(take_sample(data, source.name), source.suffix, delimiter)
    data, layout = _without_title(data, layout)
    names, has_header, notes = name_columns(layout, header, source.name)
    place, is_sure = find_ids(names if has_header else None, layout, id_column, notes, source.name)
    frame = parse(data, layout, names, has_header, {} if place is None else {place: str}, source)
    ids = None if place is None else take_ids(frame.iloc[:, place], source.name, is_sure, notes)
    frame = frame if ids is None or place is None else frame.drop(columns=frame.columns[place])
    return _finish(frame, ids, kind, columns, text_columns, missing, source.name, layout.notes + notes)


def _without_title(data: bytes, layout: Layout) -> tuple[bytes, Layout]:
    """Return a table without the shorter lines above it, if all others have one width."""
    rows, width = layout.rows, layout.width
    above = next((place for place, row in enumerate(rows) if len(row) >= width - 1), 0)
    rest = rows[above:]
    if not 0 < above <= MOST_ABOVE or len(rest) < 3 or any(len(row) != width for row in rest[1:]):
        return data, layout
    start = line_of(data, layout.delimiter, above) - 1
    notes = [*layout.notes, f"Left out {above} shorter line{'s' * (above != 1)} above the table."]
    return b"\n" * start + data.split(b"\n", start)[start], replace(layout, rows=rest, notes=notes)


def read_parquet(
    source: Source,
    kind: str = "auto",
    id_column: Any = AUTO,
    columns: Any = None,
    text_columns: str = "auto",
    missing: str = "auto",
) -> Described:
    """Read a Parquet file by pyarrow."""
    _check_options(AUTO, text_columns, missing)
    return _finish_frame(_load_parquet(source), source, kind, id_column, columns, text_columns, missing)


def read_json(
    source: Source,
    kind: str = "auto",
    id_column: Any = AUTO,
    columns: Any = None,
    text_columns: str = "auto",
    missing: str = "auto",
    encoding: str = "utf-8",
) -> Described:
    """Read a table in JSON: a list of rows, each a dict, or a dict of columns."""
    _check_options(AUTO, text_columns, missing)
    pandas, data = need("pandas", "tables", f"Reading {source.name}"), source.text(encoding)
    source.afford(OBJECTS * len(data), f"The table in {source.name}")
    try:
        content = json.loads(data)
        rows = isinstance(content, list) and content and all(isinstance(row, dict) for row in content)
        if not rows and not (
            isinstance(content, dict) and all(isinstance(c, list | dict) for c in content.values())
        ):
            raise ValueError("expected a list of rows, each a dict, or a dict of columns")
        frame = pandas.DataFrame(content)
    except (ValueError, RecursionError) as error:
        raise InputError(f"{source.name} holds no table: {str(error).splitlines()[0]:.200}.") from error
    if isinstance(content, dict) and not isinstance(next(iter(content.values()), None), list):
        frame.index = pandas.Index(as_names(map(str, frame.index)))
        frame = frame.reset_index(drop=list(frame.index) == list(range(len(frame))))
    return _finish_frame(frame, source, kind, id_column, columns, text_columns, missing)


def read_excel(
    source: Source,
    kind: str = "auto",
    id_column: Any = AUTO,
    columns: Any = None,
    text_columns: str = "auto",
    missing: str = "auto",
) -> Described:
    """Read the first sheet of a workbook by openpyxl."""
    _check_options(AUTO, text_columns, missing)
    purpose = f"Reading {source.name}"
    pandas = need("pandas", "tables", purpose)
    need("openpyxl", "tables", purpose)
    with naming_damage(f"{source.name} is not a workbook, or is damaged"), source.open_anywhere() as file:
        with ZipFile(file) as parts:
            size = sum(part.file_size for part in parts.infolist())
        source.afford(size, f"The workbook {source.name}", room=2)
        file.seek(0)
        frame = pandas.read_excel(file, engine="openpyxl", na_values=list(MISSING), keep_default_na=False)
    return _finish_frame(frame, source, kind, id_column, columns, text_columns, missing)


def _finish_frame(
    frame: Any, source: Source, kind: str, id_column: Any, columns: Any, text_columns: str, missing: str
) -> Described:
    """Return the numbers of a table whose columns have names and types."""
    notes: list[str] = []
    frame = frame.set_axis(_unique(list(frame.columns), notes), axis=1)
    if not (frame.index.nlevels == 1 and frame.index.equals(need("pandas", "tables").RangeIndex(len(frame)))):
        ids = frame.index.tolist()
        _check_ids(ids, source.name, f"{frame.index.name or 'the index'!r}")
        return _finish(frame, ids, kind, columns, text_columns, missing, source.name, notes)
    rows = [[str(value) for value in row] for row in frame.head(200).itertuples(index=False, name=None)]
    place, is_sure = find_ids(
        [str(c) for c in frame.columns], Layout("", [[], *rows], []), id_column, notes, source.name
    )
    ids = None if place is None else take_ids(frame.iloc[:, place], source.name, is_sure, notes)
    frame = frame if ids is None or place is None else frame.drop(columns=frame.columns[place])
    return _finish(frame, ids, kind, columns, text_columns, missing, source.name, notes)


def _load_parquet(source: Source) -> Any:
    purpose = f"Reading {source.name}"
    need("pandas", "tables", purpose)
    parquet = need("pyarrow.parquet", "tables", purpose)
    with naming_damage(f"{source.name} is not a Parquet file, or is damaged"), source.open_anywhere() as file:
        return _parquet_table(source, need("pyarrow", "tables"), parquet.ParquetFile(file)).to_pandas()


def _parquet_table(source: Source, pyarrow: Any, opened: Any) -> Any:
    """The table of a Parquet file, read in parts: a few bytes may stand for millions of rows.

    A value may be as long as its whole group of rows is on disk, and be repeated in all of them.
    """
    about = opened.metadata
    what = f"The table of {about.num_rows:,} × {about.num_columns:,} fields in {source.name}"
    groups = [about.row_group(i).total_byte_size for i in range(about.num_row_groups)]
    source.afford(max(sum(groups), about.num_rows * about.num_columns), what, room=2)
    batches, total = [], 0
    for batch in opened.iter_batches(max(1, min(BATCH, FREE // max(1, 1, *groups)))):
        batches.append(batch)
        total += batch.nbytes
        source.afford(total, what, room=2)
    return pyarrow.Table.from_batches(batches, schema=opened.schema_arrow)


def _check_options(header: Any, text_columns: Any, missing: Any) -> None:
    if header not in (True, False, AUTO):
        raise OptionError(f"header={header!r} must be True, False or {AUTO!r}.")
    check_known("text_columns", text_columns, TEXTS)
    check_known("missing", missing, GAPS)


# Header and names -------------------------------------------------------------------------------------------


def name_columns(layout: Layout, header: bool | str, name: str) -> tuple[list[Any], bool, list[str]]:
    """The names of all columns, or their numbers without a header, and whether there is one."""
    first, width = layout.rows[0], layout.width
    has_header = looks_like_header(layout.rows) if header == AUTO else bool(header)
    if not has_header:
        return list(range(width)), False, ["There is no header: columns are numbered from 0."]
    if len(layout.rows) == 1:
        raise InputError(
            f"{name} has a header and no rows. If its only line holds numbers or names of a sample, say "
            "header=False."
        )
    if len(first) == width - 1:  # as R writes tables
        first = ["", *first]
    if len(first) > width and not any(first[width:]):
        first = first[:width]
    names = [field or ("" if place == 0 else f"column {place + 1}") for place, field in enumerate(first)]
    notes: list[str] = []
    return _unique(names, notes), True, notes


def _unique(names: list[Any], notes: list[str]) -> list[Any]:
    """Return names with " (2)" and so on behind those that were there before."""
    made: dict[str, None] = {}
    for name in names:
        copies = itertools.chain([str(name)], (f"{name} ({n})" for n in itertools.count(2)))
        made[
            next(copy for copy in copies if copy not in made and (copy == str(name) or copy not in names))
        ] = None
    renamed = [new for new, name in zip(made, names, strict=True) if new != str(name)]
    if not renamed:
        return names
    notes.append(f"Columns with names that were taken are called {_listed(renamed)}.")
    return list(made)


def looks_like_header(rows: list[list[str]]) -> bool:
    """Whether the first row holds names: no numbers, or the very names that its rows begin with."""
    first, others = rows[0], rows[1:]
    if not others:
        return False
    begins = [row[0] for row in others if row]
    has_corner = len(first) == len(others[0]) and not is_number(first[0])
    if len(first) > 1 and first[has_corner:][: len(begins)] == begins[: len(first) - has_corner]:
        return has_corner or len(first) == len(others[0]) - 1
    has_numbers = any(is_number(field) for field in first)
    return any(first) and (not has_numbers or (_names_years(first) and not _names_years(others[0])))


def _names_years(row: list[str]) -> bool:
    """Whether a row holds texts and then years in even steps, as the header of a table of countries does."""
    numbers = [field for field in row if is_number(field)]
    years = [int(field) for field in numbers if field.isdigit() and YEARS[0] <= int(field) <= YEARS[1]]
    steps = {later - year for year, later in itertools.pairwise(years)}
    return 2 <= len(years) == len(numbers) < len(row) and len(steps) == 1 and 0 not in steps


def find_ids(
    names: list[Any] | None, layout: Layout, id_column: Any, notes: list[str], name: str
) -> tuple[int | None, bool]:
    """The place of the column that names the samples, and whether it was named or is called so."""
    width = layout.width if names is None else len(names)
    if id_column is None or id_column is False:
        return None, True
    if id_column != AUTO:
        return _place_of(id_column, names, width, name), True
    called = [] if names is None else [str(column).strip().lower() for column in names]
    if called and (called[0] == "" or called[0].startswith("unnamed: 0")):
        return 0, False
    rows = layout.rows[1:] if names is not None else layout.rows
    begins = [row[0] for row in rows if row]
    is_text = bool(begins) and not any(is_number(f) or f.lower() in FLAGS for f in begins) and width > 1
    if is_text and len(set(begins)) == len(begins):
        return 0, False
    return next((place for place, column in enumerate(called) if column in ID_NAMES), None), False


def _place_of(column: Any, names: list[Any] | None, width: int, name: str) -> int:
    if names is not None and column in names:
        return names.index(column)
    if isinstance(column, int) and not isinstance(column, bool) and -width <= column < width:
        return column % width
    raise InputError(f"{name} has no column {column!r}.{_those(column, names, width)}")


def _those(column: Any, names: list[Any] | None, width: int) -> str:
    if names is None:
        return f" Its {width} columns are numbered from 0, since there is no header."
    alike = difflib.get_close_matches(str(column), [str(known) for known in names], 3)
    listed = ", ".join(repr(known) for known in (alike or names[:10]))
    return f" {'Did you mean' if alike else 'It has'} {listed}{'?' if alike else ''}"


def take_ids(column: Any, name: str, is_sure: bool, notes: list[str]) -> list[Any] | None:
    """The names of samples; None if a column that only looks like names repeats or lacks some."""
    if not is_sure and not (column.is_unique and column.notna().all()):
        return None
    called = f"column {column.name!r}" if column.name != "" else "the first column"
    if column.isna().any():
        row = int(column.isna().to_numpy().argmax())
        raise InputError(
            f"{name}: {called} names the samples, but row {row:,} (from 0 on) has no name. Fill it in, or "
            "say id_column=None."
        )
    ids = as_names(str(value).strip() for value in column)
    _check_ids(ids, name, called)
    if ids == list(range(len(ids))):
        notes.append(f"{called.capitalize()} only counts the rows and was left out.")
        return list(range(len(ids)))
    notes.append(f"Samples are named by {called}.")
    return ids


def _check_ids(ids: list[Any], name: str, called: str) -> None:
    if len(set(ids)) == len(ids):
        return
    seen: dict[Any, int] = {}
    row, twice = next((row, i) for row, i in enumerate(ids) if seen.setdefault(i, row) != row)
    raise InputError(
        f"{name}: {called} names the samples, but {twice!r} occurs twice, in rows {seen[twice]:,} and "
        f"{row:,} (from 0 on). Give each sample a name of its own, or say id_column=None (no names) or "
        "id_column='...' (another column)."
    )


# From a table to numbers ------------------------------------------------------------------------------------


def _finish(
    frame: Any,
    ids: list[Any] | None,
    kind: str,
    columns: Any,
    text_columns: str,
    missing: str,
    name: str,
    notes: list[str],
) -> Described:
    """The numbers of a table, by samples."""
    is_counted = ids == list(range(len(frame)))
    if ids is not None and not is_counted:
        pandas = need("pandas", "tables")
        frame = frame.set_index(pandas.Index(ids, name=frame.index.name, tupleize_cols=False))
    whole, frame = frame, _drop_empty(_select(frame, columns, name), notes)
    is_square = kind in ("auto", "similarity", "graph") and _matches(frame, ids)
    if is_square and missing not in ("auto", "error"):
        raise CombinationError(
            f"missing={missing!r} is not possible for {name}, whose rows and columns have the same names: a "
            "table of similarities needs a number for every pair."
        )
    if is_square or kind in ("similarity", "graph"):  # which hold nothing but numbers
        text_columns, missing = ((given, "error")[given == "auto"] for given in (text_columns, missing))
    frame = _as_numbers(_mend(frame, text_columns, missing, name, notes), text_columns, name, notes)
    if missing != "auto":
        _refuse_infinite(frame, name)
    if is_square:
        return _describe_pairs(frame, kind, name, notes)
    found = _describe_rows(frame, None if is_counted else ids, kind, name, notes)
    return replace(found, table=whole) if found.kind == "features" else found


def _select(frame: Any, columns: Any, name: str) -> Any:
    if columns is None:
        return frame
    listed = [columns] if isinstance(columns, str | int) else list(columns)
    for column in listed:
        if column not in frame.columns:
            raise InputError(f"{name} has no column {column!r}.{_those(column, list(frame.columns), 0)}")
    return frame[listed]


def _drop_empty(frame: Any, notes: list[str]) -> Any:
    """The table without the nameless, empty columns that a delimiter at the end of lines makes."""
    empty = [c for c in frame.columns if str(c).startswith("column ") and frame[c].isna().all()]
    if empty:
        notes.append(f"Left out {len(empty)} empty column{'s' * (len(empty) != 1)} without a name.")
    return frame.drop(columns=empty)


def _matches(frame: Any, ids: list[Any] | None) -> bool:
    return ids is not None and len(ids) > 1 and sorted(map(str, ids)) == sorted(map(str, frame.columns))


def _texts_of(frame: Any) -> list[Any]:
    """The columns that hold something else than numbers."""
    return [column for column in frame.columns if frame[column].dtype.kind not in "biuf"]


def _mend(frame: Any, text_columns: str, missing: str, name: str, notes: list[str]) -> Any:
    """The table with its gaps treated as `missing` says; text columns that are dropped may have some."""
    if text_columns == "drop" and (dropped := _texts_of(_with_commas(frame))):
        notes.append(f"Left out the text column{'s' * (len(dropped) != 1)} {_listed(dropped)}.")
        frame = frame.drop(columns=dropped)
    gaps = frame.isna()
    if missing == "auto" or not gaps.to_numpy().any():
        return frame
    by_column = gaps.sum()
    concerned = by_column[by_column > 0]
    if missing == "error":
        column = concerned.index[0]
        row, count = int(gaps[column].to_numpy().argmax()), int(by_column.sum())
        missing_values = "1 value is" if count == 1 else f"{count:,} values are"
        raise InputError(
            f"{name}: {missing_values} missing, in {_columns(concerned.index)}; the first "
            f"in {_row(frame, row)} of column {column!r}. Say what to do about them: missing='drop_rows', "
            "missing='drop_columns' or missing='mean'."
        )
    if missing == "mean":
        return _fill(frame, gaps, name, notes)
    kept = frame.dropna(axis="index" if missing == "drop_rows" else "columns")
    if missing == "drop_columns":
        notes.append(f"Left out {_columns(concerned.index)}, which had missing values.")
        return kept
    if not len(kept):
        raise InputError(
            f"{name}: every row has a missing value. Say missing='drop_columns' or missing='mean'."
        )
    notes.append(f"Left out {len(frame) - len(kept):,} of {len(frame):,} rows, which had missing values.")
    return kept


def _fill(frame: Any, gaps: Any, name: str, notes: list[str]) -> Any:
    numbers = _with_commas(frame)
    texts = [column for column in _texts_of(numbers) if gaps[column].any() and not gaps[column].all()]
    if texts:
        raise CombinationError(
            f"missing='mean' is not possible for {name}: {_columns(texts)} with missing values hold text, "
            "which has no mean. Say missing='drop_rows', or text_columns='drop'."
        )
    empty = [column for column in frame.columns if gaps[column].all()]
    if empty:
        notes.append(f"Left out {_columns(empty)}, which had no value at all.")
    numbers = numbers.drop(columns=empty)
    filled = int(gaps.drop(columns=empty).to_numpy().sum())
    notes.append(f"Filled in {filled:,} missing value{'s' * (filled != 1)} with the mean of the column.")
    return numbers.fillna(numbers.mean(numeric_only=True))


def _as_numbers(frame: Any, text_columns: str, name: str, notes: list[str]) -> Any:
    numbers = _with_commas(frame)
    if any((numbers[c].dtype != frame[c].dtype) for c in frame.columns):
        notes.append("Numbers are written with a decimal comma.")
    texts = _texts_of(numbers)
    if texts and text_columns == "one_hot":
        numbers = _one_hot(numbers, texts, notes)
    elif texts and text_columns != "auto":
        raise InputError(_about_texts(numbers, texts, name))
    if numbers.shape[1] == 0 or not len(numbers):
        what = "rows" if not len(numbers) else "columns"
        raise InputError(f"{name} has no {what} left that hold numbers: there is nothing to cluster.")
    flags = [column for column in numbers.columns if numbers[column].dtype.kind == "b"]
    return numbers.astype(dict.fromkeys(flags, np.float64)) if flags else numbers


def _with_commas(frame: Any) -> Any:
    """The table with numbers for texts such as "1,5", where a whole column is of them."""
    changed = {}
    for column in _texts_of(frame):
        texts = frame[column].dropna()
        if len(texts) and all(isinstance(text, str) and is_number(text.strip()) for text in texts):
            changed[column] = frame[column].str.strip().str.replace(",", ".", regex=False).astype(np.float64)
    frame = frame.copy(deep=False) if changed else frame
    for column, values in changed.items():  # names may be numbers, which keywords cannot be
        frame[column] = values
    return frame


def _one_hot(frame: Any, texts: list[Any], notes: list[str]) -> Any:
    pandas = need("pandas", "tables")
    kinds = {column: int(frame[column].nunique()) for column in texts}
    size = 8 * len(frame) * sum(kinds.values())
    check_memory(size, f"One column for each value of {_columns(texts)}", "Say text_columns='drop'.")
    frame = frame.set_axis([str(column) for column in frame.columns], axis=1)
    texts = [str(column) for column in texts]
    made = pandas.get_dummies(frame, columns=texts, prefix=texts, prefix_sep="=", dtype=np.float64)
    words = ", ".join(f"{column!r} ({count:,} values)" for column, count in list(kinds.items())[:5])
    notes.append(f"One column of zeros and ones was made for each value of {words}.")
    return made


def _about_texts(frame: Any, texts: list[Any], name: str) -> str:
    column = texts[0]
    words = [not (isinstance(value, str) and is_number(value)) for value in frame[column]]
    row = int(np.argmax(words))
    value, count = frame[column].iloc[row], int(np.sum(words))
    if count < len(frame) / 2:
        return (
            f"{name}: column {column!r} holds numbers, but {value!r:.60} in {_row(frame, row)}"
            f"{'' if count == 1 else f', and {count - 1:,} other texts'}. Fix it, or leave the column out: "
            "columns=[...], or text_columns='drop'."
        )
    return (
        f"{name}: {_columns(texts)} hold{'s' * (len(texts) == 1)} text, the first {value!r:.60} in "
        f"{_row(frame, row)} of column {column!r}. Say what to do: text_columns='drop' leaves them out, "
        "text_columns='one_hot' makes a column for each value, id_column=... takes one for names of samples, "
        "columns=[...] chooses."
    )


def _refuse_infinite(frame: Any, name: str) -> None:
    for column in frame.columns:
        values = frame[column].to_numpy()
        if values.dtype.kind == "f" and np.isinf(values).any():
            row = int(np.isinf(values).argmax())
            raise InputError(
                f"{name}: {_row(frame, row)} of column {column!r} is infinite. Fix it, or leave the row or "
                "the column out."
            )


def _row(frame: Any, row: int) -> str:
    named = frame.index[row]
    return (
        f"row {row:,} (from 0 on)" if isinstance(named, int | np.integer) else f"row {row:,} ({named!r:.60})"
    )


def _columns(columns: Any) -> str:
    listed = list(columns)
    return f"column{'s' * (len(listed) != 1)} {_listed(listed)}"


def _listed(columns: list[Any], most: int = 5) -> str:
    more = f" and {len(columns) - most:,} more" if len(columns) > most else ""
    return ", ".join(map(repr, columns[:most])) + more


# Its kind ---------------------------------------------------------------------------------------------------


def _describe_pairs(frame: Any, kind: str, name: str, notes: list[str]) -> Described:
    """A table whose rows and columns have the same names."""
    order = {str(column): column for column in frame.columns}
    names = frame.index.tolist()
    if [str(i) for i in names] != [str(c) for c in frame.columns]:
        notes.append("Columns were brought into the order of the rows.")
    frame = frame[[order[str(i)] for i in names]].set_axis(frame.index, axis=1)
    A = frame.to_numpy(dtype=np.float64)
    kind = kind_of_matrix(A, name, is_named=True) if kind == "auto" else kind
    if kind == "graph":
        return Described(as_network(A, names, name, notes), kind, names, notes)
    as_similarity(A, names, name)
    notes.append("Rows and columns have the same names: the entries are similarities of pairs.")
    return Described(frame, kind, names, notes)


def _describe_rows(frame: Any, ids: list[Any] | None, kind: str, name: str, notes: list[str]) -> Described:
    # Rows may have been left out: names are those of the rows that stay.
    names = None if ids is None else frame.index.tolist()
    if (
        kind == "auto"
        and frame.shape[0] == frame.shape[1]
        and not _texts_of(frame)
        and frame.notna().all(axis=None)
    ):
        kind = kind_of_matrix(frame.to_numpy(dtype=np.float64), name)
    if kind in ("similarity", "graph"):
        return describe_square(frame.to_numpy(dtype=np.float64), kind, names, name, notes)
    return Described(frame, "features", names, notes)
