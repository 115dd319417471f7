"""LangSmith's place, as far as tracing and experiments need it: runs, datasets, feedback."""

import json
import threading
from collections.abc import Collection, Iterable, Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass, field
from datetime import UTC, datetime
from email.message import Message
from email.parser import BytesParser
from email.policy import HTTP
from io import BytesIO
from typing import Any, Literal
from uuid import uuid4

import zstandard

from tests.local_servers import QuietHandler, serve

IngestForm = Literal["batch", "multipart", "compressed"]
"""How a client sends runs: as plain JSON, in parts, in parts that are compressed."""
LIMITS = {
    "scale_up_qsize_trigger": 1000,
    "scale_up_nthreads_limit": 1,
    "scale_down_nempty_trigger": 4,
    "size_limit": 100,
    "size_limit_bytes": 20_000_000,
}


@dataclass
class LangSmithRecord:
    """What was sent."""

    url: str = ""
    form: IngestForm = "batch"
    requests: list[str] = field(default_factory=list)
    received_bytes: int = 0
    """Size of all bodies, compressed or not."""
    datasets: list[dict[str, Any]] = field(default_factory=list)
    examples: list[dict[str, Any]] = field(default_factory=list)
    sessions: list[dict[str, Any]] = field(default_factory=list)
    feedback: list[dict[str, Any]] = field(default_factory=list)
    runs: dict[str, dict[str, Any]] = field(default_factory=dict)
    """Runs of a trace by their ids; each is posted when it begins and patched when it ends."""

    _received: threading.Condition = field(default_factory=threading.Condition)

    def wait_for_end(self, timeout_s: float = 20.0) -> bool:
        """Wait until the root of a trace has ended, and return whether it has."""
        with self._received:
            return self._received.wait_for(
                lambda: any(run.get("end_time") for run in self.list_children()), timeout_s
            )

    def list_children(self, parent: str | None = None) -> list[dict[str, Any]]:
        """Return the runs directly inside a run, the roots without one, in the order they began."""
        found = [run for run in self.runs.values() if run.get("parent_run_id") == parent]
        return sorted(found, key=lambda run: str(run["start_time"]))

    def answer_request(
        self, method: str, path: str, body: bytes, headers: Mapping[str, str]
    ) -> Any:
        """Keep a request, and answer as LangSmith does."""
        place, _, query = path.partition("?")
        self.requests.append(f"{method} {place}")
        self.received_bytes += len(body)
        kind, *rest = place.strip("/").split("/")
        if place == "/info":
            return self._describe_server()
        if place in ("/runs/batch", "/runs/multipart"):
            is_batch = place == "/runs/batch"
            runs = read_batch(body) if is_batch else read_multipart(body, headers)
            with self._received:
                merge_runs(self.runs, runs)
                self._received.notify_all()
            return {}
        if method == "GET":
            is_first_page = "offset=" not in query or "offset=0" in query
            held: Any = {"datasets": self.datasets, "examples": self.examples}.get(kind, {})
            return held if is_first_page else []
        if method == "PATCH":
            return self._change_item(kind, rest, json.loads(body))
        lists = {
            "datasets": self.datasets,
            "examples": self.examples,
            "sessions": self.sessions,
            "feedback": self.feedback,
        }
        if kind not in lists:
            return {}
        given = json.loads(body)
        made = [_add_item(lists[kind], item) for item in (given if rest == ["bulk"] else [given])]
        return made if rest == ["bulk"] else made[0]

    def _describe_server(self) -> dict[str, Any]:
        in_parts = self.form != "batch"
        return {
            "batch_ingest_config": {**LIMITS, "use_multipart_endpoint": in_parts},
            "instance_flags": {"zstd_compression_enabled": self.form == "compressed"},
        }

    def _change_item(self, kind: str, rest: list[str], given: dict[str, Any]) -> Any:
        (held,) = (one for one in [*self.examples, *self.sessions] if one["id"] == rest[0])
        if kind == "examples":
            held |= {key: value for key, value in given.items() if value}
        return held


