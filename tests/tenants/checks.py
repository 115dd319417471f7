"""What holds on every server that has users."""

import asyncio
from pathlib import Path
from typing import Any

import pytest

from extensions.server.run_connection import ServerThreadUnknown
from extensions.server.runs_command import astop_on_server
from graph.settings import Settings
from graph.stores.run_database import build_stop_namespace
from graph.topology.stop_watch import POLL_INTERVAL_S
from tests.tenants.calls import ASK, TEAM, YEARLY, Call
from tests.tenants.world import CANARY, World

OWN_NAMESPACES = ('"namespace":["bob"', '"namespace":["users","bob"', '[["bob"', '[["users","bob"')
"""Bob may call a namespace of his own as he likes, also `alice`."""


def check_call(world: World, call: Call, status: int, before: dict[str, Any]) -> None:
    """Bob's call has this status, tells nothing of Alice's, and changes nothing of hers."""
    answer = world.send("bob", call.method, call.path, call.body)

    assert answer.status_code == status, answer.text[:500]
    assert CANARY not in answer.text
    compact = answer.text.replace(" ", "")
    assert "alice" not in compact or any(name in compact for name in OWN_NAMESPACES)
    assert world.read() == before


def check_token_is_needed(world: World, calls: list[Call]) -> None:
    """No call is answered without a token, with a wrong one, or with the header of Studio."""
    wrong = [{}, {"Authorization": "Bearer alice.guess"}, {"Authorization": "Basic YTpi"}]
    wrong += [{"x-auth-scheme": "langsmith"}, {"x-supervise-user": "alice"}]
    with world.client() as client:
        for call in calls:
            path, body = world.fill(call.path), call.body
            answers = [client.request(call.method, path, json=body, headers=each) for each in wrong]
            assert {answer.status_code for answer in answers} == {401}, call


def check_new_things_are_the_callers(world: World) -> None:
    """What Bob creates in Alice's name is his."""
    made = world.send("bob", "POST", "/threads", {"metadata": {"owner": "alice"}}).json()
    changed = world.send(
        "bob", "PATCH", f"/threads/{made['thread_id']}", {"metadata": {"owner": "alice"}}
    )

    assert made["metadata"]["owner"] == "bob"
    assert changed.json()["metadata"]["owner"] == "bob"
    assert world.send("alice", "GET", f"/threads/{made['thread_id']}").status_code == 404


def check_kept_stateless_runs_are_the_callers(world: World) -> None:
    """A thread that a run without one leaves behind is its user's."""
    body = {**ASK, "on_completion": "keep", "metadata": {"owner": "alice"}}
    path = f"/threads/{world.send('bob', 'POST', '/runs', body).json()['thread_id']}"

    assert world.send("bob", "GET", path).json()["metadata"]["owner"] == "bob"
    assert world.send("alice", "GET", path).status_code == 404


def check_no_file_of_the_server_is_read(world: World, folder: Path) -> None:
    """Names and addresses in a request stay words; settings of the server cannot be given."""
    secret = folder / "secret.txt"
    secret.write_text("words-of-the-server", encoding="utf-8")
    block = {"type": "file", "filename": "a.txt", "mime_type": "text/plain", "url": secret.as_uri()}
    given = {
        "messages": [{"role": "user", "content": [{"type": "text", "text": "Compare."}, block]}],
        "materials": {str(secret): secret.as_uri(), "../../secret.txt": str(secret)},
    }
    thread = world.send("bob", "POST", "/threads", {}).json()["thread_id"]
    path = f"/threads/{thread}/runs/wait"

    ended = world.send("bob", "POST", path, {"assistant_id": TEAM, "input": given})
    state = world.send("bob", "GET", f"/threads/{thread}/state")
    refused = [
        world.send("bob", "POST", path, {**ASK, "context": {name: str(folder)}})
        for name in ("sql_url", "documents", "team", "mcp", "openai_base_url", "fast_base_url")
    ]

    assert ended.json()["status"] == "partial"  # the address was not fetched
    assert "words-of-the-server" not in ended.text + state.text
    assert {answer.status_code for answer in refused} == {422}


