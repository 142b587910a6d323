"""Which estimator for which shape: six sets of points in the plane, clustered by default calls.

The first column chooses the number of clusters, the others are told. Each number is that of the clusters
found.
"""

import warnings

import matplotlib.pyplot as plt
import numpy as np
from sklearn.cluster import KMeans
from sklearn.datasets import make_blobs, make_circles, make_moons
from sklearn.metrics import adjusted_rand_score

from symclust import (
    Diana,
    HierarchicalSymNMF,
    KernelKMeans,
    LeftStochastic,
    LinkageClustering,
    OffDiagonalSymNMF,
    SpectralNJW,
    SymNMF,
)

n = 300
skewed, three = make_blobs(n, random_state=170)
points = {
    "circles": make_circles(n, factor=0.5, noise=0.05, random_state=0),
    "moons": make_moons(n, noise=0.05, random_state=0),
    "unequal": make_blobs(n, cluster_std=[1.0, 2.5, 0.5], random_state=170),
    "stretched": (skewed @ [[0.6, -0.6], [-0.4, 0.8]], three),
    "blobs": make_blobs(n, random_state=8),
    "no clusters": (np.random.default_rng(0).uniform(size=(n, 2)), None),
}
methods = {
    'SymNMF\n("auto")': lambda k: SymNMF("auto", random_state=0),
    "SymNMF": lambda k: SymNMF(k, random_state=0),
    "Hierarchical-\nSymNMF": lambda k: HierarchicalSymNMF(k, random_state=0),
    "OffDiagonal-\nSymNMF": lambda k: OffDiagonalSymNMF(k, random_state=0),
    "SpectralNJW": lambda k: SpectralNJW(k, random_state=0),
    "LeftStochastic": lambda k: LeftStochastic(k, random_state=0),
    "KernelKMeans": lambda k: KernelKMeans(k, random_state=0),
    "Linkage-\nClustering": LinkageClustering,
    "Diana": Diana,
    "k-means\n(scikit-learn)": lambda k: KMeans(k, random_state=0),
}

# The last one is for samples in no cluster, whose label is −1.
colours = np.array(["#3566b8", "#e07b39", "#4a9c5d", "#8d5fb0", "#b9a13a", "#5fb7c2", "#c05a7e", "#b0b0b0"])
figure, grid = plt.subplots(len(points), len(methods), figsize=(15, 9), layout="constrained")
for axes, name in zip(grid[0], methods, strict=True):
    axes.set_title(name, fontsize=11)
for row, (kind, (X, y)) in zip(grid, points.items(), strict=True):
    k = 3 if y is None else len(set(y))
    agreement = []
    for axes, estimator in zip(row, methods.values(), strict=True):
        with warnings.catch_warnings():
            warnings.simplefilter(
                "ignore"
            )  # of negative eigenvalues, which the methods to compare with cut off
            labels = estimator(k).fit_predict(X)
        axes.scatter(*X.T, s=4, c=colours[labels])
        axes.set(xticks=[], yticks=[])
        axes.text(0.98, 0.02, len(set(labels[labels >= 0])), transform=axes.transAxes, ha="right")
        agreement.append("" if y is None else f"{adjusted_rand_score(y, labels):.2f}")
    row[0].set_ylabel(kind)
    print(f"{kind:12}", *(f"{value:>6}" for value in agreement))
