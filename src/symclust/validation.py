"""What input must be, and the words said when it is not."""

from __future__ import annotations

import math
import os
from numbers import Integral, Real
from typing import Any

import numpy as np
from scipy import sparse
from sklearn.utils.validation import check_array

from symclust.exceptions import InputError, InputTypeError, OptionError

__all__ = [
    "FILL",
    "PAIRS",
    "ask_what_it_is",
    "check_features",
    "check_known",
    "check_memory",
    "check_n_clusters",
    "check_nonnegative",
    "check_number",
    "check_range",
    "check_scale",
    "check_similarity",
    "check_stored",
    "end_columns",
    "float_dtype",
    "is_a",
    "is_missing",
    "looks_like_similarity",
    "refuse_edges",
    "refuse_masked",
    "sample_names",
    "is_true",
    "share_of_zeros",
    "tensor_on_host",
]

# Gradients of two factors are of the size of X^1.5, with a baseline X²; their squares are summed in float64.
LARGEST = {np.dtype(np.float32): 1e15, np.dtype(np.float64): 1e75}

SHIFT = "Shift or clip the features, or use a model of similarities, such as SymNMF."
NUMBERS = "Every entry must be a number: encode text and categories first (sklearn.preprocessing)."
# What to do about gaps in features, and in similarities.
FILL = "Remove those samples or features, or fill the gaps, for example with sklearn.impute.SimpleImputer."
PAIRS = (
    "Put 0 where two samples are not similar at all. Pairs about which nothing is known are named in ignore= "
    "of OffDiagonalSymNMF, with 0 in their place."
)


# Names that columns of edges have in tables, by the lists of networkx, igraph, Gephi and others.
ENDS = ("source", "src", "from", "node1", "node_1", "u", "head", "id1", "vertex1")
OTHER_ENDS = ("target", "dst", "dest", "destination", "to", "node2", "node_2", "v", "tail", "id2", "vertex2")
# Fewer rows are symmetric by chance, or are examples of features that somebody typed.
LEAST_SQUARE = 10
SEEN_EDGES = 100  # rows that are looked at before a list is taken for one of edges


def float_dtype(dtype: Any) -> np.dtype[Any]:
    """Return the precision to compute in: float32 and float64 stay, integers and bools become float64.

    Examples
    --------
    >>> from symclust.validation import float_dtype
    >>> float_dtype("int32"), float_dtype("float32")
    (dtype('float64'), dtype('float32'))
    """
    dtype = np.dtype(dtype)
    if dtype.kind in "biu":
        return np.dtype(np.float64)
    if dtype.kind == "f":
        return np.dtype(np.float32 if dtype.itemsize <= 4 else np.float64)
    raise InputTypeError(
        f"Entries of dtype {dtype} cannot be used as similarities. Expected real numbers: float32, float64, "
        "integers or bools; convert with .astype(float)."
    )


def check_features(X: Any, *, name: str = "X", gaps: str = FILL, copy: bool = False) -> Any:
    """Return samples × features as a C-ordered array or a CSR array of float32 or float64.

    float32 and float64 stay what they are; integers, bools and other floats become float64. A sparse input
    comes back with sorted indices and without duplicate entries; what was given is never changed.

    Parameters
    ----------
    X : array-like, sparse, torch.Tensor or AnnData of shape (n_samples, n_features)
        Of an AnnData, its matrix ``X``. A tensor is brought to the host.
    name : str
        What the messages call it.
    gaps : str
        What the messages advise about NaN, infinity and masked entries.
    copy : bool
        Whether the result must not share memory with X, for who keeps it.

    Raises
    ------
    InputError
        For another number of dimensions, no samples, no features, complex numbers, NaN, infinity, or masked
        entries.
    InputTypeError
        For a path, a Dask collection or a list of edges, and for entries that are not numbers.

    Examples
    --------
    >>> from symclust.validation import check_features
    >>> check_features([[1, 2], [3, 4]]).dtype
    dtype('float64')
    """
    _refuse_containers(X, name)
    X = _matrix_of_annotated(X, name) if is_a(X, "anndata", "AnnData") else X
    X = tensor_on_host(X) if is_a(X, "torch", "Tensor") else X
    refuse_edges(X, name=name)
    refuse_masked(X, name=name, gaps=gaps)
    X = check_stored(X, name) if sparse.issparse(X) else X
    try:
        # scikit-learn's words, which its check_estimator looks for; finiteness is ours, to say where.
        X = check_array(
            X,
            accept_sparse="csr",
            dtype=[np.float64, np.float32],
            order="C",
            copy=copy,
            ensure_all_finite=False,
            input_name=name,
        )
    except TypeError as error:
        raise InputTypeError(f"{error}.{_where_not_a_number(X)} {NUMBERS}") from error
    except ValueError as error:
        text = str(error)
        if text.startswith("could not convert"):
            text = f"{text}.{_where_not_a_number(X)} {NUMBERS}"
        raise InputError(text) from error
    if sparse.issparse(X):
        X = _canonical(sparse.csr_array(X))
    _check_finite(X, name, gaps)
    return X


