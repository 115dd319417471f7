"""Models by tier: names from the settings or models of the program, clients on first use."""

import asyncio
import importlib.util
import itertools
import weakref
from collections.abc import Mapping
from types import MappingProxyType
from typing import Any, get_args
from urllib.parse import urlsplit

from langchain_core.language_models import BaseChatModel
from langgraph.constants import TAG_NOSTREAM
from pydantic import SecretStr

from nodes.errors import ModelUnknown, SettingsInvalid
from nodes.errors.redaction import register_secrets
from nodes.models import prices
from nodes.models.available_models import AvailableModels
from nodes.models.guarded_model import GuardedModel, apply_parameters
from nodes.models.providers import PROVIDERS, find_extra
from nodes.models.rule_model import get_rule_model
from nodes.models.settings import EMBEDDED as EMBEDDED
from nodes.models.settings import ModelSettings, TierSettings
from nodes.models.structured.methods import EndpointKind
from nodes.text.plain_text import sanitize_line
from state import Context, Tier

TIERS: tuple[Tier, ...] = get_args(Tier)
OPENAI_URL = "https://api.openai.com/v1"
OPENAI_HOSTS = (".openai.com", ".openai.azure.com")
"""Hosts of OpenAI's own models, which are trained to call tools."""
PROVIDERS_WITHOUT_RETRIES = frozenset({"huggingface"})
"""Further providers whose clients take no `max_retries`."""


class ModelCatalog:
    """Provides the model of each tier; models of the same name share a client.

    Args:
        given: chat models for tiers, in place of the settings' own.

    Raises:
        SettingsInvalid: a given model cannot be used.
    """

    def __init__(
        self, settings: ModelSettings, given: Mapping[Tier, BaseChatModel] | None = None
    ) -> None:
        self.settings = settings
        self._given = check_given_models(given)
        self._clients: dict[tuple[str, Tier | None], BaseChatModel] = {}
        self._guarded_models: dict[tuple[Tier, str, int | None, bool], GuardedModel] = {}

    def get_name(self, tier: Tier, context: Context | None = None) -> str:
        """Return the name of a tier's model as `provider:model`; the run's own choice wins.

        Raises:
            SettingsInvalid: the name has no provider or no model, or a run has chosen a model
                that it may not choose.
        """
        if context is not None and self.settings.choices is not None:
            _check_choices(context, self.settings.choices)
        chosen = getattr(context, f"model_{tier}") if context else None
        if not chosen and tier in self._given:
            return name_given_model(self._given[tier])
        return _parse_model_name(chosen or getattr(self.settings, tier), tier)

    def get_chat_model(self, tier: Tier, context: Context | None = None) -> BaseChatModel:
        """Return the chat model of a tier.

        Raises:
            SettingsInvalid: a key, a provider's package or a part of the name is missing.
            ModelUnknown: there is no such provider.
        """
        name = self.get_name(tier, context)
        cap = context.max_concurrency if context else None
        if cap is not None and cap >= self.settings.max_concurrency:
            cap = None
        is_given = tier in self._given and not (context and getattr(context, f"model_{tier}"))
        key = (tier, name, cap, is_given)
        if key not in self._guarded_models:
            self._guarded_models[key] = GuardedModel(
                # A chat shows the answer's text alone, which `AnswerStream` sends.
                tags=[TAG_NOSTREAM],
                **(self._describe_given(tier) if is_given else self._describe_named(name, tier)),
                settings=self.settings,
                name=name,
                model=name,
                tier=tier,
                max_concurrency=cap,
            )
        return self._guarded_models[key]

    def get_available_models(
        self,
        tier: Tier,
        context: Context | None = None,
        parameters: Mapping[str, Any] = MappingProxyType({}),
    ) -> AvailableModels:
        """Return the model of a tier, and those that take over when it cannot be reached.

        Args:
            parameters: of the requests, such as `temperature`.
        """
        return AvailableModels(
            apply_parameters(self.get_chat_model(tier, context), parameters),
            lambda: [
                apply_parameters(model, parameters)
                for model in self._list_other_models(tier, context)
            ],
        )

    async def preload_prices(self) -> None:
        """Load the price table in a thread, unless all models in use are embedded."""
        if any(name != EMBEDDED for name, _ in self._clients):
            await asyncio.to_thread(prices.preload_prices)

    def _list_other_models(self, tier: Tier, context: Context | None = None) -> list[BaseChatModel]:
        """Return the language models of the other tiers, the strongest first, each name once."""
        seen, others = {self.identify(tier, context)}, list[BaseChatModel]()
        for other in reversed(TIERS):
            model = self.identify(other, context)
            if model not in seen and model[1] != EMBEDDED:
                seen.add(model)
                others.append(self.get_chat_model(other, context))
        return others

    def identify(self, tier: Tier, context: Context | None = None) -> tuple[str, str]:
        """Return what tells a tier's model from another: its address and its name."""
        return self.settings.get_tier(tier).base_url or "", self.get_name(tier, context)

    def _describe_named(self, name: str, tier: Tier) -> dict[str, Any]:
        own = self.settings.get_tier(tier)
        kind, provider = _find_endpoint_kind(name, own.base_url), name.partition(":")[0]
        return {
            "inner": self._get_client(name, tier),
            "endpoint": _name_endpoint(name, own),
            "kind": kind,
            "api_key": own.api_key,
            "parameters": own.parameters if provider == "openai" else _cache_prompt(provider),
        }

    def _describe_given(self, tier: Tier) -> dict[str, Any]:
        inner = self._given[tier]
        return {
            "inner": inner,
            "endpoint": name_given_endpoint(inner),
            "kind": _find_given_kind(inner),
            "api_key": next(iter(list_keys(inner)), None),
        }

    def _get_client(self, name: str, tier: Tier) -> BaseChatModel:
        key = name, tier if tier in self.settings.tiers else None
        if key not in self._clients:
            provider, _, model = name.partition(":")
            if name == EMBEDDED:
                self._clients[key] = get_rule_model().build()
            elif provider == "openai":
                self._clients[key] = self._build_openai(model, tier)
            else:
                own = self.settings.tiers.get(tier)
                self._clients[key] = _build_other(provider, model, tier, own or TierSettings())
        return self._clients[key]

    def _build_openai(self, model: str, tier: Tier) -> BaseChatModel:
        own = self.settings.get_tier(tier)
        if not own.api_key and not own.base_url:
            raise SettingsInvalid(
                f"{name_setting(tier)} names openai:{model}, but there is no key for it",
                next="set OPENAI_API_KEY, or OPENAI_BASE_URL for an endpoint without one",
            )
        import httpx2
        from pydantic import SecretStr

        from nodes.models.openai import LeanChatOpenAI
        from nodes.models.transport import get_shared_transport

        return LeanChatOpenAI(
            model=model,
            base_url=own.base_url or OPENAI_URL,
            api_key=SecretStr(own.api_key or "unused"),
            default_headers=own.headers or None,
            is_openai=_find_endpoint_kind(f"openai:{model}", own.base_url) == "openai",
            max_retries=0,
            stream_usage=True,
            use_responses_api=False,
            # No call is synchronous; a client for those would load all certificates.
            http_client=httpx2.Client(transport=httpx2.BaseTransport(), trust_env=False),
            http_async_client=httpx2.AsyncClient(
                transport=get_shared_transport(),
                timeout=None,
                follow_redirects=False,
                trust_env=False,
            ),
        )


