"""Run pyplanc's symmetric factorization in an environment of its own (it pins an older NumPy)."""

from __future__ import annotations

import json
import os
import subprocess
import sys
import tempfile
import venv
from pathlib import Path

import numpy as np
import scipy.sparse as sp

HOME = Path(__file__).parents[2] / ".venv" / "pyplanc"
SCRIPT = """
import json, sys, time
import numpy as np, scipy.sparse as sp, pyplanc
folder = sys.argv[1]
A = sp.csc_matrix(sp.load_npz(folder + "/A.npz"))
start = np.asfortranarray(np.load(folder + "/H.npy"))
norm = float((A.data**2).sum())
curve = []
for niter in (1, 2, 3, 5, 8, 12, 18, 27, 40):
    begin = time.perf_counter()
    out = pyplanc.symNMF(A, start.shape[1], niter=niter, algo="gnsym", ncores=2, Hinit=start.copy(order="F"))
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


def run_pyplanc(A: sp.csr_array, start: np.ndarray) -> list[tuple[float, float]]:
    """Return (seconds, objective) after 1, 2, 3, ... iterations from `start`."""
    interpreter = python()
    if interpreter is None:
        return []
    with tempfile.TemporaryDirectory() as folder:
        sp.save_npz(f"{folder}/A.npz", A)
        np.save(f"{folder}/H.npy", start)
        quiet = {**os.environ, "OPENBLAS_NUM_THREADS": "1"}
        subprocess.run([interpreter, "-c", SCRIPT, folder], env=quiet, stdout=subprocess.DEVNULL, check=True)
        return [(t, f) for t, f in json.loads(Path(folder, "curve.json").read_text())]


if __name__ == "__main__":
    sys.exit("Used by benchmarks.speed.clustering.")
