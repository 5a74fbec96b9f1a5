"""Writes a generated page of docs/. With --check it only compares."""

import sys
from pathlib import Path


def write_or_check(path: Path, text: str, module: str, arguments: list[str]) -> int:
    """The exit code of the module that makes the page."""
    if "--check" in arguments:
        if not path.exists() or path.read_text() != text:
            sys.stderr.write(f"{path} is not what the declarations say; run: python -m {module}\n")
            return 1
        return 0
    path.parent.mkdir(exist_ok=True)
    path.write_text(text)
    return 0
