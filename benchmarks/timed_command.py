"""Runs a command and writes the times of its tasks: python -m benchmarks.timed_command FILE COMMAND …"""

import sys
from pathlib import Path

from benchmarks.task_times import time_tasks
from jobs import cli

if __name__ == "__main__":
    time_tasks(Path(sys.argv[1]))
    sys.exit(cli.main(sys.argv[2:]))
