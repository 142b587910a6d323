"""Which threshold is best for communities that overlap, on average over graphs."""

from __future__ import annotations

from benchmarks.quality._overlapping import GRAPHS, Overlapping, cover_scores, graph
from benchmarks.quality._runs import SEEDS, Runs

ABOUT = """The graphs of the part `overlapping` together: each row is one threshold, the same for all
of them."""

THRESHOLDS = (0.05, 0.1, 0.15, 0.2, 0.25, 0.3, 0.35, 0.4, 0.45, 0.5, 0.6, 0.7, 0.8)
METHODS = {
    "SymNMF": "sym_nmf",
    "SymNMF, precomputed": "sym_nmf_precomputed",
    "OffDiagonalSymNMF": "off_diagonal",
    "OffDiagonalSymNMF, precomputed": "off_diagonal_precomputed",
    "SLPA": "slpa",
}


def main() -> None:
    runs = Runs("thresholds", ABOUT, measures=("NMI", "F1"), show_seconds=False)
    for case in GRAPHS:
        for seed in SEEDS:
            A, memberships = graph(*case, seed)
            fitted = Overlapping(A, memberships.shape[1], seed)
            for threshold in THRESHOLDS:
                methods = {
                    name: lambda _, method=method, fitted=fitted, t=threshold: getattr(fitted, method)(t)
                    for name, method in METHODS.items()
                }
                runs.measure(f"threshold {threshold}", methods, cover_scores(memberships), (seed,))