def tensor_on_host(X: Any) -> Any:
    """Return a tensor of PyTorch, on whatever device it lives, as a NumPy array or a SciPy sparse array.

    Half precision, which SciPy does not have, becomes float32.
    """
    X = X.detach().cpu()
    X = X.float() if X.is_floating_point() and X.element_size() < 4 else X
    if str(X.layout) == "torch.strided":
        return X.numpy()
    X = X.to_sparse_coo().coalesce()
    return sparse.coo_array((X.values().numpy(), tuple(X.indices().numpy())), shape=tuple(X.shape))


def _refuse_containers(X: Any, name: str) -> None:
    """Refuse what holds or points to the data, and say how to get at it."""
    if isinstance(X, str | bytes | os.PathLike):
        raise InputTypeError(
            f"{name} is a path or a text, {X!r:.60}. Expected the data themselves: an array, a DataFrame or "
            "a sparse matrix with one row per sample, or a graph. Read a file first: symclust.read(path), or "
            "numpy.loadtxt(path, delimiter=',') or pandas.read_csv(path)."
        )
    if is_a(X, "dask", "Array") or is_a(X, "dask", "DataFrame"):
        raise InputTypeError(
            f"{name} is a Dask {type(X).__name__}, and is needed in memory here. Give {name}.compute() if it "
            "fits, or some rows at a time. Blocks stay with the workers in HierarchicalNMF, topics and "
            "DocumentWeights, and in fits of similarities with affinity='precomputed'."
        )
    if any(is_a(X, "symclust", kind) for kind in ("AttributedGraph", "AttributedNodes")):
        raise InputTypeError(
            f"{name} is {type(X).__name__}, edges and features together, which models of similarities take "
            f"where both were fitted, such as SymNMF. Give {name}.features alone here."
        )


def _matrix_of_annotated(adata: Any, name: str) -> Any:
    """Return the matrix X of an AnnData, read into memory where it is still on disk."""
    if getattr(adata, "isbacked", False):
        adata = adata.to_memory()
    if getattr(adata, "X", None) is None:
        raise InputError(
            f"{name} is an AnnData without a matrix X. Give the matrix to be used: a layer "
            "adata.layers[...], or an embedding such as adata.obsm['X_pca']."
        )
    return adata.X


def sample_names(X: Any) -> list[Any] | None:
    """Return the names of samples: the index of a DataFrame, `obs_names` of an AnnData; None without names.

    Rows that are only counted from 0 on have no names.

    Examples
    --------
    >>> import pandas
    >>> from symclust.validation import sample_names
    >>> sample_names(pandas.DataFrame({"age": [29, 27]}, index=["ann", "bob"]))
    ['ann', 'bob']
    >>> sample_names(pandas.DataFrame({"age": [29, 27]})) is None
    True
    """
    if is_a(X, "pandas", "DataFrame"):
        counted = is_a(X.index, "pandas", "RangeIndex") and (X.index.start, X.index.step) == (0, 1)
        return None if counted else X.index.tolist()
    if is_a(X, "anndata", "AnnData"):
        names = [str(name) for name in X.obs_names]
        return None if names == [str(number) for number in range(len(names))] else names
    return None


