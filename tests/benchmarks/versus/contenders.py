"""The systems: their environments, and the process of each, which is asked by JSON lines."""

import asyncio
import json
import os
import subprocess
import sys
from collections.abc import Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

ROOT = Path(__file__).parents[3]
REQUIREMENTS = Path(__file__).parent / "peers" / "requirements"
MAX_ANSWER_S, MAX_START_S = 45.0, 300.0
"""Guards against what never ends, and no measure."""


@dataclass(frozen=True)
class System:
    """A system that is compared."""

    name: str
    """Of its file in `peers`."""
    label: str
    package: str = ""
    """Whose version is shown."""

    environment: str = ""
    """Of the system whose environment it shares."""

    @property
    def requirements(self) -> Path:
        """The packages of its environment; without the file it runs in that of this repository."""
        return REQUIREMENTS / f"{self.environment or self.name}.txt"


SYSTEMS = (
    System("one_agent", "one agent: `create_agent`", "langchain"),
    System("waves", "LangGraph waves, by hand", "langgraph"),
    System("deep_agents", "deepagents", "deepagents"),
    System("supervisor", "langgraph-supervisor", "langgraph-supervisor"),
    System("openai_agents", "openai-agents", "openai-agents"),
    System("openai_agents_dbos", "openai-agents on DBOS", "dbos", "openai_agents"),
    System("ours", "**ours**"),
)


class SetUpFailed(Exception):
    """The environment of a system cannot be made here."""


def set_up(system: System, folder: Path) -> str:
    """Return the Python of a system; its environment is made once, and again for other pins.

    Raises:
        SetUpFailed: with the last line of pip.
    """
    if not system.requirements.exists():
        return sys.executable
    pins, home = system.requirements.read_text("utf-8"), folder / system.requirements.stem
    python, made = home / "bin" / "python", home / "made-from.txt"
    if made.exists() and made.read_text("utf-8") == pins:
        return str(python)
    install = ["-m", "pip", "install", "-q", "--disable-pip-version-check", "-r"]
    for command in (
        [sys.executable, "-m", "venv", "--clear", str(home)],
        [str(python), *install, str(system.requirements)],
    ):
        done = subprocess.run(command, capture_output=True, text=True, check=False)
        if done.returncode:
            raise SetUpFailed((done.stderr.strip() or "no reason given").splitlines()[-1])
    made.write_text(pins, "utf-8")
    return str(python)


@dataclass
class Contender:
    """A system in its process; the folder holds what it saves."""

    system: System
    python: str
    folder: Path
    versions: dict[str, str] = field(default_factory=dict)
    hangs: bool = False
    _process: asyncio.subprocess.Process | None = None

    async def start(self) -> None:
        """Start its process, and wait until everything is imported.

        Raises:
            SetUpFailed: it does not start.
        """
        self.folder.mkdir(parents=True, exist_ok=True)
        self.hangs = False
        module = f"tests.benchmarks.versus.peers.{self.system.name}"
        environment = {
            "PATH": os.environ["PATH"],
            "HOME": str(self.folder),
            "PYTHONPATH": str(ROOT),
            "LANGSMITH_TRACING": "false",
            "NO_PROXY": "127.0.0.1",
        }
        with (self.folder / "stderr.txt").open("ab") as errors:
            self._process = await asyncio.create_subprocess_exec(
                *(self.python, "-m", module, str(self.folder)),
                cwd=self.folder,
                env=environment,
                stdin=asyncio.subprocess.PIPE,
                stdout=asyncio.subprocess.PIPE,
                stderr=errors,
            )
        ready = await self._read_line(MAX_START_S)
        if "versions" not in ready:
            raise SetUpFailed(f"{self.system.name} does not start: {ready['error']}")
        self.versions = ready["versions"]

    async def run(self, base_url: str, thread: str, *, is_resumed: bool = False) -> dict[str, Any]:
        """Ask for a run; what goes wrong is in `error`."""
        assert self._process and self._process.stdin, "it has been started"
        order = {"base_url": base_url, "thread": thread, "is_resumed": is_resumed}
        self._process.stdin.write(json.dumps(order).encode() + b"\n")
        return await self._read_line()

    async def restart(self) -> None:
        """Kill its process, and start another."""
        await self.kill()
        await self.start()

    async def kill(self) -> None:
        """End its process as a crash would: nothing is closed."""
        if self._process and self._process.returncode is None:
            self._process.kill()
            await self._process.wait()

    async def _read_line(self, max_s: float = MAX_ANSWER_S) -> dict[str, Any]:
        assert self._process and self._process.stdout, "it has been started"
        while True:
            try:
                line = await asyncio.wait_for(self._process.stdout.readline(), max_s)
            except TimeoutError:
                self.hangs = True
                return {"error": f"no answer after {max_s:.0f} s"}
            if not line:
                lines = (self.folder / "stderr.txt").read_text("utf-8").splitlines()
                return {"error": lines[-1] if lines else "its process ended"}
            if line.startswith(b"{"):
                found: dict[str, Any] = json.loads(line)
                return found


def make_contenders(
    systems: Sequence[System], environments: Path, folder: Path, skipped: list[str]
) -> list[Contender]:
    """Set the systems up; of one that cannot be, the reason is added to `skipped`."""
    made = []
    for system in systems:
        try:
            made.append(Contender(system, set_up(system, environments), folder / system.name))
        except SetUpFailed as error:
            skipped.append(f"{system.label}: {error}")
    return made