def check_no_assistant_is_published(world: World) -> None:
    """An assistant that claims to be the server's is seen by its owner alone."""
    body = {"graph_id": TEAM, "name": "trap", "context": {"max_tasks": 7}}
    made = world.send("bob", "POST", "/assistants", {**body, "metadata": {"created_by": "system"}})
    own = f"/assistants/{made.json()['assistant_id']}"
    world.send("bob", "PATCH", own, {"metadata": {"created_by": "system", "owner": "alice"}})

    assert world.send("bob", "GET", own).status_code == 200
    assert world.send("alice", "GET", own).status_code == 404
    assert "trap" not in world.send("alice", "POST", "/assistants/search", {}).text


def check_crons_take_a_permission(world: World) -> None:
    """A user without the permission creates no run that repeats."""
    refused = world.send("carol", "POST", "/runs/crons", YEARLY)

    assert refused.status_code == 403
    assert "crons" in refused.text


def check_proxy_names_the_user(world: World) -> None:
    """A proxy acts for the user that it names, and for no user without a name."""
    with world.client("gateway") as client:
        path = world.fill("/threads/$done")
        seen = {
            name: client.get(path, headers={"X-Supervise-User": name}).status_code
            for name in ("alice", "bob", "dora@example.org", "system", "a b", "")
        }
    with world.client("bob") as client:
        forged = client.get(path, headers={"X-Supervise-User": "alice"})

    assert seen == {
        "alice": 200,
        "bob": 404,
        "dora@example.org": 404,
        "system": 401,
        "a b": 401,
        "": 401,
    }
    assert forged.status_code == 404


def check_other_models_cannot_be_chosen(world: World) -> None:
    """A context, a configurable and a saved assistant choose only among the server's models."""
    thread = world.send("bob", "POST", "/threads", {}).json()["thread_id"]
    other = {"model_fast": "anthropic:claude-x", "model_strong": "ollama:x"}
    saved = world.send("bob", "POST", "/assistants", {"graph_id": TEAM, "context": other}).json()
    asked = {"input": {"request": "Compare the parts."}}
    asks = [
        {**asked, "assistant_id": TEAM, "context": other},
        {**asked, "assistant_id": TEAM, "config": {"configurable": other}},
        {**asked, "assistant_id": saved["assistant_id"]},
    ]

    answers = [world.send("bob", "POST", f"/threads/{thread}/runs/wait", each) for each in asks]

    for answer in answers:
        assert "is not one of this server's models" in answer.text


async def check_only_the_owner_stops_a_task(world: World) -> None:
    """Bob's requests, wherever he writes them, leave Alice's run at work; hers ends its task."""
    thread = world.ids["active"]
    place = build_stop_namespace(thread)
    forged = [place, ("alice", *place), ("users", "alice", *place)]
    for namespace in forged:
        item = {"namespace": list(namespace), "key": "A", "value": {"thread": thread}}
        world.send("bob", "PUT", "/store/items", item)
    bob, alice = (Settings(server_key=world.tokens[name]) for name in ("bob", "alice"))
    with pytest.raises(ServerThreadUnknown):
        await astop_on_server(thread, world.url, "A", settings=bob)
    await asyncio.sleep(2 * POLL_INTERVAL_S)  # the run has looked for requests
    assert world.send("alice", "GET", "/threads/$active").json()["status"] == "busy"

    ended = await astop_on_server(thread, world.url, "A", settings=alice)

    assert ended == {"A": "stopped"}


OF_EVERY_SERVER = (
    check_new_things_are_the_callers,
    check_kept_stateless_runs_are_the_callers,
    check_no_assistant_is_published,
    check_crons_take_a_permission,
    check_proxy_names_the_user,
    check_other_models_cannot_be_chosen,
)
"""What each server with users must pass, in this order."""
