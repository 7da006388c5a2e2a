"""The process pool: safe to start, made new when a worker dies, gone when we are."""

import os
import signal
import subprocess
import sys
import threading
import time
from contextlib import closing
from multiprocessing import get_all_start_methods, get_context
from pathlib import Path

import pytest

from closecall.errors import EngineError
from closecall.tables.batch.engines import Outcome
from tests.tables.batch.groups import run_with
from tests.tables.batch.test_engines import DOUBLED, Number, by_key, die_at_five, double, numbers

DIED = "The worker process died: it was killed, ran out of memory, or crashed."


def process(unit):
    return os.getpid()


def slow(unit):
    time.sleep(0.2)


def die(unit):
    os.kill(os.getpid(), signal.SIGKILL)


def is_alive(number):
    """Say whether a process runs; one that ended and waits for its parent does not."""
    try:
        status = Path(f"/proc/{number}/stat").read_text()
    except OSError:
        return False
    return status.rpartition(")")[2].split()[0] != "Z"


def wait_until(condition, seconds=30):
    for _ in range(seconds * 20):
        if condition():
            return
        time.sleep(0.05)
    pytest.fail("waited in vain")


needs_proc = pytest.mark.skipif(not Path("/proc/self/stat").exists(), reason="reads /proc")


def test_the_same_outcomes_as_here():
    assert by_key(run_with(numbers(20), double, workers=2)) == DOUBLED


def test_other_processes_do_the_work():
    used = {outcome.value for outcome in run_with(numbers(8), process, workers=2)}
    assert os.getpid() not in used
    assert not any(map(is_alive, used))


def test_beside_threads():
    """A copy of a process with threads could wait for ever on a lock nobody holds."""
    busy = threading.Event()
    thread = threading.Thread(target=busy.wait)
    thread.start()
    try:
        assert by_key(run_with(numbers(20), double, workers=2)) == DOUBLED
    finally:
        busy.set()
        thread.join()


def test_only_the_unit_that_kills_workers_fails(tmp_path, monkeypatch):
    monkeypatch.setattr("tempfile.tempdir", str(tmp_path))
    found = by_key(run_with(numbers(12), die_at_five, workers=2))
    expected = {f"number {value}": Outcome(f"number {value}", 2 * value) for value in range(12)}
    assert found == {**expected, "number 5": Outcome("number 5", None, DIED)}
    assert not list(tmp_path.glob("closecall-*"))


def test_a_unit_whose_worker_was_killed_is_tried_again(tmp_path):
    units = [MarkedNumber(value, str(tmp_path / "died")) for value in range(12)]
    found = by_key(run_with(units, die_first, workers=2))
    assert found == {unit.key: Outcome(unit.key, 2 * unit.value) for unit in units}
    assert (tmp_path / "died").exists()


class MarkedNumber(Number):
    def __init__(self, value, mark):
        super().__init__(value)
        object.__setattr__(self, "mark", mark)


def die_first(unit):
    if unit.value == 5 and not Path(unit.mark).exists():
        Path(unit.mark).touch()
        die(unit)
    return 2 * unit.value


def test_workers_that_always_die_end_the_batch():
    found = []
    with pytest.raises(EngineError, match="got 5 in a row that died"):
        found.extend(run_with(numbers(50), die, workers=2))
    assert {outcome.error for outcome in found} == {DIED}


@needs_proc
def test_closing_stops_a_unit_at_work(tmp_path):
    units = [MarkedNumber(value, str(tmp_path)) for value in range(4)]
    started = time.monotonic()
    with closing(run_with(units, finish_one, workers=2)) as outcomes:
        assert next(outcomes).value == 0
        wait_until(lambda: any(tmp_path.iterdir()))
    (number, *_) = [int(path.name) for path in tmp_path.iterdir()]
    assert not is_alive(number)
    assert time.monotonic() - started < 300


