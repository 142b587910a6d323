"""A tree of clusters."""

from __future__ import annotations

import json
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, field
from typing import Any

import numpy as np

from symclust._threads import keeps_results
from symclust._types import Array
from symclust.exceptions import InputError, OptionError
from symclust.storage import stop_recording


@dataclass
class Node:
    """A cluster in a tree.

    Attributes
    ----------
    number : int
        Its place in ``tree.nodes``; 0 is the root.
    members : ndarray of int
        Its samples.
    parent : int or None
        Number of its parent.
    children : tuple of int
        Numbers of its children; empty for a leaf.
    depth : int
        Steps from the root.
    score : float
        What decided when it was split, NaN if nothing did.
    split : int or None
        How many splits came before its own; None for a leaf.
    is_final : bool
        A leaf that cannot be split.
    data : dict
        Notes of a method, for example weights of terms; written by `Tree.to_dict`.
    """

    number: int
    members: Array
    parent: int | None = None
    children: tuple[int, ...] = ()
    depth: int = 0
    score: float = float("nan")
    split: int | None = None
    is_final: bool = False
    data: dict[str, Any] = field(default_factory=dict)

    @property
    def is_leaf(self) -> bool:
        """Whether it has no children."""
        return not self.children


class Tree:
    """Clusters within clusters, made by splitting one leaf after the other.

    Samples of a node that are in none of its children are outliers of its split: they belong to no leaf, and
    `cut` labels them -1 from that split on.

    Parameters
    ----------
    n_samples : int
        Samples of the root, numbered from 0.

    Attributes
    ----------
    nodes : list of Node
        In the order in which they were made; a node's children come after it.
    interrupted : bool
        Whether its growth was ended by Ctrl-C; all splits it has are complete.

    Examples
    --------
    >>> from symclust.hierarchy import Tree
    >>> tree = Tree(5)
    >>> left, right = tree.split(0, [[0, 1, 2], [3, 4]])
    >>> _ = tree.split(left.number, [[0], [1, 2]])
    >>> tree.cut(2).tolist(), tree.cut(3).tolist()
    ([0, 0, 0, 1, 1], [0, 1, 1, 2, 2])
    >>> tree.to_newick()
    '((0,1),2);'
    """

    def __init__(self, n_samples: int) -> None:
        self.nodes = [Node(0, np.arange(n_samples))]
        self.n_splits = 0
        self.interrupted = False

    def __repr__(self) -> str:
        return f"<Tree of {self.n_samples} samples, {len(self.leaves())} leaves>"

    @property
    def n_samples(self) -> int:
        """Samples of the root."""
        return len(self.nodes[0].members)

    def split(self, number: int, parts: Sequence[Any], data: Sequence[dict[str, Any]] = ()) -> list[Node]:
        """Give a leaf children with the samples `parts`, and what is known of each; return them."""
        node = self.nodes[number]
        if not node.is_leaf:
            raise InputError(f"Node {number} has been split already, into {node.children}.")
        children = []
        for child, part in enumerate(parts, start=len(self.nodes)):
            members = np.asarray(part, dtype=np.intp)
            if not members.size:
                raise InputError(f"A part of node {number} has no samples: a leaf needs at least one.")
            children.append(Node(child, members, parent=number, depth=node.depth + 1))
        for born, known in zip(children, data, strict=False):
            born.data.update(known)
        self.nodes += children
        node.children = tuple(child.number for child in children)
        node.split = self.n_splits
        self.n_splits += 1  # the split counts from here: one interrupted before is taken back
        return children

    @contextmanager
    def interruptible(self) -> Iterator[None]:
        """End a growth at Ctrl-C and keep the tree as after its last split, marked as `interrupted`.

        Before the first split the interrupt goes on to the caller.
        """
        try:
            yield
        except KeyboardInterrupt:
            stop_recording()
            self._forget_incomplete()
            if self.n_splits == 0 or not keeps_results():
                raise
            self.interrupted = True

    def _forget_incomplete(self) -> None:
        """Take back a split that was interrupted."""
        n_nodes = 1
        for node in self.nodes:
            if node.split is not None and node.split < self.n_splits:
                n_nodes += len(node.children)
            else:
                node.children, node.split = (), None
        del self.nodes[n_nodes:]

    def pruned(self, n_clusters: int) -> Tree:
        """Take back the last splits, so that at most `n_clusters` leaves are left; return the tree itself."""
        self.n_splits = min(self.n_splits, n_clusters - 1)
        self._forget_incomplete()
        return self

    def leaves(self, n_clusters: int | None = None) -> list[Node]:
        """Leaves from left to right, now or when there were `n_clusters`."""
        last = self._last_split(n_clusters)
        return [node for node in self.walk(last) if node.split is None or node.split >= last]

    def walk(self, last: int | None = None) -> Iterator[Node]:
        """Yield the nodes from the root down and from left to right, below splits before `last` only."""
        last = self.n_splits if last is None else last
        waiting = [0]
        while waiting:
            node = self.nodes[waiting.pop()]
            yield node
            if node.split is not None and node.split < last:
                waiting.extend(reversed(node.children))

    def cut(self, n_clusters: int) -> Array:
        """Return the label of each sample when the tree had `n_clusters` leaves, numbered left to right."""
        labels = np.full(self.n_samples, -1, dtype=np.intp)
        for label, leaf in enumerate(self.leaves(n_clusters)):
            labels[leaf.members] = label
        return labels

    def _last_split(self, n_clusters: int | None) -> int:
        """Return how many splits there are below a number of leaves; splits in more than two count whole."""
        if n_clusters is None:
            return self.n_splits
        counts = [1]
        for node in sorted((n for n in self.nodes if n.split is not None), key=lambda n: n.split or 0):
            counts.append(counts[-1] + len(node.children) - 1)
        if n_clusters not in counts:
            listed = f"1 to {counts[-1]}" if counts == list(range(1, counts[-1] + 1)) else str(counts)
            raise OptionError(f"n_clusters={n_clusters!r} is not a cut of this tree: it has {listed} leaves.")
        return counts.index(n_clusters)

    def with_leaves(self, labels: Array) -> Tree:
        """Return a tree with the same splits, in the same order, and other samples in its leaves.

        Splits that leave all samples on one side are left out. Scores stay, `data` is not taken over. The
        first sample is always leftmost, so that leaves may come in another order.

        Parameters
        ----------
        labels : ndarray of int
            Leaf of each sample, numbered as in `cut`; there may be more or fewer samples than now.

        Examples
        --------
        >>> import numpy as np
        >>> from symclust.hierarchy import Tree
        >>> tree = Tree(3)
        >>> _ = tree.split(0, [[0, 1], [2]]), tree.split(1, [[0], [1]])
        >>> tree.with_leaves(np.array([0, 2, 0, 2, 1])).to_newick(list("abcde"))
        '(((a,c),(e)),(b,d));'
        """
        new = Tree(len(labels))
        new.interrupted = self.interrupted
        first = {leaf.number: place for place, leaf in enumerate(self.leaves())}  # leftmost leaf of a node
        for node in reversed(self.nodes):
            first.setdefault(node.number, min((first[child] for child in node.children), default=0))
        twins = {0: new.nodes[0]}  # of nodes that have samples
        for node in sorted((n for n in self.nodes if n.split is not None), key=lambda n: n.split or 0):
            if node.number not in twins:
                continue
            twin = twins[node.number]
            goes_right = labels[twin.members] >= first[node.children[1]]
            parts = {node.children[0]: twin.members[~goes_right], node.children[1]: twin.members[goes_right]}
            held = sorted((child for child in parts if parts[child].size), key=lambda child: parts[child][0])
            born = new.split(twin.number, [parts[child] for child in held]) if len(held) == 2 else [twin]
            twins.update(zip(held, born, strict=True))
        for number, twin in twins.items():
            twin.score, twin.is_final = self.nodes[number].score, self.nodes[number].is_final
        return new

    def linkage(self, of: str = "samples") -> Array:
        """Return the tree as a linkage matrix, for ``scipy.cluster.hierarchy``.

        Heights count splits from the last to the first, so that a split made early is drawn high, and
        ``fcluster(Z, k, criterion="maxclust")`` gives the clusters of ``cut(k)``. Only for splits in two.

        Parameters
        ----------
        of : {"samples", "leaves"}, default="samples"
            Observation i is sample i, and the samples of a leaf are merged at height 0; or it is leaf i from
            left to right, as in `cut`, and sizes count leaves. Samples in no leaf, such as outliers of
            topics, are left out: observation i is then the i-th of ``np.flatnonzero(labels >= 0)``.

        Notes
        -----
        ``dendrogram`` of more than a few thousand samples needs ``truncate_mode`` or the leaves alone, and
        ``cut_tree`` takes quadratic time; ``fcluster`` and `cut` do not.

        Examples
        --------
        >>> from scipy.cluster.hierarchy import dendrogram, fcluster
        >>> from symclust.hierarchy import Tree
        >>> tree = Tree(5)
        >>> left, right = tree.split(0, [[0, 1, 2], [3, 4]])
        >>> _ = tree.split(left.number, [[0], [1, 2]])
        >>> fcluster(tree.linkage(), 2, criterion="maxclust").tolist()
        [1, 1, 1, 2, 2]
        >>> names = [f"leaf {i} ({len(leaf.members)})" for i, leaf in enumerate(tree.leaves())]
        >>> dendrogram(tree.linkage(of="leaves"), labels=names, no_plot=True)["ivl"]
        ['leaf 0 (1)', 'leaf 1 (2)', 'leaf 2 (2)']
        """
        if of not in ("samples", "leaves"):
            raise OptionError(f"of={of!r} is not known. Choose one of 'samples', 'leaves'.")
        if any(len(node.children) not in (0, 2) for node in self.nodes):
            raise InputError("A dendrogram of SciPy's has two branches at each node; this tree has others.")
        leaves = self.leaves()
        groups = [leaf.members if of == "samples" else np.array([i]) for i, leaf in enumerate(leaves)]
        inside, roots = _merge_groups(groups)
        ends = zip(leaves, roots, groups, strict=True)
        place = {leaf.number: (root, len(group)) for leaf, root, group in ends}
        inner = sorted((n for n in self.nodes if n.split is not None), key=lambda n: -(n.split or 0))
        rows = list[tuple[int, int, int, int]]()
        for number, node in enumerate(inner, start=sum(map(len, groups)) + len(inside)):
            (left, n_left), (right, n_right) = (place[child] for child in node.children)
            place[node.number] = number, n_left + n_right
            rows.append((left, right, len(rows) + 1, n_left + n_right))
        return np.concatenate([inside, np.array(rows, dtype=np.float64).reshape(-1, 4)])

    def to_newick(self, names: Sequence[Any] | None = None) -> str:
        """Return the tree in Newick's notation: clusters by number, or as groups of `names` of samples."""
        names = self._check_names(names)
        place = {leaf.number: i for i, leaf in enumerate(self.leaves())}
        text: dict[int, str] = {}
        for node in reversed(list(self.walk())):
            if node.children:
                text[node.number] = f"({','.join(text[child] for child in node.children)})"
            elif names is None:
                text[node.number] = str(place[node.number])
            else:
                text[node.number] = f"({','.join(_quoted(names[i]) for i in node.members)})"
        return text[0] + ";"

    def to_dict(self, names: Sequence[Any] | None = None) -> dict[str, Any]:
        """Return the tree as nested dicts, samples of a cluster by number or by `names` of all samples."""
        names = self._check_names(names)
        place = {leaf.number: i for i, leaf in enumerate(self.leaves())}
        found: dict[int, dict[str, Any]] = {}
        for node in reversed(list(self.walk())):
            entry: dict[str, Any] = {
                "number": node.number,
                "size": len(node.members),
                "score": float(node.score) if np.isfinite(node.score) else None,  # JSON has no infinity
                "split": node.split,
                **{name: _listed(value) for name, value in node.data.items()},
            }
            if node.children:
                entry["children"] = [found[child] for child in node.children]
            else:
                entry["cluster"] = place[node.number]
                entry["members"] = [int(i) if names is None else names[i] for i in node.members]
            found[node.number] = entry
        return found[0]

    def to_json(self, names: Sequence[Any] | None = None, indent: int | None = None) -> str:
        """Return `to_dict` as JSON."""
        try:
            return json.dumps(self.to_dict(names), indent=indent, default=str)
        except RecursionError as error:
            raise InputError(
                f"The tree has {max(node.depth for node in self.nodes)} levels, more than can be nested in "
                "JSON. Use to_newick() or linkage(), or write tree.nodes one by one."
            ) from error

    def _check_names(self, names: Sequence[Any] | None) -> list[Any] | None:
        if names is None:
            return None
        # By their order: a pandas Series would look numbers up in its index.
        listed = [_listed(name) for name in names]
        if len(listed) != self.n_samples:
            raise InputError(
                f"names has {len(listed)} entries; expected one for each of {self.n_samples} samples."
            )
        return listed


