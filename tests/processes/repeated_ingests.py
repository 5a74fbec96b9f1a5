"""Runs `groupscope ingest` again and again in one process, so in one Spark session: run by test_spark_path.py.

A line in is the arguments as JSON; a line out is the exit code."""

import json
import os
import sys

from jobs import cli


def main() -> None:
    # What the command prints goes with its complaints.
    with os.fdopen(os.dup(sys.stdout.fileno()), "w") as codes:
        os.dup2(sys.stderr.fileno(), sys.stdout.fileno())
        for line in sys.stdin:
            codes.write(f"{int(cli.main(['ingest', *json.loads(line)]))}\n")
            codes.flush()


if __name__ == "__main__":
    main()
