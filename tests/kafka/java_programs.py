"""Compiles and runs the tests' own Java programs, on a runtime without a compiler too.

`python -m tests.kafka.java_programs SOURCE… --set NAME` compiles against a jar set and prints the classes' folder.
"""

import argparse
import hashlib
import subprocess
import sys
from collections.abc import Iterable, Sequence
from pathlib import Path

from jobs.spark.cache_folder import build_once, cache_folder
from jobs.spark.jars import jar_folder, jars
from jobs.spark.java import java_executable
from tests.kafka.jar_sets import ECJ, JAR_SETS
from tests.short_lived_java import archive_of, from_archive


def key_of(about: object, files: Iterable[Path]) -> str:
    """Names what was made with these files in a cache: another one when any of them changes, or `about`."""
    digest = hashlib.sha256(repr(about).encode())
    for path in files:
        content = path.read_bytes()
        digest.update(f"{path.name}:{len(content)}:".encode() + content)
    return digest.hexdigest()[:16]


def compile_java(sources: Sequence[Path], classpath: Sequence[Path] = ()) -> Path:
    """The folder of the sources' classes, compiled when they or the names on the classpath changed."""
    entries = expanded(classpath)
    key = key_of([entry.name for entry in entries], sorted(sources))

    def build(folder: Path) -> None:
        (compiler,) = jars(ECJ)
        # `-17` and not `--release 17`: that wants a table of old classes, which a bare runtime lacks.
        options = ["-17", "-proc:none", "-nowarn", "-encoding", "UTF-8"]
        on_classpath = ["-cp", ":".join(map(str, entries))] if entries else []
        command = [java_executable(), "-jar", compiler, *options, *on_classpath, "-d", folder, *sorted(sources)]
        done = subprocess.run(command, capture_output=True, text=True, check=False)
        if done.returncode:
            raise RuntimeError(f"Java sources did not compile:\n{done.stdout}{done.stderr}")

    return build_once(cache_folder() / "java" / key, build)


def java_command(
    main: str, classpath: Sequence[Path], arguments: Sequence[str] = (), options: Sequence[str] = ()
) -> list[str]:
    """The command that runs class `main`; `options` are the virtual machine's, such as `-Xmx512m`."""
    entries = expanded(classpath)
    jars_first = sorted(entries, key=Path.is_dir)
    # An archive fits a classpath that begins with its own.
    if archived := from_archive(archive_of([entry for entry in jars_first if not entry.is_dir()])):
        entries, options = jars_first, [*archived, *options]
    return [str(java_executable()), *options, "-cp", ":".join(map(str, entries)), main, *arguments]


def expanded(classpath: Sequence[Path]) -> list[Path]:
    """A folder of jars stands for its jars in a fixed order: a wildcard's order is the file system's."""
    return [entry for given in classpath for entry in sorted(given.glob("*.jar")) or [given]]


def main(arguments: list[str]) -> int:
    parser = argparse.ArgumentParser(prog="python -m tests.kafka.java_programs")
    parser.add_argument("source", nargs="+", type=Path)
    parser.add_argument("--set", action="append", default=[], choices=JAR_SETS)
    given = parser.parse_args(arguments)
    sys.stdout.write(f"{compile_java(given.source, [jar_folder(JAR_SETS[name]) for name in given.set])}\n")
    return 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
