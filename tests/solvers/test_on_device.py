"""First-order solvers on factors that stay on a device: the same results, and no n × k numbers that cross."""

import numpy as np
import pytest
import scipy.sparse as sp
from numpy.testing import assert_allclose, assert_array_equal

from symclust import OffDiagonalSymNMF, SymmetricFactorization, SymNMF, registry
from symclust.constraints import Nonnegative, as_constraint
from symclust.exceptions import CombinationError, InputError, InputTypeError
from symclust.nnls import hals
from symclust.objectives import Frobenius, OffDiagonal
from symclust.operators import Dense, Offloaded, as_operator
from symclust.solvers import Control, Problem, State, choose_solver, run

torch = pytest.importorskip("torch", reason="PyTorch is not installed")

SOLVERS = [name for name in registry.options("solvers") if registry.resolve("solvers", name).on_device]
CONSTRAINTS = [
    name for name in registry.options("constraints") if registry.resolve("constraints", name).on_device
]
N, K = 60, 3


def planted(form="dense", dtype=np.float64):
    rng = np.random.default_rng(0)
    groups = np.arange(N) * K // N
    A = np.where(groups[:, None] == groups, 0.7, 0.05) * rng.uniform(0.5, 1.5, size=(N, N))
    A = np.maximum(A, A.T).astype(dtype)
    return A if form == "dense" else sp.csr_array(np.where(A > 0.3, A, 0))


def on_device(A):
    return torch.tensor(A.toarray()).to_sparse_csr() if sp.issparse(A) else torch.tensor(A)


def starts(dtype, n=3):
    return [np.random.default_rng(seed).uniform(0.1, 0.6, size=(N, K)).astype(dtype) for seed in range(n)]


def make_problem(A, objective=Frobenius, constraint="nonnegative"):
    operator = as_operator(A)
    return Problem(operator, objective(operator), as_constraint(constraint))


def test_the_first_order_solvers_are_there():
    assert set(SOLVERS) >= {
        "barzilai_borwein",
        "projected_gradient",
        "multiplicative",
        "hals",
    }
    assert choose_solver(make_problem(on_device(planted())).objective) == "barzilai_borwein"


# The same results -------------------------------------------------------------------------------------------


@pytest.mark.parametrize("dtype", [np.float32, np.float64])
@pytest.mark.parametrize("form", ["dense", "sparse"])
@pytest.mark.parametrize("name", SOLVERS)
def test_several_starts_go_the_way_they_go_on_arrays(name, form, dtype):
    A, control = planted(form, dtype), Control(tol=0.0, max_iter=8)
    here, there = (
        run(make_problem(X), registry.resolve("solvers", name)(), starts(dtype), control)
        for X in (A, on_device(A))
    )
    close = 1e-4 if dtype is np.float32 else 1e-11
    for expected, found in zip(here, there, strict=True):
        assert type(found.H) is np.ndarray and found.H.dtype == dtype
        assert_allclose(found.H, expected.H, rtol=0, atol=close)
        assert_allclose(found.history.objective, expected.history.objective, rtol=close)
        assert_allclose(
            found.history.stationarity, expected.history.stationarity, rtol=100 * close, atol=close
        )


@pytest.mark.parametrize("rule", ["search", "adaptive", "accelerated"])
@pytest.mark.parametrize("constraint", CONSTRAINTS)
def test_every_constraint_that_works_there_gives_the_same(constraint, rule):
    A, control = planted(), Control(tol=0.0, max_iter=6)
    solver = registry.resolve("solvers", "projected_gradient")(rule)
    here, there = (
        run(make_problem(X, constraint=constraint), solver, starts(np.float64, 2), control)
        for X in (A, on_device(A))
    )
    for expected, found in zip(here, there, strict=True):
        assert_allclose(found.H, expected.H, rtol=0, atol=1e-10)
    problem = make_problem(on_device(A), constraint=constraint)
    H = problem.operator.to_device(here[0].H)
    assert problem.constraint.violation(H) == pytest.approx(
        problem.constraint.violation(here[0].H), abs=1e-14
    )
    columns = as_constraint(constraint)
    if hasattr(columns, "axis"):
        columns = type(columns)(axis="columns")
        assert_allclose(
            problem.operator.from_device(columns.project(H)), columns.project(here[0].H), atol=1e-12
        )


