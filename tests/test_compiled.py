"""Kernels in two tiers: the same bits in both, and the compiler loaded for large arrays."""

import importlib
import os
import sys
from contextlib import contextmanager
from pathlib import Path

import numpy as np
import polars as pl
import pytest

import closecall as cc
from closecall import compiled
from closecall.affiliation._shift_kernels import move_elements
from closecall.compiled import Kernel
from closecall.metrics._score_kernels import volume_elements
from tests.conftest import run_program

PACKAGE = Path(cc.__file__).parent
AXES = {
    "integers": lambda ticks: 3 * ticks,
    "floats": lambda ticks: 0.37 * ticks + 1e3,
    "datetimes": lambda ticks: np.datetime64("2024-01-01", "ns") + (10**9 * ticks),
}


def all_kernels():
    """Find every kernel of the package, in the modules whose text says that they have any."""
    kernels = set()
    for path in PACKAGE.rglob("*.py"):
        if "closecall.compiled import" in path.read_text():
            parts = path.relative_to(PACKAGE.parent).with_suffix("").parts
            module = importlib.import_module(".".join(parts))
            kernels |= {value for value in vars(module).values() if isinstance(value, Kernel)}
    return kernels


def copied(arguments):
    """Copy arrays; those that share memory, of which a kernel may make use, share it again."""
    owners, copies = {}, []
    for argument in arguments:
        if not isinstance(argument, np.ndarray):
            copies.append(argument)
            continue
        owner = argument
        while isinstance(owner.base, np.ndarray):
            owner = owner.base
        memory = owners.setdefault(id(owner), owner.copy(order="K"))
        offset = argument.ctypes.data - owner.ctypes.data
        copies.append(np.ndarray(argument.shape, argument.dtype, memory, offset, argument.strides))
    return copies


def bits(values):
    return [
        value.tobytes() if isinstance(value, np.ndarray) else (type(value), repr(value))
        for value in values
    ]


class Recorder:
    """Runs kernels as plain Python, and notes what the outermost ones were given and did."""

    def __init__(self):
        self.calls, self.reached, self.inside = [], set(), False

    @contextmanager
    def listening(self):
        def call(kernel, *arguments):
            return self.call(kernel, *arguments)

        with pytest.MonkeyPatch.context() as patch:
            patch.setattr(Kernel, "__call__", call)
            yield

    def call(self, kernel, *arguments):
        self.reached.add(kernel)
        if self.inside:
            return kernel.plain(*arguments)
        before, self.inside = copied(arguments), True
        try:
            result = compiled._as_python(kernel.plain(*arguments))
        finally:
            self.inside = False
        self.calls.append((kernel, before, bits([*arguments, result])))
        return result


def use_everything(time_of, seed):
    """Call what has kernels behind it, on random series with points, ties and uneven steps."""
    rng, count = np.random.default_rng(seed), 60
    times = time_of(np.cumsum(rng.integers(1, 4, count)))
    axis = {"times": times, "end": times[-1] + (times[1] - times[0])}
    truth, predicted = (rng.random((2, count)) < [[0.1], [0.2]]).astype(int)
    truth[rng.integers(5, count - 5)] = predicted[rng.integers(5, count - 5)] = 1
    for kind in (np.float64, np.int64) if seed == 0 else (np.float64,):
        scores = rng.normal(0, 3, count).astype(kind)
        curve = cc.affiliation_curve(truth, scores, **axis)
        curve.event_curve(0)
        _ = curve._columns(3.0), curve.caught, curve.false_alarms
        cc.evaluate(truth, predicted, scores=scores, **axis)
        adjusted = cc.metrics.point_adjust_curve(truth, scores, **axis)
        _ = adjusted.thresholds, adjusted.best()
    for power in (2, 2.5):
        cc.metrics.semimetric(truth, predicted, p=power, **axis)
    cc.metrics.margin(truth, predicted, margin=2)
    cc.significance(truth, predicted, n=8, **axis)
    cc.significance(truth, scores=rng.random(count), n=8, **axis)
    stream = cc.AffiliationStream()
    for at in range(0, count, 13):
        part = slice(at, at + 13)
        stream.update(truth[part], predicted[part], times=times[part])
    stream.result(end=axis["end"])
    # Ranges, points and both in one zone, on either side.
    span = times[0], axis["end"]
    points = cc.Events.from_points(times[4:50:15])
    mixed = cc.Events([(times[i], times[i + i % 3]) for i in (3, 10, 30, 34, 51)])
    for sides in ((mixed, points), (points, mixed), (mixed, mixed)):
        cc.affiliation(*sides, span=span)
        cc.metrics.unbiased_affiliation(*sides, span=span)
    table = pl.DataFrame({"truth": truth, "score": rng.random(count)})
    cc.evaluate_frame(table, truth="truth", score="score", threshold="best_f1_global")


