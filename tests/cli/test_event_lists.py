"""Lists of events as people keep them, as TRUTH, PREDICTED and --ignore of every command."""

import json
import re

import pytest

import closecall as cc

SERIES = range(30)
TRUE = [(3, 7), (20, 23)]
ALARM = [int(4 <= time < 6 or 12 <= time < 14) for time in SERIES]
AGAINST = "samples.csv --predicted alarm"


@pytest.fixture(autouse=True)
def samples(run, tmp_path):
    """Thirty samples with numbers, and the same an hour apart in two ways to write times."""
    rows = [
        f"{n},2024-03-{30 + n // 24:02} {n % 24:02}:00,2024-03-{1 + n // 24:02}T{n % 24:02}:00Z"
        f",{alarm},{alarm / 2 + n / 100}"
        for n, alarm in zip(SERIES, ALARM, strict=True)
    ]
    text = "\n".join(["t,local,utc,alarm,score", *rows, ""])
    (tmp_path / "samples.csv").write_text(text)


def written(tmp_path, content, name="events.csv"):
    (tmp_path / name).write_text(content if isinstance(content, str) else json.dumps(content))
    return name


def scored(run, text):
    result = run(*text.split(), "--format", "json")
    assert result.exit_code == 0, result.stderr
    return json.loads(result.stdout)


def pairs(report):
    return [(event["start"], event["stop"]) for event in report["events"]]


def utc(hour):
    return f"2024-03-{1 + hour // 24:02}T{hour % 24:02}:00:00Z"


WINDOWS = {"a": [[utc(3), utc(7)], [utc(20), utc(23)]], "b": []}
ALERTS = [
    {"startsAt": utc(20), "endsAt": utc(23), "labels": {"severity": "page"}, "status": "resolved"},
    {"startsAt": utc(3), "endsAt": utc(7), "labels": {"severity": "low"}, "status": "resolved"},
]
RECORDS = [{"opened": start, "closed": stop, "id": start} for start, stop in TRUE]
SMAP = 'chan_id,anomaly_sequences,class\nP-1,"[[3, 6], [20, 22]]",[point]\nP-2,"[[1, 2]]",[x]\n'
FORMATS = {
    "nab.json": (WINDOWS, "--series a --time utc"),
    "alerts.json": (ALERTS, "--time utc"),
    "records.json": (RECORDS, "--truth opened,closed --time t"),
    "labeled_anomalies.csv": (SMAP, "--series P-1"),
    "smd.txt": ("20-22:1\n3-6:1,2\n", ""),
}


@pytest.mark.parametrize("name", FORMATS)
def test_formats_are_known_by_their_content(run, tmp_path, name):
    content, options = FORMATS[name]
    report = scored(run, f"score {written(tmp_path, content, name)} {AGAINST} {options}")
    expected = cc.affiliation(
        [int(any(start <= t < stop for start, stop in TRUE)) for t in SERIES], ALARM
    )
    assert report["f1"] == pytest.approx(expected.f1, rel=1e-12)
    if name == "alerts.json":
        assert [event["details"]["severity"] for event in report["events"]] == ["low", "page"]


def test_the_name_of_a_ucr_file_lists_its_event_in_samples_or_in_their_times(run, tmp_path):
    name = written(tmp_path, "0.5 0.7 0.1\n", "001_UCR_Anomaly_x_2_3_6.txt")
    assert pairs(scored(run, f"score {name} {AGAINST}")) == [(3, 7)]
    assert pairs(scored(run, f"curve {name} samples.csv --score score")["chosen"]) == [(3, 7)]
    report = scored(run, f"score {name} {AGAINST} --time utc")
    assert pairs(report) == [("2024-03-01T03:00:00+00:00", "2024-03-01T07:00:00+00:00")]


