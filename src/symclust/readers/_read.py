"""Which reader a file is for, by its ending, its first bytes and its first lines."""

from __future__ import annotations

import json
import re
from collections.abc import Callable, Sequence
from dataclasses import replace
from functools import partial
from inspect import signature
from typing import TYPE_CHECKING, Any, Literal, TypedDict, Unpack, overload

from symclust._types import Data, FilePath
from symclust.exceptions import CombinationError, InputError, OptionError
from symclust.readers._delimited import SAMPLE_ROWS, Layout, is_number, lay_out, take_sample, without_comments
from symclust.readers._pairs import KINDS, Described
from symclust.readers._source import FEWER, Source, magic_of
from symclust.readers.arrays import read_matrix_market, read_npy, read_npz
from symclust.readers.expression import read_h5ad
from symclust.readers.graphs import (
    PARSERS,
    end_places,
    has_attributes,
    looks_like_edges,
    read_edges,
    read_networkx,
)
from symclust.readers.images import read_image_file
from symclust.readers.on_disk import is_on_disk, read_on_disk
from symclust.readers.tables import LOADERS, looks_like_header, read_frame, read_table
from symclust.readers.texts import (
    TEXT_NAMES,
    find_text_column,
    read_folder,
    read_json_lines,
    read_lines,
    read_text_table,
)
from symclust.validation import MARK, check_known

if TYPE_CHECKING:
    import anndata
    import numpy as np
    import pandas
    from scipy import sparse

    from symclust.operators import Network, OnDisk, Operator

MATRICES = ("features", "similarity", "graph")
# The reader of each format, and the kinds of data it may hold.
READERS: dict[str, tuple[Callable[..., Described], tuple[str, ...]]] = {
    "table": (read_table, MATRICES),
    **{form: (partial(read_frame, load), MATRICES) for form, load in LOADERS.items()},
    "npy": (read_npy, (*MATRICES, "image")),
    "npz": (read_npz, (*MATRICES, "image")),
    "matrix_market": (read_matrix_market, MATRICES),
    "edges": (read_edges, ("graph",)),
    **{form: (partial(read_networkx, parser), ("graph",)) for form, parser in PARSERS.items()},
    "folder": (read_folder, ("texts",)),
    "on_disk": (read_on_disk, ("graph",)),
    "json_lines": (read_json_lines, ("texts",)),
    "text_table": (read_text_table, ("texts",)),
    "lines": (read_lines, ("texts",)),
    "h5ad": (read_h5ad, ("expression", "features")),
    "image": (read_image_file, ("image",)),
}
ENDINGS = {
    ".npy": "npy",
    ".npz": "npz",
    ".mtx": "matrix_market",
    ".mm": "matrix_market",
    ".parquet": "parquet",
    ".pq": "parquet",
    ".xlsx": "excel",
    ".edges": "edges",
    ".edgelist": "edges",
    ".el": "edges",
    ".graphml": "graphml",
    ".gml": "gml",
    ".gexf": "gexf",
    ".net": "pajek",
    ".paj": "pajek",
    ".jsonl": "json_lines",
    ".ndjson": "json_lines",
    ".h5ad": "h5ad",
    **dict.fromkeys((".png", ".jpg", ".jpeg", ".tif", ".tiff", ".bmp", ".gif"), "image"),
}
# How graphs in text begin, in lower case.
GRAPHS = {
    "gexf": rb"<gexf|<\?xml[^>]*>\s*(<!--.*?-->\s*)*<gexf",
    "graphml": rb"<\?xml|<graphml|<!doctype",
    "gml": rb"(creator\s.*\n|version\s.*\n|comment\s.*\n)*graph\s*\[",
    "pajek": rb"\*(network|vertices)\b",
}
NODE_LINK = re.compile(rb'\s*\{(?=.*"nodes"\s*:)(?=.*"(links|edges)"\s*:)', re.DOTALL)
DELIMITED = (".csv", ".tsv", ".tab")
ADVICE = {
    ".pkl": "Pickles can run any code and are never opened.",
    ".pickle": "Pickles can run any code and are never opened.",
    ".joblib": "Pickles can run any code and are never opened.",
    ".xls": "Save the sheet as CSV.",
    ".ods": "Save the sheet as CSV.",
    ".pdf": "Extract its text first.",
    ".zip": "Unpack it first.",
    ".tar": "Unpack it first.",
    ".mat": "Save the matrix as .npy, or as MatrixMarket with scipy.io.mmwrite.",
    ".rds": "Write it from R as CSV or Parquet.",
}
ONE_DOCUMENT = (".md", ".html", ".htm", ".rst")
MOST_FIELDS = 4  # of an edge: two ends, a weight and a date
PLANNED = ("table", *LOADERS)  # tables of features, prepared by `fit`
OF_PLANS = ("drop", "numbers", "categories", "log", "scale", "category_weight")
OF_TEXTS, OF_GRAPHS = ("text_column",), ("duplicates", "weight")


