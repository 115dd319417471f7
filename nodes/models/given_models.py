"""Chat models that a Python program passes for tiers, in place of names in the settings."""

import itertools
import weakref
from collections.abc import Mapping
from typing import Any, get_args

from langchain_core.language_models import BaseChatModel
from pydantic import SecretStr

from nodes.errors import SettingsInvalid
from nodes.errors.redaction import register_secrets
from nodes.models.settings import EMBEDDED
from state import Tier

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
