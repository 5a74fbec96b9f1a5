"""Small files of a folder on any file system that Hadoop knows."""

import uuid
from dataclasses import dataclass
from typing import Any

from pyspark.sql import SparkSession

from jobs.sources.archive_files import FileSystem


@dataclass(frozen=True)
class HadoopFiles:
    spark: SparkSession
    root: str

    @property
    def system(self) -> FileSystem:
        return FileSystem(self.spark)

    def path(self, name: str) -> Any:
        return self.system.path(f"{self.root}/{name}" if name else self.root)

    def exists(self, name: str) -> bool:
        path = self.path(name)
        return bool(self.system.of(path).exists(path))

    def names(self, folder: str = "") -> list[str]:
        """Of what is in the folder; nothing where there is none."""
        path = self.path(folder)
        files = self.system.of(path)
        return sorted(each.getPath().getName() for each in files.listStatus(path)) if files.exists(path) else []

    def text(self, name: str) -> str | None:
        path = self.path(name)
        files = self.system.of(path)
        if not files.exists(path):
            return None
        stream = files.open(path)
        try:
            return bytes(stream.readAllBytes()).decode()
        finally:
            stream.close()

    def create(self, name: str, text: str) -> None:
        """Fails where there is one."""
        self.fill(name, text, is_new=True)

    def overwrite(self, name: str, text: str) -> None:
        """Who reads meanwhile may find less of the text."""
        self.fill(name, text, is_new=False)

    def fill(self, name: str, text: str, *, is_new: bool) -> None:
        path = self.path(name)
        stream = self.system.of(path).create(path, not is_new)
        try:
            stream.write(text.encode())
        finally:
            stream.close()

    def write_whole(self, name: str, text: str) -> None:
        """The file is there with all of the text, or it is not there."""
        folder, _, last = name.rpartition("/")
        begun = f"{folder}/{last}.{uuid.uuid4().hex}.begun".lstrip("/")
        self.create(begun, text)
        self.remove(name)
        if not self.rename(begun, name):
            raise OSError(f"{self.root}/{name}: cannot be written")

    def rename(self, name: str, to: str) -> bool:
        return bool(self.system.of(self.path(name)).rename(self.path(name), self.path(to)))

    def remove(self, name: str) -> None:
        """With everything in it, if it is a folder."""
        path = self.path(name)
        self.system.of(path).delete(path, True)
