"""Whether folders have the number of the offsets partition that their groups belong to."""

from collections.abc import Callable, Iterable, Sequence

from jobs.ingestion.task.messages import IngestResult
from jobs.output.failure import Failure
from jobs.sources.segment_files import partition_in
from jobs.sources.segment_source import SegmentFile
from schemas.words.exit_codes import ExitCode
from schemas.words.records import OFFSETS_TOPIC
from udfs.groups.misplaced_folders import Folder, Folders


def check_folder_numbers(
    files: Iterable[SegmentFile], answers: Sequence[IngestResult], known: Callable[[int], int | None]
) -> None:
    """Of the folders that a run read. `known`: how many partitions there are by snapshots, more than the one that it is
    given; this takes a while to find out."""
    partitions = {str(file.path.parent): file.partition for file in files}
    groups: dict[str, dict[str, None]] = {}
    for answer in answers:
        for place, names in answer.groups.items():
            groups.setdefault(place, {}).update(dict.fromkeys(names))
    folders = Folders([Folder(place, partitions[place], tuple(names)) for place, names in sorted(groups.items())])
    if not folders.folders:
        return
    highest = max(folder.partition for folder in folders.folders)
    if (number := folders.number() or known(highest)) is None:
        return
    for folder, partition in folders.misplaced(number):
        by_flag = "" if partition_in(folder.name) == folder.partition else " (--offsets-partition)"
        whose = f"all of its {len(folder.groups)} groups that were looked at, such as {folder.groups[0]}, belong to"
        line = f"{folder.name}: was read as offsets partition {folder.partition}{by_flag}, but {whose}"
        remedy = f"name the folder {OFFSETS_TOPIC}-{partition} if it was copied under a wrong name"
        if by_flag:
            remedy = f"give that number with --offsets-partition {partition}"
        raise Failure(ExitCode.UNREADABLE_INPUT, f"{line} partition {partition} of {number}; {remedy}")
