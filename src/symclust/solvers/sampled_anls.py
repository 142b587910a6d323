"""Alternating least squares from some of the rows of A, as long as these are enough."""

from __future__ import annotations

import numpy as np
from scipy.linalg import cho_factor, cho_solve

from symclust import _kernels
from symclust._types import Array
from symclust.solvers._base import Problem, State, Steps
from symclust.solvers.coupled import Anls

__all__ = ["SampledAnls"]

SHARE = 10  # one row in so many is read for an update
LEAST = 20  # rows for each column of H, below which a problem would be guessed rather than sampled
UPDATES = 5  # with samples, before all of A is read to see what they have brought


class SampledAnls(Anls):
    """`anls` whose least squares problems are solved on a sample of their equations, new for each update.

    The problem min ‖A − WHᵀ‖² + α‖W − H‖² has an equation for each row of A. Row i is kept with the
    probability q_i = min(1, s ℓ_i / Σℓ) and counts 1/q_i times, ℓ_i = w_iᵀ(WᵀW + αI)⁻¹w_i being its leverage
    score: rows that decide much are kept for certain. An update reads the entries of about s = n/10 rows.

    After five such updates all of A is multiplied once, which measures the point. It is taken if it has
    lowered f. Near a solution samples no longer do: from then on all steps are those of `anls`, so that what
    is reached is a stationary point of f itself. The samples are the same on every run.

    References
    ----------
    K. Hayashi, S. G. Aksoy, G. Ballard and H. Park, Randomized algorithms for symmetric nonnegative matrix
    factorization, 2024, whose hybrid of kept and drawn rows this is (there the rows that are drawn are drawn
    with replacement, and nothing is measured against A in between).
    """

    def step(self, problem: Problem, state: State) -> Steps:
        """Update from samples and see whether that has lowered f; once it has not, take exact steps."""
        if state.AH is None:
            state.move(state.H, (yield state.H))
        memory = state.memory
        if not memory.get("exact"):
            value = problem.measure(state.H, state.AH)[0]
            alpha = memory.setdefault("coupling", self._first_coupling(problem.operator))
            rng, H = memory.setdefault("rng", np.random.default_rng(0)), state.H
            for _ in range(UPDATES):
                H = self._update(problem, H, alpha, rng)
            AH = yield H
            if problem.measure(H, AH)[0] < value:
                self._compare(memory, state.H, H)
                state.move(H, AH)
                return
            memory["exact"] = True
        yield from super().step(problem, state)

    def _update(self, problem: Problem, W: Array, alpha: float, rng: np.random.Generator) -> Array:
        kept, weights = sample_rows(W, alpha, rng)
        weighted = W[kept] * weights[:, None]
        G = _kernels.gram(W[kept] * np.sqrt(weights)[:, None])[0]
        AW = problem.operator.combine_rows(kept, weighted)
        left, right = problem.objective.normal_equations(W, AW, G, alpha)
        return self.minimise(left, right, W, W)


def sample_rows(W: Array, alpha: float, rng: np.random.Generator) -> tuple[Array, Array]:
    """Return the numbers of the rows that are kept, and how often each counts.

    Examples
    --------
    >>> import numpy as np
    >>> from symclust.solvers.sampled_anls import sample_rows
    >>> W = np.ones((1000, 2))
    >>> W[7] = [80.0, -80.0]
    >>> kept, weights = sample_rows(W, 1.0, np.random.default_rng(0))
    >>> 7 in kept, float(weights[kept == 7][0]), len(kept) < 150
    (True, 1.0, True)
    """
    n, k = W.shape
    G = _kernels.gram(W)[0]
    scores = _leverage(W, G + alpha * np.eye(k))
    size = max(n // SHARE, LEAST * k)
    kept_with = np.minimum(1.0, size * scores / max(scores.sum(), np.finfo(np.float64).tiny))
    kept = np.flatnonzero(rng.uniform(size=n) < kept_with)
    return kept, (1 / kept_with[kept]).astype(W.dtype)


def _leverage(W: Array, M: Array) -> Array:
    """Return w_iᵀ M⁻¹ w_i for all rows."""
    factor = cho_factor(M)
    return np.einsum("ij,ij->i", W, (W @ cho_solve(factor, np.eye(len(M)))).astype(np.float64))
