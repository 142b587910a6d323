"""A graph whose nodes have words: 600 papers that cite each other, in four fields."""

import matplotlib.pyplot as plt
import networkx as nx
import numpy as np
import pandas as pd

from symclust import AttributedGraph, AttributedNodes, SymNMF
from symclust.datasets import planted_partition
from symclust.metrics import clustering_accuracy
from symclust.plotting import plot_similarity

# Few citations, a third of them into other fields, and abstracts in which two words in five tell the field.
citations, fields = planted_partition(600, 4, degree=4, mixing=0.35, random_state=0)
rng = np.random.default_rng(0)
counts = rng.poisson(0.1 + 0.3 * np.kron(np.eye(4), np.ones(15))[fields])

names = [f"paper {i}" for i in range(600)]
graph = nx.relabel_nodes(nx.from_scipy_sparse_array(citations), dict(enumerate(names)))
words = pd.DataFrame(counts, index=names, columns=[f"word {j}" for j in range(60)])

model = SymNMF(4, random_state=0).fit(AttributedGraph(graph, words))
edges_alone = SymNMF(4, random_state=0).fit(graph)
words_alone = SymNMF(4, random_state=0).fit(counts)
print(f"what was made of them: {model.affinity_}")
figure, panels = plt.subplots(1, 3, figsize=(12, 4), layout="constrained")
found = {"citations": edges_alone, "words": words_alone, "citations and words": model}
for axes, (what, fitted) in zip(panels, found.items(), strict=True):
    accuracy = clustering_accuracy(fields, fitted.labels_)
    print(f"{what}: {accuracy:.0%} of the papers in the right field")
    plot_similarity(fitted.affinity_matrix_, fitted.labels_, axes)
    axes.set_title(f"{what}: {accuracy:.0%} right")

# A new paper cites three papers of one field and has words like theirs.
cited = np.flatnonzero(fields == 2)[:3]
edges = np.zeros((1, 600))
edges[0, cited] = 1
new = AttributedNodes(edges, pd.DataFrame(counts[cited].max(axis=0, keepdims=True), columns=words.columns))
print(f"a new paper goes to cluster {model.predict(new)[0]}, those it cites are in {model.labels_[cited]}")
