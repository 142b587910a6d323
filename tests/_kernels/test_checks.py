"""Every kernel refuses arrays that do not fit together, instead of reading or writing beyond them."""

import numpy as np
import pytest
import scipy.sparse as sp

from symclust import _kernels

MODULE = _kernels._module
THREADS = {"max_threads", "set_checkpoint", "set_default_threads", "set_thread_limit"}
WITHOUT_ARRAYS = THREADS | {"row_sweep_step"}

N, D, K, RUNS = 12, 7, 2, 3
RNG = np.random.default_rng(0)
DENSE = RNG.uniform(size=(N, N)) * (RNG.uniform(size=(N, N)) < 0.5)
DENSE += DENSE.T
A = sp.csr_array(DENSE)
X = sp.csr_array(RNG.uniform(0.1, 1, size=(N, D)) * (np.arange(N * D).reshape(N, D) % 3 > 0))
EDGES = sp.csr_array(DENSE - np.diag(np.diag(DENSE)))
ROWS, COLUMNS = 3, 4  # of an image


def long(values):
    return np.array(values, dtype=np.int64)


def csr(matrix):
    return {"indptr": matrix.indptr.copy(), "indices": matrix.indices.copy(), "values": matrix.data.copy()}


def both_layouts(first="", second="t_"):
    turned = sp.csr_array(X.T)
    return {first + name: array for name, array in csr(X).items()} | {
        second + name: array for name, array in csr(turned).items()
    }


def factor():
    return RNG.uniform(0.1, 1, size=(N, K))


def gram(H, starts=1):
    return np.repeat((H[:, :K].T @ H[:, :K])[None], starts, axis=0)


def pairs():
    ignored = sp.csr_array(sp.eye_array(N, k=1) + sp.eye_array(N, k=-1))
    return {"ignored_indptr": long(ignored.indptr), "ignored_indices": long(ignored.indices)}


def graph():
    return {
        "indptr": long(EDGES.indptr),
        "indices": EDGES.indices.astype(np.int32),
        "weights": EDGES.data.copy(),
        "loops": np.zeros(N),
        "volumes": EDGES.sum(axis=1),
        "sizes": np.ones(N),
    }


def sparse_factor():
    H = sp.csr_array(factor())
    return {"rows": long(H.indptr), "columns": H.indices.astype(np.int32), "entries": H.data}


def column(H):
    return {"H": H, "x": H[:, 1].copy(), "G": gram(H)[0], "column": 1, "full": True}


def sums(starts=1):
    return {"decrease": np.zeros(starts), "squared_gradient": np.zeros(starts)}


def sweep(starts=2):
    H = np.tile(factor(), starts)
    return {
        "H": H, "G": gram(H, starts), "offset": 0.0, "full": True, "cycles": 1, **pairs(),
        "active": np.ones(N, dtype=np.uint8), "row_gradient": np.zeros(N), **sums(starts),
    }  # fmt: skip


def row_block():
    options = sweep()
    del options["active"], options["row_gradient"]
    return {"block": DENSE[:5, :5].copy(), "begin": N - 5, "P": np.zeros((5, 2 * K)), **options}


def subset():
    return {"rows": np.arange(N, dtype=np.int32), "place": np.arange(D, dtype=np.int32)}


def filled(prefix, room):
    return {
        prefix + "indices": np.empty(X.nnz + room, dtype=np.int32),
        prefix + "values": np.empty(X.nnz + room),
    }


def groups():
    given = {name: value for name, value in pixels().items() if name not in ("indptr", "indices", "values")}
    return given | {"groups": np.zeros((ROWS, COLUMNS), np.int32)}


def pixels():
    row = sp.eye_array(COLUMNS, k=1) + sp.eye_array(COLUMNS, k=-1)
    grid = sp.csr_array(sp.kron(sp.eye_array(ROWS), row))
    offsets = np.array([[0, 1]], dtype=np.int32)
    return {
        "across": np.zeros((ROWS, COLUMNS), np.float32), "down": np.zeros((ROWS, COLUMNS), np.float32),
        "features": np.zeros((ROWS, COLUMNS, 1), np.float32), "valid": np.ones((ROWS, COLUMNS), bool),
        "offsets": offsets, "before": np.array([-1], np.int32), "order": np.array([0], np.int32),
        "sharpness": 1.0, "indptr": grid.indptr.astype(np.int32),
        "indices": np.empty(grid.nnz, np.int32), "values": np.empty(grid.nnz, np.float32),
    }  # fmt: skip


def runs():
    return {
        "weights": np.ones(N), "active": np.arange(RUNS), "sums": np.ones((RUNS, K, N)),
    }  # fmt: skip


