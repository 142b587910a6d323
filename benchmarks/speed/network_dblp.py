"""com-DBLP, 317,080 nodes and 1,049,866 edges: communities beside Leiden, Louvain and spectral clustering.

Its 5,000 best known communities overlap and have 22 members on average; agreement with them is that of
`metrics.overlapping_nmi` and `metrics.overlapping_f1`.
"""

from __future__ import annotations

import os
from pathlib import Path
from typing import Any

import numpy as np
import scipy.sparse as sp

from benchmarks._tools import table
from benchmarks.speed._networks import PLOTS, Quality, measure_network, real_network
from benchmarks.speed._peers import stored
from symclust.metrics import overlapping_f1, overlapping_nmi


def main() -> None:
    A = real_network("com_dblp")
    if A is not None:
        title = f"com-DBLP: {A.shape[0]:,} nodes, {A.nnz:,} nonzeros"
        with stored(A) as folder:
            table(title, measure_network(folder, None, more=with_known(A.shape[0])), PLOTS)


def with_known(n: int) -> Quality:
    """Return the agreement of labels with the known communities, among the nodes that are in one."""
    with np.load(Path(os.environ["SYMCLUST_DATA"], "com_dblp.npz"), allow_pickle=False) as file:
        members, ends = file["comm_indices"], file["comm_indptr"]
    ones = np.ones(len(members))
    known = sp.csc_array((ones, members, ends), shape=(n, len(ends) - 1)).tocsr()
    inside = np.unique(members)

    def agreement(labels: np.ndarray) -> dict[str, Any]:
        rows = np.flatnonzero(labels[inside] >= 0)
        at = rows, labels[inside][rows]
        found = sp.csr_array((np.ones(len(rows)), at), shape=(len(inside), labels.max() + 1))
        both = known[inside], found
        return {"overlapping NMI": overlapping_nmi(*both), "overlapping F1": overlapping_f1(*both)}

    return agreement


if __name__ == "__main__":
    main()
