"""Signatures: one line that fixes all that decides the digits of a result, and its way back.

``affiliation|thr:best_f1|ignore:none|step:none|zero-division:nan|series:1|data:ab12cd34|closecall:1.0``
is a list of metrics, joined by ``+``, with their parameters in brackets, and fields ``key:value``
in one order. ``sign`` builds it and `parse` reads it; what would break the line is written as in
addresses on the web, ``%7C`` for ``|``.
"""

from __future__ import annotations

import json
import re
from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from datetime import datetime, timedelta
from hashlib import blake2b
from math import nan
from operator import itemgetter
from typing import TYPE_CHECKING, Any, NamedTuple
from urllib.parse import quote, unquote
from zlib import crc32

import numpy as np

from closecall import __version__
from closecall.errors import InputError, InputTypeError, shown
from closecall.parameters import is_number
from closecall.series import Pair, Scored, TruthInSpan

if TYPE_CHECKING:
    from collections.abc import Iterator

    from numpy.typing import NDArray

    from closecall.clock import Tick, Ticks

__all__ = ["Signature", "parse"]


class _Field(NamedTuple):
    key: str
    short: str = ""
    default: Any = None
    always: bool = False  # in the long form, also where it is the default


# In the order of the line, by the names that options have in Python.
_FIELDS = {
    "threshold": _Field("thr", "t", always=True),
    "thresholds": _Field("thrs"),
    "folds": _Field("cross-fit", "x"),
    "fit_until": _Field("fit-until"),
    "fit": _Field("fit"),
    "retune": _Field("retune"),
    "beta": _Field("beta", "b", 1),
    "min_precision": _Field("min-precision"),
    "min_recall": _Field("min-recall"),
    "max_alarms_per": _Field("max-alarms-per"),
    "max_false_alarms_per": _Field("max-false-alarms-per"),
    "max_alarmed": _Field("max-alarmed"),
    "cooldown": _Field("cooldown"),
    "ignore": _Field("ignore", "i", always=True),
    "since": _Field("since"),
    "until": _Field("until"),
    "max_step": _Field("step", "s", always=True),
    "nan": _Field("nan", default="raise"),
    "disorder": _Field("disorder", default="error"),
    "zero_division": _Field("zero-division", "z", nan, always=True),
    "point_length": _Field("point-length", "p"),
    "close": _Field("close"),
    "decimals": _Field("decimals"),
    "n": _Field("shifts"),
    "correction": _Field("correction", default="holm"),
    "metric": _Field("ranks"),
    "detector": _Field("detector", default="detector"),
    "missing": _Field("missing", default="raise"),
    "level": _Field("level"),
    "resamples": _Field("resamples"),
    "block": _Field("block"),
    "seed": _Field("seed"),
    "budget": _Field("budget"),
    "series": _Field("series", "n", 1, always=True),
    "data": _Field("data", "d", always=True),
    "closecall": _Field("closecall", "v"),
}
_NAMES = {key: name for name, entry in _FIELDS.items() for key in (entry.key, entry.short) if key}
_ABOUT = ("series", "data", "closecall")  # what a result is of, and no option
_REQUIRED = _ABOUT[1:]
_FINGERPRINTS = ("ignore", "fit")  # which can be compared, and not read back
_SAFE = "!\"#$&'*./:;<>?@[\\]^`{}~-_"  # all that is printed but the marks of the grammar
_HINT = "Copy the whole line, such as affiliation|thr:0.7|series:1|data:ab12cd34|closecall:0.1.0."
_SECOND = 10**9  # nanoseconds
_UNITS = {"d": 86_400 * _SECOND, "h": 3_600 * _SECOND, "min": 60 * _SECOND, "s": _SECOND}
_UNITS |= {"ms": 10**6, "us": 10**3, "ns": 1}
_NUMBER = r"-?(?:\d+(?:\.\d+)?(?:e-?\d+)?|inf|nan)"
_LENGTH = re.compile(rf"(-?\d+)({'|'.join(_UNITS)})")
_RATE = re.compile(rf"({_NUMBER})/({_NUMBER}|{_LENGTH.pattern})")
_TIME = re.compile(r"\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d(?:\.(\d{6})(\d{3})?)?(Z?)")
_WORDS = {"none": None, "true": True, "false": False}
_AT_ONCE = 1 << 16  # scores that are brought to one form together
_LONGEST = 10**30  # integers from here on are not written: Python refuses to read long ones
_EXACT = 2**53  # every integer up to here is a float64
_METRIC = re.compile(r"[^+()|:,=]+(?:\([^()+|]+\))?")
_ANY = re.compile(r".+")
_FORMS = {  # of what cannot be read back
    "series": re.compile(r"\d+"),
    "data": re.compile(r"none|[a-f][0-9a-f]{7}"),
    "closecall": _ANY,
    **dict.fromkeys(_FINGERPRINTS, re.compile(r"none|#[a-f][0-9a-f]{7}/.+")),
}


