"""A bar for people, silence for programs."""

from __future__ import annotations

import sys

import pytest

from closecall.errors import MissingExtraError
from closecall.tables.batch.progress import progress_bar


def run(**options):
    with progress_bar(3000, "Evaluating", **options) as bar:
        bar.advance(1000)
        bar.say("A line [for] people.")
        bar.advance(2000)


def test_nothing_is_shown_to_a_program(capsys):
    run()
    run(show=False)
    assert capsys.readouterr() == ("", "")


def test_a_bar_that_is_asked_for_counts_to_the_end(capsys):
    run(show=True)
    shown = capsys.readouterr()
    assert shown.out == ""
    assert "Evaluating" in shown.err
    assert "A line [for] people.\n" in shown.err
    assert "3,000 of 3,000 samples" in shown.err


def test_a_terminal_has_a_bar_by_itself(capsys, monkeypatch):
    monkeypatch.setattr(sys.stderr, "isatty", lambda: True)
    run()
    assert "Evaluating" in capsys.readouterr().err


def test_without_rich_only_a_bar_that_is_asked_for_is_missed(monkeypatch):
    monkeypatch.setattr("closecall.tables.batch.progress.find_spec", lambda _: None)
    monkeypatch.setattr(sys.stderr, "isatty", lambda: True)
    run()
    monkeypatch.setitem(sys.modules, "rich.console", None)
    with pytest.raises(MissingExtraError, match=r"closecall\[cli\]"):
        run(show=True)