def _cache_prompt(provider: str) -> dict[str, Any]:
    """Return the parameter by which a provider caches prompts, where it is asked for."""
    return {"cache_control": {"type": "ephemeral"}} if provider == "anthropic" else {}


def _name_endpoint(name: str, own: TierSettings) -> str:
    provider = name.partition(":")[0]
    return f"{provider} {own.base_url or ''}" if provider == "openai" else provider


def _find_endpoint_kind(name: str, base_url: str | None) -> EndpointKind:
    provider = name.partition(":")[0]
    if provider != "openai":
        return "ollama" if provider == "ollama" else "other"
    host = urlsplit(base_url or OPENAI_URL).hostname or ""
    return "openai" if host.endswith(OPENAI_HOSTS) else "compatible"


def _find_given_kind(inner: BaseChatModel) -> EndpointKind:
    """Return the kind of a program's own model, which may be a client of OpenAI's protocol."""
    if not any(base.__name__ == "BaseChatOpenAI" for base in type(inner).__mro__):
        return "other"
    return _find_endpoint_kind("openai:", getattr(inner, "openai_api_base", None))


def _check_choices(context: Context, allowed: frozenset[str]) -> None:
    """Refuse a context that names a model of any tier that its users may not choose."""
    for tier in TIERS:
        chosen = getattr(context, f"model_{tier}")
        if chosen and chosen not in allowed:
            raise SettingsInvalid(
                f"model_{tier} in the context",
                cause=f"{sanitize_line(chosen, 80)!r} is not one of this server's models",
                next=f"leave it out, or use one of {sorted(allowed)}",
            )


