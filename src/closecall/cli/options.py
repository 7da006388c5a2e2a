"""Options that commands share, and how what is typed is read."""

from __future__ import annotations

import re
from collections import Counter
from datetime import datetime, timedelta
from functools import cached_property, wraps
from typing import TYPE_CHECKING, Any

import click

from closecall.cli import RefusedError
from closecall.cli.output import FORMATS, Output, compile_notice
from closecall.errors import OUT_OF_ORDER, ClosecallError, InputError, reason, worded
from closecall.files import are_one_file, require_apart
from closecall.parameters import UNITS, duration_of_text, read_rate
from closecall.scores import NAN
from closecall.tables.reading import MEMORY
from closecall.tables.series import DISORDERS, Inputs, ReadingOptions
from closecall.tables.times import FOLDS, TIME_UNITS

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable

    from closecall.affiliation.rules import ThresholdRule

    _Decorator = Callable[[Callable[..., Any]], Callable[..., Any]]

OUTPUT = "-o --out --output"  # messages name the last

_READ = (
    *("truth_file", "other_file", "file", "data", "ignore", "baseline"),
    *("batch", "scores_folder"),
)
_WRITTEN = ("output_file", "output", "plot_file", "out", "resume", "state", "junit", "markdown")
_SIGNIFICANCE = "--significance"
_MOST_SHIFTS = 1_000_000  # as in `closecall.chance`, which takes longer to import
_LEVEL, _RESAMPLES = 0.95, 2000
_MOST_EVENTS = 40  # rows of a table, unless all are asked for
OFFSETS = "Write all of them with an offset, as 2024-01-31T08:05+01:00, or none of them"
_HINTS = {
    "dated_length": "The times are datetimes, so give the length a unit: ms, s, min, h or d, as in "
    "10min.",
    "event_columns": "Call them start and stop there.",
    "metric_parameter": "Pass --metric {metric}:{parameter}=10, or {parameter}=10min beside "
    "datetimes.",
    "mixed_zones": f"{OFFSETS}.",
    "open_event": "Let such events last to the end of the series with `--open until-end`.",
    "other_labels": "Write 1 where a value marks an anomaly, and 0 elsewhere.",
    "outside_span": "Widen --span, or leave time out with --from and --until instead.",
    "overlapping_events": "Join them with --merge.",
    "repeated_times": "Keep one sample of each time with --disorder first, last or mean.",
    "unsorted_times": "Put them in order with --disorder sort; several series in one file are for "
    "`closecall batch --by`.",
    "zone_of_several": "Give each file its zone, for example --timezone {first}={zone} --timezone "
    "{second}=UTC.",
}
"""What to do on the command line, by the code of an error."""
_ZONED = f"{OFFSETS}; or say what those without are in with --timezone."
_COUNTED = (
    "Give all times as dates, or all as numbers; if numbers count from 1970, say in which unit "
    "with --time-unit."
)
_STREAMED = "A stream is scored as it comes. Of a file, `closecall score` takes --disorder."
_CALLS = {"closecall.metrics.table()": "closecall metrics"}
_BRACKETS = "'\"()[]"
_ALIASES = {"times": "time", "scores": "score"}


