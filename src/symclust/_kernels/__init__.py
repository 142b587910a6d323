"""Compiled leaves: arrays in, arrays out.

The same C++ sources are compiled for several instruction sets, ``generic`` and ``x86_64_v3`` unless
``SYMCLUST_LEVELS`` names others; the best one the processor supports is imported here. Set
``SYMCLUST_INSTRUCTION_SET`` to choose by hand.

Kernels look out for Ctrl-C several times a second and then raise KeyboardInterrupt; what they were writing is
not complete. They run on threads of their own, as many as ``OMP_NUM_THREADS`` says or processors there are,
or as threadpoolctl allows; in a forked child on one.
"""

from __future__ import annotations

import importlib
import importlib.util
import os
from types import ModuleType
from typing import Any

import numpy as np
import threadpoolctl

from symclust._kernels import _cpu
from symclust._threads import available_threads, checkpoint
from symclust._types import DeviceArray

LEVELS = ("x86_64_v4", "x86_64_v3", "x86_64_v2", "generic")


def _load() -> tuple[str, ModuleType]:
    built = [level for level in LEVELS if importlib.util.find_spec(f"symclust._kernels._{level}")]
    wanted = os.environ.get("SYMCLUST_INSTRUCTION_SET")
    if wanted and wanted not in built:
        raise ImportError(
            f"SYMCLUST_INSTRUCTION_SET={wanted!r} was not built. Choose one of {', '.join(built)}."
        )
    # A build may hold fewer levels than the processor supports: the next lower one will do.
    here = _cpu.best_level()
    best = wanted or next((level for level in built if LEVELS.index(level) >= LEVELS.index(here)), None)
    if best is None:
        raise ImportError(
            f"The kernels were built for {', '.join(built)}, and this processor is of level {here}. "
            "Install symclust from a wheel, or build it without SYMCLUST_LEVELS."
        )
    return best, importlib.import_module(f"symclust._kernels._{best}")


instruction_set, _module = _load()
_module.set_checkpoint(checkpoint)
_module.set_default_threads(available_threads())


class _KernelThreads(threadpoolctl.LibController):
    """Lets threadpoolctl limit the threads of the kernels like those of OpenMP: for calls from one thread."""

    user_api, internal_api = "openmp", "symclust"
    filename_prefixes = (f"_{instruction_set}.",)

    def get_num_threads(self) -> int:
        return _module.max_threads()

    def set_num_threads(self, num_threads: int) -> None:
        _module.set_thread_limit(num_threads)

    def get_version(self) -> None:
        return None


threadpoolctl.register(_KernelThreads)

absolute_rows = _module.absolute_rows
absolute_sparse = _module.absolute_sparse
asymmetry = _module.asymmetry
bisect_graph = _module.bisect_graph
coarsen_graph = _module.coarsen_graph
compare_pairs = _module.compare_pairs
contract_graph = _module.contract_graph
coordinate_rows = _module.coordinate_rows
coordinate_sparse = _module.coordinate_sparse
count_words = _module.count_words
group_affinity = _module.group_affinity
half_disk_differences = _module.half_disk_differences
join_nodes = _module.join_nodes
keep_nearest = _module.keep_nearest
kernel_k_means_move = _module.kernel_k_means_move
kernel_k_means_update = _module.kernel_k_means_update
label_parts = _module.label_parts
max_threads = _module.max_threads
move_nodes = _module.move_nodes
nearest_sparse = _module.nearest_sparse
nnls_active_set = _module.nnls_active_set
nnls_block_pivoting = _module.nnls_block_pivoting
nnls_hals = _module.nnls_hals
nnls_rank_two = _module.nnls_rank_two
pattern_products = _module.pattern_products
pixel_affinity = _module.pixel_affinity
random_walk_rows = _module.random_walk_rows
rank_two_nmf = _module.rank_two_nmf
row_keys = _module.row_keys
row_sweep_block = _module.row_sweep_block
row_sweep_factored = _module.row_sweep_factored
row_sweep_sparse = _module.row_sweep_sparse
row_sweep_step = _module.row_sweep_step
sparse_factor_gram = _module.sparse_factor_gram
sparse_factor_judge = _module.sparse_factor_judge
sparse_factor_sweeps = _module.sparse_factor_sweeps
spmm = _module.spmm
squared_outer = _module.squared_outer
subgraph = _module.subgraph
submatrix = _module.submatrix
subset_counts = _module.subset_counts
subset_fill = _module.subset_fill
subset_stream = _module.subset_stream
survey_dense = _module.survey_dense
two_singular_vectors = _module.two_singular_vectors


def falling_order(weights: np.ndarray) -> np.ndarray:
    """Return the order of nonnegative weights from high to low, compared in single precision; ties stay."""
    order = np.empty(len(weights), dtype=np.int64)
    _module.falling_order(np.ascontiguousarray(weights), order)
    return order


# The three that solvers, objectives and constraints call on H: an array on a device has its own.


def gram(X: np.ndarray | DeviceArray, n_starts: int = 1) -> np.ndarray:
    """Return XᵀX of each of the starts that stand side by side, (n_starts, k, k), in double precision."""
    return _module.gram(X, n_starts) if isinstance(X, np.ndarray) else X.gram()[None]


def inner(x: np.ndarray | DeviceArray, y: Any) -> float:
    """Return the inner product of two vectors, added in double precision."""
    return _module.inner(x, y) if isinstance(x, np.ndarray) else x.inner(y)


def norm(X: np.ndarray | DeviceArray) -> float:
    """Return ‖X‖, from squares in double precision."""
    return _module.norm(X) if isinstance(X, np.ndarray) else X.norm()
