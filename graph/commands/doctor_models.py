"""The checks of `supervise doctor` for the models of the tiers and their endpoints."""

from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from importlib.util import find_spec
from typing import Any, Literal

from graph.commands.endpoint_probe import OPENAI_URL, EndpointReply, fetch_model_list
from graph.commands.extras import describe_unused_key
from graph.display.labels import label_model
from graph.extensions import DoctorCheck
from graph.setting_sources import shorten_path
from graph.settings import EMBEDDED, Settings
from graph.user_state import get_user_env_file
from graph.variables import TIERS
from nodes.models.clients import list_nearest_names
from nodes.models.settings import PROVIDERS, ModelSettings, TierSettings, find_extra
from nodes.models.usage import is_priced
from state import Tier


@dataclass(frozen=True)
class TierEndpoint:
    """An OpenAI-compatible endpoint, and the tiers that call it."""

    settings: TierSettings
    models: dict[Tier, str]
    """Names without the provider."""

    prefix: str = "OPENAI_"
    """What the variables of its address and its key begin with."""


def check_models(settings: Settings) -> Iterator[DoctorCheck]:
    """Check the models' names, packages and prices, and that each endpoint has its models."""
    models = settings.build_model_settings()
    names: dict[Tier, str] = {tier: getattr(models, tier) for tier in TIERS}
    for tier, name in names.items():
        yield _check_model(f"model {tier}", name)
    if unused := describe_unused_key(settings):
        key, _, fix = unused.partition(". next: ")
        yield DoctorCheck("note", "model", key, fix)
    for name in dict.fromkeys(names.values()):
        if not is_priced(name, models.prices):
            fix = f"set SUPERVISE_PRICES={name}=INPUT/OUTPUT, US dollars for a million tokens"
            yield DoctorCheck("note", "price", f"unknown for {name}: no cap on money", fix)
    for endpoint in list_endpoints(models):
        yield from _check_endpoint(endpoint)


def list_endpoints(models: ModelSettings) -> list[TierEndpoint]:
    """Return the endpoints of the tiers, each once; also a common one that no tier uses."""
    found: list[TierEndpoint] = []
    for tier in TIERS:
        provider, _, name = getattr(models, tier).partition(":")
        if provider != "openai":
            continue
        own = models.get_tier(tier)
        known = next((each for each in found if _is_same(each.settings, own)), None)
        if known is None:
            has_own = bool(models.tiers.get(tier, TierSettings()).base_url)
            known = TierEndpoint(own, {}, f"SUPERVISE_{tier.upper()}_" if has_own else "OPENAI_")
            found.append(known)
        known.models[tier] = name
    if not found and models.base_url:
        found.append(TierEndpoint(models.get_tier("standard"), {}))
    return found


def _is_same(one: TierSettings, other: TierSettings) -> bool:
    return (one.base_url, one.api_key, one.headers) == (
        other.base_url,
        other.api_key,
        other.headers,
    )


def _check_model(label: str, name: str) -> DoctorCheck:
    if name == EMBEDDED:
        own = shorten_path(get_user_env_file())
        variables = "OPENAI_API_KEY, or OPENAI_BASE_URL for your own server"
        fix = f"set {variables}, in the environment or in {own}"
        return DoctorCheck("note", label, label_model(name), fix)
    provider = name.partition(":")[0]
    extra = find_extra(provider)
    package = PROVIDERS[extra].module if extra else f"langchain_{provider.split('_')[0]}"
    if find_spec(package) is None:
        fix = f"supervise install {extra}" if extra else f"install {package.replace('_', '-')}"
        return DoctorCheck("broken", label, f"{name}: {package} is not installed", fix)
    return DoctorCheck("ok", label, name)


def fetch_models(endpoint: TierEndpoint) -> EndpointReply:
    """Ask an endpoint for its list of models."""
    prefix = endpoint.prefix
    return fetch_model_list(endpoint.settings, address=f"{prefix}BASE_URL", key=f"{prefix}API_KEY")


def _check_endpoint(endpoint: TierEndpoint) -> Iterator[DoctorCheck]:
    answer, where = fetch_models(endpoint), endpoint.settings.base_url or OPENAI_URL
    if answer.problem:
        grade: Literal["note", "broken"] = "note" if answer.is_reachable else "broken"
        yield DoctorCheck(grade, "endpoint", f"{where}: {answer.problem}", answer.fix)
        return
    yield DoctorCheck("ok", "endpoint", f"{where} answers in {answer.seconds:.2f} s")
    unknown: dict[str, list[Tier]] = {}
    for tier, name in endpoint.models.items():
        if answer.models and name not in answer.models:
            unknown.setdefault(name, []).append(tier)
    for name, tiers in sorted(unknown.items()):
        yield DoctorCheck(
            "note", "endpoint", f"does not list {name}", _name_fix(tiers, name, answer.models)
        )


def _name_fix(tiers: list[Tier], name: str, models: Mapping[str, Any]) -> str:
    variables = " and ".join(f"SUPERVISE_MODEL_{tier.upper()}" for tier in tiers)
    if near := list_nearest_names(name, models):
        others = f" (or {', '.join(near[1:])})" if near[1:] else ""
        return f"set {variables} to openai:{near[0]}{others}"
    return f"set {variables} to openai:NAME; it has {', '.join([*models][:8])}"
