"""`supervise install`, and the hint at a key without a model."""

import pytest

from graph.commands.extras import describe_unused_key, install
from graph.settings import Settings
from nodes.errors import UsageError
from nodes.models.settings import PROVIDERS, find_extra


def test_an_unknown_extra_is_one_line_with_those_that_exist() -> None:
    with pytest.raises(UsageError, match="there is no extra 'antropic'") as refused:
        install("antropic")

    assert {*PROVIDERS} <= {*refused.value.next.removeprefix("use one of ").split(", ")}


@pytest.mark.parametrize(
    ("key", "extra"), [("ANTHROPIC_API_KEY", "anthropic"), ("GEMINI_API_KEY", "google")]
)
def test_a_key_without_a_model_is_named_with_a_model(
    key: str, extra: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv(key, "sk-x")

    said = describe_unused_key(Settings())

    assert said.startswith(f"{key} is set, but no model is.")
    assert said.endswith(f"such as {extra}:{PROVIDERS[extra].example}")
    assert "sk-x" not in said


def test_a_key_beside_a_model_and_no_key_need_no_word(monkeypatch: pytest.MonkeyPatch) -> None:
    assert describe_unused_key(Settings()) == ""
    monkeypatch.setenv("ANTHROPIC_API_KEY", "sk-x")

    assert describe_unused_key(Settings(model_strong="anthropic:claude-x")) == ""


def test_a_provider_is_found_by_the_name_of_its_extra_and_by_langchains() -> None:
    assert find_extra("google") == find_extra("google_genai") == "google"
    assert find_extra("openai") == ""
