"""What each command prints on a terminal of 80 columns, kept in `screens/`.

After a change that is meant, delete the file and run the test twice: it writes what is missing.
"""

import shlex
from pathlib import Path

import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq
import pytest

from closecall import __version__
from closecall.affiliation import curve
from closecall.datasets import demo
from closecall.tables import write_table

MOST_ROLLED = curve._MOST_ROLLED  # before `run` has fewer
SCREENS = Path(__file__).parent / "screens"
DEMO = "demo.csv --truth label --time time"
TWO = "--predicted threshold --predicted forecast"
SERIES = "series.parquet --by series --truth label --time t --score good"
LONG = "isolation_forest_window_{}_seed_1_final_v2"
COMMANDS = {
    "audit": f"audit demo.csv --truth label {TWO} --budget 20 --metric affiliation "
    "--metric range_based --metric hausdorff",
    "batch": f"batch {SERIES} --score {LONG.format(100)} --score {LONG.format(200)} --intervals",
    "check": f"check {DEMO} {TWO} --max missed=1 --max false_alarms_per_day=2 --min f1=0.5",
    "compare": f"compare {DEMO} {TWO} --intervals",
    "curve": f"curve {DEMO} --score forecast_score --max-alarms-per 1/2d --significance 50",
    "demo": "demo",
    "help": "--help",
    "metrics": "metrics",
    "score": f"score {DEMO} --predicted forecast --significance 200",
}
SIGNED = COMMANDS.keys() - {"help", "metrics"}


@pytest.fixture
def files(tmp_path):
    """Eight series: six sound, one without an event, one out of order."""
    write_table(demo().columns(), tmp_path / "demo.csv")
    count, length = 8, 200
    label = np.zeros((count, length), dtype=np.int8)
    label[:, 50:60] = label[:, 120:125] = 1
    label[2] = 0
    times = np.tile(np.arange(length), (count, 1))
    times[3, 10], times[3, 11] = 11, 10
    noise = np.random.default_rng(0).random((3, count, length))
    columns = {
        "series": np.repeat(np.arange(count), length),
        "t": times.ravel(),
        "label": label.ravel(),
        "good": (label + noise[0] / 2).ravel(),
        LONG.format(100): noise[1].ravel(),
        LONG.format(200): (label + noise[2]).ravel(),
    }
    pq.write_table(pa.table(columns), tmp_path / "series.parquet")


@pytest.mark.parametrize("name", COMMANDS)
def test_screen(run, files, monkeypatch, name):
    monkeypatch.setenv("COLUMNS", "80")
    monkeypatch.setattr(curve, "_MOST_ROLLED", MOST_ROLLED)
    result = run(*shlex.split(COMMANDS[name]))
    assert result.exit_code == 0, result.stderr
    lines = [line.rstrip() for line in result.stdout.splitlines()]
    assert len([line for line in lines if line.startswith("signature: ")]) == (name in SIGNED)
    wide = [line for line in lines if len(line) > 80 and not line.startswith("signature: ")]
    assert not wide or name in ("demo", "help")  # commands and signatures are not broken
    assert "\u2026" not in result.stdout  # where rich cuts
    printed = "\n".join(lines).replace(f"|v:{__version__}", "|v:VERSION") + "\n"
    screen = SCREENS / f"{name}.txt"
    if not screen.exists():
        screen.write_text(printed, encoding="utf-8")
        pytest.fail(f"{screen.name} was written; look at it")
    assert printed == screen.read_text(encoding="utf-8")
