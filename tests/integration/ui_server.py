"""`supervise ui` as a process, with the settings and the current folder of a user."""

import os
import subprocess
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Final

from tests.integration.dev_server import ROOT, DevServer
from tests.local_servers import find_free_port

SUPERVISE: Final = (
    *(sys.executable, "-P", "-c"),
    "import sys; sys.path.insert(0, sys.argv.pop(1)); from graph.cli import start; start()",
    str(ROOT),
)
"""The command, as `.venv/bin/supervise` of a checkout starts it."""


def build_environment(folder: Path, **variables: str) -> dict[str, str]:
    """Return the environment of a user whose home folder holds the current one."""
    path = os.pathsep.join((str(Path(sys.executable).parent), os.defpath))
    return {"PATH": path, "HOME": str(folder.parent), "NO_COLOR": "1", **variables}


@contextmanager
def ui_server(folder: Path, *teams: str, **variables: str) -> Iterator[DevServer]:
    """Start the server on a free port, in a folder; yield it when it answers.

    It ends with the block.
    """
    command = (*SUPERVISE, "ui", "--no-browser", "--port", str(find_free_port()), *teams)
    process = subprocess.Popen(
        command,
        cwd=folder,
        env=build_environment(folder, **variables),
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        text=True,
    )
    assert process.stdout and process.stderr, "both are pipes"
    try:
        page = process.stdout.readline().strip()
        if not page:
            raise RuntimeError(f"supervise ui did not start:\n{process.stderr.read()}")
        yield DevServer(page.removesuffix("/supervise/"), folder / ".supervise" / "ui.log")
    finally:
        process.terminate()
        process.communicate()
