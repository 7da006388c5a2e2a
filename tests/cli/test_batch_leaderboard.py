"""The leaderboard of `closecall batch`: every number, on terminals of any width."""

import re
from itertools import pairwise

import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq
import pytest

LONG = "a_detector_with_quite_a_long_name"
COLUMNS = ("--by", "series", "--truth", "label")


@pytest.fixture
def batch(run, tmp_path, monkeypatch):
    """Print two series with a detector that knows the events and one that guesses."""
    label = np.zeros((2, 200), dtype=np.int8)
    label[:, 50:60] = label[:, 120:125] = 1
    noise = np.random.default_rng(0).random(400)
    series = {"series": np.repeat([1, 2], 200), "label": label.ravel()}

    def printed(width, *options, names=("good", "noise")):
        scores = dict.fromkeys(names, noise) | {names[0]: label.ravel() + noise / 2}
        pq.write_table(pa.table(series | scores), tmp_path / "series.parquet")
        monkeypatch.setenv("COLUMNS", str(width))
        chosen = [part for name in names for part in ("--score", name)]
        result = run("batch", "series.parquet", *COLUMNS, *chosen, *options)
        assert result.exit_code == 0, result.stderr
        return [line.rstrip() for line in result.stdout.splitlines()]

    return printed


def metrics(*names):
    return [part for name in names for part in ("--metric", name)]


NARROW = """\
#  detector    F1  chance  prec.  chance  recall  chance  best  series
1  good      1.00    0.46   1.00    0.50    1.00    0.42     2     2/2
2  noise     0.77    0.54   0.69    0.50    0.92    0.62     0     2/2

detector  avg. prec.  chance
good            1.00    0.56
noise           0.58    0.56
"""


def test_what_does_not_fit_comes_below(batch):
    assert f"\n\n{NARROW}\n" in "\n".join(batch(80))


@pytest.mark.parametrize("name", ["good", LONG])
@pytest.mark.parametrize("width", [40, 60, 80, 100, 200])
def test_every_width_has_every_number(batch, width, name):
    asked = ("affiliation", "classical", "event_wise", "affiliation_average_precision")
    printed = batch(width, *metrics(*asked), names=(name, "noise"))
    assert max(map(len, printed)) <= width
    assert not any("…" in line for line in printed)
    places = [place for place, line in enumerate(printed) if re.match(r"(#  )?detector  ", line)]
    assert printed[places[0]].startswith("#  ")
    for place in places:  # in the same order everywhere
        assert name[:5] in printed[place + 1]
        assert "noise" in printed[place + 2]
    others = (f"{kind} {score}" for kind in asked[1:3] for score in ("precision", "recall", "f1"))
    headings = [re.split(" {2,}", printed[place]) for place in places]
    assert sorted(heading for line in headings for heading in line) == sorted(
        ("#", "F1", "prec.", "recall", "avg. prec.", *["chance"] * 4, "best", "series")
        + tuple(other.replace("_", " ") for other in others)
        + ("detector",) * len(places)
    )
    levels = {before for line in headings for before, after in pairwise(line) if after == "chance"}
    assert levels == {"F1", "prec.", "recall", "avg. prec."}


def test_names_are_as_long_as_there_is_room_for(batch):
    asked = metrics("affiliation")
    assert "1  a_detec...ong_name  1.00" in "\n".join(batch(80, *asked, names=(LONG, "noise")))
    assert f"1  {LONG}  1.00" in "\n".join(batch(100, *asked, names=(LONG, "noise")))


def test_headings_without_room_are_stacked(batch):
    printed = batch(40, *metrics("enhanced_time_aware"), names=(LONG, "noise"))
    place = next(place for place, line in enumerate(printed) if line.startswith("#"))
    assert printed[place].split() == ["#", "detector", "precision"]
    assert [line.strip() for line in printed[place - 3 : place]] == ["enhanced", "time", "aware"]


def test_a_terminal_too_narrow_for_anything_still_has_tables(batch):
    assert sum(line.startswith(("go", "g…")) for line in batch(12)) == 5  # numbers, best and series


def test_detectors_that_are_not_shown_are_counted(batch):
    names = tuple(f"copy_{number}" for number in range(61))
    printed = batch(120, names=names)
    assert sum("copy_" in line and "%" not in line for line in printed) == 60
    assert "... and 1 more detector; `--format json` has all." in printed
    printed = batch(120, names=names[:60])
    assert sum("copy_" in line and "%" not in line for line in printed) == 60
    assert not any("more detector" in line for line in printed)
