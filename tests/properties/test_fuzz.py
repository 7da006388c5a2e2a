"""Hostile calls: only documented errors come out of what is public.

A longer run is ``python -m benchmarks fuzz --minutes N``.
"""

import inspect
from itertools import islice
from random import Random

import pytest
from benchmarks import fuzz_calls

import closecall as cc
from closecall.tables import BatchOptions, Inputs
from tests.test_documents import find, listed_names

# Of our own objects, from our own code: their arguments are trusted.
_INTERNAL = {"of", "wrap", "without_shifts", "adding", "drawing", "naming", "cell", "signed"}
_NO_RESULT = {
    "BatchOptions",
    "Events",
    "NabProfile",
    "Demo",
    "AffiliationStream",
    "Report",
    "Signature",
}
_OF_NO_SERIES = {"Moments", "Survival", "PrecisionRecall", "Interval"}
_PARTS = {"EventScores", "EventCurve", "PairComparison", "PairIntervals"}  # of a result with one
_TRIED = 400

# What hostile testing has found, each with what must be said about it.
FOUND = (
    ("cc.affiliation([(3, 4)], [(5, 6)], span=(0, 9))", "closecall.Events([(start, stop)"),
    ("curve.operating_point(10**30, beta='x')", "`beta` to be 0 or more, got 'x'"),
    ("cc.choose_threshold(None, pd.Period('2024-01'), 'quantile:0.9')", "Expected `scores`"),
    ("curve.at('x')", "`threshold` to be a number, or inf, got 'x'"),
    ("cc.affiliation(T, P, times=pa.array(dates, pa.timestamp('us', 'Mars/Phobos')))", "time zone"),
    ("cc.adversary.search('classical', T, families=5)", "`families` to be among"),
    ("cc.evaluate(T, P, metrics=['x', 0])", "`metrics` to be names of metrics, got 0"),
    ("cc.read_events('nab.json', series=pl.Series(dates))", "`series` to name one of the 2 series"),
    ("listed.counts_by(T)", "`column` to name a column of the list of true events, got ["),
    ("intervals.pair('a', np.zeros((2, 0)))", "two of the detectors, got 'a' and array("),
    (
        "cc.AffiliationStream(step=10**5000)",
        "`step` to be at most 9,223,372,036,854,775",
    ),
    ("cc.AffiliationStream(max_step=10**5000)", "`max_step` to be a finite number"),
    (
        "cc.evaluate_frame(frame, truth='T', score='S', time='i', max_step=10**5000, out='x.csv')",
        "`max_step` to be a finite number",
    ),
    (
        "cc.evaluate_frame(frame, truth='T', score='S', time='t', max_step=pd.NaT)",
        "`max_step` to be a number, or a timedelta",
    ),
    (
        "cc.evaluate_frame(frame, truth='T', score='S', time='t', max_step=range(10**12))",
        "`max_step` to be a number, or a timedelta",
    ),
    ("cc.AffiliationStream(max_step=np.array(S))", "`max_step` to be a finite number"),
    ("official.infer_Trange([(3, 5)], [(day, day)])", "one kind in both lists, got 3 and datetime"),
    ("official.has_point_anomalies([(3, 4), 5])", "Expected `events`"),
    ("official.f1_func(0.5, {})", "`r` to be a number from 0 to 1, or nan, got {}"),
    ("official.read_gz_data(5)", "`filename` to be a path, got 5"),
    ("official.read_gz_data('table.csv')", "table.csv to be gzipped, with a 0 or a 1 on each line"),
    ("cc.report(T, P, nan=pd.Series(T))", "`nan` to be 'raise', 'ignore' or 'each', got 0"),
    (
        "cc.evaluate_frame(frame, truth='T', predicted='P', out='.', resume=True)",
        "`out` to end in .parquet or .csv, got '.'",
    ),
    ("cc.report_batch({'x': {'truth': T, 'scores': np.array(0)}})", "Expected `scores`"),
    ("cc.report(T, P, script=[])", "`script` to be 'embed' or 'cdn', got []"),
    ("cc.Events.from_points([0, 1, 10**30])", "a number of more than 30 digits at index 2"),
    ("cc.affiliation(np.array([[1], 2], dtype=object), [0, 1])", "Expected `truth`"),
    ("cc.affiliation_curve(T, np.array(S, dtype=np.longdouble) / 3)", "exact as 64-bit floats"),
    ("cc.affiliation_curve([0, 1, 0], [1, 2, 3], times=[0, 1e-170, 1], end=2)", "below 1e-140"),
    (
        "cc.evaluate_frame(frame, truth='T', predicted='P', workers=2**63)",
        "`workers` to be at most",
    ),
    (
        "cc.read_events(pd.DataFrame({'start': [1], 'end': [2]}), open_until=frame)",
        "`open_until` to be",
    ),
    ("page.save('a\\x00b')", "that the system can open"),
    ("page.save(5)", "`path` to be a path, got 5"),
    ("cc.audit(T, {'\\ud800': P})", r"names in `detectors` to be text, got '\ud800'"),
    ("cc.compare(T, {'\\ud800': P})", r"detectors in `predicted` to be text, got '\ud800'"),
    ("cc.audit(T, {'a': P}, progress=lambda: 0)", "can be called as progress(done, all)"),
    ("cc.significance(T, P, progress=lambda x: 0)", "can be called as progress(done, all)"),
    (
        "cc.evaluate_frame(frame, truth='T', predicted='P', progress=lambda: 0)",
        "can be called as progress(text)",
    ),
    ("cc.significance(T, P, progress=10**5000)", "can be called as progress(done, all), got a num"),
    (
        "cc.evaluate_frame(frame, truth='T', predicted='P', out='x.csv', until=10**5000)",
        "Expected `until` to be of one kind, numbers or datetimes, got a number of more than",
    ),
    (
        "cc.evaluate_frame(frame, truth='T', score='S', out='x.csv', retune=10**5000)",
        "`retune` to be at most 1,000,000, got a number of more than 30 digits",
    ),
    ("tables.score_files('table.csv', truth='T', predicted='P', ignore=5)", "to be a path, got 5"),
    (
        "tables.curve_files('table.csv', truth='T', score='S', time={0: T})",
        "`time` to be the name of a column",
    ),
    (
        "tables.score_files('table.csv', truth='T', predicted=pl.Series(dates))",
        "`predicted` to be the name of a column",
    ),
    ("tables.curve_files(None, truth='T', score='S')", "a file with the truth, got none"),
    ("cc.adversary.search('classical', T, families=range(10**12))", "`families` to be among"),
    ("cc.report_batch({'x': {'truth': T, 'scores': truth}})", "Expected `scores`"),
    ("tables.read_table('table.csv', text='\\ud800')", r"the name of a column, got '\ud800'"),
    ("cc.adversary.search(lambda: 0, T)", "`metric` to be a name or a function (truth, predicted)"),
    ("compared.ensemble(np.array(0))", "`names` to be names in a list, got array(0)"),
    ("plot.plot_batch([('x', 'a', 0), ('x', 'b', 1e308)])", "within 1e+300 of 0, got 1e+308 at"),
    (
        "plot.plot_batch([({'': type('Odd', (), {'__repr__': lambda self: 1 / 0})()}, 'a', 1)])",
        "rows",
    ),
    ("plot.plot_single_prediction(ax=[np.zeros((2, 0))] * 3)", "got 3 of type ndarray"),
    ("plot.plot_single_prediction(ax=[range(10**12), 1, 2])", "got 3 of type int and range"),
    ("plot.plot_single_prediction(ax=np.zeros((2, 0)))", "got none"),
    ("cc.report_batch({'x': {'truth': T, pd.NA: S}})", "to be those of `report`, got <NA>"),
    ("cc.metrics.vus(T * 10_000, S * 10_000, window=100_000)", "`window` to be at most 6,249"),
)
ACCEPTED = (
    "cc.read_events('grafana.json', columns=('time', 'timeEnd'), merge=True)",
    "batch.to_latex(level=Fraction(1, 3), n=100)",
    "official.f1_func(nan, 0.5)",
    "cc.compare(T, {'a': P}, scores={'s': S}, thresholds=10**5000)",
    "curve.at(10**30)",
    "curve.operating_point(10**5000)",
    "curve.operating_point(Fraction(1, 3))",
    "cc.report(T, scores={'a': S, '\\ud800': S})",
    (
        "cc.evaluate_frame(frame, by='k', truth='T', score='S', "
        "until=dt.datetime(1, 1, 1, tzinfo=ZoneInfo('Asia/Tokyo')))"
    ),
    "cc.affiliation(T, P, times=dates, end=np.datetime64('10000-01-01T00:00:00'))",
    "curve.at(-(10**5000))",
    "cc.affiliation(T, P, max_step=2**63)",
    "cc.Events([(dt.datetime.min, dt.datetime(9999, 12, 31, 23))])",
    "cc.Events.from_points([dt.datetime(9999, 12, 31, 23, tzinfo=ZoneInfo('Etc/GMT+5'))])",
)


