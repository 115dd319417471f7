"""The servers that the live page is driven against: `langgraph dev`, and Aegra."""

from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Final

from tests.cluster.cluster import Cluster
from tests.integration.dev_server import dev_server

NAMES: Final = ("dev", "aegra")


@contextmanager
def run_server(name: str, folder: Path, endpoint: str, **variables: str) -> Iterator[str]:
    """Start a server whose teams use the model endpoint; yield its address."""
    if name == "aegra":
        with Cluster(1, endpoint=endpoint, variables=variables) as cluster:
            yield cluster.instances[0].url
        return
    given = {"OPENAI_BASE_URL": endpoint, "OPENAI_API_KEY": "sk-test", **variables}
    with dev_server(folder, **given) as server:
        yield server.url
