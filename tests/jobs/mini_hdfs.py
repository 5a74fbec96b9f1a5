"""A real HDFS on this machine: name node and data node of the Hadoop release that Spark brings, in one process."""

import json
import subprocess
import time
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Final

import pyspark

from jobs.spark.jars import JarSet, jars
from jobs.spark.java import java_executable
from tests.short_lived_java import FLAGS

SPARK_JARS = Path(pyspark.__file__).parent / "jars"
# Hadoop's test classes name JUnit's, which their jar lacks.
HADOOP: Final = JarSet(
    "hadoop-minicluster-3.5.0",
    (
        "org.apache.hadoop:hadoop-client-minicluster:3.5.0",
        "org.junit.jupiter:junit-jupiter-api:5.11.4",
        "org.junit.platform:junit-platform-commons:1.11.4",
        "org.opentest4j:opentest4j:1.3.0",
    ),
    is_transitive=False,
)
PATIENCE_SECONDS = 180


@contextmanager
def mini_hdfs(folder: Path) -> Iterator[str]:
    """Its URI, while it runs; everything that it writes lies in the folder."""
    folder.mkdir()
    details, log = folder / "details.json", folder / "log.txt"
    path = ":".join([*map(str, jars(HADOOP)), f"{SPARK_JARS}/*"])
    java = [str(java_executable()), *FLAGS, f"-Djava.io.tmpdir={folder}", "-cp", path]
    program = ["org.apache.hadoop.test.MiniDFSClusterManager", "-datanodes", "1", "-nnport", "0", "-format"]
    with log.open("w") as output:
        running = subprocess.Popen(
            [*java, *program, "-writeDetails", str(details)], cwd=folder, stdout=output, stderr=output
        )
    try:
        deadline = time.monotonic() + PATIENCE_SECONDS
        while not (details.is_file() and details.read_text().endswith("}")):
            assert running.poll() is None, log.read_text()
            assert time.monotonic() < deadline, log.read_text()
            time.sleep(0.2)
        yield f"hdfs://127.0.0.1:{json.loads(details.read_text())['namenode_port']}"
    finally:
        running.kill()
        running.wait()