def refuse_masked(X: Any, *, name: str = "X", gaps: str = FILL) -> None:
    """Refuse a masked array of NumPy in which an entry is masked: what is under the mask means nothing.

    Examples
    --------
    >>> import numpy as np
    >>> from symclust.validation import refuse_masked
    >>> refuse_masked(np.ma.masked_less([[1.0, -9.0]], 0))
    Traceback (most recent call last):
        ...
    symclust.exceptions.InputError: 1 of 2 entries of X are masked. Remove those samples or features...
    """
    if isinstance(X, np.ma.MaskedArray) and np.ma.is_masked(X):
        count = int(np.count_nonzero(np.ma.getmaskarray(X)))
        raise InputError(f"{count} of {X.size} entries of {name} are masked. {gaps}")


def refuse_edges(X: Any, *, name: str = "X", numbers: bool = False) -> None:
    """Refuse a list of edges, and say how it becomes a graph.

    These are edges: what networkx calls ``graph.edges``; a DataFrame with columns such as source and target;
    pairs or triples whose first two are names; a list of tuples, as ``list(graph.edges)`` is, whose first two
    are whole numbers; and, where `numbers` says that similarities are expected, whole numbers in any form. As
    features numbers in arrays and in lists of lists are as good as others.

    Examples
    --------
    >>> from symclust.validation import refuse_edges
    >>> refuse_edges([[0, 1], [1, 2], [2, 3]])
    >>> refuse_edges([("ann", "bob"), ("bob", "cem"), ("cem", "ann")])
    Traceback (most recent call last):
        ...
    symclust.exceptions.InputTypeError: X looks like a list of 3 edges, such as ('ann', 'bob'). Make a ...
    """
    if is_a(X, "networkx", "EdgeViewABC") or is_a(X, "igraph", "EdgeSeq"):
        raise InputTypeError(f"{name} holds the edges of a graph. Give the graph itself: fit(graph).")
    if is_a(X, "pandas", "DataFrame"):
        ends = end_columns(X)
        if ends is not None:
            raise InputTypeError(_about_table(X, name, *ends))
    elif (edge := _first_edge(X, numbers)) is not None:
        raise InputTypeError(_about_edges(len(X), edge, name))


def end_columns(frame: Any) -> tuple[Any, Any] | None:
    """Return the columns of a table that hold the two ends of edges, by their names; None if it has none.

    Examples
    --------
    >>> import pandas
    >>> from symclust.validation import end_columns
    >>> end_columns(pandas.DataFrame(columns=["weight", "Source", "Target"]))
    ('Source', 'Target')
    """
    if not 2 <= frame.shape[1] <= 4:  # with a weight, and perhaps a kind
        return None
    found = {str(column).strip().lower(): column for column in frame.columns}
    ends = [next((found[name] for name in names if name in found), None) for names in (ENDS, OTHER_ENDS)]
    return None if None in ends else (ends[0], ends[1])


def _first_edge(X: Any, numbers: bool) -> tuple[Any, ...] | None:
    """Return the first of pairs or triples that are edges, else None."""
    if not _is_sequence(X) or len(X) < 2 or not _is_sequence(X[0]) or len(X) == len(X[0]):
        return None  # two pairs or three triples are a matrix
    seen = X[:SEEN_EDGES]
    if not all(_is_sequence(row) and len(row) in (2, 3) for row in seen):
        return None
    numbers = numbers or (isinstance(X, list) and all(isinstance(row, tuple) for row in seen))
    are_nodes = all(isinstance(end, str) or (numbers and _is_whole(end)) for row in seen for end in row[:2])
    if not are_nodes or all(row[0] == row[1] for row in seen):  # loops alone are no graph
        return None
    return tuple(X[0].tolist() if isinstance(X[0], np.ndarray) else X[0])


def _is_sequence(value: Any) -> bool:
    return isinstance(value, list | tuple) or (isinstance(value, np.ndarray) and value.ndim > 0)


def _is_whole(value: Any) -> bool:
    is_number = isinstance(value, Real) and not isinstance(value, bool | np.bool_)
    return is_number and float(value).is_integer() and float(value) >= 0


def _about_table(frame: Any, name: str, source: Any, target: Any) -> str:
    weight = next((column for column in frame.columns if column not in (source, target)), None)
    reading = "" if weight is None else f", edge_attr={weight!r}"
    named = "" if weight in (None, "weight") else f" with affinity_params={{'weight': {weight!r}}}"
    return (
        f"{name} looks like a table of {len(frame)} edges, from {source!r} to {target!r}. Estimators on "
        "similarities, such as SymNMF, take it as it is. Elsewhere make a graph of it first: "
        f"fit(networkx.from_pandas_edgelist(df, {source!r}, {target!r}{reading})){named}, or "
        "igraph.Graph.DataFrame(df, directed=False). If these are features, give df.to_numpy()."
    )


