"""What one user has on a server, and how the other one tries to reach it."""

import json
import string
import time
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import httpx

from extensions.server.users_file import add_user
from tests.endpoint import Endpoint, Scenario, script_tasks
from tests.tenants.calls import TEAM

CANARY = "turnover-of-the-secret-subsidiary"
REQUEST = f"Compare the parts of the {CANARY}."
START_TIMEOUT_S = 30.0
QUICK = script_tasks({"A": (), "B": ("A",)})


@dataclass
class World:
    """Alice's things on a server, and the clients of all users."""

    url: str
    tokens: dict[str, str]
    ids: dict[str, str] = field(default_factory=dict)
    _open: dict[str, httpx.Client] = field(default_factory=dict)
    """A client of each user for all calls: a new one reads the certificates of the machine."""

    def client(self, user: str = "") -> httpx.Client:
        """Return a client with a user's token; without a name one without a token."""
        headers = {"Authorization": f"Bearer {self.tokens[user]}"} if user else {}
        return httpx.Client(base_url=self.url, headers=headers, timeout=30)

    def send(self, user: str, method: str, path: str, body: Any = None) -> httpx.Response:
        """Send a call, with the ids in place of the words with `$`."""
        filled = None if body is None else json.loads(self.fill(json.dumps(body)))
        if user not in self._open:
            self._open[user] = self.client(user)
        return self._open[user].request(method, self.fill(path), json=filled)

    def read(self) -> dict[str, Any]:
        """Return all that Alice can see of her things."""
        paths = ["/threads/$done", "/threads/$done/state", "/threads/$done/runs/$run"]
        paths += ["/threads/$waiting", "/threads/$waiting/runs", "/threads/$active/runs/$working"]
        paths += ["/assistants/$assistant", "/assistants/$shared"]
        found = {path: self.send("alice", "GET", path) for path in paths}
        found["cron"] = self.send("alice", "POST", "/runs/crons/search", {})
        found["item"] = self.send("alice", "GET", "/store/items?namespace=notes&key=note")
        return {path: (answer.status_code, answer.json()) for path, answer in found.items()}

    def fill(self, text: str) -> str:
        """Return a text with ids in place of the words with `$`."""
        return string.Template(text).safe_substitute(self.ids)


def write_users(path: Path) -> dict[str, str]:
    """Write a file with the users of these tests; return their tokens."""
    with_crons = {name: add_user(path, name, has_crons=True) for name in ("alice", "bob")}
    return with_crons | {
        "carol": add_user(path, "carol"),
        "gateway": add_user(path, "gateway", is_proxy=True),
    }


def build_world(url: str, tokens: dict[str, str], endpoint: Endpoint) -> World:
    """Let Alice run, wait, work and keep things on a server."""
    world = World(url, tokens)
    ids = world.ids
    ids["own"] = _create(world, "bob", "/threads", {})["thread_id"]
    for name in ("done", "waiting", "active"):
        ids[name] = _create(world, "alice", "/threads", {})["thread_id"]
    asked = {"assistant_id": TEAM, "input": {"request": REQUEST, "materials": {"a.txt": CANARY}}}
    endpoint.load_scenario(Scenario(tasks=QUICK))
    _create(world, "alice", "/threads/$done/runs/wait", asked)
    # A thread without a run has no graph, and a server does not look further into it.
    own = {"assistant_id": TEAM, "input": {"request": "Compare the parts."}}
    _create(world, "bob", "/threads/$own/runs/wait", own)
    ids["run"] = world.send("alice", "GET", "/threads/$done/runs").json()[0]["run_id"]
    state = world.send("alice", "GET", "/threads/$done/state").json()
    ids["checkpoint"] = state["checkpoint"]["checkpoint_id"]
    context = {"approve_plan": True}
    _create(world, "alice", "/threads/$waiting/runs/wait", {**asked, "context": context})
    assistant = {"graph_id": TEAM, "name": CANARY, "context": {"max_tasks": 5}}
    ids["assistant"] = _create(world, "alice", "/assistants", assistant)["assistant_id"]
    shared = world.send("alice", "POST", "/assistants/search", {"graph_id": TEAM}).json()
    ids["shared"] = next(
        each["assistant_id"] for each in shared if each["metadata"].get("created_by") == "system"
    )
    item = {"namespace": ["notes"], "key": "note", "value": {"text": CANARY}}
    assert world.send("alice", "PUT", "/store/items", item).status_code == 204
    _create(world, "alice", "/runs/crons", {**asked, "schedule": "0 0 1 1 *", "enabled": False})
    ids["cron"] = world.send("alice", "POST", "/runs/crons/search", {}).json()[0]["cron_id"]
    endpoint.requests.clear()
    endpoint.load_scenario(Scenario(tasks=script_tasks({"A": ()}, latency_s={"A": 600.0})))
    ids["working"] = _create(world, "alice", "/threads/$active/runs", asked)["run_id"]
    _wait_until_it_works(endpoint)
    endpoint.load_scenario(Scenario(tasks=QUICK))
    return world


def _wait_until_it_works(endpoint: Endpoint) -> None:
    gives_up_s = time.monotonic() + START_TIMEOUT_S
    while not endpoint.select_calls(task="A"):
        assert time.monotonic() < gives_up_s, "the run has not begun its task"
        time.sleep(0.05)  # only the server knows, and it has no way to call back


def _create(world: World, user: str, path: str, body: Any) -> Any:
    answer = world.send(user, "POST", path, body)
    assert answer.status_code == 200, (path, answer.status_code, answer.text[:500])
    return answer.json()
