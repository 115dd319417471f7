"""The model that works by rule, without a language model. An extension brings it."""

from collections.abc import Callable, Iterable
from dataclasses import dataclass

from langchain_core.language_models import BaseChatModel

from nodes.errors import SettingsInvalid
from nodes.schemas.team import Team
from state import Plan


@dataclass(frozen=True)
class RuleModel:
    """What its functions need is imported at their first use: that is slow, often not needed."""

    build: Callable[[], BaseChatModel]
    can_use_reason: Callable[[Team, Plan, str], bool]
    """Whether the reason for a rejection says whom to plan, other than the plan has."""
    drop_links: Callable[[str, Iterable[str]], str]
    """Of a task's words, those that share the work with other tasks, by id."""


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
    if rule := find_rule_model():
        return rule
    raise SettingsInvalid(
        "no language model is set, and the built-in one is not installed",
        next="set one (setting: OPENAI_API_KEY, or SUPERVISE_MODEL_STANDARD=provider:model)",
    )
