"""The forms of A, a symmetric n x n similarity seen through products.

===========  ========================  ==================================  ====================
operator     A                         held                                cost of ``op @ H``
===========  ========================  ==================================  ====================
`Dense`      a matrix                  n x n numbers                       n² w
`Sparse`     a sparse matrix, a graph  nonzeros as CSR                     nonzeros of A x w
`Gram`       diag(s) X Xᵀ diag(s)      X (n x d, dense or sparse) and s    2 x nonzeros of X x w
`LowRank`    U diag(s) Uᵀ              U (n x r) and s                     2 n r w
`Shifted`    A − λL, L = D − W         the operators A and W, and D        that of A and of W
`Bipartite`  [[0, X], [Xᵀ, 0]]         X (n x d, dense or sparse)          2 x nonzeros of X x w
`Masked`     A with entries hidden     the operator A, what is hidden      that of both
`OnDisk`     a sparse matrix in files  8 bytes a row; two blocks of rows   nonzeros of A x w, a read
`OnDask`     blocks of rows on workers nothing; each worker its blocks     n w sent and brought back
===========  ========================  ==================================  ====================

On a device, with the factors: a `DenseTensor` or `SparseTensor` is a tensor of PyTorch, `Offloaded` sends
blocks of rows of a matrix that the host keeps.

A `Network` is a `Sparse` that estimators treat as a graph: its entries are edges, its rows are named nodes.

`as_operator` makes one from an array, a sparse array, a graph or a DataFrame, `low_rank` a `LowRank` from any
of these. `Operator` is the base class: a subclass needs the product alone, all else has a slow default.
Results are the same, to the bit, on any number of threads (of those on a device, up to rounding), and no
operator but `Dense` forms n x n numbers, except in `toarray`.
"""

from symclust.operators._arrays import bordered, dense_product, on_lines, stacked
from symclust.operators._base import Operator
from symclust.operators._conversion import as_operator, graph_adjacency, graph_names, network_of_table
from symclust.operators._cost import SpmmCost, spmm_cost_model
from symclust.operators._eigen import krylov_spaces
from symclust.operators._factors import DenseFactor, Factor, SparseFactor
from symclust.operators._network import DUPLICATES, Network, network_of_edges, number_nodes
from symclust.operators.bipartite import Bipartite
from symclust.operators.dask._blocks import RowBlocks, gathered_entries, is_dask, over_blocks
from symclust.operators.dask.on_dask import OnDask
from symclust.operators.dense import Dense
from symclust.operators.disk._building import save_on_disk, write_on_disk
from symclust.operators.disk.on_disk import OnDisk
from symclust.operators.factored import Gram, LowRank, low_rank
from symclust.operators.masked import Masked
from symclust.operators.shifted import Shifted
from symclust.operators.sparse import Sparse, read_csr
from symclust.operators.torch.offloaded import Offloaded
from symclust.operators.torch.rank_two import RankTwoOnDevice, rows_of_tensor
from symclust.operators.torch.tensors import DenseTensor, SparseTensor, is_tensor

# The other names above are for other folders, and no part of the API.
__all__ = [
    "Bipartite",
    "Dense",
    "DenseTensor",
    "Gram",
    "LowRank",
    "Masked",
    "Network",
    "Offloaded",
    "OnDask",
    "OnDisk",
    "Operator",
    "Shifted",
    "Sparse",
    "SparseTensor",
    "SpmmCost",
    "as_operator",
    "low_rank",
    "save_on_disk",
    "spmm_cost_model",
    "write_on_disk",
]
