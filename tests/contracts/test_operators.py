"""Every operator against its dense equivalent.

A new file in `symclust.operators` fails here until `CASES` says how to build it.
"""

import shutil
import tempfile

import numpy as np
import pytest
import scipy.sparse as sp
from numpy.testing import assert_allclose, assert_array_equal
from threadpoolctl import threadpool_limits

from symclust import registry
from symclust._threads import split
from symclust.exceptions import InputError, OptionError
from symclust.operators import (
    Bipartite,
    Dense,
    DenseTensor,
    Gram,
    LowRank,
    Masked,
    Offloaded,
    OnDask,
    OnDisk,
    Operator,
    Shifted,
    Sparse,
    SparseTensor,
    save_on_disk,
)

N = 70  # more than 64, so that eigsh runs Lanczos
DTYPES = (np.float32, np.float64)
FOLDERS = []  # of matrices on disk


@pytest.fixture(autouse=True)
def no_folders_are_left():
    yield
    while FOLDERS:
        shutil.rmtree(FOLDERS.pop())


def random_dense(rng, dtype, n=N):
    A = rng.normal(size=(n, n)).astype(dtype)
    return A + A.T


def random_sparse(rng, dtype, n=N):
    A = sp.random_array((n, n), density=0.1, rng=rng, dtype=np.float64)
    return (A + A.T).astype(dtype).tocsr()


def dense_case(rng, dtype):
    A = random_dense(rng, dtype)
    return Dense(A), A


def nonnegative_dense_case(rng, dtype):
    A = np.abs(random_dense(rng, dtype))
    return Dense(A), A


def sparse_case(rng, dtype):
    A = random_sparse(rng, dtype)
    return Sparse(A), A.toarray()


def sparse_long_indices_case(rng, dtype):
    A = random_sparse(rng, dtype)
    A.indices, A.indptr = A.indices.astype(np.int64), A.indptr.astype(np.int64)
    A.data *= -1
    return Sparse(A), A.toarray()


def gram_case(d, is_sparse=False, scaled=False, self_edges=True, signed=False):
    def build(rng, dtype):
        X = rng.uniform(-1 if signed else 0, 1, size=(N, d)).astype(dtype)
        X[rng.uniform(size=X.shape) < 0.8 * is_sparse] = 0
        scale = rng.uniform(0.5, 2, size=N).astype(dtype) if scaled else None
        A = X @ X.T if scale is None else scale[:, None] * (X @ X.T) * scale
        if not self_edges:
            np.fill_diagonal(A, 0)
        return Gram(sp.csc_array(X) if is_sparse else X, scale=scale, self_edges=self_edges), A

    return build


def low_rank_case(positive):
    def build(rng, dtype):
        U = rng.normal(size=(N, 6)).astype(dtype)
        s = np.array([3, 2, 1, 0.5, 0.2, 0.1] if positive else [3, 2, 1, -1, -2, -3], dtype=dtype)
        return LowRank(U, s), (U * s) @ U.T

    return build


def shifted_case(inner, graph, weight):
    def build(rng, dtype):
        operator, A = inner(rng, dtype)
        W, dense_W = graph(rng, dtype)
        return Shifted(operator, W, weight), A - dtype(weight) * (np.diag(dense_W.sum(axis=1)) - dense_W)

    return build


def self_shifted_case(inner, weight):
    """The graph of the regulariser is A itself."""

    def build(rng, dtype):
        operator, A = inner(rng, dtype)
        return Shifted(operator, None, weight), A - dtype(weight) * (np.diag(A.sum(axis=1)) - A)

    return build


def masked_case(inner):
    def build(rng, dtype):
        operator, A = inner(rng, dtype)
        hidden = random_sparse(rng, dtype)
        return Masked(operator, hidden), np.where(hidden.toarray() != 0, dtype(0), A)

    return build


def bipartite_case(d, is_sparse=False, signed=False):
    def build(rng, dtype):
        X = rng.uniform(-1 if signed else 0, 1, size=(N - d, d)).astype(dtype)
        X[rng.uniform(size=X.shape) < 0.8 * is_sparse] = 0
        A = np.block([[np.zeros((N - d, N - d)), X], [X.T, np.zeros((d, d))]]).astype(dtype)
        return Bipartite(sp.csc_array(X) if is_sparse else X), A

    return build


