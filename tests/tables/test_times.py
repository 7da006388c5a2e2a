"""What times of files mean: zones by file, hours that clocks show twice, numbers of an epoch."""

from datetime import UTC, datetime, timedelta
from zoneinfo import ZoneInfo

import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq
import pytest

import closecall as cc
from closecall.errors import InputError, InputTypeError
from closecall.report.files import report_inputs
from closecall.tables import Inputs, score_files

BERLIN = ZoneInfo("Europe/Berlin")
START = datetime(2024, 6, 1, tzinfo=UTC)
HOURS = [START + timedelta(hours=hour) for hour in range(60)]
CAUGHT = (5, 17, 31, 44)
EVENTS = [START + timedelta(hours=hour) for hour in (*CAUGHT, 53)]
ALARM = [int(hour in CAUGHT) for hour in range(60)]
BOTH = {"truth": "Europe/Berlin", "predicted": "UTC"}
METRICS = pa.table({"t": [time.replace(tzinfo=None) for time in HOURS], "alarm": ALARM})


def local(times, zone=BERLIN):
    """Return times as clocks of a zone show them, without an offset."""
    return [time.astimezone(zone).replace(tzinfo=None) for time in times]


def incidents(events=EVENTS, zone=BERLIN):
    stops = [event + timedelta(hours=1) for event in events]
    return pa.table({"start": local(events, zone), "end": local(stops, zone)})


def caught(truth, predicted, **options):
    result = score_files(truth, predicted, predicted="alarm", time="t", **options)
    return f"{result.caught} of {len(result.events)}"


# Zones by file.


def test_incidents_in_local_time_against_metrics_in_utc():
    assert caught(incidents(), METRICS, timezone=BOTH) == "4 of 5"
    assert caught(incidents(), METRICS) == "0 of 5"  # nothing says that they differ


def test_the_zone_of_a_file_is_that_of_its_times_whichever_side_lists_events():
    alarms = incidents(EVENTS[:4])
    labels = METRICS.rename_columns(["t", "truth"])
    result = score_files(
        labels, alarms, time="t", timezone=BOTH | {"truth": "UTC", "predicted": BERLIN}
    )
    assert (result.caught, result.alarms) == (4, 4)


def test_one_zone_is_enough_where_one_file_has_local_times(tmp_path):
    zoned = METRICS.set_column(0, "t", pa.array(HOURS))
    assert caught(incidents(), zoned, timezone="Europe/Berlin") == "4 of 5"
    assert caught(incidents(), zoned, timezone={"truth": BERLIN}) == "4 of 5"
    zoned_list = pa.table(
        {"start": EVENTS, "end": [event + timedelta(hours=1) for event in EVENTS]}
    )
    assert caught(zoned_list, METRICS, timezone="UTC") == "4 of 5"
    table = METRICS.append_column("truth", METRICS.column("alarm"))
    for timezone in ("Europe/Berlin", {"truth": BERLIN}, {"predicted": BERLIN}):
        result = score_files(table, predicted="alarm", time="t", timezone=timezone)
        assert (result.caught, str(result.events.start[0])[:13]) == (4, "2024-06-01T03")


def test_one_zone_is_refused_where_two_files_have_local_times(tmp_path):
    with pytest.raises(InputError) as refusal:
        caught(incidents(), METRICS, timezone="Europe/Berlin")
    assert str(refusal.value) == (
        "Expected `timezone` to be given by file where several have times without an offset, got "
        "'Europe/Berlin' for the first table and the second table.\n\nHint: Give each file its "
        "zone, for example `timezone={'truth': 'Europe/Berlin', 'predicted': 'UTC'}`."
    )
    labels = METRICS.append_column("truth", METRICS.column("alarm"))
    with pytest.raises(InputError, match="to be given by file"):
        caught(labels, METRICS, timezone="UTC")
    assert caught(labels, METRICS, timezone={"truth": "UTC", "predicted": "UTC"}) == "4 of 4"
    shifted = METRICS.set_column(0, "t", pa.array(local(HOURS)))
    assert caught(labels, shifted, timezone={"truth": "UTC", "predicted": BERLIN}) == "4 of 4"
    with pytest.raises(InputError, match=r"the times of .* to agree"):
        caught(labels, METRICS, timezone={"truth": "UTC", "predicted": BERLIN})