class Command(click.Command):
    """A command that announces compilation, and puts errors in terms of its options."""

    def invoke(self, ctx: click.Context) -> Any:
        """Run, say why if it takes some seconds to start, and put errors in terms of options."""
        try:
            self._require_apart(ctx.params)
            with compile_notice():
                return super().invoke(ctx)
        except ClosecallError as error:
            message = worded(error, self._called(ctx.params), self._hints)
            raise RefusedError(message, error.exit_status) from error

    def parse_args(self, ctx: click.Context, args: list[str]) -> list[str]:
        """Raise on a negative number of shifts, and on what is given twice and would be dropped."""
        # To click, what starts with a dash is another option wherever a value may be left out.
        options = args[: args.index("--")] if "--" in args else args
        for option, following in zip(options, [*options[1:], ""], strict=False):
            name, _, value = option.partition("=")
            if name == _SIGNIFICANCE and re.match(r"-\d", value or following):
                parse_shifts(value or following)
        _, _, given = self.make_parser(ctx).parse_args([*args])
        for parameter, count in Counter(given).items():
            if count > 1 and isinstance(parameter, click.Option) and not parameter.multiple:
                # click would take the last one, and drop the others.
                message = f"{parameter.opts[-1]} is given {count} times, and takes one value."
                raise click.UsageError(message, ctx)
        return super().parse_args(ctx, args)

    def _require_apart(self, values: dict[str, Any]) -> None:
        """Raise if a file that an option has written is read, or written by another option."""
        named = (values.get(name) or () for name in _READ)
        read = [path for one in named for path in ([one] if isinstance(one, str) else one)]
        written: list[str] = []
        for option in self.params:
            path = values[str(option.name)] if option.name in _WRITTEN else None
            if path and option.metavar != "DIR":
                require_apart(option.opts[-1], [path], read)
                again = option.name == "resume"  # it may name --output
                if not again and any(are_one_file(path, other) for other in written):
                    rule = "to write to a file of its own"
                    raise InputError(
                        rule, f"{path}, which another option names", argument=option.opts[-1]
                    )
                written.append(path)

    @cached_property
    def _hints(self) -> dict[str, str]:
        names = {parameter.name for parameter in self.params}
        zones = {"mixed_zones": _ZONED} if "timezone" in names else {}
        zones |= {"mixed_kinds": _COUNTED} if "time_unit" in names else {}
        streamed = dict.fromkeys(OUT_OF_ORDER, _STREAMED) if "disorder" not in names else {}
        return _HINTS | zones | streamed

    def _called(self, values: dict[str, Any]) -> Callable[[str], str]:
        """Return what arguments are called here: `--from` for `since`, `--end 9` for `end=9`."""
        options: dict[str, str] = {}
        for parameter in self.params:
            if isinstance(parameter, click.Option):
                option = parameter.opts[-1]
                names = (str(parameter.name), option.removeprefix("--").replace("-", "_"))
                options |= dict.fromkeys(names, option)
        aliases = {name: options[other] for name, other in _ALIASES.items() if other in options}
        # Beside a layout, `scores` are a folder.
        options = aliases | options if values.get("layout") else options | aliases

        def called(code: str) -> str:
            name, _, value = code.partition("=")
            name, _, key = name.partition("[")
            if name not in options:
                return _CALLS.get(code, code)
            key = key.strip(_BRACKETS)
            if key.isdecimal():  # a part of a value
                return options[name]
            value = key or value.rpartition("(")[2].strip(_BRACKETS).replace(" ", "T")
            return f"{options[name]} {value}" if value not in {"", "True"} else options[name]

        return called


def parse_number(text: str) -> int | float | None:
    """Read an integer or a float; None if the text is neither.

    >>> parse_number("7"), parse_number("0.7"), parse_number("best_f1")
    (7, 0.7, None)
    """
    for kind in (int, float):
        try:
            return kind(text)
        except ValueError:
            continue
    return None


def parse_time(text: str) -> int | float | datetime:
    """Read an integer, a float or an ISO time, whichever the text is.

    >>> parse_time("120"), parse_time("0.5"), parse_time("2024-01-31T08:05")
    (120, 0.5, datetime.datetime(2024, 1, 31, 8, 5))
    """
    number = parse_number(text)
    if number is not None:
        return number
    try:
        return datetime.fromisoformat(text)
    except ValueError:
        message = f"{text!r} is neither a number nor an ISO time such as 2024-01-31T08:05:00."
        raise click.BadParameter(message) from None


def parse_budget(text: str) -> tuple[float, float | timedelta]:
    """Read ``COUNT/DURATION``; a duration without a unit is a number, as the axis has it.

    >>> parse_budget("2/day"), parse_budget("5/8h"), parse_budget("3/100")
    ((2.0, datetime.timedelta(days=1)), (5.0, datetime.timedelta(seconds=28800)), (3.0, 100.0))
    """
    rate: tuple[float, float | timedelta] = _read(read_rate, text, "rate")
    return rate


def parse_duration(text: str) -> float | timedelta:
    """Read a length of time with a unit, or a number, as the axis has it.

    >>> parse_duration("5min"), parse_duration("10")
    (datetime.timedelta(seconds=300), 10)
    """
    number = parse_number(text)
    if number is not None:
        return number
    duration = duration_of_text(text)
    if duration is None:
        message = (
            f"{text!r} is neither a number nor a length of time such as 5min; "
            f"units are {', '.join(UNITS)}."
        )
        raise click.BadParameter(message)
    return duration


