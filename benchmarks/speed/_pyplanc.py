"""Run pyplanc's symmetric factorization in an environment of its own (it pins an older NumPy)."""

from __future__ import annotations

import json
import os
import subprocess
import sys
import tempfile
import venv
from pathlib import Path

import scipy.sparse as sp

HOME = Path(__file__).parents[2] / ".venv" / "pyplanc"
SCRIPT = """
import json, sys, time
import numpy as np, scipy.sparse as sp, pyplanc
folder = sys.argv[1]
A = sp.csc_matrix(sp.load_npz(folder + "/A.npz"))
k = int(sys.argv[2])
norm = float((A.data**2).sum())
curve = []
for niter in (10, 20, 30, 40, 50, 60, 80):
    begin = time.perf_counter()
    out = pyplanc.symNMF(A, k, niter=niter, algo="gnsym", ncores=2)
    took = time.perf_counter() - begin
    H = np.asarray(out.H)
    curve.append((took, norm - 2 * float(np.sum(H * (A @ H))) + float(np.sum((H.T @ H) ** 2))))
json.dump(curve, open(folder + "/curve.json", "w"))
"""


def python() -> Path | None:
    """Return an interpreter that has pyplanc, making the environment on first use."""
    inside = HOME / "bin" / "python"
    if not inside.exists():
        venv.create(HOME, with_pip=True)
        done = subprocess.run([inside, "-m", "pip", "install", "-q", "pyplanc==0.0.2"], check=False)
        if done.returncode:
            print("(pyplanc left out: it could not be installed)")
            return None
    return inside


def run_pyplanc(A: sp.csr_array, k: int) -> list[tuple[float, float]]:
    """Return (seconds, objective) after 10, 20, 30, ... iterations.

    Every run has a random start of its own: pyplanc takes no seed, and with a given start it does not move.
    """
    interpreter = python()
    if interpreter is None:
        return []
    with tempfile.TemporaryDirectory() as folder:
        sp.save_npz(f"{folder}/A.npz", A)
        quiet = {**os.environ, "OPENBLAS_NUM_THREADS": "1"}
        subprocess.run(
            [interpreter, "-c", SCRIPT, folder, str(k)], env=quiet, stdout=subprocess.DEVNULL, check=True
        )
        return [(t, f) for t, f in json.loads(Path(folder, "curve.json").read_text())]


if __name__ == "__main__":
    sys.exit("Used by benchmarks.speed.clustering.")
