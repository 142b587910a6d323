"""The same bits on one thread and on two."""

PROGRAM = """
import hashlib
import numpy as np, scipy.sparse as sp
from symclust.operators import Dense, Gram, LowRank, Shifted, Sparse

rng = np.random.default_rng(0)
n = 1100
digest = hashlib.sha256()
for dtype in (np.float32, np.float64):
    A = rng.uniform(size=(n, n)).astype(dtype)
    A += A.T
    S = sp.random_array((n, n), density=0.01, rng=rng).astype(dtype)
    X = rng.uniform(size=(n, 300)).astype(dtype)
    T = sp.random_array((n, 700), density=0.05, rng=rng).astype(dtype)
    H = rng.uniform(size=(n, 7)).astype(dtype)
    sparse = Sparse(S + S.T)
    dense, gram, documents = Dense(A), Gram(X, scale=H[:, 0], self_edges=False), Gram(T)
    low_rank = LowRank(X[:, :9], rng.normal(size=9))
    for op in (dense, sparse, gram, documents, low_rank, Shifted(gram, sparse, 0.3)):
        digest.update((op @ H).tobytes())
        digest.update((op @ H[:, 0]).tobytes())
        digest.update(op.rows(slice(0, 40)).tobytes())
        digest.update(np.array([op.squared_norm(), op.largest(), op.asymmetry()]).tobytes())
        followed = H.copy()
        cursor = op.row_products(followed)
        for rows in (slice(0, 600), slice(600, n)):
            delta = cursor.product(rows) / n
            followed[rows] += delta
            cursor.update(rows, delta)
        digest.update(followed.tobytes())
    for part in sparse.eigsh(3, tol=1e-3) + dense.eigsh(2, tol=1e-3):
        digest.update(part.tobytes())
print(digest.hexdigest())
"""


def test_bits_do_not_depend_on_the_number_of_threads(printed_on):
    assert printed_on(1, PROGRAM) == printed_on(2, PROGRAM) != ""
