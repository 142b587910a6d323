"""Clusters that overlap: the path of three nodes, and cliques with shared members and wrong edges."""

import numpy as np

from symclust import OffDiagonalSymNMF, SymNMF
from symclust.plotting import plot_memberships

# Two cliques that share a node. With the diagonal no factor fits; without it, this one does exactly.
path = np.array([[1, 1, 0], [1, 1, 1], [0, 1, 1]])
plain = SymNMF(2, affinity="precomputed", tol=1e-6, random_state=0).fit(path)
model = OffDiagonalSymNMF(2, loss="absolute", affinity="precomputed").fit(path)
print(f"misfit with the diagonal: {plain.relative_error_:.1%}, without: {model.relative_error_:.1%}")
print(model.membership_)
assert model.objective_ == 0
assert model.communities(threshold=0.5) == [[0, 1], [1, 2]]

# Three teams of twelve; people 10 and 11 are in the first two, and one pair in twelve is recorded wrongly.
teams = [range(12), range(10, 22), range(22, 34)]
H = np.array([[person in team for team in teams] for person in range(34)], dtype=float)
rng = np.random.default_rng(0)
wrong = np.triu(rng.random((34, 34)) < 1 / 12, 1)
met = np.abs(np.minimum(H @ H.T, 1) - wrong - wrong.T)
model = OffDiagonalSymNMF(3, loss="absolute", affinity="precomputed").fit(met)
found = model.communities(threshold=0.5)
for members in found:
    print(f"a team of {len(members)}: {members}")
print("in more than one team:", [person for person, clusters in found.by_node.items() if len(clusters) > 1])
axes = plot_memberships(model)