def parse_metric(text: str) -> tuple[str, dict[str, Any]]:
    """Read a metric with its parameters, ``NAME`` or ``NAME:PARAMETER=VALUE,...``.

    >>> parse_metric("time_aware:theta=0.5,delta=180")
    ('time_aware', {'theta': 0.5, 'delta': 180})
    >>> parse_metric("margin:margin=10min")
    ('margin', {'margin': datetime.timedelta(seconds=600)})
    """
    name, colon, rest = text.partition(":")
    parameters: dict[str, Any] = {}
    for part in rest.split(",") if colon else ():
        key, equals, value = (piece.strip() for piece in part.partition("="))
        if not (key and equals and value):
            message = f"{part!r} in {text!r} is no PARAMETER=VALUE, such as theta=0.5."
            raise click.BadParameter(message)
        if key in parameters:
            raise click.BadParameter(f"{key} is given twice in {text!r}.")
        number, duration = parse_number(value), duration_of_text(value)
        if duration is not None:
            parameters[key] = duration
        else:
            parameters[key] = value if number is None else number
    return name.strip(), parameters


def parse_rule(text: str) -> ThresholdRule:
    """Read a number or a rule."""
    from closecall.affiliation.rules import ThresholdRule  # which only scores need

    number = parse_number(text)
    rule: ThresholdRule = _read(ThresholdRule.read, text if number is None else number)
    return rule


def _read(read: Callable[..., Any], *values: Any) -> Any:
    """Read a value as the library does; what is wrong with it is wrong with the option."""
    try:
        return read(*values)
    except InputError as error:
        raise click.BadParameter(f"{reason(error)} {error.hint}".strip()) from None


def parse_threshold(text: str) -> tuple[str | None, ThresholdRule]:
    """Read the rule of one detector, ``COLUMN=RULE``, or of all, ``RULE``; a number is one.

    >>> parse_threshold("a=b=0.5"), str(parse_threshold("sigma:3")[1])
    (('a=b', ThresholdRule(kind='number', value=0.5)), 'sigma:3')
    """
    name, equals, rule = text.rpartition("=")
    if equals and not name:
        raise click.BadParameter(f"{text!r} names no column; write COLUMN=RULE, as score=0.7.")
    return name or None, parse_rule(rule)


def read_thresholds(
    thresholds: tuple[tuple[str | None, ThresholdRule], ...], scores: Iterable[str]
) -> dict[str, ThresholdRule]:
    """Return rules by detector; what is of all is of those that have none of their own."""
    given = dict(thresholds)
    if len(given) < len(thresholds):
        raise click.UsageError("--threshold is given twice for one column.")
    named = {name: value for name, value in given.items() if name is not None}
    if None not in given:
        return named
    every = dict.fromkeys(scores, given[None])
    if not every:
        raise click.UsageError("--threshold is of --score, which is not given.")
    return every | named


def parse_shifts(text: str) -> int:
    """Read how many shifts to draw; the option may stand alone, so what follows it is checked."""
    # Python does not read thousands of digits.
    count = int(text) if text.isdecimal() and len(text) <= len(f"{_MOST_SHIFTS:,}") else 0
    if not 1 <= count <= _MOST_SHIFTS:
        message = (
            f"{text[:80]!r} is no whole number from 1 to {_MOST_SHIFTS:,}. "
            "Write --significance=1000, or put --significance last."
        )
        context = click.get_current_context(silent=True)
        raise click.BadParameter(message, context, param_hint=f"'{_SIGNIFICANCE}'")
    return count


def _each_once(
    _: click.Context, __: click.Parameter, metrics: tuple[tuple[str, dict[str, Any]], ...]
) -> dict[str, dict[str, Any]] | None:
    """Return parameters by metric, None if no metric is named; raise if one is named twice."""
    chosen = dict(metrics)
    if len(chosen) < len(metrics):
        names = [name for name, _ in metrics]
        twice = next(name for name in names if names.count(name) > 1)
        message = f"--metric {twice} is given twice; a metric has one set of parameters in a run."
        raise click.UsageError(message)
    return chosen or None


def parse_zone(text: str) -> tuple[str | None, str]:
    """Read the zone of one file, ``FILE=ZONE``, or of all, ``ZONE``.

    >>> parse_zone("truth=Europe/Berlin"), parse_zone("UTC")
    (('truth', 'Europe/Berlin'), (None, 'UTC'))
    """
    file, equals, zone = text.rpartition("=")
    return (file if equals else None), zone


def _zones(_: click.Context, __: click.Parameter, zones: tuple[tuple[str | None, str], ...]) -> Any:
    """Return a zone, zones by file, or None; raise if one is given twice, or for all and a file."""
    given = dict(zones)
    if len(given) < len(zones) or (None in given and len(given) > 1):
        message = "--timezone is given once for all files, or once for each, as truth=ZONE."
        raise click.UsageError(message)
    return given.get(None, given or None)


