"""Find the folder that has a dataset: the one named, or the one of the environment."""

from __future__ import annotations

import os
from pathlib import Path
from typing import TYPE_CHECKING

from closecall.errors import InputError, InputTypeError, expected
from closecall.parameters import shown

if TYPE_CHECKING:
    from os import PathLike

DATA_VARIABLE = "CLOSECALL_DATA"


def local_folder(folder: str | PathLike[str] | None) -> Path | None:
    """Give the folder asked for, else the one that `CLOSECALL_DATA` names, else None.

    A folder that is named and is not there is an `InputError`, not a reason to download.
    """
    if folder is not None:
        if not isinstance(folder, str | os.PathLike):
            raise InputTypeError(expected("`folder` to be the path of a folder", shown(folder)))
        return _checked(Path(folder), "`folder`", "Without it, the data is downloaded.")
    named = os.environ.get(DATA_VARIABLE)
    if not named:
        return None
    hint = "Unset it, and the data is downloaded."
    return _checked(Path(named), f"the environment variable {DATA_VARIABLE}", hint)


def first_with(pattern: str, folders: list[Path]) -> Path | None:
    """Give the first of the folders that has a file like the pattern."""
    return next((folder for folder in folders if any(folder.glob(pattern))), None)


def _checked(path: Path, what: str, hint: str) -> Path:
    if not path.is_dir():
        raise InputError(expected(f"{what} to name a folder", str(path), hint))
    return path
