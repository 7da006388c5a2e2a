"""Hostile calls: valid calls of all that is public, in which values are replaced by bad ones.

A call is the text of a Python expression, so what fails is printed as it can be tried again, after
`SETUP`. Only the package's own errors may come out, and those of files where a path was given; what
is accepted is used up: all that a result can be asked for is asked.
"""

from __future__ import annotations

import ast
import contextlib
import inspect
import io
import os
import signal
import tempfile
import warnings
from functools import cache
from typing import TYPE_CHECKING, Any, NamedTuple

import closecall as cc
from closecall.errors import ClosecallError

if TYPE_CHECKING:
    from collections.abc import Iterator
    from random import Random
    from types import FrameType

SETUP = """
import datetime as dt
import gzip
import json
from decimal import Decimal
from fractions import Fraction
from math import inf, nan
from pathlib import Path
from zoneinfo import ZoneInfo

import matplotlib
matplotlib.use("agg")
import matplotlib.pyplot as plt
import numpy as np
import pandas as pd
import polars as pl
import pyarrow as pa

import closecall as cc
from closecall import chance, plot, statistics, tables
from closecall.compat import official

T = [0, 1, 1, 0, 0, 0, 1, 0, 0, 1, 1, 0, 1, 0, 1, 0]
P = [0, 0, 1, 1, 0, 0, 1, 0, 1, 0, 0, 0, 1, 0, 0, 0]
S = [0.1, 0.4, 0.9, 0.5, 0.2, 0.1, 0.8, 0.3, 0.6, 0.1, 0.2, 0.3, 0.7, 0.1, 0.2, 0.0]
one = [0, 1, 1, *[0] * 13]
day = dt.datetime(2024, 1, 1)
dates = [day + dt.timedelta(hours=i) for i in range(16)]
numbers = [i / 2 for i in range(16)]
truth = cc.Events([(3, 4), (7, 10)])
predicted = cc.Events([(3, 5), (11, 12)])
dated = cc.Events([(dates[1], dates[3]), (dates[6], dates[7])])
result = cc.affiliation(T, P)
curve = cc.affiliation_curve(T, S)
adjusted = cc.metrics.point_adjust_curve(T, S)
compared = cc.compare(T, {"a": P, "b": T}, scores={"s": S})
ranked = statistics.compute_ranks({"a": [1, 2, 3, 4, 5, 6], "b": [2] * 6, "c": [0, 1] * 3})
halves = {"k": ["x"] * 8 + ["y"] * 8, "t": [*range(8), *range(8)], "i": range(16)}
frame = pd.DataFrame(halves | {"T": T, "P": P, "S": S})
batch = cc.evaluate_frame(frame, by="k", truth="T", score="S", threshold=0.5)
arrow_frame = pa.Table.from_pandas(frame)
asked = tables.BatchOptions.read(by="k", truth="T", score="S", threshold=0.5)
null = cc.metrics.two_sided_null(T, P, tolerance=1, simulations=10)
page = cc.report(T, P)
intervals = compared.intervals(n=100)
eight = pd.concat([frame.assign(k=i, Q=np.roll(P, i)) for i in range(8)])
ranking = cc.evaluate_frame(eight, by="k", truth="T", predicted=["P", "Q"])
frame.to_csv("table.csv", index=False)
frame.to_parquet("table.parquet")
Path("incidents.csv").write_text("begin,end,name\\n3,4,a\\n7,,b\\n")
listed = cc.affiliation(cc.read_events("incidents.csv", open_until=9), predicted, span=(0, 20))
hour = 3_600_000
for name, content in {
    "nab.json": {"a.csv": [["2024-01-01 01:00:00", "2024-01-01 03:00:00"]], "b.csv": []},
    "grafana.json": [{"time": hour, "timeEnd": 2 * hour, "text": "a", "tags": ["x", "y"]}],
    "alerts.json": {
        "alerts": [
            {"startsAt": "2024-01-01T01:00:00Z", "endsAt": "0001-01-01T00:00:00Z", "labels": {}}
        ]
    },
    "studio.json": [
        {
            "annotations": [
                {"result": [{"value": {"start": 3, "end": 4, "timeserieslabels": ["a"]}}]}
            ]
        }
    ],
    "records.json": [{"timestamp": "2024-01-01T01:00", "duration": "5min", "kind": None}],
}.items():
    Path(name).write_text(json.dumps(content))
Path("labels.txt").write_text("\\n".join(map(str, T)))
smap = 'chan_id,anomaly_sequences,class\\nP-1,"[[3, 4]]",[point]\\n'
Path("labeled_anomalies.csv").write_text(smap)
Path("sub").mkdir(exist_ok=True)
Path("data").mkdir(exist_ok=True)
Path("ucr").mkdir(exist_ok=True)
Path("ucr/001_UCR_Anomaly_x_4_6_8.txt").write_text("\\n".join(map(str, S)))
for name, labels in {"groundtruth": T, "knn": P}.items():
    Path(f"data/x_{name}.gz").write_bytes(gzip.compress("\\n".join(map(str, labels)).encode()))
Path("data/a.csv").write_text("Data,Label\\n" + "".join(f"{s},{t}\\n" for s, t in zip(S, T)))


def stream(**options):
    own = cc.AffiliationStream(**options)
    own.update(T, P)
    return own
"""

