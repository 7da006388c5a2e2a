"""The bar of long work: what it shows, and to whom."""

import sys

import pytest

from closecall.errors import MissingExtraError
from closecall.progress import progress_bar


def show_bar(**options):
    with progress_bar("Evaluating", 3000, "samples", **options) as (move, say):
        move(advance=1000)
        say("A line [for] people.")
        move(advance=2000)


def test_nothing_is_shown_to_a_program(capsys):
    show_bar()
    show_bar(show=False)
    assert capsys.readouterr() == ("", "")


def test_a_bar_that_is_asked_for_counts_to_the_end(capsys):
    show_bar(show=True)
    shown = capsys.readouterr()
    assert shown.out == ""
    assert "Evaluating" in shown.err
    assert "A line [for] people.\n" in shown.err
    assert "3,000 of 3,000 samples" in shown.err


def test_a_terminal_has_a_bar_by_itself(capsys, monkeypatch):
    monkeypatch.setattr(sys.stderr, "isatty", lambda: True)
    show_bar()
    assert "Evaluating" in capsys.readouterr().err


def test_without_rich_only_a_bar_that_is_asked_for_is_missed(monkeypatch):
    monkeypatch.setattr("closecall.progress.find_spec", lambda _: None)
    monkeypatch.setattr(sys.stderr, "isatty", lambda: True)
    show_bar()
    monkeypatch.setitem(sys.modules, "rich.console", None)
    with pytest.raises(MissingExtraError, match=r"closecall\[cli\]"):
        show_bar(show=True)
