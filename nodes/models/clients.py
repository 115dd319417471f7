"""The clients of models: how each is built, named and asked for the models it has."""

import asyncio
import contextlib
import importlib.util
import itertools
import weakref
from collections.abc import Awaitable, Callable, Iterable, Mapping
from difflib import get_close_matches
from typing import Any, Final, get_args
from urllib.parse import urlsplit

from langchain_core.language_models import BaseChatModel
from pydantic import SecretStr

from nodes.errors import ModelUnknown, SettingsInvalid, require_type
from nodes.errors.redaction import register_secrets
from nodes.models.request_form import EndpointKind
from nodes.models.rule_model import get_rule_model
from nodes.models.settings import EMBEDDED, PROVIDERS, ModelSettings, TierSettings, find_extra
from nodes.models.usage import is_credible_count
from state import Tier

OPENAI_URL: Final = "https://api.openai.com/v1"
OPENAI_HOSTS: Final = (".openai.com", ".openai.azure.com")
"""Hosts of OpenAI's own models, which are trained to call tools."""
PROVIDERS_WITHOUT_RETRIES: Final = frozenset({"huggingface"})
"""Further providers whose clients take no `max_retries`."""
ADDRESS_FIELDS: Final = (
    "openai_api_base",
    "azure_endpoint",
    "anthropic_api_url",
    "base_url",
    "endpoint",
)
"""Fields of providers' clients that hold the address of the endpoint."""
MAX_MODELS: Final = 2000
CONTEXT_KEYS: Final = (
    "n_ctx",
    "max_model_len",
    "context_length",
    "context_window",
    "max_context_length",
)
"""Names of the context window: llama.cpp, vLLM, Together and OpenRouter, Groq, LM Studio."""
LIST_TIMEOUT_S: Final = 5.0
MAX_NAMES: Final = 5

_counter = itertools.count(1)
_numbers: dict[int, int] = {}


def parse_model_name(chosen: str, tier: Tier) -> str:
    """Return `provider:model`; a name without a provider is OpenAI's.

    Raises:
        SettingsInvalid: it is not the name of a model.
    """
    name = chosen.strip()
    if name == EMBEDDED:
        return name
    provider, colon, model = name.partition(":") if ":" in name else ("openai", ":", name)
    if not provider or not model or any(c.isspace() for c in name):
        raise SettingsInvalid(
            f"{_name_setting(tier)} is {chosen!r}, which is not a model name",
            next="write provider:model, as in openai:gpt-5-mini, or embedded",
        )
    return f"{provider}{colon}{model}"


def describe_endpoint(name: str, own: TierSettings) -> dict[str, Any]:
    """Return what a guard needs to know of the endpoint of a model that is named."""
    provider = name.partition(":")[0]
    is_openai = provider == "openai"
    caches = {"cache_control": {"type": "ephemeral"}} if provider == "anthropic" else {}
    return {
        "endpoint": f"{provider} {own.base_url or ''}" if is_openai else provider,
        "kind": _find_kind(name, own.base_url),
        "api_key": own.api_key,
        "parameters": own.parameters if is_openai else caches,
    }


def build_client(name: str, tier: Tier, settings: ModelSettings) -> BaseChatModel:
    """Return a client for a model that is named.

    Raises:
        SettingsInvalid: a key or a provider's package is missing.
        ModelUnknown: there is no such provider.
    """
    provider, _, model = name.partition(":")
    if name == EMBEDDED:
        return get_rule_model().build()
    if provider == "openai":
        return _build_openai(model, tier, settings.get_tier(tier))
    return _build_other(provider, model, tier, settings.tiers.get(tier) or TierSettings())


def _name_setting(tier: Tier) -> str:
    return f"SUPERVISE_MODEL_{tier.upper()}"


def _find_kind(name: str, base_url: str | None) -> EndpointKind:
    provider = name.partition(":")[0]
    if provider != "openai":
        return "ollama" if provider == "ollama" else "other"
    host = urlsplit(base_url or OPENAI_URL).hostname or ""
    return "openai" if host.endswith(OPENAI_HOSTS) else "compatible"


