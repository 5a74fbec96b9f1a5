"""Sets the project up in `.venv/` and the cache folder: packages, Java libraries, compiled loops; what is there stays.

    python3 .ci/install.py product    what the product needs: requirements.lock
    python3 .ci/install.py all        what its tests need too: requirements-dev.lock, Kafka's jars, programs

It runs before anything is installed, so it uses Python's own library alone. Parts that do not need one another run side
by side. The longest way is that of Spark: its package comes as an archive of 430 MB that pip turns into a wheel, and
its jars fetch others.

A part that fails says why in one line, and the next call does only what is missing. If a set-up is ended while pip
writes, nobody knows what is half there: the next one makes the environment anew, from pip's cache.
"""

import fcntl
import os
import re
import subprocess
import sys
import time
from collections.abc import Callable, Sequence
from concurrent.futures import Future, ThreadPoolExecutor
from pathlib import Path

ROOT = Path(__file__).parents[1]
VENV = ROOT / ".venv"
PYTHON = VENV / "bin" / "python"
PRODUCT, DEV = "requirements.lock", "requirements-dev.lock"
# There as long as pip writes into the environment.
WRITING = VENV / "installing"
ENTRY = re.compile(r"^([a-z0-9][a-z0-9._-]*)==(?:.*\\\n)*.*\n", re.MULTILINE)
# pip replaces itself by the locked release, and builds with the locked setuptools: both before other pips start.
TOOLS = ("pip", "setuptools")
# Of all locked packages the only one without wheels. What it packs is compressed already, so its wheel is only stored.
SPARK = "pyspark"
PIP = ("-m", "pip", "install", "--quiet", "--no-input", "--no-deps", "--disable-pip-version-check")
LOCKED = ("--require-hashes", "--only-binary", ":all:")
BUILT = ("--require-hashes", "--no-build-isolation", "--use-pep517",
         "--config-settings=--build-option=--compression=stored")  # fmt: skip
# Older releases of pip do not notice that a download was cut short.
OTHER_HASH = re.compile(r"DO NOT MATCH THE HASHES[^\n]*\n\s*(\S+)")
NO_WHEEL = re.compile(r"No matching distribution found for (\S+)")
NETWORK = re.compile(r"Connection|Timeout|timed out|IncompleteRead|Max retries|ProtocolError|resolution|RemoteDisconn")
LONG_SECONDS = 10.0
# Its name, the parts that must be done before, and what it does.
Part = tuple[str, str, Callable[[], None]]


class Failed(Exception):
    pass


def main(arguments: Sequence[str]) -> int:
    if list(arguments) not in (["product"], ["all"]):
        sys.exit(__doc__)
    try:
        with alone():
            check_cache()
            make_environment()
            set_up(arguments == ["all"])
    except Failed as error:
        sys.stderr.write(f"set-up: {error}\n")
        return 1
    except KeyboardInterrupt:
        sys.stderr.write("set-up: interrupted; the next call goes on\n")
        return 130
    return 0


class alone:
    """Of two set-ups of one folder the second waits. The kernel frees the lock of a process that dies."""

    def __enter__(self) -> None:
        self.folder = os.open(ROOT, os.O_RDONLY)
        try:
            fcntl.flock(self.folder, fcntl.LOCK_EX | fcntl.LOCK_NB)
        except BlockingIOError:
            say("another set-up of this folder is running; waiting for it")
            fcntl.flock(self.folder, fcntl.LOCK_EX)

    def __exit__(self, *_: object) -> None:
        os.close(self.folder)


def say(line: str) -> None:
    sys.stderr.write(f"set-up: {line}\n")
    sys.stderr.flush()


def check_cache() -> None:
    """Before anything is downloaded. Python's `expanduser` and the product's cache folder find the same home."""
    chosen = os.environ.get("GROUPSCOPE_CACHE")
    folder = Path(chosen or "~/.cache/groupscope").expanduser()
    try:
        folder.mkdir(parents=True, exist_ok=True)
        (probe := folder / f".written-{os.getpid()}").touch()
        probe.unlink()
    except OSError as error:
        line = f"cannot write to {folder}: {error.strerror}; let GROUPSCOPE_CACHE name a folder that can be written"
        raise Failed(line) from None


def make_environment() -> None:
    if PYTHON.exists() and not WRITING.exists() and succeeds(PYTHON, "-c", "import pip"):
        return
    if VENV.exists():
        say("an earlier set-up was ended before it was done; making .venv anew")
    # Not the Python of `.venv`, which may be the one that runs.
    done = subprocess.run(
        [sys._base_executable, "-m", "venv", "--clear", VENV], capture_output=True, text=True, check=False
    )
    if done.returncode:
        why = last_line(done.stdout + done.stderr)
        raise Failed(f"{sys._base_executable} makes no environment: {why}; on Debian and Ubuntu install python3-venv")


def succeeds(*command: object) -> bool:
    return subprocess.run(list(map(str, command)), capture_output=True, check=False).returncode == 0