def _about_edges(count: int, edge: tuple[Any, ...], name: str) -> str:
    is_weighted = len(edge) == 3
    made = "graph = networkx.Graph(); graph.add_weighted_edges_from(edges)" if is_weighted else ""
    otherwise = "encode names as numbers first" if isinstance(edge[0], str) else "give numpy.asarray(X)"
    return (
        f"{name} looks like a list of {count} edges, such as {edge!r:.80}. Make a graph of it first: "
        f"{made or 'networkx.from_edgelist(edges)'}, or igraph.Graph.TupleList(edges, "
        f"weights={is_weighted}); or, where nodes are numbered from 0 to n - 1, a sparse matrix: "
        "A = scipy.sparse.coo_array((weights, (i, j)), shape=(n, n)), then A + A.T with "
        f"affinity='network'. If these are features, {otherwise}."
    )


# Similarities given as features -----------------------------------------------------------------------------


def share_of_zeros(X: Any) -> float:
    """Return which share of the entries are zero, stored or not."""
    nonzeros = X.count_nonzero() if sparse.issparse(X) else np.count_nonzero(X)
    return 1 - nonzeros / max(1, X.shape[0] * X.shape[1])


def looks_like_similarity(X: Any) -> bool:
    """Return whether samples × features may be the similarities of samples, or a graph, instead.

    So it is for a matrix, dense or sparse, that is square, symmetric to the bit, without negative entries and
    with some off the diagonal, and has at least ten rows. Features that are measured are not symmetric by
    chance; what is too small to tell, or diagonal like features that name each sample, is taken for features.
    The cost is a few passes over X, and for a matrix that is not symmetric mostly that of one row.

    Parameters
    ----------
    X : ndarray or csr_array of shape (n_samples, n_features)
        What `check_features` returned.

    Examples
    --------
    >>> import numpy as np
    >>> from symclust.validation import looks_like_similarity
    >>> adjacency = 1 - np.eye(12)
    >>> looks_like_similarity(adjacency), looks_like_similarity(np.triu(adjacency))
    (True, False)
    """
    n, d = X.shape
    if n != d or n < LEAST_SQUARE:
        return False
    if sparse.issparse(X):
        is_symmetric = X.data.min(initial=0) >= 0 and (X != X.T).nnz == 0
        return bool(is_symmetric and X.count_nonzero() > np.count_nonzero(X.diagonal()))
    is_symmetric = np.array_equal(X[0], X[:, 0]) and X.min() >= 0 and np.array_equal(X, X.T)
    return bool(is_symmetric and np.count_nonzero(X) > np.count_nonzero(X.diagonal()))


def ask_what_it_is(X: Any) -> None:
    """Raise an InputError that asks whether X holds similarities or features, and says how to answer.

    Examples
    --------
    >>> import numpy as np
    >>> from symclust.validation import ask_what_it_is
    >>> ask_what_it_is(1 - np.eye(12))
    Traceback (most recent call last):
        ...
    symclust.exceptions.InputError: X is a symmetric matrix, 12 × 12, with zeros on its diagonal, as...
    """
    diagonal = X.diagonal()
    kind, distances = "and not negative, as similarities are", ""
    if not diagonal.any():
        kind = "with zeros on its diagonal, as the adjacency matrix of a graph has"
        if not sparse.issparse(X) and np.count_nonzero(X) == X.size - len(X):
            distances = (
                " If they are distances, turn them into similarities first, for example "
                "np.exp(-(D / np.median(D)) ** 2)."
            )
    elif (diagonal == diagonal[0]).all():
        kind = f"with {diagonal[0]:g} all along its diagonal, as similarities have"
    raise InputError(
        f"X is a symmetric matrix, {X.shape[0]} × {X.shape[1]}, {kind}. If its entries are similarities of "
        "samples, say affinity='precomputed'; if it is the adjacency matrix of a network, affinity='network'."
        f"{distances} If its rows are samples and its columns features, name what compares them, for example "
        "affinity='nearest_neighbors'."
    )


