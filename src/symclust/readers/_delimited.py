"""Text in rows and fields: which character separates them, and the table itself."""

from __future__ import annotations

import csv
import io
import re
import warnings
from collections import Counter
from collections.abc import Iterable
from dataclasses import dataclass
from typing import Any

import numpy as np

from symclust._optional import need
from symclust.exceptions import InputError, OptionError
from symclust.readers._source import PART, Source

BLANKS = " \t"
SPACES = "spaces"  # any number of blanks and tabs
CANDIDATES = ("\t", ";", "|", ",")  # a character that is in every line equally often was put there for it
WORDS = {"\t": "a tab", ";": "a semicolon", "|": "a bar", ",": "a comma", SPACES: "spaces"}
SAMPLE = 1 << 18  # bytes that are looked at to guess
SAMPLE_ROWS = 200
TEXT = 64  # bytes of memory for a field that is a text
LONGEST_LINE = 1 << 24  # of a header: a million columns with names of 16 letters
MISSING = ("", "NA", "N/A", "NaN", "nan", "null", "NULL", "?", "#N/A", "<NA>", "-nan")
NONE = "None"  # a gap among numbers; among words it may be one of them
COMMENT = re.compile(rb"^[ \t]*[#%][^\n]*", re.MULTILINE)
WHOLE = re.compile(r"-?[1-9]\d{0,17}|0")


@dataclass(frozen=True)
class Layout:
    """How a text is divided."""

    delimiter: str  # a character, or `SPACES`
    rows: list[list[str]]  # the first ones
    notes: list[str]  # of guesses

    @property
    def width(self) -> int:
        """The number of fields that most rows have; a header may lack one for the names of rows."""
        return Counter(len(row) for row in self.rows[1:] or self.rows).most_common(1)[0][0]


def take_sample(data: bytes, name: str) -> str:
    """The first whole lines of a text."""
    size = SAMPLE
    while data.count(b"\n", 0, size) < 2 and size < len(data):
        if size >= LONGEST_LINE:
            raise InputError(
                f"The first line of {name} is longer than {LONGEST_LINE / 1e6:.0f} MB: this is not a table. "
                "Each row has a line of its own."
            )
        size *= 4
    end = len(data) if size >= len(data) else data.rfind(b"\n", 0, size) + 1
    return data[:end].decode("utf-8")


def lay_out(sample: str, suffix: str, delimiter: str | None) -> Layout:
    r"""How a text is divided, by its first lines."""
    lines = [line for line in sample.split("\n") if line.strip(BLANKS)]
    if delimiter is not None:
        return Layout(_check_delimiter(delimiter), _divide(lines, delimiter) or [[]], [])
    found = _guess_delimiter(lines, suffix)
    rows = _divide(lines, found) or [[line] for line in lines[:SAMPLE_ROWS]]
    is_usual = found == {".csv": ",", ".tsv": "\t", ".tab": "\t"}.get(suffix) or len(rows[0]) == 1
    notes = [] if is_usual else [f"Fields are separated by {WORDS[found]}."]
    return Layout(found, rows, notes)


def _check_delimiter(delimiter: Any) -> str:
    if delimiter == SPACES or (isinstance(delimiter, str) and len(delimiter) == 1 and delimiter not in '\n"'):
        return delimiter
    raise OptionError(f"delimiter={delimiter!r} must be a single character, or {SPACES!r}.")


def _guess_delimiter(lines: list[str], suffix: str) -> str:
    if suffix in (".tsv", ".tab") and "\t" in lines[0]:
        return "\t"
    widths = {d: [len(row) for row in _divide(lines, d)] for d in (*CANDIDATES, SPACES)}
    for candidate, found in widths.items():
        if found and max(found) > 1 and len(set(found[1:] or found)) == 1 and found[-1] - found[0] in (0, 1):
            return candidate
    # Some rows are broken: the one by which most rows have one width, which is then held against the others.
    share = {d: Counter(found).most_common(1)[0] for d, found in widths.items() if found and max(found) > 1}
    best = max(share, key=lambda d: share[d][1] * (share[d][0] > 1), default=",")
    return best if share and share[best][0] > 1 else ","


def _divide(lines: list[str], delimiter: str) -> list[list[str]]:
    if delimiter == SPACES:
        return [re.split(r"[ \t]+", line.strip(BLANKS)) for line in lines[:SAMPLE_ROWS]]
    reader = csv.reader((f"{line}\n" for line in lines), delimiter=delimiter, skipinitialspace=True)
    rows: list[list[str]] = []
    try:
        for row in reader:
            rows.append([field.strip() for field in row])
            if len(rows) == SAMPLE_ROWS:
                break
    except csv.Error:  # a field longer than the module reads: what came before has to do
        pass
    return rows


def is_number(field: str) -> bool:
    """Whether a field is a number, also one with a decimal comma."""
    try:
        float(field.replace(",", ".", 1))
    except ValueError:
        return False
    return "_" not in field


def as_names(fields: Iterable[str]) -> list[Any]:
    """Names as whole numbers if all are, and nothing such as a leading zero is lost by it."""
    names = list(fields)
    return [int(name) for name in names] if all(map(WHOLE.fullmatch, names)) else names


