"""A point is the limit of the range [t, t + e) as e goes to zero (appendix B of the paper)."""

from hypothesis import assume, example, given, settings

from tests.properties.comparisons import assert_close
from tests.properties.strategies import Case, cases, is_point, mixed_cases, point_cases

WIDTH = 1e-7


def widened(intervals):
    return [
        (float(start), start + WIDTH) if start == stop else (float(start), float(stop))
        for start, stop in intervals
    ]


def check(case, wide):
    assert_close(case.score(), wide.score(), tolerance=1e-5)


def ends_on_a_point(case):
    """Tell whether there is no room for a short range at the end of the span."""
    return any(
        is_point(last) and last[0] == case.span[1] for last in [*case.truth, *case.predicted]
    )


@given(point_cases | mixed_cases)
@settings(max_examples=200)
@example(Case([(2, 5)], [(5, 5)], (0, 9)))  # on the edge: just outside
@example(Case([(2, 5)], [(2, 2)], (0, 9)))  # on the other edge: inside
@example(Case([(2, 5), (9, 10)], [(7, 7)], (0, 12)))  # on a border: in the zone behind it
@example(Case([(2, 5)], [(1, 1), (6, 8)], (0, 9)))  # beside a range, a point weighs nothing
def test_predicted_points(case):
    assume(not ends_on_a_point(case))
    check(case, case.having(widened(case.predicted)))


@given(cases(truth="only") | mixed_cases)
@settings(max_examples=200)
@example(Case([(3, 3)], [(3, 3)], (0, 9)))
@example(Case([(3, 3)], [(1, 3)], (0, 9)))
def test_true_points(case):
    assume(not ends_on_a_point(case))
    # Widening a true point moves its borders, past any prediction that begins or ends there.
    assume(not case.ends & set(case.borders))
    check(case, Case(widened(case.truth), widened(case.predicted), case.span))
