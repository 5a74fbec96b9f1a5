"""Where files lie: a path of a local disk, or a URI of one of a few schemes."""

import re
from pathlib import Path
from urllib.parse import unquote, urlsplit

from jobs.output.failure import Failure
from jobs.storage.local_storage import LocalStorage
from jobs.storage.options import StorageOptions
from jobs.storage.places.local_place import LocalPlace
from jobs.storage.places.place import Place
from jobs.storage.stored_files import RemoteStorage, Storage
from schemas.words.exit_codes import ExitCode

SCHEME = re.compile(r"([A-Za-z][A-Za-z0-9+.-]+):/")
OBJECTS = ("s3", "s3a", "gs", "abfs", "abfss")
HADOOP = ("hdfs", "viewfs")
EXPECTED = "give a path, file:, s3://, s3a://, gs://, abfss://, hdfs:// or viewfs://"


def is_remote(place: str) -> bool:
    return scheme_of(place) != "file"


def scheme_of(place: str) -> str:
    match = SCHEME.match(place)
    return match[1].lower() if match else "file"


def local_path(place: str) -> Path:
    """A URI of a local file names it with its special characters escaped."""
    return Path(unquote(urlsplit(place).path) if SCHEME.match(place) else place)


def place_at(place: str, options: StorageOptions) -> Place:
    if not is_remote(place):
        return LocalPlace(local_path(place).absolute())
    # Here, since a command on local disks does without it.
    from jobs.storage.places.remote_place import RemotePlace

    return RemotePlace(remote_storage_at(place, options))


def storage_at(place: str, options: StorageOptions) -> Storage:
    """Nothing is reached yet."""
    if is_remote(place):
        return remote_storage_at(place, options)
    return LocalStorage(str(local_path(place).absolute()))


def remote_storage_at(place: str, options: StorageOptions) -> RemoteStorage:
    scheme = scheme_of(place)
    if scheme not in OBJECTS + HADOOP:
        raise Failure(ExitCode.USAGE, f"{place}: unknown kind of storage {scheme}:; {EXPECTED}")
    checked = checked_uri(place, scheme)
    # Here, since a command on local disks does without them.
    if scheme in OBJECTS:
        from jobs.storage.object_storage import ObjectStorage

        return ObjectStorage(checked, options)
    from jobs.storage.hdfs_storage import HdfsStorage

    return HdfsStorage(checked, options)


def checked_uri(place: str, scheme: str) -> str:
    rest = place.split(":", 1)[1]
    if not rest.startswith("//") or (scheme in OBJECTS and not urlsplit(place).netloc):
        raise Failure(ExitCode.USAGE, f"{place}: names no bucket; give {scheme}://BUCKET/PATH")
    if "?" in place or "#" in place:
        # It may be a key, so it is not repeated.
        line = f"{re.split('[?#]', place)[0]}: ends in a query or fragment; give a path without it"
        raise Failure(ExitCode.USAGE, line)
    return place.rstrip("/") if urlsplit(place).path.strip("/") else f"{scheme}://{urlsplit(place).netloc}"
