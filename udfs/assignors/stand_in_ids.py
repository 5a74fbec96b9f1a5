"""Ids for topics whose ids nobody knows: the same one for a name, whoever asks."""

import base64
import hashlib


def stand_in_id(name: str) -> str:
    return base64.urlsafe_b64encode(hashlib.md5(name.encode(), usedforsecurity=False).digest()).decode()[:22]