def _build_openai(model: str, tier: Tier, own: TierSettings) -> BaseChatModel:
    if not own.api_key and not own.base_url:
        raise SettingsInvalid(
            f"{_name_setting(tier)} names openai:{model}, but there is no key for it",
            next="set OPENAI_API_KEY, or OPENAI_BASE_URL for an endpoint without one",
        )
    import httpx2

    from nodes.models.openai import LeanChatOpenAI, get_shared_transport

    return LeanChatOpenAI(
        model=model,
        base_url=own.base_url or OPENAI_URL,
        api_key=SecretStr(own.api_key or "unused"),
        default_headers=own.headers or None,
        is_openai=_find_kind(f"openai:{model}", own.base_url) == "openai",
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


def _build_other(provider: str, model: str, tier: Tier, own: TierSettings) -> BaseChatModel:
    from langchain.chat_models import init_chat_model

    extra = find_extra(provider)
    known = PROVIDERS.get(extra)
    takes_retries = known.takes_retries if known else provider not in PROVIDERS_WITHOUT_RETRIES
    arguments: dict[str, Any] = {"max_retries": 0} if takes_retries else {}
    arguments |= own.parameters
    chosen = f"{_name_setting(tier)} names {provider}:{model}"
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
            next=f"install {package}"
            + (f" (on the command line: supervise install {extra})" if extra else ""),
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


def check_given_models(models: Mapping[Any, Any] | None) -> dict[Tier, BaseChatModel]:
    """Return a program's own models by tier; their keys are registered for redaction.

    Raises:
        SettingsInvalid: a tier is unknown, or a value is not a chat model.
    """
    models = require_type("models", models, Mapping)
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
                f"in {_name_setting(tier)}",
            )
        register_secrets(_list_keys(model))
    return given


def name_given_model(model: BaseChatModel) -> str:
    """Return `provider:model`, by the names that the client has for tracing."""
    if model._llm_type == EMBEDDED:
        return EMBEDDED
    known = model._get_ls_params()
    provider = known.get("ls_provider") or type(model).__name__.lower()
    return f"{provider}:{known.get('ls_model_name') or type(model).__name__}"


def describe_given_endpoint(inner: BaseChatModel) -> dict[str, Any]:
    """Return what a guard needs to know of the endpoint of a program's own model.

    Its limits are shared by all models behind it; the model may be a client of OpenAI's protocol.
    """
    provider = name_given_model(inner).partition(":")[0]
    addresses = (str(getattr(inner, field, None) or "") for field in ADDRESS_FIELDS)
    is_openai = any(base.__name__ == "BaseChatOpenAI" for base in type(inner).__mro__)
    address = getattr(inner, "openai_api_base", None)
    return {
        "endpoint": f"{provider} {next(filter(None, addresses), _number_model(inner))}",
        "kind": _find_kind("openai:", address) if is_openai else "other",
        "api_key": next(iter(_list_keys(inner)), None),
    }


def _list_keys(model: BaseChatModel) -> list[str]:
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


def read_model_list(body: Any) -> dict[str, int | None]:
    """Return the models that an endpoint lists, with the tokens of their context windows.

    A window is None where the server does not name it; there are no models where the body is no
    such list.
    """
    listed = body.get("data") if isinstance(body, Mapping) else None
    models = (listed if isinstance(listed, list) else [])[:MAX_MODELS]
    named = (model for model in models if isinstance(model, Mapping) and model.get("id"))
    return {str(model["id"]): _find_context(model) for model in named}


def _find_context(model: Mapping[str, Any]) -> int | None:
    meta = model.get("meta")
    places = (model, meta if isinstance(meta, Mapping) else {})
    found = (place[key] for key in CONTEXT_KEYS for place in places if place.get(key))
    return next((count for count in found if is_credible_count(count)), None)


def list_nearest_names(name: str, names: Iterable[str], count: int = 3) -> list[str]:
    """Return the names most like a name; of the last part of a path too."""
    by_key = {key: known for known in names for key in (known.rpartition("/")[2].lower(), known)}
    near = get_close_matches(name.lower(), by_key, n=2 * count, cutoff=0.4)
    return list(dict.fromkeys(by_key[key] for key in near))[:count]


async def name_nearest_models(error: ModelUnknown, inner: BaseChatModel, tier: Tier) -> str:
    """Return what to do next: a name that the endpoint has, or the advice of the error."""
    model: str = getattr(inner, "model_name", "")
    list_names: Callable[[], Awaitable[list[str]]] | None = getattr(inner, "list_model_names", None)
    names = list[str]()
    if list_names is None:
        return error.next
    # Whatever becomes of the list, the error of the call is the one to show.
    with contextlib.suppress(Exception):
        async with asyncio.timeout(LIST_TIMEOUT_S):
            names = await list_names()
    if not names or model in names:
        return error.next
    near = list_nearest_names(model, names)
    chosen = f"openai:{near[0]}" if near else "one of its models"
    some = ", ".join(names[:MAX_NAMES])
    return f"set {_name_setting(tier)} to {chosen}; the endpoint has {some}"
