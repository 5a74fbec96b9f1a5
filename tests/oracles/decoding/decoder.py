"""The slow, obvious decoder that the fast one is held against. It imports the standard library only, and no schema."""

from tests.oracles.decoding.payloads import decode_payload, decode_user_data
from tests.oracles.decoding.records import decode_record

__all__ = ["decode_payload", "decode_record", "decode_user_data"]
