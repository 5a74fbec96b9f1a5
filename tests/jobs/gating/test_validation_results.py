"""What passes and what fails, by results that Great Expectations itself made; anything else cannot be read."""

import hashlib
import json
from pathlib import Path
from typing import Any

import pytest

from jobs.output.failure import Failure
from jobs.recording.validation_results import ValidationResult, read_result
from schemas.words.exit_codes import ExitCode
from tests.builders.gate import validations
from tests.builders.gate.validations import as_of_0_18, checkpoint

NOT_NULL = "expect_column_values_to_not_be_null of amount"
UNEVALUATED = "expect_column_max_to_be_between of nope could not be evaluated"


@pytest.fixture(scope="module")
def results() -> dict[str, Any]:
    return validations.results()


def read(folder: Path, result: Any) -> ValidationResult:
    file = folder / "result.json"
    file.write_text(json.dumps(result))
    actual = read_result(str(file))
    assert actual.sha256 == hashlib.sha256(file.read_bytes()).hexdigest()
    return actual


@pytest.mark.parametrize(
    ("name", "failures"),
    [("passed", ()), ("failed", (NOT_NULL,)), ("below critical", ()), ("error", (UNEVALUATED,))],
)
def test_a_result_of_a_suite(tmp_path: Path, results: dict[str, Any], name: str, failures: tuple[str, ...]) -> None:
    # The library's own word: what fails at any severity is no success.
    assert results[name]["success"] == (name == "passed")
    result = read(tmp_path, results[name])
    assert (result.suite, result.failures, result.is_passed) == ("orders", failures, not failures)


def test_a_result_of_0_18_has_no_severities_so_all_are_critical(tmp_path: Path, results: dict[str, Any]) -> None:
    assert read(tmp_path, as_of_0_18(results["passed"])).is_passed
    result = read(tmp_path, as_of_0_18(results["below critical"]))
    assert (result.suite, sorted(result.failures)) == ("orders", [NOT_NULL, "expect_table_row_count_to_equal"])


def test_a_result_of_a_checkpoint_is_that_of_all_its_suites(tmp_path: Path, results: dict[str, Any]) -> None:
    good = read(tmp_path, checkpoint(results["passed"], results["other"]))
    assert (good.suite, good.failures) == ("customers, orders", ())
    assert read(tmp_path, checkpoint(results["other"], results["failed"])).failures == (NOT_NULL,)
    nested = [{"validation_result": as_of_0_18(results[name]), "actions_results": {}} for name in ("other", "failed")]
    assert read(tmp_path, checkpoint(*({**each, "success": True} for each in nested))).failures == (NOT_NULL,)


def test_a_list_of_what_failed_alone_is_enough(tmp_path: Path, results: dict[str, Any]) -> None:
    def without_held(name: str) -> dict[str, Any]:
        return {**results[name], "results": [each for each in results[name]["results"] if not each["success"]]}

    assert read(tmp_path, without_held("passed")).is_passed
    assert read(tmp_path, without_held("below critical")).is_passed
    assert read(tmp_path, without_held("failed")).failures == (NOT_NULL,)


def test_a_failure_that_the_list_does_not_explain_is_a_failure(tmp_path: Path, results: dict[str, Any]) -> None:
    cut = {**results["below critical"], "results": results["below critical"]["results"][:2]}
    assert len(read(tmp_path, cut).failures) == 1
    assert len(read(tmp_path, {**results["failed"], "results": []}).failures) == 1


def test_a_failure_counts_whatever_the_result_as_a_whole_says(tmp_path: Path, results: dict[str, Any]) -> None:
    assert read(tmp_path, {**results["failed"], "success": True}).failures == (NOT_NULL,)


UNREADABLE = {
    "nothing": b"",
    "no JSON": b"{'success': True}",
    "not UTF-8": b"\xff\xfe\x00",
    "a list": b"[]",
    "success alone": b'{"success": true}',
    "no success": b'{"results": [{"success": true, "expectation_config": {}}]}',
    "success as a text": b'{"success": "true", "results": [{"success": true, "expectation_config": {}}]}',
    "success as a number": b'{"success": true, "results": [{"success": 1.5, "expectation_config": {}}]}',
    "results of something else": b'{"success": true, "results": [{"name": "x"}]}',
    "no results in a checkpoint": b'{"success": true, "run_results": {}}',
    "something else in a checkpoint": b'{"success": true, "run_results": {"a": 1}}',
    "very deep": b"[" * 100_000,
}


@pytest.mark.parametrize("name", UNREADABLE)
def test_anything_else_cannot_be_read(tmp_path: Path, name: str) -> None:
    file = tmp_path / "result.json"
    file.write_bytes(UNREADABLE[name])
    assert_unreadable(str(file))


def test_what_validated_nothing_is_no_result(tmp_path: Path, results: dict[str, Any]) -> None:
    """To the library it is a success."""
    assert results["empty"]["success"] is True
    with pytest.raises(Failure, match="no expectation was evaluated"):
        read(tmp_path, results["empty"])


@pytest.mark.parametrize("name", ["nowhere.json", ""])
def test_a_file_that_cannot_be_opened(tmp_path: Path, name: str) -> None:
    """Nor can a folder."""
    assert_unreadable(str(tmp_path / name))


def assert_unreadable(file: str) -> None:
    with pytest.raises(Failure) as failure:
        read_result(file)
    assert failure.value.code == ExitCode.UNREADABLE_INPUT
    assert "; give the JSON of a Great Expectations result" in str(failure.value)
    assert str(failure.value).startswith(f"--result {file}: ")
    assert "\n" not in str(failure.value)
