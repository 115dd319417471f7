"""Drive the live page in a browser against real servers, and print what it showed.

    python -m tests.pages [--server dev|aegra] [--story NAME] [--screenshots FOLDER]
                          [--browser chromium|firefox]

Needs Node, the browser, and the packages of `web/` (`make pages` installs them); Aegra needs what
`tests/cluster` needs. Steps that Firefox cannot take say so.
"""

import argparse
import json
import subprocess
import sys
import tempfile
from collections.abc import Mapping
from pathlib import Path
from typing import Any, Final

from extensions.server.users_file import add_user
from tests.chat.clients import CHROMIUM_NAMES, ClientMissing, find_program
from tests.endpoint.process import run_endpoint_process
from tests.pages import scenarios, servers
from tests.pages.hostile_team import write_teams

HERE: Final = Path(__file__).parent
WEB: Final = HERE.parents[1] / "web"
STORIES: Final = {
    "start": "drive_start.mjs",
    "live": "drive_live.mjs",
    "users": "drive_users.mjs",
    "teams": "drive_teams.mjs",
    "away": "drive_away.mjs",
    "queue": "drive_queue.mjs",
}
ON_ONE_SERVER: Final = {"away": "aegra", "queue": "dev"}
"""The development server keeps no run that was at work when it was killed; Aegra works on more at
once."""
BROWSERS: Final = {"chromium": CHROMIUM_NAMES, "firefox": ("firefox-esr", "firefox")}
DRIVE_TIMEOUT_S: Final = 600


def main() -> int:
    """Print what the page showed of each server; return 1 if a story broke off."""
    parser = argparse.ArgumentParser(description=(__doc__ or "").partition("\n")[0])
    parser.add_argument("--server", choices=servers.NAMES, action="append")
    parser.add_argument("--story", choices=STORIES, action="append")
    parser.add_argument("--screenshots", type=Path, default=Path("build/pages"))
    parser.add_argument("--browser", choices=BROWSERS, default="chromium")
    options = parser.parse_args()
    options.screenshots.mkdir(parents=True, exist_ok=True)
    try:
        results = [
            drive(story, server, options.screenshots.resolve(), options.browser)
            for server in options.server or servers.NAMES
            for story in options.story or STORIES
            if story not in ON_ONE_SERVER or server == ON_ONE_SERVER[story]
        ]
    except ClientMissing as missing:
        print(missing, file=sys.stderr)
        return 2
    return int(not all(results))


def drive(story: str, server: str, screenshots: Path, browser: str) -> bool:
    """Play one story against one server; return whether it came to its end."""
    is_short = story in ("start", "teams")
    told = scenarios.build_wide(4, task_s=0.2) if is_short else scenarios.build_story()
    with (
        tempfile.TemporaryDirectory() as folder,
        run_endpoint_process(told) as endpoint,
    ):
        project = Path(folder, "project")
        project.mkdir()
        users = project / "users.json"
        token = add_user(users, "anna@example.org", is_proxy=False, has_crons=False)
        paths: Mapping[str, str] = {}
        if story == "users":
            paths = {"SUPERVISE_USERS": users.name}
        if story == "teams":
            paths = write_teams(project)
        with servers.run_server(server, project, endpoint.base_url, **paths) as running:
            material = Path(folder, scenarios.MATERIAL)
            material.write_text(scenarios.MATERIAL_TEXT, encoding="utf-8")
            given = {
                **running,
                "name": f"{story}-{server}",
                "screenshots": str(screenshots),
                "downloads": folder,
                "file": str(material),
                "request": scenarios.REQUEST,
                "answer": scenarios.ANSWER,
                "token": token,
            }
            is_right, said = run_driver(STORIES[story], given, browser)
    print(f"{story} on {server}: {'passed' if is_right else 'failed'}\n{said}")
    return is_right


def run_driver(script: str, given: dict[str, Any], browser: str = "chromium") -> tuple[bool, str]:
    """Return whether a driver came to its end, and what it printed."""
    program = {"browser": browser, "program": find_program(*BROWSERS[browser])}
    given = {**program, "packages": str(WEB / "package.json"), **given}
    command = [find_program("node"), str(HERE / script), json.dumps(given)]
    try:
        done = subprocess.run(command, capture_output=True, text=True, timeout=DRIVE_TIMEOUT_S)
    except subprocess.TimeoutExpired as late:
        said = late.stdout or b""
        return False, f"not at its end after {DRIVE_TIMEOUT_S} s\n{said!r}"
    return done.returncode == 0, done.stdout + done.stderr


if __name__ == "__main__":
    sys.exit(main())