def is_a(anything: Any, library: str, name: str) -> bool:
    """Whether an object is of a library's class or a subclass, found out without importing the library.

    Examples
    --------
    >>> import pandas
    >>> from symclust.validation import is_a
    >>> is_a(pandas.DataFrame(), "pandas", "DataFrame")
    True
    """
    parents = type(anything).__mro__
    return any(p.__name__ == name and p.__module__.split(".")[0] == library for p in parents)


def _where_not_a_number(X: Any) -> str:
    """Return a sentence about the first entry that is not a number, or nothing."""
    cells = np.asarray(X, dtype=object)
    for place, value in np.ndenumerate(cells if cells.ndim == 2 else cells[:0]):
        try:
            float(value)
        except (TypeError, ValueError):
            row, column = place
            label = f" ({X.columns[column]!r})" if is_a(X, "pandas", "DataFrame") else ""
            return f" The first such entry, {value!r:.60}, is at row {row}, column {column}{label}."
    return ""


def check_stored(X: Any, name: str = "X") -> Any:
    """Return a SciPy sparse array whose indices are in order, as it is unless they are of an unusual type.

    SciPy and the kernels trust indices: a damaged array would make them read and write elsewhere in memory.
    Takes a pass over the indices.

    Examples
    --------
    >>> import scipy.sparse
    >>> from symclust.validation import check_stored
    >>> X = scipy.sparse.csr_array([[0, 2], [3, 0]])
    >>> X.indices[0] = 7
    >>> check_stored(X)
    Traceback (most recent call last):
        ...
    symclust.exceptions.InputError: The sparse X is damaged: its indices go from 0 to 7, ... 0 to 1. Make ...
    """
    if X.format not in ("csr", "csc", "bsr", "coo") or X.ndim != 2:
        return X
    fault = _fault_of_coordinates(X) if X.format == "coo" else _fault_of_rows(X)
    if fault is not None:
        raise InputError(
            f"The sparse {name} is damaged: {fault}. Make it anew, for example with scipy.sparse.coo_array "
            "from rows, columns and values."
        )
    if X.format == "coo" or all(array.dtype in (np.int32, np.int64) for array in (X.indices, X.indptr)):
        return X
    return type(X)((X.data, X.indices.astype(np.int64), X.indptr.astype(np.int64)), shape=X.shape)


