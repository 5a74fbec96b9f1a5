"""Checks all tables and lists findings: computes metrics, checks them with Great Expectations suites, and looks
for problems. With --span: records that data was validated, before a consumer commits its offsets.

    groupscope gate --warehouse warehouse
    groupscope gate --warehouse warehouse --fail-on warning --since 2026-11-21 --group '^billing'
    groupscope gate --group billing --span orders:3:1200:1500:298 --result result.json
    spark-submit --py-files groupscope.zip jobs/gate.py --warehouse hdfs://namenode/groupscope

Reads: every table, and `metrics/`, `expectations/` and `waivers.toml` in the folder of the settings file. Writes:
`gate_metrics`, `gate_runs`, `gate_results`, `gate_limits`, `findings` and `runs`. A run on the same tables, rules and
times adds no rows. With --since, --until, --group or --exclude-group a run is a question about a part of the findings:
the report, `v_findings` and Prometheus go on showing the newest run without them.

With --span it writes only `gate_spans`, and does not wait for other runs. Exit code: 0 if the data passed or --override
accepts it, 20 if it failed, 21 if its result cannot be read.
"""

import argparse
import sys
from contextlib import closing

from jobs.command_line.flags import FAIL_ON, LOCK_WAIT
from jobs.command_line.values import with_full_as_of
from jobs.engine.choice import engine_of
from jobs.output.rows import print_page, print_rows
from jobs.pages.run_pages import COLUMNS, gate_page
from jobs.runs.result import now_ms, recorded_failure
from jobs.runs.run import run_jobs, run_options


def run(arguments: argparse.Namespace) -> int:
    # --result or --override without --span is reported there.
    if any(value is not None for value in (arguments.span, arguments.result, arguments.override, arguments.actor)):
        from jobs.recording.record_span import record_span

        return record_span(arguments)
    from jobs.gating.options import exit_code, gate_options
    from jobs.gating.run import Gate

    arguments = with_full_as_of(with_defaults(arguments), now_ms())
    with (
        closing(Gate(gate_options(arguments), is_own_process=arguments.is_own_process)) as gate,
        recorded_failure(arguments.result_file, gate.name),
        engine_of(arguments, gate.name) as engine,
    ):
        # Before the warehouse is locked, so that errors in the rules are reported at once.
        options = run_options(arguments, may_be_new=False)
        _ = gate.rules
        (result,) = run_jobs([gate], options, engine)
    code = exit_code(result, arguments.fail_on)
    if arguments.format == "table":
        print_page(gate_page(result, gate.findings, code))
    else:
        print_rows(COLUMNS, [[row[name] for name in COLUMNS] for row in gate.findings], arguments.format)
    return code


def with_defaults(arguments: argparse.Namespace) -> argparse.Namespace:
    """Without --span these flags have defaults; with it they are refused where they were typed."""
    typed = {name: value for name, value in vars(arguments).items() if value is not None}
    return argparse.Namespace(**{**vars(arguments), "fail_on": FAIL_ON[0], "lock_wait": LOCK_WAIT, **typed})


if __name__ == "__main__":
    from jobs.cli import main

    sys.exit(main(["gate", *sys.argv[1:]]))
