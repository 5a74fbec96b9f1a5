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


def of_spark() -> dict[str, str]:
    """The environment that has Spark's scripts start such ones: whoever sets one of these names has the last word."""
    return {name: os.environ.get(name, " ".join(FLAGS)) for name in ("SPARK_LAUNCHER_OPTS", "SPARK_SUBMIT_OPTS")}
