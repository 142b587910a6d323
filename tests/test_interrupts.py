"""Ctrl-C at any moment: the call ends, and the process is as good as before.

Each stress runs in a process of its own, which interrupts itself by a timer and may hang or die.
"""

import os
import signal
import subprocess
import sys

import pytest

pytestmark = pytest.mark.skipif(not hasattr(signal, "setitimer"), reason="there is no timer here")

# Every user of the pool, large enough for two blocks and as small as that allows.
USERS = """
import collections, faulthandler, hashlib, random, signal, sys, time, warnings
import numpy as np, scipy.sparse as sp
import symclust
from threadpoolctl import threadpool_info
from symclust import _threads
from symclust.exceptions import InterruptedWarning
from symclust.graphs import nearest_neighbors
from symclust.operators import Masked, as_operator

rng = np.random.default_rng(0)
points = np.concatenate([rng.normal(c, 1, (100, 3)) for c in (0, 3, 6)])
cosines = np.abs(rng.normal(size=(4200, 3)))
counts = sp.csr_array(rng.poisson(0.3, size=(300, 100)).astype(float))
ring = sp.csr_array(sum(sp.eye_array(1200, k=s) for s in (-2, -1, 1, 2)))
wide = rng.uniform(size=(270, 260))
full = sp.csr_array(rng.uniform(size=(200, 200)))
known = symclust.KernelKMeans(2, affinity="cosine", random_state=0).fit(full)
hidden = Masked(as_operator(rng.uniform(size=(1200, 1200))), ring)

def digest(*arrays):
    return hashlib.sha1(b"".join(np.ascontiguousarray(a).tobytes() for a in arrays)).hexdigest()

def labels(cls, k, data, **options):
    return digest(cls(k, random_state=0, **options).fit(data).labels_)

few = {"max_iter": 2}
gaussian = {"affinity": "gaussian", **few}
USERS = {
    "trees": lambda: labels(symclust.HierarchicalSymNMF, 3, ring, affinity="precomputed"),
    "topics": lambda: labels(symclust.HierarchicalNMF, 4, counts),
    "neighbours": lambda: digest(nearest_neighbors(cosines[:2060], 3).data),
    "absolute": lambda: labels(symclust.OffDiagonalSymNMF, 3, points, loss="absolute", **gaussian),
    "rotation": lambda: labels(symclust.LeftStochastic, 3, points[::3], n_init=180, **gaussian),
    "moves": lambda: labels(symclust.SphericalKMeans, 3, cosines, n_init=2, **few),
    "factors": lambda: labels(symclust.SymNMF, 3, wide, affinity="cosine", **few),
    "placing": lambda: digest(known.predict(full)),
    "operators": lambda: hidden.largest(),
}
"""
STRESS = (
    USERS
    + """
seed, count = int(sys.argv[1]), int(sys.argv[2])
chance = random.Random(seed)
warnings.simplefilter("ignore")
expected = {name: call() for name, call in USERS.items()}

users, offer = set(), _threads._Helpers.call
def note(self, job, count):
    users.add(sys._getframe(2).f_globals["__name__"])
    offer(self, job, count)
_threads._Helpers.call = note
clocks = {}
for name, call in USERS.items():
    began, cpu = time.perf_counter(), time.process_time()
    assert call() == expected[name], name
    clocks[name] = time.perf_counter() - began, time.process_time() - cpu
_threads._Helpers.call = offer
assert len(users) == 12, users

inside, raised = False, 0
def interrupt(number, frame):
    global raised
    if inside:
        raised += 1
        raise KeyboardInterrupt
signal.signal(signal.SIGALRM, interrupt)

def blas():
    return [lib["num_threads"] for lib in threadpool_info() if lib["user_api"] == "blas"]
before, ends, lost = blas(), collections.Counter(), []
sys.unraisablehook = lambda what: lost.append((repr(what.object), what.err_msg))

def one(name):
    global inside, raised
    wall, cpu = clocks[name]
    raised, found, began = 0, None, time.process_time()
    # Every third is followed by more of them, until one comes when all is over.
    again = chance.uniform(2e-4, 2e-3) if chance.random() < 1 / 3 else 0
    with warnings.catch_warnings(record=True) as said:
        warnings.simplefilter("always")
        try:
            inside = True
            signal.setitimer(signal.ITIMER_REAL, chance.uniform(1e-6, 1.2 * wall), again)
            found = USERS[name]()
            inside = False
        except KeyboardInterrupt:
            inside = False
        signal.setitimer(signal.ITIMER_REAL, 0)
    used = time.process_time() - began
    assert used < cpu + 1, (name, used)
    kept = any(issubclass(w.category, InterruptedWarning) for w in said)
    assert found is None or kept or found == expected[name], name
    ends["before" if not raised else "kept" if kept else "raised" if found is None else "swallowed"] += 1
    # How long a call takes changes with what else the machine does: keep three of ten ending before.
    clocks[name] = (wall * 1.1 if raised else wall * 0.8), cpu

names = list(USERS)
while ends.total() - ends["before"] < count:
    if ends.total() % 50 == 0:
        faulthandler.dump_traceback_later(120, exit=True)
    one(chance.choice(names))
faulthandler.cancel_dump_traceback_later()
for name, call in USERS.items():
    assert call() == expected[name], name
assert blas() == before
print(dict(ends), lost)
assert not lost
assert not ends["swallowed"]
"""
)


