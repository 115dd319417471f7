"""The built-in model: offline, by rule, no language model; it quotes passages and calls tools."""

from typing import TYPE_CHECKING

from graph.extensions import Extension

if TYPE_CHECKING:
    from langchain_core.language_models import BaseChatModel

    from nodes.schemas.team import Team


class _BuiltIn(Extension):
    def register(self) -> None:
        """Add the model of the name `embedded`."""
        from nodes.models.rule_model import RuleModel, register_rule_model

        register_rule_model(RuleModel(_build_model, _can_use_reason))


def _build_model() -> "BaseChatModel":
    from extensions.embedded.model import EmbeddedModel

    return EmbeddedModel()


def _can_use_reason(team: "Team", reason: str) -> bool:
    from extensions.embedded.worker_fit import can_use_reason

    return can_use_reason(team, reason)


EXTENSION = _BuiltIn()
