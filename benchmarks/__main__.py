"""``python -m benchmarks`` lists the benchmarks; ``python -m benchmarks NAME`` runs one.

A benchmark is a module of this package with a one-line docstring and ``main(arguments) -> int``.
"""

from __future__ import annotations

import sys
from importlib import import_module

NAMES = (
    "affiliation",
    "batch",
    "chance",
    "curve",
    "fuzz",
    "metrics",
    "report",
    "stream",
)


def _list_names() -> None:
    print("python -m benchmarks NAME [--quick]\n")
    for name in NAMES:
        summary = (import_module(f"benchmarks.{name}").__doc__ or "").partition("\n")[0]
        print(f"  {name:<14}{summary}")


def main(arguments: list[str]) -> int:
    if not arguments or arguments[0] in {"-h", "--help"}:
        _list_names()
        return 0
    name, *rest = arguments
    if name not in NAMES:
        print(f"Unknown benchmark {name!r}; there is: {', '.join(NAMES)}.", file=sys.stderr)
        return 2
    status: int = import_module(f"benchmarks.{name}").main(rest)
    return status


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
