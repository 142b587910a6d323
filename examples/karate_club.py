"""A graph with named nodes: the two sides of a quarrel in a karate club, from who met whom."""

from pathlib import Path
from tempfile import gettempdir

import networkx as nx

from symclust import SymNMF
from symclust.plotting import plot_graph
from symclust.report import write_report

club = nx.karate_club_graph()
sides = [data["club"] for _, data in club.nodes(data=True)]
club = nx.relabel_nodes(club, {0: "Mr. Hi", 33: "the officer"} | {i: f"member {i}" for i in range(1, 33)})

model = SymNMF(2, random_state=0).fit(club)
for members in model.communities():
    print(f"{len(members)} members: {', '.join(members)}")

# Members between the two sides have a share in both.
shares = model.membership_ / model.membership_.sum(axis=1, keepdims=True)
for name, side, share in zip(club, sides, shares, strict=True):
    if share.max() < 0.7:
        print(f"undecided: {name} ({share.max():.0%} to {share.min():.0%}), who went with {side}")

axes = plot_graph(nx.to_scipy_sparse_array(club, dtype=float), model.labels_)
page = write_report(Path(gettempdir()) / "karate_club.html", model, title="A karate club", labels_true=sides)
print(f"see {page}")
