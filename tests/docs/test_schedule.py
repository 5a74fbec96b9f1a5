"""The files of docs/schedule are taken by those that they are for, and their flags by the command."""

import ast
import configparser
import json
import re
import shlex
import shutil
import subprocess
import sys
import types
from datetime import datetime

import pytest
import yaml
from cronsim import CronSim
from pydantic import BaseModel

from tests.docs.pages import ROOT
from tests.docs.test_shown_commands import assert_parses

SCHEDULE = ROOT / "docs" / "schedule"
UNITS = ("groupscope.service", "groupscope.timer")
START = datetime(2026, 11, 23, 9, 1)


def cron_entries(text):
    """Schedule and command of each entry, as crontab(5) splits them."""
    lines = [line for line in text.splitlines() if line.strip() and not line.startswith("#")]
    entries = [line.split(maxsplit=5) for line in lines if not re.match(r"[A-Z_]+ *=", line)]
    return [(" ".join(entry[:5]), entry[5]) for entry in entries]


def test_cron_takes_its_lines():
    entries = cron_entries((SCHEDULE / "groupscope.cron").read_text())
    assert [minutes(schedule) for schedule, _ in entries] == [[10, 20, 30], [17, 17, 17]]
    for _, command in entries:
        # Cron makes a new line of each percent sign.
        assert "%" not in command
        move, call = command.split(" && ")
        assert move == "cd /opt/groupscope"
        assert_parses(shlex.split(re.split(" >>? ", call)[0])[1:])
    # Cron mails what is printed: the page of a run that has something new.
    assert re.search(r"--fail-on critical-new > (\S+) \|\| cat \1$", entries[0][1])


def minutes(schedule):
    times = CronSim(schedule, START)
    return [next(times).minute for _ in range(3)]


def unit(name):
    parser = configparser.ConfigParser(interpolation=None, delimiters=("=",), strict=True)
    parser.optionxform = str
    parser.read_string((SCHEDULE / name).read_text())
    return parser


def test_the_service_starts_an_audit_that_fails_for_new_findings_and_is_not_tried_again():
    service = unit("groupscope.service")["Service"]
    assert_parses(shlex.split(service["ExecStart"])[1:])
    assert service["ExecStart"].endswith(" --fail-on critical-new")
    assert not {name for name in service if name.startswith(("Restart", "SuccessExitStatus"))}
    # What the unit protects must not be where the command writes.
    assert f"--warehouse {service['ReadWritePaths']}" in service["ExecStart"]
    assert f"--report {service['ReadWritePaths']}/" in service["ExecStart"]
    assert service["Environment"] == f"GROUPSCOPE_CACHE=/var/cache/{service['CacheDirectory']}"


def test_the_timer_is_of_the_service():
    assert unit("groupscope.timer")["Timer"]["OnCalendar"] == "*:0/10"
    assert "Unit" not in unit("groupscope.timer")["Timer"]


def test_systemd_takes_its_units(tmp_path):
    """By systemd's own linter. A machine without systemd has none: there the two tests above have to do."""
    linter = shutil.which("systemd-analyze")
    if linter is None:
        return
    program = tmp_path / "groupscope"
    program.write_text("#!/bin/sh\n")
    program.chmod(0o755)
    for name in UNITS:
        text = (SCHEDULE / name).read_text()
        (tmp_path / name).write_text(text.replace("/opt/groupscope/.venv/bin/groupscope", str(program)))
    done = subprocess.run(
        [linter, "verify", "--man=no", *(str(tmp_path / name) for name in UNITS)],
        capture_output=True, text=True, timeout=60, check=False,
    )  # fmt: skip
    about_ours = [line for line in done.stderr.splitlines() if "groupscope" in line]
    assert about_ours == []


class Failed(Exception):
    """Airflow's AirflowFailException: no other try."""


@pytest.fixture
def dag(monkeypatch):
    """The DAG's file, loaded with Airflow's names as plain functions: what it declared, and its task."""
    seen = {}

    def dag(**options):
        seen["dag"] = options
        return lambda function: function

    def task(**options):
        def named(function):
            seen[function.__name__] = function
            return lambda: None

        seen["task"] = options
        return named

    sdk, exceptions = types.ModuleType("airflow.sdk"), types.ModuleType("airflow.sdk.exceptions")
    sdk.dag, sdk.task = dag, task
    exceptions.AirflowFailException = Failed
    for module in (types.ModuleType("airflow"), sdk, exceptions):
        monkeypatch.setitem(sys.modules, module.__name__, module)
    text = (SCHEDULE / "groupscope_dag.py").read_text()
    exec(compile(ast.parse(text), "groupscope_dag.py", "exec"), seen)
    return seen


