"""Stand-in ids for topics whose ids are unknown. The same name always gets the same id."""

import base64
import hashlib


def stand_in_id(name: str) -> str:
    return base64.urlsafe_b64encode(
        hashlib.md5(name.encode(errors="surrogatepass"), usedforsecurity=False).digest()
    ).decode()[:22]