@dataclass(frozen=True, slots=True, repr=False)
class Signature:
    """What decided the digits of a result: its text is one line, which `parse` reads.

    Examples
    --------
    >>> import closecall as cc
    >>> s = cc.affiliation([0, 1, 1, 0], [0, 1, 0, 0], zero_division=0).signature
    >>> print(s.short)
    affiliation|z:0|d:c9fe0803|v:...
    >>> cc.signature.parse(str(s)) == s, s.options
    (True, {'zero_division': 0})
    """

    parts: tuple[tuple[str, str], ...]
    """The metrics, and each option that is not the default, by its name in Python, as text."""

    def __str__(self) -> str:
        """Return the whole line."""
        (_, metrics), *given = self.parts
        texts = dict(given)
        shown = {
            entry.key: texts.get(name, _default(name))
            for name, entry in _FIELDS.items()
            if name in texts or entry.always
        }
        return "|".join([metrics, *map(":".join, shown.items())])

    @property
    def short(self) -> str:
        """The same without defaults, in short words; `parse` reads it too."""
        (_, metrics), *given = self.parts
        keys = ((_FIELDS[name], text) for name, text in given)
        return "|".join([metrics, *(f"{entry.short or entry.key}:{text}" for entry, text in keys)])

    @property
    def metrics(self) -> dict[str, dict[str, Any]]:
        """The metrics, with the parameters that are not their defaults."""
        found = {}
        for text in self.parts[0][1].split("+"):
            name, _, inside = text.removesuffix(")").partition("(")
            found[unquote(name)] = _read_pairs(inside)
        return found

    @property
    def options(self) -> dict[str, Any]:
        """The options that are not the defaults, by their names in Python, to call again with.

        What is ignored, or fitted on, is not among them: its fingerprint is in the line only.
        """
        return {
            name: _read_pairs(text) if name == "thresholds" else _value(unquote(text))
            for name, text in self.parts[1:]
            if name not in (*_ABOUT, *_FINGERPRINTS)
        }

    @property
    def data(self) -> str:
        """A hash of the series, eight characters; ``none`` where it is not known."""
        return dict(self.parts)["data"]

    @property
    def version(self) -> str:
        """The version of closecall."""
        return unquote(dict(self.parts)["closecall"])

    @property
    def note(self) -> str:
        """The short form as a sentence, as it stands below tables."""
        return f"Signature: {self.short}"

    def naming(self, metrics: str | Mapping[str, Mapping[str, Any]]) -> Signature:
        """Return the same of other metrics."""
        return _in_order(dict(self.parts) | {"metrics": _metrics_text(metrics)})

    def adding(self, **options: Any) -> Signature:
        """Return the same with more options, or others; a default is left out."""
        more = {name: _option(name, value) for name, value in options.items()}
        return _in_order(dict(self.parts) | more)

    def drawing(self, level: Any = None, n: Any = 2000, seed: Any = 0, block: Any = 1) -> Signature:
        """Return the same with intervals of that level, and how they were drawn; None are none."""
        if level is None:
            return self
        unusual = {"seed": seed if seed != 0 else None, "block": block if block != 1 else None}
        return self.adding(level=level, resamples=n, **unusual)

    def __repr__(self) -> str:
        return f"Signature({str(self)!r})"


def sign(
    metrics: str | Mapping[str, Mapping[str, Any]],
    data: TruthInSpan | Mapping[str, TruthInSpan] | str | None,
    *,
    samples: bool = False,
    **options: Any,
) -> Signature:
    """Return the signature of metrics of a series, or of detectors on it by name.

    `options` go by their names in Python, and those of the first series with them. `data` may be a
    hash that is known; None is not. `samples` is that of `data_hash`.
    """
    if not (data is None or isinstance(data, str)):
        several = data if isinstance(data, Mapping) else {"": data}
        options = options_of(next(iter(several.values()))) | options
        data = joined_hash({name: data_hash(one, samples=samples) for name, one in several.items()})
    about = {"data": data or "none", "closecall": __version__}
    return Signature((("metrics", _metrics_text(metrics)),)).adding(**options, **about)


