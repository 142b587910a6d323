"""Libraries built with -ffast-math make the processor take denormals for zero: nothing may wait for one."""

import shutil
import subprocess
import sys
from pathlib import Path

import pytest

import symclust

COMPILER = shutil.which("cc") or shutil.which("gcc")
FIT = """
import ctypes, sys, warnings
import numpy as np
from symclust import OffDiagonalSymNMF
ctypes.CDLL(sys.argv[1])
assert np.float64(5e-324) * 1.0 == 0, "denormals are still there"
warnings.simplefilter("ignore")
rng = np.random.default_rng(3)
X = np.abs(rng.normal(size=(300, 5))) + 3 * np.eye(3, 5)[rng.integers(0, 3, 300)]
X *= rng.random((300, 5)) < 0.3
X /= np.maximum(np.linalg.norm(X, axis=1, keepdims=True), 1e-9)
model = OffDiagonalSymNMF(3, loss="absolute", affinity="precomputed", max_iter=5, random_state=3)
print(model.fit(X @ X.T).objective_)
"""


@pytest.mark.skipif(COMPILER is None, reason="needs a C compiler")
def test_medians_among_zeros_end(tmp_path):
    source, library = tmp_path / "empty.c", tmp_path / "empty.so"
    source.write_text("")
    subprocess.run([COMPILER, "-ffast-math", "-shared", "-fPIC", source, "-o", library], check=True)
    environment = {"PYTHONPATH": str(Path(symclust.__file__).parents[1])}
    run = [sys.executable, "-c", FIT, library]
    done = subprocess.run(run, env=environment, capture_output=True, text=True, timeout=120, check=False)
    if "denormals are still there" in done.stderr:
        pytest.skip("this compiler's -ffast-math leaves the processor as it is")
    assert done.returncode == 0, done.stderr
    assert 0 < float(done.stdout) < float("inf")
