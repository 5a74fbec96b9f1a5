"""Keys and certificates of a test: made anew each time, by openssl, good for a day."""

import shutil
import subprocess
from dataclasses import dataclass
from pathlib import Path

import pytest

KEY_PASSWORD = "key of 🗝 & spaces"


@dataclass(frozen=True)
class Issued:
    """PEM files. `store` holds key and certificate, as Kafka wants them."""

    key: Path
    certificate: Path
    store: Path


class Authority:
    def __init__(self, folder, name):
        if shutil.which("openssl") is None:
            pytest.skip("no openssl, which makes the certificates")
        folder.mkdir(parents=True, exist_ok=True)
        self.folder = folder
        self.key, self.certificate = folder / "ca.key", folder / "ca.pem"
        openssl("req", "-x509", *new_key(self.key), "-days", "1", "-subj", f"/CN={name}", "-out", self.certificate)

    def issued(self, name, alternative):
        """`alternative` is what it is good for: `IP:127.0.0.1`, `DNS:localhost`."""
        key, certificate = self.folder / f"{name}.key", self.folder / f"{name}.pem"
        request, extensions, store = (self.folder / f"{name}.{end}" for end in ("csr", "ext", "store"))
        openssl("req", *new_key(key), "-subj", f"/CN={name}", "-out", request)
        extensions.write_text(f"subjectAltName={alternative}\n")
        signer = ["-CA", self.certificate, "-CAkey", self.key, "-CAcreateserial"]
        openssl("x509", "-req", "-in", request, *signer, "-days", "1", "-extfile", extensions, "-out", certificate)
        store.write_text(key.read_text() + certificate.read_text())
        return Issued(key, certificate, store)

    def encrypted(self, issued):
        """The key under KEY_PASSWORD."""
        password, key = self.folder / "password", issued.key.with_suffix(".encrypted")
        password.write_text(KEY_PASSWORD)
        openssl("pkcs8", "-topk8", "-in", issued.key, "-v2", "aes-256-cbc", "-passout", f"file:{password}", "-out", key)
        return key


def new_key(path):
    return ["-newkey", "rsa:2048", "-nodes", "-keyout", path]


def openssl(*arguments):
    done = subprocess.run(["openssl", *arguments], capture_output=True, text=True, check=False, timeout=240)
    if done.returncode:
        raise RuntimeError(f"openssl {arguments[0]}: {done.stderr}")
