"""0/1 vectors: what is one, and where its runs of ones begin and stop."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np

from closecall.columns import read_column
from closecall.errors import InputError, InputTypeError, expected
from closecall.stamps import is_missing

if TYPE_CHECKING:
    from numpy.typing import NDArray


def read_labels(values: Any, name: str) -> NDArray[Any]:
    """Read a vector of bool, integer or float labels and check that each is 0 or 1."""
    labels = read_column(values, name)[0]
    if labels.size == 0:
        raise InputError(expected(f"`{name}` to have at least one sample", "an empty vector"))
    kind = labels.dtype.kind
    if kind == "O":
        labels = _from_objects(labels, name)
        kind = labels.dtype.kind
    if kind == "b":
        return labels.view(np.uint8)
    if kind == "u":
        valid = labels.max() <= 1
    elif kind == "i":
        valid = labels.max() <= 1 and labels.min() >= 0
    elif kind == "f":
        valid = bool(((labels == 0) | (labels == 1)).all())
    else:
        raise InputTypeError(
            expected(
                f"`{name}` to be a vector of 0 and 1, or closecall.Events",
                f"values of type {type(labels[0]).__name__}",
                "Convert the labels to integers or booleans first.",
            )
        )
    if not valid:
        raise _not_binary(labels, name)
    return labels


def _from_objects(labels: NDArray[Any], name: str) -> NDArray[Any]:
    """Read Python numbers and booleans, which numpy keeps as bare objects beside None."""
    for index, value in enumerate(labels):
        if is_missing(value):
            raise InputError(
                expected(
                    f"`{name}` labels to be 0 or 1",
                    f"{value} at index {index}",
                    "Drop the samples without a label, or decide what they are.",
                )
            )
    plain = all(isinstance(value, (bool, int, float, np.number, np.bool_)) for value in labels)
    return np.array(labels.tolist()) if plain else labels


def _not_binary(labels: NDArray[Any], name: str) -> InputError:
    index = int(((labels != 0) & (labels != 1)).argmax())
    value = labels[index].item()
    if value == -1:
        hint = "scikit-learn's detectors return -1 for anomalies: pass `labels == -1`."
    elif value != value:  # noqa: PLR0124 - nan differs from itself
        hint = "Drop the samples without a label, or decide what they are."
    elif labels.dtype.kind == "f":
        hint = "These look like scores: pass `scores >= threshold`."
    else:
        hint = "Pass `labels != 0` if every other value marks an anomaly."
    return InputError(expected(f"`{name}` labels to be 0 or 1", f"{value} at index {index}", hint))


def runs(labels: NDArray[Any]) -> tuple[NDArray[np.int64], NDArray[np.int64]]:
    """Find the runs of ones: the index of each first sample, and the index after each last one."""
    changes = np.flatnonzero(labels[1:] != labels[:-1])
    changes += 1
    if labels[0]:
        changes = np.insert(changes, 0, 0)
    if labels[-1]:
        changes = np.append(changes, labels.size)
    return changes[0::2].copy(), changes[1::2].copy()
