"""Imported by the server that workers are forked from, so that each of them has its kernels.

Loading compiled code takes a process about half a second. Here it is done once, with a table of
one small series, and every worker that is forked afterwards starts with it.
"""

from __future__ import annotations

import signal

import numba  # noqa: F401 - so that kernels are compiled at once
import pyarrow as pa
import pyarrow.parquet  # files are read with it

from closecall.tables.batch.evaluate import evaluate_frame

_SERIES = pa.table({"truth": [0, 1, 0, 0], "score": [0.1, 0.9, 0.3, 0.2]})

evaluate_frame(_SERIES, truth="truth", score="score", per_event=True, progress=False)

# Ctrl-C was kept from the server while it loaded (`engines`), and what has come is dropped.
if hasattr(signal, "pthread_sigmask"):
    _handler = signal.signal(signal.SIGINT, signal.SIG_IGN)
    signal.pthread_sigmask(signal.SIG_UNBLOCK, {signal.SIGINT})
    signal.signal(signal.SIGINT, _handler)