CALLS = """
cc.Events([(3, 4), (7, 10)])
cc.Events([(dt.datetime(2024, 1, 1), dt.datetime(2024, 1, 2))])
cc.Events([(0.5, 1.5), (2.0, 2.0)])
cc.Events.from_arrays([3, 7], [4, 10])
cc.Events.from_points([1.5, 4.0, 7.0])
cc.Events.from_labels([0, 1, 1, 0], times=[0, 1, 2, 9], end=10, max_step=3)
cc.Events.from_labels(T, dates, dates[-1] + dt.timedelta(hours=1), max_step=dt.timedelta(hours=2))
truth.merged(gap=3)
dated.merged(gap=dt.timedelta(hours=3))
truth.to_labels([0, 3, 6, 9], end=12)
cc.affiliation([0, 1, 1, 0], [0, 0, 1, 1], zero_division=0.0)
cc.affiliation(T, P, times=numbers, end=8.0, span=(-1.0, 9.0), ignore=[(0, 1)], max_step=0.5)
cc.affiliation(T, P, times=dates, ignore=[(dates[3], dates[4])])
cc.affiliation(truth, predicted, span=(0, 20), ignore=[(1, 2)], point_length=1)
cc.affiliation(dated, dated, span=(dates[0], dates[15]))
cc.affiliation_curve([0, 1, 1, 0], [0.1, 0.5, 0.7, 0.2])
cc.affiliation_curve(T, S, times=numbers, end=8.0, span=(-1, 9), ignore=P, max_step=1, nan="ignore")
cc.affiliation_curve(truth, S, times=range(16), span=(0, 20))
cc.affiliation_precision_score(T, P, times=numbers, zero_division=0)
cc.affiliation_recall_score(T, P, times=dates)
cc.affiliation_f1_score(T, P, ignore=[(3, 4)])
cc.affiliation_average_precision_score(T, S, times=dates, end=dates[-1] + dt.timedelta(hours=1))
cc.choose_threshold(T, S, "best_f1", fit=[(0, 8)], times=range(16))
cc.choose_threshold(T, S, "quantile:0.9")
cc.choose_threshold(T, S, "alarms:2/8")
cc.choose_threshold(T * 40, range(640), "spot:0.01")
cc.choose_threshold(T, S, 0.5)
cc.compare(T, {"a": P, "b": T}, scores={"s": S, "r": P}, thresholds={"s": 0.5}, decimals=2)
cc.compare(truth, {"a": predicted, "b": truth}, span=(0, 20))
cc.evaluate(T, scores=S, metrics=["affiliation", "vus"], threshold=0.5, times=numbers)
cc.evaluate(T, P, scores=S, metrics={"margin": {"margin": 1}, "pate": {"early": 2}}, end=20)
cc.evaluate(T, scores=S, threshold="best_f1", fit=[(0, 8)])
cc.evaluate(T, P, metrics="classical")
cc.significance(T, P, n=20, correction="holm")
cc.significance(T, P, n=20, times=dates, progress=lambda done, all: None)
cc.significance(T, scores=S, threshold="best_f1", n=20)
cc.significance(T, scores=S, threshold=0.5, n=20)
cc.audit(T, {"a": P}, metrics=["classical"], trivial=one, seed=0, budget=3)
cc.report(T, P, scores=S, times=numbers, values=S, thresholds=0.5, title="page", script="embed")
cc.report(T, scores={"a": S, "b": S}, thresholds={"a": 0.5}, values=S)
cc.report(truth, predicted, span=(0, 20))
cc.report_batch({"x": {"truth": T, "predicted": P, "scores": S, "times": numbers}}, title="page")
cc.report_batch({"x": {"truth": T, "scores": {"a": S}}, "y": {"truth": one}}, disorder="index")
cc.report_batch({"x": {"truth": T, "predicted": P, "times": dates}}, since=dates[1], script="cdn")
page.save("page.html")
page.folder("page.html")
cc.evaluate_frame(frame, by=["k"], truth="T", score="S", time="t", threshold=0.5, per_event=True)
cc.evaluate_frame(frame, by="k", truth="T", score=["S"], threshold="best_f1", retune=20)
cc.evaluate_frame(frame, by="k", truth="T", score="S", threshold="best_f1", metrics=["affiliation"])
cc.evaluate_frame(frame, by="k", truth="T", predicted="P", time="t", since=1, until=7, max_step=2)
cc.evaluate_frame("table.csv", by="k", truth="T", score="S", threshold=0.5, disorder="sort")
cc.evaluate_frame("table.parquet", by="k", truth="T", score="S", fit_until=5, time="t", folds=2)
cc.evaluate_frame(frame, by="k", truth="T", predicted="P", out="out.parquet", overwrite=True)
batch.intervals(level=0.9, n=100, seed=1)
batch.leaderboard("affiliation_f1", detector="detector")
batch.plot("affiliation_f1")
batch.summary(by="detector")
batch.write("rows.csv")
ranking.ranks("affiliation_f1", missing="drop", level=0.9, detector="detector")
ranking.series_needed("P", "Q", "affiliation_f1", level=0.9)
result.fbeta(2)
listed.counts_by("name")
result.interval(level=0.9, n=100, seed=1, block=2)
result.to_frame("pandas")
result.plot(write="scores")
result.events.rows(("start", "stop"))
result.chance.above("f1")
curve.at(0.5)
curve.operating_point(0.5, beta=2, cooldown=1)
curve.events_at(0.5)
curve.event_curve(1)
curve.fbeta(2)
curve.best(beta=2, min_precision=0.1)
curve.best(min_recall=0.1, max_alarms_per=(2, 8), max_false_alarms_per=(2, 8), max_alarmed=0.9)
curve.best(max_alarms_per=(2, 8), cooldown=2)
curve.cross_fitted(beta=1, folds=2, min_precision=0.1)
curve.outline(points=10)
curve.plot(kind="froc")
curve.plot(beta=2, point=curve.best())
curve.to_dict(points=10)
compared.pair("a", "b")
compared.best_pair(how="union")
compared.ensemble(["a", "b"], how="vote", votes=1)
compared.ensembles(how="union")
compared.intervals(level=0.9, n=100, seed=1, block=2)
compared.to_frame("pandas", part="events")
intervals.events_needed("a", "b", "f1")
intervals.pair("a", "b")
intervals.to_frame("polars")
compared.plot(scores=["f1"])
adjusted.best(beta=2)
adjusted.fbeta(2)
null.quantile(0.5)
cc.AffiliationStream(start=0, step=1, max_step=2)
cc.AffiliationStream.from_json(stream().to_json())
cc.read_events("incidents.csv", columns="begin,end", timezone="UTC", open_until=30, merge=True)
cc.read_events(pd.DataFrame({"start": [1, 5], "end": [2, 7]}), series=None)
cc.read_events("nab.json", series="a.csv", timezone="Europe/Berlin")
cc.read_events("grafana.json", columns=("time", "timeEnd"))
cc.read_events("grafana.json", merge=True)
cc.read_events("alerts.json", open_until=dt.datetime(2025, 1, 1, tzinfo=dt.UTC))
cc.read_events("studio.json", columns=None)
cc.read_events("records.json", timezone="Asia/Kathmandu", fold="later", time_unit="ms")
cc.read_events("labels.txt", encoding="latin-1")
cc.read_events("labeled_anomalies.csv", series="P-1")
cc.read_events("ucr/001_UCR_Anomaly_x_4_6_8.txt", open_until=5)
truth.clipped(1, 9)
cc.AffiliationStream().update(T, P, times=numbers, ignore=P)
cc.AffiliationStream(start=0).update_events(truth, predicted, until=14, ignore=[(1, 2)])
stream().update(T, P)
stream().result()
cc.metrics.affiliation(T, P)
cc.metrics.normalised_affiliation(T, P, times=dates)
cc.metrics.unbiased_affiliation(T, P, seed=1)
cc.metrics.classical(T, P, times=numbers, by="duration")
cc.metrics.composite(T, P)
cc.metrics.event_wise(truth, predicted, span=(0, 20))
cc.metrics.point_adjust(T, P)
cc.metrics.point_adjust_k(T, P, k=20)
cc.metrics.point_adjust_k_area(T, P)
cc.metrics.range_based(T, P, alpha=0.5, precision_bias="flat", recall_bias="front")
cc.metrics.range_based(T, P, cardinality=lambda x: 1 / x)
cc.metrics.time_aware(T, P, theta=0.5, delta=1, alpha=0.5)
cc.metrics.time_aware(T, P, times=dates, delta=dt.timedelta(hours=1))
cc.metrics.enhanced_time_aware(T, P, theta_p=0.5, theta_r=0.1)
cc.metrics.window_once(T, P, margin=1)
cc.metrics.margin(T, P, times=dates, margin=dt.timedelta(hours=1))
cc.metrics.two_sided(T, P, tolerance=1)
cc.metrics.two_sided_null(T, P, tolerance=1, simulations=10, seed=0)
cc.metrics.nab(T, P, profile="standard", windows=[(1, 3), (6, 9)], probation=0.15)
cc.metrics.nab(T, P, profile=cc.metrics.NabProfile(1.0, 0.11, 1.0))
cc.metrics.NabProfile(1.0, 0.11, 1.0)
cc.metrics.nab_corpus({"a": [(6, 9)]}, {"a": S}, times={"a": range(16)}, profile="standard")
cc.metrics.nab_corpus({"a": T}, {"a": S}, threshold="climb", probation=0.15)
cc.metrics.hausdorff(T, P, times=numbers)
cc.metrics.modified_hausdorff(T, P)
cc.metrics.semimetric(T, P, p=2)
cc.metrics.segmentation(T, P)
cc.metrics.auc_roc(T, S)
cc.metrics.average_precision(T, S, times=numbers)
cc.metrics.affiliation_average_precision(T, S)
cc.metrics.point_adjust_curve(T, S)
cc.metrics.vus(T, S, window=4)
cc.metrics.pate(T, S, early=2, delay=2)
cc.metrics.table()
cc.adversary.against_composite([0, 1, 1, 1, 0, 0, 0], count=1, share=0.5)
cc.adversary.everything(T)
cc.adversary.everything(truth, span=(0, 20))
cc.adversary.from_trivial(P)
cc.adversary.from_trivial(truth, span=(0, 20), step=1)
cc.adversary.random_points(T, count=2, seed=0)
cc.adversary.random_ranges(T, count=2, length=2, seed=0)
cc.adversary.random_ranges(truth, count=2, length=2, seed=0, span=(0, 20))
cc.adversary.search("classical", T, families=["everything"], trivial=one, seed=0, budget=3)
cc.adversary.search("margin", T, parameters={"margin": 1}, budget=3)
cc.adversary.trivial_event(P, widen=1)
cc.theory.averaged_precision([0.1, 0.2], [1, 2])
cc.theory.averaged_recall([0.1, 0.2], [0.1, 0.2], [1, 2])
cc.theory.mean_recall_of_points([1, 2])
cc.theory.precision_of_points([0.1, 0.2], points=[1, 2])
cc.theory.recall_of_one_point((1, 2), (0, 5))
cc.theory.precision_survival((1, 2), (0, 5))(0.5)
cc.theory.precision_survival((1, 2), (0, 5))
cc.theory.recall_survival(1.5, (0, 5))
cc.theory.single_prediction(0.3, position="center")
cc.theory.single_random_prediction(0.3)
cc.theory.whole_interval([0.1, 0.3])
cc.compat.get_metrics(S, T, slidingWindow=4, pred=P, version="opt", thre=250)
cc.compat.pr_from_events([(3, 5)], [(3, 4), (7, 10)], (0, 20))
official.convert_vector_to_events([0, 1, 1, 0])
official.f1_func(0.5, 0.7)
official.has_point_anomalies([(3, 4), (7, 7)])
official.infer_Trange([(3, 5)], [(3, 4), (7, 10)])
official.produce_all_results()
official.read_all_as_events()
official.read_gz_data("data/x_groundtruth.gz")
official.test_events([(3, 4), (7, 10)])
cc.signature.parse(str(result.signature))
cc.datasets.demo()
cc.datasets.load_kdd2022("sub")
cc.datasets.load_nab("sub")
cc.datasets.read_esa_adb("sub", categories=["Anomaly"])
cc.datasets.read_nab("sub", missing="error")
cc.datasets.read_timeeval("sub", "sub", missing="error", timestamps=True)
cc.datasets.read_tsb_ad("data", missing="error")
cc.datasets.read_ucr("ucr", missing="error")
cc.check(result, min={"f1": 0.5}, max={"missed": 3}, baseline=result, tolerance=0.1)
cc.check({"a": result}, max={"false_alarms": 3}, detector="a")
cc.check(batch, min={"affiliation_f1": 0.1})
tables.alarm_rate(curve, 3)
tables.compare_files("table.csv", truth="T", predicted=["P"], scores=["S"], thresholds={"S": 0.5})
tables.curve_files("table.csv", truth="T", score="S", time="i", since=0, until=7)
tables.curve_columns(curve, points=10, chosen=curve.best())
tables.curve_report(curve, curve.best(), points=10)
tables.read_table("table.csv")
tables.BatchOptions.read(by="k", truth="T", score="S", threshold=0.5)
tables.evaluate_table(arrow_frame, asked)
tables.rows_schema(asked, arrow_frame.schema)
tables.score_files("table.parquet", truth="T", predicted="P", zero_division=0)
tables.write_table({"a": [1, 2]}, "written.csv")
plot.plot_batch([("x", "a", 0.5), ("x", "b", 0.7)], value="f1", best="highest", order="mean")
plot.plot_comparison(compared, scores=["f1"])
plot.plot_curve(curve, kind="froc")
plot.plot_distances(T, P, event=1, side="both")
plot.plot_events(T, P, times=dates, values=S, write="scores")
plot.plot_ranks(ranked, kind="matrix")
plot.plot_single_prediction()
chance.adjust_pvalues([0.1, 0.2], "holm")
statistics.compute_ranks({"a": [1, 2, 3, 4, 5, 6], "b": [2, 1, 2, 1, 2, 1]}, missing="worst")
statistics.compute_ranks({"a": T, "b": P}, higher_is_better=False, level=0.9, low=0, high=9)
statistics.compute_ranks({"a": T, "b": S}, metric="f1")
statistics.events_needed([0.1, 0.2, -0.1], power=0.8, level=0.9, widest=1.0, n=100, seed=1)
ranked.to_latex(caption="a", note="b")
compared.to_latex(level=0.9, n=100, caption="a", note="b")
batch.to_latex(level=0.9, n=100, caption="a", note="b")
statistics.mean_interval([0.1, 0.2, 0.4], level=0.9, n=100, seed=1)
statistics.hierarchical([0.1, 0.2, 0.3], [0.1, 0.3, 0.4], [0, 1, 2], level=0.9, n=100, seed=1)
plot.plot_survival(T, P, event=1, side="both")
""".strip().splitlines()
"""A valid call of everything public, or several."""

