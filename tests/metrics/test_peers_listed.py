"""The table of peers in docs/metrics.md leaves out no metric, and no package that is installed."""

import re
from pathlib import Path

from closecall.metrics.registry import METRICS

REPOSITORY = Path(__file__).resolve().parents[2]


def table():
    """The cells of the rows under the comment."""
    page = (REPOSITORY / "docs" / "metrics.md").read_text("utf-8")
    rows = page.partition("<!-- peers:")[2].partition("\n\n")[2].partition("\n\n")[0]
    return [[cell.strip() for cell in row.strip("|").split("|")] for row in rows.splitlines()[2:]]


def test_every_metric_has_a_row():
    assert [name.strip("`") for name, *_ in table()] == list(METRICS)


def test_every_metric_has_a_peer_or_a_reason():
    assert [name for name, compared, left in table() if not compared and not left] == []


def test_every_package_is_compared_with_something():
    listed = (REPOSITORY / "benchmarks" / "peers.txt").read_text("utf-8")
    packages = set(re.findall(r"^([\w-]+)==", listed, flags=re.MULTILINE))
    named = {word for _, compared, _ in table() for word in re.findall(r"[\w-]+", compared)}
    assert packages - named == set()
    assert len(packages) == 10
