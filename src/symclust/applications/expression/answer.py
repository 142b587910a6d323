"""The answer of `subtypes`: subtypes, their certainty and markers, and the place of new samples."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, ClassVar

import numpy as np
from scipy.optimize import linear_sum_assignment

from symclust._optional import need
from symclust._text import showable
from symclust._types import Array
from symclust.applications.expression._markers import Marker, MarkerTable
from symclust.applications.expression._reading import Expression, GeneTable, listed, read_expression
from symclust.describe import Found, Trait
from symclust.estimators import Placement, PlacingAnswer
from symclust.exceptions import CombinationError, InputError, OptionError
from symclust.metrics import average_entropy
from symclust.plotting import plot_consensus
from symclust.validation import check_number

if TYPE_CHECKING:
    from matplotlib.axes import Axes

    from symclust.estimators import AffineNMF
    from symclust.selection import ConsensusMatrix, Selection

__all__ = ["Subtypes", "prepared"]


def prepared(X: Any, transform: str | None) -> Any:
    """The matrix that is factored: the values, or their square roots."""
    return X if transform is None else np.sqrt(X)


# Equality is identity here: that of arrays is no yes or no.
@dataclass(frozen=True, eq=False, repr=False)
class Subtypes(PlacingAnswer):
    """Subtypes of samples by their gene expression; made by `symclust.subtypes`.

    ``print(answer)`` gives a summary.

    Attributes
    ----------
    samples : ndarray of str
        Names of the samples; `node_names_` is the list of them.
    labels_ : ndarray of shape (n_samples,)
        Subtype of each sample; −1 for one that has nothing beyond the baseline, unless there is one subtype.
    membership_ : ndarray of shape (n_samples, n_subtypes)
        How much of each subtype's profile is in a sample.
    genes : ndarray of str
        All genes of the data.
    selected_genes : ndarray of str
        Those the samples were clustered by.
    model : AffineNMF
        Fitted to them; ``model.components_`` are the profiles, ``model.baseline_`` what all samples share.
    selection_ : Selection or None
        How the number was chosen; None if it was given.
    consensus : ConsensusMatrix or None
        How often two samples stay together when the samples are drawn again; None with one subtype, or
        without resampling.
    stability : ndarray of shape (n_samples,) or None
        How firmly each sample keeps its company then: its mean consensus with the others of its subtype, from
        0 to 1; NaN for one that is alone.
    orientation : {"samples", "genes"}
        What the rows of the data were.
    notes : list of str
        What was assumed or noticed, in sentences.
    means : ndarray of shape (n_subtypes, n_genes)
        Mean of each gene in each subtype.
    """

    _renamed: ClassVar[dict[str, str]] = {
        "labels": "labels_",
        "membership": "membership_",
        "selection": "selection_",
        "assign": "place",
    }

    samples: Array
    labels_: Array
    membership_: Array
    genes: Array
    selected_genes: Array
    model: AffineNMF
    consensus: ConsensusMatrix | None
    stability: Array | None
    orientation: str
    notes: list[str]
    _markers: MarkerTable | None
    _means: Array
    _selected: Array
    _has_names: bool
    _transform: str | None
    selection_: Selection | None = None

    # How many, and how sure --------------------------------------------------------------------------------

    @property
    def node_names_(self) -> list[str]:  # type: ignore[override]
        """Names of the samples."""
        return list(self.samples)

    @property
    def _nouns(self) -> tuple[str, str]:
        return "sample", "subtype"

    @property
    def n_subtypes(self) -> int:
        """The number of subtypes, `n_clusters_`; 1 means that the data show none."""
        return self.n_clusters_

    @property
    def sizes(self) -> Array:
        """The number of samples of each subtype."""
        return np.bincount(self.labels_[self.labels_ >= 0], minlength=self.n_subtypes)

    @property
    def means(self) -> Array:
        """Mean of each gene in each subtype, of the values that were given."""
        return self._means

    @property
    def average_entropy(self) -> float:
        """How separated the subtypes are, thesis (47): 0 if each sample has one, log k at most."""
        return float(average_entropy(self.membership_))

    def _evidence(self) -> Found:
        markers = [self.markers(c, 8) for c in range(self.n_subtypes)]
        key = "Marker genes, as multiples of the highest mean of another subtype."
        return Found([[_as_trait(one) for one in own] for own in markers], key=key)

    # Markers -----------------------------------------------------------------------------------------------

    def markers(
        self,
        subtype: int | None = None,
        n: int | None = 20,
        *,
        max_q: float = 0.05,
        min_log2_fold_change: float = 0.5,
    ) -> list[Marker]:
        """The genes that a subtype has more of than every other subtype, the best first.

        A marker's mean is above the highest mean of the other subtypes by `min_log2_fold_change`, its q-value
        against their samples together at most `max_q`, and its p-value against each of them at most as much.
        So genes that are high everywhere are none. Sorted by log2_fold_change · (2 auc − 1): how much higher,
        times how consistently.

        Since the subtypes were found in the same data, q-values are too small to prove that a subtype exists;
        they rank genes, and keep chance differences of small subtypes out.

        Parameters
        ----------
        subtype : int, default=None
            Which; by default all, one after the other.
        n : int or None, default=20
            How many of each subtype at most.
        max_q : float, default=0.05
            Largest q-value.
        min_log2_fold_change : float, default=0.5
            Smallest fold change against the highest other subtype; 0.5 is 1.4 times as much.

        Returns
        -------
        list of Marker
            Empty with one subtype.
        """
        if n is not None:
            check_number("n", n, least=1, whole=True)
        check_number("max_q", max_q, least=0, most=1)
        check_number("min_log2_fold_change", min_log2_fold_change, least=0)
        wanted = range(self.n_subtypes) if subtype is None else [self._check_subtype(subtype)]
        if self._markers is None:
            return []
        options = (n, float(max_q), float(min_log2_fold_change))
        return [marker for c in wanted for marker in self._markers.best(self.genes, c, *options)]

    def _check_subtype(self, subtype: Any) -> int:
        if isinstance(subtype, bool) or subtype not in range(self.n_subtypes):
            raise OptionError(
                f"There is no subtype {subtype!r}: they are numbered from 0 to {self.n_subtypes - 1}."
            )
        return int(subtype)

    def markers_dataframe(self, subtype: int | None = None, n: int | None = None, **limits: Any) -> Any:
        """`markers` as a pandas DataFrame, by default all of them."""
        pandas = need("pandas", "tables", "markers_dataframe")
        return pandas.DataFrame(self.markers(subtype, n, **limits), columns=list(Marker._fields))

    # New samples -------------------------------------------------------------------------------------------

    def place(
        self,
        expression: Any,
        *,
        orientation: str = "auto",
        genes: Any = None,
        samples: Any = None,
        layer: str | None = None,
    ) -> Placement:
        """The subtypes of new samples, by nonnegative least squares (thesis (39)).

        Parameters
        ----------
        expression
            As in `subtypes`, one sample or more, in the same unit. Genes are found by their names, in any
            order; all of `selected_genes` have to be there, and others are ignored. Data without names need
            the same genes in the same order.
        orientation, genes, samples, layer
            As in `subtypes`; the names of genes say which way round a table is.

        Returns
        -------
        Placement
            With `labels_`, `membership_` and `to_dataframe()`. `predict` and `transform` return the first two
            alone.
        """
        new = read_expression(expression, GeneTable(orientation, genes, samples, layer), known=self.genes)
        X = prepared(new.values[:, self._columns_of(new)], self._transform)
        membership = self.model.transform(X)
        labels = self.model.predict(X) if self.n_subtypes > 1 else np.zeros(len(membership), dtype=np.intp)
        return Placement(labels, membership, list(new.samples))

    def _columns_of(self, new: Expression) -> Array:
        """The columns of the selected genes in new data."""
        if not (self._has_names and new.named_genes):
            if len(new.genes) == len(self.genes):
                return self._selected
            raise InputError(
                f"The new samples have {len(new.genes):,} genes without names that could be compared; the "
                f"subtypes were found with {len(self.genes):,}. Give the same genes in the same order, or "
                "their names as genes=."
            )
        place = {name: column for column, name in enumerate(new.genes)}
        missing = [name for name in self.selected_genes if name not in place]
        if missing:
            raise InputError(
                f"{len(missing):,} of the {len(self.selected_genes):,} selected genes "
                f"{'is' if len(missing) == 1 else 'are'} not in the new samples: {listed(missing)}. All of "
                "selected_genes are needed; others are ignored."
            )
        return np.array([place[name] for name in self.selected_genes], dtype=np.intp)

    # To be read --------------------------------------------------------------------------------------------

    def to_dataframe(self) -> Any:
        """A table with one row per sample: label, confidence, cluster_0, ..., and stability."""
        frame = super().to_dataframe()
        return frame if self.stability is None else frame.assign(stability=self.stability)

    def plot_consensus(self, ax: Axes | None = None) -> Axes:
        """Draw the consensus matrix, samples that stay together side by side; return the axes.

        Blocks are those of the matrix, each with the number of the subtype that it has most in common with.
        """
        if self.consensus is None:
            why = "there is one subtype" if self.n_subtypes == 1 else "n_resamples was 0"
            raise CombinationError(f"There is no consensus matrix, since {why}.")
        ax = plot_consensus(self.consensus, self.n_subtypes, ax)
        names = self._names_of_blocks(self.consensus.labels(self.n_subtypes))
        ax.set_yticklabels([names.get(text.get_text(), text.get_text()) for text in ax.get_yticklabels()])
        return ax

    def _names_of_blocks(self, blocks: Array) -> dict[str, str]:
        """The subtype of each block, one to one, so that they share as many samples as possible."""
        both = (blocks >= 0) & (self.labels_ >= 0)
        shared = np.zeros((blocks.max() + 1, self.n_subtypes))
        np.add.at(shared, (blocks[both], self.labels_[both]), 1)
        pairs = zip(*linear_sum_assignment(shared, maximize=True), strict=True)
        return {str(block): str(subtype) for block, subtype in pairs}

    def plot_selection(self, ax: Axes | None = None) -> Axes:
        """Draw what the number of subtypes was chosen by; return the axes."""
        if self.selection_ is None:
            raise CombinationError("The number of subtypes was given, so there is nothing to show for it.")
        return self.selection_.plot(ax)

    def __repr__(self) -> str:
        return f"<Subtypes: {self._heading()}>"

    def __str__(self) -> str:
        return self.summary()

    def _heading(self) -> str:
        count = "1 subtype" if self.n_subtypes == 1 else f"{self.n_subtypes} subtypes"
        selected, genes = len(self.selected_genes), len(self.genes)
        return f"{count} of {len(self.samples):,} samples, by {selected:,} of {genes:,} genes"

    def summary(self, n_markers: int = 6) -> str:
        """A few lines: how many subtypes, how sure, their sizes and first markers, and notes.

        Parameters
        ----------
        n_markers : int, default=6
            Markers of each subtype.
        """
        check_number("n_markers", n_markers, least=1, whole=True)
        lines = [self._heading()]
        if self.selection_ is not None:
            lines.append(str(self.selection_))
        if self.n_subtypes == 1:
            lines.append(
                "All samples are of one kind as far as these data show, so there are no marker genes."
            )
        else:
            lines += [self._line(c, n_markers) for c in range(self.n_subtypes)]
            most = np.log(self.n_subtypes)
            lines.append(f"average entropy {self.average_entropy:.2f}; 0 is separated, {most:.2f} the most")
        if nowhere := int(np.count_nonzero(self.labels_ < 0)):
            lines.append(f"{nowhere:,} samples have nothing beyond the baseline and no subtype (label -1)")
        return "\n".join([*lines, *self.notes])

    def _line(self, c: int, n_markers: int) -> str:
        own = self.labels_ == c
        line = f"  {c}: {int(own.sum()):,} samples"
        if self.stability is not None and np.isfinite(self.stability[own]).any():
            line += f", stability {np.nanmean(self.stability[own]):.2f}"
        return f"{line}, {_in_words(self.markers(c, n_markers))}"


def _as_trait(marker: Marker) -> Trait:
    words = f"{marker.gene} {2**marker.log2_fold_change:.1f}×"
    return Trait(words, marker.gene, marker.gene, effect=2 * marker.auc - 1)


def _in_words(markers: Sequence[Marker]) -> str:
    return "markers " + ", ".join(showable(marker.gene) for marker in markers) if markers else "no markers"