def _metrics_text(metrics: str | Mapping[str, Mapping[str, Any]]) -> str:
    asked = {metrics: {}} if isinstance(metrics, str) else metrics
    names = {
        _escaped(name).replace(":", "%3A"): parameters for name, parameters in sorted(asked.items())
    }
    return "+".join(
        f"{name}({pairs_text(parameters)})" if parameters else name
        for name, parameters in names.items()
    )


def parse(text: str) -> Signature:
    """Read a signature back, in its long or its short form.

    Parameters
    ----------
    text
        The line, as a result or a command wrote it.

    Returns
    -------
    Signature
        ``metrics`` and ``options`` are what to call again with, ``data`` and ``version`` what to
        compare: with all of them equal, all digits are.

    Raises
    ------
    InputError
        If it is no signature, or one with a part that this version does not know.

    Examples
    --------
    >>> import closecall as cc
    >>> s = parse("affiliation|thr:quantile:0.99|step:10min|series:1|data:ab12cd34|closecall:0.1.0")
    >>> s.options
    {'threshold': 'quantile:0.99', 'max_step': datetime.timedelta(seconds=600)}
    """
    given: Any = text
    if not isinstance(given, str):
        raise InputTypeError("to be a signature", shown(given), argument="text")
    texts = _read_parts(text)
    found = _in_order(texts)
    try:
        again = sign(found.metrics, found.data, **found.options)
    except (ValueError, OverflowError):
        raise _unreadable("to have values that can be read", shown(text)) from None
    kept = {name: texts[name] for name in _FORMS if name in texts}
    if _in_order(dict(again.parts) | kept) != found:
        raise _unreadable("to have values as closecall writes them", shown(text))
    return found


def _read_parts(text: str) -> dict[str, str]:
    """Take a line apart; raise if a part is unknown, missing or there twice."""
    metrics, *fields = text.strip().split("|")
    if not all(map(_METRIC.fullmatch, metrics.split("+"))):
        raise _unreadable("to begin with metrics, such as affiliation", shown(metrics))
    texts = {"metrics": metrics}
    for field in fields:
        key, _, value = field.partition(":")
        name = _NAMES.get(key)
        if name is None or not _FORMS.get(name, _ANY).fullmatch(value):
            raise _unreadable("to have parts that are known", shown(field))
        if name in texts:
            raise _unreadable("to have each part once", shown(field))
        texts[name] = value
    for name in _REQUIRED:
        if name not in texts:
            raise _unreadable(f"to have the part `{_FIELDS[name].key}`", shown(text))
    return texts


def _unreadable(rule: str, got: str) -> InputError:
    return InputError(f"a signature {rule}", got, hint=_HINT)


def _in_order(texts: Mapping[str, str]) -> Signature:
    """Return parts in the one order, without defaults."""
    kept = {
        name: texts[name]
        for name in ("metrics", *_FIELDS)
        if name in texts and (name in ("metrics", *_REQUIRED) or texts[name] != _default(name))
    }
    return Signature(tuple(kept.items()))


def _default(name: str) -> str:
    return _escaped(value_text(_FIELDS[name].default))


def _option(name: str, value: Any) -> str:
    if isinstance(value, Mapping):
        return pairs_text(value)
    told = name in (*_ABOUT, *_FINGERPRINTS) and value is not None
    return _escaped(str(value) if told else value_text(value, name))


def pairs_text(values: Mapping[str, Any]) -> str:
    """Write values by name."""
    named = sorted(((str(name), value) for name, value in values.items()), key=itemgetter(0))
    texts = ((_escaped(name), _escaped(value_text(value, name))) for name, value in named)
    return ",".join(map("=".join, texts))


def _read_pairs(text: str) -> dict[str, Any]:
    pairs = (pair.partition("=") for pair in text.split(",") if pair)
    return {unquote(name): _value(unquote(value)) for name, _, value in pairs}


def _escaped(text: str) -> str:
    return quote(text, safe=_SAFE, errors="surrogatepass")


def value_text(value: Any, name: str = "value") -> str:  # noqa: PLR0911 - one for each kind
    """Write an option exactly, so that it can be read again.

    What has no short text, such as a function or an array, is ``#`` and its name.

    >>> [*map(value_text, (None, 2.0, 0.1, timedelta(minutes=90), (2, timedelta(days=1)), "x"))]
    ['none', '2', '0.1', '90min', '2/1d', 'x']
    >>> value_text(lambda overlaps: 1 / overlaps, "cardinality")
    '#cardinality'
    """
    if value is None or isinstance(value, bool | np.bool_):
        return "none" if value is None else str(bool(value)).lower()
    if isinstance(value, str):
        return value if _is_bare(value) else json.dumps(value)
    if isinstance(value, timedelta | np.timedelta64):
        return _length_text(value)
    if is_number(value):
        if isinstance(value, int) and abs(value) >= _LONGEST:
            return f"#{name}"
        number = value if isinstance(value, int | np.integer) else float(value)
        whole = not isinstance(number, float) or (number.is_integer() and abs(number) < _EXACT)
        return str(int(number)) if whole else repr(number).replace("e+", "e")
    if isinstance(value, datetime | np.datetime64):
        return _time_text(value)
    if isinstance(value, tuple) and len(value) == 2 and _RATE.fullmatch(_rate_text(value)):  # noqa: PLR2004
        return _rate_text(value)
    return f"#{name}"


