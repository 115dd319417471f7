"""`supervise doctor`: models that an endpoint lacks."""

import json
from collections.abc import Iterator

import pytest

from graph.commands.doctor_endpoints import list_nearest_names, read_model_list
from tests.endpoint import Endpoint, Scenario
from tests.screen import run_supervise

KEY = "sk-hidden-0123456789"


@pytest.fixture
def served(monkeypatch: pytest.MonkeyPatch) -> Iterator[Endpoint]:
    with Endpoint(Scenario()).run_in_thread() as endpoint:
        monkeypatch.setenv("SUPERVISE_FAST_BASE_URL", endpoint.base_url)
        monkeypatch.setenv("SUPERVISE_FAST_API_KEY", KEY)
        monkeypatch.setenv("SUPERVISE_MODEL_FAST", "openai:gpt-5-mini")
        yield endpoint


def test_the_list_of_a_server_names_models() -> None:
    listed = read_model_list({"data": [{"id": "llama", "meta": {}}, {"object": "x"}, "no model"]})

    assert listed == ["llama"]
    assert read_model_list([]) == read_model_list({"data": None}) == []


def test_the_nearest_names_are_found_by_the_last_part_of_a_path_too() -> None:
    names = ["models/SmolLM2-135M-Instruct.Q4_1.gguf", "qwen3:4b", "qwen3:14b", "llama3:8b"]

    assert list_nearest_names("smollm2-135m", names) == [names[0]]
    assert list_nearest_names("Qwen3-4B", names)[0] == "qwen3:4b"
    assert list_nearest_names("zzz", names) == []


def test_a_model_that_the_endpoint_lacks_is_named_with_the_nearest(
    served: Endpoint, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("SUPERVISE_MODEL_FAST", "openai:gpt5mini")

    assert run_supervise("doctor", "--json") == 0

    checks = json.loads(capsys.readouterr().out)["checks"]
    (lacking,) = [check for check in checks if "does not list" in check["text"]]
    assert lacking["text"] == "does not list gpt5mini"
    assert lacking["fix"].startswith("set SUPERVISE_MODEL_FAST to openai:gpt-5-mini")


def test_a_server_that_is_no_model_server_is_named_with_its_variable(
    capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("SUPERVISE_STRONG_BASE_URL", "http://127.0.0.1:9/v1")

    assert run_supervise("doctor") == 2

    assert "check SUPERVISE_STRONG_BASE_URL and the network" in capsys.readouterr().out