def _fault_of_rows(X: Any) -> str | None:
    """Return the damage of compressed rows or columns, None if there is none."""
    block = X.blocksize if X.format == "bsr" else (1, 1)
    rows, columns = (size // b for size, b in zip(X.shape, block, strict=True))
    rows, columns = (columns, rows) if X.format == "csc" else (rows, columns)
    indptr, indices = X.indptr, X.indices
    if not all(array.ndim == 1 and array.dtype.kind in "iu" for array in (indptr, indices)):
        return f"indptr and indices hold {indptr.dtype} and {indices.dtype}, expected rows of whole numbers"
    if len(indptr) != rows + 1:
        return f"indptr has {len(indptr)} numbers, expected {rows + 1} for shape {X.shape}"
    if indptr[0] != 0 or (indptr[1:] < indptr[:-1]).any():
        return "indptr has to begin with 0 and must not fall"
    has_values = len(X.data) == len(indices) and X.data.ndim == (3 if X.format == "bsr" else 1)
    if not has_values or indptr[-1] > len(indices):
        return f"indptr ends with {indptr[-1]}, for {len(indices)} indices and values of shape {X.data.shape}"
    return _out_of_range(indices[: indptr[-1]], columns)


def _fault_of_coordinates(X: Any) -> str | None:
    ends = X.row, X.col
    if any(numbers.shape != X.data.shape or numbers.dtype.kind not in "iu" for numbers in ends):
        return "each entry needs a whole number for its row, another for its column, and a value"
    return next(filter(None, map(_out_of_range, ends, X.shape)), None)


def _out_of_range(indices: np.ndarray, size: int) -> str | None:
    if not indices.size or (indices.min() >= 0 and indices.max() < size):
        return None
    return f"its indices go from {indices.min()} to {indices.max()}, expected 0 to {size - 1}"


def _canonical(X: sparse.csr_array) -> sparse.csr_array:
    if not X.has_canonical_format:
        X = X.copy()  # sum_duplicates works in place, on arrays that may be the user's
        X.sum_duplicates()
    return X


def _check_finite(X: Any, name: str, gaps: str) -> None:
    values = X.data if sparse.issparse(X) else X
    with np.errstate(all="ignore"):
        if np.isfinite(values.sum()):  # one pass without a temporary; only an overflow needs the second look
            return
    for word, found in (("NaN", np.isnan(values)), ("infinity", np.isinf(values))):
        count = int(np.count_nonzero(found))
        if count:
            row, column = _first_position(X, found)
            raise InputError(
                f"Input {name} contains {word}. Entries concerned: {count}, the first at row {row}, column "
                f"{column}. {gaps}"
            )


def _first_position(X: Any, found: np.ndarray) -> tuple[int, int]:
    first = int(np.argmax(found))  # in C order, which for CSR is the order of the stored entries
    if sparse.issparse(X):
        return int(np.searchsorted(X.indptr, first, side="right")) - 1, int(X.indices[first])
    return first // X.shape[1], first % X.shape[1]


def check_nonnegative(X: Any, who: str, advice: str = SHIFT) -> None:
    """Refuse data, dense or CSR, with negative entries, and say where the first one is.

    Parameters
    ----------
    X : ndarray or csr_array of shape (n_samples, n_features)
        What `check_features` returned.
    who : str
        The estimator that the data was given to.
    advice : str
        What to do about it.

    Examples
    --------
    >>> import numpy as np
    >>> from symclust.validation import check_nonnegative
    >>> check_nonnegative(np.array([[1.0, -2.0]]), "NMF")
    Traceback (most recent call last):
        ...
    symclust.exceptions.InputError: Negative values in data passed to NMF, which builds samples from \
nonnegative parts. Entries concerned: 1, the first at row 0, column 1: -2. Shift or clip the features, or \
use a model of similarities, such as SymNMF.
    """
    values = X.data if sparse.issparse(X) else X
    if values.min(initial=0) >= 0:  # one pass without a temporary
        return
    row, column = _first_position(X, values < 0)
    raise InputError(
        f"Negative values in data passed to {who}, which builds samples from nonnegative parts. Entries "
        f"concerned: {np.count_nonzero(values < 0)}, the first at row {row}, column {column}: "
        f"{X[row, column]:.3g}. {advice}"
    )


def check_similarity(
    operator: Any, *, nonnegative: bool = True, symmetric: bool = False, name: str = "The similarity"
) -> float:
    """Refuse a similarity that is not finite, too small, not symmetric up to rounding, or negative.

    Parameters
    ----------
    operator : Operator
        What was given, as an operator.
    nonnegative : bool
        Whether negative entries are refused.
    symmetric : bool
        Whether it is known to be symmetric: that takes the longest to look at.
    name : str
        What messages about symmetry call it.

    Returns
    -------
    float
        ‖A‖².
    """
    squared_norm = float(operator.squared_norm())
    if not np.isfinite(squared_norm):
        raise InputError(
            "The similarity contains NaN, infinity, or values whose squares overflow. Every pair needs a "
            f"finite number. {PAIRS}"
        )
    _check_not_vanishing(operator, squared_norm)
    if not symmetric:
        _check_symmetric(operator, squared_norm, name)
    if nonnegative and not operator.is_nonnegative():
        raise InputError(
            f"Negative values in data: some similarities are negative{_negative_entry(operator)}, and this "
            "model builds them from nonnegative numbers. SymmetricFactorization takes them as they are. Or "
            "shift or clip them, turn distances into similarities first (for example exp(-d**2 / sigma**2)), "
            "or choose an affinity without negative values, such as 'nearest_neighbors'."
        )
    return squared_norm


def _check_not_vanishing(operator: Any, squared_norm: float) -> None:
    least = float(np.finfo(operator.dtype).tiny)
    if squared_norm <= (operator.n * least) ** 2 and 0 < (size := _size(operator)) < least:
        raise InputError(
            f"The similarity is too small: its largest entry is {size:.2g}, and numbers below {least:.2g} "
            f"have lost digits in {operator.dtype}. Multiply it by a constant, for example A / abs(A).max()."
        )


def _size(operator: Any) -> float:
    """Return the size of the largest entry, from all entries: asked for where squares vanish."""
    place = operator.negative_entry()
    return max(float(operator.largest()), -_value(operator, *place) if place else 0.0)


def _check_symmetric(operator: Any, squared_norm: float, name: str) -> None:
    asymmetry = operator.asymmetry()
    # The largest entry of some operators is a search through all n × n: only asked where it matters. Entries
    # may be large and negative; ‖A‖/n is never above the largest magnitude.
    largest = max(operator.largest(), np.sqrt(squared_norm) / operator.n) if asymmetry else 0.0
    if asymmetry > 1e4 * np.finfo(operator.dtype).eps * max(largest, asymmetry):
        i, j = operator.asymmetric_entry()
        raise InputError(
            f"{name} is not symmetric: a_ij and a_ji differ by up to {asymmetry:.3g} "
            f"(entries are as large as {largest:.3g}), most at {_place(operator, i, j)}: "
            f"{_value(operator, i, j):.6g} against {_value(operator, j, i):.6g}. "
            "Symmetrise it first, for example with (A + A.T) / 2."
        )


def _negative_entry(operator: Any) -> str:
    place = operator.negative_entry()
    return f" ({_value(operator, *place):.3g} at {_place(operator, *place)})" if place else ""


def _value(operator: Any, i: int, j: int) -> float:
    return float(operator.entries([i], [j])[0])


def _place(operator: Any, i: int, j: int) -> str:
    """Return row and column in words, with the names of the nodes where they have other names than these."""
    names = operator.names
    if names is None or (names[i], names[j]) == (i, j):
        return f"row {i}, column {j}"
    return f"row {i}, column {j} ({names[i]!r} and {names[j]!r})"


def check_memory(size: int, what: str, advice: str) -> None:
    """Refuse an array of `size` bytes that memory does not hold, before work is spent on it.

    Examples
    --------
    >>> from symclust.validation import check_memory
    >>> check_memory(1 << 62, "The complete graph", "Give n_neighbors=.")
    Traceback (most recent call last):
        ...
    symclust.exceptions.InputError: The complete graph would take 4.61e+09 GB of memory...
    """
    available = _available_memory()
    if available is None or size <= available:
        try:
            np.empty(size, dtype=np.uint8)  # where nothing is known of memory, the system is asked for it
            return
        except (MemoryError, ValueError):
            pass
    there = "" if available is None else f", of which {available / 1e9:.3g} GB are available"
    raise InputError(f"{what} would take {size / 1e9:.3g} GB of memory{there}. {advice}")


def _available_memory() -> int | None:
    """Return the bytes that can be had without moving programs out of memory, or None if nobody tells."""
    try:
        with open("/proc/meminfo", encoding="ascii") as lines:
            found = dict(line.split(":", 1) for line in lines)
        return 1024 * int(found["MemAvailable"].split()[0])
    except (OSError, KeyError, ValueError):
        pass
    try:  # all there is: of what other programs use nothing is known
        return os.sysconf("SC_PHYS_PAGES") * os.sysconf("SC_PAGE_SIZE")
    except (AttributeError, OSError, ValueError):
        return None


def check_range(X: Any) -> None:
    """Refuse nonnegative data, dense or sparse, so large or small that their products overflow or vanish.

    Examples
    --------
    >>> import numpy as np
    >>> from symclust.validation import check_range
    >>> check_range(np.full((2, 2), 1e12, dtype="float32"))
    """
    largest, limit = float(X.max()), LARGEST[X.dtype]
    if largest > limit or 0 < largest < 1 / limit:
        raise InputError(
            f"The largest entry of X is {largest:.3g}: products of such numbers leave the range of "
            f"{X.dtype}. Multiply X by a constant that brings it between {1 / limit:.0e} and {limit:.0e}."
        )


def check_scale(operator: Any) -> None:
    """Refuse a similarity so large or small that gradients of ‖A − HHᵀ‖² overflow or vanish.

    H is of size √‖A‖ and the gradient, whose square is summed in float64, of size ‖A‖√‖A‖; in the precision
    of A itself sizes up to ‖A‖² occur.

    Examples
    --------
    >>> import numpy as np
    >>> from symclust.operators import Dense
    >>> from symclust.validation import check_scale
    >>> check_scale(Dense(np.full((2, 2), 1e-12, dtype="float32")))
    """
    own, double = np.finfo(operator.dtype), np.finfo(np.float64)
    least = max(float(own.tiny) ** (1 / 2), float(double.tiny) ** (1 / 3))
    most = min(float(own.max) ** (1 / 2), float(double.max) ** (1 / 3))
    norm = float(np.sqrt(operator.squared_norm())) or _size(operator)  # squares of small entries may be 0
    if norm and not least <= norm <= most:
        raise InputError(
            f"The similarity is of size ‖A‖ = {norm:.2g}; sizes from {least:.2g} to {most:.2g} can be "
            f"factored in {operator.dtype}. Multiply it by a constant, for example A / abs(A).max()."
        )


def check_known(parameter: str, value: Any, known: tuple[str, ...], or_else: str = "") -> None:
    """Refuse a value that is not one of the `known` names."""
    if not isinstance(value, str) or value not in known:
        listed = ", ".join(map(repr, known))
        raise OptionError(f"{parameter}={value!r} is not known. Choose one of {listed}{or_else}.")


def check_n_clusters(n_clusters: Any, n_samples: int | None = None) -> int:
    """Return the number of clusters as an int between 1 and the number of samples, where that is known.

    Examples
    --------
    >>> from symclust.validation import check_n_clusters
    >>> check_n_clusters(5, 3)
    Traceback (most recent call last):
        ...
    symclust.exceptions.OptionError: n_clusters=5 is not possible with n_samples=3: give a number from 1 to 3.
    """
    if isinstance(n_clusters, bool) or not isinstance(n_clusters, Integral):
        raise OptionError(
            f"n_clusters={n_clusters!r} must be a whole number from 1 to the number of samples, or for an "
            "estimator 'auto'."
        )
    k = int(n_clusters)
    if k < 1:
        raise OptionError(f"n_clusters={k} is not possible: give a whole number from 1 on.")
    if n_samples is not None and k > n_samples:
        raise OptionError(
            f"n_clusters={k} is not possible with n_samples={n_samples}: give a number from 1 to {n_samples}."
        )
    return k


def check_number(
    name: str,
    value: Any,
    *,
    least: float,
    most: float = np.inf,
    whole: bool = False,
    exclusive: bool = False,
) -> None:
    """Refuse a parameter that is not a (whole) number of at least (or above) `least` and at most `most`.

    Examples
    --------
    >>> from symclust.validation import check_number
    >>> check_number("max_iter", 0, least=1, whole=True)
    Traceback (most recent call last):
        ...
    symclust.exceptions.OptionError: max_iter=0 must be a whole number of at least 1.
    """
    kind = Integral if whole else Real
    if isinstance(value, kind) and not isinstance(value, bool):
        number = float(value)
        if np.isfinite(number) and (number > least if exclusive else number >= least) and number <= most:
            return
    words = f"{'a whole number' if whole else 'a number'} {'above' if exclusive else 'of at least'} {least:g}"
    words += f" and at most {most:g}" if np.isfinite(most) else ""
    raise OptionError(f"{name}={value!r} must be {words}.")


def is_missing(value: Any) -> bool:
    """Return whether a value stands for none: None, NaN, or pandas.NA, which need not be installed.

    Examples
    --------
    >>> from symclust.validation import is_missing
    >>> [is_missing(value) for value in (None, float("nan"), "", 0)]
    [True, True, False, False]
    """
    return (
        value is None or type(value).__name__ == "NAType" or (isinstance(value, float) and math.isnan(value))
    )


def check_callback(callback: Any, of: str = "one argument") -> None:
    """Refuse what cannot be called; `of` says with what it will be."""
    if callback is not None and not callable(callback):
        raise OptionError(f"callback={callback!r} must be a function of {of}, or None.")


def is_true(answer: Any) -> bool:
    """Return whether a callback answered True, Python's or that of a comparison in NumPy.

    Other answers mean nothing: a function that happens to return something must not stop a run.

    Examples
    --------
    >>> import numpy as np
    >>> from symclust.validation import is_true
    >>> is_true(np.float64(2) > 1), is_true(1)
    (True, False)
    """
    return isinstance(answer, bool | np.bool_) and bool(answer)
