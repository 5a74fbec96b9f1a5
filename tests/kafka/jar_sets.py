"""Kafka's own jars, for the brokers, tools and record classes that the tests compare with.

`python -m tests.kafka.jar_sets [NAME…]` fetches the named sets, or all, and prints their folders.
"""

import sys
from concurrent.futures import ThreadPoolExecutor
from typing import Final

from jobs.spark.jars import DELTA, JarSet, jar_folder


def kafka(version: str, *modules: str) -> JarSet:
    return JarSet(f"kafka-{version}", tuple(f"org.apache.kafka:{module}:{version}" for module in modules))


SERVER: Final = ("kafka_2.13", "kafka-group-coordinator", "kafka-tools")
KAFKA_4_4_0: Final = kafka("4.4.0", *SERVER, "connect-runtime", "kafka-streams")
KAFKA_4_3_1: Final = kafka("4.3.1", *SERVER, "connect-runtime", "connect-file", "kafka-streams")
# The last release with the old coordinator, and the last to write record type 4.
KAFKA_3_9_1: Final = kafka("3.9.1", "kafka_2.13", "kafka-tools")
# Only for its record classes: 4.0's shapes of types 9, 11 and 15.
KAFKA_4_0_1: Final = kafka("4.0.1", "kafka_2.13")
# The first release with the new coordinator, as a preview: early shapes of types 4, 5, 7 and 8.
KAFKA_3_7_2: Final = kafka("3.7.2", "kafka_2.13")
KAFKA_4_1_2: Final = kafka("4.1.2", "kafka_2.13", "kafka-tools")
# A Java compiler that is a jar: a runtime without a compiler compiles the tests' programs by it.
ECJ: Final = JarSet("ecj-3.38.0", ("org.eclipse.jdt:ecj:3.38.0",), is_transitive=False)
# 4.3.1's modules bring no way to log: without it a broker that does not start says nothing.
LOGGING: Final = JarSet(
    "slf4j-reload4j-1.7.36",
    ("org.slf4j:slf4j-reload4j:1.7.36", "ch.qos.reload4j:reload4j:1.2.25"),
    is_transitive=False,
)

ALL: Final = (DELTA, KAFKA_4_4_0, KAFKA_4_3_1, KAFKA_3_9_1, KAFKA_4_1_2, KAFKA_4_0_1, KAFKA_3_7_2, ECJ, LOGGING)
JAR_SETS: Final = {each.name: each for each in ALL}


def main(names: list[str]) -> int:
    unknown = [name for name in names if name not in JAR_SETS]
    if unknown:
        sys.stderr.write(f"unknown jar set {unknown[0]}: expected one of {', '.join(JAR_SETS)}\n")
        return 2
    with ThreadPoolExecutor() as pool:
        for folder in pool.map(jar_folder, [JAR_SETS[name] for name in names or JAR_SETS]):
            sys.stdout.write(f"{folder}\n")
    return 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
