"""Gene expression, read from a table, an AnnData or arrays, and the genes that vary most."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Set
from dataclasses import dataclass, field
from typing import Any

import numpy as np
from scipy import sparse
from sklearn.utils.sparsefuncs import mean_variance_axis

from symclust._types import Array
from symclust.exceptions import CombinationError, InputError, InputTypeError, OptionError
from symclust.validation import check_features, check_known, check_nonnegative, check_number, is_a, is_missing

ORIENTATIONS = ("auto", "samples", "genes")
NEARLY_SQUARE = 2.0  # a table with less than twice as many columns as rows does not say which are genes
SHARE = 0.01  # of the median mean: genes below it are silent
LEAST_SAMPLES = 3  # a gene found in fewer samples says nothing of subtypes
LISTED = 5  # names in a message
CHUNK = 1 << 20  # values that are looked at together
# Raw values spread over orders of magnitude: the largest of Golub's is 800 times the median, of Khan's 60.
LARGEST_LOGARITHM, LARGEST_RATIO = 30, 20
DEPTH = 5  # totals of samples that differ by a larger factor are those of a measurement, not of tissues

EXPECTED = (
    "Give a pandas DataFrame, an AnnData, or a dense or sparse array with one row per sample and one column "
    "per gene, or the other way round."
)
GAPS = "Remove those genes or samples, or fill the gaps, for example with the median of the gene."
NEGATIVE = (
    "Give abundances as they were measured: counts, TPM, FPKM or intensities, not z-scores, centred values "
    "or log ratios. numpy.exp2 undoes log2, numpy.expm1 undoes log1p. Microarray intensities below the "
    "background are usually raised to a floor, for example expression.clip(lower=20)."
)
LOGARITHMS = (
    "The values look like logarithms. Affine NMF adds profiles up, which means something for abundances and "
    "nothing for their logarithms: Kuang (2014, 4.3) finds no separated clusters in them. Give raw values if "
    "there are any; numpy.expm1 undoes log1p, numpy.exp2 undoes log2."
)


@dataclass(frozen=True, eq=False)
class Expression:
    """Samples × genes with names."""

    values: Any  # samples × genes, dense or CSR, none negative
    samples: Array  # names; "sample 0" and so on if none were given
    genes: Array
    named_genes: bool  # whether the names of genes were given
    rows: str  # of the input: "samples" or "genes"
    is_logged: bool  # whether the values seem to be logarithms
    notes: list[str] = field(default_factory=list)  # sentences about assumptions


@dataclass(frozen=True)
class GeneTable:
    """How a table of expression is laid out."""

    orientation: str = "auto"  # its rows: "samples", "genes", or "auto"
    genes: Any = None  # names; of an AnnData also a column of `var`
    samples: Any = None  # names; of an AnnData also a column of `obs`
    layer: str | None = None  # of an AnnData; "raw" is `adata.raw`


@dataclass(frozen=True, eq=False)
class Table:
    """A matrix before it is known what its rows are."""

    values: Any
    rows: Any = None  # names, or None
    columns: Any = None
    is_annotated: bool = False  # of an AnnData, whose rows are samples
    is_logged: bool = False  # by its own words


def read_expression(expression: Any, reading: GeneTable, known: Iterable[str] | None = None) -> Expression:
    """Samples × genes.

    Rows are samples in an AnnData. In tables and arrays the names given say what they are, by their number;
    otherwise there are more genes than samples, and a table that is nearly square is asked about.

    The axis that has `known` genes holds genes.
    """
    check_known("orientation", reading.orientation, ORIENTATIONS)
    table = _open(expression, reading)
    _refuse_text(table.values)
    X = check_features(table.values, name="expression", gaps=GAPS)
    check_nonnegative(X, "subtypes", NEGATIVE)
    rows, notes = _orient(table, X.shape, reading, known)
    if rows == "genes":
        X = X.T.tocsr() if sparse.issparse(X) else np.ascontiguousarray(X.T)
    names = {rows: table.rows, _other(rows): table.columns}
    # Columns of an AnnData have been looked up already.
    names |= {what: given for what, given in _given_names(reading) if not isinstance(given, str)}
    samples, genes = (
        _names(names["samples"], "sample", X.shape[0]),
        _names(names["genes"], "gene", X.shape[1]),
    )
    is_named = names["genes"] is not None
    is_logged = table.is_logged or _looks_logged(X)
    notes += [LOGARITHMS] * is_logged + _note_of_totals(X)
    return Expression(X, samples, genes, is_named, rows, is_logged, notes)


def _given_names(reading: GeneTable) -> list[tuple[str, Any]]:
    return [
        (w, names)
        for w, names in (("genes", reading.genes), ("samples", reading.samples))
        if names is not None
    ]


def _other(rows: str) -> str:
    return "genes" if rows == "samples" else "samples"


# What was given ---------------------------------------------------------------------------------------------


def _open(expression: Any, reading: GeneTable) -> Table:
    if is_a(expression, "anndata", "AnnData"):
        return _open_annotated(expression, reading)
    if reading.layer is not None:
        raise CombinationError(
            f"layer={reading.layer!r} belongs to an AnnData, but {type(expression).__name__} was given."
        )
    for name, given in _given_names(reading):
        if isinstance(given, str):
            raise InputTypeError(f"{name}={given!r} must be a list of names, one for each of the {name}.")
    if is_a(expression, "pandas", "DataFrame"):
        rows, columns = (_index_names(axis) for axis in (expression.index, expression.columns))
        if not expression.columns.is_unique:  # scikit-learn's refusal knows neither genes nor samples
            expression = expression.set_axis(range(expression.shape[1]), axis=1)
        return Table(expression, rows, columns)
    return Table(expression)


def _index_names(index: Any) -> Any:
    """The names of an axis of a DataFrame, None if pandas has only numbered it."""
    return None if is_a(index, "pandas", "RangeIndex") else index


def _open_annotated(adata: Any, reading: GeneTable) -> Table:
    if getattr(adata, "isbacked", False):
        adata = adata.to_memory()
    source = adata
    if reading.layer is None:
        values = adata.X
    elif reading.layer in adata.layers:
        values = adata.layers[reading.layer]
    elif reading.layer == "raw" and adata.raw is not None:
        source, values = adata.raw, adata.raw.X
    else:
        known = [*adata.layers, *(["raw"] if adata.raw is not None else [])]
        has = ", ".join(map(repr, known)) or "none"
        raise OptionError(
            f"layer={reading.layer!r} is not in this AnnData, which has {has}. layer=None takes adata.X."
        )
    if values is None:
        raise InputError(
            f"This AnnData has no X. Give one of its layers: {', '.join(map(repr, adata.layers))}."
        )
    is_logged = reading.layer in (None, "raw") and "log1p" in adata.uns
    rows = "genes" if reading.orientation == "genes" else "samples"
    asked = dict(_given_names(reading))
    return Table(
        values,
        _column(adata.obs, "obs", asked.get(rows), adata.obs_names),
        _column(source.var, "var", asked.get(_other(rows)), source.var_names),
        True,
        is_logged,
    )


def _column(frame: Any, name: str, column: Any, otherwise: Any) -> Any:
    """A column of `obs` or `var`, or the names of its rows if no column is named."""
    if not isinstance(column, str):
        return otherwise
    if column not in frame.columns:
        known = ", ".join(map(repr, frame.columns)) or "no columns"
        raise OptionError(f"{column!r} is not a column of adata.{name}, which has {known}.")
    return frame[column]


def _refuse_text(values: Any) -> None:
    """Refuse a table with columns of text: mostly the names of genes, which belong into its index."""
    if not is_a(values, "pandas", "DataFrame"):
        return
    named = [
        (name, next((v for v in values.iloc[:, place] if isinstance(v, str)), None))
        for place, (name, dtype) in enumerate(zip(values.columns, values.dtypes, strict=True))
        if getattr(dtype, "kind", "O") not in "biuf"
    ]
    texts = [(name, text) for name, text in named if text is not None]
    if texts:
        name, text = texts[0]
        others = f" So do {len(texts) - 1} others." if len(texts) > 1 else ""
        raise InputTypeError(
            f"Column {name!r} of the table holds text, such as {text!r:.60}.{others} If these are the names "
            f"of genes or samples, make them the index: table.set_index({name!r}). Leave out columns that "
            "hold no measurements: table.drop(columns=[...])."
        )


# Which way round --------------------------------------------------------------------------------------------


def _orient(
    table: Table, shape: tuple[int, int], reading: GeneTable, known: Iterable[str] | None
) -> tuple[str, list[str]]:
    """The kind of the rows, "samples" or "genes", and a sentence if that was assumed."""
    if reading.orientation != "auto":
        return reading.orientation, []
    if table.is_annotated:
        return "samples", []
    found = _rows_by_known(table, known) or _rows_by_names(shape, reading)
    if found is not None:
        return found, []
    if known is not None:  # without names the columns have to be those of the first data
        return "samples", []
    if max(shape) < NEARLY_SQUARE * min(shape):
        raise InputError(
            f"The expression is {shape[0]} × {shape[1]}, nearly square, so it does not show whether its rows "
            "are samples or genes. Say orientation='samples' or orientation='genes': what the rows are."
        )
    rows = "samples" if shape[1] > shape[0] else "genes"
    return rows, [
        f"The {shape[0]:,} rows were taken for {rows} and the {shape[1]:,} columns for {_other(rows)}, since "
        f"there are usually more genes than samples; orientation={_other(rows)!r} reads it the other way."
    ]


def _rows_by_names(shape: tuple[int, int], reading: GeneTable) -> str | None:
    """The kind of the rows by the numbers of names given; None if these leave it open."""
    if shape[0] == shape[1]:
        return None
    for what, names in _given_names(reading):
        count = len(names)
        if count not in shape:
            raise InputError(
                f"{what} has {count} names, but the expression is {shape[0]} × {shape[1]}: give one name for "
                f"each of the {what}."
            )
        return what if count == shape[0] else _other(what)
    return None


def _rows_by_known(table: Table, known: Iterable[str] | None) -> str | None:
    if known is None:
        return None
    wanted = set(known)
    in_rows, in_columns = (
        sum(str(name) in wanted for name in (() if names is None else names))
        for names in (table.rows, table.columns)
    )
    if in_rows == in_columns:
        return None
    return "genes" if in_rows > in_columns else "samples"


# Names ------------------------------------------------------------------------------------------------------


def _names(given: Any, what: str, count: int) -> Array:
    """Names as strings, each only once."""
    if given is None:
        return np.array([f"{what} {number}" for number in range(count)], dtype=object)
    if isinstance(given, Mapping | Set):
        raise InputTypeError(
            f"{what}s is a {type(given).__name__}, which has no order: give a list of names."
        )
    names = list(given)
    if len(names) != count:
        raise InputError(f"{what}s has {len(names)} names, but there are {count} {what}s: give one for each.")
    if missing := [number for number, name in enumerate(names) if is_missing(name)]:
        raise InputError(
            f"{len(missing)} of {count} {what}s have no name, the first at {missing[0]}: name them or leave "
            "them out."
        )
    found = np.array([str(name) for name in names], dtype=object)
    _refuse_repeated(found, what)
    return found


def _refuse_repeated(names: Array, what: str) -> None:
    unique, counts = np.unique(names.astype(str), return_counts=True)
    if len(unique) == len(names):
        return
    repeated = unique[counts > 1]
    advice = {
        "gene": "Combine them, for example table.groupby(level=0).mean() with genes in rows, or number them, "
        "as adata.var_names_make_unique() does.",
        "sample": "Give each sample a name of its own, as adata.obs_names_make_unique() does.",
    }
    raise InputError(
        f"{len(repeated)} names of {what}s occur more than once: {listed(repeated)}. {advice[what]}"
    )


def listed(names: Any) -> str:
    """The first few names, and how many more there are."""
    names = list(names)
    more = f" and {len(names) - LISTED:,} more" if len(names) > LISTED else ""
    return ", ".join(repr(str(name)) for name in names[:LISTED]) + more


# What is noticed --------------------------------------------------------------------------------------------


def _looks_logged(X: Any) -> bool:
    """Whether values are small, not whole, and closer to each other than raw ones are."""
    values = X.data if sparse.issparse(X) else X
    positive = values[values > 0]
    if not positive.size or positive.max() > LARGEST_LOGARITHM or _are_whole(X):
        return False
    return bool(positive.max() < LARGEST_RATIO * np.median(positive))


def _note_of_totals(X: Any) -> list[str]:
    totals = np.asarray(X.sum(axis=1, dtype=np.float64)).ravel()
    least, most = totals.min(), totals.max()
    if most <= DEPTH * least:
        return []
    how = f"by a factor of up to {most / least:.0f}" if least > 0 else "and some are zero"
    return [
        f"The totals of samples differ, {how}. If that is how deeply they were sequenced, scale them to the "
        "same total first, as counts per million (CPM) are."
    ]


# Genes ------------------------------------------------------------------------------------------------------


def gene_floor(means: Array) -> float:
    """The mean below which a gene counts as silent: a hundredth of the median over genes with any.

    It has the unit of the data, so that nothing depends on whether these are counts or intensities.
    """
    positive = means[means > 0]
    return SHARE * float(np.median(positive)) if positive.size else 0.0


def select_genes(X: Any, n_genes: int | None) -> Array:
    r"""The columns of at most `n_genes` with the largest coefficients of variation σ/μ, in order.

    Kuang (2014, 4.7) takes 5,000 genes by σ/μ, as Brunet et al. (2004) do. That of a gene that is found in
    one of n samples is √(n − 1), the largest there is: so genes that are silent take no part, whose mean is
    zero or below `gene_floor`, or which are found in fewer than three samples. Nor do those that do not vary.

    Where all values are whole numbers, they may be counts, whose variance is at least their mean by chance
    alone, and σ/μ would choose genes with few counts for having few. So σ² is then the variance beyond μ, and
    genes take part in which it is more than chance: σ² > μ(1 + 3√(2/(n − 1))), three standard errors. To
    intensities, which are thousands, that makes no difference.
    """
    if n_genes is not None:
        check_number("n_genes", n_genes, least=1, whole=True)
    mean, variance = _moments(X)
    varying = (mean > 0) & (mean >= gene_floor(mean)) & (_found_in(X) >= min(LEAST_SAMPLES, X.shape[0]))
    # Constant genes have a variance of rounding size.
    varying &= variance > (10 * np.finfo(np.float64).eps * mean) ** 2
    if not varying.any():
        raise InputError(
            f"None of the {X.shape[1]} genes varies between the {X.shape[0]} samples, so nothing sets them "
            "apart. Are these the values that were measured?"
        )
    if _are_whole(X):
        varying, variance = _beyond_counting(mean, variance, varying, X.shape[0])
    left = np.flatnonzero(varying)
    coefficient = np.sqrt(variance[left]) / mean[left]
    order = np.argsort(-coefficient.round(12), kind="stable")  # the same for genes that differ by rounding
    return np.sort(left[order[:n_genes]])


def _beyond_counting(mean: Array, variance: Array, varying: Array, n: int) -> tuple[Array, Array]:
    """The genes that vary more than counts do by chance, and by how much; all if none does."""
    beyond = varying & (variance > mean * (1 + 3 * np.sqrt(2 / (n - 1))))
    return (beyond, variance - mean) if beyond.any() else (varying, variance)


def _are_whole(X: Any) -> bool:
    """Whether all values are whole numbers; mostly found out from the first few."""
    values = X.data if sparse.issparse(X) else X.ravel()
    return not any(np.any(values[i : i + CHUNK] % 1) for i in range(0, values.size, CHUNK))


def _found_in(X: Any) -> Array:
    """The number of samples in which each gene is above zero."""
    if sparse.issparse(X):
        return np.bincount(X.indices[X.data > 0], minlength=X.shape[1])
    return np.count_nonzero(X, axis=0)


def _moments(X: Any) -> tuple[Array, Array]:
    """Means and variances of the genes, in float64."""
    if sparse.issparse(X):
        mean, variance = mean_variance_axis(X.astype(np.float64), axis=0)
        return mean, variance
    return X.mean(axis=0, dtype=np.float64), X.var(axis=0, dtype=np.float64)