def without_comments(data: bytes) -> bytes:
    r"""A text with blank lines for those that begin with # or %: the numbers of lines stay.

    A single such line at the top with as many fields as the next is a header, and loses its mark.
    """
    if b"#" not in data and b"%" not in data:
        return data
    first, second = [*data[: 1 << 20].split(b"\n", 2), b"", b""][:2]
    fields = [max(line.count(mark) for mark in (b",", b"\t", b";")) for line in (first, second)]
    if first[:1] == b"#" and fields[0] == fields[1] > 0 and second[:1] not in (b"#", b"%"):
        return data[1:].lstrip(b" ")
    return COMMENT.sub(b"", data)


# The table --------------------------------------------------------------------------------------------------


def parse(
    data: bytes,
    layout: Layout,
    names: list[Any],
    has_header: bool,
    kinds: dict[int, Any],
    source: Source,
    gaps: bool = True,
) -> Any:
    """A DataFrame with one column for each of `names`; `kinds` holds dtypes by the number of a column.

    Rows of another width are refused. pandas refuses longer ones, and fills shorter ones in: these end in a
    gap, so that a table without a gap in its last column needs no second look.
    """
    what, pandas, width = source.name, need("pandas", "tables", f"Reading {source.name}"), len(names)
    n_rows = data.count(b"\n") + 1
    texts = sum(_is_text(place, layout.rows[has_header:], kinds) for place in range(width))
    source.afford(
        n_rows * (TEXT * texts + 8 * (width - texts)),
        f"The table of {n_rows:,} × {width:,} fields in {what}",
        PART,
    )
    if any(len(row) > width for row in layout.rows[has_header:]):  # in the first row pandas would cut it off
        _check_widths(data, layout, width, has_header, what)
    try:
        with warnings.catch_warnings():
            warnings.simplefilter("error", pandas.errors.ParserWarning)
            frame = pandas.read_csv(
                io.BytesIO(data),
                sep=r"\s+" if layout.delimiter == SPACES else layout.delimiter,
                header=0 if has_header else None,
                names=range(width),
                dtype=kinds,
                na_values=list(MISSING),
                keep_default_na=False,
                na_filter=gaps,
                index_col=False,
                low_memory=False,
                float_precision="round_trip",  # what was written is read, to the bit
                skipinitialspace=True,
                quoting=csv.QUOTE_MINIMAL if b'"' in data else csv.QUOTE_NONE,
            )
    except (ValueError, OverflowError, csv.Error, pandas.errors.ParserWarning) as error:
        _check_widths(data, layout, width, has_header, what)
        raise InputError(f"{what} cannot be read as a table: {str(error).splitlines()[0]}.") from error
    last = frame.iloc[:, -1]
    if last.isna().any() or (last.dtype == object and (last == "").any()):
        _check_widths(data, layout, width, has_header, what)
    for place, column in frame.items() if gaps and NONE.encode() in data else ():
        if column.dtype == object and (column == NONE).any():
            others = column[column != NONE].dropna()
            if all(isinstance(text, str) and is_number(text) for text in others):
                commas = others.str.replace(",", ".", regex=False)
                frame[place] = commas.astype(np.float64).reindex(frame.index)
    return frame.set_axis(names, axis=1)


def _is_text(place: int, rows: list[list[str]], kinds: dict[int, Any]) -> bool:
    """Whether a column will hold texts, each of which is an object, and no numbers; by the first rows."""
    fields = [row[place] for row in rows if len(row) > place]
    return kinds.get(place) is str or (
        place not in kinds and not all(is_number(field) or field in MISSING for field in fields)
    )


def _check_widths(data: bytes, layout: Layout, expected: int, has_header: bool, what: str) -> None:
    """Refuse rows that have another number of fields; a header may lack the name of the column of names."""
    rows = _widths(data, layout.delimiter)[has_header:]
    wrong = [(width, line) for width, line in rows if width != expected]
    if wrong:
        (width, line), more = wrong[0], len(wrong) - 1
        raise InputError(
            f"{what} is ragged: line {line:,} has {width} field{'s' * (width != 1)} where {expected} are "
            f"expected{f', and {more:,} more likewise' if more else ''}. Fix it, or name another delimiter "
            "(delimiter=...); fields with a delimiter in them need quotes."
        )


def _widths(data: bytes, delimiter: str) -> list[tuple[int, int]]:
    """The number of fields of each row that is not blank, and the line it begins in, from 1 on."""
    if delimiter == SPACES:
        lines = enumerate(data.split(b"\n"), start=1)
        return [(len(fields), line) for line, text in lines if (fields := text.split())]
    reader = csv.reader(
        io.StringIO(data.decode("utf-8"), newline=""), delimiter=delimiter, skipinitialspace=True
    )
    widths, before = [], 0
    try:
        for row in reader:
            if len(row) > 1 or any(field.strip() for field in row):
                widths.append((len(row), before + 1))
            before = reader.line_num
    except csv.Error as error:
        if "field larger" not in str(error):
            raise InputError(f"Line {reader.line_num:,} cannot be divided into fields: {error}.") from error
    return widths


def line_of(data: bytes, delimiter: str, row: int) -> int:
    """The line, from 1 on, in which a row begins; rows count from 0, blank lines are none."""
    rows = _widths(data, delimiter)
    return rows[min(row, len(rows) - 1)][1]  # a field that csv finds too long ends the count
