"""Each tier may have an address, a key, headers and parameters of its own."""

from contextlib import suppress

import pytest

from nodes.errors import BadResponse
from nodes.models.catalog import ModelCatalog
from nodes.models.settings import ModelSettings, TierSettings
from tests.unit.models.one_reply_server import run_server

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
