"""The kernels compiled for other instruction sets give the same results to rounding."""

import os
import subprocess
import sys

import numpy as np
import pytest
from numpy.testing import assert_allclose

from symclust import _kernels
from symclust._kernels import _cpu

RUNNABLE = [
    level
    for level in _kernels.LEVELS
    if _kernels.importlib.util.find_spec(f"symclust._kernels._{level}")
    and _kernels.LEVELS.index(level) >= _kernels.LEVELS.index(_cpu.best_level())
]

PROGRAM = """
import sys
import numpy as np, scipy.sparse as sp
from symclust import _kernels

rng = np.random.default_rng(0)
results = {"instruction_set": np.array(_kernels.instruction_set)}
for dtype in (np.float32, np.float64):
    name = np.dtype(dtype).name
    n = 300
    S = sp.random_array((n, n), density=0.1, rng=rng)
    A = sp.csr_array(S + S.T).astype(dtype)
    for k in (1, 3, 4, 7, 16, 33, 70):
        H = rng.uniform(size=(n, k)).astype(dtype)
        out = np.empty_like(H)
        _kernels.spmm(A.indptr, A.indices, A.data, H, out)
        results[f"spmm {name} {k}"] = out
        results[f"inner {name} {k}"] = np.array(_kernels.inner(H.reshape(-1), out.reshape(-1)))
        G, sums = _kernels.gram(H), np.zeros((2, 1))
        results[f"gram {name} {k}"] = G.copy()
        moved = H.copy()
        _kernels.row_sweep_sparse(A.indptr, A.indices, A.data, A.diagonal(), moved, G, 0.1, True, 1,
                                  np.ones(n, np.uint8), np.zeros(n), sums[0], sums[1])
        results[f"rows {name} {k}"], results[f"sums {name} {k}"] = moved, sums
        moved, G, change = H.copy(), _kernels.gram(H)[0], np.zeros(2)
        _kernels.coordinate_rows(A.toarray(), 0, A.diagonal(), moved, H[:, 0].copy(), G, 0, True, change)
        results[f"column {name} {k}"], results[f"change {name} {k}"] = moved, change
np.savez(sys.argv[1], **results)
"""


def run(level, *arguments, program=PROGRAM):
    environment = {**os.environ, "OMP_NUM_THREADS": "1"}
    environment.pop("SYMCLUST_INSTRUCTION_SET", None)
    if level is not None:
        environment["SYMCLUST_INSTRUCTION_SET"] = level
    return subprocess.run(
        [sys.executable, "-c", program, *arguments], env=environment, capture_output=True, text=True, check=False
    )


def test_the_best_level_that_runs_here_is_chosen_by_default():
    done = run(None, program="from symclust import _kernels; print(_kernels.instruction_set)")
    assert done.stdout.strip() == RUNNABLE[0]


def test_all_levels_agree_to_rounding(tmp_path):
    results = {}
    for level in RUNNABLE:
        done = run(level, str(tmp_path / f"{level}.npz"))
        assert done.returncode == 0, done.stderr
        results[level] = dict(np.load(tmp_path / f"{level}.npz"))
        assert str(results[level].pop("instruction_set")) == level
    expected = results.pop(RUNNABLE[0])
    for level, arrays in results.items():
        for name, array in arrays.items():
            tolerance = 1e-3 if "float32" in name else 1e-10
            assert_allclose(array, expected[name], rtol=tolerance, atol=tolerance, err_msg=f"{level} {name}")


@pytest.mark.parametrize("wanted", ["x86_64_v9", "AVX2"])
def test_an_unknown_level_is_refused_with_the_built_ones(wanted):
    done = run(wanted, program="import symclust._kernels")
    assert done.returncode != 0
    last = done.stderr.strip().splitlines()[-1]
    assert last.startswith("ImportError")
    assert repr(wanted) in last
    for level in RUNNABLE:
        assert level in last
