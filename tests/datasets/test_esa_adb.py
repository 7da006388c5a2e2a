"""ESA-ADB: labels by channel, categories by ID."""

import re

import numpy as np
import pytest

import closecall as cc
from closecall.datasets import EsaLabels, read_esa_adb
from closecall.errors import InputError, InputTypeError
from tests.datasets.conftest import refusal

TYPES = """\
ID,Class,Subclass,Category,Dimensionality,Locality,Length
id_1,class_6,subclass_1,Rare Event,Multivariate,Global,Subsequence
id_2,class_7,subclass_1,Anomaly,Multivariate,Local,Subsequence
id_3,class_1,subclass_1,Communication Gap,,,
id_4,class_7,subclass_1,Anomaly,Univariate,Local,Point
"""
HEADER = "ID,Channel,StartTime,EndTime\n"
LABELS = HEADER + (
    "id_2,channel_7,2004-12-02T10:00:00.000Z,2004-12-02T12:00:00.000Z\n"
    "id_1,channel_7,2004-12-01T20:42:15.429Z,2004-12-01T21:00:00.000Z\n"
    "id_1,channel_8,2004-12-01T20:50:00.000Z,2004-12-01T22:00:00.000Z\n"
    "id_2,channel_7,2004-12-02T12:00:00.000Z,2004-12-02T13:00:00.000Z\n"
    "id_3,channel_9,2004-12-03T00:00:00.000Z,2004-12-04T00:00:00.000Z\n"
    "id_4,channel_8,2004-12-05T06:00:00.000Z,2004-12-05T06:00:00.000Z\n"
)


def at(text):
    return np.datetime64(text, "ns")


def events(*pairs):
    return cc.Events.from_arrays([at(start) for start, _ in pairs], [at(stop) for _, stop in pairs])


@pytest.fixture
def mission(tmp_path):
    (tmp_path / "labels.csv").write_text(LABELS)
    (tmp_path / "anomaly_types.csv").write_text(TYPES)
    return tmp_path


EVENING = ("2004-12-01T20:42:15.429", "2004-12-01T21:00:00")
NOON = ("2004-12-02T10:00:00", "2004-12-02T13:00:00")
POINT = ("2004-12-05T06:00:00", "2004-12-05T06:00:00")


def test_events_by_channel_and_of_the_mission(mission):
    labels = read_esa_adb(mission)
    assert labels == EsaLabels(
        {
            "channel_7": events(EVENING, NOON),
            "channel_8": events(("2004-12-01T20:50:00", "2004-12-01T22:00:00"), POINT),
        },
        events((EVENING[0], "2004-12-01T22:00:00"), NOON, POINT),
    )
    assert repr(labels) == "EsaLabels(channels: 2, events: 3)"
    assert labels.mission.tz is None
    assert labels.mission.starts.dtype == np.dtype("M8[ns]")


def test_categories_choose(mission):
    assert read_esa_adb(mission, categories=("Anomaly",)).mission == events(NOON, POINT)
    gap = ("2004-12-03T00:00:00", "2004-12-04T00:00:00")
    assert read_esa_adb(mission, categories=["Communication Gap"]).channels == {
        "channel_9": events(gap)
    }


def test_nothing_of_a_known_category_is_no_event(mission):
    (mission / "labels.csv").write_text(HEADER)
    labels = read_esa_adb(mission)
    assert labels.channels == {}
    assert len(labels.mission) == 0


def test_zones_and_no_zone_are_both_utc(mission):
    (mission / "labels.csv").write_text(
        LABELS.replace("Z", "").replace("T", " ").replace("Start ime,End ime", "StartTime,EndTime")
    )
    assert len(read_esa_adb(mission).mission) == 3
    shifted = "id_1,channel_7,2004-12-01T20:00:00+02:00,2004-12-01T22:00:00Z\n"
    (mission / "labels.csv").write_text(HEADER + shifted)
    assert read_esa_adb(mission).mission == events(("2004-12-01T18:00:00", "2004-12-01T22:00:00"))


def test_a_mission_may_have_invalid_segments(mission):
    """Mission 3 has them; they are not events unless they are asked for."""
    path = mission / "anomaly_types.csv"
    path.write_text(TYPES.replace("Communication Gap", "Invalid Segment"))
    assert len(read_esa_adb(mission).mission) == 3
    chosen = read_esa_adb(mission, categories=["Invalid Segment"])
    assert list(chosen.channels) == ["channel_9"]