def finish_one(unit):
    if unit.value == 0:
        return 0
    (Path(unit.mark) / str(os.getpid())).touch()
    time.sleep(600)
    return None


# Loading kernels takes most of the time of a script; where they do not matter, none is loaded.
LIGHT = """
import sys
sys.path.insert(0, {tests!r})
from closecall.tables.batch import engines
engines._PRELOADED = "tests.tables.batch.groups"
"""

# A process that was started in the background may ignore Ctrl-C, and so would its children.
SCRIPT = """
import signal, sys
signal.signal(signal.SIGINT, signal.default_int_handler)
sys.path.insert(0, {tests!r})
from tests.tables.batch.groups import run_with
from tests.tables.batch.test_process_pool import MarkedNumber, finish_one
units = [MarkedNumber(1, {mark!r})] * 4
print([outcome.value for outcome in run_with(units, finish_one, workers=2)])
"""


def start_script(folder, text=LIGHT + SCRIPT, **parts):
    marks = folder / "marks"
    marks.mkdir()
    tests = str(Path(__file__).parents[3])
    script = folder / "script.py"
    script.write_text(text.format(tests=tests, mark=str(marks), **parts))
    command = [sys.executable, str(script)]
    process = subprocess.Popen(  # noqa: S603 - ours
        command, stderr=subprocess.PIPE, text=True, start_new_session=True
    )
    return process, marks


@needs_proc
def test_workers_end_with_their_parent_and_remove_what_they_exchanged(
    tmp_path, tmp_path_factory, monkeypatch
):
    temporary = tmp_path_factory.mktemp("pool")  # the path of a socket must be short
    monkeypatch.setenv("TMPDIR", str(temporary))
    with start_script(tmp_path)[0] as parent:
        marks = tmp_path / "marks"
        wait_until(lambda: len(list(marks.iterdir())) == 2)
        workers = [int(path.name) for path in marks.iterdir()]
        assert all(map(is_alive, workers))
        assert list(temporary.glob("closecall-*"))
        parent.kill()
        parent.wait(30)
        wait_until(lambda: not any(map(is_alive, workers)))
        assert not list(temporary.glob("closecall-*"))
        assert "Traceback" not in parent.stderr.read()


PROGRAM = """
from operator import attrgetter
from types import SimpleNamespace
from closecall.tables.batch.engines import ProcessPool, run
units = [SimpleNamespace(key=name, size=len(name)) for name in ("a", "bcd")]
with ProcessPool(2) as engine:
    print(sorted(outcome.value for outcome in run(units, attrgetter("size"), engine)))
"""


@pytest.mark.parametrize("place", ["script.py", "-"])
def test_workers_do_not_import_the_program(tmp_path, place):
    """It needs no guard, and may come from standard input."""
    (tmp_path / "script.py").write_text(PROGRAM)
    done = subprocess.run(  # noqa: S603 - ours
        [sys.executable, place],
        input=PROGRAM,
        cwd=tmp_path,
        capture_output=True,
        text=True,
        check=False,
    )
    assert (done.stdout, done.stderr) == ("[1, 3]\n", "")


GUARDED = """
from types import SimpleNamespace
from closecall.tables.batch.engines import ProcessPool, run

def double(unit):
    return 2 * unit.size

if __name__ == "__main__":
    with ProcessPool(2) as engine:
        units = [SimpleNamespace(key="a", size=3)]
        print([outcome.value for outcome in run(units, double, engine)])
"""


def test_workers_import_the_program_for_its_functions(tmp_path):
    (tmp_path / "script.py").write_text(GUARDED)
    command = [sys.executable, tmp_path / "script.py"]
    done = subprocess.run(command, capture_output=True, text=True, check=False)  # noqa: S603 - ours
    assert (done.stdout, done.stderr) == ("[6]\n", "")


