"""The cost model of sparse products, against bytes that are counted and against what the thesis says."""

from collections import OrderedDict

import numpy as np
import pytest
import scipy.sparse as sp
from hypothesis import given, settings
from hypothesis import strategies as st

from symclust.exceptions import InputTypeError, OptionError
from symclust.operators import Dense, Sparse, save_on_disk, spmm_cost_model

# Table 20, and the device of table 19.
RCV1 = (149_113, 764_751, 59_851_107)
WIKIPEDIA = (2_361_566, 4_126_013, 468_558_693)
DEVICE = {"bandwidth": 170e9, "link": (6.08e9, 6.53e9), "value_bytes": 4}


def count_traffic(A, k, cache, line):
    """Go over A as the kernel does, X beginning with a line, and count the bytes that come from memory.

    The cache forgets what was used longest ago, and holds lines of X alone.
    """
    row, held, misses = k * A.dtype.itemsize, OrderedDict(), 0
    for j in A.indices:
        for number in range(j * row // line, (j * row + row - 1) // line + 1):
            misses += number not in held
            held[number] = True
            held.move_to_end(number)
            if len(held) * line > cache:
                held.popitem(last=False)
    return misses * line


def banded(n, degree, reach, dtype=np.float64, seed=0):
    rng = np.random.default_rng(seed)
    near = (np.arange(max(0, i - reach), min(n, i + reach + 1)) for i in range(n))
    columns = [np.sort(rng.choice(some, degree, replace=False)) for some in near]
    indptr = np.arange(0, n * degree + 1, degree)
    return sp.csr_array((np.ones(n * degree, dtype), np.concatenate(columns), indptr), shape=(n, n))


@pytest.mark.parametrize("dtype", [np.float32, np.float64])
@pytest.mark.parametrize("index", [np.int32, np.int64])
def test_arrays_are_read_and_written_once(dtype, index):
    A = banded(200, 5, 20, dtype)
    A.indices, A.indptr = A.indices.astype(index), A.indptr.astype(index)
    X = np.ones((200, 3), dtype=dtype)
    cost = spmm_cost_model(A, 3, 1e9, cache=1 << 20)
    assert cost.matrix_bytes == A.data.nbytes + A.indices.nbytes + A.indptr.nbytes
    assert cost.factor_bytes == X.nbytes  # all of X stays in the cache
    assert cost.result_bytes == (A @ X).nbytes
    assert cost.flops == 2 * A.nnz * 3
    assert cost.seconds == pytest.approx(cost.bytes / 1e9)


@pytest.mark.parametrize("k", [1, 2, 4, 8, 20])
@pytest.mark.parametrize("reach", [10, 100, 3000])
def test_reads_of_x_are_those_that_are_counted(k, reach):
    A, cache = banded(3000, 10, reach), 64 * 1024 // 4
    counted = count_traffic(A, k, cache, 64)
    told = spmm_cost_model(A, k, 1e9, cache=cache, line=64).factor_bytes
    assert told == pytest.approx(counted, rel=0.1)


def test_limits_of_the_thesis():
    m, n, Z = 100, 80, 1000
    without = spmm_cost_model((m, n, Z), 4, 1e9)
    assert without.factor_bytes == Z * 4 * 8  # (71)
    once = spmm_cost_model((m, n, Z), 4, 1e9, far_share=0.0)
    assert once.factor_bytes == n * 4 * 8  # (90)
    assert spmm_cost_model((m, n, Z), 4, 1e9, cache=n * 4 * 8).factor_bytes == n * 4 * 8
    assert spmm_cost_model((m, n, 0), 4, 1e9, far_share=0.0).flops == 0


def test_terms_of_time():
    sizes = {"value_bytes": 4, "index_bytes": 4}
    m, n, Z, k = 1000, 500, 9000, 3
    cost = spmm_cost_model((m, n, Z), k, 2e9, link=(5e8, 2.5e8), flop_rate=1e6, **sizes)
    matrix = 4 * (2 * Z + m + 1)
    assert cost.memory_seconds == pytest.approx((matrix + 4 * (Z * k + m * k)) / 2e9)
    assert cost.link_seconds == pytest.approx((matrix + 4 * n * k) / 5e8 + 4 * m * k / 2.5e8)  # (69)
    assert cost.compute_seconds == pytest.approx(2 * Z * k / 1e6)
    assert (cost.seconds, cost.bound) == (cost.compute_seconds, "compute")  # (68)
    disk = spmm_cost_model((m, n, Z), k, 2e9, link=5e8, link_carries="matrix", **sizes)
    assert (disk.to_device_bytes, disk.from_device_bytes, disk.bound) == (matrix, 0.0, "link")


@pytest.mark.parametrize("sizes", [RCV1, WIKIPEDIA])
def test_the_link_bounds_about_ninety_columns(sizes):
    bounds = [spmm_cost_model(sizes, k, **DEVICE).bound for k in range(1, 300)]
    turn = bounds.index("memory") + 1
    assert 75 < turn < 105
    assert set(bounds[: turn - 1]) == {"link"}
    assert set(bounds[turn - 1 :]) == {"memory"}


def test_column_blocks_pay_where_the_thesis_says():
    options = DEVICE | {"cache": 1.5 * 2**20, "far_share": 1.0, "column_blocking": True, "link": None}
    blocks = [spmm_cost_model(RCV1, k, **options).column_blocks for k in range(1, 20)]
    assert all(count > 1 for count in blocks[:6])
    assert set(blocks[6:]) == {1}
    assert {spmm_cost_model(WIKIPEDIA, k, **options).column_blocks for k in (1, 2, 8)} == {1}
    cost = spmm_cost_model(RCV1, 2, **options)
    assert cost.column_blocks == 4  # 4 · 764,751 · 2 bytes in blocks of 1.5 MB
    assert cost.factor_bytes == 4 * RCV1[1] * 2
    assert cost.result_bytes == 4 * 4 * RCV1[0] * 2


@given(
    st.integers(1, 500), st.integers(1, 500), st.integers(0, 5000), st.integers(1, 40),
    st.floats(0, 1e6), st.sampled_from([1, 32, 64]), st.floats(0, 1),
)  # fmt: skip
@settings(deadline=None, max_examples=100)
def test_between_one_read_of_x_and_one_for_each_entry(m, n, Z, k, cache, line, far):
    cost = spmm_cost_model((m, n, Z), k, 1e9, cache=cache, line=line, far_share=far)
    once, each = n * k * 8, Z * k * 8
    assert min(once, each) * (1 - 1e-9) <= cost.factor_bytes <= max(once, each + Z * (line - 1)) * (1 + 1e-9)
    assert spmm_cost_model((m, n, Z), k, 2e9, cache=cache, line=line, far_share=far).seconds == pytest.approx(
        cost.seconds / 2
    )


def test_forms_of_the_same_matrix(tmp_path):
    A = banded(300, 6, 250)
    forms = [A, A.tocoo(), Sparse(A), save_on_disk(A + A.T, tmp_path / "a")]
    costs = [spmm_cost_model(form, 2, 1e9, far_share=0.5) for form in forms]
    assert len({cost.bytes for cost in costs[:3]}) == 1
    assert costs[3].matrix_bytes == forms[3].n_entries * (8 + 8) + 301 * 8
    small, large = (spmm_cost_model(A, 2, 1e9, cache=cache).factor_bytes for cache in (400, 4000))
    assert small > large


@pytest.mark.parametrize(
    ("options", "message"),
    [
        ({"n_columns": 0}, "n_columns=0 must be a whole number"),
        ({"bandwidth": 0}, "bandwidth=0 must be a number above 0"),
        ({"cache": -1}, "cache=-1 must be"),
        ({"line": 1.5}, "line=1.5 must be a whole number"),
        ({"far_share": 2}, "far_share=2 must be"),
        ({"link": 0}, "link=0 must be"),
        ({"link": (1e9, -1)}, "link=-1 must be"),
        ({"link_carries": "nothing"}, "link_carries='nothing' is not known"),
        ({"flop_rate": "fast"}, "flop_rate='fast' must be"),
        ({"value_bytes": 0}, "value_bytes=0 must be"),
        ({"A": (3, 0, 1)}, "columns of A=0 must be"),
    ],
)
def test_wrong_options_are_named(options, message):
    with pytest.raises(OptionError, match=message):
        spmm_cost_model(**({"A": (3, 3, 5), "n_columns": 2, "bandwidth": 1e9} | options))


def test_other_matrices_are_refused():
    for other in (np.eye(3), Dense(np.eye(3)), (1, 2), None):
        with pytest.raises(InputTypeError, match="Expected a sparse array"):
            spmm_cost_model(other, 2, 1e9)
