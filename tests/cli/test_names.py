"""Names that are shortened together stay as different as they were."""

import pytest
from hypothesis import given
from hypothesis import strategies as st
from rich.cells import cell_len

from closecall.cli.names import SHORTEST_NAME, plain_name, short_names

FOREST = "isolation_forest_window_{}_seed_1_final_v2"


@pytest.mark.parametrize(
    ("names", "most", "shown"),
    [
        (["good", "noise"], 6, ["good", "noise"]),
        (["isolation_forest", "local_outlier_factor"], 9, ["iso...est", "loc...tor"]),
        ([FOREST.format(100), FOREST.format(200)], 16, ["...dow_100_se...", "...dow_200_se..."]),
        ([FOREST.format(100), FOREST.format(200)], 7, ["...1...", "...2..."]),
        ([FOREST.format(100), FOREST.format(200)], 6, ["...2~1", "...2~2"]),
        (["detector", "detector_of_anomalies"], 13, ["detector", "detec...alies"]),
        (["a" * 20, "a" * 21], 8, ["a...aa~1", "a...aa~2"]),
        (["a" * 9 + "1bbbb", "a" * 9 + "2bbbb"], 9, ["...a1bbbb", "...a2bbbb"]),
        (["aaaa1" + "b" * 9, "aaaa2" + "b" * 9], 9, ["aaaa1b...", "aaaa2b..."]),
        (["検出器一検出器", "検出器二検出器"], 9, ["...一...", "...二..."]),
        (["a\nb", r"a\nb", r"a\nb~1"], 9, [r"a\nb~2", r"a\nb~3", r"a\nb~1"]),
    ],
)
def test_short_names(names, most, shown):
    assert list(short_names(names, most).values()) == shown


def test_what_the_difference_does_not_tell_apart_is_numbered():
    names = [f"forest_{window}_of_the_windows_{seed}_seed" for window in "12" for seed in "12"]
    assert list(short_names(names, 12).values()) == [
        f"for...seed~{number}" for number in range(1, 5)
    ]


@given(
    st.lists(st.text(alphabet="ab_検\n\\n", max_size=30), min_size=1, max_size=12, unique=True),
    st.integers(SHORTEST_NAME, 30),
)
def test_different_names_stay_different(names, most):
    short = short_names(names, most)
    assert list(short) == names
    assert len(set(short.values())) == len(names)
    assert max(map(cell_len, short.values())) <= most
    for name, text in short.items():
        if len({plain_name(one, most) for one in names}) == len(names):
            assert text == plain_name(name, most)
