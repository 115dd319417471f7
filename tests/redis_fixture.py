"""A Redis of a test's own, or the reason why there is none."""

from collections.abc import Iterator
from pathlib import Path

import pytest

from tests.cluster.environment import ClusterUnavailable
from tests.cluster.services import RedisServer


@pytest.fixture
def redis_server(tmp_path: Path) -> Iterator[RedisServer]:
    """Run an empty Redis, which the test may stop and start."""
    try:
        server = RedisServer(tmp_path / "redis")
    except ClusterUnavailable as error:
        pytest.skip(str(error))
    yield server
    server.kill()
