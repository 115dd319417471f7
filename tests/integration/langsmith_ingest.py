"""Reads the runs that LangSmith's client sends, in each form in which it sends them."""

import json
from collections.abc import Iterable, Mapping
from email.message import Message
from email.parser import BytesParser
from email.policy import HTTP
from io import BytesIO
from typing import Any

import zstandard

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
