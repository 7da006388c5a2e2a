"""Ctrl-C ends what takes long, wherever it is."""

import select
import signal
import subprocess
import sys
import threading

import numpy as np
import pytest

import closecall as cc
from closecall.compiled import interruptible

SETUP = """
import numpy as np, closecall as cc
truth = np.zeros(2_000_000, dtype=np.uint8)
truth[::1000] = 1
scores = np.random.default_rng(0).random(2_000_000)
alarms = (scores > 0.9).astype(np.uint8)
cc.metrics.vus(truth[:5000], scores[:5000], window=4)
cc.significance(truth[:5000], alarms[:5000], n=5)
cc.significance(truth[:5000], scores=scores[:5000], n=5)
whole = truth, scores, alarms
for samples, call in {slow!r}:
    truth, scores, alarms = (side[:samples] for side in whole)
    try:
        print("ready", flush=True)
        eval(call)
        print("ended", flush=True)
    except KeyboardInterrupt:
        print("interrupted", flush=True)
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
def test_an_interrupt_ends_a_long_call():
    """One after the other in a process, which takes longer to start than all of them."""
    command = [sys.executable, "-c", SETUP.format(slow=[*SLOW.values()])]
    pipes = {"stdout": subprocess.PIPE, "stderr": subprocess.PIPE}
    with subprocess.Popen(command, text=True, **pipes) as process:  # noqa: S603
        try:
            for name in SLOW:
                assert process.stdout.readline() == "ready\n", process.stderr.read()
                assert told(process, 0.3) is None, name
                process.send_signal(signal.SIGINT)
                assert told(process, 60) == "interrupted\n", name
        finally:
            process.kill()


def told(process, seconds):
    """Read the next line; None if there is none in so many seconds."""
    readable, _, _ = select.select([process.stdout], [], [], seconds)
    return process.stdout.readline() if readable else None


@pytest.mark.skipif(sys.platform == "win32", reason="there are no such signals")
def test_an_interrupt_is_seen_in_the_middle_of_a_pass_over_the_samples():
    truth = (np.arange(4_000_000) % 1000 == 0).astype(np.uint8)
    scores = np.random.default_rng(0).random(truth.size)
    cc.affiliation_curve(truth[:300_000], scores[:300_000])  # compiled before
    others = set(threading.enumerate())

    def interrupt_a_kernel(number, frame):
        if set(threading.enumerate()) - others:
            signal.setitimer(signal.ITIMER_REAL, 0)  # another one would come outside of `raises`
            raise KeyboardInterrupt

    before = signal.signal(signal.SIGALRM, interrupt_a_kernel)
    try:
        signal.setitimer(signal.ITIMER_REAL, 0.001, 0.001)
        with pytest.raises(KeyboardInterrupt):
            cc.affiliation_curve(truth, scores)
    finally:
        signal.setitimer(signal.ITIMER_REAL, 0)
        signal.signal(signal.SIGALRM, before)


def test_what_a_long_call_raises_comes_out_where_it_was_called():
    with pytest.raises(np.exceptions.AxisError):
        interruptible(np.sort, np.zeros(2_000_000), axis=1)


@pytest.mark.skipif(sys.platform != "linux", reason="elsewhere a thread may be that large")
def test_without_room_for_a_thread_there_is_none():
    before = threading.stack_size(2**46)
    try:
        assert interruptible(np.sort, np.arange(2_000_000)[::-1])[0] == 0
    finally:
        threading.stack_size(before)