@pytest.mark.parametrize("name", ["barzilai_borwein", "projected_gradient", "multiplicative"])
def test_without_the_diagonal_too(name):
    A, control = planted(), Control(tol=0.0, max_iter=8)
    here, there = (
        run(make_problem(X, OffDiagonal), registry.resolve("solvers", name)(), starts(np.float64, 2), control)
        for X in (A, on_device(A))
    )
    for expected, found in zip(here, there, strict=True):
        assert_allclose(found.H, expected.H, rtol=0, atol=1e-10)


@pytest.mark.parametrize("form", ["dense", "sparse"])
def test_the_end_is_stationary_and_streaming_leads_to_the_same(form):
    A = planted(form)
    dense = A.toarray() if sp.issparse(A) else A
    streamed = Offloaded(A, device="cpu", memory_limit=8 * N * 20)
    assert not streamed.stays and streamed.n_blocks > 2
    found = []
    for given in (on_device(A), streamed):
        model = SymNMF(K, affinity="precomputed", init=starts(np.float64)[0], tol=1e-6, max_iter=3000).fit(
            given
        )
        H = model.membership_
        gradient = 4 * (H @ (H.T @ H) - dense @ H)
        first = starts(np.float64)[0]
        size = np.linalg.norm(4 * (first @ (first.T @ first) - dense @ first))
        assert model.converged_
        assert np.linalg.norm(np.where(H > 0, gradient, np.minimum(gradient, 0))) <= 2e-6 * size
        assert model.objective_ == pytest.approx(np.sum((dense - H @ H.T) ** 2), rel=1e-9)
        assert model.optimality().relative_projected_gradient <= 1.01e-6
        found.append(H)
    assert_allclose(found[1], found[0], atol=1e-5)


@pytest.mark.parametrize("dtype", [np.float32, np.float64])
def test_hals_by_columns_is_the_kernel(dtype):
    rng = np.random.default_rng(3)
    C = rng.uniform(size=(9, 4)).astype(dtype)
    C[:, 2] = 0
    G, R, X = C.T @ C, rng.normal(size=(20, 4)).astype(dtype), rng.normal(size=(20, 4)).astype(dtype)
    A = as_operator(torch.eye(20))
    for sweeps in (0, 1, 3):
        found = hals(G, A.to_device(R), A.to_device(X), sweeps)
        assert_allclose(
            A.from_device(found), hals(G, R, X, sweeps), rtol=0, atol=1e-5 if dtype is np.float32 else 1e-12
        )


# Nothing crosses --------------------------------------------------------------------------------------------


@pytest.fixture
def crossings(monkeypatch):
    """Sizes of all arrays that cross."""
    from symclust.operators.torch import _arrays

    sizes, there, back = [], _arrays.to_device, _arrays.to_host

    def to_device(array, device):
        sizes.append(np.size(array))
        return there(array, device)

    def to_host(tensor):
        sizes.append(tensor.numel())
        return back(tensor)

    monkeypatch.setattr(_arrays, "to_device", to_device)
    monkeypatch.setattr(_arrays, "to_host", to_host)
    return sizes


@pytest.mark.parametrize("objective", [Frobenius, OffDiagonal])
@pytest.mark.parametrize("name", SOLVERS)
def test_an_iteration_moves_no_more_than_the_gram_matrix(name, objective, crossings):
    problem, solver = make_problem(on_device(planted()), objective), registry.resolve("solvers", name)()
    if solver.lacks(problem.objective):
        pytest.skip("refused")
    large = []
    for iterations in (4, 8):
        crossings.clear()
        run(problem, solver, starts(np.float64, 2), Control(tol=0.0, max_iter=iterations))
        large.append(sorted(size for size in crossings if size > K * K))
    assert large[0] and large[0][-1] == N * K  # a start and its end, for both
    assert [size for size in large[0] if size == N * K] == [N * K] * 4
    assert len(large[1]) <= len(large[0])  # a second run estimates no eigenvalue again


