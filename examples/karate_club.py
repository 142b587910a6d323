"""A graph with named nodes: the two sides of a quarrel in a karate club, from who met whom."""

import networkx as nx

from symclust import SymNMF

club = nx.karate_club_graph()
names = {i: f"{data['club']} {i}" for i, data in club.nodes(data=True)}
club = nx.relabel_nodes(club, names)

model = SymNMF(2, random_state=0).fit(club)
for members in model.communities():
    print(f"{len(members)} members: {', '.join(sorted(members))}")

# Members between the two sides have a membership in both.
shares = model.membership_ / model.membership_.sum(axis=1, keepdims=True)
print("undecided:", ", ".join(name for name, share in zip(club, shares, strict=True) if share.max() < 0.7))