@contextmanager
def run_langsmith_server(form: IngestForm = "batch") -> Iterator[LangSmithRecord]:
    """Serve on a free port."""
    kept = LangSmithRecord(form=form)

    class Handler(QuietHandler):
        def record(self) -> None:
            body = self._read_body()
            headers = {name.lower(): value for name, value in self.headers.items()}
            answer = kept.answer_request(self.command, self.path, body, headers)
            self.answer(200, json.dumps(answer).encode(), content_type="application/json")

        do_GET = do_POST = do_PATCH = record

        def _read_body(self) -> bytes:
            if self.headers.get("transfer-encoding") != "chunked":
                return self.rfile.read(int(self.headers.get("content-length") or 0))
            chunks = []
            while size := int(self.rfile.readline(), 16):
                chunks.append(self.rfile.read(size))
                self.rfile.readline()
            self.rfile.readline()
            return b"".join(chunks)

    with serve(Handler) as kept.url:
        yield kept


def _add_item(items: list[dict[str, Any]], item: dict[str, Any]) -> dict[str, Any]:
    now = datetime.now(UTC).isoformat()
    made = {"id": str(uuid4()), "created_at": now, "start_time": now, "tenant_id": str(uuid4())}
    items.append({**made, **{key: value for key, value in item.items() if value is not None}})
    return items[-1]


Run = dict[str, Any]


def read_batch(body: bytes) -> list[Run]:
    """Return the runs of `/runs/batch`, begun ones before ended ones."""
    batch = json.loads(body)
    return [*batch.get("post", ()), *batch.get("patch", ())]


def read_multipart(body: bytes, headers: Mapping[str, str]) -> list[Run]:
    """Return the runs of `/runs/multipart`.

    A part is named `post.ID` or `patch.ID`, and `post.ID.inputs` and so on for the large fields.
    """
    if headers.get("content-encoding") == "zstd":
        body = zstandard.ZstdDecompressor().stream_reader(BytesIO(body)).read()
    head = f"content-type: {headers['content-type']}\r\n\r\n".encode()
    message = BytesParser(policy=HTTP).parsebytes(head + body)
    runs: dict[str, Run] = {}
    for part in message.iter_parts():
        _add_part(runs, part)
    return list(runs.values())


def merge_runs(held: dict[str, Run], runs: Iterable[Run]) -> None:
    """Add runs to those held, by id; what is given later completes what was given earlier."""
    for run in runs:
        given = {key: value for key, value in run.items() if value is not None}
        held[run["id"]] = held.get(run["id"], {}) | given


def _add_part(runs: dict[str, Run], part: Message) -> None:
    name = str(part.get_param("name", header="content-disposition"))
    kind, run_id, *fields = name.split(".")
    if kind not in ("post", "patch"):
        return
    value = json.loads(part.get_payload(decode=True))  # type: ignore[arg-type]  # one part's bytes
    run = runs.setdefault(f"{kind}.{run_id}", {"id": run_id})
    run |= {fields[0]: value} if fields else value


def format_tree(
    record: LangSmithRecord,
    parent: str | None = None,
    *,
    keys: Collection[str] = (),
    depth: int = 0,
) -> Iterator[str]:
    """Yield a line for each run: its name, its kind, its error, the metadata of these keys."""
    for run in record.list_children(parent):
        known = run.get("extra", {}).get("metadata", {})
        shown = "".join(f" {key}={known[key]}" for key in keys if key in known)
        failed = " FAILED" if run.get("error") else ""
        yield f"{'  ' * depth}{run['name']} [{run['run_type']}]{failed}{shown}"
        yield from format_tree(record, run["id"], keys=keys, depth=depth + 1)


def list_paths(record: LangSmithRecord) -> list[str]:
    """Return each run as its own name after those of the runs around it: `team / node / plan`."""
    return [" / ".join(_list_names(record, run)) for run in record.runs.values()]


def _list_names(record: LangSmithRecord, run: dict[str, Any]) -> list[str]:
    parent = record.runs.get(run.get("parent_run_id") or "")
    return [*(_list_names(record, parent) if parent else ()), run["name"]]
