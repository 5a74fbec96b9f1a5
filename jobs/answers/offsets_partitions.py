"""Whether the partition of __consumer_offsets that a group belongs to was ever read: what no source had is not in the
warehouse, and a group there is unknown, whether it exists or not."""

from collections.abc import Sequence
from dataclasses import dataclass
from functools import cached_property

import pyarrow.compute as pc

from jobs.answers.coordinators import Coordinators
from jobs.answers.table_reader import Row
from schemas.words.records import OFFSETS_TOPIC, NumPartitionsSource, PartitionReading, SourceKind
from udfs.groups.group_partition import partition_for
from udfs.groups.num_partitions import number_that_fits
from udfs.sentences.partitions_read import never_read, partitions_text

TABLE = "offsets_partitions"
# Other sources of the log do not show which partitions they lack.
SHOW_PARTITIONS = {str(SourceKind.SEGMENTS), str(SourceKind.SNAPSHOTS)}
COLUMNS = ("offsets_partition", "reading", "num_partitions", "partitions_source")


@dataclass(frozen=True)
class OffsetsPartitions:
    coordinators: Coordinators

    @cached_property
    def rows(self) -> Sequence[Row]:
        """As the newest run of `lag` wrote them; without one, what the records show."""
        written = self.coordinators.arrow(TABLE, COLUMNS).to_pylist() if self.has(TABLE) else []
        return written or self.seen()

    def has(self, table: str) -> bool:
        return table in self.coordinators.reader.versions

    def seen(self) -> list[Row]:
        if not self.has("source_files"):
            return []
        groups = self.coordinators.arrow("group_state_intervals", ["group_id", "evidence_partition"])
        places = groups.group_by(groups.column_names).aggregate([])
        files = self.coordinators.arrow("source_files", ["offsets_partition", "kind", "skipped_reason"])
        files = files.filter(pc.is_null(files["skipped_reason"]))
        if not {*pc.unique(files["kind"]).to_pylist()} <= SHOW_PARTITIONS:
            return []
        read = {*pc.unique(files["offsets_partition"]).drop_null().to_pylist()}
        if not read:
            return []
        named = list(zip(*(places[name].to_pylist() for name in groups.column_names), strict=True))
        number, source = self.coordinators.num_partitions, NumPartitionsSource.SNAPSHOT
        if number is None:
            number, source = number_that_fits(named, max(read)), NumPartitionsSource.GROUPS
        readings = {True: PartitionReading.READ, False: PartitionReading.NEVER_READ}
        return [
            dict(zip(COLUMNS, (partition, readings[partition in read], number, source), strict=True))
            for partition in range(number or 0)
        ]

    @property
    def number(self) -> int | None:
        """None: nothing shows it."""
        known = self.coordinators.num_partitions
        is_shown = bool(self.rows) and self.rows[0]["partitions_source"] != NumPartitionsSource.ASSUMED
        return self.rows[0]["num_partitions"] if known is None and is_shown else known

    @property
    def source(self) -> NumPartitionsSource | None:
        return None if self.number is None or not self.rows else self.rows[0]["partitions_source"]

    def missing_of(self, group: str) -> str | None:
        """Why nothing is known of the group: its partition was never read. None: it was, or may have been."""
        if not self.rows or not (number := self.rows[0]["num_partitions"]):
            return None
        partition = partition_for(group, number)
        if partition not in never_read(self.rows):
            return None
        place = f"its records would be in {OFFSETS_TOPIC}-{partition}"
        return f"{place}, which was never read, so it may exist; the warehouse has {self.text}"

    @property
    def text(self) -> str:
        return partitions_text(self.rows, self.rows[0]["num_partitions"], self.rows[0]["partitions_source"])

    def gap_in_lists(self) -> str | None:
        """What a list of groups lacks; None: nothing."""
        return (
            f"{self.text}; groups in partitions that were not read are missing here" if never_read(self.rows) else None
        )
