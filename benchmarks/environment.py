"""An isolated environment for peers: made once in a cache folder, and reused in later runs.

The packages of the machine are not touched, and the peers see none of them.
"""

from __future__ import annotations

import hashlib
import json
import os
import subprocess
import sys
import venv
from pathlib import Path
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from collections.abc import Sequence

_CACHE_VARIABLE = "CLOSECALL_CACHE"
_LONGEST_INSTALL, _LONGEST_RUN = 900, 600  # seconds
# Peers keep what they free as this process does, see `timing.hold_memory`.
_HOLD_MEMORY = {"MALLOC_MMAP_MAX_": "0", "MALLOC_TRIM_THRESHOLD_": str(2**62)}


class PeerError(Exception):
    """A peer cannot be installed or does not run; the message is one line."""


class Environment:
    """A virtual environment with pinned packages."""

    def __init__(self, shared: Sequence[str]) -> None:
        """Make the environment with what the peers share, unless an earlier run has made it.

        A peer is installed without the packages it asks for: many ask for deep learning
        frameworks or for versions that exclude each other, and their metrics use neither.
        """
        version = f"{sys.version_info.major}.{sys.version_info.minor}"
        pins = hashlib.sha256(json.dumps([version, *shared]).encode()).hexdigest()[:12]
        self.folder = _cache() / f"peers-{version}-{pins}"
        self._python = self.folder / ("Scripts/python.exe" if os.name == "nt" else "bin/python")
        if not self._mark("shared").is_file():
            print(f"Making an environment for the peers in {self.folder}: a minute, only once.")
            venv.EnvBuilder(with_pip=True, clear=True).create(self.folder)
            self._pip(shared)
            self._mark("shared").touch()

    def install(self, package: str) -> None:
        """Install a pinned package without its dependencies, unless it is there already."""
        if not self._mark(package).is_file():
            self._pip(["--no-deps", package])
            self._mark(package).touch()

    def run(self, script: Path, arguments: Sequence[str]) -> Any:
        """Run a script in the environment and give the JSON in the last line that it prints."""
        command = [str(self._python), "-I", "-W", "ignore", str(script), *arguments]
        done = _run(command, _LONGEST_RUN, {**os.environ, **_HOLD_MEMORY})
        return json.loads(done.splitlines()[-1])

    def _pip(self, arguments: Sequence[str]) -> None:
        options = ["--quiet", "--disable-pip-version-check", "--no-input"]
        command = [str(self._python), "-I", "-m", "pip", "install", *options, *arguments]
        _run(command, _LONGEST_INSTALL, dict(os.environ))

    def _mark(self, name: str) -> Path:
        return self.folder / f"{name}.installed"


def _cache() -> Path:
    named = os.environ.get(_CACHE_VARIABLE)
    usual = os.environ.get("XDG_CACHE_HOME") or Path.home() / ".cache"
    return (Path(named) if named else Path(usual) / "closecall") / "benchmarks"


def _run(command: Sequence[str], longest: float, settings: dict[str, str]) -> str:
    try:
        done = subprocess.run(
            command, check=True, capture_output=True, text=True, timeout=longest, env=settings
        )
    except subprocess.TimeoutExpired as error:
        raise PeerError(f"not done in {longest} seconds") from error
    except subprocess.CalledProcessError as error:
        lines = str(error.stderr).strip().splitlines()
        raise PeerError(lines[-1] if lines else f"exit status {error.returncode}") from error
    return done.stdout
