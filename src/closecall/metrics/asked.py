"""Which metrics are asked for, and with which parameters."""

from __future__ import annotations

from typing import Any

from closecall.errors import InputError, InputTypeError, expected
from closecall.parameters import shown

_HINT = "Pass a name, a list of names, or a mapping such as {'margin': {'margin': 10}}."


def read_asked(metrics: Any) -> dict[str, dict[str, Any]]:
    """Read a name, names, or parameters by name, and give parameters by name.

    Examples
    --------
    >>> read_asked("classical"), read_asked({"point_adjust_k": {"k": 30}})
    ({'classical': {}}, {'point_adjust_k': {'k': 30}})
    """
    if isinstance(metrics, str):
        return {metrics: {}}
    if hasattr(metrics, "items"):
        for name, parameters in metrics.items():
            if not hasattr(parameters, "items"):
                rule = f"`metrics[{name!r}]` to be parameters by name"
                raise InputTypeError(
                    expected(rule, shown(parameters), "Pass {} where there are none.")
                )
        asked = {name: dict(parameters) for name, parameters in metrics.items()}
    else:
        try:
            asked = {name: {} for name in metrics}
        except TypeError:
            rule = "`metrics` to be names of metrics"
            raise InputTypeError(expected(rule, shown(metrics), _HINT)) from None
    for name in asked:
        if not isinstance(name, str):
            rule = "`metrics` to be names of metrics"
            raise InputTypeError(expected(rule, shown(name), _HINT))
    if not asked:
        raise InputError(expected("at least one metric in `metrics`", "none", _HINT))
    return asked