def test_the_dag_runs_one_audit_at_a_time(dag):
    assert minutes(dag["dag"]["schedule"]) == [10, 20, 30]
    assert (dag["dag"]["max_active_runs"], dag["dag"]["catchup"]) == (1, False)
    assert_parses(dag["COMMAND"][1:])
    assert "--fail-on=critical-new" in dag["COMMAND"]


@pytest.mark.parametrize(
    ("code", "raised"), [(0, None), (20, Failed), (22, Failed), (2, Failed), (21, RuntimeError), (23, RuntimeError)]
)
def test_the_dag_tries_again_what_may_pass_and_says_what_stands(dag, code, raised, tmp_path):
    dag["COMMAND"][:] = [sys.executable, "-c", f"print('3 critical\\nmore'); raise SystemExit({code})"]
    dag["HOME"] = str(tmp_path)
    if raised is None:
        assert dag["audit"]() == "3 critical"
    else:
        with pytest.raises(raised, match=f"{code}: 3 critical$") as failure:
            dag["audit"]()
        assert failure.type is raised


def test_the_spark_operator_knows_each_field():
    # It takes a second, in each process that collects this file.
    import kubeflow_spark_api.models as operator

    manifest = yaml.safe_load((SCHEDULE / "groupscope-spark.yaml").read_text())
    assert unknown_fields(manifest, operator.SparkV1beta2ScheduledSparkApplication) == []
    operator.SparkV1beta2ScheduledSparkApplication.from_json(json.dumps(manifest))


def test_the_cron_job_runs_an_audit_that_is_never_tried_again():
    # It takes a second, in each process that collects this file.
    from kubeflow_spark_api.models import IoK8sApiCoreV1PodSpec

    manifest = yaml.safe_load((SCHEDULE / "groupscope-cronjob.yaml").read_text())
    assert (manifest["apiVersion"], manifest["kind"]) == ("batch/v1", "CronJob")
    spec, job = manifest["spec"], manifest["spec"]["jobTemplate"]["spec"]
    assert minutes(spec["schedule"]) == [10, 20, 30]
    assert (spec["concurrencyPolicy"], job["backoffLimit"]) == ("Forbid", 0)
    pod = job["template"]["spec"]
    assert unknown_fields(pod, IoK8sApiCoreV1PodSpec) == []
    (container,) = pod["containers"]
    assert pod["restartPolicy"] == "Never" and "--fail-on=critical-new" in container["args"]
    assert_parses([*container["command"], *container["args"]][1:])


def test_a_field_that_the_spark_operator_does_not_know_is_noticed():
    # It takes a second, in each process that collects this file.
    import kubeflow_spark_api.models as operator

    manifest = {"spec": {"schedule": "0 * * * *", "template": {"driver": {"core": 1}}}}
    assert unknown_fields(manifest, operator.SparkV1beta2ScheduledSparkApplication) == ["spec.template.driver.core"]


def unknown_fields(result, model, place=""):
    """The model itself passes over what it does not know."""
    known = {field.alias or name: field for name, field in model.model_fields.items()}
    wrong = [f"{place}{name}" for name in result if name not in known]
    for name in result.keys() & known.keys():
        inner = next((each for each in models_in(known[name].annotation)), None)
        values = result[name] if isinstance(result[name], list) else [result[name]]
        if inner is not None:
            wrong += [each for value in values for each in unknown_fields(value, inner, f"{place}{name}.")]
    return wrong


def models_in(annotation):
    if isinstance(annotation, type) and issubclass(annotation, BaseModel):
        return [annotation]
    return [model for each in getattr(annotation, "__args__", ()) for model in models_in(each)]


def test_the_spark_application_is_an_audit_of_this_release():
    spec = yaml.safe_load((SCHEDULE / "groupscope-spark.yaml").read_text())["spec"]
    assert minutes(spec["schedule"]) == [0, 0, 0]
    template = spec["template"]
    assert_parses(["audit", *template["arguments"]])
    assert "--fail-on=critical-new" in template["arguments"]
    assert template["restartPolicy"] == {"type": "Never"}
    project = (ROOT / "pyproject.toml").read_text()
    (version,) = re.findall(r'^version = "(.+)"$', project, flags=re.MULTILINE)
    assert template["deps"]["pyFiles"] == [f"local:///opt/groupscope/dist/groupscope-{version}.zip"]
    assert f'"pyspark=={template["sparkVersion"]}"' in project
