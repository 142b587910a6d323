"""What the columns of a table hold: numbers, categories, or nothing that says how alike two rows are."""

from __future__ import annotations

import re
from typing import Any

import numpy as np

from symclust._types import Array

COUNTING = 0.9  # share of steps of one from which a column counts the rows; files are often sorted by class
SPARSE = 0.5  # share of gaps from which a column says little
MANY, MANY_SHARE = 20, 0.2  # values up to which text is a category, and values per row
UNREADABLE = 0.1  # share of texts among numbers up to which they are taken for gaps
PROSE = 5  # words per value

CODES = {"id", "ids", "uid", "uuid", "guid", "key", "code", "zip", "zipcode", "postcode", "fips", "isbn"}
COUNTERS = {"number", "no", "nr", "num", "index", "idx", "case", "sample", "subject", "patient", "row", "obs"}
DATES = {"year": (1000, 2200), "yr": (1000, 2200), "month": (1, 12), "day": (1, 31)}  # and their numbers
DATE = re.compile(
    r"\d{1,4}[-/.]\d{1,2}[-/.]\d{1,4}([T ].*)?|\d{4}-\d{1,2}|\d{1,2}:\d{2}(:\d{2})?(\.\d+)?( ?[ap]m)?"
    r"|(\d{1,2}[- ])?(jan|feb|mar|apr|may|jun|jul|aug|sep|oct|nov|dec)[a-z]*\.?([- ]\d{1,2},?)?[- ]\d{2,4}.*",
    re.IGNORECASE,
)
THOUSANDS = re.compile(r"[-+]?\d{1,3}(,\d{3})+(\.\d+)?")


def role_of(column: Any) -> tuple[str, str]:
    """Return "number", "category" or "", and for the last the reason to leave the column out."""
    from pandas.api.types import is_datetime64_any_dtype, is_timedelta64_dtype

    filled = column.dropna()
    if len(filled) < (1 - SPARSE) * len(column) or not len(filled):
        return "", f"{1 - len(filled) / max(1, len(column)):.0%} missing"
    n_values = filled.map(str).nunique() if filled.dtype == object else filled.nunique()
    if n_values == 1:
        return "", "one value"
    if is_datetime64_any_dtype(filled) or is_timedelta64_dtype(filled) or filled.dtype.kind == "M":
        return "", "dates"
    numbers = as_numbers(column)
    readable = np.count_nonzero(~np.isnan(numbers))
    if readable >= (1 - UNREADABLE) * len(filled):
        return _role_of_numbers(str(column.name), numbers[~np.isnan(numbers)], n_values)
    return _role_of_texts(filled.map(str), n_values, len(column))


def _role_of_numbers(  # noqa: PLR0911 - one for each role
    name: str, numbers: Array, n_values: int
) -> tuple[str, str]:
    if n_values == 2:
        return "category", ""
    if (numbers % 1 != 0).any():
        return "number", ""
    words = _words(name)
    if counts_rows(numbers):
        return "", "counts the rows"
    if words and n_values == len(numbers) and words[-1] in CODES | COUNTERS:
        return "", "names the rows"
    if words and words[-1] in CODES:
        return "", "codes"
    for word, (least, most) in DATES.items():
        if word in words and numbers.min() >= least and numbers.max() <= most:
            return "", word
    return "number", ""


def _role_of_texts(texts: Any, n_values: int, n_rows: int) -> tuple[str, str]:
    if texts.str.strip().str.fullmatch(DATE).mean() > 1 - UNREADABLE:
        return "", "dates"
    if n_values <= max(2, min(MANY, MANY_SHARE * n_rows)):
        return "category", ""
    if n_values == len(texts):
        return "", "names the rows"
    return "", "text" if texts.str.count(r"\s+").mean() >= PROSE - 1 else f"{n_values:,} different texts"


def counts_rows(numbers: Array) -> bool:
    """Whether nine of ten numbers are followed by the next one."""
    return len(numbers) > 2 and bool((np.diff(numbers) == 1).mean() >= COUNTING)


def _words(name: str) -> list[str]:
    """Return the words of a name: "yearBuilt" and "year_built" have two."""
    return re.findall(r"[a-z]+", re.sub(r"(?<=[a-z])(?=[A-Z])", " ", name).lower())


def as_numbers(column: Any) -> Array:
    """Return a column as float64, with NaN for gaps, infinity, and texts that are no numbers."""
    import pandas

    numbers = pandas.to_numeric(column, errors="coerce") if column.dtype.kind not in "biuf" else column
    if numbers.isna().sum() > column.isna().sum():
        texts = column.astype(str).str.strip().str.replace(r"^[$€£]\s*|\s*%$", "", regex=True)
        mark = "" if texts.str.fullmatch(THOUSANDS).any() else "."
        read = pandas.to_numeric(texts.str.replace(",", mark), errors="coerce")
        numbers = read.where(column.notna())
    values = numbers.to_numpy(dtype=np.float64, na_value=np.nan).copy()
    values[np.isinf(values)] = np.nan
    return values


def as_texts(column: Any) -> Any:
    """Return a column as texts, the same for 1 and 1.0, with None for gaps."""
    if column.dtype.kind in "iuf":
        texts = [f"{value:g}" for value in as_numbers(column)]
    else:
        texts = [str(value).strip() for value in column]
    found = np.array(texts, dtype=object)
    found[column.isna().to_numpy()] = None
    return found
