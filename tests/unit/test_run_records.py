"""Whose record a kept run has, and what is taken from one of another user."""

import json
from pathlib import Path
from typing import Any

import pytest

from graph import aresume, arun
from graph.runs.run_record import (
    OWN_KEY,
    RunUntrusted,
    load_run_record,
    lower_caps,
    require_known_team,
    sign_record,
)
from graph.runs.trace import get_log_path
from graph.settings import Settings
from graph.stores.serializer import build_strict_serializer
from graph.teams.team_loader import list_shipped_teams
from nodes.errors.redaction import register_secrets
from state import Context
from tests.endpoint import Endpoint, Scenario, script_tasks
from tests.teams import make_team

RECORD = {"source": "/srv/kitchen", "input": {"request": "What?"}, "context": {"max_tokens": 9}}


def write_log(thread: str, *entries: dict[str, Any]) -> None:
    path = get_log_path(thread, Settings())
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text("".join(json.dumps(entry) + "\n" for entry in entries))


async def is_own(thread: str) -> bool:
    return bool((await load_run_record(thread, Settings()))[OWN_KEY])


async def test_a_record_is_of_the_user_who_signed_it(monkeypatch, user_folder):
    write_log("t1", sign_record("t1", RECORD))

    assert await is_own("t1")
    monkeypatch.setenv("XDG_STATE_HOME", str(user_folder / "other"))
    assert not await is_own("t1")


@pytest.mark.parametrize(
    "change", [{"source": "/tmp/x"}, {"input": {"request": "Else?"}}, {"context": {}}]
)
async def test_a_signature_holds_for_its_record_and_thread_alone(change: dict[str, Any]):
    signed = sign_record("t1", RECORD)
    write_log("t1", signed | change)
    write_log("t2", signed)
    write_log("t3", sign_record("t3", RECORD), change)
    write_log("t4", RECORD)
    write_log("t5", {**RECORD, "signature": 7})

    assert [await is_own(f"t{n}") for n in range(1, 6)] == [False] * 5


async def test_a_record_with_a_secret_is_recognised_as_it_is_kept():
    register_secrets(["secret-of-the-request"])
    request = {**RECORD, "input": {"request": "Use secret-of-the-request"}}
    masked = {**request, "input": {"request": "Use [secret]"}}

    write_log("t1", masked | {"signature": sign_record("t1", request)["signature"]})

    assert await is_own("t1")


@pytest.mark.parametrize("source", ["/tmp/x", {"name": "x", "workers": []}, "market_analysis"])
def test_only_a_team_that_has_a_name_here_is_taken_from_another_s_record(source: Any):
    shipped = list_shipped_teams()[0].resolve()

    require_known_team("t1", str(shipped), Settings())
    with pytest.raises(RunUntrusted, match="not signed by you"):
        require_known_team("t1", source, Settings())


def test_the_command_that_is_advised_is_safe_to_copy():
    with pytest.raises(RunUntrusted) as raised:
        require_known_team("t1", "x; $(touch PWNED) #", Settings())

    assert "--team 'x; $(touch PWNED) #'," in raised.value.next


def test_of_another_s_settings_only_what_lowers_the_caps_is_taken():
    team = make_team().model_copy(update={"max_tokens": 500, "max_tasks": 5})
    saved = Context(
        max_tokens=900, max_tasks=900, max_cost_usd=0.5, model_fast="openai:x", approve_plan=True
    )

    kept = lower_caps(saved, team)

    assert (kept.max_tokens, kept.max_tasks, kept.max_cost_usd) == (500, 5, 0.5)
    assert kept.model_fast is None and kept.approve_plan


async def test_a_resume_of_another_s_run_uses_no_model_of_its_checkpoints(
    endpoint: Endpoint, settings: Settings, monkeypatch, user_folder: Path
):
    endpoint.load_scenario(Scenario(tasks=script_tasks({"a": ()})))
    context = Context(approve_plan=True, model_standard="openai:gpt-of-another", max_tokens=90_000)
    await arun("Compare.", team=make_team(), thread="t1", context=context, settings=settings)
    monkeypatch.setenv("XDG_STATE_HOME", str(user_folder / "other"))
    sent = len(endpoint.requests)

    with pytest.raises(RunUntrusted):
        await aresume("t1", answer="yes", settings=settings)
    outcome = await aresume("t1", answer="yes", team=make_team(), settings=settings)

    models = {call.body["model"] for call in endpoint.requests[sent:]}
    assert outcome.status == "done" and models and "gpt-of-another" not in models


@pytest.mark.parametrize("kind", ["json", "pickle", "json+crc32", "other"])
def test_a_value_of_a_checkpoint_in_a_form_that_can_name_code_is_not_read(kind: str):
    with pytest.raises(ValueError, match=r"checksum|is not read"):
        build_strict_serializer().loads_typed((kind, b'{"lc": 2, "type": "constructor"}'))
