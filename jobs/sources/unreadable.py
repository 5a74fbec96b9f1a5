"""What is there among the input and cannot be read."""

from collections.abc import Container, Sequence
from dataclasses import dataclass
from enum import StrEnum

from jobs.output.failure import Failure
from jobs.sources.segment_files import BASE_NAME, FOLDER, SUFFIX
from schemas.words.exit_codes import ExitCode

# Endings of copies that were packed, as by gzip, tar or zip.
PACKED = (".gz", ".tgz", ".bz2", ".xz", ".zst", ".lz4", ".tar", ".zip", ".7z")
IS_PACKED, UNPACK = "is packed", "unpack it first"


class OnUnreadable(StrEnum):
    """The setting `unreadable` of [ingest]."""

    REFUSE = "refuse"
    SKIP = "skip"


WAY_ON = f', or go on without it: [ingest] unreadable = "{OnUnreadable.SKIP}"'


@dataclass(frozen=True)
class Unreadable:
    """`offsets_partition`: of what would be in it; None: several, or unknown. `remedy`: what to do."""

    path: str
    offsets_partition: int | None
    reason: str
    remedy: str

    @property
    def line(self) -> str:
        return f"{self.path}: {self.reason}; {self.remedy}"

    @property
    def skipped_line(self) -> str:
        return f'{self.line}. It was skipped ([ingest] unreadable = "{OnUnreadable.SKIP}")'


def refusal(all_of_them: Sequence[Unreadable], way_on: str = "") -> Failure:
    """The first one by name, since one line is read."""
    first = min(all_of_them, key=lambda each: each.path)
    others = f" ({len(all_of_them) - 1:,} more like it)" if len(all_of_them) > 1 else ""
    return Failure(ExitCode.UNREADABLE_INPUT, f"{first.line}{way_on}{others}")


def is_packed(name: str) -> bool:
    return name.lower().endswith(PACKED)


def unpacked_name(name: str) -> str:
    """Without the endings that packing added: `x.tar.gz` was `x`."""
    while (ending := next((each for each in PACKED if name.lower().endswith(each)), None)) is not None:
        name = name[: -len(ending)]
    return name


def is_packed_segment(folder: str, name: str, beside: Container[str]) -> bool:
    """Whether a segment was packed and is not there itself. Outside of folders of offsets partitions, packed files of
    other names may be anything."""
    bare = unpacked_name(name)
    is_segment = BASE_NAME.fullmatch(bare) or (FOLDER.fullmatch(folder) and bare.endswith(SUFFIX))
    return bool(is_segment) and bare != name and bare not in beside


def is_packed_folder(name: str, beside: Container[str]) -> bool:
    bare = unpacked_name(name)
    return FOLDER.fullmatch(bare) is not None and bare != name and bare not in beside
