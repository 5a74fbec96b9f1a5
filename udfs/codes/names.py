"""Codes for names and for keys: loops compare numbers only."""

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc
from numpy.typing import NDArray

from udfs.arrays.nullable import Numbers
from udfs.codes.kernels import add_codes


class Names:
    """Distinct names in the order in which they first appear."""

    def __init__(self) -> None:
        self.known = pa.array([], pa.string())

    def __len__(self) -> int:
        return len(self.known)

    def codes(self, column: pa.ChunkedArray) -> Numbers:
        """-1 for NULL. Columns may be dictionaries."""
        encoded = column if pa.types.is_dictionary(column.type) else column.dictionary_encode()
        whole = encoded.unify_dictionaries().combine_chunks()
        if not len(whole):
            return np.empty(0, np.int64)
        indices = whole.indices
        # NULL has the last place.
        codes = np.append(self.add(whole.dictionary.cast(pa.string())), -1)
        if indices.null_count:
            indices = indices.fill_null(-1)
        return np.asarray(codes.take(indices.to_numpy()), np.int64)

    def add(self, names: pa.Array) -> Numbers:
        codes = pc.index_in(names, value_set=self.known)
        if codes.null_count:
            self.known = pa.concat_arrays([self.known, names.filter(codes.is_null())])
            codes = pc.index_in(names, value_set=self.known)
        return np.asarray(codes.to_numpy(), np.int64)

    def ranks(self) -> Numbers:
        ranks = np.empty(len(self.known), np.int64)
        ranks[pc.sort_indices(self.known).to_numpy()] = np.arange(len(self.known))
        return ranks

    def column(self, codes: NDArray[np.signedinteger]) -> pa.DictionaryArray:
        """Codes below 0 become NULL. Parquet writes the whole dictionary, so names that no row has are left out."""
        names = self.known
        # NULL has the first place.
        counts = np.bincount(codes + 1, minlength=len(names) + 1)
        is_used = counts[1:] > 0
        if not is_used.all():
            names = names.filter(pa.array(is_used))
            codes = np.append(np.cumsum(is_used) - 1, -1).take(codes)
        mask = codes < 0 if counts[0] else None
        return pa.DictionaryArray.from_arrays(pa.array(codes.astype(np.int32), mask=mask), names)

    def keep(self, *codes: Numbers) -> None:
        """Forgets all other names, and replaces the codes by new ones."""
        is_used = np.zeros(len(self.known), np.bool_)
        for some in codes:
            is_used[some[some >= 0]] = True
        self.known = self.known.filter(pa.array(is_used))
        new = np.append(np.cumsum(is_used) - 1, -1)
        for some in codes:
            some[:] = np.where(some < 0, -1, new[some])


class Codes:
    """Codes for distinct triples of numbers, in the order in which they first appear."""

    def __init__(self) -> None:
        self.count = 0
        self.known = np.empty((3, 0), np.int64)
        self.slots = np.full(1 << 10, -1)

    def of(self, first: Numbers, second: Numbers, third: Numbers) -> Numbers:
        self.reserve(self.count + len(first))
        codes = np.empty(len(first), np.int64)
        self.count = add_codes(np.array([first, second, third]), codes, self.known, self.count, self.slots)
        return codes

    def reserve(self, most: int) -> None:
        """Room for so many. Half of the hash table stays free."""
        if most > self.known.shape[1]:
            known = np.empty((3, most), np.int64)
            known[:, : self.count] = self.known[:, : self.count]
            self.known = known
        if 2 * most > len(self.slots):
            self.slots = np.full(1 << (2 * most).bit_length(), -1)
            again = self.known[:, : self.count].copy()
            add_codes(again, np.empty(self.count, np.int64), self.known, 0, self.slots)
