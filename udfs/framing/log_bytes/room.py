"""One buffer for a log's bytes and for what is decompressed from them, so that all records are slices of one buffer."""

import numpy as np

from udfs.arrays.slices import PADDING
from udfs.framing.log_bytes.checksums import Bytes
from udfs.framing.log_bytes.compression import Codec, Decompressor


class Room:
    """The caller's own buffer, until the space after the log's bytes is too small for decompressed data."""

    def __init__(self, data: Bytes, size: int) -> None:
        self.data = data
        # Decompressed data starts after the padding, which stays unwritten.
        self.size = self.end = size + PADDING
        self.decompressor = Decompressor()

    def decompress(self, codec: Codec, start: int, end: int, magic: int) -> tuple[int, int]:
        """Decompresses into the buffer and returns begin and end there. Raises Wrong."""
        payload = self.decompressor.decompressed(codec, self.data[start:end].tobytes(), magic)
        begin, self.end = self.end, self.end + len(payload)
        if self.end + PADDING > len(self.data):
            self.grow(begin)
        self.data[begin : self.end] = np.frombuffer(payload, np.uint8)
        return begin, self.end

    def grow(self, used: int) -> None:
        larger = np.empty(self.end + PADDING + max(self.end - self.size, self.size // 4), np.uint8)
        larger[:used] = self.data[:used]
        self.data = larger

    def decompressed_bytes(self) -> int:
        return self.end - self.size

    def buffer(self) -> Bytes:
        """The final buffer. Nothing may be decompressed after this."""
        self.data[self.end : self.end + PADDING] = 0
        return self.data[: self.end + PADDING]