def test_a_file_to_ignore_has_a_zone_of_its_own(tmp_path):
    path = tmp_path / "quiet.csv"
    start, stop = (time.astimezone(BERLIN).isoformat()[:16] for time in (HOURS[50], HOURS[56]))
    path.write_text(f"start,end\n{start},{stop}\n")
    zoned = METRICS.set_column(0, "t", pa.array(HOURS))
    with pytest.raises(InputError, match=r"for the first table and .*quiet\.csv"):
        caught(incidents(), zoned, timezone="Europe/Berlin", ignore=path)
    for timezone in (BOTH | {"ignore": BERLIN}, {"truth": BERLIN}):
        assert caught(incidents(), zoned, timezone=timezone, ignore=path) == "4 of 4"
    with pytest.raises(InputTypeError, match="a time zone everywhere or nowhere"):
        caught(incidents(), METRICS, timezone=BOTH, ignore=path)


def test_times_of_options_are_in_the_zone_if_there_is_one():
    until = HOURS[50].astimezone(BERLIN).replace(tzinfo=None)
    zoned = METRICS.set_column(0, "t", pa.array(HOURS))
    assert Inputs((), until=until, timezone=BERLIN).until == HOURS[50]
    assert caught(incidents(), zoned, timezone={"truth": BERLIN}, until=until) == "4 of 4"
    with pytest.raises(InputTypeError, match="a time zone everywhere or nowhere"):
        caught(incidents(), METRICS, timezone=BOTH, until=until)


@pytest.mark.parametrize(
    ("options", "error", "message"),
    [
        ({"timezone": {"alarms": "UTC"}}, InputError, "the zones of truth, predicted or ignore"),
        ({"timezone": {"truth": "Mars"}}, InputError, "a known time zone, such as Europe/Berlin"),
        ({"timezone": {"truth": 5}}, InputTypeError, "`timezone` to name a time zone, got 5"),
        ({"fold": "first"}, InputError, "`fold` to be"),
        ({"time_unit": "min"}, InputError, "`time_unit` to be"),
    ],
)
def test_refused(options, error, message):
    with pytest.raises(error, match=message):
        Inputs((), **options)


def test_one_table_has_one_zone():
    table = METRICS.append_column("truth", METRICS.column("alarm"))
    with pytest.raises(InputError, match="to give one zone for the first table, which has both"):
        score_files(table, predicted="alarm", time="t", timezone=BOTH)


def test_a_page_names_the_command_that_reads_the_files_again(tmp_path):
    paths = [tmp_path / "incidents.parquet", tmp_path / "metrics.parquet"]
    for path, table in zip(paths, (incidents(), METRICS), strict=True):
        pq.write_table(table, path)
    inputs = Inputs(paths, time="t", timezone=BOTH, fold="later", time_unit="ms")
    options = {"by": (), "title": None, "script": "cdn", "batch": None, "value": None}
    page, _ = report_inputs(inputs, predicted=["alarm"], scores=[], thresholds=None, **options)
    command = (
        "--time t --timezone truth=Europe/Berlin --timezone predicted=UTC --fold later "
        "--time-unit ms"
    )
    assert f"{paths[0]} {paths[1]} --predicted alarm {command}" in page.html


# Hours that clocks show twice.

AUTUMN = datetime.fromisoformat("2024-10-27T02:30")
OFFSETS = {"earlier": 2, "later": 1}


def twice(count):
    """Return samples of a night in autumn as clocks show them, some of them twice."""
    minutes = [-90, *range(count), 90]
    times = [AUTUMN + timedelta(minutes=minute) for minute in minutes]
    labels = [0, 1, *[0] * count]
    return pa.table({"t": times, "truth": labels, "alarm": labels})


