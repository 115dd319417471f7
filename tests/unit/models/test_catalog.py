"""Tiers become models by name, and a name that cannot work says what to do."""

from dataclasses import replace

import pytest

from nodes.errors import ModelUnknown, SettingsInvalid
from nodes.models.catalog import ModelCatalog
from nodes.models.guarded_model import GuardedModel
from nodes.models.settings import ModelSettings
from nodes.models.usage import compute_cost_usd
from state import Context

KEYED = ModelSettings(api_key="sk-test-0123456789abcdef")


@pytest.mark.parametrize(
    ("given", "meant"),
    [
        ("embedded", "embedded"),
        ("gpt-5-mini", "openai:gpt-5-mini"),
        ("openai:gpt-5-mini", "openai:gpt-5-mini"),
        ("openai:llama3:8b", "openai:llama3:8b"),
        (" anthropic:claude-x ", "anthropic:claude-x"),
    ],
)
def test_a_name_means_a_provider_and_a_model(given: str, meant: str) -> None:
    assert ModelCatalog(replace(KEYED, fast=given)).get_name("fast") == meant


@pytest.mark.parametrize("given", ["", ":", "openai:", ":gpt-5", "two words"])
def test_a_malformed_name_names_its_setting_and_the_remedy(given: str) -> None:
    with pytest.raises(SettingsInvalid) as raised:
        ModelCatalog(replace(KEYED, standard=given)).get_chat_model("standard")

    assert "SUPERVISE_MODEL_STANDARD" in raised.value.format_line()
    assert "provider:model" in raised.value.format_line()


def test_a_provider_whose_package_is_missing_says_what_to_install() -> None:
    with pytest.raises(SettingsInvalid, match="not installed") as raised:
        ModelCatalog(replace(KEYED, strong="google:gemini-x")).get_chat_model("strong")

    assert "langchain-google-genai" in raised.value.format_line()


def test_an_unknown_provider_is_refused() -> None:
    with pytest.raises(ModelUnknown, match="SUPERVISE_MODEL_FAST"):
        ModelCatalog(replace(KEYED, fast="nobody:model")).get_chat_model("fast")


def test_a_missing_key_is_said_before_the_first_call() -> None:
    with pytest.raises(SettingsInvalid, match="no key"):
        ModelCatalog(ModelSettings(fast="openai:gpt-5-mini")).get_chat_model("fast")


def test_a_run_may_choose_its_own_model() -> None:
    models = ModelCatalog(KEYED)

    assert models.get_name("fast", Context(model_fast="gpt-5")) == "openai:gpt-5"
    assert models.get_name("strong", Context(model_fast="gpt-5")) == "embedded"


def test_tiers_with_one_name_share_a_client() -> None:
    models = ModelCatalog(replace(KEYED, fast="gpt-5", strong="openai:gpt-5"))
    fast, strong = models.get_chat_model("fast"), models.get_chat_model("strong")

    assert isinstance(fast, GuardedModel) and isinstance(strong, GuardedModel)
    assert fast.inner is strong.inner
    assert (fast.tier, strong.tier) == ("fast", "strong")
    assert models.get_chat_model("fast") is fast


def test_no_key_stands_in_what_is_printed_or_traced() -> None:
    models = ModelCatalog(replace(KEYED, fast="gpt-5"))

    assert "0123456789" not in repr(models.get_chat_model("fast")) + str(models.settings)


def test_prices_come_from_the_table_and_an_unknown_model_has_none() -> None:
    usage = {"input_tokens": 1000, "output_tokens": 100}

    assert compute_cost_usd("openai:gpt-5-mini", usage) == pytest.approx(0.00045)
    assert compute_cost_usd("openai:no-such-model", usage) is None
    assert compute_cost_usd("openai:gpt-5-mini", None) is None
    assert compute_cost_usd("embedded", usage) == 0.0
