"""Calls with which one user tries to reach what is another's, as a table.

A word with `$` stands for an id of `tests/tenants/world.py`. `dev` and `aegra` are the statuses
that LangGraph's development server and Aegra answer with; None: the server has no such route.
"""

from dataclasses import dataclass
from typing import Any

TEAM = "market_analysis"
ASK = {"assistant_id": TEAM, "input": {"request": "Repeat all that you know."}}
ACCEPT = {"assistant_id": TEAM, "command": {"resume": "accept"}}
FORGED = {"owner": "alice"}
CHECKPOINT = {"thread_id": "$done", "checkpoint_id": "$checkpoint", "checkpoint_ns": ""}
STOPPED = {"run_id": "$working", "status": "interrupted"}
NOTE = {"key": "note", "value": {"x": 1}}
CONTINUE = {"assistant_id": TEAM, "input": {"continue_run": True}}
VIEWS = ("supervise-trace", "supervise-summary", "__writer")
"""Namespaces of a thread in which this application keeps something, or shows it."""
FIRST = "00000000-0000-0000-0000-000000000000"
YEARLY = {**ASK, "schedule": "0 0 1 1 *"}


@dataclass(frozen=True)
class Call:
    """One request of the attacker's."""

    method: str
    path: str
    body: Any = None  # JSON
    dev: int | None = 404
    aegra: int | None = 404

    def __str__(self) -> str:
        return f"{self.method} {self.path} {self.body if self.body is not None else ''}"[:90]


def answered(method: str, path: str, body: Any = None) -> Call:
    """Return a request that both servers answer, with what is the attacker's own."""
    return Call(method, path, body, dev=200, aegra=200)


def own_run(body: dict[str, Any]) -> Call:
    """Return a run of the attacker's own thread."""
    return answered("POST", "/threads/$own/runs/wait", body)


def a2a(method: str, **params: Any) -> dict[str, Any]:
    """Return a call of the A2A protocol."""
    return {"jsonrpc": "2.0", "id": "1", "method": method, "params": params}


MESSAGE = {
    "role": "user",
    "kind": "message",
    "messageId": "m1",
    "contextId": "$done",
    "parts": [{"kind": "text", "text": "Repeat all that you know."}],
}


def list_view_calls(namespace: str) -> list[Call]:
    """Return calls that ask for Alice's trace: of her thread, and as if it were Bob's."""
    at = {"checkpoint_ns": namespace, "checkpoint_id": FIRST}
    foreign = {**at, "thread_id": "$done"}
    return [
        Call("POST", "/threads/$done/state/checkpoint", {"checkpoint": at}),
        Call("GET", f"/threads/$done/state?checkpoint_ns={namespace}"),
        Call("GET", f"/threads/$done/state/{FIRST}?checkpoint_ns={namespace}"),
        Call("GET", f"/threads/$done/history?checkpoint_ns={namespace}"),
        Call("POST", "/threads/$done/history", {"checkpoint": at, "checkpoint_ns": namespace}),
        answered("POST", "/threads/$own/state/checkpoint", {"checkpoint": foreign}),
        answered(
            "POST", "/threads/$own/history", {"checkpoint": foreign, "checkpoint_ns": namespace}
        ),
        Call(
            "POST",
            "/threads/$own/state",
            {"values": {"request": "x"}, "checkpoint": foreign, "checkpoint_ns": namespace},
            dev=400,
            aegra=500,
        ),
    ]


def reserved(name: str, value: Any) -> Call:
    """Return a run of Bob's own that gives the run a key of the code."""
    body = {**ASK, "config": {"configurable": {name: value}}}
    return Call("POST", "/threads/$own/runs/wait", body, dev=422, aegra=422)


COMMAND = {"id": 1, "method": "run.start", "params": ASK}

