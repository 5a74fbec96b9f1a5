"""Writes parameters into portable SQL: text and times in a form that every engine reads the same way."""

import re
from collections.abc import Mapping
from dataclasses import dataclass
from datetime import datetime, timedelta

from jobs.configuration.settings import Settings, number_settings
from jobs.output.failure import Failure
from jobs.output.moved_time import moved
from jobs.queries.definitions.dialects import portable_text
from schemas.words.exit_codes import ExitCode

PARAMETER = re.compile(r"(?<![:\w]):([a-z]\w*)")
UNITS = {
    "_ms": timedelta(milliseconds=1),
    "_s": timedelta(seconds=1),
    "_hours": timedelta(hours=1),
    "_days": timedelta(days=1),
}


def time_literal(time: datetime) -> str:
    # strftime writes the year 1 as one digit.
    return f"TIMESTAMP '{time.year:04}-{time:%m-%d %H:%M:%S.%f}+00:00'"


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
