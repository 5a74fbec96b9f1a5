"""Results of Great Expectations itself, as JSON by their names: of 1.x as installed, and in the form that 0.18 wrote.

python -m tests.builders.gate.validations

A process of its own makes them: the library takes seconds to load, and warns of its own imports.
"""

import json
import os
import subprocess
import sys
from functools import cache
from hashlib import sha256
from importlib.metadata import version
from pathlib import Path
from typing import Any

from jobs.spark.cache_folder import build_once, cache_folder

RESULTS = "results.json"
ROOT = Path(__file__).parents[3]
Result = dict[str, Any]


@cache
def made() -> str:
    """Kept for later runs: the same release writes the same."""
    program = sha256(Path(__file__).read_bytes()).hexdigest()[:16]
    name = f"{version('great_expectations')}-{program}"
    kept = build_once(cache_folder() / "validations" / name, lambda folder: (folder / RESULTS).write_text(written()))
    return (kept / RESULTS).read_text()


def written() -> str:
    command = [sys.executable, "-W", "ignore", "-m", "tests.builders.gate.validations"]
    # Great Expectations must not report that it was used.
    environment = {**os.environ, "GX_ANALYTICS_ENABLED": "false"}
    done = subprocess.run(command, cwd=ROOT, env=environment, stdout=subprocess.PIPE, text=True, check=True)
    return done.stdout


def results() -> dict[str, Result]:
    """Everything that the library writes of each validation."""
    document: dict[str, Result] = json.loads(made())
    return document


def validated() -> dict[str, Result]:
    import great_expectations as gx
    import pandas as pd
    from great_expectations import expectations as gxe

    holds = gxe.ExpectColumnValuesToNotBeNull(column="currency")
    fails = gxe.ExpectColumnValuesToNotBeNull(column="amount")
    as_warning = gxe.ExpectColumnValuesToNotBeNull(column="amount", severity="warning")
    as_info = gxe.ExpectTableRowCountToEqual(value=7, severity="info")
    # Of a column that is not there: it raises, whatever its severity.
    raises = gxe.ExpectColumnMaxToBeBetween(column="nope", max_value=3, severity="info")
    suites: dict[str, tuple[str, list[Any]]] = {
        "passed": ("orders", [holds]),
        "failed": ("orders", [holds, fails]),
        "below critical": ("orders", [holds, as_warning, as_info]),
        "error": ("orders", [holds, raises]),
        "empty": ("orders", []),
        "other": ("customers", [holds]),
    }
    frame = pd.DataFrame({"amount": [1.0, 2.0, None], "currency": ["EUR", "EUR", "USD"]})
    result: dict[str, Result] = {}
    for name, (suite, expectations) in suites.items():
        context = gx.get_context(mode="ephemeral")
        asset = context.data_sources.add_pandas("frames").add_dataframe_asset("frame")
        batch = asset.add_batch_definition_whole_dataframe("whole").get_batch({"dataframe": frame})
        whole = gx.ExpectationSuite(name=suite, expectations=[each.copy(deep=True) for each in expectations])
        result[name] = batch.validate(whole).to_json_dict()
    return result


def checkpoint(*results: Result) -> Result:
    """As its run_results are written, by the text of their ids."""
    return {
        "success": all(result["success"] for result in results),
        "run_id": {"run_name": None, "run_time": "2026-11-21T03:00:00+00:00"},
        "run_results": {f"ValidationResultIdentifier::{place}": result for place, result in enumerate(results)},
    }


def as_of_0_18(result: Result) -> Result:
    """The names that it had then: expectation_type, no severity, the suite's name in meta."""
    results = []
    for each in result["results"]:
        config = {name: value for name, value in each["expectation_config"].items() if name in ("kwargs", "meta")}
        config["expectation_type"] = each["expectation_config"]["type"]
        results.append({**each, "expectation_config": config})
    meta = {"great_expectations_version": "0.18.22", "expectation_suite_name": result["suite_name"]}
    kept = {name: result[name] for name in ("success", "statistics")}
    return {**kept, "results": results, "evaluation_parameters": {}, "meta": meta}


if __name__ == "__main__":
    sys.stdout.write(json.dumps(validated()))
