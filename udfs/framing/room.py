"""One buffer for a log's bytes and for what is decompressed from them, so that all records are slices of one."""

import numpy as np

from udfs.framing.checksums import Bytes
from udfs.framing.compression import Codec, decompress_onto
from udfs.slices import PADDING


class Room:
    """As long as nothing is decompressed, the buffer is the caller's own: nothing is copied."""

    def __init__(self, data: Bytes, size: int) -> None:
        self.data = data
        self.size = size
        self.extended: bytearray | None = None

    def decompress(self, codec: Codec, start: int, end: int, magic: int) -> tuple[int, int]:
        """Where in the buffer the decompressed bytes stand. Raises Wrong."""
        if self.extended is None:
            self.extended = bytearray(self.data[: self.size].data)
        before = len(self.extended)
        decompress_onto(self.extended, codec, self.data[start:end].tobytes(), magic)
        return before, len(self.extended)

    def bytes_of(self, start: int, end: int) -> Bytes:
        """A copy, since what is decompressed may still move."""
        assert self.extended is not None
        return np.frombuffer(self.extended[start:end], np.uint8)

    def decompressed_bytes(self) -> int:
        return 0 if self.extended is None else len(self.extended) - self.size

    def buffer(self) -> Bytes:
        """Nothing may be decompressed any more."""
        if self.extended is None:
            return self.data
        self.extended += bytes(PADDING)
        return np.frombuffer(self.extended, np.uint8)
