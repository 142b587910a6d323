"""The cost model of products on a cluster against what the operator sends, and against what must hold."""

import numpy as np
import pytest

from symclust.exceptions import OptionError
from symclust.operators import ClusterSpeed, _dask_workers, dask_cost_model


@pytest.mark.parametrize("dtype", [np.float32, np.float64])
@pytest.mark.parametrize(("k", "density"), [(16, 0.1), (16, 0.97), (300, 0.02)])
def test_bytes_of_h_are_those_that_are_sent(k, density, dtype):
    rng = np.random.default_rng(0)
    H = (rng.uniform(size=(500, k)) * (rng.uniform(size=(500, k)) < density)).astype(dtype)
    piece = _dask_workers.encode(H)
    sent = H.nbytes if isinstance(piece, np.ndarray) else sum(part.nbytes for part in piece[1:])
    share = np.count_nonzero(H) / H.size
    cost = dask_cost_model(500, 1e4, k, n_workers=3, density=share, dtype=dtype, speed=ClusterSpeed(hops=1))
    assert cost.sent == pytest.approx(sent)
    assert cost.exchanged == pytest.approx(2 * sent)  # each of the others needs all of H, and has its share
    assert cost.returned == H.nbytes
    assert cost.bytes_moved == pytest.approx(3 * sent + H.nbytes)
    through_scheduler = dask_cost_model(500, 1e4, k, n_workers=3, density=share, dtype=dtype)
    assert through_scheduler.sent == pytest.approx(2 * sent)


def test_more_workers_than_cores_are_no_faster():
    one, two, four = (
        dask_cost_model(10**5, 1e8, 16, n_workers=W, machines=1, cores=2, n_blocks=8) for W in (1, 2, 4)
    )
    assert one.flops == two.flops == 2 * 1e8 * 16
    assert one.compute == 2 * two.compute == 2 * four.compute
    assert two.product < one.product and two.product < four.product  # four exchange more


def test_machines_of_their_own_exchange_side_by_side():
    cost = [dask_cost_model(10**6, 1e8, 16, n_workers=W).communicate for W in (2, 4, 400)]
    assert cost[0] < cost[1] < cost[2] < 1.4 * cost[0]


def test_memory_is_that_of_the_blocks_and_of_h():
    n, nonzeros, k = 10**6, 10**9, 8
    cost = dask_cost_model(n, nonzeros, k, n_workers=4, n_blocks=8)
    blocks, factor = nonzeros * (4 + 8) + n * 4, n * k * 8
    assert cost.worker_memory == pytest.approx((blocks + factor) / 4 + 2 * factor)
    assert cost.client_memory == 8 * factor
    uneven = dask_cost_model(n, nonzeros, k, n_workers=4, n_blocks=9)  # one worker has three of nine
    assert uneven.worker_memory == pytest.approx((blocks + factor) / 3 + 2 * factor)


@pytest.mark.parametrize(
    "wrong", [{"n_workers": 0}, {"n_workers": 2, "density": 1.5}, {"n_workers": 1, "threads": 0.5}]
)
def test_what_is_no_cluster_is_refused(wrong):
    with pytest.raises(OptionError, match=r"must be a"):
        dask_cost_model(100, 1e3, 4, **wrong)