# Calls whose data is not there: the valid call is refused.
ABSENT = ("load_kdd2022", "load_nab", "read_esa_adb", "read_nab", "read_timeeval", "reproduce")

HOSTILE = """
None
True
0
-1
2
3
-0.0
0.5
nan
inf
-inf
5e-324
1e-170
1e308
10**30
-(10**30)
10**5000
2**63
2**63 - 1
-(2**63)
2**53 + 1
1j
Decimal("0.5")
Decimal("nan")
Decimal("snan")
Fraction(1, 3)
np.longdouble(1) / 3
np.float16(0.5)
np.uint64(2**64 - 1)
np.int8(-128)
np.bool_(True)
np.void(b"ab")
np.datetime64("NaT", "s")
np.datetime64("2024-01-01")
np.datetime64("10000-01-01T00:00:00")
np.datetime64(2**62, "Y")
np.timedelta64(1, "M")
np.timedelta64("NaT", "s")
np.timedelta64(1, "h")
np.timedelta64(2**62, "s")
dt.datetime.min
dt.datetime.max
dt.datetime(9999, 12, 31, 23, 59, 59, tzinfo=ZoneInfo("America/New_York"))
dt.datetime(1, 1, 1, tzinfo=ZoneInfo("Asia/Tokyo"))
dt.datetime(2024, 1, 1, tzinfo=dt.timezone(dt.timedelta(hours=23, microseconds=1)))
dt.datetime(2024, 1, 1, tzinfo=dt.UTC)
dt.date(2024, 1, 1)
dt.time(1)
dt.timedelta.max
dt.timedelta(seconds=-1)
dt.timedelta(hours=1)
pd.NaT
pd.NA
pd.Timestamp("2024-01-01", tz="Europe/Paris")
pd.Timestamp.max
pd.Timedelta(5)
pd.Period("2024-01")
""
"x"
"0.5"
"\\x1b[31m\\x00\\n"
"\\ud800"
"2024-01-01"
"f1"
"a" * 10000
b"x"
bytearray(b"\\x00\\x01")
memoryview(b"\\x00\\x01")
[]
()
{}
set()
[[]]
[None]
[[0, 1], [1]]
[(0, 1), (3, 2)]
[(3, 4), (7, 10)]
[(0, 1, 2)]
["a", 0]
[nan, 1]
[10**30, 0, 1]
[1, 2**63]
[0, 1e-170, 1]
[0, 5e-324, 1e-323]
[0.0, 1e-160, 2e-160]
{"a": 1}
{0: T}
{"": T}
{"a": None}
{"margin": 5}
{"x", "y"}
(x for x in [0, 1])
range(16)
range(10**12)
iter([0, 1])
np.array(0)
np.array([])
np.zeros((16, 2))
np.zeros((2, 0))
np.ones(16)
np.array(T, dtype=bool)
np.array(T, dtype=">i2")
np.array(T, dtype=np.uint64)
np.array(S, dtype=np.longdouble)
np.array(S, dtype=np.longdouble) / 3
np.array(S, dtype=np.float16)
np.array(S, dtype=complex)
np.array(S, dtype=object)
np.array(P, dtype=object)
np.array([np.array(T), np.array(S), 1], dtype=object)
np.array([[1], 2] + [0] * 14, dtype=object)
np.array(["a"] * 16)
np.array([b"a"] * 16)
np.array([(1, 2.0)] * 16, dtype=[("a", int), ("b", float)])
np.ma.array(T, mask=P)
np.ma.array(S)
np.array(dates, dtype="datetime64[ns]")
np.array(T, dtype="datetime64[Y]")
np.array(T, dtype="timedelta64[h]")
np.arange(16) * 1e-170
np.arange(16) * 5e-324
np.arange(16) * 1e300
np.arange(16) + 2**62
np.linspace(-(2.0**60), 2.0**60, 16)
np.array([0, *range(2**62, 2**62 + 15)])
-np.zeros(16)
np.full(16, inf)
np.full(16, nan)
pd.Series(T, dtype="Int64")
pd.Series(P, dtype="boolean")
pd.Series([None, *T[1:]], dtype="Int64")
pd.Series(S, dtype="string")
pd.Series(T).astype("category")
pd.date_range("2024", periods=16, tz="Asia/Kathmandu")
pd.date_range("2024", periods=16, tz=dt.timezone(dt.timedelta(seconds=1)))
pd.period_range("2024", periods=16, freq="D")
pd.interval_range(0, 16)
pl.Series(T)
pl.Series(S, dtype=pl.Float32)
pl.Series([None, *T[1:]])
pl.Series(dates)
pl.Series([[0]] * 16)
pl.Series(T, dtype=pl.Decimal)
pa.array(T)
pa.array(S)
pa.array([None, *T[1:]])
pa.array(dates, pa.timestamp("us", "Mars/Phobos"))
pa.array(dates, pa.timestamp("us", "../../etc/passwd"))
pa.array(dates, pa.timestamp("s", "+14:00"))
pa.array(["a"] * 16)
frame
pl.DataFrame({"a": T})
pa.table({"a": T})
truth
predicted
dated
cc.Events([])
cc.Events.from_points([1, 2])
cc.Events([(1, 5), (2, 3)])
cc.Events([(dt.datetime.min, dt.datetime.max)])
result
curve
cc
Exception
object()
type("Odd", (), {"__repr__": lambda self: 1 / 0})()
lambda: 0
lambda *x: "a"
lambda *x: 10**400
lambda *x: nan
print
Path("table.csv")
Path("sub")
Path("absent")
"sub"
"table.csv"
"embed"
"best_f1"
T
P
S
T * 2
dates
numbers
...
NotImplemented
""".strip().splitlines()

