"""The servers that the live page is driven against: that of `supervise ui`, and Aegra."""

from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Final

from graph.settings import DEFAULT_DATABASE
from tests.cluster.cluster import Cluster
from tests.cluster.instance import Instance
from tests.integration.ui_server import ui_server
from tests.local_servers import QuietHandler, serve

NAMES: Final = ("dev", "aegra")


@contextmanager
def run_server(
    name: str, folder: Path, endpoint: str, *teams: str, **paths: str
) -> Iterator[dict[str, str]]:
    """Start a server whose teams use the model endpoint, in a folder.

    Yields its `url`; for Aegra also `control`, an address whose `/kill` and `/start` end and start
    the instance.

    Args:
        teams: those that `supervise ui` serves; all if none is named.
        paths: variables that name files of the folder, as a user would write them there.
    """
    if name == "aegra":
        variables = {each: str(folder / path) for each, path in paths.items()}
        variables["SUPERVISE_DATABASE_URL"] = f"sqlite:///{folder / DEFAULT_DATABASE}"
        with Cluster(1, endpoint=endpoint, variables=variables) as cluster:
            [instance] = cluster.instances
            with _control(instance) as control:
                yield {"url": instance.url, "control": control}
        return
    with ui_server(
        folder, *teams, OPENAI_BASE_URL=endpoint, OPENAI_API_KEY="sk-test", **paths
    ) as server:
        yield {"url": server.url}


@contextmanager
def _control(instance: Instance) -> Iterator[str]:
    class Handler(QuietHandler):
        def do_GET(self) -> None:
            if self.path == "/kill":
                instance.kill()
            else:
                instance.start()
            self.answer(200)

    with serve(Handler) as url:
        yield url
