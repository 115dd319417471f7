"""The built-in model: offline, by rule, no language model; it quotes passages and calls tools."""

from typing import TYPE_CHECKING

from graph.extensions import Extension

if TYPE_CHECKING:
    from collections.abc import Iterable

    from langchain_core.language_models import BaseChatModel

    from nodes.schemas.team import Team
    from state import Plan


class _BuiltIn(Extension):
    def register(self) -> None:
        """Add the model of the name `embedded`."""
        from nodes.models.rule_model import RuleModel, register_rule_model

        register_rule_model(RuleModel(_build_model, _can_use_reason, _drop_links))


def _build_model() -> "BaseChatModel":
    from extensions.embedded.model import EmbeddedModel

    return EmbeddedModel()


def _can_use_reason(team: "Team", plan: "Plan", reason: str) -> bool:
    from extensions.embedded.named_workers import choose_workers

    planned = {task.worker for task in plan.tasks}
    return {*choose_workers(team, planned, reason)} not in (set(), planned)


def _drop_links(description: str, names: "Iterable[str]") -> str:
    from extensions.embedded.planning import drop_links

    return drop_links(description, names)


EXTENSION = _BuiltIn()
