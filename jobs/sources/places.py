"""Where files lie: on a local disk, or on another storage, which a URI names."""

from dataclasses import dataclass
from pathlib import Path
from urllib.parse import unquote, urlsplit

from jobs.storage.places import SCHEME
from jobs.storage.stored_path import StoredPath


@dataclass(frozen=True, order=True)
class RemotePath:
    """A path as Hadoop writes it, whose two slashes pathlib would make one."""

    uri: str

    def __str__(self) -> str:
        return self.uri

    @property
    def name(self) -> str:
        return self.uri.rpartition("/")[2]

    @property
    def stem(self) -> str:
        return self.name.rpartition(".")[0] or self.name

    @property
    def parent(self) -> "RemotePath":
        return RemotePath(self.uri.rpartition("/")[0])


FilePath = Path | RemotePath | StoredPath


def is_remote(place: str) -> bool:
    scheme = SCHEME.match(place)
    return scheme is not None and scheme[1].lower() != "file"


def local_path(place: str) -> Path:
    """A URI of a local file names it with its special characters escaped."""
    return Path(unquote(urlsplit(place).path) if SCHEME.match(place) else place)
