"""How virtual machines run that tests start by the dozen, as they start brokers: few live long enough to earn back
what the second compiler, a collector with threads of its own, and a check of every class take."""

import os
from typing import Final

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


def of_spark() -> dict[str, str]:
    """The environment that has Spark's scripts start such ones: whoever sets one of these names has the last word."""
    return {name: os.environ.get(name, " ".join(FLAGS)) for name in ("SPARK_LAUNCHER_OPTS", "SPARK_SUBMIT_OPTS")}
