"""A server on which remote workers are: foreign graphs, and one of our teams."""

import json
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path

from tests.integration.dev_server import DevServer, dev_server

FOREIGN = ("echo", "wait", "ask", "approve", "fail")
OURS = "expert_router"
GRAPHS = Path(__file__).with_name("graphs.py")


@dataclass(frozen=True)
class FarSide:
    """A server that answers, and the folder in which its graphs note their calls."""

    server: DevServer
    place: Path

    @property
    def url(self) -> str:
        return self.server.url

    def list_calls(self) -> list[str]:
        """Return what the graphs have noted."""
        log = self.place / "calls.log"
        return log.read_text().splitlines() if log.exists() else []

    def let_go(self) -> None:
        """Let the graph that waits end."""
        (self.place / "go").touch()

    def forget(self) -> None:
        """Forget the calls, and let the next call wait again."""
        for name in ("calls.log", "go"):
            (self.place / name).unlink(missing_ok=True)


@contextmanager
def far_side(folder: Path, **env: str) -> Iterator[FarSide]:
    """Start the server; it ends with the block."""
    (folder / "far_graphs.py").symlink_to(GRAPHS)
    graphs = {name: f"./far_graphs.py:{name}" for name in FOREIGN}
    graphs[OURS] = f"./teams/{OURS}/studio.py:graph"
    config = {"dependencies": ["."], "graphs": graphs, "env": {"LANGSMITH_TRACING": "false"}}
    (folder / "langgraph.json").write_text(json.dumps(config))
    with dev_server(folder, FAR_SIDE=str(folder), **env) as server:
        yield FarSide(server, folder)
