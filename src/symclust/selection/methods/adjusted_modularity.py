"""Modularity beyond that of similarities without clusters, for every number of clusters from one tree."""

from __future__ import annotations

from functools import partial
from typing import Any, NamedTuple

import numpy as np
from scipy import sparse
from scipy.sparse.csgraph import connected_components

from symclust._types import Array
from symclust.hierarchy import CutGrowth
from symclust.operators import as_operator
from symclust.selection._answer import Curve, Selection
from symclust.selection._data import Data
from symclust.selection._method import Method
from symclust.selection._pairs import null_pairs, pairs_of, similarity_sums
from symclust.selection._rules import chance_of, smallest_good, standard_error
from symclust.selection._study import LEAST_NULLS, Study, answer_so_far
from symclust.validation import check_number

__all__ = ["AdjustedModularity"]

SCORE = "adjusted modularity"
BALANCE, CUTS = 0.25, 2  # of the trees: the defaults of HierarchicalSymNMF
SMALLEST_PIECE = 1 / 50  # pieces with less of the nodes of the largest piece are not asked for clusters
MANY = 2000  # samples
CLOSE_TO_ONE = 1 - 1e-9  # nulls that are as modular as can be leave nothing to gain


class AdjustedModularity(Method):
    r"""Compare the modularity of trees of communities with that of similarities without clusters.

    A tree as of `HierarchicalSymNMF(refine=None)` gives labels for every number k of clusters. With Q(k)
    their modularity, M(k) the most that labels of those sizes can have, and E(k) the average of Q/M over
    trees of `n_nulls` similarities without clusters, the score is

    .. math:: s(k) = \sqrt{M(k)} \; \frac{Q(k)/M(k) - E(k)}{1 - E(k)}

    The fraction is adjusted for chance like the adjusted Rand index, and falls if clusters are split;
    :math:`\sqrt{M}` falls if they are merged.

    **Are there clusters?** Yes, if one more null would reach the largest score with a probability below
    `level`: a t-test of one value against the largest scores of the nulls, each measured against the others.
    Otherwise the answer is 1.

    **How many?** The smallest k whose score, averaged over `n_parts` random parts of the samples, is within
    one standard error of the best: that of the differences in the same part.

    The nulls are networks with the same degrees, or similarities shuffled with the degrees kept. Graphs of
    neighbours are modular even without clusters: their nulls are graphs of samples without clusters, from
    the box of the principal components, or with words dealt out to documents anew. Networks are judged as
    they are, not as the random walks or powers that an estimator may make of them.

    Parameters
    ----------
    n_parts : int, default=6
        Number of random parts.
    share : float, default=0.9
        The share of the samples in each.
    n_nulls : int or "auto", default="auto"
        Number of similarities without clusters: 10, or 5 for more than 2000 samples, whose nulls differ less.
    level : float, default=0.02
        The probability with which data without clusters may be given some.

    Notes
    -----
    No model is fitted. It takes ``1 + n_parts + n_nulls`` trees, seconds for 10⁵ nonzeros, and for samples ×
    features the making of `n_nulls` graphs. Pieces of a network with fewer than 2 % of the nodes of its
    largest piece are left out.

    Examples
    --------
    >>> import numpy as np
    >>> from symclust import SymNMF
    >>> from symclust.datasets import planted_partition
    >>> from symclust.selection import Pairs, Study
    >>> from symclust.selection.methods.adjusted_modularity import AdjustedModularity
    >>> A, _ = planted_partition(300, 4, degree=12, mixing=0.2, random_state=0)
    >>> study = Study(Pairs(A), SymNMF(affinity="precomputed"), tuple(range(2, 9)), np.random.RandomState(0))
    >>> AdjustedModularity().choose(study).n_clusters
    4
    """

    def __init__(
        self, n_parts: int = 6, share: float = 0.9, n_nulls: int | str = "auto", level: float = 0.02
    ) -> None:
        self.n_parts = n_parts
        self.share = share
        self.n_nulls = n_nulls
        self.level = level

    def choose(self, study: Study) -> Selection:
        """Return the number of clusters that explains more than chance does."""
        check_number("n_parts", self.n_parts, least=2, whole=True)
        check_number("share", self.share, least=0, most=1, exclusive=True)
        n_nulls: Any = (10 if study.data.n <= MANY else 5) if self.n_nulls == "auto" else self.n_nulls
        check_number("n_nulls", n_nulls, least=LEAST_NULLS, whole=True)
        check_number("level", self.level, least=0, most=1, exclusive=True)
        own, nulls = self._grow(study, n_nulls)
        return self._answer(study, own, nulls)

    def _grow(self, study: Study, n_nulls: int) -> tuple[list[Array], list[Array]]:
        """Return the modularities of all samples and of parts of them, and those without clusters."""
        data, n = study.data, study.data.n
        A = pairs_of(data, "adjusted_modularity")
        size = max(2, round(self.share * n))
        parts = [np.sort(study.rng.permutation(n)[:size]) for _ in range(self.n_parts)]
        seeds = study.seeds(1 + self.n_parts + n_nulls)
        tasks = [(A, study.candidates, seeds[0])]
        tasks += [
            (A[part][:, part], study.candidates, seed)
            for part, seed in zip(parts, seeds[1 : 1 + self.n_parts], strict=True)
        ]
        own = study.map(modularities, tasks, "trees of parts", so_far=partial(self._so_far, study, nulls=[]))
        without, shared = [(seed,) for seed in seeds[1 + self.n_parts :]], (data, study.candidates)
        so_far = partial(self._so_far, study, own)
        return own, study.map(_null_modularities, without, "similarities without clusters", shared, so_far)

    def _answer(self, study: Study, own: list[Array], nulls: list[Array]) -> Selection:
        measured = measure(np.array(own), np.array(nulls))
        n_clusters, sentence = _judge(measured, study.candidates, self.level)
        curves = {
            SCORE: Curve(measured.scores.mean(axis=0), standard_error(measured.scores), "standard error"),
            f"{SCORE} (null)": Curve(
                measured.null_scores.mean(axis=0), measured.null_scores.std(axis=0), "standard deviation"
            ),
            "modularity": Curve(measured.modularity),
        }
        return Selection(
            n_clusters,
            "adjusted_modularity",
            np.array(study.candidates),
            SCORE,
            curves,
            sentence,
            p_values=_shares(measured),
        )

    def _so_far(self, study: Study, own: list[Array], nulls: list[Array]) -> Selection | None:
        """Return the answer of the trees until now; without enough nulls the number that stands out most."""
        if len(nulls) >= LEAST_NULLS:
            return answer_so_far(self._answer(study, own, nulls), len(nulls))
        chance = np.mean([Q / M for Q, M in nulls], axis=0) if nulls else np.zeros(len(study.candidates))
        scores = np.mean([score(one, chance) for one in own], axis=0)
        if not np.isfinite(scores).any():
            return None
        k = study.candidates[int(np.nanargmax(scores))]
        return Selection(
            k,
            "adjusted_modularity",
            np.array(study.candidates),
            SCORE,
            {SCORE: Curve(scores), "modularity": Curve(own[0][0])},
            f"{k} clusters so far, with the highest modularity of a tree for their sizes; similarities "
            "without clusters have not been compared yet.",
        )