def test_a_factor_on_a_device_never_becomes_an_array_unasked():
    H = as_operator(torch.eye(3)).to_device(np.ones((3, 2)))
    with pytest.raises(TypeError, match="in silence"):
        np.asarray(H)
    with pytest.raises(TypeError, match=r"numpy\.median"):
        np.median(H)
    with pytest.raises(TypeError):
        np.add.reduce(H)


# Where it is computed ---------------------------------------------------------------------------------------


@pytest.fixture
def fake_cuda(monkeypatch):
    """PyTorch's stand-ins for tensors on CUDA: without numbers, but refusing to mix devices."""
    fake_tensor = pytest.importorskip("torch._subclasses.fake_tensor")
    from symclust.operators.torch import _arrays as arrays

    def to_device(array, device):
        return torch.empty(np.shape(array), dtype=getattr(torch, np.asarray(array).dtype.name), device=device)

    def sign(self, other):
        arrays._dot(self.tensor.reshape(-1), self._own(other).reshape(-1))
        return 1.0 if other is self else -1.0

    def part(self, index):  # which asks CUDA itself, and a build without it has none
        shape = torch.empty(self.shape, device="meta")[index].shape
        return arrays.TensorArray(torch.empty(shape, dtype=self.tensor.dtype, device=self.tensor.device))

    def set_part(self, index, values):
        assert values.tensor.device == self.tensor.device
        assert values.shape == part(self, index).shape

    def positive(values):
        assert values.device.type == "cuda"
        return 1.0

    monkeypatch.setattr(arrays, "to_device", to_device)
    monkeypatch.setattr(arrays, "to_host", lambda t: np.ones(tuple(t.shape), arrays.NUMPY_DTYPES[t.dtype]))
    monkeypatch.setattr(arrays, "squares", positive)
    monkeypatch.setattr(arrays.TensorArray, "inner", sign)
    monkeypatch.setattr(arrays.TensorArray, "__getitem__", part)
    monkeypatch.setattr(arrays.TensorArray, "__setitem__", set_part)
    with fake_tensor.FakeTensorMode():
        yield


@pytest.mark.usefixtures("fake_cuda")
@pytest.mark.parametrize("objective", [Frobenius, OffDiagonal])
@pytest.mark.parametrize("name", SOLVERS)
def test_all_is_computed_on_the_device_of_the_tensor(name, objective):
    A = torch.empty((N, N), device="cuda", dtype=torch.float32)
    with pytest.raises(RuntimeError, match="device"):
        A @ torch.empty((N, N))  # the stand-ins do refuse
    operator = as_operator(A)
    problem, solver = (
        Problem(operator, objective(operator), Nonnegative()),
        registry.resolve("solvers", name)(),
    )
    if solver.lacks(problem.objective):
        pytest.skip("refused")
    state = State(operator.to_device(np.ones((N, K), dtype=np.float32)))
    for _ in range(2):
        solver.advance(problem, [state, State(state.H)])
        problem.measure(state.H, operator @ state.H)
    assert state.H.tensor.device.type == "cuda"
    assert all(
        value.tensor.device.type == "cuda" for value in state.memory.values() if hasattr(value, "tensor")
    )