@needs_proc
def test_ctrl_c_while_the_server_starts_is_for_the_program_alone(tmp_path):
    with start_script(tmp_path, SCRIPT)[0] as parent:
        tasks = Path(f"/proc/{parent.pid}/task")
        commands = lambda: [  # noqa: E731
            Path(f"/proc/{child}/cmdline").read_text()
            for children in tasks.glob("*/children")
            for child in children.read_text().split()
        ]
        wait_until(lambda: any("forkserver" in command for command in commands()))
        os.killpg(parent.pid, signal.SIGINT)
        complaints = parent.stderr.read()
        parent.wait(60)
    assert complaints.count("Traceback") == 1
    assert complaints.strip().endswith("KeyboardInterrupt")


SENDING = """
from contextlib import closing
from tests.tables.batch.groups import run_with
from tests.tables.batch.test_process_pool import much, numbers
if __name__ == "__main__":
    for _ in range(4):
        with closing(run_with(numbers(6), much, workers=2)) as outcomes:
            next(outcomes)
"""


def much(unit):
    return bytes(5_000_000)


def test_stopping_while_a_result_is_sent_does_not_wait_for_ever(tmp_path):
    with start_script(tmp_path, LIGHT + SENDING)[0] as script:
        try:
            assert script.wait(120) == 0
        finally:
            script.kill()


class Half:
    """A result that is written in part before something happens to the worker."""

    def __init__(self, happens):
        self.happens = happens

    def __reduce__(self):
        os.kill(os.getpid(), self.happens)
        return bytes, (3,)


def die_in_the_middle_of_a_result(unit):
    if unit.value == 3:
        return bytes(200_000), Half(signal.SIGKILL)
    return bytes(200_000)


def halt_in_the_middle_of_a_result(unit):
    """Stand still, as in a debugger or without memory, until somebody ends the process."""
    if unit.value == 1:
        (Path(unit.mark) / str(os.getpid())).touch()
        return bytes(200_000), Half(signal.SIGSTOP)
    return bytes(200_000)


def test_a_worker_that_dies_while_it_writes_costs_its_unit_only():
    found = by_key(run_with(numbers(6), die_in_the_middle_of_a_result, workers=2))
    assert found.pop("number 3") == Outcome("number 3", None, DIED)
    assert {len(outcome.value) for outcome in found.values()} == {200_000}
    assert len(found) == 5


@needs_proc
def test_a_worker_that_stands_still_while_it_writes_and_is_killed_costs_its_unit_only(
    tmp_path,
):
    units = [MarkedNumber(value, str(tmp_path)) for value in range(6)]

    def kill_all():
        for count in (1, 2):  # it is tried once more, alone
            wait_until(lambda count=count: len(list(tmp_path.iterdir())) == count)
            (worker,) = set(tmp_path.iterdir()) - killed
            wait_until(lambda worker=worker: stands_still(worker.name))
            os.kill(int(worker.name), signal.SIGKILL)
            killed.add(worker)

    killed = set()
    killer = threading.Thread(target=kill_all)
    with closing(run_with(units, halt_in_the_middle_of_a_result, workers=2)) as outcomes:
        killer.start()
        found = by_key(outcomes)
    killer.join()
    assert found.pop("number 1") == Outcome("number 1", None, DIED)
    assert {len(outcome.value) for outcome in found.values()} == {200_000}
    assert len(found) == 5


def stands_still(number):
    return Path(f"/proc/{number}/stat").read_text().rpartition(")")[2].split()[0] == "T"


HALTING = LIGHT + SCRIPT.replace("finish_one", "halt_in_the_middle_of_a_result")


@needs_proc
def test_ctrl_c_while_a_worker_stands_still_in_the_middle_of_a_result(tmp_path):
    with start_script(tmp_path, HALTING)[0] as parent:
        marks = tmp_path / "marks"
        wait_until(lambda: len(list(marks.iterdir())) == 2)
        workers = [path.name for path in marks.iterdir()]
        wait_until(lambda: all(map(stands_still, workers)))
        parent.send_signal(signal.SIGINT)
        parent.wait(30)
        assert not any(map(is_alive, workers))
        complaints = parent.stderr.read()
    assert complaints.count("Traceback") == 1
    assert complaints.strip().endswith("KeyboardInterrupt")