def test_all_times_that_clocks_show_twice_are_listed_at_once(tmp_path):
    path = tmp_path / "incidents.csv"
    path.write_text(
        "start,end\n2024-10-27 02:30,2024-10-27 02:45\n2024-10-28 10:00,2024-10-28 11:00\n"
        "2024-10-27 02:50,2024-10-27 03:30\n"
    )
    with pytest.raises(InputError) as refusal:
        cc.read_events(path, timezone="Europe/Berlin")
    assert str(refusal.value) == (
        f"Expected times of {path} that the clocks of Europe/Berlin show once, got 3 times that "
        "they show twice: 2024-10-27 02:30:00 ('start' in row 1), 2024-10-27 02:50:00 ('start' in "
        "row 3), 2024-10-27 02:45:00 ('end' in row 1).\n\nHint: Choose with `fold='earlier'` or "
        "`fold='later'`, or write them with their offset, as 2024-10-27T02:30:00+02:00."
    )
    with pytest.raises(InputError, match=r"got 12 times .*'t' in row 6\), and 7 more\."):
        score_files(twice(12), predicted="alarm", time="t", timezone="Europe/Berlin")


@pytest.mark.parametrize("fold", OFFSETS)
def test_fold_says_which_is_meant(tmp_path, fold):
    moment = (AUTUMN - timedelta(hours=OFFSETS[fold])).replace(tzinfo=UTC)
    options = {"timezone": "Europe/Berlin", "fold": fold}
    end = AUTUMN + timedelta(hours=3)
    result = score_files(twice(3), predicted="alarm", time="t", end=end, **options)
    assert result.events.start[0] == np.datetime64(moment.replace(tzinfo=None))
    path = tmp_path / "incidents.csv"
    path.write_text(
        "start,end\n2024-10-27 02:30,2024-10-27 06:00\n2024-06-01 10:00,2024-06-01 11:00\n"
    )
    events = cc.read_events(path, **options)
    summer = datetime(2024, 6, 1, 8, tzinfo=UTC)
    assert [start.astimezone(UTC) for start, _ in events] == [summer, moment]
    assert Inputs((), since=AUTUMN, **options).since.astimezone(UTC) == moment


def test_skipped_hours_are_refused_whatever_the_fold():
    spring = datetime.fromisoformat("2024-03-31T02:30")
    table = pa.table({"t": [spring - timedelta(hours=1), spring], "truth": [0, 1], "alarm": [0, 1]})
    options = {"predicted": "alarm", "time": "t", "timezone": "Europe/Berlin"}
    for fold in (None, "earlier"):
        with pytest.raises(InputError, match=r"'t' in row 2 of the first table .* is skipped when"):
            score_files(table, fold=fold, **options)


def test_an_event_lasts_as_long_as_it_says_also_where_clocks_change(tmp_path):
    path = tmp_path / "alerts.csv"
    path.write_text("timestamp,duration\n2024-03-31 01:30,2h\n2024-03-30 01:30,7200\n")
    events = cc.read_events(path, timezone="Europe/Berlin")
    assert events.durations.astype("timedelta64[h]").tolist() == [timedelta(hours=2)] * 2


# Numbers of an epoch.

UNITS = {"s": 1, "ms": 10**3, "us": 10**6, "ns": 10**9}


def epoch(times, unit):
    return [round(time.timestamp()) * UNITS[unit] for time in times]


