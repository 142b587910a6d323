"""What memberships that are probabilities can be used for."""

from __future__ import annotations

from typing import Any

import numpy as np
from sklearn.utils import check_random_state
from sklearn.utils.validation import check_is_fitted

from symclust.left_stochastic import assign_sizes, other_clusterings
from symclust.validation import check_number


class Probabilities:
    """Questions that a left-stochastic factor answers; a part of `LeftStochastic`."""

    membership_: np.ndarray

    @property
    def is_unique_(self) -> bool:
        """Whether no other left-stochastic factor of PPᵀ gives other clusters than P.

        Always for two clusters. For three, by the angles of the samples (section 2.4): no sample can be
        turned over the border of two clusters before one leaves the simplex, and no possible angle further on
        gives other clusters either, which the paper's test does not see. For more clusters,
        `alternative_clusterings` finds none, with its defaults: evidence, not proof.
        """
        return not self.alternative_clusterings(most=1, random_state=0)

    def alternative_clusterings(
        self,
        tolerance: float | None = None,
        *,
        most: int = 20,
        n_rotations: int = 200,
        random_state: Any = None,
    ) -> list[np.ndarray]:
        """Return labels of other factors with the same inner products, by rotation (sections 2.4 and 6).

        Parameters
        ----------
        tolerance : float, optional
            How far outside the simplex samples may be, on average, for a rotation to count; by default
            rounding. A larger one finds clusterings that fit the similarities almost as well.
        most : int, default=20
            Return at most so many.
        n_rotations : int, default=200
            For more than three clusters, how many rotations are tried; for three all are known.
        random_state : int, RandomState or None, default=None
            For the rotations tried.

        Returns
        -------
        list of ndarray of shape (n_samples,)
            Empty if none was found. They differ from `labels_` and from each other by more than names.

        Examples
        --------
        >>> import numpy as np
        >>> from symclust import LeftStochastic
        >>> angles = np.arange(12) * np.pi / 6
        >>> circle = np.column_stack([np.cos(angles), np.sin(angles)])
        >>> K = 1 / 3 + 0.1 * circle @ circle.T
        >>> model = LeftStochastic(3, affinity="precomputed", random_state=0).fit(K)
        >>> model.is_unique_, len(model.alternative_clusterings()) > 0
        (False, True)
        """
        check_is_fitted(self)
        P = self.membership_
        if tolerance is None:
            tolerance = _tolerance(P)
        check_number("tolerance", tolerance, least=0)
        check_number("most", most, least=1, whole=True)
        check_number("n_rotations", n_rotations, least=2, whole=True)
        return other_clusterings(P, tolerance, most, n_rotations, check_random_state(random_state))

    def assign_sizes(self, sizes: Any) -> np.ndarray:
        """Return labels with given numbers of samples in the clusters and the largest sum of probabilities.

        Parameters
        ----------
        sizes : sequence of int
            How many samples each cluster gets, in the order of the columns of `membership_`.

        Examples
        --------
        >>> import numpy as np
        >>> from symclust import LeftStochastic
        >>> P = np.array([[1.0, 0.0], [0.9, 0.1], [0.6, 0.4], [0.0, 1.0], [0.2, 0.8]])
        >>> model = LeftStochastic(2, affinity="precomputed").fit(P @ P.T)
        >>> np.bincount(model.labels_).tolist(), np.bincount(model.assign_sizes([1, 4])).tolist()
        ([3, 2], [1, 4])
        """
        check_is_fitted(self)
        return assign_sizes(self.membership_, sizes)


def _tolerance(P: np.ndarray) -> float:
    return float(np.sqrt(np.finfo(P.dtype).eps))
