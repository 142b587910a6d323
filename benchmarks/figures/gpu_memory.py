"""Thesis figure 23: operations a second that the memory of a K20x allows, by where X is kept."""

from __future__ import annotations

from benchmarks._tools import table
from symclust.bounds import gpu_memory_seconds

MATRICES = {
    "RCV1": (149_113, 764_751, 59_851_107),
    "Wikipedia": (2_361_566, 4_126_013, 468_558_693),
}  # table 20


def main() -> None:
    for name, size in MATRICES.items():
        rows = [
            {"columns": k}
            | {
                place: round(2 * size[2] * k / seconds / 1e9, 1)
                for place, seconds in gpu_memory_seconds(size, k).items()
            }
            for k in (1, 2, 4, 8, 16, 32, 64)
        ]
        table(f"Figure 23, {name}: Gflop a second at most", rows)
