"""The same bits on one and on three threads, from the kernels up to the estimator."""

PROGRAM = """
import hashlib, warnings
import numpy as np, scipy.sparse as sp
from symclust import OffDiagonalSymNMF, SymNMF, _kernels
from symclust.operators import Gram

warnings.simplefilter("ignore")
rng = np.random.default_rng(0)


def tell(name, *arrays):
    digest = hashlib.sha256()
    for array in arrays:
        digest.update(np.ascontiguousarray(array).tobytes())
    print(name, digest.hexdigest())


none = np.empty(0, dtype=np.int64)


def sweeps(name, A, H, full, n_starts=1, times=3, pairs=(none, none)):
    G, sums, rows, n = _kernels.gram(H, n_starts), np.zeros((2, n_starts)), np.zeros(len(H)), len(H)
    for t in range(times):
        active = np.ones(n, np.uint8) if t < 2 else (rows > np.median(rows)).astype(np.uint8)
        _kernels.row_sweep_sparse(
            A.indptr, A.indices, A.data, A.diagonal(), H, G, 0.01, full, 1, *pairs, active, rows, *sums
        )
    tell(name, H, G, sums, rows)


n = 9001
i = np.arange(n)
first = np.tile(i, 6)
second = (first + rng.integers(1, 90, 6 * n)) % n
near = sp.csr_array((rng.uniform(0.2, 1, 6 * n), (first, second)), shape=(n, n))
near = sp.csr_array(near + near.T)
rivals = sp.block_diag([rng.uniform(0.4, 0.6, size=(64, 64)) for _ in range(141)], format="csr")
rivals = sp.csr_array(rivals + rivals.T)
far = sp.csr_array(sp.eye_array(n, k=100) + sp.eye_array(n, k=-100))
pairs = far.indptr.astype(np.int64), far.indices.astype(np.int64)
for dtype in (np.float32, np.float64):
    name = np.dtype(dtype).name
    sweeps(f"pairs {name}", near.astype(dtype), rng.uniform(size=(n, 6)).astype(dtype), False, 2, pairs=pairs)
    products = np.empty(near.nnz, dtype)
    _kernels.pattern_products(near.indptr, near.indices, rng.uniform(size=(n, 6)).astype(dtype), products)
    tell(f"pattern {name}", products)
    for full in (True, False):
        sweeps(f"near {name} {full}", near.astype(dtype), rng.uniform(size=(n, 6)).astype(dtype), full, 2)
        small = (1e-3 * rng.uniform(size=(rivals.shape[0], 2))).astype(dtype)
        sweeps(f"rivals {name} {full}", rivals.astype(dtype), small, full)
    H = rng.uniform(size=(n, 21)).astype(dtype)
    out = np.empty_like(H)
    A = near.astype(dtype)
    _kernels.spmm(A.indptr, A.indices, A.data, H, out)
    tell(f"reductions {name}", out, _kernels.gram(H, 3), _kernels.inner(H.reshape(-1), out.reshape(-1)))

m = 400
X = rng.uniform(size=(m, 9)) * (np.arange(m)[:, None] % 9 == np.arange(9)) + 0.1 * rng.uniform(size=(m, 9))
words = sp.csr_array(np.where(X > 0.02, X, 0))
forms = {"sparse": near, "dense": X @ X.T, "gram": Gram(X), "words": Gram(words, self_edges=False)}
tell("norms", Gram(near).squared_norm(), Gram(near, self_edges=False).squared_norm())
for name, A in forms.items():
    for solver in ("row_descent", "anls", "newton"):
        init = "merge" if solver == "row_descent" else "random"
        options = {"solver": solver, "init": init, "n_init": 2, "max_iter": 2, "random_state": 0}
        model = SymNMF(4, affinity="precomputed", **options).fit(A)
        tell(f"{name} {solver}", model.membership_, model.inits_, model.history_.objective,
             model.history_.stationarity)
    hidden = sp.lil_array(A.shape, dtype=bool)
    hidden[3, 8] = hidden[8, 3] = True
    for loss in ("squared", "absolute"):
        options = {"loss": loss, "ignore": hidden, "affinity": "precomputed", "max_iter": 2}
        model = OffDiagonalSymNMF(4, init="random", n_init=2, random_state=0, **options).fit(A)
        grown = OffDiagonalSymNMF(2, **options).fit(A)
        tell(f"{name} {loss}", model.membership_, model.inits_, model.history_.stationarity,
             grown.membership_)
model = SymNMF(4, affinity="precomputed", init="spectral", max_iter=2, random_state=0).fit(forms["dense"])
tell("dense spectral", model.membership_)
"""


def test_bits_do_not_depend_on_the_number_of_threads(printed_on):
    one, three = (printed_on(threads, PROGRAM).splitlines() for threads in (1, 3))
    assert len(one) == 36
    assert one == three
