"""Who is better over many series: average ranks, tests of all pairs, and what they leave together.

The tests are those of Demsar (JMLR 2006) as Benavoli et al. (JMLR 2016) mend them: Friedman's over
all detectors, then Wilcoxon's signed-rank test of every pair, corrected by Holm over the pairs.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import asdict, dataclass
from itertools import combinations
from math import ceil, inf, log2, log10, nan
from string import ascii_letters
from typing import TYPE_CHECKING, Any

import numpy as np

from closecall.errors import InputError, InputTypeError, shown
from closecall.latex import latex_table
from closecall.notebook import display
from closecall.parameters import read_flag, read_name, read_numbers, require_choice
from closecall.plain import plain
from closecall.statistics.intervals import (
    FEWEST_TO_COMPARE,
    Interval,
    limits,
    read_bounds,
    read_level,
)
from closecall.statistics.leads import adjust_pvalues, mean_differences
from closecall.wording import counted, listed, number_text, pvalue_text

if TYPE_CHECKING:
    from collections.abc import Sequence

    from numpy.typing import NDArray

    Floats = NDArray[np.float64]

MISSING = ("raise", "drop", "worst")
_PAIR = 2
_EXACT = 50  # differences up to which p-values are exact; beyond, the normal law is as good
_DIGITS = 12  # to which differences are compared, so that 0.3 - 0.2 and 0.2 - 0.1 tie


@dataclass(frozen=True)
class RankedPair:
    """Two detectors on the same series; the first has the better average rank."""

    first: str
    second: str
    difference: Interval
    """The mean of the first minus that of the second; the limits hold for all pairs at once."""
    wins: int
    """On how many series the first is better."""
    ties: int
    losses: int
    effect: float
    """Matched-pairs rank-biserial correlation, from -1 to 1; 1 if the first always wins."""
    pvalue: float
    """Two-sided p-value of Wilcoxon's signed-rank test; 1 if the two never differ."""
    corrected: float
    """The same, corrected by Holm over all pairs."""
    apart: bool
    """Whether the two are told apart: Friedman's test and the corrected p-value both say so."""


