"""The files of `deploy/` agree with each other, with the lock files and with `langgraph.json`."""

import json
import re
import shutil
import subprocess
from collections.abc import Mapping
from pathlib import Path
from typing import Any

import pytest
import yaml

from extensions.server.aegra_settings import APP, InstanceSettings, find_start_problems
from graph.setting_sources import list_variables
from graph.settings import Settings
from tests.cluster.env_file import read_env_file

ROOT = Path(__file__).parents[4]
DEPLOY = ROOT / "deploy"
PINNED = re.compile(r"^([a-z0-9][\w.-]*)==(\S+)", re.MULTILINE)
COMPOSES = (("docker", "compose"), ("docker-compose",))
ENDS_S = re.compile(r"TimeoutStopSec=(\d+)")


@pytest.fixture(scope="module")
def compose() -> dict[str, Any]:
    read: dict[str, Any] = yaml.safe_load((DEPLOY / "compose.yaml").read_text(encoding="utf-8"))
    return read


def read_unit() -> str:
    return (DEPLOY / "systemd" / "supervise@.service").read_text(encoding="utf-8")


def list_servers(compose: dict[str, Any]) -> list[dict[str, Any]]:
    return [each for each in compose["services"].values() if each.get("build")]


def find_compose() -> tuple[str, ...] | None:
    """Return the command of a Compose that is installed."""
    for command in COMPOSES:
        if shutil.which(command[0]):
            version = subprocess.run([*command, "version"], capture_output=True, check=False)
            if version.returncode == 0:
                return command
    return None


def test_compose_accepts_the_file(tmp_path: Path):
    command = find_compose()
    if command is None:
        pytest.skip("no Docker Compose is installed")
    folder = tmp_path / "deploy"
    shutil.copytree(DEPLOY, folder)
    shutil.copy(folder / "secrets.env.example", folder / "secrets.env")

    checked = subprocess.run(
        [*command, "--env-file", "secrets.env", "-f", "compose.yaml", "config", "-q"],
        cwd=folder,
        capture_output=True,
        text=True,
        check=False,
    )

    assert (checked.returncode, checked.stderr) == (0, "")


def test_containers_and_systemd_read_the_same_settings(compose: dict[str, Any]):
    servers, unit = list_servers(compose), read_unit()

    assert len(servers) == 2
    assert all(server["env_file"] == ["cluster.env", "secrets.env"] for server in servers)
    assert "EnvironmentFile=/opt/supervise/deploy/cluster.env" in unit
    assert "EnvironmentFile=/etc/supervise/secrets.env" in unit


def find_unknown_names(variables: Mapping[str, str]) -> dict[str, str]:
    known = list_variables(Settings.model_fields)
    return {name: "" for name in variables if name.startswith("SUPERVISE_") and name not in known}


def test_the_settings_have_no_problem_and_hold_no_secret():
    variables = read_env_file()

    problems = find_start_problems(
        InstanceSettings(
            is_strict_msgpack=variables["LANGGRAPH_STRICT_MSGPACK"] == "true",
            has_broker=variables["REDIS_BROKER_ENABLED"] == "true",
            lease_s=float(variables["LEASE_DURATION_SECONDS"]),
            heartbeat_s=float(variables["HEARTBEAT_INTERVAL_SECONDS"]),
            jobs=int(variables["WORKER_COUNT"]) * int(variables["N_JOBS_PER_WORKER"]),
            app=json.loads((ROOT / "langgraph.json").read_text())["http"]["app"],
            traces_to_langsmith=variables["LANGSMITH_TRACING"] == "true",
            own_trace_targets="",
            unknown_variables=find_unknown_names(variables),
        )
    )

    assert list(problems) == []
    assert not [name for name in variables if "KEY" in name.split("_") or "PASSWORD" in name]
    assert all(value and not set(value) & set("\"' ") for value in variables.values())


def test_a_server_has_time_to_drain(compose: dict[str, Any]):
    variables = read_env_file()
    needed = int(variables["STREAM_CLOSE_TIMEOUT"]) + int(variables["WORKER_DRAIN_TIMEOUT"])

    given = [int(server["stop_grace_period"].removesuffix("s")) for server in list_servers(compose)]
    given += [int(found) for found in ENDS_S.findall(read_unit())]

    assert len(given) == 3 and min(given) >= needed + 10


def test_all_connections_of_two_servers_fit_into_the_database(compose: dict[str, Any]):
    variables = read_env_file()
    names = ("SQLALCHEMY_POOL_SIZE", "SQLALCHEMY_MAX_OVERFLOW", "LANGGRAPH_MAX_POOL_SIZE")
    of_one = sum(int(variables[name]) for name in names)

    [option] = [
        each for each in compose["services"]["postgres"]["command"] if "max_connections" in each
    ]

    assert 2 * of_one < 100 < int(option.partition("=")[2])


def test_only_this_machine_reaches_the_servers(compose: dict[str, Any]):
    ports = {name: each.get("ports", []) for name, each in compose["services"].items()}

    assert all(port.startswith("127.0.0.1:") for given in ports.values() for port in given)
    assert {name for name, given in ports.items() if given} == {"server-a", "server-b"}


def test_the_image_runs_without_root_and_asks_whether_it_is_ready():
    image = (DEPLOY / "Dockerfile").read_text(encoding="utf-8")

    assert image.index("\nUSER 10001") < image.index("\nCMD")
    assert "/ready" in image.partition("HEALTHCHECK")[2]
    assert "--require-hashes" in image


def test_the_image_holds_what_the_graphs_need():
    image = (DEPLOY / "Dockerfile").read_text(encoding="utf-8")
    config = json.loads((ROOT / "langgraph.json").read_text(encoding="utf-8"))

    used = {entry["path"].split("/")[1] for entry in config["graphs"].values()}
    used |= {APP.partition(".")[0], "nodes", "state.py", "langgraph.json", "deploy/start"}

    assert [name for name in sorted(used) if f"{name} " not in image] == []


def test_the_servers_lock_holds_the_same_versions_and_no_address():
    own, ours = (
        PINNED.findall(path.read_text(encoding="utf-8"))
        for path in (DEPLOY / "requirements.lock", ROOT / "requirements.lock")
    )

    names = {name for name, _ in ours}
    older = re.findall(
        r"^([\w.-]+)==\S+ ; python_full_version < '3\.1[12]",
        (ROOT / "requirements.lock").read_text(encoding="utf-8"),
        re.MULTILINE,
    )
    assert names - set(older) <= {name for name, _ in own}
    assert [each for each in own if each[0] in names and each not in ours] == []
    assert [name for name, _ in own if name == "aegra-api"] == ["aegra-api"]
    text = (DEPLOY / "requirements.lock").read_text(encoding="utf-8")
    assert "http://" not in text and "https://" not in text and "--hash=sha256:" in text
