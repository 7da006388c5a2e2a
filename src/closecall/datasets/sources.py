"""Where the public originals are, and the hashes that their files must have.

The hashes lie beside this module, one line per file: its path in the repository, and its SHA-256.
"""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path


@dataclass(frozen=True, slots=True)
class Source:
    """A public repository at one commit."""

    name: str
    """Its folder in the cache."""
    base_url: str
    """What a path is appended to."""
    registry: Path
    """The list of its hashes."""

    def hashes(self) -> dict[str, str]:
        """Give the SHA-256 of each file by its path in the repository.

        Examples
        --------
        >>> len(KDD2022.hashes())
        24
        """
        lines = self.registry.read_text(encoding="utf-8").splitlines()
        return dict(line.split() for line in lines)


_GITHUB = "https://raw.githubusercontent.com"
_HERE = Path(__file__).parent

KDD2022 = Source(
    "kdd2022",
    f"{_GITHUB}/ahstat/affiliation-metrics-py/8d8449858096bbade6a6e70848d05c9cc9b846fe/",
    _HERE / "kdd2022.txt",
)
NAB = Source(
    "nab",
    f"{_GITHUB}/numenta/NAB/ea702d75cc2258d9d7dd35ca8e5e2539d71f3140/",
    _HERE / "nab.txt",
)