@pytest.mark.parametrize("unit", UNITS)
@pytest.mark.parametrize("kind", [pa.int64(), pa.float64(), pa.decimal128(30, 3)])
def test_numbers_count_from_1970_in_the_unit_that_is_said(unit, kind):
    table = pa.table({"t": pa.array(epoch(HOURS, unit)).cast(kind, safe=False), "alarm": ALARM})
    stops = [event + timedelta(hours=1) for event in EVENTS]
    listed = pa.table({"start": epoch(EVENTS, unit), "end": epoch(stops, unit)})
    for truth, timezone in ((listed, None), (incidents(), BERLIN), (listed, BERLIN)):
        options = {"timezone": timezone, "time_unit": unit, "until": epoch([HOURS[58]], unit)[0]}
        assert caught(truth, table, **options) == "4 of 5"
    result = score_files(listed, table, predicted="alarm", time="t", time_unit=unit)
    dated = score_files(listed, METRICS.set_column(0, "t", pa.array(HOURS)), predicted="alarm",
                        time="t", time_unit=unit)  # fmt: skip
    assert (result.headline, result.signature) == (dated.headline, dated.signature)


def test_without_a_unit_numbers_stay_numbers_and_another_unit_is_another_signature():
    table = pa.table({"t": epoch(HOURS, "s"), "truth": ALARM, "alarm": ALARM})
    found = {
        unit: score_files(table, predicted="alarm", time="t", time_unit=unit)
        for unit in (None, "s", "ms")
    }
    assert found[None].events.start[0] == epoch(HOURS, "s")[CAUGHT[0]]
    assert found["s"].events.start[0] == np.datetime64(EVENTS[0].replace(tzinfo=None))
    assert len({str(result.signature) for result in found.values()}) == 3


def test_nanoseconds_are_exact_and_fractions_of_seconds_are_kept(tmp_path):
    path = tmp_path / "events.json"
    path.write_text('[{"start": "1709251200123456789", "end": 1709251200123456999}, {"start": 0}]')
    events = cc.read_events(path, time_unit="ns", open_until=7)
    assert events.durations.astype("timedelta64[ns]").astype(int).tolist() == [7, 210]
    assert str(events.starts[1]) == "2024-03-01T00:00:00.123456789"
    path.write_text('[{"start": 1709251200.1, "end": 1709251200.7}]')
    assert str(cc.read_events(path, time_unit="s").starts[0]) == "2024-03-01T00:00:00.100000"
    table = pa.table({"start": [1709251200.1], "end": [1709251201.0]})
    result = score_files(table, table, predicted="start,end", time_unit="s",
                         span=(1709251200, 1709251202.5))  # fmt: skip
    assert str(result.events.start[0]) == "2024-03-01T00:00:00.100000"


def test_numeric_lengths_are_in_the_unit_of_numeric_starts(tmp_path):
    path = tmp_path / "alerts.csv"
    path.write_text("timestamp,duration\n1709251200000,60000\n")
    assert cc.read_events(path, time_unit="ms").durations[0] == np.timedelta64(60, "s")
    path.write_text("timestamp,duration\n1709251200000,5min\n")
    assert cc.read_events(path, time_unit="ms").durations[0] == np.timedelta64(300, "s")


def test_numbers_of_samples_are_no_times(tmp_path):
    path = tmp_path / "labels.txt"
    path.write_text("5-5:1\n17-17:1\n")
    table = pa.table({"t": epoch(HOURS, "ms"), "alarm": ALARM})
    assert caught(path, table, time_unit="ms") == "2 of 2"
    assert cc.read_events(path, time_unit="ms") == cc.Events([(5, 6), (17, 18)])


def test_a_unit_that_cannot_be_meant():
    table = pa.table({"t": epoch(HOURS, "ms"), "truth": ALARM, "alarm": ALARM})
    message = f"`time_unit` to give times within the years 1 to 9999, got 's' for {table['t'][0]}"
    with pytest.raises(InputError, match=message):
        score_files(table, predicted="alarm", time="t", time_unit="s")
    with pytest.raises(InputError, match="`times` to be finite, got nan at index 1"):
        score_files(
            pa.table({"t": [1.0, float("nan")], "truth": [0, 1], "alarm": [0, 1]}),
            predicted="alarm", time="t", time_unit="s",
        )  # fmt: skip