class ReadOptions(TypedDict, total=False):
    """The options of `read`."""

    delimiter: str | None
    header: bool | Literal["auto"]
    id_column: str | int | None
    columns: str | int | Sequence[str | int] | None
    text_columns: Literal["auto", "error", "drop", "one_hot"]
    missing: Literal["auto", "error", "drop_rows", "drop_columns", "mean"]
    drop: Sequence[str | int]
    numbers: Sequence[str | int]
    categories: Sequence[str | int]
    log: bool | Literal["auto"] | Sequence[str | int]
    scale: str | None
    category_weight: float | None
    weight: str | int | None
    duplicates: Literal["error", "sum", "max", "first"]
    memory_limit: int
    text_column: str | None
    key: str | None
    encoding: str


@overload
def read(path: FilePath, kind: Literal["texts"], **options: Unpack[ReadOptions]) -> dict[str, str]: ...
@overload
def read(path: FilePath, kind: Literal["image"], **options: Unpack[ReadOptions]) -> np.ndarray: ...
@overload
def read(path: FilePath, kind: Literal["graph"], **options: Unpack[ReadOptions]) -> Network | OnDisk: ...
@overload
def read(
    path: FilePath, kind: str = "auto", **options: Unpack[ReadOptions]
) -> pandas.DataFrame | np.ndarray | sparse.csr_array | Operator | dict[str, str] | anndata.AnnData: ...
def read(path: FilePath, kind: str = "auto", **options: Unpack[ReadOptions]) -> Data:
    r"""Read a file of any supported format as something that `fit` or `topics` takes, with names.

    Parameters
    ----------
    path : str or PathLike
        A file, also compressed with gzip; a folder of text files, or one that `build_on_disk` has made; or
        ``"-"``, text on standard input.
    kind : {"auto", "features", "similarity", "graph", "texts", "expression", "image"}, default="auto"
        Content of the file. "auto" goes by its ending, its first bytes and its first lines.
    **options
        Further details; each format takes some of these and refuses the others by name.

        - `delimiter`: the character between fields, or ``"spaces"``; guessed by default (tables, edges,
          texts).
        - `header`: True, False or "auto" (tables, edges, texts).
        - `id_column`: the name or number of the column that names the samples, None for none, "auto" to
          recognise it (tables, Parquet, texts).
        - `columns`: the features to take (tables).
        - `text_columns`: "error", "drop", or "one_hot" for a column of zeros and ones for each value; left to
          `fit` by default (tables).
        - `missing`: "error", "drop_rows", "drop_columns", or "mean" to fill gaps in; left to `fit` by default
          (tables).
        - `drop`, `numbers`, `categories`, `log`, `scale`, `category_weight`: parts of the plan that `fit`
          makes for a table, see `symclust.TablePlan.of` (tables).
        - `weight`: column or attribute with the weights of edges, None to give each the weight 1 (graphs).
        - `duplicates`: "error", "sum", "max" or "first", for edges that are listed twice (graphs).
        - `memory_limit`: bytes of it that may be in memory at a time (matrices on disk).
        - `text_column`: the column or key that holds the texts (texts).
        - `key`: the array to take (NPZ).
        - `encoding`: of text, "utf-8" by default (all text formats).

    Returns
    -------
    DataFrame, ndarray, csr_array, Operator, dict or AnnData
        Features are a DataFrame with the names of samples as index (tables), or an array. Similarities are a
        DataFrame whose index equals its columns, or an operator. A graph is a `symclust.operators.Network`
        with `names`, or an `OnDisk`. Texts are a dict of names and texts, for `topics`. An image is an array
        of pixels.

    Raises
    ------
    InputError
        With what is wrong, where, and what to do about it.

    Notes
    -----
    Files are never unpickled, nothing they name is opened or fetched, and what decompresses to more than
    memory holds is given up. docs/results.md has more.

    Examples
    --------
    >>> from pathlib import Path
    >>> from tempfile import TemporaryDirectory
    >>> import symclust
    >>> with TemporaryDirectory() as folder:
    ...     path = Path(folder) / "people.csv"
    ...     _ = path.write_text("name;age;height\nann;29;1,70\nbob;27;1,85\n")
    ...     people = symclust.read(path)
    >>> people.loc["bob", "height"]
    np.float64(1.85)
    """
    return read_described(path, kind, **options).data


