"""Topic ids as records print them (22 characters), and as pairs of signed 64-bit numbers, as Kafka compares them."""

from base64 import urlsafe_b64decode, urlsafe_b64encode
from functools import lru_cache
from struct import pack, unpack


@lru_cache(maxsize=1 << 16)
def bits_of(topic_id: str) -> tuple[int, int]:
    most, least = unpack(">qq", urlsafe_b64decode(f"{topic_id}=="))
    return most, least


def topic_id_of(most: int, least: int) -> str:
    return urlsafe_b64encode(pack(">qq", most, least)).decode()[:22]