def _is_bare(text: str) -> bool:
    """Whether a text is read as itself without quotes."""
    try:
        return bool(text) and _value(text) == text
    except ValueError:
        return False


def _rate_text(pair: tuple[Any, Any]) -> str:
    return "/".join(map(value_text, pair))


def _length_text(value: timedelta | np.timedelta64) -> str:
    """Write a length of time in the longest unit that it is a whole number of."""
    exact = value.to_timedelta64() if hasattr(value, "to_timedelta64") else value
    if isinstance(exact, np.timedelta64):
        unit, count = np.datetime_data(exact.dtype)
        long = {"W": 7 * _UNITS["d"], "D": _UNITS["d"], "m": _UNITS["min"]}
        size = long.get(unit) or _UNITS.get(unit)
        if np.isnat(exact) or size is None:
            return str(exact)
        nanoseconds = int(exact.astype(np.int64)) * count * size
    else:
        nanoseconds = exact // timedelta(microseconds=1) * 1000
    if nanoseconds == 0:
        return "0s"
    unit = next(unit for unit, size in _UNITS.items() if nanoseconds % size == 0)
    return f"{nanoseconds // _UNITS[unit]}{unit}"


def _time_text(value: datetime | np.datetime64) -> str:
    """Write a time as ISO 8601; one with a zone in UTC."""
    if str(value) == "NaT":
        return "NaT"
    zoned = isinstance(value, datetime) and value.utcoffset() is not None
    if hasattr(value, "to_datetime64"):  # a pandas stamp, which knows nanoseconds
        value = value.to_datetime64()
    if isinstance(value, datetime):
        # numpy has years beyond those of Python's own dates, to which an offset may lead.
        offset = np.timedelta64(value.utcoffset() or timedelta(0))
        stamp: Any = np.datetime64(value.replace(tzinfo=None), "us") - offset
    else:
        stamp = value.astype("datetime64[us]")
        stamp = stamp if stamp == value else value.astype("datetime64[ns]")
    return str(stamp).removesuffix(".000000") + "Z" * zoned


