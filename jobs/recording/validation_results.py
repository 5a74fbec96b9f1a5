"""Reads a Great Expectations result from its JSON: version 1.x or 0.18, of a suite or of a checkpoint.

Great Expectations itself is not loaded: that takes seconds, and a consumer is waiting.
"""

import hashlib
import json
import sys
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from jobs.output.failure import Failure
from schemas.words.exit_codes import ExitCode

EXPECTED = "give the JSON of a Great Expectations result, as result.to_json_dict() makes it"
# For an expectation without a severity, as in 0.18.
CRITICAL = "critical"
STANDARD_INPUT = "-"


class NoResult(Exception):
    """Why a text is not a result."""


@dataclass(frozen=True)
class ValidationResult:
    suite: str | None
    sha256: str
    # Why the data did not pass, one text per expectation; empty: it passed.
    failures: tuple[str, ...]

    @property
    def is_passed(self) -> bool:
        return not self.failures


def read_result(file: str) -> ValidationResult:
    name = "standard input" if file == STANDARD_INPUT else file
    try:
        text = text_of(file)
        results = list(validations(json.loads(text)))
        failures = tuple(failure for each in results for failure in failures_of(each))
        suites = sorted({suite for each in results if (suite := suite_of(each)) is not None})
    except (OSError, NoResult) as error:
        why = error.strerror if isinstance(error, OSError) else error
        raise Failure(ExitCode.UNREADABLE_INPUT, f"--result {name}: {why}; {EXPECTED}") from None
    except (ValueError, RecursionError):
        raise Failure(ExitCode.UNREADABLE_INPUT, f"--result {name}: is not JSON; {EXPECTED}") from None
    return ValidationResult(", ".join(suites) or None, hashlib.sha256(text).hexdigest(), failures)


def text_of(file: str) -> bytes:
    if file != STANDARD_INPUT:
        return Path(file).read_bytes()
    # Python has no standard input if the shell closed it.
    if sys.stdin is None:
        raise NoResult("is closed")
    return sys.stdin.buffer.read()


def validations(content: Any) -> Iterator[Mapping[str, Any]]:
    """The results of suites: one, or those of a checkpoint by their ids, which 0.18 nests one level deeper."""
    if not isinstance(content, dict):
        raise NoResult("is no JSON object")
    if "run_results" not in content:
        yield check_result(content)
        return
    runs = content["run_results"]
    if not isinstance(runs, dict) or not runs:
        raise NoResult("run_results is empty or not an object")
    for run in runs.values():
        nested = run.get("validation_result", run) if isinstance(run, dict) else run
        yield check_result(nested)
    # Success is not the conjunction of all results: a severity may accept one that failed.
    if not isinstance(content.get("success"), bool):
        raise NoResult("success is not true or false")


def check_result(result: Any) -> Mapping[str, Any]:
    if not isinstance(result, dict) or not isinstance(result.get("results"), list):
        raise NoResult("has no list of results")
    if not isinstance(result.get("success"), bool):
        raise NoResult("success is not true or false")
    if not all(isinstance(each, dict) and is_outcome(each) for each in result["results"]):
        raise NoResult("an element of results is not the result of an expectation")
    if num_evaluated(result) == 0:
        raise NoResult("no expectation was evaluated, so nothing was validated")
    return result


def is_outcome(outcome: Mapping[str, Any]) -> bool:
    is_known = outcome.get("success") in (True, False, None) and "success" in outcome
    return is_known and isinstance(outcome.get("expectation_config"), dict)


def num_evaluated(result: Mapping[str, Any]) -> int:
    """A result may contain only the expectations that failed."""
    statistics = result.get("statistics")
    count = statistics.get("evaluated_expectations") if isinstance(statistics, dict) else None
    return count if isinstance(count, int) else len(result["results"])


def suite_of(result: Mapping[str, Any]) -> str | None:
    meta = result.get("meta")
    of_0_18 = meta.get("expectation_suite_name") if isinstance(meta, dict) else None
    name = result.get("suite_name") or of_0_18
    return name if isinstance(name, str) else None


def failures_of(result: Mapping[str, Any]) -> Iterator[str]:
    """Critical expectations that failed, and all that could not be evaluated: those never pass."""
    unheld = [each for each in result["results"] if each["success"] is not True]
    failures = [failure for each in unheld if (failure := failure_of(each)) is not None]
    yield from failures
    # Failures below critical explain a result without success. What is not in the list does not.
    if not result["success"] and not failures and not is_explained(result, len(unheld)):
        yield "success is false, and the result does not list which expectation failed"


def is_explained(result: Mapping[str, Any], num_unheld: int) -> bool:
    statistics = result.get("statistics")
    count = statistics.get("unsuccessful_expectations") if isinstance(statistics, dict) else None
    return num_unheld > 0 and (not isinstance(count, int) or count <= num_unheld)


def failure_of(outcome: Mapping[str, Any]) -> str | None:
    """None: it does not count, being below critical."""
    config = outcome["expectation_config"]
    # Releases before 1.0 wrote expectation_type.
    name = config.get("type") or config.get("expectation_type") or "an expectation"
    kwargs = config.get("kwargs")
    column = kwargs.get("column") if isinstance(kwargs, dict) else None
    about = f"{name} of {column}" if column is not None else str(name)
    if outcome["success"] is None or has_raised(outcome.get("exception_info")):
        return f"{about} could not be evaluated"
    return about if config.get("severity", CRITICAL) in (CRITICAL, None) else None


def has_raised(info: Any) -> bool:
    """For an expectation, or for each of its metrics."""
    if not isinstance(info, dict):
        return False
    return info.get("raised_exception") is True or any(map(has_raised, info.values()))
