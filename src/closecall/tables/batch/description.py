"""What a batch asks of which data, in words: so that it is not resumed with something else."""

from __future__ import annotations

from dataclasses import fields
from typing import TYPE_CHECKING, Any

from closecall.tables.batch.threshold_rule import ThresholdRule
from closecall.tables.batch.version import installed_version

if TYPE_CHECKING:
    from closecall.tables.batch.question import Question

_UNASKED = {"strict", "shared"}  # what decides no number, or is itself computed
_ARGUMENTS = {"scores": "score"}  # what callers know a part of the question by


def describe(question: Question, fingerprint: str) -> dict[str, str]:
    """Say what is asked of which data, as text that is the same if and only if they are.

    Examples
    --------
    >>> from closecall.tables.batch.question import Question
    >>> asked = Question.ask(by="series", truth="label", predicted="alarm")
    >>> describe(asked, "3 files")["truth"], describe(asked, "3 files")["data"]
    ("'label'", '3 files')
    """
    options = {
        _ARGUMENTS.get(field.name, field.name): _text(getattr(question, field.name))
        for field in fields(question)
        if field.name not in _UNASKED
    }
    return {"closecall": installed_version(), "data": fingerprint, **options}


def _text(value: Any) -> str:
    return str(value) if isinstance(value, ThresholdRule) else repr(value)
