"""An answer as Markdown: its text, then what it rests on and what it lacks."""

from collections.abc import Iterable, Iterator, Mapping
from typing import Any

from nodes.text.printable import to_one_line

Json = Mapping[str, Any]
MAX_SOURCES_CHARS = 8000
"""Limit for the places named in one document."""
UNKNOWN = "(confidence unknown)"


def format_answer(answer: Json) -> str:
    """Return an answer as Markdown, with its sources, gaps and confidence below.

    A gap that its text states is not repeated.
    """
    text = str(answer.get("text", "")).strip()
    parts = [text]
    if findings := answer.get("findings"):
        parts.append(_format_list("Findings", map(_format_finding, findings)))
    if sources := answer.get("sources"):
        parts.append(_format_list("Sources", _group_by_document(sources), MAX_SOURCES_CHARS))
    if contradictions := answer.get("contradictions"):
        parts.append(_format_list("Contradictions", map(_format_contradiction, contradictions)))
    if gaps := [gap for gap in answer.get("gaps") or () if " ".join(gap.split()) not in text]:
        parts.append(_format_list("Gaps", gaps))
    parts.append(f"**Confidence:** {_format_confidence(answer)}")
    return "\n\n".join(parts)


def _format_confidence(answer: Json) -> str:
    """Return an answer's confidence, with the tasks it rests on whose confidence is unknown."""
    confidence, unrated = answer.get("confidence"), answer.get("unrated") or ()
    if confidence is None:
        return "unknown"
    named = f", but unknown for {', '.join(map(str, unrated))}" if unrated else ""
    return f"{confidence} of 100{named}"


def _format_list(title: str, items: Iterable[Any], max_chars: int = 1000) -> str:
    return "\n".join([f"**{title}**", "", *(f"- {to_one_line(item, max_chars)}" for item in items)])


def _group_by_document(sources: Iterable[Any]) -> Iterator[str]:
    """Yield each document once, with the places in it that sources name after a `#`."""
    places: dict[str, list[str]] = {}
    for source in map(str, sources):
        document, _, place = source.partition("#")
        places.setdefault(document, []).append(place)
    for document, named in places.items():
        known = list(filter(None, named))
        if len(known) > 1:
            yield f"{document}: {', '.join(known)}"
        else:
            yield "#".join([document, *known])


def _format_finding(finding: Json) -> str:
    place = ":".join(str(finding[key]) for key in ("file", "line") if finding.get(key))
    shown = f"`{place}` " if place else ""
    text = f"**{finding.get('severity', '')}** {shown}{finding.get('message', '')}"
    unknown = "" if "confidence" not in finding or finding["confidence"] is not None else UNKNOWN
    return " ".join(filter(None, [text, finding.get("suggestion"), unknown]))


def _format_contradiction(contradiction: Json) -> str:
    sides = " / ".join(
        f"{claim.get('text', '')} ({claim.get('source') or 'no source'})"
        for claim in contradiction.get("claims", ())
    )
    verdict = contradiction.get("verdict")
    return f"{contradiction.get('subject', '')}: {sides}{f' · {verdict}' if verdict else ''}"