# Estimators -------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("form", ["dense", "sparse"])
def test_estimators_take_tensors(form, tmp_path):
    A = planted(form)
    tensor = on_device(A)
    model = SymNMF(K, affinity="precomputed", random_state=0).fit(tensor)
    assert model.affinity_matrix_ is tensor
    assert type(model.membership_) is np.ndarray
    assert model.n_features_in_ == N
    assert_array_equal(np.bincount(model.labels_), [N // K] * K)
    rows = A[:5].toarray() if sp.issparse(A) else A[:5]
    assert_array_equal(model.predict(rows), model.labels_[:5])
    assert np.isfinite(model.score(rows))
    with pytest.raises(InputTypeError, match="data=False"):
        model.save(tmp_path / "model")
    assert model.save(tmp_path / "model", data=False).exists()


@pytest.mark.parametrize(
    "make",
    [
        lambda: SymNMF(K, affinity="normalized_cut", affinity_params={"of": "precomputed"}, random_state=0),
        lambda: SymNMF(K, affinity="precomputed", init="low_rank", random_state=0),
        lambda: SymNMF(K, affinity="precomputed", init="spectral", sparsity=0.1, random_state=0),
        lambda: OffDiagonalSymNMF(K, affinity="precomputed", random_state=0),
        lambda: OffDiagonalSymNMF(
            K, affinity="precomputed", ignore=sp.eye_array(N, k=1) + sp.eye_array(N, k=-1)
        ),
        lambda: SymmetricFactorization(K, affinity="precomputed", random_state=0),
        lambda: SymmetricFactorization(K, affinity="precomputed", graph_regularization=0.1, random_state=0),
    ],
)
@pytest.mark.filterwarnings("ignore")
def test_their_clusters_are_those_of_the_array(make):
    A = planted()
    expected, found = make().fit(A), make().fit(on_device(A))
    assert found.objective_ == pytest.approx(expected.objective_, rel=2e-2)
    same = expected.labels_[:, None] == expected.labels_
    assert_array_equal(found.labels_[:, None] == found.labels_, same)


@pytest.mark.parametrize("layout", ["strided", "sparse_csr", "sparse_coo"])
def test_samples_and_new_samples_may_be_tensors_too(layout):
    X = np.abs(np.random.default_rng(0).normal(size=(60, 3))) + 4 * np.repeat(np.eye(3), 20, axis=0)
    given = {
        "strided": lambda T: T,
        "sparse_csr": torch.Tensor.to_sparse_csr,
        "sparse_coo": torch.Tensor.to_sparse,
    }
    tensor = given[layout](torch.tensor(X, requires_grad=layout == "strided"))
    model = SymNMF(3, affinity="cosine", random_state=0).fit(tensor)
    expected = SymNMF(3, affinity="cosine", random_state=0).fit(X)
    assert_allclose(model.membership_, expected.membership_, atol=1e-8)
    assert_array_equal(model.predict(tensor), expected.labels_)
    A = planted()
    model = SymNMF(K, affinity="precomputed", random_state=0).fit(on_device(A))
    assert_array_equal(model.predict(given[layout](torch.tensor(A[:5]))), model.labels_[:5])


def test_names_of_what_works_are_given_where_something_does_not():
    tensor = on_device(planted())

    class Own:
        def project(self, H):
            return H

    for model, words in (
        (SymNMF(K, solver="row_descent"), ["RowDescent with Frobenius", "'barzilai_borwein'", "'hals'"]),
        (SymNMF(K, solver="newton"), ["Newton with Frobenius", "'projected_gradient'"]),
        (SymNMF(K, init="tree"), ["DenseTensor"]),
        (OffDiagonalSymNMF(K, loss="absolute"), ["Coordinate with Absolute", "Give A as a NumPy array"]),
        (SymmetricFactorization(K, constraint="sparse"), ["Sparse(", "'simplex'", "'unit'"]),
        (SymmetricFactorization(K, constraint=Own()), ["Custom(", "'free'"]),
    ):
        with pytest.raises(CombinationError) as caught:
            model.set_params(affinity="precomputed").fit(tensor)
        assert all(word in str(caught.value) for word in words), str(caught.value)
    with pytest.raises(CombinationError, match=r"network.*precomputed"):
        SymNMF(K, affinity="network").fit(tensor)


def test_what_is_wrong_with_a_tensor_is_said_as_of_an_array():
    A = torch.tensor(planted())
    for change, words in (
        ((3, 5, 9.0), "not symmetric"),
        ((4, 4, -1.0), "negative"),
        ((0, 0, np.nan), "NaN"),
    ):
        wrong = A.clone()
        wrong[change[0], change[1]] = change[2]
        with pytest.raises(InputError, match=words):
            SymNMF(K, affinity="precomputed").fit(wrong)
    assert isinstance(as_operator(A.numpy()), Dense)  # arrays are what they were
