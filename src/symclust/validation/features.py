"""Samples × features: arrays, dense or sparse, of finite numbers."""

from __future__ import annotations

from typing import Any

import numpy as np
from scipy import sparse
from sklearn.utils.validation import check_array

from symclust.exceptions import InputError, InputTypeError
from symclust.validation.edges import refuse_edges
from symclust.validation.kinds import kind_of

FILL = "Remove those samples or features, or fill the gaps, for example with sklearn.impute.SimpleImputer."
NUMBERS = "Every entry must be a number: encode text and categories first (sklearn.preprocessing)."
SHIFT = "Shift or clip the features, or use a model of similarities, such as SymNMF."
# Gradients of two factors are of the size of X^1.5, with a baseline X²; their squares are summed in float64.
LARGEST = {np.dtype(np.float32): 1e15, np.dtype(np.float64): 1e75}
GRAPH_TAKERS = (
    "NMF and its relatives factor a data matrix, samples × features. Graphs and operators are taken by "
    "SymNMF, HierarchicalSymNMF and the other estimators on similarities, and a graph beside the data by "
    "GraphNMF(graph=...)."
)
REFUSED = {  # by kind
    "path": "{name} is a path or a text, {X!r:.60}. Expected the data themselves: an array, a DataFrame or a "
    "sparse matrix with one row per sample, or a graph. Read a file first: symclust.read(path), or "
    "numpy.loadtxt(path, delimiter=',') or pandas.read_csv(path).",
    "Dask array": "{name} is a Dask {type}, and is needed in memory here. Give {name}.compute() if it fits, "
    "or some rows at a time. Blocks stay with the workers in HierarchicalNMF, topics and DocumentWeights, "
    "and in fits of similarities with affinity='precomputed'.",
    "attributed graph": "{name} is {type}, edges and features together, which models of similarities take "
    "where both were fitted, such as SymNMF. Give {name}.features alone here.",
    "networkx graph": f"{{name}} is a graph ({{kind}}). {GRAPH_TAKERS}",
    "operator": f"{{name}} is an operator, {{X!r}}. {GRAPH_TAKERS}",
}
REFUSED |= {
    "Dask table": REFUSED["Dask array"],
    "attributed nodes": REFUSED["attributed graph"],
    "igraph graph": REFUSED["networkx graph"],
    "network": REFUSED["operator"],
}