@dataclass(frozen=True, repr=False)
class Ranks:
    """How detectors rank over many series, and which of them are told apart.

    Examples
    --------
    >>> from closecall.statistics import compute_ranks
    >>> ranks = compute_ranks({"a": [9, 8, 7, 9, 6, 8], "b": [5, 4, 6, 4, 5, 7]}, metric="hits")
    >>> ranks
    Ranks(a 1, b 2; hits over 6 series, 1 of 1 pair told apart)
    >>> ranks.pairs[0].wins, ranks.pairs[0].effect, ranks.pairs[0].pvalue
    (6, 1.0, 0.03125)
    """

    metric: str
    higher_is_better: bool
    level: float
    missing: str
    """What was done with missing values: ``"raise"``, ``"drop"`` or ``"worst"``."""
    series: int
    """How many series the ranks are over."""
    left_out: int
    """How many series were left out, since a detector, or all, have no value on them."""
    detectors: tuple[str, ...]
    """The best average rank first; all that follows is in this order."""
    average_rank: tuple[float, ...]
    """1 is best; detectors with equal values share the mean rank on a series."""
    mean: tuple[float, ...]
    """Over the series where there is a value; nan if there is none."""
    best_on: tuple[int, ...]
    """On how many series no other detector is better."""
    filled: tuple[int, ...]
    """On how many series a missing value was ranked last."""
    friedman_statistic: float | None
    """Friedman's chi-squared; None for two detectors, whose only test is Wilcoxon's."""
    friedman_pvalue: float | None
    pairs: tuple[RankedPair, ...]
    cliques: tuple[tuple[str, ...], ...]
    """The largest groups of neighbours in rank without a pair that is told apart; they overlap."""
    signature: Any = None
    """The `closecall.signature.Signature` of the batch; None for a table of numbers."""
    chance: tuple[float, ...] | None = None
    """Mean level of chance of the metric, of each detector; None where it is not known."""
    chance_note: str = ""
    """What that is, and over how many true events; empty where it is not known."""

    @property
    def groups(self) -> tuple[str, ...]:
        """By detector, a letter for each clique that it is in."""
        named = [*zip(ascii_letters, self.cliques, strict=False)]
        return tuple(
            "".join(letter for letter, clique in named if name in clique) for name in self.detectors
        )

    @property
    def ungrouped(self) -> tuple[tuple[str, str], ...]:
        """The pairs that are not told apart, but share no clique with what is between them."""
        joined = {pair for clique in self.cliques for pair in combinations(clique, 2)}
        pairs = ((pair.first, pair.second) for pair in self.pairs if not pair.apart)
        return tuple(pair for pair in pairs if pair not in joined)

    @property
    def text(self) -> str:
        """What was tested, what came out, and what so few series do not allow to say."""
        alpha, count, said = 1 - self.level, len(self.pairs), []
        if self.friedman_pvalue is not None:
            found = "differ" if self.friedman_pvalue < alpha else "are not shown to differ"
            pvalue = pvalue_text(self.friedman_pvalue)
            said.append(f"Over {self.series} series the detectors {found} (Friedman, p {pvalue}).")
        apart = sum(pair.apart for pair in self.pairs)
        verb = "is" if 1 in (apart, count) else "are"
        said.append(
            f"{apart} of {counted(count, 'pair')} {verb} told apart at "
            f"{alpha:.3g} (Wilcoxon signed-rank, corrected by Holm over {counted(count, 'pair')})."
        )
        if len(self.ungrouped) == 1:
            first, second = self.ungrouped[0]
            said.append(f"{first} and {second} share no group, but are not told apart either.")
        elif self.ungrouped:
            few = f"{len(self.ungrouped)} pairs that share no group"
            said.append(f"{few} are not told apart either.")
        needed = ceil(log2(count / alpha) + 1 + 1e-9)
        if self.series < needed:
            said.append(
                f"No pair could be, even if one detector won on all {self.series} series: "
                f"{counted(count, 'pair')} take {needed} or more."
            )
        if self.left_out:
            verb = "is" if self.left_out == 1 else "are"
            whose = "every" if self.missing == "drop" else "any"
            said.append(
                f"{self.left_out} series without a value of {whose} detector {verb} left out."
            )
        if any(self.filled):
            said.append(f"{counted(sum(self.filled), 'missing value')} ranked last.")
        return " ".join(said)

    def to_dict(self) -> dict[str, Any]:
        """Return plain values that any JSON writer takes."""
        names = ("average_rank", "mean", "best_on", "filled")
        rows = zip(self.detectors, *(getattr(self, name) for name in names), strict=True)
        friedman = {"statistic": self.friedman_statistic, "pvalue": self.friedman_pvalue}
        values: dict[str, Any] = plain(
            {
                "metric": self.metric,
                "higher_is_better": self.higher_is_better,
                "level": self.level,
                "missing": self.missing,
                "series": self.series,
                "left_out": self.left_out,
                "detectors": [dict(zip(("detector", *names), row, strict=True)) for row in rows],
                "friedman": None if self.friedman_pvalue is None else friedman,
                "pairs": [asdict(pair) for pair in self.pairs],
                "cliques": [list(clique) for clique in self.cliques],
                "text": self.text,
                "signature": None if self.signature is None else str(self.signature),
            }
        )
        return values

    def to_latex(self, *, caption: str = "", note: str | None = None) -> str:
        """Write the ranks as a table for a paper; the package booktabs is needed.

        Detectors with a letter in common are not told apart. Below are the tests and the `note`:
        the signature, if there is one, unless there is another.
        """
        if note is None:
            note = "" if self.signature is None else self.signature.note
        told = f"Average ranks by {self.metric} over {self.series} series"
        mean = f"mean {self.metric}"
        columns: dict[str, Sequence[Any]] = {
            "detector": self.detectors,
            "average rank": self.average_rank,
            "groups": self.groups,
            mean: self.mean,
            **({} if self.chance is None else {"chance": self.chance}),
            "best on": self.best_on,
        }
        return latex_table(
            [dict(zip(columns, row, strict=True)) for row in zip(*columns.values(), strict=True)],
            {name: name for name in columns},
            best={"average rank": False, mean: self.higher_is_better, "best on": True},
            title=f"{told}; detectors with a letter in common are not told apart",
            label="ranks",
            caption=caption,
            said=" ".join(filter(None, (self.chance_note, self.text))),
            note=note,
        )

    def plot(self, **how: Any) -> Any:
        """Draw the critical-difference diagram; see `closecall.plot.plot_ranks`."""
        from closecall.plot import plot_ranks

        return plot_ranks(self, **how)

    def __repr__(self) -> str:
        ranked = zip(self.detectors, self.average_rank, strict=True)
        apart = sum(pair.apart for pair in self.pairs)
        return (
            f"Ranks({listed([f'{name} {number_text(rank)}' for name, rank in ranked])}; "
            f"{self.metric} over {self.series} series, "
            f"{apart} of {counted(len(self.pairs), 'pair')} told apart)"
        )

    def _repr_html_(self) -> str:
        """Show the ranks, the pairs and the sentence in a notebook."""
        pairs = self.pairs
        return display(
            f"ranks by {self.metric}",
            self.text,
            [
                ("detector", self.detectors),
                ("average rank", self.average_rank),
                (f"mean {self.metric}", self.mean),
                ("best on", self.best_on),
            ],
            [
                ("pair", [f"{pair.first} against {pair.second}" for pair in pairs]),
                ("mean difference", [limits(pair.difference) for pair in pairs]),
                ("wins, ties, losses", [wins_text(pair) for pair in pairs]),
                ("effect", [f"{pair.effect:.2f}" for pair in pairs]),
                ("p corrected", [pvalue_text(pair.corrected) for pair in pairs]),
                ("told apart", ["yes" if pair.apart else "no" for pair in pairs]),
            ],
        )