def _null_modularities(data: Data, candidates: tuple[int, ...], seed: int) -> Array:
    rng = np.random.RandomState(seed)
    return modularities(null_pairs(data, rng), candidates, seed)


def modularities(A: Any, candidates: tuple[int, ...], seed: int) -> Array:
    """Return modularity and its upper limit (2 × n_candidates) from one tree; NaN if it has no such cut.

    A split of a leaf with the share p of all degrees into parts with p₁ and p₂ raises the modularity by the
    gain that the tree has noted, and 1 − Σp², the most that it can be, by p² − p₁² − p₂².
    """
    A = main_pieces(A)
    degrees, most = similarity_sums(A), max(candidates)
    if A.shape[0] < 2 or not degrees.any():
        return np.full((2, len(candidates)), np.nan)
    smallest = max(1, A.shape[0] // (10 * most))
    tree = CutGrowth(as_operator(A), BALANCE, smallest, False, CUTS, seed).grow(min(most, A.shape[0]))
    shares = [degrees[node.members].sum() / degrees.sum() for node in tree.nodes]
    gains = np.zeros((2, max(most, tree.n_splits + 1) + 1))
    gains[:, tree.n_splits + 2 :] = np.nan
    for node in tree.nodes:
        if node.split is not None:
            parts = sum(shares[child] ** 2 for child in node.children)
            gains[:, node.split + 2] = node.data["modularity_gain"], shares[node.number] ** 2 - parts
    return np.cumsum(gains, axis=1)[:, list(candidates)]


def main_pieces(A: Any) -> Any:
    """Return A without the pieces that are too small to count as clusters."""
    piece = connected_components(sparse.csr_array(A), directed=False)[1]
    sizes = np.bincount(piece)
    keep = sizes[piece] >= SMALLEST_PIECE * sizes.max()
    return A if keep.all() else A[keep][:, keep]


# From modularities to an answer -----------------------------------------------------------------------------


class Measured(NamedTuple):
    """Scores for each candidate, NaN if some tree has no such cut: of all samples, parts, and nulls.

    Nulls are measured against the other nulls. `modularity` is Q of all samples.
    """

    whole: Array
    scores: Array
    null_scores: Array
    modularity: Array


def measure(own: Array, nulls: Array) -> Measured:
    """Return scores from modularities: of all samples and then of parts in `own`, and of nulls."""
    chance = nulls[:, 0] / nulls[:, 1]
    total, count = chance.sum(axis=0), len(chance)
    against_others = [
        score(null, (total - one) / (count - 1)) for null, one in zip(nulls, chance, strict=True)
    ]
    scores = np.array([score(one, total / count) for one in own])
    usable = np.isfinite(scores).all(axis=0) & np.isfinite(against_others).all(axis=0)
    whole, *parts = np.where(usable, scores, np.nan)
    return Measured(whole, np.array(parts), np.where(usable, against_others, np.nan), own[0, 0])


def score(modularity: Array, chance: Array) -> Array:
    """Return √M (Q/M − E) / (1 − E) for (Q, M) and E."""
    Q, M = modularity
    E = np.minimum(chance, CLOSE_TO_ONE)
    return np.sqrt(M) * (Q / M - E) / (1 - E)


def _judge(measured: Measured, candidates: tuple[int, ...], level: float) -> tuple[int, str]:
    """Return the number of clusters, and the decision in words."""
    usable = np.isfinite(measured.whole)
    if not usable.any():
        return 1, "One cluster: no tree of the similarities has as many branches as the candidates ask for."
    p = chance_of(measured.whole[usable].max(), measured.null_scores[:, usable].max(axis=1))
    number = np.array(candidates)[usable][smallest_good(measured.scores[:, usable])]
    if p >= level:
        return 1, (
            f"One cluster: {number} clusters would be best, but similarities without clusters are as modular "
            f"with probability {p:.2g}."
        )
    best = np.array(candidates)[usable][measured.scores[:, usable].mean(axis=0).argmax()]
    reason = "where the" if best == number else f"the fewest within a standard error of {best}, where the"
    odds = f"about {p:.1g}" if p >= 1e-4 else "below 0.0001"
    return int(number), (
        f"{number} clusters: {reason} modularity of a tree is farthest above that of similarities without "
        f"clusters, which reach it with probability {odds}."
    )


def _shares(measured: Measured) -> Array:
    """Return for each candidate the share of nulls that score at least as high, the data among them."""
    found = (1 + (measured.null_scores >= measured.whole).sum(axis=0)) / (1 + len(measured.null_scores))
    return np.where(np.isfinite(measured.whole), found, np.nan)