def _value(text: str) -> Any:  # noqa: PLR0911 - as above
    """Read what `value_text` wrote."""
    if text in _WORDS:
        return _WORDS[text]
    if re.fullmatch(_NUMBER, text):
        return int(text) if text.removeprefix("-").isdecimal() else float(text)
    if length := _LENGTH.fullmatch(text):
        nanoseconds = int(length[1]) * _UNITS[length[2]]
        if nanoseconds % 1000:
            return np.timedelta64(nanoseconds, "ns")
        return timedelta(microseconds=nanoseconds // 1000)
    if time := _TIME.fullmatch(text):
        if time[2]:
            return np.datetime64(text.removesuffix("Z"), "ns")
        return datetime.fromisoformat(text)
    if _RATE.fullmatch(text):
        return tuple(map(_value, text.split("/")))
    return json.loads(text) if text.startswith('"') else text


def options_of(series: TruthInSpan) -> dict[str, Any]:
    """Return the options that decided how a series was read."""
    return {"ignore": ignored_text(series)} | series.asked


def ignored_text(series: TruthInSpan) -> str | None:
    """Return a fingerprint of ignored time, and how long it is; None if there is none."""
    ignored = series.ignored
    if ignored is None:
        return None
    fingerprint = _hash(_bytes(ends, series) for ends in (ignored.starts, ignored.stops))
    return f"#{fingerprint}/{value_text(series.ignored_time)}"


def fit_text(series: TruthInSpan) -> str | None:
    """Return a fingerprint of the only time that is not ignored, and how long it is."""
    length = series.clock.duration(np.array([float(series.stop - series.start)]))[0]
    return f"{ignored_text(series)}".partition("/")[0] + f"/{value_text(length)}"


def joined_hash(hashes: Mapping[str, str]) -> str:
    """Return one hash for those of several detectors by name, in any order; a single one stays."""
    if len(hashes) == 1:
        return next(iter(hashes.values()))
    return _hash(
        f"{name}\0{text}\n".encode(errors="surrogatepass") for name, text in sorted(hashes.items())
    )


def rows_hash(hashes: Mapping[str, list[str]]) -> str:
    """Return one hash for those of the series of each detector, in their order."""
    one_each = {
        name: texts[0] if len(texts) == 1 else text_hash(" ".join(texts))
        for name, texts in hashes.items()
    }
    return joined_hash(one_each)


def text_hash(text: str) -> str:
    """Return a hash of a text."""
    return _hash([text.encode()])


def data_hash(*series: TruthInSpan, samples: bool = False) -> str:
    """Return a hash of all that decides digits beside the options, the same on every machine.

    It is of the true events, the alarms or scores, and the evaluated time, counted from its start
    as far as that is exact; of labels and of the Events made of them it is the same, unless the
    digits depend on where `samples` are. O(N).
    """
    return _hash(part for one in series for part in _contents(one, samples=samples))


def _contents(series: TruthInSpan, *, samples: bool) -> Iterator[bytes]:
    truth = series.truth
    head = (series.clock.kind, *series.left_out, len(truth), ignored_text(series))
    yield f"{head} ".encode()
    yield _bytes(np.array([series.start, series.stop]), series)
    yield _bytes(np.concatenate((truth.starts, truth.stops)), series)
    if isinstance(series, Pair):
        yield f"alarms {len(series.predicted)} {_step_text(series)} ".encode()
        yield _bytes(np.concatenate((series.predicted.starts, series.predicted.stops)), series)
        if samples:
            yield from _samples(series)
    if isinstance(series, Scored):
        yield f"scores {series.all_scores.size} ".encode()
        yield from _samples(series)
        if series.kept is not None:
            yield np.packbits(series.kept).tobytes()
        yield f"{_checksum(series.all_scores, ignored=series.kept is not None)}".encode()


def _step_text(pair: Pair) -> str:
    """Tell samples that alarms are moved by, unless the times of all events say the same."""
    step = pair.sample_step
    if step is None:
        return ""
    if pair.clock.kind == "number":
        return str(round((pair.stop - pair.start) / step))
    return "" if step == pair.whole_step else _exact_text(step, pair)


def _samples(series: TruthInSpan) -> Iterator[bytes]:
    """Tell where samples are; Events have none."""
    axis = series.axis
    if axis is not None:
        step = None if series.clock.kind == "number" else axis.even_step()
        told = None if step is None else _exact_text(step, series)
        borders = axis.borders(None if step is None else np.array([0, axis.length]))
        yield f"{axis.length} {told} {crc32(_bytes(borders, series))} ".encode()


def _checksum(scores: NDArray[Any], *, ignored: bool) -> int:
    """Return a checksum of scores, which takes a quarter of the time of a hash of them."""
    kind, found = scores.dtype.kind, 0
    wide = kind != "f" and not -_EXACT <= int(scores.min()) <= int(scores.max()) <= _EXACT
    for first in range(0, scores.size, _AT_ONCE):
        some = scores[first : first + _AT_ONCE].astype(f"<{kind}8" if wide else "<f8", copy=False)
        if not wide:
            some = some + 0.0  # no -0.0
        if ignored and not wide:
            some[np.isnan(some)] = nan  # of which there are many
        found = crc32(some.data, found)
    return found


def _exact_text(step: Tick, series: TruthInSpan) -> str:
    """Write a step that is exact; of dates in nanoseconds, whatever unit they have."""
    dated = series.clock.kind == "datetime"
    return str(int(step) * (_SECOND // series.clock.ticks_per_second if dated else 1))


def _bytes(ticks: Ticks, series: TruthInSpan) -> bytes:
    """Write times, exact ones from the start; dates as seconds, and nanoseconds if there are any.

    So the same times in any unit are the same.
    """
    if series.clock.kind == "number":
        return (ticks + 0.0).astype("<f8").tobytes()  # no -0.0
    offsets = (ticks - series.start).astype("<i8", copy=False)
    if series.clock.kind == "integer":
        return offsets.tobytes()
    per_second = series.clock.ticks_per_second
    seconds, rest = np.divmod(offsets, per_second)
    rest *= _SECOND // per_second
    return seconds.tobytes() + (rest.tobytes() if rest.any() else b"")


def _hash(parts: Iterable[bytes]) -> str:
    """Return eight characters; the first is a letter, so that no program reads a number."""
    digest = blake2b(digest_size=4)
    for part in parts:
        digest.update(part)
    text = digest.hexdigest()
    return "abcdef"[int(text[0], 16) % 6] + text[1:]
