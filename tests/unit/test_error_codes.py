"""The code of an error, by which scripts know it."""

import pytest

from graph.stores.sqlite_lock import DatabaseLocked
from nodes.errors import McpServerFailed, SupervisorError, ThreadBusy, UsageError
from nodes.net.connection import RemoteInvalid


@pytest.mark.parametrize(
    ("kind", "code"),
    [
        (SupervisorError, "ERROR"),
        (UsageError, "USAGE"),
        (ThreadBusy, "THREAD_BUSY"),
        (McpServerFailed, "MCP_SERVER_FAILED"),
        (DatabaseLocked, "STORE_LOCKED"),
        (RemoteInvalid, "REMOTE_REFUSED"),
    ],
)
def test_the_code_of_an_error_is_its_name_unless_it_has_one_of_its_own(kind, code):
    assert kind.code == code