def check_features(X: Any, *, name: str = "X", gaps: str = FILL, copy: bool = False) -> Any:
    """Samples × features as a C-ordered array or a CSR array of float32 or float64.

    float32 and float64 stay what they are. Embeddings stored in float16 or int8 become float32, which holds
    them exactly in half of the memory; all else becomes float64. A sparse input comes back with sorted
    indices and without duplicate entries; what was given is never changed, and with `copy` shares no memory
    with the result. `name` and the advice `gaps` are for messages.
    """
    kind = kind_of(X)
    if kind in REFUSED:
        words = REFUSED[kind]
        raise InputTypeError(words.format(name=name, X=X, kind=kind, type=type(X).__name__))
    if kind == "AnnData":
        X = _matrix_of_annotated(X, name)
    elif kind == "tensor":
        X = tensor_on_host(X)
    refuse_edges(X, name=name)
    refuse_masked(X, name=name, gaps=gaps)
    X = check_stored(X, name) if sparse.issparse(X) else X
    is_small = isinstance(X, np.ndarray) and X.dtype in (np.float16, np.int8)
    try:
        # scikit-learn's words, which its check_estimator looks for; finiteness is ours, to say where.
        X = check_array(
            X,
            accept_sparse="csr",
            dtype=np.float32 if is_small else [np.float64, np.float32],
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
        X = sparse.csr_array(X)
        if not X.has_canonical_format:
            X = X.copy()  # sum_duplicates works in place, on arrays that may be the user's
            X.sum_duplicates()
    _check_finite(X, name, gaps)
    return X


def _matrix_of_annotated(adata: Any, name: str) -> Any:
    """The matrix X of an AnnData, read into memory if it is still on disk."""
    if getattr(adata, "isbacked", False):
        adata = adata.to_memory()
    if getattr(adata, "X", None) is None:
        raise InputError(
            f"{name} is an AnnData without a matrix X. Give the matrix to be used: a layer "
            "adata.layers[...], or an embedding such as adata.obsm['X_pca']."
        )
    return adata.X


def tensor_on_host(X: Any) -> Any:
    """A tensor of PyTorch, on whatever device it lives, as a NumPy array or a SciPy sparse array.

    Half precision, which SciPy does not have, becomes float32.
    """
    X = X.detach().cpu()
    X = X.float() if X.is_floating_point() and X.element_size() < 4 else X
    if str(X.layout) == "torch.strided":
        return X.numpy()
    X = X.to_sparse_coo().coalesce()
    return sparse.coo_array((X.values().numpy(), tuple(X.indices().numpy())), shape=tuple(X.shape))


def float_dtype(dtype: Any) -> np.dtype[Any]:
    """The precision to compute in: float32 and float64 stay, integers and bools become float64."""
    dtype = np.dtype(dtype)
    if dtype.kind in "biu":
        return np.dtype(np.float64)
    if dtype.kind == "f":
        return np.dtype(np.float32 if dtype.itemsize <= 4 else np.float64)
    raise InputTypeError(
        f"Entries of dtype {dtype} cannot be used as similarities. Expected real numbers: float32, float64, "
        "integers or bools; convert with .astype(float)."
    )


def refuse_masked(X: Any, *, name: str = "X", gaps: str = FILL) -> None:
    """Refuse a masked array of NumPy in which an entry is masked: the number under a mask means nothing."""
    if isinstance(X, np.ma.MaskedArray) and np.ma.is_masked(X):
        count = int(np.count_nonzero(np.ma.getmaskarray(X)))
        raise InputError(f"{count} of {X.size} entries of {name} are masked. {gaps}")


def share_of_zeros(X: Any) -> float:
    """The share of entries that are zero, stored or not."""
    nonzeros = X.count_nonzero() if sparse.issparse(X) else np.count_nonzero(X)
    return 1 - nonzeros / max(1, X.shape[0] * X.shape[1])


def are_counts(X: Any) -> bool:
    """Whether all entries are whole numbers."""
    values = X.data if sparse.issparse(X) else X
    return bool((values == np.floor(values)).all())


def check_nonnegative(X: Any, who: str, advice: str = SHIFT) -> None:
    """Refuse features, dense or CSR, with negative entries given to the estimator `who`."""
    values = X.data if sparse.issparse(X) else X
    if values.min(initial=0) >= 0:  # one pass without a temporary
        return
    row, column = _first_position(X, values < 0)
    raise InputError(
        f"Negative values in data passed to {who}, which builds samples from nonnegative parts. Entries "
        f"concerned: {np.count_nonzero(values < 0)}, the first at row {row}, column {column}: "
        f"{X[row, column]:.3g}. {advice}"
    )


def check_range(X: Any) -> None:
    """Refuse nonnegative data, dense or sparse, so large or small that their products overflow or vanish."""
    largest, limit = float(X.max()), LARGEST[X.dtype]
    if largest > limit or 0 < largest < 1 / limit:
        raise InputError(
            f"The largest entry of X is {largest:.3g}: products of such numbers leave the range of "
            f"{X.dtype}. Multiply X by a constant that brings it between {1 / limit:.0e} and {limit:.0e}."
        )


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


def _where_not_a_number(X: Any) -> str:
    """A sentence about the first entry that is not a number, or nothing."""
    cells = np.asarray(X, dtype=object)
    for (row, column), value in np.ndenumerate(cells) if cells.ndim == 2 else ():
        try:
            float(value)
        except (TypeError, ValueError):
            label = f" ({X.columns[column]!r})" if hasattr(X, "columns") else ""
            return f" The first such entry, {value!r:.60}, is at row {row}, column {column}{label}."
    return ""


# Damaged sparse arrays --------------------------------------------------------------------------------------


def check_stored(X: Any, name: str = "X") -> Any:
    """A SciPy sparse array whose indices are in order, as it is unless they are of an unusual type.

    SciPy and the kernels trust indices: a damaged array would make them read and write elsewhere in memory.
    Takes a pass over the indices.
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
    """The damage of compressed rows or columns, None if there is none."""
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