def read_described(path: FilePath, kind: str = "auto", **options: Unpack[ReadOptions]) -> Described:
    r"""Read a file as `read` does, and describe the data: their kind, names, and all assumptions.

    Parameters
    ----------
    path, kind, **options
        As in `read`.

    Returns
    -------
    Described
        With `data`, `kind`, `names` and `notes`.

    Examples
    --------
    >>> from pathlib import Path
    >>> from tempfile import TemporaryDirectory
    >>> from symclust.readers import read_described
    >>> with TemporaryDirectory() as folder:
    ...     path = Path(folder) / "friends.txt"
    ...     _ = path.write_text("# friends\nann bob\nbob cem\ncem ann\n")
    ...     found = read_described(path)
    >>> found.kind, found.names, found.notes[-1]
    ('graph', ['ann', 'bob', 'cem'], 'Fields are separated by spaces.')
    """
    check_known("kind", kind, ("auto", *KINDS))
    source = Source(path)
    try:
        return _read(source, kind, dict(options))
    except MemoryError as error:  # of a library, for more than was foreseen
        raise InputError(f"{source.name} takes more memory than there is. {FEWER}") from error
    except OSError as error:  # a file that has gone, a disk that fails
        raise InputError(f"{source.name} cannot be read: {error.strerror or error}.") from error


def _read(source: Source, kind: str, options: dict[str, Any]) -> Described:
    form = _format_of(source, kind, options)
    reader, kinds = READERS[form]
    if kind not in ("auto", *kinds):
        raise CombinationError(
            f"kind={kind!r} is not possible for {source.name}, which is read as {form.replace('_', ' ')} and "
            f"holds {' or '.join(map(repr, kinds))}."
        )
    known = tuple(name for name in signature(reader).parameters if name not in ("source", "kind"))
    own = OF_PLANS if form in PLANNED else ()
    for name, value in options.items():
        if name not in (*known, *own):
            listed = ", ".join(map(repr, (*known, *own))) or "none"
            raise OptionError(
                f"{name}={value!r:.60} is not an option for {source.name}, which is read as "
                f"{form.replace('_', ' ')}. Its options: {listed}."
            )
    plan = {name: value for name, value in options.items() if name in own}
    options = {name: value for name, value in options.items() if name not in own}
    found = reader(source, **({} if kind == "auto" else {"kind": kind}), **options)
    if form in PLANNED and found.kind == "features":
        found.data.attrs[MARK] = plan
    return replace(found, notes=source.notes + found.notes)


def _format_of(source: Source, kind: str, options: dict[str, Any]) -> str:
    """The format of a source, by its ending, then by its content."""
    if source.is_folder:
        return "on_disk" if is_on_disk(source) else "folder"
    if source.suffix in ADVICE:
        raise InputError(
            f"{source.name}: files that end in {source.suffix} are not read. {ADVICE[source.suffix]}"
        )
    if source.suffix in ONE_DOCUMENT:
        raise InputError(f"{source.name} is one document. Give the folder with all of them.")
    if not source.head:
        raise InputError(f"{source.name} is empty: there is nothing to read.")
    if source.suffix in ENDINGS:
        return ENDINGS[source.suffix]
    known = magic_of(source.head)
    if known is not None and source.suffix not in DELIMITED:
        source.notes.append(f"By its first bytes it is of the format {known.replace('_', ' ')}.")
        return known
    return _format_of_text(source, kind, options)