def words(*texts):
    size = sum(map(len, texts))
    most = (size + len(texts)) // 3 + 1
    return {
        "table": np.zeros(0x110000, np.uint8), "bytes": np.frombuffer(b"".join(texts), np.uint8),
        "starts": np.cumsum([0, *map(len, texts)]), "indptr": np.zeros(len(texts) + 1, np.int64),
        "indices": np.empty(most, np.int32), "counts": np.empty(most, np.int32),
        "begins": np.empty(most, np.int64), "ends": np.empty(most, np.int64), "found": np.zeros(2, np.int64),
    }  # fmt: skip


def labels():
    return np.tile(np.arange(N) % K, (RUNS, 1))


def nnls():
    R = np.ones((N, K))
    return {"G": np.eye(K), "R": R, "X": R.copy(), "out": np.empty_like(R)}


# Arguments of a call that is right, for each kernel.
CALLS = {
    "absolute_rows": lambda: {
        "R": DENSE.copy(), "places": np.arange(N), "ids": np.arange(N), "earlier": np.zeros(N),
        "later": np.zeros(N), "before": np.zeros(N), "x": np.ones(N), **pairs(), "rule": 1,
        "change": np.zeros(1),
    },
    "absolute_sparse": lambda: csr(A) | {
        "H": (H := factor()), "x": H[:, 1].copy(), "column": 1, "ids": np.arange(N), **pairs(), "rule": 1,
        "change": np.zeros(1),
    },
    "asymmetry": lambda: csr(A),
    "bisect_graph": lambda: graph() | {
        "balance": 0.5, "smallest": 1.0, "seed": 0, "side": np.empty(N, np.uint8), "sums": np.empty((3, 2)),
    },
    "coarsen_graph": lambda: graph() | {"limit": 1e9, "seed": 0},
    "compare_pairs": lambda: {
        "Q": factor(), "X": factor(), "rows": np.arange(4), "columns": np.arange(4), "distances": True,
        "out": np.empty(4),
    },
    "contract_graph": lambda: graph() | {"group": np.arange(N, dtype=np.int32) // 2},
    "coordinate_rows": lambda: {
        "rows": DENSE.copy(), "places": np.arange(N), "diagonal": A.diagonal(), **column(factor()),
        "ids": np.arange(N), **pairs(), "change": np.zeros(2),
    },
    "coordinate_sparse": lambda: csr(A) | {
        "diagonal": A.diagonal(), **column(factor()), "ids": np.arange(N), **pairs(), "change": np.zeros(2),
    },
    "falling_order": lambda: {"weights": np.ones(N), "order": np.empty(N, np.int64)},
    "gram": lambda: {"X": np.ones((N, 4)), "n_starts": 2},
    "group_affinity": groups,
    "half_disk_differences": lambda: {
        "bins": np.zeros((ROWS, COLUMNS), np.int32), "offsets": np.array([[0, 1], [0, -1]], np.int32),
        "wedges": np.array([0, 1], np.int32), "smoothing": np.ones(3, np.float32), "n_bins": 4,
        "out": np.empty((1, ROWS, COLUMNS), np.float32),
    },
    "inner": lambda: {"x": np.ones(N), "y": np.ones(N)},
    "join_nodes": lambda: graph() | {"fence": np.zeros(N, np.int32), "resolution": 1.0, "seed": 0},
    "count_words": lambda: words(b"a bee", b"ce"),
    "keep_nearest": lambda: {
        "products": np.ones((N, D)), "rows": np.ones(N), "columns": np.ones(D), "first_row": 0,
        "first_column": 0, "row_halves": np.full((N, 3), np.inf), "row_numbers": np.zeros((N, 3), np.int64),
        "column_halves": np.full((D, 3), np.inf), "column_numbers": np.zeros((D, 3), np.int64),
    },
    "kernel_k_means_move": lambda: runs() | {
        "shift": 0.0, "slack": 0.0, "labels": labels(), "moved": labels(),
        "sizes": np.zeros((RUNS, K), np.int64), "totals": np.zeros((RUNS, K)), "lengths": np.zeros((RUNS, K)),
    },
    "kernel_k_means_update": lambda: runs() | {"K": DENSE.copy(), "before": labels(), "after": 1 - labels()},
    "label_parts": lambda: {
        "X": X.toarray(), "indptr": long([0, N, 2 * N]), "indices": long([*range(N)] * 2),
        "counts": long([2, 3]), "seeds": np.array([1, 2], np.uint64), "has_offset": False, "n_init": 1,
        "max_iter": 5, "inner": 1, "tol": 1e-3, "place": True, "labels": np.empty((2, 2, N), np.int32),
    },
    "move_nodes": lambda: graph() | {
        "count": 2, "smallest": 0.0, "both": False, "resolution": 1.0,
        "labels": np.arange(N, dtype=np.int32) % 2,
    },
    "nnls_active_set": nnls,
    "nnls_block_pivoting": nnls,
    "nnls_hals": nnls,
    "nnls_rank_two": lambda: {"G": np.eye(2), "R": np.ones((N, 2)), "out": np.empty((N, 2))},
    "norm": lambda: {"X": np.ones((N, 2))},
    "pattern_products": lambda: {
        "indptr": A.indptr, "indices": A.indices, "H": factor(), "out": np.empty(A.nnz),
    },
    "pixel_affinity": pixels,
    "random_walk_rows": lambda: csr(A) | {
        "degrees": A.sum(axis=1), "volume": float(A.sum()), "from_indptr": A.indptr,
        "from_indices": A.indices, "from_values": A.data, "first": 0, "window": 2, "frontier": 5,
        "columns": np.empty((N, 3), np.int32), "weights": np.empty((N, 3)),
        "counts": np.empty(N, np.int64),
    },
    "rank_two_nmf": lambda: both_layouts() | {
        "C": np.ones((D, 2)), "W": np.ones((N, 2)), "tol": 1e-3, "max_iter": 3,
    },
    "row_keys": lambda: {
        "X": X.toarray(), "coefficients": np.ones((2, D), np.uint64), "keys": np.empty((N, 2), np.uint64),
    },
    "row_sweep_block": row_block,
    "row_sweep_factored": lambda: csr(X) | {
        "scale": np.ones(N), "weights": np.ones(D), "extra_indptr": A.indptr, "extra_indices": A.indices,
        "extra_values": A.data, "diagonal": np.ones(N), "Z": np.ones((D, 2 * K)), **sweep(),
    },
    "row_sweep_sparse": lambda: csr(A) | {"diagonal": A.diagonal(), **sweep()},
    "sparse_factor_gram": lambda: sparse_factor() | {"G": np.empty((K, K))},
    "sparse_factor_judge": lambda: csr(A) | {
        "diagonal": A.diagonal(), **sparse_factor(), "G": np.eye(K), "offset": 0.0, "full": True,
    },
    "sparse_factor_sweeps": lambda: csr(A) | {
        "diagonal": A.diagonal(), **sparse_factor(), "G": np.eye(K), "offset": 0.0, "full": True, "cycles": 1,
        "sweeps": 1, "opening": 0.0, "active": np.ones(N, np.uint8), "row_gradient": np.zeros(N), **sums(),
    },
    "spmm": lambda: csr(A) | {"H": factor(), "out": np.empty((N, K))},
    "squared_outer": lambda: both_layouts(second="columns_") | {
        "v": np.ones(D), "u": np.ones(N), "diagonal": True,
    },
    "subgraph": lambda: {
        name: array for name, array in graph().items() if name in ("indptr", "indices", "weights")
    } | {
        "members": np.arange(N, dtype=np.int32), "place": np.arange(N, dtype=np.int32),
        "out_indptr": np.empty(N + 1, np.int64), "out_indices": np.empty(EDGES.nnz, np.int32),
        "out_weights": np.empty(EDGES.nnz),
    },
    "nearest_sparse": lambda: {
        **csr(X), **{f"column_{name}": array for name, array in csr(sp.csr_array(X.T)).items()},
        "halves": np.zeros((N, N)), "row_halves": np.full((N, 3), np.inf),
        "row_numbers": np.zeros((N, 3), np.int64),
    },
    "submatrix": lambda: {"A": DENSE.copy(), "index": np.arange(5), "out": np.empty((5, 5))},
    "subset_counts": lambda: {
        "indptr": X.indptr, "indices": X.indices, "rows": np.arange(N, dtype=np.int32),
        "counts": np.zeros(D, np.int32),
    },
    "subset_fill": lambda: csr(X) | subset() | {
        "new_indptr": np.empty(N + 1, np.int32), **filled("new_", 0),
        "t_next": sp.csr_array(X.T).indptr[:-1].copy(), **filled("t_", 0),
    },
    "subset_stream": lambda: both_layouts() | subset() | {
        "columns": np.arange(D, dtype=np.int32), "row_place": np.arange(N, dtype=np.int32),
        "new_indptr": np.empty(N + 1, np.int32), **filled("new_", 0), **filled("new_t_", 1),
    },
    "survey_dense": lambda: {"A": DENSE.copy()},
    "two_singular_vectors": lambda: both_layouts() | {
        "V": np.ones((D, 2)), "U": np.ones((N, 2)), "steps": 2,
    },
}  # fmt: skip


# Arrays and axes that may be shorter: nothing else is as long, or only indices refer to them.
FREE = {
    ("absolute_rows", "R", 0), ("absolute_sparse", "ids", 0), ("absolute_sparse", "H", 1),
    ("coordinate_rows", "rows", 0), ("coordinate_sparse", "ids", 0), ("gram", "X", 0),
    ("half_disk_differences", "smoothing", 0), ("kernel_k_means_move", "active", 0),
    ("kernel_k_means_update", "active", 0), ("norm", "X", 0), ("norm", "X", 1),
    ("pattern_products", "H", 1), ("pixel_affinity", "features", 2), ("pixel_affinity", "order", 0),
    ("subset_counts", "rows", 0), ("subset_counts", "counts", 0), ("subset_counts", "indptr", 0),
    ("subset_stream", "columns", 0), ("spmm", "H", 0), ("subset_fill", "indptr", 0),
    ("subset_fill", "place", 0), ("label_parts", "X", 1),
    ("compare_pairs", "Q", 0), ("compare_pairs", "X", 0), ("group_affinity", "features", 2),
    ("group_affinity", "order", 0), ("nearest_sparse", "halves", 1),
}  # fmt: skip


def shortened():
    for kernel, call in CALLS.items():
        for name, value in call().items():
            if isinstance(value, np.ndarray):
                for axis in range(value.ndim):
                    yield kernel, name, axis


def test_every_kernel_is_listed():
    kernels = {name for name in dir(MODULE) if callable(getattr(MODULE, name)) and not name.startswith("_")}
    assert set(CALLS) == kernels - WITHOUT_ARRAYS


@pytest.mark.parametrize("kernel", CALLS)
def test_the_call_is_right(kernel):
    getattr(MODULE, kernel)(**CALLS[kernel]())


@pytest.mark.parametrize(("kernel", "name", "axis"), list(shortened()))
def test_a_shorter_array_is_refused(kernel, name, axis):
    if (kernel, name, axis) in FREE:
        pytest.skip("may have any length")
    given = CALLS[kernel]()
    array = given[name]
    given[name] = np.ascontiguousarray(np.delete(array, -1, axis=axis))
    with pytest.raises(ValueError, match=rf"^{kernel}: "):
        getattr(MODULE, kernel)(**given)


@pytest.mark.parametrize(
    ("kernel", "changes"),
    [
        ("gram", {"n_starts": 0}),
        ("gram", {"n_starts": -2}),
        ("absolute_sparse", {"column": K}),
        ("coordinate_rows", {"column": -1}),
        ("row_sweep_block", {"begin": N - 4}),
        ("row_sweep_block", {"begin": -1}),
        ("row_sweep_sparse", {"first": 1}),
        ("label_parts", {"indices": long([*range(N)] * 2) + 1}),
        ("label_parts", {"indptr": long([0, 2 * N, N])}),
        ("label_parts", {"counts": long([0, 2])}),
        ("label_parts", {"n_init": 0}),
        ("kernel_k_means_move", {"labels": labels() + 1}),
        ("kernel_k_means_update", {"after": labels() - 1}),
        ("kernel_k_means_update", {"active": np.array([RUNS])}),
        ("move_nodes", {"count": 1}),
        ("contract_graph", {"group": np.full(N, N, dtype=np.int32)}),
        ("submatrix", {"index": np.full(5, N)}),
        ("subset_counts", {"rows": np.full(N, N, dtype=np.int32)}),
        ("half_disk_differences", {"n_bins": 0}),
        ("pixel_affinity", {"order": np.array([1], np.int32)}),
        ("group_affinity", {"offsets": np.array([[-1, 0]], np.int32)}),
    ],
)
def test_a_number_out_of_range_is_refused(kernel, changes):
    with pytest.raises(ValueError, match=rf"^{kernel}: "):
        getattr(MODULE, kernel)(**CALLS[kernel]() | changes)


def damaged():
    for kernel, call in CALLS.items():
        for name in call():
            is_written = name.startswith(("new_", "out_")) or kernel == "count_words"
            if name.endswith("indptr") and not is_written:
                yield kernel, name


@pytest.mark.parametrize(("kernel", "name"), list(damaged()))
def test_an_indptr_beyond_its_indices_is_refused(kernel, name):
    given = CALLS[kernel]()
    for place, value in ((0, 1), (-1, 10**6), (-1, -1)):
        given[name] = given[name].copy()
        given[name][place] = value
        with pytest.raises(ValueError, match=rf"^{kernel}: "):
            getattr(MODULE, kernel)(**given)


@pytest.mark.skipif(not MODULE.checks_indices, reason="this build does not look at each index")
@pytest.mark.parametrize(("kernel", "name"), list(damaged()))
def test_an_index_out_of_range_is_refused(kernel, name):
    given = CALLS[kernel]()
    indices = name.replace("indptr", "indices")
    if indices not in given or kernel == "pixel_affinity":
        pytest.skip("has no indices to read")
    for wrong in (-1, 10**6):
        given[indices] = given[indices].copy()
        given[indices][0] = wrong
        with pytest.raises(ValueError, match=rf"^{kernel}: "):
            getattr(MODULE, kernel)(**given)
