"""What is logged as a warning, and when the command line shows it."""

import logging
import time
from dataclasses import replace
from pathlib import Path

import psycopg
import pytest
from langchain_core.messages import HumanMessage

from extensions.postgres.saver import retry_operation
from graph.commands.process import LOGGER_NAMES, configure_logging
from graph.runs.event_log import EventLog
from nodes.errors import EndpointDown, StoreError
from nodes.errors.redaction import register_secrets
from nodes.models.catalog import ModelCatalog
from nodes.models.circuit_breaker import FAILURE_THRESHOLD, get_model_health
from nodes.models.settings import ModelSettings
from tests.endpoint import Endpoint, Fault, Scenario
from tests.screen import run_supervise

SECRET = "sk-warnings-0123456789"
FULL = Path("/dev/full")


@pytest.fixture(autouse=True)
def registered_secret() -> None:
    register_secrets([SECRET])


async def test_a_retried_model_call_is_logged(
    endpoint: Endpoint, model_settings: ModelSettings, caplog: pytest.LogCaptureFixture
) -> None:
    endpoint.load_scenario(Scenario(faults=(Fault(kind="server_error", nth=(1,)),)))
    model = ModelCatalog(replace(model_settings, max_tries=2)).get_chat_model("fast")

    await model.ainvoke([HumanMessage("hello")])

    (record,) = caplog.records
    assert record.name == "nodes.models.call" and record.levelname == "WARNING"
    assert record.getMessage().startswith("openai:gpt-5-mini: try 1 of ")


@pytest.mark.slow
async def test_an_opened_circuit_is_logged_once(
    endpoint: Endpoint, model_settings: ModelSettings, caplog: pytest.LogCaptureFixture
) -> None:
    endpoint.load_scenario(Scenario(faults=(Fault(kind="server_error"),)))
    model = ModelCatalog(replace(model_settings, max_tries=2)).get_chat_model("fast")
    breaker = get_model_health(f"openai {endpoint.base_url}", "openai:gpt-5-mini").breaker
    for _ in range(FAILURE_THRESHOLD - 1):
        breaker.record_failure(time.monotonic(), "no answer")

    with pytest.raises(EndpointDown):
        await model.ainvoke([HumanMessage("hello")])

    opened = [text for text in caplog.messages if text.startswith("circuit open for ")]
    assert len(opened) == 1
    assert f"after {FAILURE_THRESHOLD} consecutive failures" in opened[0]


@pytest.mark.skipif(not FULL.exists(), reason="the system has no /dev/full")
def test_a_trace_that_cannot_be_written_is_logged_once(caplog: pytest.LogCaptureFixture) -> None:
    with EventLog(FULL) as event_log:
        for moment in (1.0, 2.0):
            event_log.record_event({"t": moment, "kind": "dispatched"})

    assert len(caplog.messages) == 1
    assert caplog.messages[0].startswith("trace /dev/full cannot be written")


async def test_a_postgres_outage_is_logged_when_it_begins_and_when_the_store_is_lost(
    caplog: pytest.LogCaptureFixture,
) -> None:
    async def fail() -> None:
        raise psycopg.OperationalError("connection refused: hidden-word")

    with pytest.raises(StoreError):
        await retry_operation(fail, url="postgresql://me:hidden-word@db/runs", patience_s=0.3)

    began, lost = caplog.messages
    assert "postgresql://me@db/runs does not answer, retrying" in began
    assert "the run database postgresql://me@db/runs cannot be used (tried for 0.3 s)" in lost
    assert "hidden-word" not in caplog.text


def test_the_command_line_shows_warnings_only_if_asked(capsys: pytest.CaptureFixture[str]) -> None:
    logger = logging.getLogger("nodes.models.call")

    configure_logging(is_verbose=False)
    logger.warning("not shown")
    configure_logging(is_verbose=True)
    logger.warning("shown: %s", SECRET)
    configure_logging(is_verbose=False)

    assert capsys.readouterr().err == "warning: shown: [secret]\n"


@pytest.mark.parametrize("arguments", [["-v", "teams"], ["run", "x", "--team", "none", "-v"]])
def test_verbose_is_an_option_of_every_command_and_of_a_run(arguments: list[str]) -> None:
    run_supervise(*arguments)

    loggers = map(logging.getLogger, LOGGER_NAMES)
    levels = {handler.level for logger in loggers for handler in logger.handlers}
    configure_logging(is_verbose=False)
    assert levels == {logging.WARNING}