def set_up(is_all: bool) -> None:
    locks = [PRODUCT, DEV] if is_all else [PRODUCT]
    new = [lock for lock in locks if text(VENV / lock) != text(ROOT / lock)]
    locked = {lock: entries_of(lock) for lock in locks}
    missing = {name: entry for lock in new for name, entry in locked[lock].items()}
    is_new_project = text(VENV / "pyproject.toml") != text(ROOT / "pyproject.toml")
    if is_new_project:
        missing |= {name: entry for name, entry in locked[PRODUCT].items() if name in TOOLS}
    if missing:
        WRITING.touch()
        say(f"packages to install into .venv: {len(missing)}; a first download takes a minute or two")
    tools = {name: missing.pop(name) for name in TOOLS if name in missing}
    spark = {name: missing.pop(name) for name in (SPARK,) if name in missing}
    product = {name: missing.pop(name) for name in locked[PRODUCT] if name in missing}
    parts: list[Part] = [
        ("tools", "", lambda: install("tools", tools, LOCKED)),
        ("spark", "tools", lambda: install("spark", spark, BUILT)),
        ("packages", "tools", lambda: install("packages", product, LOCKED)),
        ("development", "tools", lambda: install("development", missing, LOCKED)),
        ("project", "tools", lambda: install_project() if is_new_project else None),
        ("loops", "packages", lambda: run("-m", "jobs.spark.compiled_loops")),
        ("submit", "packages spark", lambda: run("-m", "jobs.spark.submit_script")),
        ("jars", "packages spark", lambda: run("-m", "jobs.spark.jars")),
    ]
    if is_all:
        parts += [
            ("programs", "", lambda: run("-m", "tests.distribution")),
            ("kafka", "jars development", lambda: run("-m", "tests.kafka.jar_sets")),
            ("classes", "kafka", lambda: run("-m", "tests.shared_classes")),
        ]
    failures, seconds = run_all(parts)
    WRITING.unlink(missing_ok=True)
    if not failures.keys() & {"tools", "packages", "spark", "development"}:
        for lock in new:
            (VENV / lock).write_text(text(ROOT / lock))
    if failures:
        raise Failed("\nset-up: ".join(failures.values()) + "; the next call goes on from here")
    if sum(seconds.values()) > LONG_SECONDS:
        say("done: " + ", ".join(f"{name} {each:.0f} s" for name, each in seconds.items() if each >= 1))


def install_project() -> None:
    run(*PIP, "--no-build-isolation", "--editable", str(ROOT))
    (VENV / "pyproject.toml").write_text(text(ROOT / "pyproject.toml"))


def text(file: Path) -> str:
    return file.read_text() if file.is_file() else ""


def entries_of(lock: str) -> dict[str, str]:
    return {match[1]: match[0] for match in ENTRY.finditer(text(ROOT / lock))}


def install(part: str, entries: dict[str, str], flags: Sequence[str]) -> None:
    if entries:
        file = VENV / f"{part}.txt"
        file.write_text("".join(entries.values()))
        run(*PIP, *flags, "--requirement", str(file))
        file.unlink()


def run(*arguments: str) -> None:
    """By the environment's Python, in the project's folder. What a program that succeeds says is for the user, but for
    pip's advice."""
    command = [str(PYTHON), *arguments]
    environment = {name: value for name, value in os.environ.items() if name != "PYTHONPATH"}
    done = subprocess.run(command, cwd=ROOT, env=environment, capture_output=True, text=True, check=False)
    if done.returncode:
        raise Failed(reason(done.stdout + done.stderr))
    if "pip" not in arguments:
        sys.stderr.write(done.stderr)


def reason(output: str) -> str:
    """The line of all that pip and Java print that says what is wrong."""
    errors = [line for line in output.splitlines() if line.startswith("ERROR: ")]
    line = errors[-1].removeprefix("ERROR: ") if errors else last_line(output)
    if changed := OTHER_HASH.search(output):
        return f"{changed[1]} has not the hash that is locked: the download was cut short, or somebody changed the file"
    if (missing := NO_WHEEL.search(output)) and not NETWORK.search(output):
        return f"no ready-built {missing[1]} for this Python and machine"
    if NETWORK.search(output):
        return f"the network failed: {line[:300]}"
    return line[:300]


def last_line(output: str) -> str:
    return next((line.strip() for line in reversed(output.splitlines()) if line.strip()), "it says nothing")


def run_all(parts: Sequence[Part]) -> tuple[dict[str, str], dict[str, float]]:
    """Each when those that it needs are done: why parts failed, and how long others took. Of a part that needs a failed
    one nothing is said."""
    started: dict[str, Future[None]] = {}
    failures: dict[str, str] = {}
    seconds: dict[str, float] = {}

    def work(name: str, needed: Sequence[str], call: Callable[[], None]) -> None:
        for each in needed:
            started[each].result()
        begin = time.monotonic()
        try:
            call()
        except Failed as error:
            failures[name] = f"{name}: {error}"
            raise
        seconds[name] = time.monotonic() - begin

    with ThreadPoolExecutor(len(parts)) as pool:
        for name, needed, call in parts:
            started[name] = pool.submit(work, name, needed.split(), call)
    return failures, seconds


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