def on_disk_case(scaled=False):
    """Blocks of a few entries, so that every method goes over several."""

    def build(rng, dtype):
        A = random_sparse(rng, dtype)
        folder = tempfile.mkdtemp()
        FOLDERS.append(folder)
        save_on_disk(A, f"{folder}/matrix")
        operator = OnDisk(f"{folder}/matrix", memory_limit=600)
        if not scaled:
            return operator, A.toarray()
        d = rng.uniform(0.5, 2, size=N).astype(dtype)
        return operator.scaled(d), d[:, None] * A.toarray() * d

    return build


def on_dask_case(inner, chunks, scaled=False):
    """Without a cluster: the blocks are in this process. What a cluster adds is in test_on_dask.py."""

    def build(rng, dtype):
        import dask.array

        operator, A = inner(rng, dtype)
        array = dask.array.from_array(A, chunks=chunks)
        if operator.is_sparse:
            array = array.map_blocks(sp.csr_array, dtype=dtype)
        if not scaled:
            return OnDask(array), A
        d = rng.uniform(0.5, 2, size=N).astype(dtype)
        return OnDask(array).scaled(d), d[:, None] * A * d

    return build


def dense_tensor_case(rng, dtype):
    torch = pytest.importorskip("torch")
    A = random_dense(rng, dtype)
    return DenseTensor(torch.tensor(A)), A


def sparse_tensor_case(form):
    """Entries as CSR, or as COO in any order and with some of them in two parts."""

    def build(rng, dtype):
        torch = pytest.importorskip("torch")
        A = random_sparse(rng, dtype)
        tensor = torch.tensor(A.toarray()).to_sparse_csr()
        if form == "coo":
            places, values = tensor.to_sparse_coo().indices(), tensor.values() / 2
            order = torch.tensor(rng.permutation(2 * len(values)))
            places, values = torch.cat([places, places], 1)[:, order], torch.cat([values, values])[order]
            tensor = torch.sparse_coo_tensor(places, values, A.shape)
        return SparseTensor(tensor), A.toarray()

    return build


def offloaded_case(inner, limit):
    """With room for two blocks of a few rows, or for all of A."""

    def build(rng, dtype):
        pytest.importorskip("torch")
        operator, A = inner(rng, dtype)
        return Offloaded(operator, device="cpu", memory_limit=limit), A

    return build


CASES = {
    "bipartite": [bipartite_case(9), bipartite_case(50, signed=True), bipartite_case(30, is_sparse=True)],
    "dense": [dense_case, nonnegative_dense_case],
    "sparse": [sparse_case, sparse_long_indices_case],
    "gram": [
        gram_case(5),
        gram_case(5, scaled=True, self_edges=False),
        gram_case(100, signed=True),
        gram_case(30, is_sparse=True),
        gram_case(30, is_sparse=True, scaled=True, self_edges=False, signed=True),
        gram_case(400, is_sparse=True, self_edges=False),
    ],
    "dense_tensor": [dense_tensor_case],
    "sparse_tensor": [sparse_tensor_case("csr"), sparse_tensor_case("coo")],
    "offloaded": [
        offloaded_case(dense_case, 10_000),
        offloaded_case(dense_case, 1_000_000),
        offloaded_case(sparse_case, 3_000),
        offloaded_case(on_disk_case(scaled=True), 3_000),
    ],
    "low_rank": [low_rank_case(True), low_rank_case(False)],
    "on_dask": [
        on_dask_case(dense_case, (25, 70)),
        on_dask_case(sparse_case, (16, 40)),
        on_dask_case(sparse_case, (30, 70), scaled=True),
        on_dask_case(nonnegative_dense_case, (70, 70), scaled=True),
    ],
    "on_disk": [on_disk_case(), on_disk_case(scaled=True)],
    "shifted": [
        shifted_case(dense_case, sparse_case, 0.7),
        shifted_case(gram_case(30, is_sparse=True, scaled=True, self_edges=False), sparse_case, 0.01),
        shifted_case(low_rank_case(False), sparse_case, -0.5),
        shifted_case(sparse_case, nonnegative_dense_case, 0.3),
        self_shifted_case(dense_case, 0.5),
        self_shifted_case(sparse_case, 0.5),
        self_shifted_case(gram_case(30, is_sparse=True, scaled=True, self_edges=False), 0.2),
    ],
    "masked": [
        masked_case(gram_case(5)),
        masked_case(gram_case(30, is_sparse=True, scaled=True, self_edges=False)),
        masked_case(low_rank_case(False)),
    ],
}


class ProductOnly(Operator):
    """What a user writes who knows only the product; the defaults of the base class do the rest."""

    def __init__(self, A):
        super().__init__(A.shape[0], A.dtype)
        self._inner = Dense(A)

    def _product(self, H):
        return self._inner @ H


def product_only_case(rng, dtype):
    A = random_dense(rng, dtype)
    return ProductOnly(A), A


