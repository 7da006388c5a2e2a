"""The version that batches and workers are compared by."""

import sys

import closecall
from closecall.tables.batch.version import installed_version


def test_the_version_is_that_of_the_package():
    assert installed_version() == closecall.__version__


def test_a_bare_copy_has_none(monkeypatch):
    monkeypatch.setattr(sys, "path", [])
    monkeypatch.setattr(sys, "meta_path", [])
    assert installed_version() == "unknown"