def name_setting(tier: Tier) -> str:
    """Return the name of the setting that chooses a tier's model."""
    return f"SUPERVISE_MODEL_{tier.upper()}"


def _parse_model_name(chosen: str, tier: Tier) -> str:
    name = chosen.strip()
    if name == EMBEDDED:
        return name
    provider, colon, model = name.partition(":") if ":" in name else ("openai", ":", name)
    if not provider or not model or any(c.isspace() for c in name):
        raise SettingsInvalid(
            f"{name_setting(tier)} is {chosen!r}, which is not a model name",
            next="write provider:model, as in openai:gpt-5-mini, or embedded",
        )
    return f"{provider}{colon}{model}"


def _build_other(provider: str, model: str, tier: Tier, own: TierSettings) -> BaseChatModel:
    from langchain.chat_models import init_chat_model

    extra = find_extra(provider)
    known = PROVIDERS.get(extra)
    takes_retries = known.takes_retries if known else provider not in PROVIDERS_WITHOUT_RETRIES
    arguments: dict[str, Any] = {"max_retries": 0} if takes_retries else {}
    arguments |= own.parameters
    chosen = f"{name_setting(tier)} names {provider}:{model}"
    if own.base_url or own.api_key or own.headers:
        raise SettingsInvalid(
            f"{chosen}, whose client takes no address, key or headers of a tier",
            next=f"name openai:{model} for a compatible server, or set the provider's variables",
        )
    try:
        name = known.name if known else provider
        client = init_chat_model(model, model_provider=name, **arguments)
    except ImportError as error:
        package = (known.module if known else f"langchain-{provider}").replace("_", "-")
        if error.name and importlib.util.find_spec(error.name.partition(".")[0]) is None:
            package = error.name.replace("_", "-")
        raise SettingsInvalid(
            f"{chosen}, whose package is not installed",
            next=f"supervise install {extra}, which adds {package}"
            if extra
            else f"install {package}",
        ) from error
    except ValueError as error:
        raise ModelUnknown(
            f"{chosen}, whose provider is unknown or has no key",
            cause=str(error).partition("\n")[0][:200],
            next="write provider:model, as in openai:gpt-5-mini; a compatible server is openai: "
            "with OPENAI_BASE_URL",
        ) from error
    assert isinstance(client, BaseChatModel), "a named model is not configurable"
    return client


ADDRESS_FIELDS = ("openai_api_base", "azure_endpoint", "anthropic_api_url", "base_url", "endpoint")
"""Fields of providers' clients that hold the address of the endpoint."""

_counter = itertools.count(1)
_numbers: dict[int, int] = {}


def check_given_models(models: Mapping[Any, Any] | None) -> dict[Tier, BaseChatModel]:
    """Return the models by tier; their keys are registered for redaction.

    Raises:
        SettingsInvalid: a tier is unknown, or a value is not a chat model.
    """
    given = dict(models or {})
    for tier, model in given.items():
        if tier not in get_args(Tier):
            raise SettingsInvalid(
                f"models has {tier!r}, which is not a tier", next="use fast, standard or strong"
            )
        if not isinstance(model, BaseChatModel):
            raise SettingsInvalid(
                f"models[{tier!r}] is a {type(model).__name__}, not a chat model",
                next="pass a LangChain chat model with its parameters set; a model's name belongs "
                f"in SUPERVISE_MODEL_{tier.upper()}",
            )
        register_secrets(list_keys(model))
    return given


def name_given_model(model: BaseChatModel) -> str:
    """Return `provider:model`, by the names that the client has for tracing."""
    if model._llm_type == EMBEDDED:
        return EMBEDDED
    known = model._get_ls_params()
    provider = known.get("ls_provider") or type(model).__name__.lower()
    return f"{provider}:{known.get('ls_model_name') or type(model).__name__}"


def name_given_endpoint(model: BaseChatModel) -> str:
    """Return a name for the endpoint, whose limits are shared by all models behind it."""
    provider = name_given_model(model).partition(":")[0]
    addresses = (str(getattr(model, field, None) or "") for field in ADDRESS_FIELDS)
    return f"{provider} {next(filter(None, addresses), _number_model(model))}"


def list_keys(model: BaseChatModel) -> list[str]:
    """List the secrets among the fields of a client."""
    return [
        value.get_secret_value() for value in vars(model).values() if isinstance(value, SecretStr)
    ]


def _number_model(model: BaseChatModel) -> int:
    """Return a number that no other model of the process has, though ids are used again."""
    key = id(model)
    if key not in _numbers:
        _numbers[key] = next(_counter)
        weakref.finalize(model, _numbers.pop, key, None)
    return _numbers[key]