def _merge_groups(groups: list[Array]) -> tuple[Array, list[int]]:
    """Return the rows of a linkage matrix that merge each group at height 0, and what each ends up as.

    Two by two, and the pairs again: SciPy follows a tree by recursion, which a chain would exhaust.
    """
    owner: Array = np.repeat(np.arange(len(groups)), [len(group) for group in groups])
    found: Array = np.argsort(np.argsort(np.concatenate(groups)))  # numbered without those in no group
    sizes: Array = np.ones(len(found))
    number = len(found)
    rows = [np.empty((0, 4))]
    while len(found) > len(groups):
        place = np.arange(len(found)) - np.searchsorted(owner, owner)
        left = np.flatnonzero((place[:-1] % 2 == 0) & (owner[:-1] == owner[1:]))
        right = left + 1
        sizes[left] += sizes[right]
        rows.append(np.column_stack([found[left], found[right], np.zeros(len(left)), sizes[left]]))
        found[left] = np.arange(number, number + len(left))
        number += len(left)
        found, owner, sizes = (np.delete(one, right) for one in (found, owner, sizes))
    return np.concatenate(rows), found.tolist()


def _quoted(name: Any) -> str:
    """Return a label of Newick's; readers take an underscore without quotes for a blank."""
    text = str(name)
    return text if text.isalnum() else "'" + text.replace("'", "''") + "'"


def _listed(value: Any) -> Any:
    """Return NumPy's arrays and numbers as Python's, all else as it is."""
    return value.tolist() if hasattr(value, "tolist") else value
