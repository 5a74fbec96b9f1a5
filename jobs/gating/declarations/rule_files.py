"""Finds the files that declare metrics, suites and findings: those of the package and those of the user.

Ours are in `schemas/metrics` and `schemas/findings`, and so in the wheel and in the zip for spark-submit. Users put
theirs into `metrics/` and `expectations/` in the folder of the settings file. A user's file of metrics replaces one of
ours with the same name, and a user's suite that of the table with its name.
"""

from dataclasses import dataclass
from pathlib import Path

from jobs.configuration.settings import DEFAULT_PATH
from jobs.output.failure import Failure, os_error_line
from schemas.sql_files import shipped
from schemas.words.exit_codes import ExitCode

METRICS, EXPECTATIONS, FINDINGS = "metrics", "expectations", "findings"


@dataclass(frozen=True)
class RuleFile:
    """`place`: its name in messages."""

    name: str
    place: str
    text: str


def shipped_files(kind: str) -> dict[str, RuleFile]:
    """By name, sorted by name."""
    return {name: RuleFile(name, place, text) for name, place, text in shipped(kind)}


def user_files(kind: str, ending: str, config: Path | None) -> dict[str, RuleFile]:
    folder = user_folder(config) / kind
    return {path.stem: RuleFile(path.stem, str(path), text_of(path)) for path in sorted(folder.glob(f"*{ending}"))}


def user_folder(config: Path | None) -> Path:
    """The folder of the settings file in use."""
    return (DEFAULT_PATH if config is None else config).parent


def text_of(path: Path) -> str:
    try:
        return path.read_text(encoding="utf-8")
    except OSError as error:
        raise Failure(ExitCode.USAGE, f"{os_error_line(error, path)}; give a file that can be read") from None
    except ValueError as error:
        raise Failure(ExitCode.USAGE, f"{path}: {error}; save it in UTF-8") from None
