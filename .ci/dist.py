"""Packs the project, each form into `dist/`; the same tree gives the same bytes.

python .ci/dist.py zip           for `spark-submit --py-files`: the project's own code alone
python .ci/dist.py wheel         for pip: declarations, SQL and templates included
python .ci/dist.py local         the packages of the local engine and the wheel, for `pip install --no-deps -r`
python .ci/dist.py executable    one file that holds those too, for servers without a network
"""

import os
import shutil
import subprocess
import sys
import tempfile
import tomllib
import zipfile
from collections.abc import Sequence
from hashlib import sha256
from pathlib import Path

ROOT = Path(__file__).parents[1]
EPOCH = (1980, 1, 1, 0, 0, 0)  # the earliest time that a zip can hold
EPOCH_SECONDS = "315532800"
LOCAL = "requirements-local.txt"
# Servers run older systems than those who build: wheels are for glibc 2.28 (2018) or earlier.
PYTHON = "3.11"
PLATFORMS = [f"manylinux_2_{minor}_x86_64" for minor in (28, 27, 24, 17)] + ["manylinux2014_x86_64"]
PIP = (sys.executable, "-m", "pip")
QUIET = ("--quiet", "--disable-pip-version-check", "--no-deps")
# What runs first. It may be started by any Python, so it has no syntax that an old one does not know, and it says in
# one line what is wrong. `{module}.{fn}` is shiv's part, which unpacks the packages once and starts the command.
START = """\
import os
import sys

if sys.version_info[:2] != (3, 11) or sys.platform != "linux" or os.uname()[4] != "x86_64":
    known = "Python " + sys.version.split()[0] + " on " + sys.platform + " " + os.uname()[4]
    sys.stderr.write("groupscope: this file needs Python 3.11 on Linux x86-64, and " + known + " runs it\\n")
    sys.exit(2)
cache = os.environ.get("GROUPSCOPE_CACHE") or os.path.join("~", ".cache", "groupscope")
os.environ.setdefault("SHIV_ROOT", os.path.join(os.path.expanduser(cache), "programs"))
import {module}

try:
    {module}.{fn}()
except OSError as error:
    line = "groupscope: cannot unpack itself into " + os.environ["SHIV_ROOT"] + ": " + str(error.strerror)
    sys.stderr.write(line + "; let GROUPSCOPE_CACHE name a folder that can be written and has 1 GB\\n")
    sys.exit(1)
"""


def settings() -> dict:
    return tomllib.loads((ROOT / "pyproject.toml").read_text())


def name() -> str:
    return f"groupscope-{settings()['project']['version']}"


def pack(root: Path, target: Path) -> Path:
    archive = target / f"{name()}.zip"
    packages = settings()["tool"]["setuptools"]["packages"]["find"]["include"]
    files = sorted({file for package in packages for file in root.glob(f"{package}/**/*") if is_shipped(file)})
    target.mkdir(exist_ok=True)
    with zipfile.ZipFile(archive, "w") as opened:
        for file in files:
            # Stored, since compressed bytes differ from one zlib to the next.
            entry = zipfile.ZipInfo(file.relative_to(root).as_posix(), EPOCH)
            entry.external_attr = 0o644 << 16
            opened.writestr(entry, file.read_bytes())
    return archive


def is_shipped(file: Path) -> bool:
    return file.is_file() and "__pycache__" not in file.parts


def wheel(target: Path) -> Path:
    """Of a copy, since a build leaves folders, and takes along what an earlier one left."""
    with tempfile.TemporaryDirectory() as folder:
        copy = Path(folder) / "groupscope"
        packages = [each.removesuffix("*") for each in settings()["tool"]["setuptools"]["packages"]["find"]["include"]]
        for each in packages:
            shutil.copytree(ROOT / each, copy / each, ignore=shutil.ignore_patterns("__pycache__"))
        for file in ("pyproject.toml", "README.md", "LICENSE"):
            shutil.copy(ROOT / file, copy)
        command = (*PIP, "wheel", *QUIET, "--no-build-isolation", "--no-index", "--wheel-dir", str(target), str(copy))
        subprocess.run(command, check=True, env=os.environ | {"SOURCE_DATE_EPOCH": EPOCH_SECONDS})
    return target / f"{name()}-py3-none-any.whl"


def local(target: Path) -> Path:
    """The wheel is named beside the packages, with its hash, since pip wants either all of them or none."""
    built, file = wheel(target), target / LOCAL
    subprocess.run((sys.executable, ROOT / ".ci" / "supply.py", "local", file), check=True, stdout=subprocess.DEVNULL)
    with file.open("a") as opened:
        opened.write(f"./{built.name} \\\n    --hash=sha256:{sha256(built.read_bytes()).hexdigest()}\n")
    return file


def executable(target: Path) -> Path:
    requirements = local(target).resolve()
    with tempfile.TemporaryDirectory() as folder:
        packages = Path(folder) / "site-packages"
        platforms = [word for each in PLATFORMS for word in ("--platform", each)]
        install(packages, requirements, (*platforms, "--python-version", PYTHON, "--only-binary", ":all:"))
        return packed_by_shiv(packages, target / f"{name()}-cp311-manylinux_2_28_x86_64.pyz")


def install(packages: Path, requirements: Path, flags: Sequence[str]) -> None:
    """Without scripts and a note that name places of this machine. In the folder of the wheel that is named there."""
    command = (*PIP, "install", *QUIET, "--no-compile", "--require-hashes", "--target", str(packages), *flags)
    subprocess.run((*command, "--requirement", str(requirements)), cwd=requirements.parent, check=True)
    shutil.rmtree(packages / "bin", ignore_errors=True)
    for note in packages.glob("groupscope-*.dist-info/direct_url.json"):
        note.unlink()


def packed_by_shiv(packages: Path, file: Path) -> Path:
    from shiv import builder
    from shiv.cli import main

    builder.MAIN_TEMPLATE = START
    os.environ["SOURCE_DATE_EPOCH"] = EPOCH_SECONDS
    words = ["--site-packages", packages, "--entry-point", "jobs.cli:main", "--output-file", file]
    words += ["--python", f"/usr/bin/env python{PYTHON}", "--compressed", "--reproducible", "--extend-pythonpath"]
    main(list(map(str, words)), standalone_mode=False)
    return file


FORMS = {"zip": lambda target: pack(ROOT, target), "wheel": wheel, "local": local, "executable": executable}


def main(arguments: Sequence[str]) -> int:
    if not arguments or not set(arguments) <= FORMS.keys():
        sys.exit(__doc__)
    for form in arguments:
        (ROOT / "dist").mkdir(exist_ok=True)
        sys.stdout.write(f"{FORMS[form](ROOT / 'dist')}\n")
    return 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
