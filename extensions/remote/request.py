"""Builds what a remote worker is given from a handoff."""

from collections.abc import Mapping
from typing import Any

from extensions.remote.session import RemoteRequest
from nodes.prompts.messages import build_subteam_request, format_report_line
from nodes.prompts.tags import wrap_in_tag
from nodes.schemas.handoff import Handoff
from nodes.text.plain_text import sanitize_text


def build_remote_request(
    handoff: Handoff,
    *,
    key: str,
    guidance: str,
    earlier: str,
    answers: Mapping[str, str],
    caps: Mapping[str, Any],
) -> RemoteRequest:
    """Return a task for a remote worker: its words, the results it needs, and its materials.

    Args:
        key: of the attempt.
        guidance: the worker's own instructions.
        earlier: the last attempt's error.
        answers: of a human, by question.
        caps: what the run still allows.
    """
    words = build_subteam_request(handoff, guidance=guidance, earlier=earlier, answers=answers)
    results = {
        f"result {report.task}": format_report_line(report, names_worker=False)
        for report in handoff.context
    }
    texts = {name: sanitize_text(text) for name, text in handoff.artifacts.items()}
    blocks = [wrap_in_tag("file", text, name=name) for name, text in {**texts, **results}.items()]
    return RemoteRequest(
        key=key,
        words=words,
        materials={**results, **texts},
        full_text="\n\n".join([words, *blocks]),
        caps=caps,
    )