def _format_of_text(source: Source, kind: str, options: dict[str, Any]) -> str:  # noqa: PLR0911
    data = source.text(options.get("encoding", "utf-8"))
    start = data[:400].lstrip().lower()
    for form, pattern in GRAPHS.items():
        if re.match(pattern, start):
            return form
    if source.suffix == ".json" and NODE_LINK.match(data):
        return "node_link"
    if source.suffix == ".json" and (b"\n" not in data.strip() or not _is_json(data)):
        return "json"
    if kind in ("auto", "texts") and _is_json(data):
        return "json_lines"
    bare = without_comments(data)
    if not bare.strip():
        raise InputError(f"{source.name} holds comments alone, lines that begin with # or %.")
    if kind in ("auto", "graph") and has_attributes(bare):
        return "edges"
    layout = lay_out(take_sample(bare, source.name), source.suffix, options.get("delimiter"))
    wanted = kind if kind != "auto" else _kind_by_options(options)
    if wanted == "auto":
        return _format_by_rows(source, layout)
    if wanted == "graph":
        is_matrix = _is_square(layout) or layout.width > MOST_FIELDS
        return "table" if is_matrix and not set(OF_GRAPHS) & set(options) else "edges"
    return _format_of_texts(source, options) if wanted == "texts" else "table"


def _kind_by_options(options: dict[str, Any]) -> str:
    """The kind of data that the given options belong to."""
    if any(name in options for name in OF_TEXTS):
        return "texts"
    return "graph" if any(name in options for name in OF_GRAPHS) else "auto"


def _format_of_texts(source: Source, options: dict[str, Any]) -> str:
    if source.suffix in DELIMITED or any(
        name in options for name in ("text_column", "delimiter", "id_column")
    ):
        return "text_table"
    return "lines"


def _format_by_rows(source: Source, layout: Layout) -> str:
    """The format that rows look like: a table, edges, a table of texts, or a document each."""
    rows, has_header = layout.rows, looks_like_header(layout.rows)
    if _is_square(layout):
        return "table"
    if end_places(rows[0]) is not None and layout.width <= 4:
        return "edges"
    if has_header and _has_texts(layout):
        return "text_table"
    are_numbers = [is_number(field) for row in rows[1:] or rows for field in row]
    if source.suffix in DELIMITED:
        names_alone = looks_like_edges(layout) and not any(
            field.isdigit() for row in rows for field in row[:2]
        )
        return "edges" if names_alone and (layout.width == 2 or not has_header) else "table"
    if looks_like_edges(layout):
        source.notes.append("Lines are taken for edges; kind='features' takes them for rows of a table.")
        return "edges"
    is_even = layout.width > 1 and all(len(row) == layout.width for row in rows[1:])
    return "table" if any(are_numbers) and (is_even or 2 * sum(are_numbers) > len(are_numbers)) else "lines"


def _has_texts(layout: Layout) -> bool:
    place = find_text_column(layout.rows[0], layout.rows[1:])
    if place is None:
        return False
    if layout.rows[0][place].strip().lower() in TEXT_NAMES:
        return True
    others = [field for row in layout.rows[1:] for p, field in enumerate(row) if p != place and p > 0]
    return not any(is_number(field) for field in others)


def _is_square(layout: Layout) -> bool:
    """Whether the names in the first row are those that the other rows begin with."""
    names = set(layout.rows[0][1 - layout.width :]) if layout.width > 2 else set()
    begins = [row[0] for row in layout.rows[1:] if row]
    is_whole = len(layout.rows) < SAMPLE_ROWS  # otherwise there are more rows than were looked at
    found = set(begins) == names if is_whole else set(begins) <= names
    if len(layout.rows[0]) == layout.width and is_number(layout.rows[0][0]):
        return False  # numbers alone, which a symmetric matrix repeats
    return bool(begins) and found and len(names) == layout.width - 1 and len(set(begins)) == len(begins)


def _is_json(data: bytes) -> bool:
    line = data.lstrip()[: 1 << 20].split(b"\n")[0]
    if not line.startswith((b"{", b'"')):
        return False
    try:
        return isinstance(json.loads(line), dict | str)
    except (ValueError, RecursionError):
        return False
