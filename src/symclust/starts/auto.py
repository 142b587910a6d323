"""The init that suits A."""

from __future__ import annotations

from symclust.starts._base import Init, Setting, Start
from symclust.starts.merge import Merge
from symclust.starts.tree import Tree

__all__ = ["Auto"]


class Auto(Init):
    """`Tree` for a sparse graph, `Merge` for anything else.

    On graphs of neighbours both lead to clusters of the same quality; on networks merging may leave a
    cluster with nearly everything, and with many clusters it takes long: the tree is better there.
    """

    def find(self, setting: Setting) -> list[Start]:
        """The points of the init that suits A."""
        is_graph = setting.problem.operator.is_sparse and not setting.dense
        return (Tree() if is_graph else Merge()).find(setting)
