"""How virtual machines run that tests start by the dozen, as they start brokers: few live long enough to earn back
what the second compiler, a collector with threads of its own, and a check of every class take."""

import hashlib
import os
from collections.abc import Sequence
from pathlib import Path
from typing import Final

import pyspark

from jobs.spark.cache_folder import cache_folder
from jobs.spark.java import java_executable

FLAGS: Final = (
    "-XX:+UseSerialGC",
    "-XX:TieredStopAtLevel=1",
    # The first compiler alone gets 48 MB for its code. Spark's queries fill them, and what is dropped then is compiled
    # again.
    "-XX:ReservedCodeCacheSize=240m",
    # Set-up has checked the jars by their hashes.
    "-XX:+UnlockDiagnosticVMOptions",
    "-XX:-BytecodeVerificationRemote",
)

# Of Spark, for a few rows at a time: to compile each query would take far longer than to answer it.
SETTINGS: Final = {
    "spark.sql.codegen.wholeStage": "false",
    "spark.sql.codegen.factoryMode": "NO_CODEGEN",
    # Each table that a join keeps in memory takes a page: 8 MB by default, so that a few dozen fill the heap.
    "spark.buffer.pageSize": "256k",
    # Delta makes out the state of a table in fifty tasks otherwise. A test that unsets it takes it from all others.
    "spark.databricks.delta.snapshotPartitions": "1",
}
# Its own folder, whatever links lead to it: an archive fits jars by their names.
SPARK_HOME: Final = Path(os.path.realpath(Path(pyspark.__file__).parent))


def archive_of(entries: Sequence[Path]) -> Path:
    """Where `tests.shared_classes` puts the archive of these jars, of which another Java can make no use."""
    java = java_executable()
    key = repr([str(java), java.stat().st_mtime_ns, *((str(entry), entry.stat().st_mtime_ns) for entry in entries)])
    return cache_folder() / "java" / f"shared-{hashlib.sha256(key.encode()).hexdigest()[:16]}" / "classes.jsa"


def from_archive(archive: Path) -> tuple[str, ...]:
    """Options of a virtual machine that takes its classes from it; none while it is absent."""
    return (f"-XX:SharedArchiveFile={archive}", "-Xlog:cds=off") if archive.exists() else ()


def spark_archive() -> Path:
    return archive_of(sorted((SPARK_HOME / "jars").glob("*.jar")))


def spark_flags() -> str:
    """Of a driver or an executor of Spark."""
    return " ".join((*FLAGS, *from_archive(spark_archive())))


def of_spark() -> dict[str, str]:
    """The environment that has Spark's scripts start such ones: whoever sets one of these names has the last word."""
    # Each script starts another Java first, to ask it for the command.
    flags = {"SPARK_LAUNCHER_OPTS": " ".join(FLAGS), "SPARK_SUBMIT_OPTS": spark_flags()}
    return {name: os.environ.get(name, value) for name, value in flags.items()}
