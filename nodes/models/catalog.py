"""Models by tier: names from the settings or models of the program, clients on first use."""

import asyncio
from collections.abc import Callable, Mapping, Sequence
from typing import Any, TypeVar, get_args

from langchain_core.language_models import BaseChatModel
from langchain_core.messages import AnyMessage
from langgraph.constants import TAG_NOSTREAM
from pydantic import BaseModel

from nodes.errors import (
    BadResponse,
    BudgetSpent,
    DeadlinePassed,
    ModelError,
    ModelUnknown,
    SettingsInvalid,
)
from nodes.models.clients import (
    build_client,
    check_given_models,
    describe_endpoint,
    describe_given_endpoint,
    name_given_model,
    parse_model_name,
)
from nodes.models.guarded_model import GuardedModel, apply_parameters
from nodes.models.settings import EMBEDDED as EMBEDDED
from nodes.models.settings import ModelSettings
from nodes.models.structured_output import ModelReply, ask_model
from nodes.models.usage import is_priced, preload_prices
from nodes.telemetry.events import emit
from nodes.text.plain_text import sanitize_line
from state import Context, Tier, Usage

T = TypeVar("T", bound=BaseModel)
TIERS: tuple[Tier, ...] = get_args(Tier)


class AvailableModels:
    """Asks the first model that can be reached; one that could not is not asked again."""

    def __init__(
        self,
        first: BaseChatModel,
        load_others: Callable[[], Sequence[BaseChatModel]] = tuple,
    ) -> None:
        self._model, self._load_others = first, load_others
        self._others: list[BaseChatModel] | None = None
        self.lost_usage = Usage()
        """Of models that failed."""

    @property
    def gives_more_time(self) -> bool:
        """Whether a call that was too slow has more time when it is made again."""
        settings = getattr(self._model, "settings", None)
        return settings is not None and settings.call_timeout_s is None

    def take_next(self) -> bool:
        """Ask the next model from now on; return False when there is none."""
        if self._others is None:
            self._others = list(self._load_others())
        if not self._others:
            return False
        self._model = self._others.pop(0)
        return True

    async def ask(
        self, schema: type[T], messages: Sequence[AnyMessage], **how: Any
    ) -> ModelReply[T]:
        """Return the value of the first model that can be reached; `how` is for `ask_model`.

        Raises:
            UnreadableReply: it is not such a value.
            ModelError: no model can be reached.
        """
        while True:
            try:
                return await ask_model(self._model, schema, messages, **how)
            except (ModelError, ModelUnknown) as error:
                is_final = isinstance(error, BudgetSpent | DeadlinePassed) or (
                    isinstance(error, BadResponse) and error.reply_text
                )
                self.lost_usage += error.usage or Usage()
                if is_final or not self.take_next():
                    error.usage, self.lost_usage = self.lost_usage, Usage()
                    raise
                await emit("error", code=error.code, message=f"another tier is asked: {error}")


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
        return parse_model_name(chosen or getattr(self.settings, tier), tier)

    def name_all(self, context: Context | None = None) -> dict[Tier, str]:
        """Return the name of each tier's model; as `get_name`."""
        return {tier: self.get_name(tier, context) for tier in TIERS}

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
            inner = self._given[tier] if is_given else self._get_client(name, tier)
            own = self.settings.get_tier(tier)
            known = describe_given_endpoint(inner) if is_given else describe_endpoint(name, own)
            self._guarded_models[key] = GuardedModel(
                # A chat shows the answer's text alone, which `AnswerStream` sends.
                tags=[TAG_NOSTREAM],
                inner=inner,
                **known,
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
        context: Context | None,
        parameters: Mapping[str, Any],
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
            await asyncio.to_thread(preload_prices)

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

    def _get_client(self, name: str, tier: Tier) -> BaseChatModel:
        key = name, tier if tier in self.settings.tiers else None
        if key not in self._clients:
            self._clients[key] = build_client(name, tier, self.settings)
        return self._clients[key]


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


async def require_prices(names: Mapping[Tier, str], models: ModelCatalog, context: Context) -> None:
    """Raise an error for a cost cap without effect; report the models that it does not cover.

    Raises:
        SettingsInvalid: a model has no known price, and there is no cap on tokens.
    """
    if context.max_cost_usd is None:
        return
    prices = models.settings.prices
    # In a thread, since the price table is loaded on first use.
    priced = {n: await asyncio.to_thread(is_priced, n, prices) for n in set(names.values())}
    unpriced = sorted(name for name, known in priced.items() if not known)
    if unpriced and context.max_tokens is None:
        raise SettingsInvalid(
            f"max_cost_usd has no effect: no price is known for {', '.join(unpriced)}",
            next="limit the tokens too (on the command line: --max-tokens), or set a price in US "
            f"dollars for a million tokens (setting: SUPERVISE_PRICES={unpriced[0]}=INPUT/OUTPUT)",
        )
    if unpriced:
        await emit("budget", level="unpriced", models=unpriced)
