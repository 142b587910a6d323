"""Several views of the same samples: a graph of neighbours for each, added."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from copy import copy
from inspect import signature
from typing import Any

from scipy import sparse

from symclust._types import Features, Matrix, SimilarityLike
from symclust.exceptions import OptionError
from symclust.graphs.affinities import Affinity, NearestNeighbors
from symclust.validation import check_features

__all__ = ["MultiView", "multi_view"]

# Directions of the raw values, and of values in robust units: the first sees the large features, the second
# all of them.
VIEWS = ({"metric": "cosine"}, {"metric": "cosine", "scale": "arcsinh"})
WEIGHTS = "fuzzy"  # unless a view says otherwise
OWN = ("n_neighbors", "normalize")  # the same for all views


class MultiView(Affinity):
    """The affinity behind `multi_view`, with `extend` for unseen samples."""

    def __init__(
        self,
        views: Sequence[Mapping[str, Any]] | None = None,
        n_neighbors: int | None = None,
        normalize: bool = True,
    ) -> None:
        super().__init__(n_neighbors, normalize)
        self.views = views

    def _check_options(self) -> None:
        super()._check_options()
        self._rules = [self._rule_of(view) for view in (VIEWS if self.views is None else self.views)]
        if not self._rules:
            raise OptionError("views=[] compares nothing: give a dict for each view, or None.")

    def _rule_of(self, view: Mapping[str, Any]) -> NearestNeighbors:
        known = [name for name in signature(NearestNeighbors).parameters if name not in OWN]
        if not isinstance(view, Mapping) or not set(view) <= set(known):
            raise OptionError(
                f"{view!r:.80} is no view: give a dict with any of {', '.join(map(repr, known))}, for "
                "example {'columns': range(10), 'scale': 'standard'}."
            )
        rule = NearestNeighbors(**{"weights": WEIGHTS, **view})
        rule._check_options()
        return rule

    def _edges(self, n: int) -> int:
        return self.n_neighbors or n.bit_length()  # ⌊log2 n⌋ + 1

    def _similarity(self, X: Features, q: int | None) -> SimilarityLike:
        graphs = [sparse.csr_array(rule._similarity(X, q)) for rule in self._rules]
        # Each view weighs the same, and edges are of the size that they have in one graph.
        self._shares = [len(graphs) * (E.sum() / X.shape[0] or 1.0) for E in graphs]
        return self._added(graphs)

    def _points(self, X: Features) -> Features | None:
        return self._rules[0]._points(X)

    def _cross(self, X_new: Features, q: int | None) -> Matrix:
        return self._added(self._of_all(lambda rule: rule._cross(X_new, q)))

    def _join(self, X: Features, n: int, q: int | None) -> Matrix:
        self._rules = [copy(rule) for rule in self._rules]
        return self._added(self._of_all(lambda rule: rule._join(X, n, q)))

    def _of_all(self, similarities: Callable[[NearestNeighbors], Matrix]) -> list[Matrix]:
        return [similarities(rule) for rule in self._rules]

    def _added(self, graphs: list[Matrix]) -> Matrix:
        first, *others = (
            (E / share).astype(E.dtype, copy=False) for E, share in zip(graphs, self._shares, strict=True)
        )
        return sum(others, start=first)


def multi_view(
    X: Features,
    views: Sequence[Mapping[str, Any]] | None = None,
    n_neighbors: int | None = None,
    normalize: bool = True,
) -> sparse.csr_array:
    """Add graphs of neighbours that compare the same samples in several ways, each divided by its sum.

    What one view overlooks another may see; where all agree, edges add up.

    Parameters
    ----------
    X : array-like or sparse of shape (n_samples, n_features)
    views : list of dict, optional
        Parameters of `nearest_neighbors` for each view: `columns`, `scale`, `metric`, `weights` ("fuzzy" by
        default) and `method`. Several matrices of the same samples are put side by side in X, and a view
        takes the `columns` of one. By default two views: directions, and directions after
        ``scale="arcsinh"``.
    n_neighbors : int, optional
        As in `nearest_neighbors`.
    normalize : bool
        Apply `normalized_cut` to the sum.

    Returns
    -------
    A : csr_array of shape (n_samples, n_samples)

    Examples
    --------
    >>> import numpy as np
    >>> from symclust.graphs import multi_view
    >>> X = np.array([[0.0, 9.0], [0.1, 2.0], [5.0, 9.1], [5.1, 2.1]])
    >>> A = multi_view(X, [{"columns": [0]}, {"columns": [1]}], n_neighbors=1)
    >>> A.toarray().round(2).tolist()
    [[0.0, 0.5, 0.5, 0.0], [0.5, 0.0, 0.0, 0.5], [0.5, 0.0, 0.0, 0.5], [0.0, 0.5, 0.5, 0.0]]
    """
    return MultiView(views, n_neighbors, normalize).fit(check_features(X), check_input=False)
