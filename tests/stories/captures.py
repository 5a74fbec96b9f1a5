"""What stories left: all of a seed in the cache folder, and a small one of each, packed, in `captures/`.

`python -m tests.stories.captures SEED [STORY…]` plays the named stories, or all, and packs them into the tree.
"""

import io
import json
import lzma
import sys
import tarfile
from collections.abc import Sequence
from dataclasses import dataclass
from functools import cached_property
from pathlib import Path
from typing import Any, Final

from jobs.spark.cache_folder import build_once, cache_folder
from tests.kafka.java_programs import key_of
from tests.stories.plays import PLAYS
from tests.stories.stage import HERE, PROGRAMS, play_all

MADE_BY: Final = (*PROGRAMS, HERE / "stage.py", HERE / "plays.py", HERE.parent / "kafka" / "broker.py")
PACKED: Final = HERE / "captures"


@dataclass(frozen=True)
class Told:
    """A story that was played."""

    folder: Path

    @property
    def log_dir(self) -> Path:
        """As a broker's: a folder for each partition of the offsets topic that has records."""
        return self.folder / "log"

    @property
    def snapshots(self) -> Path:
        return self.folder / "snapshots.jsonl"

    @cached_property
    def page(self) -> dict[str, Any]:
        """What was done, which findings are wanted, and of which groups nothing may be said, each with its reason."""
        read: dict[str, Any] = json.loads((self.folder / "wanted.json").read_text(encoding="utf-8"))
        return read


def stories_of(seed: int, names: Sequence[str] = ()) -> dict[str, Told]:
    """Of the named stories, or of all; played once, then from the cache."""
    names = list(names) or list(PLAYS)
    folder = cache_folder() / "stories" / f"{seed}-{key_of(names, MADE_BY)}"
    build_once(folder, lambda empty: play_all(PLAYS, names, seed, empty))
    return {name: Told(folder / name) for name in names}


def pack(told: Told, packed: Path) -> None:
    """Equal files give equal bytes."""
    tar = io.BytesIO()
    with tarfile.open(fileobj=tar, mode="w", format=tarfile.USTAR_FORMAT) as archive:
        for path in sorted(path for path in told.folder.rglob("*") if path.is_file()):
            entry = tarfile.TarInfo(str(path.relative_to(told.folder)))
            content = path.read_bytes()
            entry.size = len(content)
            archive.addfile(entry, io.BytesIO(content))
    packed.parent.mkdir(exist_ok=True)
    packed.write_bytes(lzma.compress(tar.getvalue(), preset=9 | lzma.PRESET_EXTREME))


def unpacked(packed: Path, folder: Path) -> Told:
    with tarfile.open(packed) as archive:
        archive.extractall(folder, filter="data")
    return Told(folder)


def main(arguments: Sequence[str]) -> int:
    seed, *names = arguments
    for name, told in stories_of(int(seed), names).items():
        pack(told, packed := PACKED / f"{name}.tar.xz")
        sys.stdout.write(f"{packed} {packed.stat().st_size}\n")
    return 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
