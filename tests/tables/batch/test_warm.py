"""Workers that are forked from our server have their kernels before they are asked for anything."""

import multiprocessing
import subprocess
import sys

import pytest

# In a program of its own: here, another test may have started a server for something else.
PROGRAM = """
from types import SimpleNamespace
from closecall.tables.batch.process_pool import run_in_pool


def loaded_kernels(_):
    from closecall.affiliation import _chance_kernels, _curve_kernels, _kernels

    kernels = (
        _curve_kernels.sweep,
        _curve_kernels.radix_sort,
        _kernels.score_zones,
        _chance_kernels.mean_levels,
    )
    return [len(kernel.compiled.signatures) > 0 for kernel in kernels]


if __name__ == "__main__":
    units = [SimpleNamespace(key="a"), SimpleNamespace(key="b")]
    print([outcome.value for outcome in run_in_pool(units, loaded_kernels, workers=2)])
"""


@pytest.mark.skipif(
    "forkserver" not in multiprocessing.get_all_start_methods(), reason="workers are not forked"
)
def test_workers_start_with_their_kernels(tmp_path):
    program = tmp_path / "program.py"
    program.write_text(PROGRAM)
    done = subprocess.run(  # noqa: S603 - ours
        [sys.executable, str(program)], capture_output=True, text=True, check=True
    )
    assert done.stdout.strip() == str([[True] * 4] * 2)
