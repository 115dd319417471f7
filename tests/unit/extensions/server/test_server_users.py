"""The servers' hook for users: who a caller is, and what is refused before a server acts."""

from dataclasses import dataclass
from pathlib import Path
from typing import Any

import pytest
from langgraph_sdk import Auth

from extensions.server import auth as auth_module
from extensions.server.auth import build_auth, refuse_everybody
from extensions.server.authentication import Authenticator
from extensions.server.ownership import Admit, add_ownership
from extensions.server.users_file import add_user
from graph.settings import Settings

Refused = Auth.exceptions.HTTPException


@dataclass
class User:
    """A caller, as a server describes it."""

    identity: str = "bob"
    is_authenticated: bool = True


async def admit(user: str) -> None:
    """Let every run start."""


async def refuse_thread(user: str) -> None:
    """Let no thread be created."""
    raise Auth.exceptions.HTTPException(status_code=429, detail="too many threads")


def build_hook(admit_thread: Admit = admit) -> Auth:
    auth = Auth()
    add_ownership(auth, admit, admit_thread)
    return auth


async def ask(
    resource: str,
    action: str,
    value: Any,
    *,
    user: User | None = None,
    crons: bool = False,
    admit_thread: Admit = admit,
) -> Any:
    """Ask the handler that a server would choose."""
    auth = build_hook(admit_thread)
    handlers = auth._handlers
    chosen = handlers.get((resource, action)) or handlers.get((resource, "*"))
    context: Any = Auth.types.AuthContext(
        permissions=["crons"] if crons else [],
        user=user or User(),  # type: ignore[arg-type]  # what handlers read of one
        resource=resource,  # type: ignore[arg-type]
        action=action,  # type: ignore[arg-type]
    )
    handler: Any = (chosen or auth._global_handlers)[-1]
    return await handler(ctx=context, value=value)


@pytest.mark.parametrize(
    ("action", "value", "refused"),
    [
        ("create", {}, True),
        ("create_run", {"thread_id": None}, True),
        ("create_run", {"thread_id": "one", "if_not_exists": "create"}, True),
        ("create_run", {"thread_id": "one", "if_not_exists": "reject"}, False),
        ("search", {}, False),
        ("delete", {"thread_id": "one"}, False),
    ],
)
async def test_what_creates_a_thread_asks_whether_its_user_may_have_another(
    action: str, value: Any, refused: bool
) -> None:
    try:
        await ask("threads", action, value, admit_thread=refuse_thread)
    except Auth.exceptions.HTTPException as error:
        assert refused and error.status_code == 429
    else:
        assert not refused


async def test_a_new_thread_is_the_callers_whatever_the_client_sent() -> None:
    values: list[Any] = [{}, {"metadata": None}, {"metadata": {"owner": "alice", "x": 1}}]
    for value in values:
        assert await ask("threads", "create", value) == {"owner": "bob"}
        assert value["metadata"]["owner"] == "bob"


async def test_a_caller_without_a_token_is_refused_everywhere() -> None:
    studio = User("langgraph-studio-user", is_authenticated=False)

    for resource in ("threads", "assistants", "crons", "store"):
        with pytest.raises(Refused):
            await ask(resource, "search", {}, user=studio)


async def test_a_resource_without_a_handler_is_refused() -> None:
    assert await ask("secrets", "read", {}) is False


@pytest.mark.parametrize("url", ["/threads/1/runs", "https://example.org/x"])
async def test_no_result_is_sent_to_an_address_of_the_client(url: str) -> None:
    with pytest.raises(Refused, match="webhooks"):
        await ask("threads", "create_run", {"kwargs": {"webhook": url}})
    for value in ({"payload": {"webhook": url}}, {"webhook": url}):
        with pytest.raises(Refused, match="webhooks"):
            await ask("crons", "create", value, crons=True)


async def test_a_namespace_begins_with_the_caller() -> None:
    given: list[Any] = [("notes",), ("alice", "notes"), ("bob", "notes"), (), None]
    values = [{"namespace": each} for each in given]

    for value in values:
        await ask("store", "get", value)

    assert [value["namespace"] for value in values] == [
        ("bob", "notes"),
        ("bob", "alice", "notes"),
        ("bob", "notes"),
        ("bob",),
        ("bob",),
    ]


async def test_the_servers_own_assistants_are_read_and_not_changed() -> None:
    shared = {"created_by": "system"}

    assert await ask("assistants", "read", {}) == {"$or": [{"owner": "bob"}, shared]}
    for action in ("create", "update", "delete"):
        value: dict[str, Any] = {"metadata": dict(shared)}
        assert await ask("assistants", action, value) == {"owner": "bob"}
        assert action == "delete" or value["metadata"]["created_by"] == "bob"


async def test_a_changed_file_counts_and_a_broken_one_does_not(tmp_path: Path) -> None:
    path = tmp_path / "users.json"
    old = add_user(path, "bob")
    known = Authenticator(path, check_interval_s=0)

    new = add_user(path, "bob")
    with pytest.raises(Refused):
        await known.authenticate({"authorization": f"Bearer {old}"})
    path.write_text("{}")
    found = await known.authenticate({b"Authorization": f"Bearer {new}".encode()})

    assert found["identity"] == "bob"


async def test_a_user_who_is_removed_is_refused(tmp_path: Path) -> None:
    path = tmp_path / "users.json"
    token = add_user(path, "bob")
    known = Authenticator(path, check_interval_s=0)

    path.write_text('{"users": {}}')

    with pytest.raises(Refused):
        await known.authenticate({"authorization": f"Bearer {token}"})


def test_without_users_a_server_says_so_and_a_developers_does_not(
    caplog: pytest.LogCaptureFixture,
) -> None:
    build_auth(Settings(server_edition="inmem"))
    assert not caplog.records

    build_auth(Settings(server_edition=""))

    assert "SUPERVISE_USERS is not set" in caplog.text


async def test_a_hook_that_cannot_be_built_refuses_everybody(
    monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    monkeypatch.setenv("SUPERVISE_USERS", str(tmp_path / "missing.json"))

    hook = auth_module._build_from_environment()

    assert hook._authenticate_handler is not None
    with pytest.raises(Refused, match="not configured"):
        await hook._authenticate_handler({})
    assert refuse_everybody("x")._authenticate_handler is not None
