"""Decodes the records of __consumer_offsets into Delta tables, which keep them after the topic is compacted.

    groupscope ingest --source segments:/var/lib/kafka --snapshots snapshots.jsonl --warehouse warehouse
    spark-submit --py-files groupscope.zip jobs/ingest.py --source segments:/var/lib/kafka

Reads: segment files, a live cluster or an archive, and snapshots. Writes: the decoded tables, `rejected_records`,
`source_files`, `cluster_snapshots`, `topic_snapshots` and `runs`. Each record of the log becomes one row. Reading the
same input again adds no rows. A run that fails changes nothing.
"""

import argparse
import sys

from jobs.engine.choice import engine_of
from jobs.ingestion.driver.writer import JOB
from jobs.ingestion.run import Ingest, IngestOptions
from jobs.ingestion.summary import closing_line
from jobs.output.failure import misuse
from jobs.output.rows import print_result
from jobs.runs.result import recorded_failure
from jobs.runs.run import Job, run_jobs, run_options


def run(arguments: argparse.Namespace) -> int:
    with engine_of(arguments, JOB) as engine, recorded_failure(arguments.result_file, JOB):
        # Of one run, or of two if rejected records are decoded again first.
        results = run_jobs(jobs_of(arguments), run_options(arguments), engine)
    for result in results:
        print_result(result, [closing_line(result)], arguments.format)
    return max(int(result["exit_code"]) for result in results)


def jobs_of(arguments: argparse.Namespace) -> list[Job]:
    check_usage(arguments)
    asked = IngestOptions(
        source=arguments.source,
        command_config=arguments.command_config,
        offsets_partition=arguments.offsets_partition,
        snapshots=tuple(arguments.snapshots),
        captured_at=arguments.captured_at,
        optimize=arguments.optimize,
        retry_rejected=arguments.retry_rejected,
    )
    # In a separate run, before the other run reads input that may contain the same records.
    jobs: list[Job] = [Ingest(asked, is_retry=True)] if asked.retry_rejected else []
    if arguments.source is not None or arguments.snapshots or not asked.retry_rejected:
        jobs.append(Ingest(asked, is_retry=False))
    return jobs


def check_usage(arguments: argparse.Namespace) -> None:
    if not (
        arguments.source is not None or arguments.snapshots or arguments.retry_rejected or arguments.optimize == "full"
    ):
        forms = "--source segments:DIR, kafka:HOST:PORT or records:PATH"
        raise misuse(f"nothing to do; give {forms}, --snapshots, --retry-rejected or --optimize full")
    if arguments.command_config is not None and not (arguments.source or "").startswith("kafka:"):
        line = "only --source kafka:HOST:PORT uses it; add that source or leave the flag out"
        raise misuse(f"--command-config {arguments.command_config}: {line}")
    if arguments.captured_at is not None and not arguments.snapshots:
        line = "only --snapshots FILE uses it; add that file or leave the flag out"
        raise misuse(f"--captured-at {arguments.captured_at}: {line}")


if __name__ == "__main__":
    from jobs.cli import main

    sys.exit(main(["ingest", *sys.argv[1:]]))
