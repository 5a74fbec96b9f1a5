"""Writes parameters into portable SQL: text and times in a form that every engine reads the same way."""

import re
from collections.abc import Mapping
from dataclasses import dataclass
from datetime import datetime, timedelta

from jobs.configuration.settings import Settings, number_settings
from jobs.output.failure import Failure
from jobs.output.zones import moved
from jobs.queries.definitions.dialects import portable_text
from schemas.renames import RENAMES, Named, old_name
from schemas.tables import USER_TABLES
from schemas.views import VIEWS
from schemas.words.exit_codes import ExitCode

PARAMETER = re.compile(r"(?<![:\w]):([a-z]\w*)")
# In SQL: comments, texts, and names that it gives itself.
NO_NAMES = re.compile(r"--[^\n]*|/\*.*?\*/|'(?:[^']|'')*'|\bAS\s+\w+", re.DOTALL | re.IGNORECASE)
WITH = re.compile(r"\b(\w+)\s+AS\s*\(", re.IGNORECASE)
UNITS = {
    "_ms": timedelta(milliseconds=1),
    "_s": timedelta(seconds=1),
    "_hours": timedelta(hours=1),
    "_days": timedelta(days=1),
}


def time_literal(time: datetime) -> str:
    # strftime writes the year 1 as one digit.
    return f"TIMESTAMP '{time.year:04}-{time:%m-%d %H:%M:%S.%f}+00:00'"


def check_names(place: str, statement: str) -> None:
    """Of SQL that findings only show, so that no engine says of an old name that it is one. A column has its old name
    still if a table that is named has it."""
    named = set(re.findall(r"\w+", NO_NAMES.sub(" ", statement.lower()))) - set(WITH.findall(statement.lower()))
    columns = {
        column.name for known in (USER_TABLES, VIEWS) for name in named & known.keys() for column in known[name].columns
    }
    for each in RENAMES:
        is_there = each.kind is not Named.COLUMN or named & {*each.where, *map(old_name, each.where)}
        if each.old in named - columns and is_there:
            raise Failure(ExitCode.USAGE, f"{place}: {statement}: {each}")


@dataclass(frozen=True)
class Parameters:
    """What a rule file may use as `:name`: the cluster, times, and each setting of [gate]. A setting that is a length
    of time also gives `:NAME_before` and `:NAME_after`, that long before and after the as-of time, and
    `:NAME_before_start`, that long before the run started."""

    values: Mapping[str, str]

    def fill(self, text: str, place: str) -> str:
        def value(match: re.Match[str]) -> str:
            if match[1] not in self.values:
                known = ", ".join(f":{name}" for name in sorted(self.values))
                raise Failure(ExitCode.USAGE, f"{place}: unknown parameter :{match[1]}; use one of {known}")
            return self.values[match[1]]

        return PARAMETER.sub(value, text)


def parameters(cluster: str, as_of: datetime, started: datetime, settings: Settings) -> Parameters:
    values = {
        "cluster": portable_text(cluster),
        "as_of_time": time_literal(as_of),
        "started_time": time_literal(started),
    }
    for name, value in number_settings(settings.gate):
        values[name] = str(value)
        for unit in (UNITS[ending] for ending in UNITS if name.endswith(ending)):
            values[f"{name}_before"] = time_literal(moved(as_of, -unit * value))
            values[f"{name}_after"] = time_literal(moved(as_of, unit * value))
            values[f"{name}_before_start"] = time_literal(moved(started, -unit * value))
    return Parameters(values)