@pytest.fixture(scope="module", autouse=True)
def folder():
    with fuzz_calls.temporary_folder():
        yield


def test_everything_public_is_called():
    """What the API reference lists: functions, and what results do with an argument."""
    called = "\n".join(fuzz_calls.CALLS)
    wanted = set()
    for path in listed_names():
        public = find(path)
        if inspect.isfunction(public):
            wanted.add(public.__name__)
        elif inspect.isclass(public) and not issubclass(public, Exception | Inputs | BatchOptions):
            wanted |= {name for name in dir(public) if _takes_arguments(public, name)} - _INTERNAL
    assert len(wanted) > 100
    assert not {name for name in wanted if f".{name}(" not in called}


def _takes_arguments(public, name):
    own = getattr(public, name)
    if name.startswith("_") or not (inspect.isfunction(own) or inspect.ismethod(own)):
        return False
    return bool({*inspect.signature(own).parameters} - {"self"})


@pytest.mark.parametrize("source", fuzz_calls.CALLS)
def test_the_calls_are_valid_before_they_are_changed(source):
    refused = any(name in source for name in fuzz_calls.ABSENT)
    attempt = fuzz_calls.run(source)
    assert attempt.outcome == ("refused" if refused else "accepted"), attempt
    kind, of_numbers = type(attempt.value), source.startswith("statistics.")
    if kind.__module__.partition(".")[0] == "closecall" and not of_numbers:
        unsigned = kind.__name__ in _NO_RESULT | _OF_NO_SERIES | _PARTS
        assert unsigned or cc.signature.parse(str(attempt.value.signature)).metrics


def test_hostile_calls():
    found = list(islice(fuzz_calls.attempts(Random(1)), _TRIED))  # noqa: S311
    assert not [attempt for attempt in found if attempt.outcome == "failed"]
    assert {attempt.outcome for attempt in found} == {"accepted", "refused"}


@pytest.mark.parametrize(("source", "told"), FOUND)
def test_refused_in_words(source, told):
    attempt = fuzz_calls.run(source)
    assert attempt.outcome == "refused", attempt
    assert told in attempt.detail


@pytest.mark.parametrize("source", ACCEPTED)
def test_odd_and_legal(source):
    attempt = fuzz_calls.run(source)
    assert attempt.outcome == "accepted", attempt


def test_a_raw_error_is_a_failure():
    assert fuzz_calls.run("1 / 0").outcome == "failed"
    assert fuzz_calls.run("np.array([1.0]) / np.zeros(1)").outcome == "failed"  # a warning
