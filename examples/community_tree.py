"""A tree of communities: who appears with whom in Les Misérables."""

import matplotlib.pyplot as plt
import networkx as nx

from symclust import HierarchicalSymNMF
from symclust.plotting import plot_graph, plot_tree

novel = nx.les_miserables_graph()
appearances = dict(novel.degree(weight="weight"))
model = HierarchicalSymNMF(None, random_state=0).fit(novel)
print(model.stop_reason_)

for node in model.tree_.walk():
    names = sorted((model.node_names_[i] for i in node.members), key=appearances.get, reverse=True)
    shown = ", ".join(names[:4]) + (", ..." if len(names) > 4 else "")
    print(f"{'    ' * node.depth}{len(names)} ({node.data['normalized_cut']:.0%} of weight outside): {shown}")

# Leaves do not overlap; a few sweeps of a flat factorization from them tell who stands between two.
shares = model.flatten().membership_
shares = shares / shares.sum(axis=1, keepdims=True)
for name, share in zip(novel, shares, strict=True):
    if share.max() < 0.6:
        print(f"between communities: {name} ({share.max():.0%} in the first)")

figure, (left, right) = plt.subplots(1, 2, figsize=(12, 5.5), layout="constrained")
plot_graph(model, ax=left)
plot_tree(model, right)
