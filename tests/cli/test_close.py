"""How near a close call has to be, in every command that tells one."""

import json

import numpy as np
import pytest

import closecall as cc

COLUMNS = ("--truth", "label", "--time", "time")


@pytest.fixture
def near(tmp_path, monkeypatch):
    """Write a day of minutes with one event, and an alarm 20 minutes before it."""
    monkeypatch.chdir(tmp_path)
    times = np.datetime64("2024-01-01T00:00") + np.arange(1440)
    label, alarm = ((np.arange(1440) // 10 == place).astype(int) for place in (60, 57))
    rows = [f"{t},{a},{b},{b}" for t, a, b in zip(times, label, alarm, strict=True)]
    (tmp_path / "near.csv").write_text("\n".join(["time,label,alarm,other", *rows]) + "\n")
    return label, alarm, times


@pytest.mark.parametrize(("close", "outcome"), [("20min", "close call"), ("19min", "missed")])
def test_an_alarm_farther_than_what_is_close_is_no_close_call(run, near, close, outcome):
    def found(*arguments):
        result = run(*arguments, *COLUMNS, "--close", close, "--format", "json")
        assert result.exit_code == 0, result.stderr
        return json.loads(result.stdout)

    score = found("score", "near.csv", "--predicted", "alarm")
    assert [row["outcome"] for row in score["events"]] == [outcome]
    counts = (score["caught"], score["close_calls"], score["missed"])
    assert counts == (0, int(outcome == "close call"), 1)
    assert f"|close:{close}" in score["signature"]
    curve = found("curve", "near.csv", "--score", "alarm", "--threshold", "1")
    assert [row["outcome"] for row in curve["chosen"]["events"]] == [outcome]
    both = ("--predicted", "alarm", "--predicted", "other")
    compare = found("compare", "near.csv", *both)
    assert {row["close_calls"] for row in compare["detectors"]} == {counts[1]}
    batch = found("batch", "near.csv", "--predicted", "alarm", "--metric", "affiliation")
    assert (batch["rows"][0]["close_calls"], batch["rows"][0]["missed"]) == counts[1:]


@pytest.mark.parametrize("close", [-1, "soon", np.timedelta64(1, "m")])
def test_bad_lengths_are_refused(close):
    with pytest.raises((ValueError, TypeError), match="`close`"):
        cc.affiliation([0, 1], [1, 0], close=close)
