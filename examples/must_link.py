"""Friends and foes: pairs that must, or must not, be together, added to the similarity of the digits."""

import matplotlib.pyplot as plt
import numpy as np
from scipy import sparse
from sklearn.datasets import load_digits
from sklearn.metrics import normalized_mutual_info_score

from symclust import SymmetricFactorization
from symclust.graphs import nearest_neighbors
from symclust.metrics import clustering_accuracy

X, y = load_digits(return_X_y=True)
A = nearest_neighbors(X)
n = len(y)


def links(pairs: int) -> sparse.csr_array:
    """Return random pairs, +1 where the two are the same digit and −1 where they are not."""
    rng = np.random.default_rng(0)
    i, j = rng.integers(0, n, pairs), rng.integers(0, n, pairs)
    i, j = i[i != j], j[i != j]
    same = np.where(y[i] == y[j], 1.0, -1.0)
    known = sparse.csr_array((same, (i, j)), shape=(n, n))
    return (known + known.T).sign()


strength = 3 * A.data.mean()  # of a known pair, beside an edge of the graph
amounts = (0, 2000, 10_000)
curves: dict[str, list[float]] = {"free": [], "nonnegative": []}
print("known pairs  constraint   accuracy   NMI")
for pairs in amounts:
    similarity = A + strength * links(pairs)  # some entries are now negative
    for constraint, curve in curves.items():
        model = SymmetricFactorization(10, constraint=constraint, affinity="precomputed", random_state=0)
        labels = model.fit_predict(similarity)
        accuracy = clustering_accuracy(y, labels)
        curve.append(accuracy)
        nmi = normalized_mutual_info_score(y, labels)
        print(f"{pairs:11}  {constraint:11}  {accuracy:8.3f}  {nmi:.3f}")

figure, axes = plt.subplots(figsize=(5.5, 3.4), layout="constrained")
for constraint, curve in curves.items():
    axes.plot(amounts, curve, "o-", label=f"constraint={constraint!r}")
axes.set(xlabel="pairs that are known", ylabel="share in the right cluster")
axes.legend()
