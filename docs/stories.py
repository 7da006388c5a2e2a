"""Write the raw files of the three stories: python docs/stories.py incidents|paper|folder.

They are as people have them: local times, an incident without an end, gaps, repeated stamps,
missing scores, a file without an event.
"""

import sys
from datetime import UTC
from pathlib import Path
from zoneinfo import ZoneInfo

import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq

from closecall.datasets import demo

BERLIN = ZoneInfo("Europe/Berlin")
SEVERITIES = ["high", "low", "high", "high", "low", "low", "high"]


def incidents() -> None:
    """Write scores.parquet in UTC, and incidents.csv in local time as a ticket system has them."""
    data = demo()
    scores = data.scores["forecast"].copy()
    scores[100:103] = np.nan  # the detector was restarted
    kept = np.ones(scores.size, dtype=bool)
    kept[700:760] = False  # nobody collected anything for five hours
    places = np.sort(np.append(np.flatnonzero(kept), [1500, 1501]))  # two samples came twice
    columns = {
        "time": pa.array(data.times[places], pa.timestamp("s", tz="UTC")),
        "latency": data.values[places],
        "score": scores[places],
    }
    pq.write_table(pa.table(columns), "scores.parquet")
    edges = np.diff(data.truth.astype(int), prepend=0)
    starts, stops = (_local(data.times[edges == edge]) for edge in (1, -1))
    rows = [
        f"INC-{number},{severity},{start:%Y-%m-%d %H:%M},{stop:%Y-%m-%d %H:%M}"
        for number, (severity, start, stop) in enumerate(
            zip(SEVERITIES, starts, stops, strict=True), start=101
        )
    ]
    rows.append(rows[2].replace("INC-103", "INC-108"))  # the same one, reported twice
    rows.append("INC-109,low,2024-03-17 20:00,")  # nobody closed it
    rows.append("INC-100,high,2024-02-20 10:00,2024-02-20 11:00")  # before the scores begin
    Path("incidents.csv").write_text("\n".join(["ticket,severity,start,end", *rows[::-1], ""]))


def _local(times: np.ndarray) -> list:
    return [time.replace(tzinfo=UTC).astimezone(BERLIN) for time in times.tolist()]


def paper() -> None:
    """Write labels.csv, one 0/1 per line, and scores.csv with a column for each detector."""
    data, random = demo(), np.random.default_rng(0)
    noise = np.round(data.scores["forecast"] + random.normal(0, 12, data.truth.size), 2)
    columns = (*data.scores.values(), noise)
    lines = [",".join(map(str, row)) for row in zip(*columns, strict=True)]
    Path("scores.csv").write_text("\n".join(["threshold,forecast,noisy", *lines, ""]))
    Path("labels.csv").write_text("\n".join(["truth", *map(str, data.truth), ""]))


def folder() -> None:
    """Write runs/SITE/MACHINE.csv: a dozen series with two detectors."""
    random = np.random.default_rng(1)
    quiet, clock_set_back = 5, 7
    for number in range(12):
        place = Path("runs") / ("north", "south")[number // 6] / f"machine{number}.csv"
        place.parent.mkdir(parents=True, exist_ok=True)
        label = np.zeros(600, dtype=int)
        for start in random.integers(20, 560, 3) if number != quiet else ():
            label[start : start + 12] = 1
        good = np.round(np.roll(label, 3) + random.normal(0, 0.3, 600), 3)
        weak = np.round(label * 0.5 + random.normal(0, 0.4, 600), 3)
        times = np.arange(600)
        times[300] -= number == clock_set_back
        rows = zip(times, label, good, weak, strict=True)
        lines = [",".join(map(str, row)) for row in rows]
        place.write_text("\n".join(["t,label,good,weak", *lines, ""]))


if __name__ == "__main__":
    {"incidents": incidents, "paper": paper, "folder": folder}[sys.argv[1]]()
