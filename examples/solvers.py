"""All solvers on one graph: the same solution, at different prices."""

from symclust import SymNMF, registry
from symclust.datasets import overlapping_blobs
from symclust.graphs import nearest_neighbors
from symclust.metrics import clustering_accuracy

X, y = overlapping_blobs(n_samples=500, n_clusters=5, width=1.5, random_state=0)
A = nearest_neighbors(X)

print("solver              objective  accuracy  iterations  seconds")
for solver in registry.options("solvers"):
    model = SymNMF(5, affinity="precomputed", solver=solver, random_state=0).fit(A)
    print(
        f"{solver:18}  {model.objective_:9.3f}  {clustering_accuracy(y, model.labels_):8.3f}"
        f"  {model.n_iter_:10}  {model.history_.seconds[-1]:7.3f}"
    )
