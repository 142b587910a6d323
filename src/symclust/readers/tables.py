"""Tables: CSV, TSV and other delimited text, and Parquet, as features or as similarities with names."""

from __future__ import annotations

import difflib
import itertools
import json
import re
from collections.abc import Callable
from dataclasses import dataclass, field, replace
from typing import Any
from zipfile import ZipFile

import numpy as np

from symclust._optional import need
from symclust.exceptions import CombinationError, InputError, OptionError
from symclust.readers._delimited import (
    MISSING,
    SPACES,
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
MOST_ABOVE = 20  # lines of a title above a table
MOST_BELOW = 20  # lines of footnotes below it
OBJECTS = 16  # bytes of memory for each of JSON
BATCH = 1 << 16  # rows of a Parquet file that are read at a time
FLAGS = ("true", "false")  # which pandas reads as numbers


def read_table(
    source: Source,
    kind: str = AUTO,
    delimiter: str | None = None,
    header: bool | str = AUTO,
    id_column: Any = AUTO,
    columns: Any = None,
    text_columns: str = AUTO,
    missing: str = AUTO,
    encoding: str = "utf-8",
) -> Described:
    """Read delimited text."""
    if header not in (True, False, AUTO):
        raise OptionError(f"header={header!r} must be True, False or {AUTO!r}.")
    choices = _Choices(source.name, kind, columns, text_columns, missing)
    data, layout = lay_out_table(source, delimiter, encoding)
    names, has_header, notes = name_columns(layout, header, source.name)
    place, is_sure = find_ids(names if has_header else None, layout, id_column, source.name)
    frame = parse(data, layout, names, has_header, {} if place is None else {place: str}, source)
    frame, ids = _split_ids(frame, place, is_sure, source.name, notes)
    return choices.describe(frame, ids, layout.notes + notes)


def lay_out_table(source: Source, delimiter: str | None, encoding: str) -> tuple[bytes, Layout]:
    """A text without comments, titles and footnotes, and how it is divided."""
    data = without_comments(source.text(encoding))
    layout = lay_out(take_sample(data, source.name), source.suffix, delimiter)
    bare = without_footnotes(data, layout)
    if bare is not data:
        layout = lay_out(take_sample(bare, source.name), source.suffix, layout.delimiter)
        layout.notes.append("Left out the lines below the table.")
    rows, width = layout.rows, layout.width
    above = next((place for place, row in enumerate(rows) if len(row) >= width - 1), 0)
    rest = rows[above:]
    if not 0 < above <= MOST_ABOVE or len(rest) < 3 or any(len(row) != width for row in rest[1:]):
        return bare, layout
    start = line_of(bare, layout.delimiter, above) - 1
    notes = [*layout.notes, f"Left out {above} shorter line{'s' * (above != 1)} above the table."]
    return b"\n" * start + bare.split(b"\n", start)[start], replace(layout, rows=rest, notes=notes)


def without_footnotes(data: bytes, layout: Layout) -> bytes:
    """A table without the last lines, from a line of dashes on, if none of them has two fields."""
    end = len(data)
    if layout.width < 3 or layout.delimiter == SPACES:
        return data
    for _ in range(MOST_BELOW):
        start = data.rfind(b"\n", 0, end - 1) + 1
        line = data[start:end].strip()
        if line and re.fullmatch(rb"[-=_*~]{3,}", line):
            return data[:start]
        if not start or layout.delimiter.encode() in re.sub(rb'"[^"]*"', b"", line):
            return data
        end = start
    return data


def read_frame(
    load: Callable[[Source], Any],
    source: Source,
    kind: str = AUTO,
    id_column: Any = AUTO,
    columns: Any = None,
    text_columns: str = AUTO,
    missing: str = AUTO,
) -> Described:
    """Read a table whose columns have names and types; `load` makes a DataFrame of the file."""
    choices = _Choices(source.name, kind, columns, text_columns, missing)
    need("pandas", "tables", f"Reading {source.name}")
    frame, notes = load(source), list[str]()
    frame = frame.set_axis(_unique(list(frame.columns), notes), axis=1)
    if not (frame.index.nlevels == 1 and frame.index.equals(need("pandas", "tables").RangeIndex(len(frame)))):
        ids = frame.index.tolist()
        _check_ids(ids, source.name, f"{frame.index.name or 'the index'!r}")
        return choices.describe(frame, ids, notes)
    rows = [[str(value) for value in row] for row in frame.head(200).itertuples(index=False, name=None)]
    names = [str(column) for column in frame.columns]
    place, is_sure = find_ids(names, Layout("", [[], *rows], []), id_column, source.name)
    frame, ids = _split_ids(frame, place, is_sure, source.name, notes)
    return choices.describe(frame, ids, notes)


def _load_json(source: Source) -> Any:
    """A list of rows, each a dict; a dict of columns; or one with columns, data and perhaps an index."""
    pandas, data = need("pandas", "tables"), source.text()
    source.afford(OBJECTS * len(data), f"The table in {source.name}")
    with naming_damage(f"{source.name} holds no table"):
        content = json.loads(data)
        if isinstance(content, dict) and {"columns", "data"} <= set(content) <= {"columns", "data", "index"}:
            return pandas.DataFrame(**content)
        rows = isinstance(content, list) and content and all(isinstance(row, dict) for row in content)
        if not rows and not (
            isinstance(content, dict) and all(isinstance(c, list | dict) for c in content.values())
        ):
            raise ValueError("expected a list of rows, each a dict, or a dict of columns")
        frame = pandas.DataFrame(content)
    if isinstance(content, dict) and not isinstance(next(iter(content.values()), None), list):
        frame.index = pandas.Index(as_names(map(str, frame.index)))
        frame = frame.reset_index(drop=list(frame.index) == list(range(len(frame))))
    return frame


def _load_excel(source: Source) -> Any:
    """The first sheet of a workbook, by openpyxl."""
    pandas = need("pandas", "tables")
    need("openpyxl", "tables", f"Reading {source.name}")
    with naming_damage(f"{source.name} is not a workbook, or is damaged"), source.open_anywhere() as file:
        with ZipFile(file) as parts:
            size = sum(part.file_size for part in parts.infolist())
        source.afford(size, f"The workbook {source.name}", room=2)
        file.seek(0)
        return pandas.read_excel(file, engine="openpyxl", na_values=list(MISSING), keep_default_na=False)


def _load_parquet(source: Source) -> Any:
    """A Parquet file, read in parts: a few bytes may stand for millions of rows.

    A value may be as long as its whole group of rows is on disk, and be repeated in all of them.
    """
    purpose = f"Reading {source.name}"
    parquet, pyarrow = need("pyarrow.parquet", "tables", purpose), need("pyarrow", "tables", purpose)
    with naming_damage(f"{source.name} is not a Parquet file, or is damaged"), source.open_anywhere() as file:
        opened = parquet.ParquetFile(file)
        about = opened.metadata
        what = f"The table of {about.num_rows:,} × {about.num_columns:,} fields in {source.name}"
        groups = [about.row_group(i).total_byte_size for i in range(about.num_row_groups)]
        source.afford(max(sum(groups), about.num_rows * about.num_columns), what, room=2)
        batches, total = [], 0
        for batch in opened.iter_batches(max(1, min(BATCH, FREE // max(1, 1, *groups)))):
            batches.append(batch)
            total += batch.nbytes
            source.afford(total, what, room=2)
        return pyarrow.Table.from_batches(batches, schema=opened.schema_arrow).to_pandas()


LOADERS = {"parquet": _load_parquet, "json": _load_json, "excel": _load_excel}


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
    """Names with " (2)" and so on behind those that were there before."""
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


def find_ids(names: list[Any] | None, layout: Layout, id_column: Any, name: str) -> tuple[int | None, bool]:
    """The place of the column with the names of samples, and whether the user has chosen it."""
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


def _split_ids(
    frame: Any, place: int | None, is_sure: bool, name: str, notes: list[str]
) -> tuple[Any, list[Any] | None]:
    """The table without the column of names, if there is one, and the names."""
    ids = None if place is None else take_ids(frame.iloc[:, place], name, is_sure, notes)
    return (frame, None) if ids is None else (frame.drop(columns=frame.columns[place]), ids)


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
    seen: dict[Any, int] = {}
    twice = next((row for row, i in enumerate(ids) if seen.setdefault(i, row) != row), None)
    if twice is not None:
        raise InputError(
            f"{name}: {called} names the samples, but {ids[twice]!r} occurs twice, in rows "
            f"{seen[ids[twice]]:,} and {twice:,} (from 0 on). Give each sample a name of its own, or say "
            "id_column=None (no names) or id_column='...' (another column)."
        )


# From a table to numbers ------------------------------------------------------------------------------------


@dataclass
class _Choices:
    """The choices of the user about the columns of a table."""

    name: str  # of the file
    kind: str
    columns: Any
    text_columns: str
    missing: str
    notes: list[str] = field(init=False, default_factory=list)

    def __post_init__(self) -> None:
        check_known("text_columns", self.text_columns, TEXTS)
        check_known("missing", self.missing, GAPS)

    def describe(self, frame: Any, ids: list[Any] | None, notes: list[str]) -> Described:
        """The numbers of a table, by samples."""
        self.notes, name = notes, self.name
        is_counted = ids == list(range(len(frame)))
        if ids is not None and not is_counted:
            index = need("pandas", "tables").Index(ids, name=frame.index.name, tupleize_cols=False)
            frame = frame.set_index(index)
        whole, frame = frame, self._without_empty(self._chosen(frame))
        is_square = self.kind in (AUTO, "similarity", "graph") and _matches(frame, ids)
        if is_square and self.missing not in (AUTO, "error"):
            raise CombinationError(
                f"missing={self.missing!r} is not possible for {name}, whose rows and columns have the same "
                "names: a table of similarities needs a number for every pair."
            )
        if is_square or self.kind in ("similarity", "graph"):  # which hold nothing but numbers
            self.text_columns = "error" if self.text_columns == AUTO else self.text_columns
            self.missing = "error" if self.missing == AUTO else self.missing
        frame = self._mend(frame)
        if self.missing != AUTO:
            _refuse_infinite(frame, name)
        if is_square:
            return _describe_pairs(frame, self.kind, name, notes)
        found = _describe_rows(frame, None if is_counted else ids, self.kind, name, notes)
        return replace(found, original=whole) if found.kind == "features" else found

    def _chosen(self, frame: Any) -> Any:
        if self.columns is None:
            return frame
        listed = [self.columns] if isinstance(self.columns, str | int) else list(self.columns)
        for column in listed:
            if column not in frame.columns:
                raise InputError(
                    f"{self.name} has no column {column!r}.{_those(column, list(frame.columns), 0)}"
                )
        return frame[listed]

    def _without_empty(self, frame: Any) -> Any:
        """The table without the nameless, empty columns that a delimiter at the end of lines makes."""
        empty = [c for c in frame.columns if str(c).startswith("column ") and frame[c].isna().all()]
        if empty:
            self.notes.append(f"Left out {len(empty)} empty column{'s' * (len(empty) != 1)} without a name.")
        return frame.drop(columns=empty)

    def _mend(self, frame: Any) -> Any:
        """The table with its texts and gaps treated; text columns that are dropped may have gaps."""
        frame, had_commas = _with_commas(frame)
        if had_commas:
            self.notes.append("Numbers are written with a decimal comma.")
        texts = _texts_of(frame)
        if texts and self.text_columns == "drop":
            self.notes.append(f"Left out the text {_columns(texts)}.")
            frame, texts = frame.drop(columns=texts), []
        gaps = frame.isna()
        if self.missing != AUTO and gaps.to_numpy().any():
            frame = self._without_gaps(frame, gaps, frame.columns[gaps.any()])
            texts = [column for column in texts if column in frame.columns]
        if texts and self.text_columns == "one_hot":
            frame = self._one_hot(frame, [str(column) for column in texts])
        elif texts and self.text_columns != AUTO:
            raise InputError(_about_texts(frame, texts[0], self.name))
        if 0 in frame.shape:
            what = "rows" if not len(frame) else "columns"
            raise InputError(
                f"{self.name} has no {what} left that hold numbers: there is nothing to cluster."
            )
        flags = [column for column in frame.columns if frame[column].dtype.kind == "b"]
        return frame.astype(dict.fromkeys(flags, np.float64)) if flags else frame

    def _without_gaps(self, frame: Any, gaps: Any, concerned: Any) -> Any:
        count, columns = int(gaps.to_numpy().sum()), _columns(concerned)
        values = "1 missing value" if count == 1 else f"{count:,} missing values"
        if self.missing == "error":
            row = int(gaps[concerned[0]].to_numpy().argmax())
            raise InputError(
                f"{self.name} has {values}, in {columns}; the first in {_row(frame, row)} of column "
                f"{concerned[0]!r}. Say what to do: missing='drop_rows', missing='drop_columns' or "
                "missing='mean'."
            )
        if self.missing == "drop_columns":
            self.notes.append(f"Left out {columns}, which had missing values.")
            return frame.drop(columns=concerned)
        if self.missing == "drop_rows":
            kept = frame.dropna()
            left_out = len(frame) - len(kept)
            self.notes.append(f"Left out {left_out:,} of {len(frame):,} rows, which had missing values.")
            return kept
        if len(empty := frame.columns[gaps.all()]):
            self.notes.append(f"Left out {_columns(empty)}, which had no value at all.")
            frame = frame.drop(columns=empty)
        if texts := [column for column in _texts_of(frame) if column in concerned]:
            raise CombinationError(
                f"missing='mean' is not possible for {self.name}: {_columns(texts)} with missing values hold "
                "text, which has no mean. Say missing='drop_rows', or text_columns='drop'."
            )
        self.notes.append(f"Filled in {values} with the mean of the column.")
        return frame.fillna(frame.mean(numeric_only=True))

    def _one_hot(self, frame: Any, texts: list[str]) -> Any:
        frame = frame.set_axis([str(column) for column in frame.columns], axis=1)
        kinds = {column: int(frame[column].nunique()) for column in texts}
        size = 8 * len(frame) * sum(kinds.values())
        check_memory(size, f"One column for each value of {_columns(texts)}", "Say text_columns='drop'.")
        words = ", ".join(f"{column!r} ({count:,} values)" for column, count in list(kinds.items())[:5])
        self.notes.append(f"One column of zeros and ones was made for each value of {words}.")
        return need("pandas", "tables").get_dummies(
            frame, columns=texts, prefix=texts, prefix_sep="=", dtype=np.float64
        )


def _matches(frame: Any, ids: list[Any] | None) -> bool:
    return ids is not None and len(ids) > 1 and sorted(map(str, ids)) == sorted(map(str, frame.columns))


def _texts_of(frame: Any) -> list[Any]:
    """The columns that hold something else than numbers."""
    return [column for column in frame.columns if frame[column].dtype.kind not in "biuf"]


def _with_commas(frame: Any) -> tuple[Any, bool]:
    """Numbers for texts such as "1,5", if a whole column is of them, and whether there were."""
    changed = {}
    for column in _texts_of(frame):
        texts = frame[column].dropna()
        if len(texts) and all(isinstance(text, str) and is_number(text.strip()) for text in texts):
            changed[column] = frame[column].str.strip().str.replace(",", ".", regex=False).astype(np.float64)
    frame = frame.copy(deep=False) if changed else frame
    for column, values in changed.items():  # names may be numbers, which keywords cannot be
        frame[column] = values
    return frame, bool(changed)


def _about_texts(frame: Any, column: Any, name: str) -> str:
    """The words for a column that holds texts."""
    words = [not (isinstance(value, str) and is_number(value)) for value in frame[column]]
    row = int(np.argmax(words))
    return (
        f"{name}: column {column!r} holds {int(np.sum(words)):,} text{'s' * (sum(words) != 1)} among "
        f"{len(frame):,} rows, the first {frame[column].iloc[row]!r:.60} in {_row(frame, row)}. Fix it, or "
        "say what to do: text_columns='drop' leaves such columns out, text_columns='one_hot' makes a column "
        "for each value, id_column=... takes one for names of samples, columns=[...] chooses."
    )


def _refuse_infinite(frame: Any, name: str) -> None:
    for column in frame.columns:
        values = frame[column].to_numpy()
        if values.dtype.kind == "f" and (infinite := np.isinf(values)).any():
            where = f"{_row(frame, int(infinite.argmax()))} of column {column!r}"
            raise InputError(f"{name}: {where} is infinite. Fix it, or leave the row or the column out.")


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
