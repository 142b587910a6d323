"""Nonnegative factors with two columns, computed on a device (thesis, chapter 6)."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np
import scipy.sparse as sp

from symclust._optional import Lazy
from symclust._types import Array

if TYPE_CHECKING:
    import torch
else:
    torch = Lazy("torch", "gpu", "A device")


def rows_of_tensor(X: torch.Tensor) -> Any:
    """A matrix on a device as an array of the host, or a `csr_array` if the tensor is sparse."""
    X = X.detach()
    if X.layout == torch.strided:
        return X.cpu().numpy()
    csr = X.to_sparse_csr().cpu()
    parts = (csr.values().numpy(), csr.col_indices().numpy(), csr.crow_indices().numpy())
    return sp.csr_array(parts, shape=tuple(X.shape))


class RankTwoOnDevice:
    """min ‖X − WCᵀ‖² over W, C ≥ 0 with two columns: the iteration of the compiled `rank_two_nmf` on tensors.

    X and Xᵀ come as CSR parts (indptr, indices, values) and are copied to the device once; W, C and all that
    follows from them stay there until the end.
    """

    def __init__(self, rows: Any, transposed: Any, shape: tuple[int, int], device: Any) -> None:
        self.device = device
        self.X, self.Xt = self._tensor(rows, shape), self._tensor(transposed, shape[::-1])

    def _tensor(self, parts: Any, shape: tuple[int, ...]) -> torch.Tensor:
        indptr, indices, values = (torch.as_tensor(part, device=self.device) for part in parts)
        return torch.sparse_csr_tensor(indptr, indices, values, shape)

    def factor(
        self, C: Array, tol: float, max_iter: int, first_part: float, growth: float, rounding: float
    ) -> tuple[Array, Array, int]:
        """C, W and the number of iterations, from the start C; see `rank_two` for the steps."""
        here = before = torch.as_tensor(C, device=self.device)
        explained, part, first, n_iter = 0.0, first_part, 0.0, 0
        precision = rounding * float(np.finfo(C.dtype).eps)
        while n_iter < max_iter:
            n_iter += 1
            R, G = self._problem_of_C(here)
            if float((R * here).sum()) < explained:  # ⟨W, XC⟩, what W explains of X: a step too far
                part, here = part / 2, before
                R, G = self._problem_of_C(here)
            gradient = here @ G - R
            slope = float(gradient[(gradient < 0) | (here > 0)].norm())
            first = first or slope
            best = best_rows(G, R)
            explained = float((best * R).sum())
            here = _unit(best)
            if slope <= max(tol * first, precision * explained) or n_iter == max_iter:
                break
            here, before = _unit((here + part * (here - before)).clamp(min=0)), here
            part = min(1.0, growth * part)
        W = best_rows(here.T @ here, self.X @ here)
        return here.cpu().numpy(), W.cpu().numpy(), n_iter

    def _problem_of_C(self, C: torch.Tensor) -> tuple[torch.Tensor, torch.Tensor]:
        W = best_rows(C.T @ C, self.X @ C)
        return self.Xt @ W, W.T @ W


def best_rows(G: torch.Tensor, R: torch.Tensor) -> torch.Tensor:
    """The rows x ≥ 0 of least xᵀGx/2 − rᵀx: thesis, Algorithm 4, for right-hand sides of any sign."""
    a, b, d = float(G[0, 0]), float(G[0, 1]), float(G[1, 1])
    right, determinant = R.clamp(min=0), a * d - b * b
    single = torch.stack(
        [right[:, 0] / a if a else 0 * R[:, 0], right[:, 1] / d if d else 0 * R[:, 1]], dim=1
    )
    first_is_better = single[:, 0] ** 2 * a >= single[:, 1] ** 2 * d
    single = single * torch.stack([first_is_better, ~first_is_better], dim=1)
    if determinant <= torch.finfo(R.dtype).eps * a * d:
        return single
    both = torch.stack([d * R[:, 0] - b * R[:, 1], a * R[:, 1] - b * R[:, 0]], dim=1) / determinant
    return torch.where((both >= 0).all(dim=1, keepdim=True), both, single)


def _unit(C: torch.Tensor) -> torch.Tensor:
    lengths = C.norm(dim=0)
    return C / torch.where(lengths > 0, lengths, torch.ones_like(lengths))
