"""Runs ingest, replay, assignments, lag, gate and report, one after the other: the job to schedule.

    groupscope audit --source kafka:broker-1:9092 --command-config client.properties --warehouse warehouse
    groupscope audit --source segments:/var/lib/kafka --snapshots snapshots.jsonl --warehouse warehouse
    spark-submit --py-files groupscope.zip jobs/audit.py --source segments:/var/lib/kafka

Reads and writes what these commands do; their --help lists it. Writes the report only if anything has changed, and not
if --since, --until, --group or --exclude-group leave out some findings. Prints what was read, the worst new findings,
and how many are known from earlier runs; with --verbose also all kinds of findings, and how many rows were added. Exit
code: 20 if there are findings, see --fail-on.
"""

import argparse
import sys
import time
from collections.abc import Sequence
from contextlib import closing
from dataclasses import replace
from typing import Any

from jobs import ingest
from jobs.command_line.values import GroupChoice, as_of_micros, with_full_as_of
from jobs.engine.choice import engine_of
from jobs.engine.engine import Engine
from jobs.gating.options import exit_code, gate_options
from jobs.gating.report_failures import Outputs, kept
from jobs.gating.run import Gate
from jobs.measuring.run import Measurement
from jobs.output.failure import Failure, check_file, say
from jobs.output.rows import print_result
from jobs.pages.prometheus_file import PROMETHEUS, group_verdicts_at, write_prometheus_file
from jobs.pages.run_pages import audit_page
from jobs.recomputing.run import Recomputation
from jobs.replaying.run import Replay
from jobs.reporting.report_folder import INDEX, basis_of, check_cluster, check_folder, marks_of, report_place
from jobs.runs.result import now_ms, recorded_failure, result_text, write_result_file
from jobs.runs.run import open_warehouse, options_at, run_all, run_options
from jobs.storage.places.addresses import place_at
from jobs.storage.places.place import Place
from jobs.warehouses.any_warehouse import one_cluster
from jobs.warehouses.warehouse import Warehouse
from schemas.words.exit_codes import ExitCode


def run(arguments: argparse.Namespace) -> int:
    with engine_of(arguments, "audit") as engine, recorded_failure(arguments.result_file, "audit"):
        result, lines = run_steps(at_start(arguments, now_ms()), engine)
    # Nothing is left that could fail: what is printed is what the command ends with.
    print_result(result, lines, arguments.format)
    for line in result["report_failed"]:
        say(line)
    return exit_code(result, arguments.fail_on)


def at_start(arguments: argparse.Namespace, now: int) -> argparse.Namespace:
    """With the times of the run. A live log is judged as of its start, all others as of their own end."""
    is_live = (arguments.source or "").startswith("kafka:")
    as_of = str(now) if is_live and arguments.as_of is None else arguments.as_of
    return with_full_as_of(argparse.Namespace(**{**vars(arguments), "as_of": as_of, "retry_rejected": False}), now)


def run_steps(arguments: argparse.Namespace, engine: Engine) -> tuple[dict[str, Any], list[str]]:
    """Returns the result of the ingest with those of the later steps in it, and the lines of the run page, made while
    the tables are still open."""
    check_file(PROMETHEUS, arguments.prometheus)
    gate = Gate(gate_options(arguments), is_own_process=arguments.is_own_process)
    # Errors in its rules are reported before anything is read.
    _ = gate.rules
    measurement = Measurement(is_full=False, as_of=as_of_micros(arguments.as_of, now_ms()))
    first, *after = ingest.jobs_of(arguments)
    jobs = [*after, Replay(is_full=False), Recomputation(is_full=False), measurement, gate]
    # The result is that of all of them.
    options = replace(run_options(arguments), result_file=None)
    place = report_place(arguments.report, arguments.warehouse)
    folder = place_at(place, options_at(place, options, engine))
    check_folder(folder)
    with open_warehouse(first.name, options, engine) as warehouse, closing(gate):
        # Before any work is done unnecessarily.
        check_cluster(folder, marks_of(folder), one_cluster(warehouse, options.cluster))
        steps = run_all([first], warehouse, options, engine)
        if any(steps[0]["rows_added"].values()):
            gate.load_ahead()
        steps += run_all(jobs, warehouse, options, engine)
        result, outputs = together(steps), Outputs(gate, arguments.fail_on)
        # What shows a narrowed run would say that all else is well: the page and the file of the newest whole run stay.
        result["report"] = {"place": None, "is_unchanged": False, "seconds": 0}
        if gate.narrowed_by is None:
            begin = time.monotonic()
            written, unwritten = report_result(warehouse, result["cluster"], folder, engine)
            result["report"] = {**written, "seconds": round(time.monotonic() - begin, 3)}
            outputs = outputs if unwritten is None else outputs.and_failed(unwritten)
            if arguments.prometheus is not None:
                groups = group_verdicts_at(warehouse, result["cluster"], gate.as_of)
                shown = (outputs.judged(result), outputs.findings, groups, gate.newest_ms)
                try:
                    write_prometheus_file(arguments.prometheus, *shown, options.settings.gate.max_prometheus_groups)
                except Failure as failure:
                    outputs = outputs.and_failed(failure)
        try:
            write_result_file(arguments.result_file, result_text(outputs.judged(result)))
        except Failure as failure:
            outputs = outputs.and_failed(failure)
        if gate.narrowed_by is None:
            outputs = kept(outputs, warehouse, options, engine)
        result = outputs.judged(result)
        ended_with = exit_code(result, arguments.fail_on)
        lines = list(audit_page(warehouse, result, outputs.findings, ended_with, is_verbose=arguments.verbose))
    return result, lines


def report_result(
    warehouse: Warehouse, cluster: str, folder: Place, engine: Engine
) -> tuple[dict[str, Any], Failure | None]:
    """The part of the result about the report, and the reason why it could not be written. A report of the same rows
    stays."""
    place, marks, choice = str(folder / INDEX), marks_of(folder), GroupChoice()
    if marks.basis == basis_of(warehouse, cluster, choice):
        return {"place": place, "is_unchanged": True}, None
    # Here, since a run without anything new does without templates.
    from jobs.reporting.write_report import write_report

    try:
        # Another run may have written there since this one began.
        check_cluster(folder, marks, cluster)
        write_report(warehouse, cluster, choice, folder, engine=engine)
    except Failure as failure:
        if failure.code == ExitCode.UNUSABLE_WAREHOUSE:
            # Of a damaged table: nothing is wrong with the place of the report.
            raise
        return {"place": None, "is_unchanged": False}, failure
    return {"place": place, "is_unchanged": False}, None


def together(steps: Sequence[dict[str, Any]]) -> dict[str, Any]:
    """An input that cannot be read well wins over findings."""
    first, *after = steps
    added = {name: number for step in steps for name, number in step["rows_added"].items()}
    worst = max(steps, key=lambda step: (int(step["exit_code"]), step["verdict"] != "clean"))
    about = {"verdict": worst["verdict"], "exit_code": worst["exit_code"], "rows_added": added}
    times = {"finished_time": steps[-1]["finished_time"], "seconds": round(sum(step["seconds"] for step in steps), 3)}
    of_steps = {step["job"]: step for step in after}
    return {**first, **about, **times, "coverage": of_steps["lag"].pop("coverage"), **of_steps}


if __name__ == "__main__":
    from jobs.cli import main

    sys.exit(main(["audit", *sys.argv[1:]]))
