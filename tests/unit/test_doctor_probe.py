"""`supervise doctor`: models that an endpoint lacks, and what `--probe` finds out by real calls."""

import json
from collections.abc import Iterator

import pytest

from graph.cli import main
from graph.commands.doctor_probe import ModelProbe, describe_probe, probe_tiers
from graph.settings import Settings
from nodes.models.clients import list_nearest_names, read_model_list
from tests.endpoint import Endpoint, Fault, Scenario

KEY = "sk-hidden-0123456789"


@pytest.fixture
def served(monkeypatch: pytest.MonkeyPatch) -> Iterator[Endpoint]:
    with Endpoint(Scenario()).run_in_thread() as endpoint:
        monkeypatch.setenv("SUPERVISE_FAST_BASE_URL", endpoint.base_url)
        monkeypatch.setenv("SUPERVISE_FAST_API_KEY", KEY)
        monkeypatch.setenv("SUPERVISE_MODEL_FAST", "openai:gpt-5-mini")
        yield endpoint


def run_doctor(*options: str) -> int:
    with pytest.raises(SystemExit) as ended:
        main(("doctor", *options))
    return int(ended.value.code or 0)


def test_the_list_of_a_server_names_models_and_context_windows() -> None:
    listed = read_model_list(
        {
            "data": [
                {"id": "llama", "meta": {"n_ctx": 4096, "n_ctx_train": 8192}},
                {"id": "vllm", "max_model_len": 32768},
                {"id": "openai", "owned_by": "me"},
                {"id": "absurd", "context_length": "many"},
                "no model",
            ]
        }
    )

    assert listed == {"llama": 4096, "vllm": 32768, "openai": None, "absurd": None}
    assert read_model_list([]) == read_model_list({"data": None}) == {}


def test_the_nearest_names_are_found_by_the_last_part_of_a_path_too() -> None:
    names = ["models/SmolLM2-135M-Instruct.Q4_1.gguf", "qwen3:4b", "qwen3:14b", "llama3:8b"]

    assert list_nearest_names("smollm2-135m", names) == [names[0]]
    assert list_nearest_names("Qwen3-4B", names)[0] == "qwen3:4b"
    assert list_nearest_names("zzz", names) == []


def test_a_model_that_the_endpoint_lacks_is_named_with_the_nearest(
    served: Endpoint, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("SUPERVISE_MODEL_FAST", "openai:gpt5mini")

    assert run_doctor("--json") == 0

    checks = json.loads(capsys.readouterr().out)["checks"]
    (lacking,) = [check for check in checks if "does not list" in check["text"]]
    assert lacking["text"] == "does not list gpt5mini"
    assert lacking["fix"].startswith("set SUPERVISE_MODEL_FAST to openai:gpt-5-mini")


def test_a_server_that_is_no_model_server_is_named_with_its_variable(
    capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("SUPERVISE_STRONG_BASE_URL", "http://127.0.0.1:9/v1")

    assert run_doctor() == 2

    assert "check SUPERVISE_STRONG_BASE_URL and the network" in capsys.readouterr().out


def test_a_probe_shows_how_a_model_answers_and_what_its_limits_mean(
    served: Endpoint, capsys: pytest.CaptureFixture[str]
) -> None:
    assert run_doctor("--probe", "--json") == 0

    out = capsys.readouterr().out
    (probe,) = json.loads(out)["probes"]
    assert (probe["model"], probe["tiers"]) == ("openai:gpt-5-mini", ["fast"])
    assert (probe["value_method"], probe["tools_method"]) == ("json_schema", "required_tool")
    assert (probe["call_timeout_s"], probe["error"]) == (120.0, "")
    assert all(call.body["max_tokens"] <= 256 for call in served.requests)
    assert KEY not in out


def test_a_probe_of_an_endpoint_that_refuses_makes_the_command_fail(
    served: Endpoint, capsys: pytest.CaptureFixture[str]
) -> None:
    served.load_scenario(Scenario(faults=(Fault(kind="unknown_model"),)))

    assert run_doctor("--probe") == 2

    out = capsys.readouterr().out
    assert "broken  probe fast" in out
    assert "does not know openai:gpt-5-mini" in out


def test_without_a_language_model_there_is_nothing_to_probe() -> None:
    assert probe_tiers(Settings()) == []


def test_limits_that_a_slow_model_cannot_keep_are_named_with_the_fix() -> None:
    slow = ModelProbe(
        model="openai:m",
        tiers=("fast",),
        value_method="json_schema",
        tools_method=None,
        tokens_per_s=2.0,
        call_timeout_s=120.0,
        context_tokens=4096,
    )

    checks = list(describe_probe(slow, Settings(call_timeout_s=120.0)))

    methods, speed, calls, context = checks
    assert [check.level for check in checks] == ["note"] * 4
    assert calls.fix.startswith("SUPERVISE_MAX_CONCURRENCY=1")
    assert "a tool call by no method" in methods.text
    assert "2.0 output tokens a second; a call has 120 s, about 240 tokens" in speed.text
    assert speed.fix == (
        "1,000 tokens need 8 min: unset SUPERVISE_CALL_TIMEOUT_S, so that the limit follows the "
        "speed"
    )
    assert "4,096 tokens" in context.text and "8,192" in context.fix
