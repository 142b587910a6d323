"""All solvers on one graph: how far each is after how many iterations, from one random start.

A random start may end in a minimum that merges two clusters; the default start is there to avoid that.
"""

import warnings

import matplotlib.pyplot as plt
from sklearn.datasets import make_blobs

from symclust import SymNMF, registry
from symclust.exceptions import NotConvergedWarning
from symclust.graphs import nearest_neighbors
from symclust.metrics import clustering_accuracy

X, y = make_blobs(500, 8, centers=5, cluster_std=1.5, random_state=0)
A = nearest_neighbors(X)

warnings.simplefilter("ignore", NotConvergedWarning)  # some need more than 200 iterations
figure, axes = plt.subplots(figsize=(8, 4.5), layout="constrained")
print("solver              objective  accuracy  iterations  seconds")
for number, solver in enumerate(registry.options("solvers")):
    model = SymNMF(
        5, affinity="precomputed", solver=solver, init="random", tol=1e-4, max_iter=200, random_state=0
    )
    model.fit(A)
    style = "-" if number < 10 else "--"  # there are ten colours
    axes.semilogy(model.history_.iteration, model.history_.stationarity, style, label=solver)
    print(
        f"{solver:18}  {model.objective_:9.3f}  {clustering_accuracy(y, model.labels_):8.3f}"
        f"  {model.n_iter_:10}  {model.history_.seconds[-1]:7.3f}"
    )
axes.set(xlabel="iteration", ylabel="projected gradient / that of the first point", xlim=(0, 60))
axes.legend(ncols=2, fontsize=8)
