"""Forked children of a process that has fitted something: they fit too, on one thread, to the same bits."""

import os
import signal
import subprocess
import sys

import pytest

# Large enough that each runs on several threads in the parent: rows in lanes, products in blocks, helpers.
WORKLOADS = """
import hashlib, multiprocessing, os, sys, threading, warnings
import numpy as np, scipy.sparse as sp
from sklearn.datasets import make_blobs
import symclust
from symclust import _kernels, _threads

warnings.simplefilter("ignore")
X, _ = make_blobs(600, n_features=30, centers=4, random_state=0)
counts = sp.csr_array(np.random.default_rng(0).poisson(0.3, size=(1500, 400)).astype(float))
S = X @ X.T - (X @ X.T).min()
ring = sp.csr_array(sum(sp.eye_array(9000, k=s) for s in (-3, -2, -1, 1, 2, 3)))
texts = [" ".join(f"word{(i * j) % 37}x" for j in range(1, 12)) for i in range(200)]

def digest(*arrays):
    return hashlib.sha1(b"".join(np.ascontiguousarray(a).tobytes() for a in arrays)).hexdigest()

def factor(cls, data, *args, **options):
    model = cls(*args, random_state=0, **options).fit(data)
    return digest(model.labels_, getattr(model, "membership_", model.labels_))

few = {"max_iter": 5}
FITS = {
    "SymNMF sparse": lambda: factor(symclust.SymNMF, ring, 5, affinity="precomputed", **few),
    "SymNMF dense": lambda: factor(symclust.SymNMF, S, 3, affinity="precomputed", **few),
    "SymNMF points": lambda: factor(symclust.SymNMF, X, 4, **few),
    "OffDiagonalSymNMF": lambda: factor(symclust.OffDiagonalSymNMF, X[:200], 3, loss="absolute", **few),
    "NMF": lambda: factor(symclust.NMF, counts, 5, init="random", **few),
    "HierarchicalNMF": lambda: factor(symclust.HierarchicalNMF, counts, 6),
    "HierarchicalNMF k-means": lambda: factor(symclust.HierarchicalNMF, counts, 6, split="k_means"),
    "HierarchicalSymNMF": lambda: factor(symclust.HierarchicalSymNMF, ring, 6, affinity="precomputed"),
    "KernelKMeans": lambda: factor(symclust.KernelKMeans, X, 4),
    "SphericalKMeans": lambda: factor(symclust.SphericalKMeans, counts, 4),
    "SpectralNJW": lambda: factor(symclust.SpectralNJW, X, 4),
    "LeftStochastic": lambda: factor(symclust.LeftStochastic, X[:200], 3),
    "topics": lambda: digest(symclust.topics(texts, 4, random_state=0).labels_),
}

def fit(name):
    return name, FITS[name](), _kernels.max_threads(), _threads.available_threads()
"""
POOL = (
    WORKLOADS
    + """
before = [fit(name) for name in FITS]
with multiprocessing.get_context("fork").Pool(2) as pool:
    after = pool.map_async(fit, FITS, chunksize=1).get()
again = [fit(name) for name in FITS]
assert [f[:2] for f in before] == [f[:2] for f in after] == [f[:2] for f in again], (before, after)
assert {f[2:] for f in before} == {f[2:] for f in again} == {(2, 2)}, before
assert {f[2:] for f in after} == {(1, 1)}, after
"""
)
JOBLIB = (
    WORKLOADS
    + """
from joblib import Parallel, delayed
names = ["SymNMF sparse", "NMF", "HierarchicalNMF", "KernelKMeans"]
before = [fit(name) for name in names]
after = Parallel(n_jobs=2, backend="multiprocessing")(delayed(fit)(name) for name in names)
assert [f[:2] for f in before] == [f[:2] for f in after], (before, after)
"""
)
# A fork in the middle of another thread's fits, by a thread that holds a limit itself.
MIDDLE = (
    WORKLOADS
    + """
from threadpoolctl import threadpool_info, threadpool_limits
from symclust._threads import single_threaded_blas

def blas():
    return {library["num_threads"] for library in threadpool_info() if library["user_api"] == "blas"}

def child(inside):
    if inside:
        assert blas() == {1}, blas()
    else:
        assert blas() == {2}, blas()
    assert fit("SymNMF dense")[1] == expected
    return 0

threadpool_limits(2, user_api="blas")
expected, going, stop = fit("SymNMF dense")[1], threading.Event(), threading.Event()

def work():
    with single_threaded_blas():
        going.set()
        while not stop.is_set():
            fit("SymNMF points"), fit("HierarchicalNMF")

thread = threading.Thread(target=work)
thread.start()
going.wait()
try:
    for inside in (False, True, False, True):
        if inside:
            limit = single_threaded_blas()
            limit.__enter__()
        number = os.fork()
        if number == 0:
            code = 1
            try:
                code = child(inside)
                if inside:
                    limit.__exit__(None, None, None)
                    assert blas() == {2}, blas()
            except BaseException as error:
                print(repr(error), file=sys.stderr, flush=True)
                code = 1
            os._exit(code)
        assert os.waitpid(number, 0)[1] == 0
        if inside:
            limit.__exit__(None, None, None)
finally:
    stop.set()
    thread.join()
assert blas() == {2}, blas()
"""
)
# A fork while another thread computes what objects keep, and while one changes the limits.
HELD = """
import os, threading
import numpy as np, threadpoolctl
from symclust import _threads
from symclust.operators import Dense, Operator

class Slow(Operator):
    def _product(self, H):
        return H
    def _sum_of_squares(self):
        entered.set()
        going.wait()
        return 1.0

def fork():
    number = os.fork()
    if number == 0:
        with _threads.single_threaded_libraries():
            os._exit(Dense(np.eye(3)).squared_norm() != 3.0)
    assert os.waitpid(number, 0)[1] == 0

entered, going = threading.Event(), threading.Event()
thread = threading.Thread(target=Slow(2, np.float64).squared_norm)
thread.start()
entered.wait()
stop = threading.Event()
def churn():
    while not stop.is_set():
        with _threads.single_threaded_libraries():
            pass
other = threading.Thread(target=churn)
other.start()
try:
    for _ in range(30):
        fork()
finally:
    stop.set(), going.set()
    thread.join(), other.join()

shared = getattr(getattr(threadpoolctl, "OpenBLASController", None), "_SHARED_STATE", None)
if shared is not None:
    with shared.lock:  # as scikit-learn holds it for a moment whenever k-means begins and ends
        fork()
"""


@pytest.mark.skipif(not hasattr(os, "fork"), reason="there is no fork here")
@pytest.mark.parametrize(
    "program", [POOL, JOBLIB, MIDDLE, HELD], ids=["pool", "joblib", "in the middle of a fit", "locks held"]
)
def test_children_fit_after_their_parent(program):
    """A child that hangs never ends by itself: after a time no fit takes, the whole group is killed."""
    process = subprocess.Popen(
        [sys.executable, "-c", program],
        env={**os.environ, "OMP_NUM_THREADS": "2"},
        stderr=subprocess.PIPE,
        text=True,
        start_new_session=True,
    )
    try:
        _, errors = process.communicate(timeout=300)
    except subprocess.TimeoutExpired:
        os.killpg(process.pid, signal.SIGKILL)
        process.communicate()
        pytest.fail("a forked child hangs")
    assert process.returncode == 0, errors