@pytest.fixture(scope="module")
def recorded():
    recorder = Recorder()
    with recorder.listening():
        for seed, time_of in enumerate(AXES.values()):
            use_everything(time_of, seed)
        for kernel in all_kernels():
            if kernel.__name__ == "merge_descending":  # only for more rows than a test has
                scores, sums = np.arange(9.0, 0, -1), np.random.default_rng(0).random((3, 9))
                room = np.empty(13), np.empty((3, 13))
                kernel(scores[1:], sums[:, 1:], scores[:5], sums[:, :5], *room)
    return recorder


def test_every_kernel_is_recorded(recorded):
    kernels = all_kernels()
    missing = {f"{kernel.__module__}.{kernel.__name__}" for kernel in kernels - recorded.reached}
    assert len(kernels) > 50
    assert missing == set()


def test_both_tiers_give_the_same_bits(recorded):
    wrong = set()
    for kernel, arguments, expected in recorded.calls:
        result = kernel.compiled(*arguments)
        if bits([*arguments, result]) != expected:
            wrong.add(kernel.__name__)
    assert wrong == set()


SETUP = """
import sys
import numpy as np
import closecall as cc
from closecall import compiled

scores = np.random.default_rng(0).random(300)
truth = scores > 0.9
def loaded():
    return "numba" in sys.modules

def curve():
    found = cc.affiliation_curve(truth, scores**2)
    return repr([found.average_precision, found.best()])

def chance():
    return repr(cc.significance(truth, scores > 0.8, n=20).to_dict())
"""


def run(code, **environment):
    """Run code in a new process, where numba is not loaded yet, and return what it prints."""
    done = run_program(
        [sys.executable, "-c", SETUP + code], env=os.environ | environment, check=True
    )
    return done.stdout.split()


def test_a_small_job_does_without_the_compiler():
    assert run("chance()\nprint(loaded())") == ["False"]


def test_the_compiler_is_loaded_once_enough_elements_were_passed():
    code = """
counts = [curve() and compiled._elements_so_far for _ in range(3)]
first, before = curve(), loaded()
compiled._LARGE = compiled._elements_so_far
print(counts[1] == 2 * counts[0], counts[2] == 3 * counts[0], before, curve() == first, loaded())
"""
    assert run(code) == ["True", "True", "False", "True", "True"]


def test_the_compiler_is_loaded_for_half_a_million_elements():
    # What is typed has no file, and no folder beside it where it could be kept.
    code = """
@compiled.kernel
def first(values):
    return values[0]

first(np.ones(compiled._LARGE - 1))
first(np.ones(1))
print(compiled._LARGE, loaded())
first(np.ones(1))
print(loaded())
"""
    assert run(code) == ["500000", "False", "True"]


def test_a_plain_kernel_calls_plain_kernels():
    code = """
@compiled.kernel
def last(values):
    return values[-1]

@compiled.kernel(elements=lambda values: 1)
def twice(values):
    return 2 * last(values)

many = np.ones(2 * compiled._LARGE)
print(twice(many), loaded(), last(many), loaded())
"""
    assert run(code) == ["2.0", "False", "1.0", "True"]


def test_kernels_with_many_passes_count_them():
    three, five, seven = np.zeros(3), np.zeros(5), np.zeros(7)
    six = np.zeros(6)
    assert move_elements(six, six, *[five] * 5, 9, (2, 6, 4), 0.0, five, five) == 20 * 3 * 4
    assert volume_elements(three, three, three, five, *[three] * 7, seven, seven) == 5 * 7


def test_nothing_is_compiled_where_numba_is_disabled():
    code = """
from closecall.affiliation._shift_kernels import curve_scores

compiled._LARGE = 0
cc.affiliation_curve(truth, scores**2)
_, best = curve_scores(np.ones(3), np.arange(3.0))
print(loaded(), type(best).__name__)  # the type that compiled kernels return
"""
    assert run(code, NUMBA_DISABLE_JIT="1") == ["False", "float"]


def test_threads_agree_while_kernels_are_compiled():
    code = """
from concurrent.futures import ThreadPoolExecutor
expected = curve()
compiled._LARGE = 2 * compiled._elements_so_far  # some start plain, and others compile meanwhile
with ThreadPoolExecutor(4) as pool:
    found = list(pool.map(lambda _: curve(), range(8)))
print(set(found) == {expected}, loaded())
"""
    assert run(code) == ["True", "True"]
