"""Named, pinned sets of Java archives. Ivy, which comes with Spark, fetches them once; later uses need no network.

python -m jobs.spark.jars       fetches what Spark needs for Delta: set-up
"""

import subprocess
import sys
import tempfile
from dataclasses import dataclass
from importlib.util import find_spec
from pathlib import Path
from typing import Final

from jobs.spark.cache_folder import build_once, cache_folder
from jobs.spark.java import java_executable, trust_options

REQUEST = "ivy.xml"
# Each set has a process of its own, which ends too soon to gain from the second compiler.
SHORT_LIVED: Final = ("-XX:TieredStopAtLevel=1", "-XX:+UseSerialGC")
# The release of Spark that everything here is made for.
SPARK: Final = "4.2"


@dataclass(frozen=True)
class JarSet:
    """`artifacts` are `organisation:module:revision`; with their dependencies unless `is_transitive` says no."""

    name: str
    artifacts: tuple[str, ...]
    is_transitive: bool = True


# By itself Ivy would bring 28 jars, Hadoop's and log4j's among them, which Spark has already. These seven suffice.
DELTA: Final = JarSet(
    "delta-4.4.0",
    (
        f"io.delta:delta-spark_{SPARK}_2.13:4.4.0",
        "io.delta:delta-storage:4.4.0",
        "io.delta:delta-kernel-api:4.4.0",
        "io.delta:delta-kernel-defaults:4.4.0",
        "io.delta:delta-kernel-unitycatalog:4.4.0",
        "io.unitycatalog:unitycatalog-client:0.6.0",
        "io.unitycatalog:unitycatalog-hadoop:0.6.0",
    ),
    is_transitive=False,
)


def jars(jar_set: JarSet) -> list[Path]:
    """The set's jars in a fixed order, fetched when they are not there yet."""
    return sorted(jar_folder(jar_set).glob("*.jar"))


def jar_folder(jar_set: JarSet) -> Path:
    request = ivy_request(jar_set)

    def is_complete(folder: Path) -> bool:
        # A set whose artifacts changed under its old name is fetched anew.
        return (folder / REQUEST).is_file() and (folder / REQUEST).read_text() == request

    def fetch(folder: Path) -> None:
        (folder / REQUEST).write_text(request)
        run_ivy(jar_set, folder)

    return build_once(cache_folder() / "jars" / jar_set.name, fetch, is_complete)


def ivy_request(jar_set: JarSet) -> str:
    transitive = str(jar_set.is_transitive).lower()
    dependencies = "".join(
        f'    <dependency org="{org}" name="{name}" rev="{rev}" conf="default" transitive="{transitive}"/>\n'
        for org, name, rev in (artifact.split(":") for artifact in jar_set.artifacts)
    )
    return (
        '<ivy-module version="2.0">\n'
        f'  <info organisation="groupscope" module="{jar_set.name}"/>\n'
        '  <configurations><conf name="default"/></configurations>\n'
        f"  <dependencies>\n{dependencies}  </dependencies>\n"
        "</ivy-module>\n"
    )


def run_ivy(jar_set: JarSet, folder: Path) -> None:
    """Resolves the request in `folder` and puts the jars beside it."""
    with tempfile.TemporaryDirectory(dir=folder) as scratch:
        options = [*SHORT_LIVED, *trust_options(Path(scratch))]
        ivy = [str(java_executable()), *options, "-jar", str(ivy_jar())]
        request = ["-ivy", f"{folder / REQUEST}", "-confs", "default"]
        # Without `bundle` five jars stay away, snappy-java and jackson-datatype-jdk8 among them: no broker starts.
        types = ["-types", "jar", "bundle"]
        # Its own cache, since Ivy's does not bear two processes.
        places = ["-cache", f"{scratch}/ivy", "-retrieve", f"{folder}/[artifact]-[revision].[ext]"]
        done = subprocess.run([*ivy, *request, *types, *places], capture_output=True, text=True, check=False)
    if done.returncode:
        output = (done.stdout + done.stderr)[-4000:]
        raise RuntimeError(f"Ivy could not download the Java libraries of {jar_set.name}:\n{output}")


def ivy_jar() -> Path:
    spec = find_spec("pyspark")  # found without importing it, which takes a third of a second
    if spec is None or spec.origin is None:
        raise RuntimeError("pyspark is not installed")
    return Path(spec.origin).parent / "jars" / "ivy-2.5.3.jar"


if __name__ == "__main__":
    sys.stdout.write(f"{jar_folder(DELTA)}\n")
