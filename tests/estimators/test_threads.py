"""The same bits on any number of threads: SymNMF by its solvers, starts and forms of A.

tests/contracts/test_estimators.py does so for every estimator, with its defaults.
"""

CODE = """
import hashlib, warnings
import numpy as np
from scipy import sparse
from symclust import SymNMF
from symclust.datasets import planted_partition
warnings.simplefilter("ignore")
X = np.random.RandomState(0).random_sample((1500, 4)) + np.repeat(2 * np.eye(4), 375, axis=0)
A = np.exp(-((X[:500, None] - X[:500]) ** 2).sum(axis=2))
network = planted_partition(1200, 8, degree=8, mixing=0.4, random_state=0)[0].toarray()
for dtype in (np.float32, np.float64):
    for options, given in [
        ({}, X),
        ({"solver": "anls", "init": "random", "n_init": 2}, X),
        ({"affinity": "precomputed"}, A),
        ({"affinity": "precomputed"}, sparse.csr_array(np.where(A > 0.5, A, 0))),
        ({"affinity": "precomputed", "init": "spectral", "solver": "newton"}, A),
        ({"affinity": "cosine", "n_init": 2}, X),
        ({"n_clusters": 8, "affinity": "network"}, network),
    ]:
        options = {"n_clusters": 4, "random_state": 0, "max_iter": 15, **options}
        model = SymNMF(**options).fit(given.astype(dtype))
        H = model.membership_
        new = model.transform(given[:50].astype(dtype) * dtype(1.01))
        moves = "refining then moved" in model.stop_reason_
        assert moves == (given is network), model.stop_reason_
        print(hashlib.sha256(H.tobytes() + new.tobytes()).hexdigest(), H.dtype)
"""


def test_one_and_two_threads(printed_on):
    one, two = (printed_on(threads, CODE).split("\n") for threads in (1, 2))
    assert one == two
    assert len(set(one)) == 15  # fourteen different runs and the empty line at the end
