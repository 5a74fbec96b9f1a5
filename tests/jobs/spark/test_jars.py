"""Sets of jars: asked of Ivy as declared, used without it once they are there."""

import xml.etree.ElementTree as ET

import pytest

from jobs.spark import jars
from jobs.spark.jars import DELTA, REQUEST, JarSet

SET = JarSet("some-1", ("org.a:b_2.13:1.0", "org.c:d:2"), is_transitive=False)


@pytest.fixture
def fetched(monkeypatch, tmp_path):
    """The names of the sets for which Ivy would have been run."""
    names = []

    def pretend(jar_set, folder):
        names.append(jar_set.name)
        for artifact in jar_set.artifacts:
            (folder / f"{artifact.split(':')[1]}.jar").touch()

    monkeypatch.setenv("GROUPSCOPE_CACHE", str(tmp_path))
    monkeypatch.setattr(jars, "run_ivy", pretend)
    return names


def test_a_set_is_fetched_once_and_listed_in_a_fixed_order(fetched, tmp_path):
    for _ in range(2):
        assert jars.jars(SET) == [tmp_path / "jars/some-1/b_2.13.jar", tmp_path / "jars/some-1/d.jar"]
    assert fetched == ["some-1"]


def test_a_set_that_changed_under_its_name_is_fetched_anew(fetched):
    jars.jar_folder(SET)
    changed = JarSet("some-1", ("org.a:b_2.13:1.1",))
    assert [jar.name for jar in jars.jars(changed)] == ["b_2.13.jar"]
    assert fetched == ["some-1", "some-1"]


def test_the_request_names_each_artifact_with_its_exact_revision(fetched):
    asked = ET.parse(jars.jar_folder(SET) / REQUEST).getroot().iter("dependency")
    rows = [(each.get("org"), each.get("name"), each.get("rev"), each.get("transitive")) for each in asked]
    assert rows == [("org.a", "b_2.13", "1.0", "false"), ("org.c", "d", "2", "false")]


def test_the_delta_set_holds_the_seven_jars_that_delta_needs_beside_spark():
    names = {jar.name.rsplit("-", 1)[0] for jar in jars.jars(DELTA)}
    kernels = {"delta-kernel-api", "delta-kernel-defaults", "delta-kernel-unitycatalog"}
    assert names == {"delta-spark_4.2_2.13", "delta-storage", "unitycatalog-client", "unitycatalog-hadoop"} | kernels


def test_a_set_that_cannot_be_resolved_is_named_and_leaves_nothing(monkeypatch, tmp_path):
    monkeypatch.setenv("GROUPSCOPE_CACHE", str(tmp_path))
    # A closed port turns Ivy away at once, whether there is a network or not.
    monkeypatch.setenv("JAVA_TOOL_OPTIONS", "-Dhttps.proxyHost=127.0.0.1 -Dhttps.proxyPort=9")
    with pytest.raises(RuntimeError, match="Ivy could not download the Java libraries of some-1"):
        jars.jar_folder(SET)
    assert not (tmp_path / "jars" / "some-1").exists()