BOUND = 30.0  # seconds that a call of a small series may take


class TooLongError(BaseException):
    """A call has not come back."""


class Attempt(NamedTuple):
    """What was tried, and what came of it."""

    source: str
    outcome: str  # accepted, refused or failed
    detail: str = ""
    value: Any = None  # of what was accepted


@cache
def namespace() -> dict[str, Any]:
    """Return the names that calls use; files are written to the current folder."""
    names: dict[str, Any] = {"__name__": "fuzz"}
    exec(SETUP, names)  # noqa: S102 - it is the text above
    return names


@contextlib.contextmanager
def temporary_folder() -> Iterator[None]:
    """Work in a folder of its own, where hostile names may be written."""
    before = os.getcwd()  # noqa: PTH109 - it may be any
    with tempfile.TemporaryDirectory(ignore_cleanup_errors=True) as folder:
        os.chdir(folder)
        os.environ["https_proxy"] = os.environ["http_proxy"] = "http://127.0.0.1:9"  # no downloads
        try:
            namespace.cache_clear()
            namespace()
            yield
        finally:
            os.chdir(before)


def _places(call: ast.Call) -> list[tuple[Any, Any]]:
    """Find the values in a call that can be replaced: arguments, and what lists and dicts hold."""
    found: list[tuple[Any, Any]] = []

    def visit(holder: Any, key: Any) -> None:
        found.append((holder, key))
        value = holder[key] if isinstance(holder, list) else getattr(holder, key)
        if isinstance(value, ast.List | ast.Tuple):
            for index in range(len(value.elts)):
                visit(value.elts, index)
        elif isinstance(value, ast.Dict):
            for index in range(len(value.values)):
                found.append((value.keys, index))
                visit(value.values, index)

    for index in range(len(call.args)):
        visit(call.args, index)
    for keyword in call.keywords:
        visit(keyword, "value")
    return found


