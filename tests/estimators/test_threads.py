"""The same bits on any number of threads: SymNMF by its solvers, starts and forms of A.

tests/contracts/test_estimators.py does so for every estimator, with its defaults.
"""

import os
import subprocess
import sys

CODE = """
import hashlib, warnings
import numpy as np
from scipy import sparse
from symclust import SymNMF
warnings.simplefilter("ignore")
X = np.random.RandomState(0).random_sample((1500, 4)) + np.repeat(2 * np.eye(4), 375, axis=0)
A = np.exp(-((X[:500, None] - X[:500]) ** 2).sum(axis=2))
for dtype in (np.float32, np.float64):
    for options, given in [
        ({}, X),
        ({"solver": "anls", "init": "random", "n_init": 2}, X),
        ({"affinity": "precomputed"}, A),
        ({"affinity": "precomputed"}, sparse.csr_array(np.where(A > 0.5, A, 0))),
        ({"affinity": "precomputed", "init": "spectral", "solver": "newton"}, A),
        ({"affinity": "cosine", "n_init": 2}, X),
    ]:
        model = SymNMF(4, random_state=0, max_iter=15, **options).fit(given.astype(dtype))
        H = model.membership_
        new = model.transform(given[:50].astype(dtype) * dtype(1.01))
        print(hashlib.sha256(H.tobytes() + new.tobytes()).hexdigest(), H.dtype)
"""


def digests(threads):
    environment = {**os.environ, "OMP_NUM_THREADS": str(threads), "OPENBLAS_NUM_THREADS": str(threads)}
    run = subprocess.run(
        [sys.executable, "-c", CODE], env=environment, capture_output=True, text=True, timeout=240, check=True
    )
    return run.stdout.split("\n")


def test_one_and_two_threads():
    one, two = digests(1), digests(2)
    assert one == two
    assert len(set(one)) == 13  # twelve different runs and the empty line at the end
