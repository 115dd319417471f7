"""The model that works by rule, without a language model. An extension brings it."""

from collections.abc import Callable
from dataclasses import dataclass
from importlib import import_module

from langchain_core.language_models import BaseChatModel

from nodes.errors import SettingsInvalid
from nodes.schemas.team import Team


@dataclass(frozen=True)
class RuleModel:
    """Names what is imported at its first use, since that is slow and often not needed."""

    model: str
    """The module with the class `EmbeddedModel`."""
    worker_fit: str
    """The module with the function `can_use_reason`."""

    def build(self) -> BaseChatModel:
        """Return the model."""
        build: Callable[[], BaseChatModel] = import_module(self.model).EmbeddedModel
        return build()

    def can_use_reason(self, team: Team, reason: str) -> bool:
        """Return whether the reason for a rejection says whom to plan."""
        can_use: Callable[[Team, str], bool] = import_module(self.worker_fit).can_use_reason
        return can_use(team, reason)


_registered: list[RuleModel] = []


def register_rule_model(model: RuleModel) -> None:
    """Let a model answer where no language model is set, or where it gave no valid plan."""
    _registered[:] = [model]


def find_rule_model() -> RuleModel | None:
    """Return the model that works by rule; None without the extension that brings it."""
    return _registered[0] if _registered else None


def get_rule_model() -> RuleModel:
    """Return the model that works by rule.

    Raises:
        SettingsInvalid: there is none.
    """
    if _registered:
        return _registered[0]
    raise SettingsInvalid(
        "no language model is set, and the built-in one is not installed",
        next="set OPENAI_API_KEY, or SUPERVISE_MODEL_STANDARD to a provider:model name",
    )
