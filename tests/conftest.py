"""Settings that must hold before the package is imported, and what the tests share."""

import ctypes
import gc
import os
import signal
import subprocess
import sys
from contextlib import contextmanager
from functools import cache
from pathlib import Path

import pytest
from hypothesis import HealthCheck, settings

try:
    import fcntl
except ImportError:  # on Windows
    fcntl = None

REPOSITORY = Path(__file__).resolve().parent.parent

# A wrong index in a kernel then raises. Numba does not tell its cached kernels with and without
# the check apart, so the tests keep a cache of their own.
os.environ.setdefault("NUMBA_BOUNDSCHECK", "1")
os.environ.setdefault("NUMBA_CACHE_DIR", str(REPOSITORY / ".pytest_cache" / "numba"))

# Else every process that tests start would compile every source again.
os.environ.pop("PYTHONDONTWRITEBYTECODE", None)
sys.dont_write_bytecode = False

# Started with nohup, this process ignores Ctrl-C, and so would every process that tests interrupt.
if signal.getsignal(signal.SIGINT) is signal.SIG_IGN:
    signal.signal(signal.SIGINT, signal.default_int_handler)

settings.register_profile(
    "ci",
    derandomize=True,
    deadline=None,
    print_blob=True,
    suppress_health_check=[HealthCheck.too_slow],
)
settings.register_profile("explore", parent=settings.get_profile("ci"), derandomize=False)
settings.load_profile(os.environ.get("HYPOTHESIS_PROFILE", "ci"))


# One process compiles every kernel while others need none or wait, and no long file comes last.
FIRST = (
    "tests/test_compiled.py",
    "tests/tables/batch/test_process_pool.py",
    "tests/report/",
    "tests/tables/batch/",
    "tests/cli/",
    "tests/test_documents.py",
    "tests/statistics/",
    "tests/evidence/",
    "tests/properties/",
    "tests/plot/",
)


def pytest_collection_modifyitems(config, items):
    """Begin with what takes longest, where files are handed out to processes."""
    if hasattr(config, "workerinput"):
        items.sort(key=lambda item: [not item.nodeid.startswith(start) for start in FIRST])


@pytest.fixture(scope="session", autouse=True)
def compiling_once():
    """Let one process compile a kernel while others that need it wait, and then read its cache."""
    from closecall import compiled

    listen = compiled._listen

    @cache
    def listen_and_wait():
        from numba.core.compiler_lock import global_compiler_lock
        from numba.core.dispatcher import Dispatcher

        compile_kernel, folder = Dispatcher.compile, Path(os.environ["NUMBA_CACHE_DIR"])
        folder.mkdir(parents=True, exist_ok=True)

        def compile_alone(dispatcher, signature):
            name = f"{dispatcher.py_func.__module__}.{dispatcher.py_func.__qualname__}.lock"
            # First the lock of this process: another of its threads may hold it, and wait for ours.
            with global_compiler_lock, (folder / name).open("w") as lock:
                fcntl.flock(lock, fcntl.LOCK_EX)
                return compile_kernel(dispatcher, signature)

        listen()
        Dispatcher.compile = compile_alone

    if fcntl is not None:
        compiled._listen = listen_and_wait


@pytest.fixture(scope="session")
def data_folder():
    folder = Path(os.environ.get("CLOSECALL_DATA", REPOSITORY.parent / "shared" / "data"))
    if not folder.is_dir():
        pytest.skip(f"needs the data folder: CLOSECALL_DATA names it, and {folder} is not there")
    return folder


def run_program(command, **options):
    """Run a command of ours to its end, and return its status and what it wrote."""
    return subprocess.run(  # noqa: S603 - ours
        command, capture_output=True, text=True, check=options.pop("check", False), **options
    )


@contextmanager
def full_disk(limit):
    """Let no file grow beyond so many bytes, as on a disk that is full."""
    import resource  # not on Windows

    before = resource.getrlimit(resource.RLIMIT_FSIZE)
    resource.setrlimit(resource.RLIMIT_FSIZE, (limit, before[1]))
    try:
        yield
    finally:
        resource.setrlimit(resource.RLIMIT_FSIZE, before)


@pytest.fixture
def as_anybody():
    """Hold root to the permissions of files, too; others are anyway."""

    @contextmanager
    def held():
        if os.geteuid():
            yield
            return
        libc, header = ctypes.CDLL(None), (ctypes.c_uint32 * 2)(0x20080522, 0)
        before = (ctypes.c_uint32 * 6)()  # effective, permitted, inheritable; twice
        if not hasattr(libc, "capset") or libc.capget(header, before):
            pytest.skip("root may read everything here")
        without = (ctypes.c_uint32 * 6)(0, *before[1:])
        assert libc.capset(header, without) == 0
        try:
            yield
        finally:
            assert libc.capset(header, before) == 0

    return held


@pytest.hookimpl(wrapper=True)
def pytest_collection():
    """Score what modules score at import in plain Python, or every process compiles it at once."""
    from closecall import compiled

    disabled, compiled._disabled = compiled._disabled, True
    try:
        return (yield)
    finally:
        compiled._disabled = disabled
        gc.freeze()  # the garbage collector leaves alone what thousands of collected tests hold


def pytest_unconfigure():
    """Let it take them up again, or libraries report what is left at the end as leaks."""
    gc.unfreeze()
