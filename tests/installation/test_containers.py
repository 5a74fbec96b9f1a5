"""The files of docs/containers/: a linter reads them, and what their RUN lines do is done in an empty folder. No test
builds an image: that needs a container engine and its registry."""

import os
import re
import shutil
import subprocess
import sys
from pathlib import Path

import pytest

from tests.installation.local_alone import ROOT, Installed, check_commands
from tests.short_lived_java import of_spark

FOLDER = ROOT / "docs" / "containers"
LOCAL, SPARK = FILES = [FOLDER / "local.Dockerfile", FOLDER / "spark.Dockerfile"]
HOME = "/opt/groupscope"
# What would change the machine that tests run on: apt-get only says what it would do.
OF_THE_MACHINE = re.compile(r"apt-get (?=install)|rm -rf /var/lib/apt/lists/\*|apt-get update")
SIMULATED = {"apt-get ": "apt-get --simulate ", "apt-get update": "true", "rm -rf /var/lib/apt/lists/*": "true"}


def instructions(file: Path) -> list[tuple[str, str]]:
    text = re.sub(r"\\\n\s*", "", re.sub(r"^#.*\n", "", file.read_text(), flags=re.MULTILINE))
    return [(line.partition(" ")[0], line.partition(" ")[2]) for line in text.splitlines()]


@pytest.mark.parametrize("file", FILES, ids=lambda file: file.stem)
def test_the_linter_has_nothing_to_say(file: Path) -> None:
    linter = Path(sys.executable).with_name("hadolint")
    done = subprocess.run([linter, "--failure-threshold", "info", file], capture_output=True, text=True, check=False)
    assert (done.returncode, done.stdout, done.stderr) == (0, "", "")


@pytest.mark.parametrize("file", FILES, ids=lambda file: file.stem)
def test_what_is_copied_is_in_the_tree_or_made_by_dist_and_no_file_is_left_out(file: Path) -> None:
    made = {f"dist/{name}" for name in ("requirements.txt", "requirements-local.txt", "groupscope-0.1.0.zip",
                                        "groupscope-0.1.0-py3-none-any.whl")}  # fmt: skip
    _, *kept = file.with_name(f"{file.name}.dockerignore").read_text().split()
    copied = [word for kind, words in instructions(file) if kind == "COPY" for word in words.split()[:-1]]
    for each in copied:
        assert each in made or (ROOT / each).is_file()
        assert any(Path(each).match(pattern.removeprefix("!")) for pattern in kept), each


@pytest.mark.soak
@pytest.mark.parametrize("file", FILES, ids=lambda file: file.stem)
def test_each_run_line_does_what_it_says_in_an_empty_folder(file: Path, tmp_path: Path) -> None:
    """By the shell, pip and apt-get of this machine, after `make dist`."""
    subprocess.run(["make", "dist"], cwd=ROOT, check=True, stdout=subprocess.DEVNULL)
    image = tmp_path / "image"
    image.mkdir()
    # An archive of Java's classes that tests share is of this tree's jars.
    ours = {"PYTHONPATH", *of_spark()}
    environment = {name: value for name, value in os.environ.items() if name not in ours}
    for kind, words in instructions(file):
        if kind == "COPY":
            *sources, target = words.split()
            (image / target).mkdir(exist_ok=True)
            for each in sources:
                shutil.copy(ROOT / each, image / target)
        elif kind == "ENV":
            name, _, value = words.partition("=")
            environment[name] = value.replace(HOME, str(image))
        elif kind == "RUN":
            line = OF_THE_MACHINE.sub(lambda match: SIMULATED[match[0]], words.replace(HOME, str(image)))
            subprocess.run(["sh", "-ec", line], cwd=image, env=environment, check=True, stdout=subprocess.DEVNULL)
    cache = str(image / "cache")
    if file == LOCAL:
        check_commands(Installed(tmp_path / "data", image / ".venv" / "bin" / "groupscope", GROUPSCOPE_CACHE=cache))
        return
    ((_, entry),) = [each for each in instructions(file) if each[0] == "ENTRYPOINT"]
    command = [*re.findall(r'"([^"]+)"', entry), "--master", "local[2]", "audit.py"]
    more = ["--source", f"segments:{ROOT}/data/sample", "--warehouse", str(tmp_path / "w"), "--fail-on", "never"]
    done = subprocess.run(
        [*command, *more, "--report", str(tmp_path / "report")], cwd=image, env=environment, capture_output=True,
        text=True, check=False, timeout=600,
    )  # fmt: skip
    assert done.returncode == 0 and done.stdout.startswith("CLEAN, exit code 0"), done.stderr
