"""The kernels compiled for other instruction sets give the same results to rounding."""

import importlib
import importlib.util
import os
import subprocess
import sys

import numpy as np
import pytest
import scipy.sparse as sp
from numpy.testing import assert_allclose

from symclust import _kernels
from symclust._kernels import _cpu

BUILT = [level for level in _kernels.LEVELS if importlib.util.find_spec(f"symclust._kernels._{level}")]
RUNNABLE = [
    level for level in BUILT if _kernels.LEVELS.index(level) >= _kernels.LEVELS.index(_cpu.best_level())
]


def results(level, dtype, k):
    """Run one kernel of each family, as compiled for `level`."""
    module, rng, n = importlib.import_module(f"symclust._kernels._{level}"), np.random.default_rng(k), 200
    S = sp.random_array((n, n), density=0.1, rng=rng)
    A = sp.csr_array(S + S.T).astype(dtype)
    H = rng.uniform(size=(n, k)).astype(dtype)
    product, sums, change = np.empty_like(H), np.zeros((2, 1)), np.zeros(2)
    module.spmm(A.indptr, A.indices, A.data, H, product)
    G = module.gram(H)
    gram, rows, column = G.copy(), H.copy(), H.copy()
    none, ids = np.empty(0, dtype=np.int64), np.arange(n)
    module.coordinate_rows(
        A.toarray(), ids, A.diagonal(), column, H[:, 0].copy(), G[0].copy(), 0, True, ids, none, none, change
    )
    module.row_sweep_sparse(
        A.indptr, A.indices, A.data, A.diagonal(), rows, G, 0.1, True, 1, none, none, np.ones(n, np.uint8),
        np.zeros(n), sums[0], sums[1],
    )  # fmt: skip
    pattern = np.empty(A.nnz, dtype=dtype)
    module.pattern_products(A.indptr, A.indices, H, pattern)
    medians, decreases, nothing = [H[:, 0].copy() for _ in range(2)], np.zeros((2, 1)), np.zeros(n, dtype)
    pairs = sp.csr_array(sp.eye_array(n, k=1) + sp.eye_array(n, k=-1))
    pairs = pairs.indptr.astype(np.int64), pairs.indices.astype(np.int64)
    residual = A.toarray() - H[:, 1:] @ H[:, 1:].T
    module.absolute_rows(
        residual, ids, ids, nothing, nothing, nothing, medians[0], *pairs, 1, decreases[0]
    )  # fmt: skip
    module.absolute_sparse(
        A.indptr, A.indices, A.data, H.copy(), medians[1], 0, ids, none, none, 1, decreases[1]
    )  # fmt: skip
    inner = np.array(module.inner(H.reshape(-1), product.reshape(-1)))
    return {"product": product, "gram": gram, "inner": inner, "rows": rows, "sums": sums, "column": column,
            "change": change, "pattern": pattern, "medians": np.array(medians),
            "decreases": decreases}  # fmt: skip


@pytest.mark.parametrize("k", [1, 3, 4, 7, 16, 33, 70])
@pytest.mark.parametrize("dtype", [np.float32, np.float64])
def test_all_levels_agree_to_rounding(dtype, k):
    tolerance = 1e-3 if dtype is np.float32 else 1e-9
    expected = results(RUNNABLE[0], dtype, k)
    for level in RUNNABLE[1:]:
        for name, array in results(level, dtype, k).items():
            assert_allclose(array, expected[name], rtol=tolerance, atol=tolerance, err_msg=f"{level} {name}")


def load(level):
    environment = {**os.environ, "SYMCLUST_INSTRUCTION_SET": level}
    program = "from symclust import _kernels; print(_kernels.instruction_set, _kernels._module.__name__)"
    return subprocess.run(
        [sys.executable, "-c", program], env=environment, capture_output=True, text=True, check=False
    )


def test_the_lowest_level_can_be_chosen_by_hand():
    done = load(RUNNABLE[-1])
    assert done.returncode == 0, done.stderr
    assert done.stdout.split() == [RUNNABLE[-1], f"symclust._kernels._{RUNNABLE[-1]}"]