def wins_text(pair: RankedPair) -> str:
    """Write on how many series the first wins, ties and loses."""
    return f"{pair.wins}/{pair.ties}/{pair.losses}"


def compute_ranks(
    table: Any,
    *,
    higher_is_better: bool = True,
    missing: str = "raise",
    metric: str = "score",
    level: float = 0.95,
    low: float = -inf,
    high: float = inf,
) -> Ranks:
    r"""Rank detectors over many series, and test every pair of them.

    On each series the best detector has rank 1, and detectors with equal values share the mean of
    their ranks. Friedman's test says whether the detectors differ at all. Each pair has the
    p-value of Wilcoxon's signed-rank test, without the series on which the two are equal: exact up
    to 50 differences, ties among them included, and by the normal law beyond. These are corrected
    by Holm: the i-th smallest of K is multiplied by K - i + 1, and is at least those before it. Two
    detectors are told apart if their corrected p-value and Friedman's are below 1 - `level`.

    The effect is the matched-pairs rank-biserial correlation
    :math:`(R^+ - R^-) / (R^+ + R^-)`, with :math:`R^\pm` the sums of the ranks of differences for
    and against the first. Cost: O(k^2 n log n) for k detectors and n series.

    Parameters
    ----------
    table
        A mapping from detectors to their numbers, one for each series and all in the same order;
        or a dataframe with a column for each detector.
    higher_is_better
        Which way the number is better.
    missing
        What to do where a detector has no finite number on a series: ``"raise"``; ``"drop"``: use
        the series that all detectors have; ``"worst"``: it has the last rank there, and loses by
        more than any number would. Series on which no detector has one are left out by all.
    metric
        What the number is called.
    level
        One minus the probability of telling any two equally good detectors apart.
    low, high
        What the number can be at least and at most, for the limits of mean differences.

    Returns
    -------
    Ranks
        The best average rank first.

    Examples
    --------
    >>> hits = {"a": [9, 8, 7, 9, 6, 8, 9], "b": [5, 4, 6, 4, 5, 7, 8], "c": [5, 6, 5, 3, 5, 5, 2]}
    >>> compute_ranks(hits).cliques
    (('b', 'c'),)
    """
    require_choice(missing, "missing", MISSING)
    metric = read_name(metric, "metric")
    better, level = read_flag(higher_is_better, "higher_is_better"), read_level(level)
    bounds, (names, values) = read_bounds(low, high), _read_table(table)
    given = np.isfinite(values)
    kept = _kept_series(given, missing)
    values, given = values[:, kept], given[:, kept]
    upward = np.where(given, values if better else -values, -inf)
    ranks = ranks_of(upward)
    order = np.argsort(ranks.mean(axis=1), kind="stable")
    upward, values, ranks, given = upward[order], values[order], ranks[order], given[order]
    statistic, pvalue = _friedman(ranks)
    pairs = list(combinations(range(len(names)), 2))
    each = [_wilcoxon(upward[i], upward[j]) for i, j in pairs]
    corrected = adjust_pvalues([value for _, value in each], "holm").tolist()
    alpha = 1 - level
    differ = pvalue is None or pvalue < alpha
    apart = [differ and value < alpha for value in corrected]
    gaps = mean_differences(np.where(given, values, nan), bounds, level=1 - alpha / len(pairs))
    called = tuple(names[place] for place in order)
    return Ranks(
        metric=metric,
        higher_is_better=better,
        level=level,
        missing=missing,
        series=values.shape[1],
        left_out=int((~kept).sum()),
        detectors=called,
        average_rank=tuple(ranks.mean(axis=1).tolist()),
        mean=tuple(
            float(row[known].mean()) if known.any() else nan
            for row, known in zip(values, given, strict=True)
        ),
        best_on=tuple(np.count_nonzero(upward == upward.max(axis=0), axis=1).tolist()),
        filled=tuple(np.count_nonzero(~given, axis=1).tolist()),
        friedman_statistic=statistic,
        friedman_pvalue=pvalue,
        pairs=tuple(
            RankedPair(
                called[i],
                called[j],
                Interval(gap.value, gap.low, gap.high),
                wins=int(np.count_nonzero(upward[i] > upward[j])),
                ties=int(np.count_nonzero(upward[i] == upward[j])),
                losses=int(np.count_nonzero(upward[i] < upward[j])),
                effect=effect,
                pvalue=value,
                corrected=adjusted,
                apart=told,
            )
            for (i, j), (_, gap, _), (effect, value), adjusted, told in zip(
                pairs, gaps, each, corrected, apart, strict=True
            )
        ),
        cliques=tuple(called[start:stop] for start, stop in _cliques(len(names), pairs, apart)),
    )


