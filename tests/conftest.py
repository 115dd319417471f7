"""What every test stands on: an endpoint that plays a language model, and nothing from outside."""

import gc
import os
import re
import sys
import tempfile
from collections.abc import Iterator
from importlib.util import find_spec
from pathlib import Path
from types import ModuleType

import hypothesis
import pytest

from graph.extensions import register_extensions
from graph.settings import Settings
from tests import postgres_server
from tests.endpoint import Endpoint
from tests.endpoint.fixtures import endpoint, model_settings
from tests.runs import Runs
from tests.screen import supervise

__all__ = ["endpoint", "model_settings", "supervise"]

# jsonschema builds a grammar of addresses with it, for seconds in each test process. It is there
# for another library's sake; without what it holds, jsonschema checks no such address.
sys.modules["rfc3987_syntax"] = ModuleType("rfc3987_syntax")

gc.disable()  # What is imported and collected stays: nothing to look for before the first test.
register_extensions()  # a test of a node names tools and models as a run does

ALL_SLOW = re.compile(r"^pytestmark = .*\bslow\b", re.MULTILINE)
KEPT_VARIABLES = {"PATH", "HOME", "LANG", "TMPDIR", "VIRTUAL_ENV", "PYTHONPATH"}

# A busy machine must not fail a test: the first example pays for imports. CI draws the same
# examples each time, so that it judges the change; a developer's run looks for new ones.
# `bin/test` tries a tenth of the examples, and all of them at night.
hypothesis.settings.register_profile("developer", deadline=None)
hypothesis.settings.register_profile("ci", deadline=None, derandomize=True)
hypothesis.settings.register_profile("quick", deadline=None, derandomize=True, max_examples=10)
hypothesis.settings.load_profile("ci" if "CI" in os.environ else "developer")


class EmptyFolders:
    """Empty folders, one at a time: most tests leave theirs empty, and the next one has it."""

    def __init__(self, parent: Path) -> None:
        self._parent, self._last = parent, parent / "none"

    def find_empty(self) -> Path:
        """Return the last folder while nothing is in it, or else a new one."""
        if not self._last.is_dir() or any(self._last.iterdir()):
            self._last = Path(tempfile.mkdtemp(dir=self._parent))
        return self._last


@pytest.fixture(scope="session")
def users_folders(tmp_path_factory: pytest.TempPathFactory) -> EmptyFolders:
    """The folders of the users of all tests: pytest looks through its own at each new one."""
    return EmptyFolders(tmp_path_factory.mktemp("users"))


@pytest.fixture(scope="session")
def current_folders(tmp_path_factory: pytest.TempPathFactory) -> EmptyFolders:
    """The current folders of all tests that ask for no `tmp_path`."""
    return EmptyFolders(tmp_path_factory.mktemp("current"))


@pytest.fixture
def user_folder(users_folders: EmptyFolders) -> Path:
    """The folder of the user's own settings and decisions, outside the current folder."""
    return users_folders.find_empty()


def pytest_ignore_collect(collection_path: Path, config: pytest.Config) -> bool | None:
    """Leave a file of slow tests unread where none is asked for: its imports take their time."""
    if collection_path.suffix != ".py" or not config.option.markexpr.startswith("not slow"):
        return None
    return bool(ALL_SLOW.search(collection_path.read_text("utf-8"))) or None


def pytest_runtest_setup(item: pytest.Item) -> None:
    """Skip a test that needs an extension, or the teams, where they are not there."""
    for marker in item.iter_markers("needs"):
        for name in marker.args:
            module = name if name == "teams" else f"extensions.{name}"
            if not (find_spec(module.partition(".")[0]) and find_spec(module)):
                pytest.skip(f"{module} is not there")


def pytest_collection_modifyitems(config: pytest.Config, items: list[pytest.Item]) -> None:
    """Leave out what only a night has the time for, unless it is asked for by its mark."""
    if "nightly" not in config.option.markexpr:
        left_out = [item for item in items if item.get_closest_marker("nightly")]
        config.hook.pytest_deselected(items=left_out)
        items[:] = [item for item in items if item not in left_out]


def pytest_collection_finish() -> None:
    """Spare the garbage collector what lives as long as the process: a tenth of all time."""
    gc.collect()
    gc.freeze()
    gc.set_threshold(100_000, 20, 100)
    gc.enable()


@pytest.fixture(autouse=True)
def clean_environment(
    request: pytest.FixtureRequest,
    current_folders: EmptyFolders,
    user_folder: Path,
    monkeypatch: pytest.MonkeyPatch,
) -> Iterator[None]:
    """Keep the developer's keys, settings, trusted folders and run database out of the tests."""
    has_own = "tmp_path" in request.fixturenames  # one is made, and emptied, for this test alone
    folder = request.getfixturevalue("tmp_path") if has_own else current_folders.find_empty()
    for name in list(os.environ):
        if name not in KEPT_VARIABLES and not name.startswith(
            ("PYTEST", "COV", "HYPOTHESIS", "UV_", "CI")
        ):
            monkeypatch.delenv(name)
    monkeypatch.setenv("LANGSMITH_TRACING", "false")
    for name in ("XDG_CACHE_HOME", "XDG_CONFIG_HOME", "XDG_STATE_HOME"):
        monkeypatch.setenv(name, str(user_folder / name.lower()))
    monkeypatch.chdir(folder)
    yield
    os.environ.pop("SUPERVISE_ENV_FILE", None)  # `--env-file` sets it for child processes


@pytest.fixture(scope="session")
def postgres_server_url() -> Iterator[str]:
    """The address of a PostgreSQL server: one that is named, or one of this process's own."""
    if named := os.environ.get("SUPERVISE_TEST_POSTGRES_URL"):
        yield named
    else:
        with postgres_server.run_server() as running:
            yield running.build_url()


@pytest.fixture
def postgres_url(postgres_server_url: str) -> Iterator[str]:
    """The address of an empty schema, which no other test sees."""
    with postgres_server.create_schema(postgres_server_url) as url:
        yield url


@pytest.fixture
def settings(endpoint: Endpoint, tmp_path: Path) -> Settings:
    """Settings whose three tiers are at the endpoint, and whose runs are kept in a new folder."""
    return Settings(
        openai_base_url=endpoint.base_url,
        openai_api_key="sk-test-0123456789abcdef",
        model_fast="openai:gpt-5-mini",
        model_standard="openai:gpt-5-mini",
        model_strong="openai:gpt-5",
        call_timeout_s=30.0,
        database_url=f"sqlite:///{tmp_path / 'runs.sqlite'}",
    )


@pytest.fixture
def runs(endpoint: Endpoint, settings: Settings) -> Runs:
    """Runs of teams whose models are at the endpoint of the test."""
    return Runs(endpoint, settings)