def _options(call: ast.Call) -> list[str]:
    """Return the options of the function that the call does not use."""
    function = eval(ast.unparse(call.func), namespace())  # noqa: S307 - text from above
    given = {keyword.arg for keyword in call.keywords}
    options = inspect.signature(function).parameters.values()
    return [p.name for p in options if p.kind is p.KEYWORD_ONLY and p.name not in given]


def _parsed(source: str) -> ast.Call:
    call = ast.parse(source, mode="eval").body
    if not isinstance(call, ast.Call):
        raise TypeError(source)
    return call


def replaced(source: str, which: int, hostile: str) -> str:
    """Replace one value of a call, or add an option: all places are counted, then all options."""
    call = _parsed(source)
    value, places = ast.parse(hostile, mode="eval").body, _places(call)
    if which >= len(places):
        call.keywords.append(ast.keyword(_options(call)[which - len(places)], value))
        return ast.unparse(call)
    holder, key = places[which]
    if isinstance(holder, list):
        holder[key] = value
    else:
        setattr(holder, key, value)
    return ast.unparse(call)


def replaceable(source: str) -> int:
    """Count the values of a call, and the options that it does not use."""
    call = _parsed(source)
    return len(_places(call)) + len(_options(call))


def use(value: Any) -> None:
    """Ask a result for all it has: computed when asked, and then as likely to fail."""
    repr(value)
    if type(value).__module__.partition(".")[0] != "closecall":
        return
    for name in dir(value):
        if name.startswith("_") and name not in {"_repr_html_", "__iter__"}:
            continue
        try:
            own = getattr(value, name)
        except ClosecallError:
            continue
        asked = name in {"_repr_html_", "__iter__", "to_dict", "to_frame"}
        if inspect.ismethod(own) and (asked or not inspect.signature(own).parameters):
            with contextlib.suppress(ClosecallError):
                own() if name != "__iter__" else list(own())


