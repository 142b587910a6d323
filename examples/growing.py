"""Samples that come later: half of the digits is clustered, and the rest joins in batches of a hundred."""

import matplotlib.pyplot as plt
import numpy as np
from sklearn.datasets import load_digits

from symclust import SymNMF
from symclust.metrics import clustering_accuracy

X, y = load_digits(return_X_y=True)
order = np.random.default_rng(0).permutation(len(X))
X, y = X[order], y[order]

model = SymNMF(10, random_state=0).fit(X[:900])
sizes, joined, iterations = [900], [clustering_accuracy(y[:900], model.labels_)], [model.n_iter_]
for begin in range(900, len(X), 100):
    model.partial_fit(X[begin : begin + 100])
    sizes.append(len(model.labels_))
    joined.append(clustering_accuracy(y[: sizes[-1]], model.labels_))
    iterations.append(model.n_iter_)
whole = SymNMF(10, random_state=0).fit(X)
accuracy = clustering_accuracy(y, whole.labels_)
print(f"900 digits, and {len(sizes) - 1} batches: accuracy {joined[-1]:.3f}; all at once: {accuracy:.3f}")
print(f"iterations: {iterations[0]} for the first 900, then {iterations[1:]}")

figure, (left, right) = plt.subplots(1, 2, figsize=(10, 3.6), layout="constrained")
left.plot(sizes, joined, "o-", color="#3566b8", label="joined by partial_fit")
left.axhline(accuracy, color="#e07b39", label="all at once")
left.set(xlabel="digits so far", ylabel="share in the right cluster", ylim=(0, 1))
left.legend(loc="lower right")
right.bar(sizes, iterations, width=60, color="#3566b8")
right.set(xlabel="digits so far", ylabel="iterations of the call")
