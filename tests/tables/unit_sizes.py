"""Sources whose units are smaller than usual."""

from contextlib import contextmanager
from dataclasses import replace

import pytest

from closecall.tables import sources, units


def sizes(smallest=None, largest=None, held=None, readable=None):
    """Return limits of units by name, without those that are left as they are."""
    named = {"SMALLEST": smallest, "LARGEST": largest, "HELD": held, "READABLE": readable}
    return {name: values for name, values in named.items() if values is not None}


@contextmanager
def patched(size, **others):
    with pytest.MonkeyPatch.context() as patch:
        for name, values in (size or {}).items():
            patch.setattr(units, name, values)
        for name, value in others.items():
            patch.setattr(sources, name, value)
        yield


def open_source(data, options, size=None, **others):
    """Open a source, to be planned with other limits."""
    with patched(size, **others):
        source = sources.open_source(data, options)

    def planned():
        with patched(size):
            return source.units()

    return replace(source, units=planned)