def test_the_best_level_that_runs_here_is_chosen_by_default(monkeypatch):
    monkeypatch.delenv("SYMCLUST_INSTRUCTION_SET", raising=False)
    assert _kernels._load()[0] == RUNNABLE[0]


def test_an_unknown_level_is_refused_with_the_built_ones(monkeypatch):
    monkeypatch.setenv("SYMCLUST_INSTRUCTION_SET", "x86_64_v9")
    with pytest.raises(ImportError, match="'x86_64_v9'") as caught:
        _kernels._load()
    assert all(level in str(caught.value) for level in BUILT)


def test_a_build_for_better_processors_alone_is_refused_by_name(monkeypatch):
    monkeypatch.delenv("SYMCLUST_INSTRUCTION_SET", raising=False)
    monkeypatch.setattr(_kernels.importlib.util, "find_spec", lambda name: name.endswith("_v3"))
    monkeypatch.setattr(_cpu, "best_level", lambda: "x86_64_v2")
    with pytest.raises(ImportError, match="built for x86_64_v3, and this processor is of level x86_64_v2"):
        _kernels._load()


def test_an_unknown_level_stops_the_import_of_the_package():
    done = load("AVX2")
    assert done.returncode != 0
    assert "ImportError: SYMCLUST_INSTRUCTION_SET='AVX2' was not built" in done.stderr


# The bits of CPUID that each level needs, by the names of the psABI: register, bit.
V2 = {"SSE3": (0, 0), "SSSE3": (0, 9), "CMPXCHG16B": (0, 13), "SSE4.1": (0, 19), "SSE4.2": (0, 20),
      "POPCNT": (0, 23), "LAHF-SAHF": (2, 0)}  # fmt: skip
V3 = {"FMA": (0, 12), "MOVBE": (0, 22), "OSXSAVE": (0, 27), "AVX": (0, 28), "F16C": (0, 29), "BMI1": (1, 3),
      "AVX2": (1, 5), "BMI2": (1, 8), "LZCNT": (2, 5), "saves SSE": (3, 1), "saves AVX": (3, 2)}  # fmt: skip
V4 = {"AVX512F": (1, 16), "AVX512DQ": (1, 17), "AVX512CD": (1, 28), "AVX512BW": (1, 30), "AVX512VL": (1, 31),
      "saves masks": (3, 5), "saves wide": (3, 6), "saves more": (3, 7)}  # fmt: skip


def level_with(*features):
    registers = [0, 0, 0, 0]
    for register, bit in features:
        registers[register] |= 1 << bit
    return _cpu.level_of(*registers)


@pytest.mark.parametrize("missing", [*V2, *V3, *V4])
def test_a_level_without_one_of_its_features_is_not_there(missing):
    everything = {**V2, **V3, **V4}
    below = "generic" if missing in V2 else "x86_64_v2" if missing in V3 else "x86_64_v3"
    assert level_with(*everything.values()) == "x86_64_v4"
    del everything[missing]
    assert level_with(*everything.values()) == below


def test_levels_by_their_complete_lists():
    assert level_with() == "generic"
    assert level_with(*V2.values()) == "x86_64_v2"
    assert level_with(*V2.values(), *V3.values()) == "x86_64_v3"


FLAGS = {
    "x86_64_v2": "pni ssse3 cx16 sse4_1 sse4_2 popcnt lahf_lm",
    "x86_64_v3": "fma movbe xsave avx f16c bmi1 avx2 bmi2 abm",
    "x86_64_v4": "avx512f avx512dq avx512cd avx512bw avx512vl",
}


@pytest.mark.skipif(
    not os.path.exists("/proc/cpuinfo") or "generic" in BUILT[:1], reason="needs Linux on x86-64"
)
def test_the_level_found_is_that_of_the_systems_list():
    with open("/proc/cpuinfo") as file:
        flags = next(line for line in file if line.startswith("flags")).split()
    best = "generic"
    for level, needed in FLAGS.items():
        if not set(needed.split()) <= set(flags):
            break
        best = level
    assert _cpu.best_level() == best