def _interval_settings(
    *, intervals: bool, level: float | None, resamples: int | None, block: int | None = None
) -> dict[str, Any] | None:
    """Return the level, the number of resamples and the block, if intervals are asked for."""
    if intervals:
        from closecall.statistics.intervals import read_level

        level = read_level(_LEVEL if level is None else level)
        settings = {"level": level, "n": _RESAMPLES if resamples is None else resamples}
        return settings if block is None else settings | {"block": block}
    if (level, resamples, block) != (None, None, None):
        names = "--level and --resamples" if block is None else "--level, --resamples and --block"
        message = f"{names} are of --intervals, which is not given."
        raise click.UsageError(message)
    return None


_KINDS = {"TIME": parse_time, "DURATION": parse_duration, "COUNT/DURATION": parse_budget}
"""How a value is read, by what the help calls it."""


def all_of(*options: _Decorator) -> _Decorator:
    """Add several options, in the order of the help."""

    def decorate(function: Callable[..., Any]) -> Callable[..., Any]:
        for each in reversed(options):
            function = each(function)
        return function

    return decorate


def option(usage: str, text: str, *name: str, **more: Any) -> _Decorator:
    """Add an option by what the help shows, ``--end TIME``; without a value it is a flag.

    The name is that of the command's argument, if it is another than the option's.
    """
    opts = [word for word in usage.split() if word.startswith("-")]
    metavar = usage.removeprefix(" ".join(opts)).strip() or None
    kind: dict[str, Any] = {"type": _KINDS[metavar]} if metavar in _KINDS else {}
    if metavar is None or "flag_value" in more:  # which stands for a value that is left out
        kind["is_flag"] = metavar is None
    return click.option(*opts, *name, metavar=metavar, help=text, **kind | more)


def choice(usage: str, text: str, *choices: str) -> _Decorator:
    """Add an option that is one of these, the first if it is not given."""
    return click.option(usage, type=click.Choice(choices), default=choices[0], help=text)


def as_one(
    name: str, make: Callable[..., Any], taken: Iterable[str], *options: _Decorator
) -> _Decorator:
    """Add options, of which those `taken` reach the command as one argument, which `make` makes."""

    def decorate(function: Callable[..., Any]) -> Callable[..., Any]:
        @wraps(function)
        def command(**given: Any) -> Any:
            values = {key: given.pop(key) for key in taken if key in given}
            return function(**{name: make(**values)}, **given)

        return all_of(*options)(command)

    return decorate


time_unit = option(
    "--time-unit s|ms|us|ns",
    "What times that are numbers count from 1970 in UTC; just numbers if not given.",
    type=click.Choice(TIME_UNITS),
)
predicted = option(
    "--predicted COLUMN",
    "0/1 column of a detector, or START,STOP; repeat it, or give a pattern, for several.",
    multiple=True,
)
score = option(
    "--score COLUMN",
    "Column of a detector's scores, higher is more anomalous; repeat it, or give a pattern.",
    "scores",
    multiple=True,
)
thresholds = option(
    "--threshold [COLUMN=]RULE",
    "Where to cut scores, all or a column's: a number or a rule (`closecall curve --help` lists "
    "them); by default at the highest F1.",
    "thresholds",
    type=parse_threshold,
    multiple=True,
)
by = option("--by COLUMN", "Column that tells series apart; repeat it.", multiple=True)
by_column = option(
    "--by-column COLUMN",
    "Count the events caught and missed by a column of their list, such as severity.",
    multiple=True,
)
significance = option(
    f"{_SIGNIFICANCE} [N]",
    "Test against up to N shifts of the predictions (1000 if not given): p-values.",
    "shifts",
    flag_value="1000",
    type=parse_shifts,
)
reading = all_of(
    option(
        "--encoding NAME",
        "How the text of CSV files is encoded, as latin-1 or utf-16.",
        default="utf-8",
    ),
    option(
        "--memory GB",
        "How much memory one series may take; a larger one is refused.",
        type=float,
        default=MEMORY,
    ),
)


def metric(text: str) -> _Decorator:
    """Add --metric, which may be repeated; the command gets parameters by metric."""
    names = "--metric NAME[:P=V,...]"
    return option(names, text, "metrics", type=parse_metric, multiple=True, callback=_each_once)


