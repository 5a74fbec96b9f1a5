"""Airflow 3: audits a Kafka cluster every ten minutes. Put this file into the folder of DAGs.

The task fails if there is a new critical finding. It returns the first line of the run page, which counts all findings,
new or known.

The task runs Groupscope's own environment, so that its packages and Airflow's need not agree.
"""

import subprocess
import sys
from datetime import datetime, timedelta

from airflow.sdk import dag, task
from airflow.sdk.exceptions import AirflowFailException

HOME = "/opt/groupscope"
COMMAND = [
    f"{HOME}/.venv/bin/groupscope",
    "audit",
    "--source=kafka:broker-1:9092,broker-2:9092",
    "--command-config=/etc/groupscope/prod.properties",
    "--cluster=prod",
    "--warehouse=/srv/groupscope",
    "--report=/srv/groupscope/_report",
    "--fail-on=critical-new",
]
WRONG_USAGE, FINDINGS, REJECTED = 2, 20, 22


@dag(schedule="*/10 * * * *", start_date=datetime(2026, 1, 1), catchup=False, max_active_runs=1, tags=["kafka"])
def groupscope():
    @task(retries=2, retry_delay=timedelta(minutes=2))
    def audit():
        done = subprocess.run(COMMAND, cwd=HOME, check=False, stdout=subprocess.PIPE, text=True)
        sys.stdout.write(done.stdout)
        code, line = done.returncode, done.stdout.partition("\n")[0]
        if code in (WRONG_USAGE, FINDINGS, REJECTED):
            # Another try would end the same way, or end with 0, since nothing is new to it.
            raise AirflowFailException(f"groupscope audit ended with exit code {code}: {line}")
        if code:
            raise RuntimeError(f"groupscope audit ended with exit code {code}: {line}")
        return line

    audit()


groupscope()
