"""Instances of Aegra that have users, over one database."""

import json
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

from tests.cluster.cluster import Cluster
from tests.cluster.environment import ROOT
from tests.endpoint import Endpoint
from tests.tenants.calls import TEAM


@contextmanager
def cluster_with_users(
    users: Path, endpoint: Endpoint, *, instances: int = 2, **variables: str
) -> Iterator[Cluster]:
    """Start instances that know the users of a file."""
    config = users.parent / "aegra.json"
    content = {
        "graphs": {TEAM: f"{ROOT}/teams/{TEAM}/studio.py:graph"},
        "auth": {"path": f"{ROOT}/extensions/server/auth.py:auth"},
        "http": {"app": "extensions.server.studio_access:app"},
    }
    config.write_text(json.dumps(content), encoding="utf-8")
    given = {"SUPERVISE_USERS": str(users), "FF_V2_EVENT_STREAMING": "true", **variables}
    with Cluster(instances, endpoint=endpoint.base_url, config=config, variables=given) as cluster:
        yield cluster
