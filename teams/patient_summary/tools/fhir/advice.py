"""Detect a task that asks for a clinician's judgement, whatever the worker's model makes of it.

This is the only such check in code. It reads the words of the task, not what the model passes.
"""

import re
from collections.abc import Sequence

from langchain_core.messages import AnyMessage

from nodes.limits.patterns import Pattern
from nodes.text.plain_text import sanitize_line

MAX_SHOWN_CHARS = 120
_INTENT = Pattern(r"<intent>\n(.*?)\n</intent>", re.DOTALL)
_ADVICE = Pattern(
    r"\bshould\b[^.]{0,80}\?"
    r"|^(?:please )?(?:increase|raise|reduce|lower|adjust|stop|start|switch|order|treat)\b"
    r"|\bprescribe\b|\brecommend\w*|\badvi[cs]e\b|\bdiagnose\b|\bprognos\w+|\blife expectancy\b"
    r"|\bis (?:it|this|that|she|he) (?:safe|dangerous|serious|cancer|an emergency)\b"
    r"|\bcan (?:she|he|they|i|we|the patient) (?:take|have|get|stop)\b"
    r"|\bsafe (?:to|for)\b|\btreatment (?:plan|option)",
    re.IGNORECASE | re.MULTILINE,
)
_READING = Pattern(
    r"\b(?:summar|list|show|overview|history|trend|timeline|record|develop|report|document|state)"
    r"|\b(?:not|no|never|nothing|without)\b",
    re.IGNORECASE,
)
_PART_END = Pattern(r"[\"\n]|(?<=[.?!])\s")


def find_advice_request(messages: Sequence[AnyMessage] | None) -> str:
    """Return the sentence of a task that asks for advice and for no reading; empty if none does."""
    intent = _INTENT.search(str(messages[0].content) if messages else "")
    for part in _PART_END.split(intent[1]) if intent else ():
        if _ADVICE.search(part) and not _READING.search(part):
            return sanitize_line(part, MAX_SHOWN_CHARS)
    return ""