def test_categories_may_be_others_than_the_published_ones(mission):
    path = mission / "anomaly_types.csv"
    path.write_text(TYPES.replace("subclass_1,Anomaly,Multi", "subclass_1,anomaly,Multi"))
    chosen = ("Anomaly", "Rare Event", "anomaly")
    assert len(read_esa_adb(mission, categories=chosen).mission) == 3


FAR = "9999-12-31T00:00:00.000Z"
KINDS = "to be ISO 8601 times from 1678 to 2261, all with a time zone or all without"


@pytest.mark.parametrize(
    ("old", "new", "message"),
    [
        (
            "2004-12-01T20:42:15.429Z",
            "2004-12-01T20:42:15.429",
            f"`StartTime` of {{}} {KINDS}, got '2004-12-01T20:42:15.429' in row 2.",
        ),
        ("2004-12-04T00:00:00.000Z", "later", f"`EndTime` of {{}} {KINDS}, got 'later' in row 5."),
        ("2004-12-04T00:00:00.000Z", FAR, f"`EndTime` of {{}} {KINDS}, got {FAR!r} in row 5."),
        (
            "2004-12-04T",
            "2004-11-04T",
            (
                "`EndTime` not to lie before `StartTime` in {}, got 2004-11-04T00:00:00.000000000 "
                "and 2004-12-03T00:00:00.000000000 in row 5."
            ),
        ),
        ("EndTime", "End", "{} to have a column `EndTime`, got ID, Channel, StartTime, End."),
    ],
)
def test_labels_that_are_refused(mission, old, new, message):
    path = mission / "labels.csv"
    path.write_text(LABELS.replace(old, new))
    assert refusal(read_esa_adb, mission) == f"Expected {message.format(path)}"


def test_far_times_without_a_zone(mission):
    text = LABELS.replace("2004-12-04T00:00:00.000Z", FAR)
    (mission / "labels.csv").write_text(text.replace("Z\n", "\n").replace("Z,", ","))
    assert KINDS in refusal(read_esa_adb, mission)


@pytest.mark.parametrize(
    ("old", "new", "message"),
    [
        ("id_2", "id_20", "a category in anomaly_types.csv for each ID of {}, got none for 'id_2'"),
        ("Communication Gap", "", "for each ID of {}, got none for 'id_3' in row 5."),
        ("id_2", "id_1", "got 'Rare Event' and 'Anomaly' for 'id_1'."),
        (
            "subclass_1,Anomaly,Multi",
            "subclass_1,anomaly,Multi",
            (
                "Expected categories in anomaly_types.csv to be among Anomaly, Communication Gap, "
                "Invalid Segment, Rare Event, got 'anomaly' for 'id_2'.\n\n"
                "Hint: `categories` may name others, and then they count as events."
            ),
        ),
    ],
)
def test_types_that_are_refused(mission, old, new, message):
    (mission / "anomaly_types.csv").write_text(TYPES.replace(old, new))
    assert message.format(mission / "labels.csv") in refusal(read_esa_adb, mission)


@pytest.mark.parametrize(
    ("categories", "kind", "message"),
    [
        (
            ("anomaly",),
            InputError,
            (
                "`categories` to be among Anomaly, Communication Gap, Invalid Segment, Rare Event, "
                "got 'anomaly'."
            ),
        ),
        ("Anomaly", InputTypeError, "a tuple of names, got one name.\n\nHint: Pass ('Anomaly',)."),
        (None, InputTypeError, "`categories` to be a tuple of names, got None."),
        # What can be read only once would be empty when the labels are chosen.
        ((name for name in ("Anomaly",)), InputTypeError, "of names, got <generator "),
    ],
)
def test_categories_that_are_refused(mission, categories, kind, message):
    with pytest.raises(kind, match=re.escape(message)):
        read_esa_adb(mission, categories=categories)


def test_files_that_are_not_there(mission):
    (mission / "anomaly_types.csv").unlink()
    message = f"Expected a file anomaly_types.csv, got none in {mission}."
    assert refusal(read_esa_adb, mission) == message
    assert refusal(read_esa_adb, mission / "ESA-Mission1") == (
        f"Expected `folder` to be a folder, got {mission / 'ESA-Mission1'}.\n\n"
        "Hint: It has a mission's labels.csv and anomaly_types.csv."
    )
