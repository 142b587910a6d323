"""Products and fits on PyTorch tensors beside our own kernels, and blocks of rows sent to the device.

The device is CUDA where there is one, else the processor: there PyTorch is a second library on the same
hardware.
"""

from __future__ import annotations

import warnings
from importlib.util import find_spec

import numpy as np
import scipy.sparse as sp

from benchmarks._tools import seconds, table, timed

K, ITERATIONS = 16, 20


def graph(n: int, degree: int, dtype: type) -> sp.csr_array:
    """Sixteen clusters of equal size, four in five edges inside, nodes in random order."""
    rng = np.random.default_rng(0)
    i = rng.integers(0, n, n * degree // 2)
    j = (i + K * rng.integers(1, n // K, i.size)) % n
    j = np.where(rng.uniform(size=i.size) < 0.2, rng.integers(0, n, i.size), j)
    A = sp.coo_array((np.ones(i.size, dtype=dtype), (i, j)), shape=(n, n)).tocsr()
    return (A + A.T).tocsr()


def matrix(n: int, dtype: type) -> np.ndarray:
    groups = np.arange(n) % K
    A = np.random.default_rng(0).uniform(size=(n, n)).astype(dtype)
    A += A.T
    A[groups[:, None] == groups] += 1
    return A


def forms(A, device) -> dict:
    import torch

    from symclust.operators import Offloaded, as_operator

    if sp.issparse(A):
        parts = (torch.tensor(part) for part in (A.indptr, A.indices, A.data))
        tensor = torch.sparse_csr_tensor(*parts, A.shape)
        size = A.nnz * (A.indices.itemsize + A.data.itemsize)
    else:
        tensor, size = torch.tensor(A), A.nbytes
    return {
        "ours": as_operator(A),
        "tensor": as_operator(tensor.to(device)),
        "streamed, a quarter at a time": Offloaded(A, device=device, memory_limit=size // 2),
    }


def wait(device) -> None:
    import torch

    if device.type == "cuda":
        torch.cuda.synchronize(device)


def product(operator, device) -> float:
    """Seconds of a product with H where the operator wants it."""
    rng = np.random.default_rng(1)
    H = operator.to_device(rng.uniform(size=(operator.n, K)).astype(operator.dtype))

    def work() -> None:
        operator @ H
        wait(device)

    work()
    return seconds(work, 5)


def fit(operator) -> tuple[float, float]:
    from symclust import SymNMF

    options = {"solver": "barzilai_borwein", "init": "random", "random_state": 0, "tol": 0.0}
    model = SymNMF(K, affinity="precomputed", max_iter=ITERATIONS, **options)
    took, model = timed(lambda: model.fit(operator))
    return took, model.objective_


def main() -> None:
    if find_spec("torch") is None:
        print('(skipped: PyTorch is not installed, pip install "symclust[gpu]")')
        return
    warnings.simplefilter("ignore")
    from symclust.operators.torch import offloaded

    device, rows = offloaded.usable_device(None), []
    cases = {
        "sparse, 200,000 nodes, 4M entries, double": graph(200_000, 20, np.float64),
        "sparse, the same, single": graph(200_000, 20, np.float32),
        "dense, 6,000, double": matrix(6_000, np.float64),
        "dense, 6,000, single": matrix(6_000, np.float32),
    }
    for name, A in cases.items():
        first = None
        for form, operator in forms(A, device).items():
            times, (took, objective) = product(operator, device), fit(operator)
            first = first or (times, took, objective)
            rows.append(
                {
                    "A": name,
                    "as": form,
                    "product (ms)": 1e3 * times,
                    "to ours": times / first[0],
                    "fit (s)": took,
                    "fit to ours": took / first[1],
                    "objective differs by": abs(objective / first[2] - 1),
                }
            )
    table(
        f"Tensors on {device}: a product with {K} columns, {ITERATIONS} iterations of barzilai_borwein", rows
    )


if __name__ == "__main__":
    main()