def derived_case(change):
    def build(rng, dtype):
        operator, A = product_only_case(rng, dtype)
        d, index = rng.uniform(0.5, 2, size=N).astype(dtype), np.arange(N)[::-1]
        if change == "scaled":
            return operator.scaled(d), d[:, None] * A * d
        return operator.submatrix(index), A[np.ix_(index, index)]

    return build


ALL_CASES = [
    pytest.param(build, id=f"{name}-{place}")
    for name, builds in CASES.items()
    for place, build in enumerate(builds)
]
ALL_CASES += [
    pytest.param(product_only_case, id="product_only"),
    pytest.param(derived_case("scaled"), id="scaled_default"),
    pytest.param(derived_case("submatrix"), id="submatrix_default"),
]


# Each operator in both precisions, its further cases in one: the code has no branch by both.
SETTINGS = [
    pytest.param((case.values[0], dtype), id=f"{case.id}-{dtype.__name__}")
    for case in ALL_CASES
    for dtype in DTYPES
    if dtype is np.float64 or case.id.endswith("-0") or "-" not in case.id
]


@pytest.fixture(params=SETTINGS)
def setting(request):
    return request.param


@pytest.fixture
def dtype(setting):
    return setting[1]


@pytest.fixture
def case(setting):
    build, dtype = setting
    return build(np.random.default_rng(7), dtype)


@pytest.fixture
def close(dtype):
    def check(got, expected):
        scale = max(1.0, float(np.abs(expected).max()))
        assert_allclose(got, expected, rtol=0, atol=scale * (2e-5 if dtype == np.float32 else 1e-12))

    return check


def test_every_operator_of_the_registry_has_a_case():
    assert sorted(CASES) == sorted(registry.options("operators"))


@pytest.mark.parametrize("name", sorted(CASES))
def test_cases_build_the_operator_they_are_listed_under(name):
    for build in CASES[name]:
        operator, _ = build(np.random.default_rng(0), np.float64)
        assert type(operator) is registry.resolve("operators", name)


def test_shape_and_dtype(case, dtype):
    operator, A = case
    assert operator.shape == A.shape == (operator.n, operator.n)
    assert operator.dtype == dtype
    assert operator.is_dense == (type(operator) is Dense)
    assert operator.is_sparse == (type(operator) is Sparse)


def test_product(case, close, dtype):
    operator, A = case
    for width in (None, 1, 3, 33, 200):
        H = np.random.default_rng(1).normal(size=N if width is None else (N, width)).astype(dtype)
        got = operator @ H
        assert got.shape == H.shape and got.dtype == dtype and got.flags.c_contiguous
        close(got, A @ H)


def test_product_leaves_its_argument_alone_and_takes_any_layout(case, close, dtype):
    operator, A = case
    H = np.asfortranarray(np.random.default_rng(2).normal(size=(N, 6)))[:, ::2]
    before = H.copy()
    close(operator @ H, A @ H)
    assert_array_equal(H, before)
    close(operator @ np.ones((N, 2), dtype=int), A @ np.ones((N, 2), dtype=dtype))


def test_product_with_one_vector(case, close, dtype):
    operator, A = case
    x = np.random.default_rng(5).normal(size=N).astype(dtype)
    assert operator.matvec(x).dtype == dtype and operator.matvec(x).shape == (N,)
    close(operator.matvec(x), A @ x)


def test_product_refuses_a_wrong_shape(case):
    operator, _ = case
    with pytest.raises(InputError, match=r"\(70, 70\).*\(69, 2\)"):
        operator @ np.ones((69, 2))
    with pytest.raises(TypeError):
        np.ones((2, N)) @ operator


def test_diagonal_degrees_and_norm(case, close, dtype):
    operator, A = case
    assert operator.diagonal().dtype == operator.degrees().dtype == dtype
    close(operator.diagonal(), A.diagonal())
    close(operator.degrees(), A.sum(axis=1))
    assert_array_equal(operator.isolated(), ~A.any(axis=1))
    expected = float((A.astype(np.float64) ** 2).sum())
    assert operator.squared_norm() == pytest.approx(expected, rel=1e-5 if dtype == np.float32 else 1e-12)
    assert isinstance(operator.squared_norm(), float)


