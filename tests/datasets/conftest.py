"""A small stand-in for the public repositories, and a server for it on this machine."""

import functools
import gzip
import hashlib
import http.server
import threading

import pytest

from closecall.datasets.download import Repository
from closecall.errors import InputError

DETECTORS = ("trivial", "adversary", "greenhouse", "lstmad", "luminol")
ALGORITHMS = {
    "machinetemp": DETECTORS,
    "nyctaxi": DETECTORS,
    "twitteraapl": DETECTORS,
    "swat": ("trivial", "adversary", "iforest", "ocsvm", "seq2seq"),
}
MEASURED = (
    "data/realKnownCause/machine_temperature_system_failure.csv",
    "data/realKnownCause/nyc_taxi.csv",
    "data/realTweets/Twitter_volume_AAPL.csv",
)
TRUTH = [0, 0, 1, 1, 0, 0, 1, 0]


def refusal(function, *arguments, **options):
    """The message with which a call is refused."""
    with pytest.raises(InputError) as caught:
        function(*arguments, **options)
    return str(caught.value)


def write_labels(path, labels):
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_bytes(gzip.compress("".join(f"{label}\n" for label in labels).encode(), mtime=0))


def write_kdd2022(folder):
    """Write eight samples per dataset; algorithm number k predicts sample k."""
    for dataset, algorithms in ALGORITHMS.items():
        write_labels(folder / f"{dataset}_groundtruth.gz", TRUTH)
        for number, algorithm in enumerate(algorithms):
            write_labels(folder / f"{dataset}_{algorithm}.gz", [int(i == number) for i in range(8)])


def write_measured(folder, rows=10):
    lines = [f"2020-01-01 00:{minute:02}:00,{minute / 2}\n" for minute in range(rows)]
    for path in MEASURED:
        (folder / path).parent.mkdir(parents=True, exist_ok=True)
        (folder / path).write_text("timestamp,value\n" + "".join(lines))


@pytest.fixture
def kdd2022(tmp_path, monkeypatch):
    """Give a data folder with the labels, and nothing named by the environment."""
    monkeypatch.delenv("CLOSECALL_DATA", raising=False)
    folder = tmp_path / "data"
    write_kdd2022(folder / "kdd2022")
    return folder


class Handler(http.server.SimpleHTTPRequestHandler):
    """Serve a folder, say nothing, and remember what was asked for."""

    def do_GET(self):
        self.server.asked.append(self.path)
        super().do_GET()

    def log_message(self, *_):
        """Keep quiet."""


@pytest.fixture
def repository(tmp_path, monkeypatch):
    """Serve a folder, with an empty cache; `repository.source()` has the hashes of its files."""
    monkeypatch.delenv("CLOSECALL_DATA", raising=False)
    monkeypatch.setenv("CLOSECALL_CACHE", str(tmp_path / "cache"))
    monkeypatch.setenv("NO_PROXY", "127.0.0.1")
    folder = tmp_path / "served"
    folder.mkdir()
    server = http.server.ThreadingHTTPServer(
        ("127.0.0.1", 0), functools.partial(Handler, directory=str(folder))
    )
    server.asked = []
    thread = threading.Thread(target=server.serve_forever, args=(0.01,), daemon=True)
    thread.start()
    yield ServedFolder(folder, server, tmp_path)
    server.shutdown()
    server.server_close()
    thread.join()


class ServedFolder:
    """A served folder."""

    def __init__(self, folder, server, tmp_path):
        self.folder, self.asked, self.cache = folder, server.asked, tmp_path / "cache"
        self.url = f"http://127.0.0.1:{server.server_port}/"

    def source(self, name, part=""):
        root = self.folder / part
        files = sorted(path for path in root.rglob("*") if path.is_file())
        registry = self.folder.parent / f"{name}.txt"
        registry.write_text(
            "".join(
                f"{path.relative_to(root).as_posix()} "
                f"{hashlib.sha256(path.read_bytes()).hexdigest()}\n"
                for path in files
            )
        )
        return Repository(name, f"{self.url}{part}/" if part else self.url, registry)

    def cached(self):
        """List the files in the cache."""
        return sorted(
            path.relative_to(self.cache).as_posix()
            for path in self.cache.rglob("*")
            if path.is_file()
        )