def ranks_of(upward: Floats) -> Floats:
    """Rank each column, the highest first; equal values share the mean rank, nan is last."""
    filled = np.where(np.isnan(upward), -inf, upward)
    ranks = np.empty(filled.shape)
    # One detector at a time: all pairs at once would not fit in memory for a million series.
    for place, detector in enumerate(filled):
        above, equal = (filled > detector).sum(axis=0), (filled == detector).sum(axis=0)
        ranks[place] = above + (equal + 1) / 2
    return ranks


def _read_table(table: Any) -> tuple[list[str], Floats]:
    """Return the names of the detectors, and their numbers as rows."""
    columns = table if isinstance(table, Mapping) else _columns_of(table)
    numbers = {read_name(name, "table"): read_numbers(columns[name], name) for name in columns}
    if len(numbers) < _PAIR:
        raise InputError("to have two or more detectors", str(len(numbers)), argument="table")
    length = next(iter(numbers.values())).size
    for name, column in numbers.items():
        if column.shape != (length,):
            rule = f"every column of `table` to have {length} values"
            raise InputError(rule, f"{column.size} in {shown(name)}")
    return list(numbers), np.stack(list(numbers.values()))


def _columns_of(table: Any) -> dict[str, Any]:
    import narwhals as nw

    try:
        frame = nw.from_native(table, eager_only=True)
    except TypeError:
        rule = "to be a mapping from detectors to numbers, or a dataframe"
        raise InputTypeError(rule, type(table).__name__, argument="table") from None
    return {name: frame[name].to_numpy() for name in frame.columns}


