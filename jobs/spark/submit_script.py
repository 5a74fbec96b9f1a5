"""Makes `.venv/bin/spark-submit` work without activating the environment, on a machine with or without Java.

PySpark's own script looks for Spark with the first `python3` on the PATH, which may belong to another environment.

    python -m jobs.spark.submit_script
"""

import sys
from pathlib import Path

# Read by PySpark's scripts when SPARK_HOME is not set.
NAME = "find-spark-home"
TEXT = """\
#!/usr/bin/env bash
# Written by `make setup`: uses this environment's Spark, Python and Java, unless variables name others.
here="$(cd "$(dirname "${BASH_SOURCE[0]}")" && pwd)"
export SPARK_HOME="${SPARK_HOME:-$("$here/python" "$here/find_spark_home.py")}"
export PYSPARK_PYTHON="${PYSPARK_PYTHON:-$here/python}"
export JAVA_HOME="${JAVA_HOME:-$("$here/python" -c 'from jobs.spark.java import java_home; print(java_home())')}"
"""


def main() -> int:
    path = Path(sys.executable).with_name(NAME)
    if path.is_file() and path.read_text() != TEXT:
        mode = path.stat().st_mode
        # Another name first: the file may be shared with other environments by a hard link.
        path.unlink()
        path.write_text(TEXT)
        path.chmod(mode)
    return 0


if __name__ == "__main__":
    sys.exit(main())