def test_a_list_may_be_predicted_ignored_or_come_through_a_pipe(run, tmp_path):
    windows = written(tmp_path, WINDOWS, "nab.json")
    report = scored(run, f"score samples.csv {windows} --truth alarm --time utc --series a")
    assert (report["alarms"], report["caught"]) == (2, 1)
    options = f"--time utc --ignore {windows} --series a"
    report = scored(run, f"score samples.csv --truth alarm --predicted alarm {options}")
    assert report["ignored_time"] == 7 * 3600
    command = f"score - {AGAINST} --time utc --format json".split()
    result = run(*command, input=json.dumps(ALERTS))
    assert json.loads(result.stdout)["caught"] == 1
    empty = written(tmp_path, "[]", "none.json")
    report = scored(run, f"score samples.csv {empty} --truth alarm --time utc")
    assert report["alarms"] == 0


def test_merge_joins_what_overlaps(run, refuse, tmp_path):
    name = written(tmp_path, "start,end,who\n3,7,a\n5,9,b\n20,23,a\n")
    message, hint = refuse("score", name, *AGAINST.split(), "--time", "t")
    assert "`--truth` events to be disjoint, got (3, 7) and (5, 9)" in message
    assert hint == "Hint: Join them with --merge."
    report = scored(run, f"score {name} {AGAINST} --time t --merge")
    assert pairs(report) == [(3, 9), (20, 23)]
    assert report["events"][0]["details"] == {"who": "a; b"}
    ordered = written(tmp_path, "start,end,severity\n3,7,high\n5,9,low\n20,23,low\n")
    options = "--time t --merge --severity-order low,high"
    report = scored(run, f"score {ordered} {AGAINST} {options}")
    assert [row["details"]["severity"] for row in report["events"]] == ["high", "low"]
    message = refuse("score", ordered, *AGAINST.split(), "--severity-order", "low,high")[0]
    assert "`--severity-order` only beside `--merge`" in message


def test_clip_cuts_and_drops_and_says_so(run, refuse, tmp_path):
    name = written(tmp_path, "start,end\n-2,1\n20,23\n28,40\n50,60\n-9,-8\n")
    message, hint = refuse("score", name, *AGAINST.split(), "--time", "t")
    assert "`--truth` to lie within the span (0, 30), got (-9, -8)" in message
    assert hint == "Hint: Widen `--span`, or cut events and drop those outside with `--clip`."
    own = ("score", "samples.csv", "--truth", "alarm", "--predicted", "alarm", "--time", "t")
    message, hint = refuse(*own, "--span", "5", "40", "--clip")
    assert "`--truth` to lie within the span (5, 40), got (4, 6)" in message
    assert hint == "Hint: Widen --span, or leave time out with --from and --until instead."
    assert run(*own, "--from", "5").exit_code == 0
    for command in (f"score {name} {AGAINST}", f"compare {name} {AGAINST} --score score"):
        report = scored(run, f"{command} --time t --clip")
        assert report["notes"][0] == "Clipped to the series: 2 true events cut, 2 dropped."
    assert pairs(scored(run, f"score {name} {AGAINST} --time t --clip")) == [
        (0, 1), (20, 23), (28, 30)
    ]  # fmt: skip
    alarms = f"score {name} {name} --clip --span 0 30"
    assert scored(run, alarms)["notes"][1] == "Clipped to the series: 2 alarms cut, 2 dropped."


def test_clip_of_events_in_numbers_of_samples(run, refuse, tmp_path):
    name = written(tmp_path, "3-6:1\n28-44:1\n", "smd.txt")
    assert "`--truth` to lie within the span (0, 30)" in refuse("score", name, *AGAINST.split())[0]
    report = scored(run, f"score {name} {AGAINST} --clip")
    assert pairs(report) == [(3, 7), (28, 30)]
    assert report["notes"] == ["Clipped to the series: 1 true event cut, 0 dropped."]


