"""Tiers become models by name; each has its own address, key, headers and parameters."""

from contextlib import suppress
from dataclasses import replace

import pytest

from nodes.errors import BadResponse, ModelUnknown, SettingsInvalid
from nodes.models.catalog import ModelCatalog
from nodes.models.guarded_model import GuardedModel
from nodes.models.settings import ModelSettings, TierSettings
from nodes.models.usage import compute_cost_usd
from state import Context
from tests.unit.models.one_reply_server import run_server

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


COMMON_KEY = "sk-common-0123456789"


async def test_each_tier_calls_its_own_address_with_its_own_key_and_headers() -> None:
    async with run_server() as common, run_server() as local, run_server() as remote:
        models = ModelCatalog(
            ModelSettings(
                fast="openai:small",
                standard="openai:middle",
                strong="openai:large",
                base_url=common.base_url,
                api_key=COMMON_KEY,
                tiers={
                    "fast": TierSettings(base_url=local.base_url),
                    "strong": TierSettings(
                        base_url=remote.base_url,
                        api_key="sk-remote-0123456789",
                        headers={"X-Team": "blue"},
                    ),
                },
            )
        )
        for tier in ("fast", "standard", "strong"):
            await models.get_chat_model(tier).ainvoke("Is it so?")

        sent = [server.seen_headers[0].get("authorization", "") for server in (common, remote)]
        assert sent == [f"Bearer {COMMON_KEY}", "Bearer sk-remote-0123456789"]
        assert COMMON_KEY not in str(local.seen_headers)
        assert remote.seen_headers[0]["x-team"] == "blue"
        names = [server.seen_bodies[0]["model"] for server in (local, common, remote)]
        assert names == ["small", "middle", "large"]


@pytest.mark.parametrize("is_streaming", [False, True], ids=["plain", "streamed"])
async def test_a_header_that_a_tier_sets_takes_the_place_of_the_clients_own(
    is_streaming: bool,
) -> None:
    own = {"authorization": "Basic YmxpbmQ6bW91c2U=", "user-agent": "gateway-client"}
    async with run_server() as server:
        fast = TierSettings(base_url=server.base_url, api_key=COMMON_KEY, headers=own)
        settings = ModelSettings(
            fast="openai:m",
            tiers={"fast": fast},
            streaming=is_streaming,
            max_tries=1,
            call_timeout_s=10.0,
        )
        with suppress(BadResponse):  # this server streams nothing
            await ModelCatalog(settings).get_chat_model("fast").ainvoke("Is it so?")

        sent = [*server.seen_headers[0].items()]
        assert [(name, text) for name, text in sent if name in own] == [*own.items()]
        assert COMMON_KEY not in str(sent)


async def test_a_tiers_parameters_are_in_each_of_its_requests_known_to_the_client_or_not() -> None:
    async with run_server() as server:
        given = {"temperature": 0.2, "seed": 7, "top_k": 40, "max_tokens": 50}
        models = ModelCatalog(
            ModelSettings(
                fast="openai:m",
                strong="openai:m",
                base_url=server.base_url,
                tiers={"fast": TierSettings(parameters=given)},
            )
        )
        await models.get_chat_model("fast").ainvoke("Is it so?")
        await models.get_chat_model("strong").ainvoke("Is it so?")

    fast, strong = server.seen_bodies
    assert {name: fast.get(name) for name in given} == given
    assert not set(strong) & {"temperature", "seed", "top_k"}
