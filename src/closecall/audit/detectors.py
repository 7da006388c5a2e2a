"""The detectors that are audited: predictions by name."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from closecall.adversary.families import FAMILIES
from closecall.errors import InputError, InputTypeError, expected, renamed
from closecall.parameters import shown
from closecall.series import read_pair

if TYPE_CHECKING:
    from collections.abc import Mapping


def require_detectors(detectors: Any) -> None:
    """Refuse what has no names, or names that the audit's own predictions have."""
    if not hasattr(detectors, "items"):
        raise InputTypeError(
            expected(
                "`detectors` to be predictions by name",
                type(detectors).__name__,
                "Pass a mapping, such as {'mine': predicted}.",
            )
        )
    if not detectors:
        raise InputError(expected("at least one detector in `detectors`", "none"))
    taken = ("trivial", *FAMILIES)
    for name in detectors:
        if not isinstance(name, str):
            raise InputTypeError(expected("names in `detectors` to be text", shown(name)))
        if name in taken:
            own = ", ".join(taken)
            raise InputError(
                expected(
                    f"names in `detectors` other than those of the audit's own predictions ({own})",
                    repr(name),
                    "Give the detector another name.",
                )
            )


def read_detectors(truth: Any, detectors: Mapping[str, Any], axis: dict[str, Any]) -> None:
    """Check every detector against the truth, so that what is wrong names the detector."""
    for name, predicted in detectors.items():
        with renamed({"predicted": f"detectors[{name!r}]"}):
            read_pair(truth, predicted, **axis)
