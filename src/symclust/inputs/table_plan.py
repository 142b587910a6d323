"""A plan for a table: which columns are compared, in which units, and what becomes of gaps."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass, replace
from typing import Any

import numpy as np

from symclust._types import Array
from symclust.exceptions import CombinationError, InputError, OptionError
from symclust.graphs import columns_are_alike
from symclust.inputs.columns import as_numbers, as_texts, counts_rows, role_of
from symclust.validation import MARK, check_known, check_number, kind_of

MISSING = ("neighbors", "mean", "drop_columns", "error")
SKEWED = 1.0  # skewness from which the logarithm is taken
LIGHT = 0.35  # of the spread of a number: a category comes in jumps, and would split the rows by itself
OUTNUMBERED = 3  # categories for each number, from which they weigh as much
WIDE = 50  # numbers, as from which `affinity="auto"` has rules for intensities and counts
MATRIX = 1000  # columns of plain numbers, which are not looked at one by one
NEIGHBORS, DONORS = 10, 5000  # rows that fill a gap, and rows of which they are taken


@dataclass(frozen=True)
class TablePlan:
    """What a table becomes before its rows are compared.

    `TablePlan.of(frame)` decides, ``str(plan)`` says it in a few lines, and ``plan.apply(frame)`` carries it
    out, for the same rows or for new ones.

    Attributes
    ----------
    numbers : list
        The columns taken as numbers.
    is_log : ndarray of bool
        Which of them are replaced by their logarithms.
    categories : list of tuple
        The columns taken as categories, each with its values.
    left_out : list of tuple
        The other columns, each with the reason.
    scale : {"standard", "auto", None}
        The units: standard deviations; or left to `affinity="auto"`; or as they are.
    category_weight : float
        The spread of a category in multiples of that of a number.
    missing : str
        What becomes of gaps.
    n_gaps : int
        Missing values in the columns taken.
    """

    numbers: list[Any]
    is_log: Array
    categories: list[tuple[Any, list[str]]]
    left_out: list[tuple[Any, str]]
    scale: str | None
    category_weight: float
    missing: str
    n_gaps: int = 0
    middle: Array | None = None  # of numbers before the logarithm
    offset: Array | None = None  # of all columns made
    unit: Array | None = None
    donors: Array | None = None  # rows that fill gaps

    @classmethod
    def of(
        cls,
        frame: Any,
        *,
        drop: Iterable[Any] = (),
        numbers: Iterable[Any] = (),
        categories: Iterable[Any] = (),
        log: Any = "auto",
        scale: str | None = "auto",
        category_weight: float | None = None,
        missing: str = "neighbors",
    ) -> TablePlan:
        """Return the plan for a table.

        Parameters
        ----------
        frame : DataFrame
        drop, numbers, categories : list of columns
            Columns to leave out, to take as numbers, and to take as categories, whatever they look like.
        log : "auto", bool or list of columns
            The numbers to take the logarithm of; by default nonnegative ones with a skewness above 1.
        scale : {"auto", "standard", None}
            "standard" gives all numbers mean 0 and variance 1, None leaves them as they are. "auto" does the
            first unless there are numbers alone, 50 or more or of nearly the same spread: those are vectors,
            left to `affinity="auto"`.
        category_weight : float, optional
            The spread of a category in multiples of that of a number; .35 by default, or 1 if there are three
            times as many categories as numbers.
        missing : {"neighbors", "mean", "drop_columns", "error"}
            Gaps get the mean of the 10 nearest rows, or that of the column; or their columns are left out.

        Examples
        --------
        >>> import pandas
        >>> from symclust.inputs.table_plan import TablePlan
        >>> people = pandas.DataFrame(
        ...     {"no": [1, 2, 3, 4], "age": [29, 31, None, 58], "sex": ["f", "m", "m", "f"]}
        ... )
        >>> plan = TablePlan.of(people)
        >>> print(plan)
        Numbers: 'age', standardised.
        Categories: 'sex' (2 values), with 0.35 of the weight of a number.
        Left out: 'no' (counts the rows).
        Gaps: 1, filled with the mean of the 10 nearest rows.
        >>> plan.apply(people).shape
        (4, 3)
        """
        told = {"drop": drop, "numbers": numbers, "categories": categories}
        roles = _roles(frame, {name: _listed(columns) for name, columns in told.items()}, missing)
        if scale is not None:
            check_known("scale", scale, ("auto", "standard"), ", or None")
        if scale == "auto" and _is_wide(frame, roles):  # pixels may have two values, and are no categories
            roles = {name: (role and "number", reason) for name, (role, reason) in roles.items()}
        as_number = [name for name, (role, _) in roles.items() if role == "number"]
        texts = {name: as_texts(frame[name]) for name, (role, _) in roles.items() if role == "category"}
        made = [
            (name, sorted({text for text in column if text is not None})) for name, column in texts.items()
        ]
        values = _side_by_side(frame, [as_numbers(frame[name]) for name in as_number])
        are_vectors = scale == "auto" and not made and _are_vectors(values)
        is_log = _logs(as_number, values, False if are_vectors and log == "auto" else log)
        if category_weight is None:
            category_weight = 1.0 if len(made) >= OUTNUMBERED * len(as_number) else LIGHT
        check_number("category_weight", category_weight, least=0)
        plan = cls(
            as_number,
            is_log,
            made,
            [(name, reason) for name, (role, reason) in roles.items() if not role],
            "auto" if are_vectors else "standard" if scale == "auto" else scale,
            float(category_weight),
            missing,
            middle=_middles(values, is_log),
        )
        return plan._fitted(frame)

    def _fitted(self, frame: Any) -> TablePlan:
        """Return the plan with units, and with the rows that fill gaps."""
        if not self.feature_names:
            raise InputError(_about_nothing(self.left_out))
        rows = self._raw(frame)
        gaps = np.isnan(rows)
        offset, unit = np.zeros(rows.shape[1]), np.ones(rows.shape[1])
        if self.scale == "standard":
            offset = np.nanmean(rows, axis=0)
            unit[: len(self.numbers)] = np.nanstd(rows[:, : len(self.numbers)], axis=0)
            first = len(self.numbers)
            for _, values in self.categories:
                part = slice(first, first + len(values))
                spread = np.sqrt((offset[part] * (1 - offset[part])).sum())
                unit[part] = spread / max(self.category_weight, np.finfo(float).tiny)
                first = part.stop
        unit[unit == 0] = 1.0
        rows = (rows - offset) / unit
        few = rows[np.linspace(0, len(rows) - 1, min(DONORS, len(rows))).astype(int)]
        n_gaps = int(sum(frame[name].isna().sum() for name in self._taken))
        return replace(self, offset=offset, unit=unit, donors=few, n_gaps=max(n_gaps, int(gaps.any())))

    @property
    def _taken(self) -> list[Any]:
        return [*self.numbers, *(name for name, _ in self.categories)]

    @property
    def feature_names(self) -> list[str]:
        """The names of the columns that `apply` returns."""
        return [*map(str, self.numbers), *(f"{name}={v}" for name, values in self.categories for v in values)]

    def apply(self, frame: Any) -> Any:
        """Return rows of such a table as numbers without gaps.

        Parameters
        ----------
        frame : DataFrame
            With the columns that the plan takes; others are ignored.

        Returns
        -------
        DataFrame
            With the same index, and the columns `feature_names`.
        """
        import pandas

        lacking = [name for name in self._taken if name not in frame.columns]
        if lacking:
            raise InputError(
                f"The table lacks {_quoted(lacking)}, of which the model was fitted. It has "
                f"{_quoted(frame.columns)}."
            )
        rows = (self._raw(frame) - self.offset) / self.unit
        gaps = np.isnan(rows)
        if gaps.any():  # the same digits for a row, however many come with it
            rows[gaps] = self._filled(rows)[gaps].astype(np.float32)
        return pandas.DataFrame(rows, index=frame.index, columns=self.feature_names)

    def header(self) -> Any:
        """Return a table without rows that has the columns `feature_names`."""
        import pandas

        return pandas.DataFrame(columns=self.feature_names)

    def without_rows(self) -> TablePlan:
        """Return the plan without rows of the table; it fills gaps with the mean of the column."""
        return replace(self, donors=_means(self.donors)[np.newaxis])

    def _raw(self, frame: Any) -> Array:
        """Return numbers or their logarithms, and zeros and ones for categories; NaN for gaps."""
        values = _side_by_side(frame, [as_numbers(frame[name]) for name in self.numbers])
        large = np.maximum(values[:, self.is_log], 0)  # new rows may have negative ones
        values[:, self.is_log] = np.log1p(large / np.asarray(self.middle)[self.is_log])
        return _side_by_side(frame, [values, *(_one_hot(frame[name], v) for name, v in self.categories)])

    def _filled(self, rows: Array) -> Array:
        if self.missing != "neighbors":
            return np.where(np.isnan(rows), _means(self.donors), rows)
        from sklearn.impute import KNNImputer

        # Distances come from the other columns that both rows have.
        return KNNImputer(n_neighbors=NEIGHBORS, keep_empty_features=True).fit(self.donors).transform(rows)

    def describe(self) -> list[str]:
        """Return what the plan does, as sentences."""
        logs = [name for name, is_log in zip(self.numbers, self.is_log, strict=True) if is_log]
        units = {"standard": ", standardised", None: ", as they are", "auto": ", of one unit"}[self.scale]
        kinds = [f"{name!r} ({len(values)} values)" for name, values in self.categories]
        weight = f", with {self.category_weight:g} of the weight of a number" * (self.scale == "standard")
        filled = {"neighbors": f"mean of the {NEIGHBORS} nearest rows"}.get(
            self.missing, "mean of the column"
        )
        lines = {
            "Numbers": _quoted(self.numbers) + units if self.numbers else "",
            "Logarithms": _quoted(logs),
            "Categories": _few(kinds) + weight if kinds else "",
            "Left out": _few([f"{name!r} ({reason})" for name, reason in self.left_out]),
            "Gaps": f"{self.n_gaps:,}, filled with the {filled}" if self.n_gaps else "",
        }
        return [f"{what}: {text}." for what, text in lines.items() if text]

    def __str__(self) -> str:
        return "\n".join(self.describe())


def plan_for(X: Any) -> TablePlan | None:
    """Return the plan for what is given to `fit`; None if that is no table, or a matrix with names."""
    if kind_of(X) != "table" or not X.size or any(hasattr(dtype, "fill_value") for dtype in X.dtypes):
        return None  # a table with fill values is a sparse array
    options = X.attrs.get(MARK) or {}
    return None if X.shape[1] >= MATRIX and not options and _is_plain(X) else TablePlan.of(X, **options)


def _is_plain(X: Any) -> bool:
    """Whether there are numbers alone, without gaps, and none that count the rows."""
    if not {dtype.kind for dtype in X.dtypes} <= set("biufc") or X.isna().any(axis=None):
        return False
    whole = [place for place, dtype in enumerate(X.dtypes) if dtype.kind in "iu"]
    return not any(len(X) > 9 and counts_rows(X.iloc[:, place].to_numpy()) for place in whole)


# Decisions --------------------------------------------------------------------------------------------------


def _roles(frame: Any, told: dict[str, list[Any]], missing: str) -> dict[Any, tuple[str, str]]:
    """Return for each column its role and the reason to leave it out."""
    check_known("missing", missing, MISSING)
    if not frame.columns.is_unique:
        twice = list(frame.columns[frame.columns.duplicated()])
        raise InputError(f"X has several columns called {_quoted(twice)}. Give each a name of its own.")
    named = {column: role for role, columns in told.items() for column in columns}
    unknown = [column for column in named if column not in frame.columns]
    if unknown:
        raise OptionError(f"The table has no column {_quoted(unknown)}. It has {_quoted(frame.columns)}.")
    if len(named) < sum(map(len, told.values())):
        raise CombinationError("A column can be in one of drop=, numbers= and categories= only.")
    meant = {"drop": ("", "as told"), "numbers": ("number", ""), "categories": ("category", "")}
    roles = {c: meant[named[c]] if c in named else role_of(frame[c]) for c in frame.columns}
    gaps = [c for c, (role, _) in roles.items() if role and frame[c].isna().any()] if len(frame) else []
    if gaps and missing == "error":
        n = int(frame[gaps].isna().to_numpy().sum())
        raise InputError(f"{n:,} values are missing, in {_quoted(gaps)}. missing= may be {_quoted(MISSING)}.")
    return roles | (dict.fromkeys(gaps, ("", "has gaps")) if missing == "drop_columns" else {})


def _is_wide(frame: Any, roles: dict[Any, tuple[str, str]]) -> bool:
    """Whether there are many numbers, and categories only where numbers have two values."""
    kinds = [frame[name].dtype.kind for name, (role, _) in roles.items() if role == "category"]
    return sum(role == "number" for role, _ in roles.values()) >= WIDE and set(kinds) <= set("iuf")


def _are_vectors(values: Array) -> bool:
    """Whether columns are of one kind, so that their units mean something."""
    whole = values[~np.isnan(values).any(axis=1)]
    return values.shape[1] >= WIDE or (len(whole) > 0 and columns_are_alike(whole))


def _logs(names: list[Any], values: Array, log: Any) -> Array:
    """Return which numbers are replaced by their logarithms."""
    if isinstance(log, bool):
        return np.array([log and np.nanmin(column) >= 0 for column in values.T], dtype=bool)
    if isinstance(log, str) and log == "auto":
        return np.array(
            [np.nanmin(column) >= 0 and _skewness(column) > SKEWED for column in values.T], dtype=bool
        )
    wanted = _listed(log)
    unfit = [n for n, column in zip(names, values.T, strict=True) if n in wanted and np.nanmin(column) < 0]
    if unfit or not set(wanted) <= set(names):
        wrong = unfit or [name for name in wanted if name not in names]
        raise OptionError(f"log={log!r:.80}: {_quoted(wrong)} is not a column of nonnegative numbers.")
    return np.array([name in wanted for name in names], dtype=bool)


def _skewness(column: Array) -> float:
    centred = column[~np.isnan(column)] - np.nanmean(column)
    spread = centred.std()
    return float((centred**3).mean() / spread**3) if spread > 0 else 0.0


def _middles(values: Array, is_log: Array) -> Array:
    """Return the medians of positive numbers, units of logarithms log(1 + x/unit) that also take zeros."""
    unit = np.ones(values.shape[1])
    for j in np.flatnonzero(is_log):
        positive = values[values[:, j] > 0, j]
        unit[j] = np.median(positive) if positive.size else 1.0
    return unit


def _one_hot(column: Any, values: list[str]) -> Array:
    texts = as_texts(column)
    found = (texts[:, np.newaxis] == np.array(values, dtype=object)).astype(np.float64)
    found[texts == None] = np.nan  # noqa: E711 - entry by entry
    return found


def _means(rows: Any) -> Array:
    """Return the mean of each column, 0 if it is empty."""
    filled = ~np.isnan(rows)
    return np.where(filled, rows, 0).sum(axis=0) / np.maximum(1, filled.sum(axis=0))


def _side_by_side(frame: Any, columns: list[Array]) -> Array:
    return np.column_stack([np.empty((len(frame), 0)), *columns])


def _listed(columns: Any) -> list[Any]:
    return [columns] if isinstance(columns, str | int) else list(columns)


def _about_nothing(left_out: list[tuple[Any, str]]) -> str:
    listed = _few([f"{name!r} ({reason})" for name, reason in left_out])
    return (
        f"No column is left that says how alike the rows are. Left out: {listed}. Take some all the same by "
        "numbers=[...] or categories=[...]."
    )


def _quoted(columns: Iterable[Any]) -> str:
    return _few(list(map(repr, columns)))


def _few(words: list[str], most: int = 8) -> str:
    more = f" and {len(words) - most:,} more" if len(words) > most else ""
    return ", ".join(words[:most]) + more
