"""Ctrl-C ends what takes long, wherever it is."""

import signal
import subprocess
import sys

import pytest

SETUP = """
import numpy as np, closecall as cc
truth = np.zeros({n}, dtype=np.uint8)
truth[::1000] = 1
scores = np.random.default_rng(0).random({n})
alarms = (scores > 0.9).astype(np.uint8)
cc.metrics.vus(truth[:5000], scores[:5000], window=4)
cc.significance(truth[:5000], alarms[:5000], n=5)
cc.significance(truth[:5000], scores=scores[:5000], n=5)
print("ready", flush=True)
"""
# Each would take minutes; none is in compiled code for long at a time.
SLOW = {
    "shifts": (2_000_000, "cc.significance(truth, alarms, n=1_000_000)"),
    "rolls": (200_000, "cc.significance(truth, scores=scores, n=100_000)"),
    "vus": (200_000, "[cc.metrics.vus(truth, scores, window=4_000) for _ in range(100)]"),
    "null": (200_000, "cc.metrics.two_sided_null(truth, alarms, tolerance=5, simulations=10**6)"),
    "search": (2_000_000, "cc.adversary.search('classical', truth, budget=100_000)"),
}


@pytest.mark.skipif(sys.platform == "win32", reason="there are no such signals")
@pytest.mark.parametrize("name", SLOW)
def test_an_interrupt_ends_a_long_call(name):
    samples, call = SLOW[name]
    script = SETUP.format(n=samples) + call
    command = [sys.executable, "-c", script]
    pipes = {"stdout": subprocess.PIPE, "stderr": subprocess.PIPE}
    with subprocess.Popen(command, text=True, **pipes) as process:  # noqa: S603
        try:
            assert process.stdout.readline() == "ready\n", process.stderr.read()
            with pytest.raises(subprocess.TimeoutExpired):
                process.wait(0.5)
            process.send_signal(signal.SIGINT)
            assert process.wait(60) != 0
            assert "KeyboardInterrupt" in process.stderr.read()
        finally:
            process.kill()