def test_wall_clocks_are_read_in_their_zone(run, refuse, tmp_path):
    name = written(tmp_path, "start,end\n2024-03-01 04:00,2024-03-01 08:00\n")
    zone = "--timezone Europe/Berlin"
    report = scored(run, f"score {name} {AGAINST} --time utc {zone} --from 2024-03-01T02:00")
    assert pairs(report) == [("2024-03-01T04:00:00+01:00", "2024-03-01T08:00:00+01:00")]
    assert report["ignored_time"] == 3600
    local = f"score {name} {AGAINST} --time local"
    message, hint = refuse(*local.split(), *zone.split())
    assert (
        "`--timezone` to be given by file where several have times without an offset, got "
        "'Europe/Berlin' for events.csv and samples.csv." in message
    )
    both = "--timezone truth=Europe/Berlin --timezone predicted="
    assert hint == f"Hint: Give each file its zone, for example {both}UTC."
    message = refuse(*local.split(), *f"{both}Europe/Berlin".split())[0]
    assert (
        "'local' in row 27 of samples.csv to be a time that the clocks of Europe/Berlin show once"
        in message
    )
    twice = written(tmp_path, "start,end\n2024-03-01 04:00,2024-10-27 02:30\n", "twice.csv")
    command = f"score {twice} {AGAINST} --time utc {zone}"
    message, hint = refuse(*command.split())
    assert "2024-10-27 02:30:00 ('end' in row 1)." in message
    assert hint.startswith("Hint: Choose with `--fold earlier` or `--fold later`, or write them")
    assert "2024-10-27 02:30:00+01:00" in refuse(*command.split(), "--fold", "later")[0]
    message = refuse("score", name, *AGAINST.split(), "--timezone", "Mars")[0]
    assert "`--timezone` to name a known time zone, such as Europe/Berlin, got 'Mars'." in message
    message, hint = refuse("score", name, *AGAINST.split(), "--time", "utc")
    assert "to have a time zone everywhere or nowhere" in message
    assert hint.endswith("or say what those without are in with --timezone.")


def test_numbers_are_dates_only_with_a_unit(run, refuse, tmp_path):
    name = written(tmp_path, "start,end\n2024-03-01T03:00Z,2024-03-01T07:00Z\n")
    rows = [f"{1709251200 + 3600 * n},{alarm}" for n, alarm in enumerate(ALARM)]
    written(tmp_path, "\n".join(["t,alarm", *rows, ""]), "epoch.csv")
    command = f"score {name} epoch.csv --predicted alarm --time t"
    message, hint = refuse(*command.split())
    assert "to be on one kind of time axis, got datetimes and numbers." in message
    assert hint.endswith("if numbers count from 1970, say in which unit with --time-unit.")
    assert pairs(scored(run, f"{command} --time-unit s")) == [
        ("2024-03-01T03:00:00+00:00", "2024-03-01T07:00:00+00:00")
    ]
    message = refuse(*command.split(), "--time-unit", "min", code=2)[0]
    assert "'min' is not one of 's', 'ms', 'us', 'ns'" in message


@pytest.mark.parametrize("kind", ["csv", "json"])
def test_open_events_last_until_the_end_or_are_refused(run, refuse, tmp_path, kind):
    if kind == "csv":
        name = written(tmp_path, "opened,closed\n3,7\n20,\n")
    else:
        name = written(tmp_path, [{"opened": 3, "closed": 7}, {"opened": 20}], "events.json")
    command = f"score {name} {AGAINST} --truth opened,closed --time t"
    message, hint = refuse(*command.split())
    assert (
        message == f"Error: Expected an end, 'closed', of the event in row 2 of {name}, got none."
    )
    assert hint == "Hint: Let such events last to the end of the series with `--open until-end`."
    assert pairs(scored(run, f"{command} --open until-end")) == [(3, 7), (20, 30)]
    late = command.replace(name, written(tmp_path, "opened,closed\n20,\n50,\n", "late.csv"))
    assert "(50, 50)" in refuse(*late.split(), "--open", "until-end")[0]
    assert pairs(scored(run, f"{late} --open until-end --clip")) == [(20, 30)]
    spanned = f"score {name} {name} --truth opened,closed --predicted opened,closed --span 0 25"
    assert pairs(scored(run, f"{spanned} --open until-end")) == [(3, 7), (20, 25)]


