"""Splits the groups of a large offsets partition into slices. Each group is in one slice, wherever its records are."""

import zlib
from dataclasses import dataclass

import numpy as np
import pyarrow as pa


@dataclass(frozen=True)
class Slice:
    """`left_out`: groups that are in no slice."""

    number: int = 0
    num_slices: int = 1
    left_out: frozenset[str] = frozenset()

    def rows(self, rows: pa.Table) -> pa.Table:
        """Rows of the slice's groups."""
        if (self.num_slices == 1 and not self.left_out) or "group_id" not in rows.column_names or not rows.num_rows:
            return rows
        encoded = rows.column("group_id").dictionary_encode().unify_dictionaries().combine_chunks()
        is_ours = np.array([self.has(name) for name in encoded.dictionary.to_pylist()] or [False], np.bool_)
        codes = encoded.indices.fill_null(0).to_numpy(zero_copy_only=False)
        return rows.filter(pa.array(is_ours[codes]))

    def has(self, group_id: str) -> bool:
        if group_id in self.left_out:
            return False
        # Python's own hash differs from process to process.
        return zlib.crc32(group_id.encode()) % self.num_slices == self.number