def _out_of_time(number: int, frame: FrameType | None) -> None:  # noqa: ARG001 - a handler's
    raise TooLongError


def run(source: str) -> Attempt:
    """Try a call; warnings are errors, and it must come back."""
    names = dict(namespace())
    quiet = io.StringIO()
    before = signal.signal(signal.SIGALRM, _out_of_time)
    signal.setitimer(signal.ITIMER_REAL, BOUND)
    try:
        with (
            warnings.catch_warnings(),
            contextlib.redirect_stdout(quiet),
            contextlib.redirect_stderr(quiet),
        ):
            warnings.simplefilter("error")
            value = eval(source, names)  # noqa: S307 - made of the texts above
            use(value)
    except (ClosecallError, OSError) as error:
        return Attempt(source, "refused", f"{type(error).__name__}: {error}")
    except TypeError as error:
        if "hash" in str(error) and _where(error) == " []":  # a key of a dict in the call
            return Attempt(source, "refused", str(error))
        return Attempt(source, "failed", f"TypeError: {error}"[:300] + _where(error))
    except (Exception, TooLongError) as error:  # noqa: BLE001 - that is what is looked for
        return Attempt(source, "failed", f"{type(error).__name__}: {error}"[:300] + _where(error))
    finally:
        signal.setitimer(signal.ITIMER_REAL, 0)
        signal.signal(signal.SIGALRM, before)
        names["plt"].close("all")
    return Attempt(source, "accepted", value=value)


def _where(error: BaseException) -> str:
    """Return the line of the package that an error came through last."""
    home = os.path.dirname(cc.__file__)  # noqa: PTH120 - a prefix of text
    places, trace = [], error.__traceback__
    while trace is not None:
        file = trace.tb_frame.f_code.co_filename
        if file.startswith(home):
            places.append(f"{file[len(home) + 1 :]}:{trace.tb_lineno}")
        trace = trace.tb_next
    return f" [{' < '.join(places[:-4:-1])}]"


def attempts(random: Random) -> Iterator[Attempt]:
    """Yield hostile calls and what came of them: each with one bad value, then with two."""
    places = [(source, which) for source in CALLS for which in range(replaceable(source))]
    every = range(len(places) * len(HOSTILE))
    for number in random.sample(every, len(every)):
        place, value = divmod(number, len(HOSTILE))
        yield run(replaced(*places[place], HOSTILE[value]))
    while True:
        source = replaced(*random.choice(places), random.choice(HOSTILE))
        which = random.randrange(replaceable(source))
        yield run(replaced(source, which, random.choice(HOSTILE)))
