"""The answer to "how many clusters?": a number, the evidence for it, and a sentence."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any

import numpy as np

from symclust._optional import need
from symclust._types import Array
from symclust.plotting import plot_selection
from symclust.storage import Savable

if TYPE_CHECKING:
    from matplotlib.axes import Axes

    from symclust.selection._consensus_matrix import ConsensusMatrix


NEAR, FAR = 0.15, 0.5  # distances of a runner-up, in multiples of the range of all scores


@dataclass(frozen=True)
class Curve:
    """One number for each candidate.

    Attributes
    ----------
    values : ndarray of shape (n_candidates,)
        The numbers.
    spread : ndarray of shape (n_candidates,) or None
        The standard deviation of each, or its standard error; `meaning` says which.
    meaning : str
        What `spread` is, in words.
    """

    values: Array
    spread: Array | None = None
    meaning: str = ""


@dataclass(frozen=True, eq=False)
class Selection(Savable):
    """How many clusters there are, and why.

    Attributes
    ----------
    n_clusters : int
        The number chosen; 1 means that the data show no clusters.
    method : str
        The option that chose it.
    candidates : ndarray of int
        The numbers of clusters that were tried.
    score : str
        The name of the curve the rule looked at.
    curves : dict of str to Curve
        Everything that was measured, by name.
    sentence : str
        What was decided, and how sure it is.
    p_values : ndarray of shape (n_candidates,) or None
        For methods with a null: the share of null data sets that score at least as high.
    stability : ndarray of shape (n_samples,) or None
        How firmly each sample keeps its company when the data change, from 0 to 1, at the chosen number; at
        the best candidate if the choice is one cluster. With consensus, NaN for a sample without company.
        None if the method changes no data.
    consensus : dict of int to ConsensusMatrix
        For the consensus methods, the matrix of each candidate; empty for others.
    seconds : float
        How long it took.
    """

    n_clusters: int
    method: str
    candidates: Array
    score: str
    curves: dict[str, Curve]
    sentence: str
    p_values: Array | None = None
    stability: Array | None = None
    consensus: dict[int, ConsensusMatrix] = field(default_factory=dict)
    seconds: float = 0.0

    @property
    def scores(self) -> Array:
        """The curve the rule looked at."""
        return self.curves[self.score].values

    @property
    def ranking(self) -> list[int]:
        """The candidates, the chosen number first and then the one with the highest score, and so on.

        Candidates without a score are left out.
        """
        scores = np.where(self.candidates == self.n_clusters, np.inf, self.scores)
        order = np.argsort(-np.nan_to_num(scores, nan=-np.inf, posinf=np.inf), kind="stable")
        return [int(self.candidates[i]) for i in order if not np.isnan(self.scores[i])]

    @property
    def runner_up(self) -> int | None:
        """The candidate with the highest score besides the chosen number; None if there is none."""
        return next((k for k in self.ranking if k != self.n_clusters), None)

    @property
    def behind(self) -> float:
        """How far the score of the runner-up is below that of the chosen number.

        In multiples of the range of all scores, or of the score itself if that is more: 0 is a tie. NaN
        without a runner-up, and if one cluster was chosen. Negative if the rule of the method prefers another
        number than that with the highest score.
        """
        own = self.scores[self.candidates == self.n_clusters]
        if self.runner_up is None or not own.size:
            return float("nan")
        whole = max(float(np.ptp(self.scores[np.isfinite(self.scores)])), abs(float(own[0])))
        behind = own[0] - self.scores[self.candidates == self.runner_up][0]
        return float(behind / whole) if whole > 0 else 0.0

    def __str__(self) -> str:
        return f"{self.sentence} {self.comparison}".rstrip()

    @property
    def comparison(self) -> str:
        """The runner-up and how far behind it is, as a sentence; empty if there is none."""
        k, behind = self.runner_up, self.behind
        if k is None or (self.n_clusters > 1 and np.isnan(behind)):
            return ""
        if self.n_clusters == 1:
            return f"Of the other numbers {k} comes first."
        near = "is nearly as good" if behind < NEAR else "comes next" if behind < FAR else "is far behind"
        return f"{k} {near}."

    def plot(self, ax: Axes | None = None) -> Axes:
        """Draw the curves with their bands, the chosen number marked; return the axes."""
        return plot_selection(self, ax)

    def to_dataframe(self) -> Any:
        """Return a pandas DataFrame with one row per candidate: each curve, its spread, and p-values."""
        pandas = need("pandas", "tables", "to_dataframe")
        columns: dict[str, Any] = {"n_clusters": self.candidates}
        for name, curve in self.curves.items():
            columns[name] = curve.values
            if curve.spread is not None:
                columns[f"{name} ±"] = curve.spread
        if self.p_values is not None:
            columns["p-value"] = self.p_values
        columns["chosen"] = self.candidates == self.n_clusters
        return pandas.DataFrame(columns)
