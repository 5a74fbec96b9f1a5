"""Which Java is taken, and that the one from pip does what the machine's own would."""

import subprocess

import pytest

from jobs.spark import java


@pytest.fixture(autouse=True)
def _no_java_remembered(monkeypatch, tmp_path):
    monkeypatch.setenv("PATH", str(tmp_path / "nothing"))
    monkeypatch.delenv("JAVA_HOME", raising=False)
    monkeypatch.setenv("GROUPSCOPE_CACHE", str(tmp_path / "cache"))
    java.java_executable.cache_clear()
    yield
    java.java_executable.cache_clear()


def pretend_java(home, version):
    executable = home / "bin" / "java"
    executable.parent.mkdir(parents=True)
    executable.write_text(f"#!/bin/sh\necho 'openjdk version \"{version}\"' >&2\n")
    executable.chmod(0o755)
    return executable


def test_java_home_is_taken_before_the_path(monkeypatch, tmp_path):
    chosen = pretend_java(tmp_path / "home", "21.0.2")
    monkeypatch.setenv("JAVA_HOME", str(tmp_path / "home"))
    monkeypatch.setenv("PATH", str(pretend_java(tmp_path / "other", "17.0.1").parent))
    assert java.java_executable() == chosen


def test_a_java_home_that_is_too_old_gives_way_to_the_path(monkeypatch, tmp_path):
    pretend_java(tmp_path / "home", "1.8.0_402")
    monkeypatch.setenv("JAVA_HOME", str(tmp_path / "home"))
    chosen = pretend_java(tmp_path / "other", "17.0.1")
    monkeypatch.setenv("PATH", str(chosen.parent))
    assert java.java_executable() == chosen


def test_a_link_on_the_path_is_followed_to_a_real_java_home(monkeypatch, tmp_path):
    chosen = pretend_java(tmp_path / "jvm", "17")
    links = tmp_path / "links"
    links.mkdir()
    (links / "java").symlink_to(chosen)
    monkeypatch.setenv("PATH", str(links))
    assert java.java_executable() == chosen


def test_without_any_java_the_one_from_pip_is_wrapped_and_spared_the_module_it_lacks(tmp_path):
    wrapper = java.java_executable()
    assert tmp_path / "cache" in wrapper.parents
    options = ["--add-modules=jdk.incubator.vector", "-Dspaced=two words", "-XshowSettings:properties"]
    command = [wrapper, *options, "-version"]
    done = subprocess.run(command, capture_output=True, text=True, check=False, timeout=60)
    assert done.returncode == 0, done.stderr
    assert "spaced = two words" in done.stderr