def test_rows_and_submatrix(case, close, dtype):
    operator, A = case
    slices = slice(0, 5), slice(60, None), slice(None, None, 7)
    for index in (*slices, np.array([3, 69, 3, -1]), np.arange(N) % 5 == 0, [4]):
        rows = operator.rows(index)
        assert rows.dtype == dtype
        close(rows, A[index])
        numbers = np.unique(np.arange(N)[index])[::-1]
        part = operator.submatrix(numbers)
        expected = A[numbers][:, numbers]
        assert part.dtype == dtype and part.shape == expected.shape
        close(part.toarray(), expected)
        H = np.random.default_rng(3).normal(size=(part.n, 4)).astype(dtype)
        close(part @ H, expected @ H)
        close(part.diagonal(), expected.diagonal())


def test_submatrix_by_a_mask(case, close):
    operator, A = case
    mask = np.arange(N) % 3 == 1
    close(operator.submatrix(mask).toarray(), A[mask][:, mask])


def test_submatrix_refuses_a_row_twice(case):
    with pytest.raises(InputError, match="at most once"):
        case[0].submatrix([3, 4, 3])


def test_rows_refuse_what_is_not_there(case):
    for index in ([N], [-N - 1], np.zeros((2, 2), dtype=int), [0.5], np.ones(3, dtype=bool)):
        with pytest.raises(InputError, match="Rows are"):
            case[0].rows(index)


def test_row_blocks_and_blocks(case, close):
    operator, A = case
    for size in (None, 1, 32):
        seen = np.zeros(N, dtype=int)
        for rows, block in operator.row_blocks(size):
            seen[rows] += 1
            close(block, A[rows])
            close(operator.block(rows), A[rows, rows])
        assert_array_equal(seen, 1)


def test_entries(case, close, dtype):
    operator, A = case
    i, j = np.random.default_rng(4).integers(0, N, size=(2, 300))
    j[:20] = i[:20]
    assert operator.entries(i, j).dtype == dtype
    close(operator.entries(i, j), A[i, j])
    with pytest.raises(InputError, match="2 rows and 3 columns"):
        operator.entries([0, 1], [0, 1, 2])


def test_row_products_follow_updates(case, close, dtype):
    operator, A = case
    rng = np.random.default_rng(5)
    H = rng.normal(size=(N, 4)).astype(dtype)
    cursor = operator.row_products(H)
    for rows in [*split(N, 16), *split(N, 33)]:
        got = cursor.product(rows)
        assert got.dtype == dtype
        close(got, A[rows] @ H)
        delta = rng.normal(size=got.shape).astype(dtype)
        H[rows] += delta
        cursor.update(rows, delta)
    close(cursor.product(slice(0, N)), A @ H)


def test_the_sum_of_factors_is_the_matrix(case, close, dtype):
    operator, A = case
    found = operator.factored
    if found is None:
        pytest.skip("this form has no sparse factor")
    X = found.scale[:, None] * found.factor.X.toarray()
    close(X * found.weights @ X.T + found.extra.toarray(), A)
    H = np.random.default_rng(8).normal(size=(N, 3)).astype(dtype)
    close(found.inward(H), found.weights[:, None] * (X.T @ H))
    assert all(array.dtype == dtype for array in found.arrays if array.dtype.kind == "f")
    assert len({array.dtype for array in found.arrays if array.dtype.kind == "i"}) == 1


def test_a_sweep_costs_a_product_at_least(case):
    operator, _ = case
    assert operator.sweep_cost >= 1
    assert np.isinf(operator.sweep_cost) == (not operator.rows_are_cheap)
    # What costs more than this is left to solvers that multiply: no form of ours but products alone.
    assert operator.sweep_cost <= 20 or not operator.rows_are_cheap


def test_row_products_refuse_what_they_cannot_follow(case, dtype):
    other = np.float64 if dtype == np.float32 else np.float32
    for H in (np.ones((N, 2), dtype=other), np.ones((N + 1, 2), dtype=dtype), np.ones((2, N), dtype=dtype).T):
        with pytest.raises(InputError, match="follow H in place"):
            case[0].row_products(H)


def test_scaled(case, close, dtype):
    operator, A = case
    d = np.random.default_rng(6).uniform(-1, 1, size=N).astype(dtype)
    scaled, expected = operator.scaled(d), d[:, None] * A * d
    assert scaled.dtype == dtype
    close(scaled.toarray(), expected)
    close(scaled @ np.ones(N), expected.sum(axis=1))
    close(scaled.diagonal(), expected.diagonal())
    close(scaled.scaled(d).toarray(), d[:, None] * expected * d)
    close(operator.toarray(), A)
    with pytest.raises(InputError, match=r"`d`.*70.*\(69,\)"):
        operator.scaled(d[1:])


