"""A project with the set-up of this one and hardly anything to set up, and an index of packages that can fail: what the
set-up says and leaves when things go wrong takes seconds, not minutes."""

import hashlib
import os
import shutil
import subprocess
import sys
import threading
import zipfile
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path

ROOT = Path(__file__).parents[2]
EPOCH = (1980, 1, 1, 0, 0, 0)
# Builds the project itself, with Python's own library: a build by setuptools would have to fetch that.
BACKEND = """
import pathlib, zipfile

def build_editable(folder, config_settings=None, metadata_directory=None):
    name = "small-1.0-py3-none-any.whl"
    with zipfile.ZipFile(pathlib.Path(folder) / name, "w") as wheel:
        wheel.writestr("small.pth", str(pathlib.Path.cwd()))
        about = {"METADATA": "Metadata-Version: 2.1\\nName: small\\nVersion: 1.0\\n",
                 "WHEEL": "Wheel-Version: 1.0\\nRoot-Is-Purelib: true\\nTag: py3-none-any\\n"}
        for file, text in about.items():
            wheel.writestr(f"small-1.0.dist-info/{file}", text)
        wheel.writestr("small-1.0.dist-info/RECORD", "")
    return name
"""
PYPROJECT = '[project]\nname = "small"\nversion = "1.0"\n[build-system]\nrequires = []\nbuild-backend = "backend"\n'
STEPS = ("jobs.spark.compiled_loops", "jobs.spark.submit_script", "jobs.spark.jars")
MORE_STEPS = ("tests.distribution", "tests.kafka.jar_sets", "tests.shared_classes")


def wheel_of(name: str, folder: Path) -> Path:
    """Some hundred KB, so that half of it can be missing."""
    file = folder / f"{name}-1.0-py3-none-any.whl"
    about = f"{name}-1.0.dist-info"
    parts = {
        f"{name}/__init__.py": "# " + os.urandom(100_000).hex() + "\n",
        f"{about}/METADATA": f"Metadata-Version: 2.1\nName: {name}\nVersion: 1.0\n",
        f"{about}/WHEEL": "Wheel-Version: 1.0\nRoot-Is-Purelib: true\nTag: py3-none-any\n",
        f"{about}/RECORD": "",
    }
    with zipfile.ZipFile(file, "w") as opened:
        for path, text in parts.items():
            opened.writestr(zipfile.ZipInfo(path, EPOCH), text)
    return file


class Index:
    """`cut`: names of packages of which half is sent; then the connection ends, or `stalled`, nothing more comes."""

    def __init__(self, folder: Path) -> None:
        folder.mkdir()
        self.folder = folder
        self.cut: set[str] = set()
        self.stalled = threading.Event()
        self.let_go = threading.Event()
        self.is_stalling = False
        self.asked: list[str] = []
        index = self

        class Handler(BaseHTTPRequestHandler):
            def do_GET(self) -> None:
                index.answer(self)

            def log_message(self, *_: object) -> None:
                pass

        self.server = ThreadingHTTPServer(("127.0.0.1", 0), Handler)
        self.server.daemon_threads = True
        threading.Thread(target=self.server.serve_forever, daemon=True).start()

    def answer(self, request: BaseHTTPRequestHandler) -> None:
        *_, name = request.path.rstrip("/").split("/")
        self.asked.append(name)
        file = self.folder / name
        if file.is_file():
            content = file.read_bytes()
        else:
            links = [f'<a href="/files/{each.name}">{each.name}</a>' for each in self.folder.glob(f"{name}-*")]
            content = f"<!DOCTYPE html><html><body>{''.join(links)}</body></html>".encode()
        request.send_response(200)
        request.send_header("Content-Type", "application/octet-stream" if file.is_file() else "text/html")
        request.send_header("Content-Length", str(len(content)))
        request.end_headers()
        is_cut = file.is_file() and name.split("-")[0] in self.cut
        request.wfile.write(content[: len(content) // 2] if is_cut else content)
        if is_cut and self.is_stalling:
            request.wfile.flush()
            self.stalled.set()
            self.let_go.wait(60)

    @property
    def url(self) -> str:
        return f"http://127.0.0.1:{self.server.server_port}/simple"

    def close(self) -> None:
        self.let_go.set()
        self.server.shutdown()
        self.server.server_close()


class SmallProject:
    """In a path with blanks. `product` asks for the package alpha, `all` for beta too."""

    def __init__(self, folder: Path) -> None:
        self.folder, self.home = folder / "a small project", folder / "home"
        self.index = Index(folder / "index")
        self.home.mkdir(parents=True)
        (self.folder / ".ci").mkdir(parents=True)
        shutil.copy(ROOT / ".ci" / "install.py", self.folder / ".ci")
        shutil.copy(ROOT / "Makefile", self.folder)
        (self.folder / "pyproject.toml").write_text(PYPROJECT + 'backend-path = ["."]\n')
        (self.folder / "backend.py").write_text(BACKEND)
        for lock, name in (("requirements.lock", "alpha"), ("requirements-dev.lock", "beta")):
            self.lock(lock, wheel_of(name, self.index.folder))
        for step in (*STEPS, *MORE_STEPS):
            file = self.folder / f"{step.replace('.', '/')}.py"
            file.parent.mkdir(parents=True, exist_ok=True)
            file.touch()

    def lock(self, lock: str, *wheels: Path) -> None:
        entries = [
            f"{each.name.split('-')[0]}==1.0 \\\n    --hash=sha256:{hashlib.sha256(each.read_bytes()).hexdigest()}\n"
            for each in wheels
        ]
        (self.folder / lock).write_text("".join(entries))

    def environment(self, **more: str) -> dict[str, str]:
        kept = {name: value for name, value in os.environ.items() if not name.startswith(("PIP_", "GROUPSCOPE_"))}
        kept.pop("PYTHONPATH", None)
        return {**kept, "HOME": str(self.home), "PIP_INDEX_URL": self.index.url, "PIP_RETRIES": "0", **more}

    def start(self, what: str, *before: str, **more: str) -> "subprocess.Popen[str]":
        return subprocess.Popen(
            [*before, sys.executable, self.folder / ".ci" / "install.py", what],
            env=self.environment(**more), text=True, stdout=subprocess.PIPE, stderr=subprocess.PIPE,
            start_new_session=True,
        )  # fmt: skip

    def set_up(self, what: str, *before: str, **more: str) -> "tuple[int, list[str]]":
        """The exit code, and what it says."""
        process = self.start(what, *before, **more)
        return process.wait(300), self.said(process)

    def said(self, process: "subprocess.Popen[str]") -> list[str]:
        """But for how long the parts took, where that was long."""
        out, errors = process.communicate(timeout=300)
        assert not out
        return [line for line in errors.splitlines() if not line.startswith("set-up: done")]

    def has(self, *names: str) -> bool:
        command = [self.folder / ".venv" / "bin" / "python", "-I", "-c", "".join(f"import {name}\n" for name in names)]
        return subprocess.run(command, capture_output=True, check=False).returncode == 0
