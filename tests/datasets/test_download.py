"""Downloads from a server on this machine: hashes, the cache, and what can go wrong."""

import dataclasses
import re
import socket
import sys

import pytest

from closecall.datasets.download import KDD2022, NAB, DownloadError, download
from tests.conftest import run_program


@pytest.fixture
def source(repository):
    (repository.folder / "deep" / "er").mkdir(parents=True)
    for number in range(12):
        (repository.folder / "deep" / "er" / f"{number}.csv").write_text(f"content {number}")
    (repository.folder / "top.json").write_text("{}")
    return repository.source("things")


def test_files_arrive_with_their_content(repository, source):
    folder = download(source, source.hashes())
    assert folder == repository.cache / "things"
    assert len(repository.cached()) == 13
    assert (folder / "deep" / "er" / "7.csv").read_text() == "content 7"


def test_only_what_is_asked_for(repository, source):
    download(source, ["top.json"])
    assert repository.cached() == ["things/top.json"]


def test_a_second_call_asks_nobody(repository, source):
    download(source, source.hashes())
    asked = len(repository.asked)
    assert asked == 13
    download(source, source.hashes())
    assert len(repository.asked) == asked


def test_a_damaged_file_in_the_cache_is_fetched_again(repository, source):
    folder = download(source, source.hashes())
    (folder / "top.json").write_text("{")
    download(source, source.hashes())
    assert (folder / "top.json").read_text() == "{}"
    assert repository.asked.count("/top.json") == 2


def test_a_wrong_hash_keeps_nothing(repository, source):
    (repository.folder / "top.json").write_text('{"tampered": true}')
    with pytest.raises(DownloadError) as caught:
        download(source, ["top.json"])
    message = str(caught.value)
    assert message.startswith(
        f"Expected {repository.url}top.json to have the SHA-256 hash "
        f"{source.hashes()['top.json']}, got other content; nothing was kept of it."
    )
    assert "\n\nHint: Name a folder that has the data" in message
    assert repository.cached() == []
    # No traceback of the network's own errors before it.
    assert caught.value.__suppress_context__


def test_a_file_that_is_gone(repository, source):
    (repository.folder / "top.json").unlink()
    with pytest.raises(DownloadError, match=re.escape("top.json (status 404).")):
        download(source, ["top.json"])
    assert repository.cached() == []


def test_what_arrived_before_a_failure_is_kept(repository, source):
    download(source, ["deep/er/0.csv"])
    (repository.folder / "top.json").unlink()
    with pytest.raises(DownloadError):
        download(source, ["deep/er/0.csv", "top.json"])
    assert repository.cached() == ["things/deep/er/0.csv"]


def test_an_unreachable_host(repository, source):
    with socket.socket() as taken:  # bound, but nobody listens
        taken.bind(("127.0.0.1", 0))
        nowhere = f"http://127.0.0.1:{taken.getsockname()[1]}/"
        lost = dataclasses.replace(source, base_url=nowhere)
        with pytest.raises(DownloadError) as caught:
            download(lost, lost.hashes())
    assert re.match(rf"Could not download {nowhere}\S+ \(ConnectionError\)\.", str(caught.value))
    assert "CLOSECALL_DATA" in str(caught.value)
    assert repository.cached() == []


def test_the_public_sources_are_pinned():
    for source, files in ((KDD2022, 24), (NAB, 296)):
        assert re.fullmatch(
            r"https://raw\.githubusercontent\.com/[\w-]+/[\w-]+/[0-9a-f]{40}/", source.base_url
        )
        hashes = source.hashes()
        assert len(hashes) == files
        assert all(re.fullmatch("[0-9a-f]{64}", known) for known in hashes.values())


def test_the_pinned_hashes_are_those_of_the_data(data_folder):
    from hashlib import sha256

    local = {path.name: path for path in data_folder.glob("*/*") if path.suffix != ".parquet"}
    checked = 0
    for path, known in {**KDD2022.hashes(), **NAB.hashes()}.items():
        name = path.rpartition("/")[2]
        if name in local:
            assert sha256(local[name].read_bytes()).hexdigest() == known, path
            checked += 1
    assert checked == 28  # 24 label files, three measured series, and the windows


@pytest.mark.parametrize("package", ["pooch", "tqdm"])
def test_a_missing_package_is_one_clear_message(package):
    code = f"""
import sys
sys.modules[{package!r}] = None
from closecall.datasets import load_kdd2022
from closecall.errors import MissingExtraError
try:
    load_kdd2022()
except MissingExtraError as error:
    print(error)
"""
    run = run_program([sys.executable, "-c", code], check=True, env={"PATH": ""})
    assert run.stdout == (
        f"This needs {package}, which is not installed.\n\n"
        "Hint: Run `pip install 'closecall[data]'`.\n"
    )
