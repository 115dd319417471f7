"""Extensions of other distributions: found by entry points, and left out where they do not fit."""

import subprocess
import sys
from pathlib import Path

import pytest

from tests.teams import write_team
from tests.trusted_files import list_user_folders

pytestmark = pytest.mark.slow

ROOT = Path(__file__).parents[2]
GUIDE = "description: Looks at places.\ntools: [forecast]"
GOOD = """
from pathlib import Path
from graph.extensions import DoctorCheck, Extension


class Weather(Extension):
    def register(self):
        from nodes.tools.framework.catalog import share_tools
        share_tools("weather_tools", Path(__file__).parent / "weather_tools")

    def add_commands(self, app):
        app.command("rain")(lambda: print("sunny") or 0)

    def list_checks(self, settings):
        yield DoctorCheck("ok", "weather", "it is sunny")

    def list_team_warnings(self, team):
        yield f"{team.name} was written in the rain"


EXTENSION = Weather()
"""
TOOL = '''
from langchain_core.tools import tool


@tool
def forecast(place: str) -> str:
    """Return tomorrow's weather of a place."""
    return f"{place}: sunny"
'''
TAKEN = """
from graph.extensions import Extension


class Storm(Extension):
    def add_commands(self, app):
        app.command("doctor")(lambda: 0)


EXTENSION = Storm()
"""
OLD = "from graph.extensions import Extension\nEXTENSION = Extension()\nEXTENSION.interface = 0"


@pytest.fixture
def site(tmp_path: Path) -> Path:
    """A folder of installed packages, with an extension that works."""
    folder = tmp_path / "site"
    (folder / "weather_tools").mkdir(parents=True)
    (folder / "weather_tools" / "__init__.py").touch()
    (folder / "weather_tools" / "forecast.py").write_text(TOOL)
    install(folder, "rain", GOOD)
    return folder


def install(site: Path, name: str, text: str) -> None:
    module = f"{name}_extension"
    (site / f"{module}.py").write_text(text)
    metadata = site / f"{module}-1.dist-info"
    metadata.mkdir()
    (metadata / "METADATA").write_text(f"Metadata-Version: 2.1\nName: {module}\nVersion: 1\n")
    points = f"[supervisor_worker]\n{name} = {module}\n"
    (metadata / "entry_points.txt").write_text(points)


def supervise(site: Path, *arguments: str) -> subprocess.CompletedProcess[str]:
    paths = f"{ROOT}:{site}"
    return subprocess.run(
        [sys.executable, "-m", "graph.cli", *arguments],
        env={"PYTHONPATH": paths, "PATH": "/usr/bin:/bin", **list_user_folders()},
        capture_output=True,
        text=True,
        check=False,
    )


def test_another_distribution_adds_a_command_a_tool_a_check_and_a_warning(site: Path):
    write_team(Path("teams/trips"), guide=GUIDE)

    checked = supervise(site, "check", "teams/trips")

    assert checked.returncode == 0 and "1 tool" in checked.stdout
    assert "warning: trips was written in the rain" in checked.stderr
    assert supervise(site, "rain").stdout == "sunny\n"
    assert "it is sunny" in supervise(site, "doctor").stdout


def test_those_that_do_not_fit_are_a_line_each_and_the_rest_works(site: Path):
    unfit = {
        "broken": ("raise RuntimeError('no barometer')", "RuntimeError: no barometer"),
        "old": (OLD, "it is made for interface 0, this is 1"),
        "evals": (GOOD, "there is one of this name"),
        "empty": ("x = 1", "AttributeError"),
        "leaving": ("import sys; sys.exit(3)", "SystemExit: 3"),
    }
    for name, (text, _) in unfit.items():
        install(site, name, text)

    done = supervise(site, "rain")

    assert (done.returncode, done.stdout) == (0, "sunny\n")
    lines = sorted(done.stderr.splitlines())
    assert len(lines) == len(unfit)
    for line, (name, (_, why)) in zip(lines, sorted(unfit.items()), strict=True):
        assert line.startswith(f"warning: extension {name} of {name}_extension is left out: ")
        assert why in line


HOOKS = ("add_commands", "list_checks", "list_team_warnings", "register")


def test_hooks_that_fail_are_a_line_each_and_the_rest_works(site: Path):
    for hook in HOOKS:
        lines = ["from graph.extensions import Extension", "class Storm(Extension):"]
        lines += [f"    def {hook}(self, *_):", "        raise RuntimeError('no barometer')"]
        install(site, f"storm_{hook}", "\n".join([*lines, "EXTENSION = Storm()"]))
    write_team(Path("teams/trips"), guide=GUIDE)

    checked = supervise(site, "check", "teams/trips")
    looked = supervise(site, "doctor")

    assert checked.returncode == 0 and "valid" in checked.stdout
    for hook in HOOKS:
        said = f"extension storm_{hook} is left out: RuntimeError: no barometer"
        assert said in checked.stderr + looked.stdout
    assert "it is sunny" in looked.stdout and "Traceback" not in looked.stderr + checked.stderr


def test_a_command_of_a_name_that_is_taken_is_left_out(site: Path):
    install(site, "storm", TAKEN)

    done = supervise(site, "doctor")

    assert "extension storm is left out: ValueError: there is a command doctor" in done.stdout
    assert "langgraph" in done.stdout


def test_of_two_tools_with_one_name_the_shared_one_stays(site: Path):
    (site / "weather_tools" / "calculate.py").write_text(TOOL.replace("forecast", "calculate"))

    done = supervise(site, "doctor")

    said = "extension rain is left out: ValueError: the tool calculate of"
    assert f"{said} weather_tools is one of extensions.tools already" in done.stderr
    assert "Traceback" not in done.stderr