def run(program, *arguments, seconds=600):
    """Run a program on two threads; fail with what it said if it hangs or dies."""
    process = subprocess.Popen(
        [sys.executable, "-c", program, *map(str, arguments)],
        env={**os.environ, "OMP_NUM_THREADS": "2"},
        stdout=subprocess.PIPE,
        stderr=subprocess.STDOUT,
        text=True,
        start_new_session=True,
    )
    try:
        said, _ = process.communicate(timeout=seconds)
    except subprocess.TimeoutExpired:
        os.killpg(process.pid, signal.SIGKILL)
        said, _ = process.communicate()
        pytest.fail(f"an interrupted call hangs: {said}")
    assert process.returncode == 0, said
    return said


@pytest.mark.parametrize("seed", range(4))
def test_interrupted_calls_end_and_the_next_are_right(seed):
    """Two thousand interrupts in all, at random moments of all users of the pool."""
    run(STRESS, seed, 500)


SELECTION = """
import faulthandler, random, signal, sys, time, warnings
import networkx as nx
from symclust import SymNMF, registry, select_n_clusters

chance, turns = random.Random(int(sys.argv[1])), int(sys.argv[2])
graph = nx.planted_partition_graph(3, 20, 0.4, 0.05, seed=0)
quick = {"gps": {"n_repeats": 5, "n_nulls": 2, "n_null_repeats": 2}, "gap": {"n_nulls": 3}}
quick |= {"consensus": {"n_resamples": 20}, "consensus_init": {"n_starts": 20}}
warnings.simplefilter("ignore")

def choose(method, n_jobs=None):
    model = chance.choice([None, SymNMF(max_iter=50), SymNMF(solver="anls", init="random", max_iter=50)])
    options = {"method_params": quick.get(method), "random_state": 0, "n_jobs": n_jobs}
    return select_n_clusters(graph, model, range(2, 5), method, **options)

# By a timer of processor time: the moment that an interrupt comes at is known in the same measure as the end.
signal.signal(signal.SIGPROF, signal.default_int_handler)
def interrupted(call, within):
    delay, began = chance.uniform(0.001, within), time.process_time()
    signal.setitimer(signal.ITIMER_PROF, delay)
    try:
        call()
        signal.setitimer(signal.ITIMER_PROF, 0)
    except KeyboardInterrupt:
        late = time.process_time() - began - delay
        assert late < 1, late
        return True
    assert time.process_time() - began < delay + 0.1, "swallowed"
    return False

for method in registry.options("selection.methods"):
    faulthandler.dump_traceback_later(120, exit=True)
    choose(method)  # what is done once is done
    began = time.process_time()
    choose(method)
    took = max(time.process_time() - began, 1e-3)
    times = int(0.2 / took) + 1  # the timer ticks every few milliseconds: the quickest would be done
    raised = tries = 0
    while raised < turns and tries < 20 * turns:
        raised += interrupted(lambda: [choose(method) for _ in range(times)], times * took)
        tries += 1
    assert raised == turns, (method, raised)
    print(method, raised, tries)
"""


def test_every_method_of_selection_raises_an_interrupt():
    """Fits inside a selection would keep their best so far, and the answer would rest on halves of them."""
    run(SELECTION, 0, 3)
