"""What the project stands on: locked with hashes, declared, and past the known holes."""

import ast
import json
import re
import subprocess
import sys
import tomllib
from functools import cache
from importlib.metadata import packages_distributions, version
from ipaddress import ip_address
from pathlib import Path

import pytest
from packaging.requirements import Requirement
from packaging.utils import canonicalize_name
from packaging.version import Version

from nodes.models.settings import PROVIDERS

pytestmark = pytest.mark.slow

ROOT = Path(__file__).parents[2]
LOCKS = ("requirements.lock", "requirements-dev.lock")
FIRST_PARTY = {"extensions", "graph", "nodes", "state", "supervisor_worker"}
SOURCES = [
    ROOT / "state.py",
    *sorted((ROOT / "nodes").rglob("*.py")),
    *sorted((ROOT / "extensions").rglob("*.py")),
    *sorted((ROOT / "graph").rglob("*.py")),
    *sorted((ROOT / "teams").glob("*/tools/**/*.py")),
]
PROJECT = tomllib.loads((ROOT / "pyproject.toml").read_text(encoding="utf-8"))
EXTRAS: dict[str, list[str]] = PROJECT["project"]["optional-dependencies"]
SHIPPED_TEAMS = sorted(path.parent.name for path in (ROOT / "teams").glob("*/team.md"))


def list_extra(name: str) -> list[Requirement]:
    """Return the requirements of an extra and of those that it includes."""
    stated = [Requirement(line) for line in EXTRAS[name.replace("_", "-")]]
    own = [each for each in stated if each.name == PROJECT["project"]["name"]]
    included = [one for each in own for inner in each.extras for one in list_extra(inner)]
    return [each for each in stated if each not in own] + included


CORE = [Requirement(line) for line in PROJECT["project"]["dependencies"]]
RUNTIME = CORE + list_extra("all")
FROM_SERVERS = {"aegra_api", "fastapi", "sqlalchemy", "langgraph_api", "IPython", "pandas"}
"""What only runs inside Aegra, LangGraph's server or a notebook, which bring it."""
DEVELOPMENT = [Requirement(line) for line in PROJECT["dependency-groups"]["dev"]]
SAFE_FROM = {
    "langgraph": "1.0.10",  # CVE-2026-28277
    "langgraph-checkpoint": "4.0.0",  # CVE-2026-27794, CVE-2025-64439
    "langgraph-checkpoint-sqlite": "3.0.1",  # CVE-2025-8709, CVE-2025-64104, CVE-2025-67644
    "langchain-core": "1.2.5",  # CVE-2025-68664, CVE-2025-65106
}


@cache
def list_requirements(lock: str) -> tuple[str, ...]:
    """Return each requirement of a lock file with its hashes, as one line."""
    text = (ROOT / lock).read_text(encoding="utf-8").replace("\\\n", " ")
    lines = (re.sub(r"(^|\s)#.*", "", line).strip() for line in text.splitlines())
    return tuple(line for line in lines if line)


def read_locked_versions(lock: str) -> dict[str, Version]:
    pins = (
        re.fullmatch(r"(\S+)==([^\s;]+)\s*(;.*?)?( --hash=.*)?", e) for e in list_requirements(lock)
    )
    return {canonicalize_name(pin[1]): Version(pin[2]) for pin in pins if pin}


def list_imported_modules(path: Path) -> set[str]:
    """Return the top-level names of the modules that a file imports from elsewhere."""
    found: set[str] = set()
    for node in ast.walk(ast.parse(path.read_text(encoding="utf-8"))):
        if isinstance(node, ast.Import):
            found |= {alias.name.split(".")[0] for alias in node.names}
        elif isinstance(node, ast.ImportFrom) and not node.level:
            found.add(str(node.module).split(".")[0])
    found -= {"pytest"} if "scaffold" in path.parts else set()
    return found - FIRST_PARTY - sys.stdlib_module_names


@pytest.mark.parametrize("lock", LOCKS)
def test_every_locked_requirement_is_pinned_and_has_a_hash(lock: str) -> None:
    unsafe = [
        entry
        for entry in list_requirements(lock)
        if not re.match(r"[\w.-]+(\[[\w,-]+\])?==\S+ ", entry)
        or not re.search(r"--hash=sha256:[0-9a-f]{64}(\s|$)", entry)
    ]

    assert list_requirements(lock) and not unsafe