def _kept_series(given: NDArray[np.bool_], missing: str) -> NDArray[np.bool_]:
    """Return which series are used; raise where some are missing, or too few are left."""
    every, some = (np.asarray(found) for found in (given.all(axis=0), given.any(axis=0)))
    partly = int((some & ~every).sum())
    if missing == "raise" and partly:
        rule = "a finite number of every detector on every series"
        got = f"none of some detectors on {partly} of {every.size} series"
        hint = (
            "Pass `missing='drop'` to use only series that all detectors have, or "
            "`missing='worst'` to give a missing number the last rank."
        )
        raise InputError(rule, got, hint=hint)
    kept = some if missing == "worst" else every
    if kept.sum() < FEWEST_TO_COMPARE:
        rule = f"{FEWEST_TO_COMPARE} or more series on which detectors can be ranked"
        hint = "With fewer, one of two equally good detectors too often wins all of them by luck."
        raise InputError(rule, str(kept.sum()), hint=hint)
    return kept


def _friedman(ranks: Floats) -> tuple[float | None, float | None]:
    if len(ranks) == _PAIR:
        return None, None
    if (ranks == ranks[0]).all():
        return 0.0, 1.0
    from scipy.stats import friedmanchisquare

    found = friedmanchisquare(*ranks)
    return float(found.statistic), float(found.pvalue)


def _wilcoxon(first: Floats, second: Floats) -> tuple[float, float]:
    """Return the rank-biserial correlation of two detectors, and the p-value."""
    from scipy.stats import rankdata

    differ = first != second
    gaps = first[differ] - second[differ]  # infinite where one is missing
    if not gaps.size:
        return 0.0, 1.0
    largest = max(np.abs(side[np.isfinite(side)]).max(initial=0.0) for side in (first, second))
    sizes = np.round(np.abs(gaps) / 10.0 ** ceil(log10(largest or 1.0)), _DIGITS)
    signed = np.sign(gaps) * rankdata(sizes)
    return float(signed.sum() / np.abs(signed).sum()), _signed_rank_pvalue(signed)


def _signed_rank_pvalue(signed: Floats) -> float:
    """Return the two-sided p-value of signed ranks; scipy's is exact only where none are tied."""
    if signed.size > _EXACT:
        from scipy.special import ndtr

        return float(2 * ndtr(-abs(signed.sum()) / np.linalg.norm(signed)))
    doubled = np.rint(2 * np.abs(signed)).astype(np.int64)  # shared ranks are halves
    ways = np.zeros(int(doubled.sum()) + 1)
    ways[0] = 1
    for rank in doubled.tolist():
        ways[rank:] += ways[:-rank].copy()
    place = int(doubled[signed > 0].sum())
    tail = min(ways[: place + 1].sum(), ways[place:].sum())
    return min(1.0, float(2 * tail / ways.sum()))


def _cliques(
    count: int, pairs: Sequence[tuple[int, int]], apart: Sequence[bool]
) -> list[tuple[int, int]]:
    """Return the longest runs, of two or more, that hold no pair that is told apart."""
    told = [pair for pair, differs in zip(pairs, apart, strict=True) if differs]
    runs: list[tuple[int, int]] = []
    for start in range(count):
        stop = min((last for first, last in told if first >= start), default=count)
        if stop - start >= _PAIR and (not runs or stop > runs[-1][1]):
            runs.append((start, stop))
    return runs
