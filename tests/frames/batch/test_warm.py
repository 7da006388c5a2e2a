"""Workers that are forked from our server have their kernels before they are asked for anything."""

import multiprocessing
from types import SimpleNamespace

import pytest

from closecall.frames.batch.process_pool import run_in_pool


def loaded_kernels(_):
    from closecall.affiliation import _chance_kernels, _curve_kernels, _kernels, _order_kernels

    kernels = (
        _curve_kernels.sweep,
        _order_kernels.sort,
        _kernels.score_zones,
        _chance_kernels.mean_levels,
    )
    return [len(kernel.signatures) for kernel in kernels]


@pytest.mark.skipif(
    "forkserver" not in multiprocessing.get_all_start_methods(), reason="workers are not forked"
)
def test_workers_start_with_their_kernels():
    units = [SimpleNamespace(key="a"), SimpleNamespace(key="b")]
    outcomes = list(run_in_pool(units, loaded_kernels, workers=2))
    assert all(min(outcome.value) > 0 for outcome in outcomes)
