"""Reads the bytes of a record field by field, and names the field that is bad or ends too early."""


class Bad(Exception):
    def __init__(self, reason: str, where: str) -> None:
        super().__init__(reason, where)
        self.reason = reason
        self.where = where


class Reader:
    def __init__(self, raw: bytes) -> None:
        self.raw = raw
        self.at = 0

    def take(self, size: int, where: str) -> bytes:
        if size > len(self.raw) - self.at:
            raise Bad("underrun", where)
        self.at += size
        return self.raw[self.at - size : self.at]

    def zigzag(self, bits: int, where: str) -> int:
        value, shift = 0, 0
        while True:
            if shift >= bits:
                raise Bad("bad_length", where)
            byte = self.take(1, where)[0]
            value |= (byte & 0x7F) << shift
            shift += 7
            if byte < 128:
                break
        value %= 1 << bits
        return value // 2 if value % 2 == 0 else -(value // 2) - 1

    def slice(self, where: str, is_nullable: bool = True) -> bytes | None:
        length = self.zigzag(32, where)
        if length == -1 and is_nullable:
            return None
        if length < 0:
            raise Bad("bad_length", where)
        return self.take(length, where)