def test_signs_and_symmetry(case, close, dtype):
    operator, A = case
    assert operator.is_nonnegative() == bool(A.min() >= 0)
    assert operator.scaled(np.r_[-1, np.ones(N - 1)]).is_nonnegative() is False
    close(operator.largest(), A.max())
    flips = np.where(np.arange(N) % 2, -1, 1)
    close(operator.scaled(flips).largest(), (flips[:, None] * A * flips).max())
    assert operator.asymmetry() <= (1e-4 if dtype == np.float32 else 1e-13)
    place = operator.negative_entry()
    assert (place is None) == bool(A.min() >= 0)
    assert place is None or A[place] < 0


@pytest.fixture
def one_thread():
    # Lanczos takes thousands of tiny products; on a busy machine OpenMP threads wait for each other in each.
    with threadpool_limits(1, user_api="openmp"):
        yield


@pytest.mark.usefixtures("one_thread")
def test_eigsh(case, dtype):
    operator, A = case
    spectrum = np.linalg.eigvalsh(A.astype(np.float64))
    scale = np.abs(spectrum).max() * (1e-4 if dtype == np.float32 else 1e-9)
    ends = {"LA": spectrum[-4:], "SA": spectrum[:4], "LM": spectrum[np.argsort(np.abs(spectrum))[-4:]]}
    for which, expected in ends.items():
        values, vectors = operator.eigsh(4, which=which)
        assert values.dtype == vectors.dtype == dtype
        assert_allclose(values, np.sort(expected)[::-1], rtol=0, atol=scale)
        assert_allclose(A @ vectors, vectors * values, rtol=0, atol=scale)
        assert_allclose(vectors.T @ vectors, np.eye(4), rtol=0, atol=1e-4 if dtype == np.float32 else 1e-10)


@pytest.mark.usefixtures("one_thread")
def test_eigsh_is_repeatable(case):
    first, second = case[0].eigsh(10), case[0].eigsh(10)
    assert_array_equal(first[0], second[0])
    assert_array_equal(first[1], second[1])


def test_eigsh_refuses_what_it_cannot_do(case):
    operator, A = case
    with pytest.raises(OptionError, match="'LA', 'SA', 'LM'"):
        operator.eigsh(2, which="XX")
    with pytest.raises(InputError, match="k=71"):
        operator.eigsh(N + 1)
    assert_allclose(operator.eigsh(N)[0], np.linalg.eigvalsh(A)[::-1], atol=1e-3)


def test_entries_are_left_out(case):
    operator, A = case
    hidden = random_sparse(np.random.default_rng(9), operator.dtype)
    expected = np.where(hidden.toarray() != 0, operator.dtype.type(0), A)
    without = operator.without(hidden)
    assert without.dtype == operator.dtype
    assert_allclose(without.toarray(), expected, rtol=1e-4, atol=1e-4)
    assert not without.toarray()[hidden.nonzero()].any()


def test_entries_of_a_mask_that_are_stored_but_zero_hide_nothing(case):
    operator, A = case
    hidden = sp.coo_array(([1.0, 1.0, 2.0, 0.0, 0.0], ([1, 2, 1, 3, 4], [2, 1, 2, 4, 3])), shape=A.shape)
    expected = np.array(A)
    expected[[1, 2], [2, 1]] = 0
    without = operator.without(hidden)
    assert_allclose(without.toarray(), expected, rtol=1e-4, atol=1e-4)
    H = np.random.default_rng(0).normal(size=(N, 3)).astype(operator.dtype)
    assert_allclose(without @ H, expected @ H, rtol=1e-4, atol=2e-3)


def test_rows_are_visited_in_any_order(case):
    operator, A = case
    order = np.random.default_rng(3).permutation(N)[:20]
    seen = [(part, block[places]) for block, places, part in operator.visit(order)]
    assert_array_equal(np.concatenate([part for part, _ in seen]), order)
    assert_allclose(np.concatenate([rows for _, rows in seen]), A[order], rtol=1e-4, atol=1e-4)


def test_rows_are_combined(case):
    operator, A = case
    rng = np.random.default_rng(4)
    ids, weights = rng.permutation(N)[:5], rng.normal(size=5).astype(operator.dtype)
    assert_allclose(operator.row(3), A[3], rtol=1e-4, atol=1e-4)
    combined = operator.combine_rows(ids, weights)
    assert combined.dtype == operator.dtype
    assert_allclose(combined, weights @ A[ids], rtol=1e-4, atol=1e-3)
    several = operator.combine_rows(ids, np.stack([weights, -weights, weights + 1], axis=1))
    assert_allclose(several.T, np.stack([weights, -weights, weights + 1]) @ A[ids], rtol=1e-4, atol=1e-3)