MESSAGES = {
    "score nab.json samples.csv --predicted alarm --time utc": (
        "`--series` to name one of the 2 series of nab.json, got no name.", "They are: a, b."),
    "score nab.json samples.csv --predicted alarm --series a": (
        "`--time` beside a list of events, got none.", "Name the column"),
    "score records.json samples.csv --predicted alarm --time t": (
        "two columns of records.json", "`--truth opened,closed`"),
    "score records.json samples.csv --predicted alarm --truth opened --time t": (
        "`--truth` to name a column of records.json, got 'opened'.", "or two, as START,STOP"),
    "score odd.json samples.csv --predicted alarm --time t": (
        "odd.json to be a list of events, got JSON with the keys a", "Known are"),
    "score both.csv samples.csv --predicted alarm --time t": (
        "several that may be meant", "`--truth start,stop` or `--truth start,end`"),
    "score samples.csv --truth alarm --predicted alarm --time t --ignore open.csv": (
        "an end, 'end', of the event in row 1 of open.csv, got none.", "with `--open until-end`."),
    "score samples.csv --truth alarm --predicted alarm --time t --ignore records.json": (
        "two columns of records.json", "Hint: Call them start and stop there."),
    "score samples.csv --truth alarm --predicted alarm --time t --ignore both.csv": (
        "several that may be meant", "Hint: Call them start and stop there."),
    "score opened.csv samples.csv --predicted alarm --time t": (
        "`--truth` to name a column of opened.csv, got no name.", "Name two, as START,STOP"),
    "score nab.json": ("`--truth` to name a column of nab.json, got no name.", "lists events"),
}  # fmt: skip


@pytest.mark.parametrize("command", MESSAGES)
def test_messages_name_options(refuse, tmp_path, command):
    written(tmp_path, WINDOWS, "nab.json")
    written(tmp_path, RECORDS, "records.json")
    written(tmp_path, {"a": 1}, "odd.json")
    written(tmp_path, "start,stop,end\n1,2,3\n", "both.csv")
    written(tmp_path, "start,end\n1,\n", "open.csv")
    written(tmp_path, "opened,closed\n1,2\n", "opened.csv")
    message, hint = refuse(*command.split())
    assert MESSAGES[command][0] in message
    assert MESSAGES[command][1] in hint


def test_beside_samples_a_list_needs_no_span(run, tmp_path):
    name = written(tmp_path, "start,end\n3,7\n20,23\n")
    for command in (
        f"score {name} {AGAINST} --time t",
        f"score samples.csv {name} --truth alarm --time t",
    ):
        assert scored(run, command) == scored(run, f"{command} --span 0 30")
    rows = (tmp_path / "samples.csv").read_text().splitlines()
    written(tmp_path, "\n".join(rows[:15] + rows[17:]) + "\n", "uneven.csv")
    report = scored(run, f"score {name} uneven.csv --predicted alarm --time t")
    assert report["notes"][0].endswith("it is taken to last the median step, until 30.")


def test_counts_by_a_column_of_the_list(run, refuse, tmp_path):
    text = "start,end,severity,team\n3,7,high,a\n9,12,low,a\n20,23,high,b\n28,29,,b\n"
    name = written(tmp_path, text)
    command = f"score {name} {AGAINST} --time t --by-column severity"
    found = scored(run, f"{command} --by-column team")
    outcomes = [event["outcome"] for event in found["events"]]
    assert outcomes == ["caught", "close call", "missed", "missed"]
    kinds = ("events", "caught", "close_calls", "missed")
    assert [(row["column"], row["value"], *(row[kind] for kind in kinds))
            for row in found["by_column"]] == [
        ("severity", "high", 2, 1, 0, 1),
        ("severity", "low", 1, 0, 1, 1),
        ("severity", None, 1, 0, 0, 1),
        ("team", "a", 2, 1, 1, 1),
        ("team", "b", 2, 0, 0, 2),
    ]  # fmt: skip
    lines = run(*command.split(), "--format", "csv").stdout.splitlines()
    assert [line.rpartition(",")[0] for line in lines[:2]] == [
        "column,value,events,caught,close_calls,missed",
        "severity,high,2,1,0,1",
    ]
    table = run(*command.split()).stdout
    assert "severity  high       2       1            0       1" in table
    several = scored(run, f"{command} --score score")["detectors"]
    assert [len(own["by_column"]) for own in several] == [3, 3]
    message, hint = refuse(*command.replace("severity", "colour").split())
    assert "`--by-column` to name a column of the list of true events, got 'colour'." in message
    assert hint == "Hint: Its columns are: severity, team."
    labels = "score samples.csv --truth alarm --predicted alarm --by-column severity"
    assert refuse(*labels.split())[1] == "Hint: Labels have no columns."
    both = f"{command} --metric classical --format csv".split()
    assert "csv holds either --metric or --by-column" in refuse(*both, code=2)[0]


