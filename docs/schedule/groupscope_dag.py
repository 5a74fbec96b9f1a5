"""Airflow 3: audits a Kafka cluster every ten minutes. Put this file into the folder of DAGs.

The task runs Groupscope's own environment, so that its packages and Airflow's need not agree.
"""

import subprocess
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
]
WRONG_USAGE, FINDINGS = 2, 20


@dag(schedule="*/10 * * * *", start_date=datetime(2026, 1, 1), catchup=False, max_active_runs=1, tags=["kafka"])
def groupscope():
    @task(retries=2, retry_delay=timedelta(minutes=2))
    def audit():
        code = subprocess.run(COMMAND, cwd=HOME, check=False).returncode
        if code in (WRONG_USAGE, FINDINGS):
            # Another try would end the same way.
            raise AirflowFailException(f"groupscope audit ended with exit code {code}; the log has its lines")
        if code:
            raise RuntimeError(f"groupscope audit ended with exit code {code}")

    audit()


groupscope()