@pytest.mark.parametrize("lock", LOCKS)
def test_a_lock_file_names_no_place_to_download_from(lock: str) -> None:
    text = (ROOT / lock).read_text(encoding="utf-8")

    places = ("http://", "https://", "file:", "--index-url", "--extra-index-url", "--find-links")
    assert not [place for place in places if place in text]


@pytest.mark.parametrize("lock", LOCKS)
def test_a_lock_file_satisfies_what_the_project_declares(lock: str) -> None:
    declared = RUNTIME + (DEVELOPMENT if lock == "requirements-dev.lock" else [])
    pins = read_locked_versions(lock)

    missed = [
        str(requirement)
        for requirement in declared
        if (pin := pins.get(canonicalize_name(requirement.name))) is None
        or pin not in requirement.specifier
    ]

    assert not missed


def test_the_lock_of_the_tests_pins_what_the_users_lock_pins() -> None:
    runtime, development = (read_locked_versions(lock) for lock in LOCKS)

    assert {name: development.get(name) for name in runtime} == runtime


@pytest.mark.parametrize("name", SAFE_FROM)
def test_no_version_with_a_known_hole_is_installed_or_locked(name: str) -> None:
    floor = Version(SAFE_FROM[name])

    assert Version(version(name)) >= floor
    assert all(read_locked_versions(lock)[canonicalize_name(name)] >= floor for lock in LOCKS)


@pytest.mark.parametrize("name", SAFE_FROM)
def test_no_version_with_a_known_hole_is_allowed(name: str) -> None:
    (declared,) = (requirement for requirement in RUNTIME if requirement.name == name)

    lowest = min(Version(clause.version) for clause in declared.specifier)
    assert lowest >= Version(SAFE_FROM[name])


def test_everything_imported_is_declared() -> None:
    """Of a team's tools by the team's own extra."""
    homes = packages_distributions()
    undeclared = set()
    for path in SOURCES:
        place, team, *_ = (*path.relative_to(ROOT).parts, "")
        stated = CORE + list_extra(team) if place == "teams" else RUNTIME
        declared = {canonicalize_name(requirement.name) for requirement in stated}
        for name in list_imported_modules(path) - FROM_SERVERS:
            if not declared & {canonicalize_name(home) for home in homes.get(name, [name])}:
                undeclared.add((name, path.relative_to(ROOT).as_posix()))

    assert undeclared == set()


def test_each_shipped_team_has_an_extra_of_its_name_and_all_includes_it() -> None:
    (everything,) = (Requirement(line) for line in EXTRAS["all"])

    assert {team.replace("_", "-") for team in SHIPPED_TEAMS} <= set(EXTRAS)
    assert everything.extras == set(EXTRAS) - {"all", "demo", "ui", *PROVIDERS}


def test_no_extra_has_a_name_that_an_old_pip_does_not_find() -> None:
    assert not [name for name in EXTRAS if "_" in name]


def test_the_core_imports_what_only_extras_bring_inside_functions_only() -> None:
    script = "import sys, graph.cli, graph.runs.runner; print(*sys.modules)"

    done = subprocess.run([sys.executable, "-c", script], capture_output=True, text=True, cwd=ROOT)

    optional = {"bandit", "docx", "duckdb", "fhir", "lxml", "numpy", "psycopg", "pypdf"}
    assert done.returncode == 0, done.stderr
    assert not optional & {name.partition(".")[0] for name in done.stdout.split()}


def test_the_sbom_lists_what_is_locked(tmp_path: Path) -> None:
    made = tmp_path / "sbom.json"
    command = ["cyclonedx_py", "requirements", str(ROOT / LOCKS[0]), "--sv", "1.6", "-o", str(made)]

    subprocess.run([sys.executable, "-m", *command], check=True, capture_output=True)

    bom = json.loads(made.read_text(encoding="utf-8"))
    listed = {canonicalize_name(one["name"]): Version(one["version"]) for one in bom["components"]}
    assert bom["specVersion"] == "1.6" and listed == read_locked_versions(LOCKS[0])


def test_s05_the_development_server_listens_on_this_machine_alone() -> None:
    from langgraph_cli.cli import dev

    (host,) = (option.default for option in dev.params if option.name == "host")

    assert ip_address(str(host)).is_loopback
    assert "--host" not in (ROOT / "bin" / "studio").read_text(encoding="utf-8")