@pytest.mark.skipif("forkserver" not in get_all_start_methods(), reason="has no server")
@pytest.mark.parametrize("error", [EOFError("unexpected EOF"), BrokenPipeError])
@pytest.mark.parametrize("later", [False, True], ids=["the first worker", "another worker"])
def test_a_server_that_ends_while_it_starts_workers_is_worded(monkeypatch, error, later):
    from multiprocessing import forkserver

    calls = []
    original = forkserver.read_signed

    def broken(*given):
        calls.append(given)
        if later and len(calls) == 1:
            return original(*given)
        raise error

    monkeypatch.setattr(forkserver, "read_signed", broken)
    with pytest.raises(EngineError, match="worker processes to start, got") as caught:
        list(run_with(numbers(20), slow, workers=2))
    assert "Try again with fewer `workers`" in str(caught.value)


def test_a_daemon_is_told_so():
    with get_context("spawn").Pool(1) as pool:
        message = pool.apply(in_a_daemon)
    assert message.startswith("Expected worker processes to start, got `AssertionError: daemonic")


def in_a_daemon():
    try:
        list(run_with(numbers(2), double, workers=2))
    except EngineError as error:
        return str(error)
    return "no error"


FORKED = """
import multiprocessing, sys
from tests.tables.batch.groups import run_with
from tests.tables.batch.test_process_pool import double, numbers

def twice():
    assert sorted(outcome.value for outcome in run_with(numbers(3), double, workers=2)) == [0, 2, 4]

if __name__ == "__main__":
    twice()
    child = multiprocessing.get_context("fork").Process(target=twice)
    child.start()
    child.join()
    sys.exit(child.exitcode)
"""


@pytest.mark.skipif("fork" not in get_all_start_methods(), reason="nothing is forked here")
def test_in_a_process_that_was_forked_from_one_with_workers(tmp_path):
    with start_script(tmp_path, LIGHT + FORKED)[0] as script:
        assert script.wait(60) == 0, script.stderr.read()


def loaded_kernels(_):
    from closecall.affiliation import _curve_kernels, _kernels, _shift_kernels

    kernels = (
        _curve_kernels.sweep,
        _curve_kernels.radix_sort,
        _kernels.score_zones,
        _shift_kernels.score_moves,
    )
    return [len(kernel.compiled.signatures) > 0 for kernel in kernels]


# In a program of its own: here, another test may have started a server for something else.
KERNELS = """
import sys
sys.path.remove("")  # as for a command; with -P, what it starts would have that as well
from types import SimpleNamespace as Unit
from closecall.tables.batch.engines import ProcessPool, run
sys.path.append({tests!r})
from tests.tables.batch.test_process_pool import loaded_kernels
with ProcessPool(1) as engine:
    print([outcome.value for outcome in run([Unit(key="3")], loaded_kernels, engine)])
"""


def test_workers_start_with_their_kernels_and_nothing_from_the_current_folder(tmp_path):
    """Code that lies beside the data is data."""
    for name in ("pandas", "pyarrow", "numba", "closecall", "multiprocessing"):
        (tmp_path / f"{name}.py").write_text(f"open({str(tmp_path / 'hacked')!r}, 'a').write('x')")
    program = KERNELS.format(tests=str(Path(__file__).parents[3]))
    command = [sys.executable, "-c", program]
    done = subprocess.run(  # noqa: S603 - ours
        command, cwd=tmp_path, capture_output=True, text=True, check=False
    )
    assert done.stdout == f"{[[True] * 4]}\n", done.stderr
    assert not (tmp_path / "hacked").exists()
