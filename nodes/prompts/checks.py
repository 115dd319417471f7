"""Messages about what a program has checked, or a model is to look at once more."""

from collections.abc import Iterable

from langchain_core.messages import AnyMessage, HumanMessage, SystemMessage

from nodes.prompts.tags import wrap_in_tag
from nodes.prompts.templates import LOOK_AGAIN, PROVE
from state import Finding


def build_proof_message(doubts: Iterable[str]) -> HumanMessage:
    """Build the message to a worker whose report holds what is not proved."""
    lines = "\n".join(f"- {each}" for each in doubts)
    return HumanMessage(f"{PROVE}\n\n{wrap_in_tag('not_proved', lines)}")


def build_second_look_messages(
    findings: Iterable[tuple[Finding, str]],
) -> list[AnyMessage]:
    """Build the question whether findings hold.

    Args:
        findings: each with the lines around its place.
    """
    parts = [
        f"{number}. {each.severity}: {each.message} ({each.file}:{each.line})\n"
        f"{wrap_in_tag('lines', lines)}"
        for number, (each, lines) in enumerate(findings, 1)
    ]
    return [SystemMessage(LOOK_AGAIN), HumanMessage(wrap_in_tag("findings", "\n\n".join(parts)))]