@pytest.mark.parametrize("command", ["curve", "compare"])
def test_counts_by_a_column_in_other_commands(run, refuse, tmp_path, command):
    name = written(tmp_path, "start,end,cost\n3,7,5\n9,12,\n20,23,\n")
    detectors = "--score score" + " --predicted alarm" * (command == "compare")
    line = f"{command} {name} samples.csv --time t {detectors} --by-column"
    found = scored(run, f"{line} cost")["by_column"]
    first = found[:: 2 if command == "compare" else 1]  # each value of all detectors
    assert [(row["value"], row["events"]) for row in first] == [(5.0, 1), (None, 2)]
    assert [row["caught"] + row["missed"] for row in first] == [1, 2]
    assert {row.get("detector") for row in found} == (
        {"alarm", "score"} if command == "compare" else {None}
    )
    assert re.search(r"missed\s*\ncost  5 ", run(*f"{line} cost".split()).stdout)
    assert "`--by-column` to name a column" in refuse(*f"{line} colour".split())[0]


def test_columns_of_the_list_never_take_the_place_of_scores(run, tmp_path):
    name = written(tmp_path, "start,end,precision,detector,team\n3,7,77,x,a\n20,23,78,y,b\n")
    command = f"compare {name} {AGAINST} --score score --time t"
    lines = run(*command.split(), "--format", "csv").stdout.splitlines()
    rows = [dict(zip(lines[0].split(","), line.split(","), strict=True)) for line in lines[1:]]
    assert [row["detector"] for row in rows] == ["alarm", "score"] * 2
    assert {row["precision"] for row in rows} & {"77", "78"} == set()
    added = ("event_precision", "event_detector", "team")
    assert [tuple(row[key] for key in added) for row in rows[::2]] == [
        ("77", "x", "a"), ("78", "y", "b")
    ]  # fmt: skip
    details = [event["details"] for event in scored(run, command)["events"]]
    assert details[1] == {"precision": 78, "detector": "y", "team": "b"}
    lines = run(*f"score {name} {AGAINST} --time t --format csv".split()).stdout.splitlines()
    row = dict(zip(lines[0].split(","), lines[1].split(","), strict=True))
    own = scored(run, f"score {name} {AGAINST} --time t")["events"][0]
    assert (float(row["precision"]), row["event_precision"]) == (own["precision"], "77")


@pytest.mark.parametrize("command", [f"score {{}} {AGAINST}", "curve {} samples.csv --score score"])
def test_names_and_severities_are_in_the_table_of_events(run, tmp_path, command):
    text = (
        "start,end,severity,name,team\n3,7,page,disk full,a\n20,23,,a name that is far too long,b\n"
    )
    name = written(tmp_path, text)
    table = run(*command.format(name).split(), "--time", "t").stdout.splitlines()
    place = next(place for place, line in enumerate(table) if line.startswith("#"))
    heading, first, second = table[place : place + 3]
    assert heading.split()[:5] == ["#", "start", "lasts", "name", "severity"]
    assert first.split()[3:6] == ["disk", "full", "page"]
    assert "a name that is far too \u2026 " in second  # where rich cuts it
    assert "team" not in heading
