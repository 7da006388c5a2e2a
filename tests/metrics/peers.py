"""Series for the tests against peers, and peers if they are there.

Most peers are in benchmarks/peers.txt, the others in the extra `peers`. Their results are compared
where they should agree; the pages in docs/metrics/ say where peers differ.
"""

import sys
from importlib import import_module
from importlib.util import find_spec
from types import ModuleType

import numpy as np
import pytest

SEEDS = range(6)


def series(seed, length=400, events=5):
    """True ranges, predicted ones near and far from them, and scores; not all zeros or ones.

    No range is at either end of the series, and none overlaps two of the other side.
    """
    random = np.random.default_rng(seed)
    sides = np.zeros((2, length), dtype=np.int64)
    for side in sides:
        for start in np.sort(random.choice(length // 40, events, replace=False)) * 40:
            first = start + random.integers(3, 15)
            side[first : first + random.integers(2, 20)] = 1
    scores = np.round(random.random(length) + 0.4 * sides[1], 2)
    return sides[0], sides[1], scores


def fragments(seed, length=400):
    """Truth and predictions where many ranges overlap several of the other side, also at the ends.

    Predictions lead by up to four samples, and some ranges have one sample.
    """
    random = np.random.default_rng(seed)
    ranges = np.repeat((np.arange(60) + seed) % 2, random.integers(4, 30, 60))
    kept = random.random((2, length)) < 0.9
    return ranges[:length] * kept[0], ranges[seed % 5 :][:length] * kept[1]


def peer(module, name):
    package = module.partition(".")[0]
    pytest.importorskip(package, reason=f"needs {package}, see benchmarks/peers.txt")
    return getattr(import_module(module), name)


def tsadmetrics(family, name):
    return peer(f"tsadmetrics.metrics.tem.{family}.{name}", name)


def unopened(package):
    """Let modules of a package be imported though its own imports need what is not here (torch)."""
    if package in sys.modules:
        return
    specification = find_spec(package)
    if specification is None:
        pytest.skip(f"needs {package}, see benchmarks/peers.txt")
    module = ModuleType(package)
    module.__path__ = list(specification.submodule_search_locations)
    sys.modules[package] = module