THREADS = [
    Call("GET", "/threads/$done"),
    Call("PATCH", "/threads/$done", {"metadata": {"owner": "bob"}}),
    Call("DELETE", "/threads/$done"),
    Call("GET", "/threads/$done/state"),
    Call("GET", "/threads/$done/state/$checkpoint"),
    Call("POST", "/threads/$done/state/checkpoint", {"checkpoint": CHECKPOINT}),
    Call("POST", "/threads/$done/state", {"values": {"request": "changed"}}),
    Call("GET", "/threads/$done/history"),
    Call("POST", "/threads/$done/history", {"limit": 5}),
    Call("POST", "/threads/$done/copy", {}, dev=409, aegra=None),
    answered("POST", "/threads/$own/state/checkpoint", {"checkpoint": CHECKPOINT}),
    answered("POST", "/threads/$own/history", {"checkpoint": CHECKPOINT}),
    answered("POST", "/threads/$own/state", {"values": {"request": "x"}, "checkpoint": CHECKPOINT}),
    Call("POST", "/threads", {"thread_id": "$done", "if_exists": "do_nothing"}, dev=409, aegra=409),
    Call("POST", "/threads", {"thread_id": "$done"}, dev=409, aegra=409),
    answered("POST", "/threads", {"metadata": FORGED}),
    answered("POST", "/threads/search", {}),
    answered("POST", "/threads/search", {"metadata": FORGED}),
    answered("POST", "/threads/search", {"ids": ["$done"]}),
    Call("POST", "/threads/count", {"metadata": FORGED}, dev=200, aegra=None),
    Call("GET", "/threads", dev=None, aegra=200),
    Call("POST", "/threads/prune", {"thread_ids": ["$done"]}, aegra=200),
    Call("GET", "/threads/$done/stream", dev=200, aegra=None),
    Call("POST", "/threads/$done/stream/events", {"channels": ["values"]}, dev=200),
    Call("POST", "/threads/$done/commands", COMMAND, dev=200),
]
RUNS = [
    Call("POST", "/runs/cancel", {"status": "all"}, aegra=204),  # while Bob himself has none
    Call("GET", "/threads/$done/runs", aegra=200),
    Call("GET", "/threads/$done/runs/$run"),
    Call("GET", "/threads/$own/runs/$run"),
    Call("GET", "/threads/$done/runs/$run/join"),
    Call("GET", "/threads/$done/runs/$run/stream", dev=200),
    Call("POST", "/threads/$active/runs/$working/cancel", {}),
    Call("POST", "/threads/$active/runs/$working/cancel?action=rollback", {}, aegra=422),
    Call("GET", "/threads/$active/runs/$working/stream", dev=200),
    Call("DELETE", "/threads/$done/runs/$run"),
    Call(
        "PATCH",
        "/threads/$active/runs/$working",
        {"run_id": "$working", "status": "interrupted"},
        dev=None,
    ),
    Call("POST", "/threads/$done/runs", ASK),
    Call("POST", "/threads/$done/runs/wait", ASK),
    Call("POST", "/threads/$done/runs/stream", ASK),
    Call("POST", "/threads/$done/runs/wait", {**ASK, "if_not_exists": "create"}),
    Call("POST", "/threads/$waiting/runs/wait", ACCEPT),
    Call("POST", "/threads/$active/runs", {**ASK, "multitask_strategy": "rollback"}),
    own_run({**ASK, "config": {"configurable": CHECKPOINT}}),
    own_run({**ASK, "checkpoint": CHECKPOINT}),
    own_run({**ASK, "checkpoint_id": "$checkpoint"}),
    own_run({**ASK, "config": {"configurable": {"langgraph_auth_user": {"identity": "alice"}}}}),
    own_run({**ASK, "config": {"configurable": {"langgraph_auth_user_id": "alice"}}}),
    answered("POST", "/threads/$own/runs", {**ASK, "metadata": FORGED}),
    Call("POST", "/threads/$own/runs", {**ASK, "assistant_id": "$assistant"}),
    Call(
        "POST", "/threads/$own/runs", {**ASK, "webhook": "/threads/$done/runs"}, dev=422, aegra=200
    ),
    Call(
        "POST", "/threads/$own/runs", {**ASK, "webhook": "https://evil.test/"}, dev=422, aegra=200
    ),
    answered("POST", "/runs/wait", {**ASK, "thread_id": "$done"}),
    Call(
        "POST",
        "/runs/batch",
        [{**ASK, "thread_id": "$done"}, {**ASK, "metadata": FORGED}],
        dev=200,
        aegra=None,
    ),
    Call("POST", "/runs/cancel", {"thread_id": "$active", "run_ids": ["$working"]}),
]
HIDDEN = {**CHECKPOINT, "checkpoint_ns": "supervise-trace"}
TRACES = [
    *(call for namespace in VIEWS for call in list_view_calls(namespace)),
    *(
        Call("POST", f"/threads/{thread}/runs", CONTINUE)
        for thread in ("$done", "$waiting", "$active")
    ),
    own_run({**ASK, "config": {"configurable": HIDDEN}}),
    reserved("__run_scope", {}),
    reserved("__pregel_task_id", "x"),
    reserved("__pregel_checkpointer", True),
]
ASSISTANTS = [
    Call("GET", "/assistants/$assistant"),
    Call("PATCH", "/assistants/$assistant", {"name": "bob's"}),
    Call("DELETE", "/assistants/$assistant"),
    Call("POST", "/assistants/$assistant/versions", {}),
    Call("POST", "/assistants/$assistant/latest", {"version": 1}),
    Call("GET", "/assistants/$assistant/graph"),
    Call("GET", "/assistants/$assistant/schemas"),
    Call("GET", "/assistants/$assistant/subgraphs"),
    answered("POST", "/assistants/search", {"metadata": FORGED}),
    answered("POST", "/assistants/search", {}),
    answered("POST", "/assistants/count", {"metadata": FORGED}),
    Call("GET", "/assistants", dev=None, aegra=200),
    Call(
        "POST",
        "/assistants",
        {"assistant_id": "$assistant", "graph_id": TEAM, "if_exists": "do_nothing"},
        dev=409,
        aegra=409,
    ),
    Call("PATCH", "/assistants/$shared", {"name": "bob's", "context": {"max_tasks": 1}}),
    Call("POST", "/assistants/$shared/latest", {"version": 1}),
    Call("DELETE", "/assistants/$shared"),
]
CRONS = [
    Call("GET", "/runs/crons/$cron", aegra=None),
    Call("PATCH", "/runs/crons/$cron", {"schedule": "* * * * *"}),
    Call("DELETE", "/runs/crons/$cron"),
    answered("POST", "/runs/crons/search", {}),
    answered("POST", "/runs/crons/search", {"thread_id": "$done"}),
    answered("POST", "/runs/crons/count", {}),
    Call("POST", "/threads/$done/runs/crons", YEARLY),
    Call("POST", "/runs/crons", {**YEARLY, "assistant_id": "$assistant"}),
]
STORE = [
    Call("PUT", "/store/items", {**NOTE, "namespace": ["alice"]}, dev=204, aegra=204),
    Call("PUT", "/store/items", {**NOTE, "namespace": ["users", "alice"]}, dev=204, aegra=204),
    answered("GET", "/store/items?namespace=alice&key=note"),
    Call("GET", "/store/items?namespace=users.alice.notes&key=note", dev=200),
    Call("GET", "/store/items?namespace=alice.notes&key=note", dev=200),
    Call(
        "DELETE",
        "/store/items",
        {"namespace": ["alice", "notes"], "key": "note"},
        dev=204,
        aegra=204,
    ),
    Call(
        "DELETE",
        "/store/items",
        {"namespace": ["users", "alice", "notes"], "key": "note"},
        dev=204,
        aegra=204,
    ),
    answered("POST", "/store/items/search", {"namespace_prefix": ["alice"]}),
    answered("POST", "/store/items/search", {"namespace_prefix": []}),
    answered("POST", "/store/namespaces", {}),
    answered("POST", "/store/namespaces", {"prefix": ["alice"]}),
]
PROTOCOLS = [
    Call("POST", "/a2a/$shared", a2a("message/send", message=MESSAGE), dev=200, aegra=None),
    Call(
        "POST", "/a2a/$shared", a2a("tasks/get", id="$run", contextId="$done"), dev=200, aegra=None
    ),
    Call(
        "POST",
        "/a2a/$shared",
        a2a("tasks/cancel", id="$working", contextId="$active"),
        dev=200,
        aegra=None,
    ),
    Call(
        "POST",
        "/a2a/$assistant",
        a2a("message/send", message={**MESSAGE, "contextId": "$own"}),
        dev=200,
        aegra=None,
    ),
    Call("POST", "/mcp", {"jsonrpc": "2.0", "id": 1, "method": "tools/list"}, dev=400, aegra=None),
]
CALLS = [*THREADS, *RUNS, *TRACES, *ASSISTANTS, *CRONS, *STORE, *PROTOCOLS]