def evaluated(*, scores: bool, files: bool = True) -> _Decorator:
    """Add the options that say which time counts; --nan only where there are scores."""
    kind, listed = (
        ("FILE|COLUMN", ", or a file with columns start and stop") if files else ("COLUMN", "")
    )
    missing = (
        "What to do with samples that have no score: `ignore` their time for all detectors, or for "
        "`each` detector by itself."
    )
    return all_of(
        option(f"--ignore {kind}", f"Time that does not count: a 0/1 column{listed}."),
        option("--from TIME", "Ignore everything before.", "since"),
        option("--until TIME", "Ignore everything after."),
        option(
            "--max-step DURATION",
            "How long a sample lasts at most, 5min or a number; the rest of a gap is ignored.",
        ),
        *(
            [option("--close DURATION", "How far from an event a close call may be.")]
            if files
            else []
        ),
        *([choice("--nan", missing, *NAN)] if scores else []),
    )


def disorder(*more: str) -> _Decorator:
    """Add --disorder, with these choices beside those of all commands."""
    return choice(
        "--disorder",
        "Where times repeat or go back: sort, or also keep one value of repeated times"
        f"{'; or count samples instead' if more else ''}.",
        *(how for how in DISORDERS if how != "index"),
        *more,
    )


def inputs(
    other: str,
    *detectors: _Decorator,
    nan: bool,
    first: str = "TRUTH",
    disorders: tuple[str, ...] = (),
) -> _Decorator:
    """Add the files, the second by this name, and how they are read: the command's `inputs`."""
    return as_one(
        "inputs",
        lambda truth_file, other_file, **read: Inputs(
            (truth_file, other_file), usual_end=True, **read
        ),
        ("truth_file", "other_file", *ReadingOptions.__annotations__),
        click.argument("truth_file", metavar=first),
        click.argument("other_file", metavar=f"[{other}]", required=False),
        option("--truth COLUMN", "0/1 column of TRUTH, or START,STOP columns."),
        *detectors,
        option("--time COLUMN", "Column of times, in either file."),
        option("--end TIME", "Time after the last sample, where times are not evenly spaced."),
        option(
            "--span START STOP",
            "The whole series; by default that of the samples.",
            type=parse_time,
            nargs=2,
        ),
        evaluated(scores=nan),
        disorder(*disorders),
        option("--merge", "Join listed events that overlap or touch."),
        option(
            "--severity-order LOW,HIGH",
            "Severities from the lowest to the highest; joined events keep the highest.",
        ),
        option("--clip", "Cut listed events to the series, and drop those outside of it."),
        option(
            "--timezone [FILE=]ZONE",
            "What times without an offset are in, such as Europe/Berlin; where several files have "
            "such, repeat it: truth=ZONE, predicted=ZONE, ignore=ZONE.",
            type=parse_zone,
            multiple=True,
            callback=_zones,
        ),
        option(
            "--fold earlier|later",
            "Which is meant of an hour that clocks show twice; an error if not given.",
            type=click.Choice(FOLDS),
        ),
        time_unit,
        choice(
            "--open", "What to do with listed events that have no end yet.", "error", "until-end"
        ),
        option("--series NAME", "Which series, where a list has events of several."),
        reading,
    )


def intervals(text: str, *more: _Decorator) -> _Decorator:
    """Add --intervals, which does what the text says, and its settings: None if not asked for."""
    return as_one(
        "settings",
        _interval_settings,
        ("intervals", "level", "resamples", "block"),
        option("--intervals", text),
        option("--level P", f"Level of the intervals; {_LEVEL} if not given.", type=float),
        option(
            "--resamples N",
            f"Resamples behind them, from 100 to 1,000,000; {_RESAMPLES} if not given.",
            type=click.IntRange(100, 1_000_000),
        ),
        *more,
    )


def output(
    text: str, *more_formats: str, to_file: bool = True, show_all: bool = False
) -> _Decorator:
    """Add --format, --output and --all, which the command gets as one `output`."""
    file = option(f"{OUTPUT} FILE", "Write there instead of standard output.", "output_file")
    every = option("--all", "Show every event, however many there are.", "show_all")
    formats = click.Choice((*FORMATS, *more_formats))
    return as_one(
        "output",
        _output,
        ("output_format", "output_file", "show_all"),
        click.option("--format", "output_format", type=formats, default="table", help=text),
        *([file] if to_file else []),
        *([every] if show_all else []),
    )


def _output(
    *, output_format: str, output_file: str | None = None, show_all: bool = False
) -> Output:
    most = None if show_all else _MOST_EVENTS
    name = str(click.get_current_context().command.name)
    return Output(output_format, output_file, most, name)
