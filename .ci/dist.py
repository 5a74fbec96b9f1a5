"""Packs the project for `spark-submit --py-files`: the same tree gives the same bytes."""

import sys
import tomllib
import zipfile
from pathlib import Path

ROOT = Path(__file__).parent.parent
EPOCH = (1980, 1, 1, 0, 0, 0)  # the earliest time that a zip can hold


def pack(root: Path, target: Path) -> Path:
    settings = tomllib.loads((root / "pyproject.toml").read_text())
    archive = target / f"groupscope-{settings['project']['version']}.zip"
    packages = settings["tool"]["setuptools"]["packages"]["find"]["include"]
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


if __name__ == "__main__":
    sys.stdout.write(f"{pack(ROOT, ROOT / 'dist')}\n")
