"""Parses what this application sends to a model: tagged sections, handoffs, tool results."""

import html
from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import Any

from langchain_core.messages import AIMessage, BaseMessage, HumanMessage, ToolMessage

from nodes.limits.nesting import parse_json
from nodes.limits.patterns import Pattern

_OPENING = Pattern(r'<([a-z_]+)(?: name="([^"]*)")?>\n')
_URL = Pattern(r"https?://[^\s<>\"'`)\]]+")
_QUOTED_REQUEST = Pattern(r'For the request "([^"]+)":')
_CODE = Pattern(r"`([^`]+)`")
_CUT = Pattern(r"\n\[cut \d+ of \d+ characters\]\s*$")


@dataclass(frozen=True)
class Section:
    """A tagged part of a message."""

    tag: str
    name: str
    raw: str

    @property
    def text(self) -> str:
        """The text as it was before its closing tags were escaped."""
        return self.raw.replace("<\\/", "</")


@dataclass(frozen=True)
class Passage:
    """A piece of text from a tool, and its source."""

    source: str
    text: str
    heading: str = ""
    """Of the part of the document that it is from."""


@dataclass(frozen=True)
class AnsweredCall:
    """A tool call of this conversation and its answer."""

    tool: str
    arguments: dict[str, Any]
    text: str
    has_failed: bool
    """It has no readable answer: it failed, refused, or was cut."""

    @property
    def is_refusal(self) -> bool:
        """Whether the tool refused the arguments; other failures do not concern them."""
        return self.has_failed and not (self._begins_as_failure or is_cut_object(self.text))

    @property
    def _begins_as_failure(self) -> bool:
        return self.text.startswith(f"{self.tool} failed: ")

    @property
    def data(self) -> dict[str, Any]:
        """The answer as JSON; empty when it is not a JSON object."""
        return parse_json_object(self.text)

    @property
    def passages(self) -> list[Passage]:
        """The texts with sources in the answer's results; prose is one passage."""
        if self.has_failed:
            return []
        if self.text.strip() and not self.data:
            return [Passage(self.tool, self.text)]
        results = self.data.get("results")
        items = results if isinstance(results, list) else []
        return [
            Passage(str(item.get("source", "")), str(item["text"]), str(item.get("place") or ""))
            for item in items
            if isinstance(item, dict) and item.get("text")
        ]


@dataclass(frozen=True)
class ReceivedHandoff:
    """A worker's handoff, and its calls since then."""

    intent: str
    reports: tuple[dict[str, Any], ...] = ()
    artifacts: dict[str, str] = field(default_factory=dict)
    calls: tuple[AnsweredCall, ...] = ()
    earlier_attempt: str = ""
    """Why an earlier attempt at the task failed."""

    @property
    def subject(self) -> str:
        """The request that an intent quotes, if this model planned it; else the whole intent."""
        return read_quoted_request(self.intent) or self.intent

    @property
    def code_spans(self) -> list[str]:
        """The parts of the intent between backticks."""
        return _CODE.findall(self.intent)

    @property
    def urls(self) -> list[str]:
        """The addresses in the intent."""
        return [url.rstrip(".,;:") for url in _URL.findall(self.intent)]

    @property
    def claims(self) -> list[dict[str, Any]]:
        """The claims of earlier reports."""
        return [claim for report in self.reports for claim in list_claims(report)]

    @property
    def findings(self) -> list[dict[str, Any]]:
        """The findings of earlier reports."""
        return [finding for report in self.reports for finding in list_objects(report, "findings")]


def list_sections(text: str) -> list[Section]:
    """Return the outermost tagged sections, so that text inside one cannot imitate another."""
    sections, at = [], 0
    while opening := _OPENING.search(text, at):
        tag, name = opening.group(1), html.unescape(opening.group(2) or "")
        closing = text.find(f"\n</{tag}>", opening.end() - 1)
        if closing < 0:
            at = opening.end()
            continue
        sections.append(Section(tag, name, text[opening.end() : max(closing, opening.end())]))
        at = closing + len(tag) + 4
    return sections


def read_section(text: str, tag: str) -> str:
    """Return the text of the first outermost section with a tag; empty without one."""
    return next((part.text for part in list_sections(text) if part.tag == tag), "")


def list_texts(messages: Sequence[BaseMessage], kind: type[BaseMessage]) -> list[str]:
    """Return the texts of all messages of a kind."""
    return [str(message.text) for message in messages if isinstance(message, kind)]


def read_handoff(messages: Sequence[BaseMessage]) -> ReceivedHandoff:
    """Return the handoff of a conversation; without one, the last human message is the intent."""
    human = list_texts(messages, HumanMessage)
    handoff = next((text for text in human if read_section(text, "intent")), "")
    if not handoff:
        return ReceivedHandoff(human[-1] if human else "", calls=tuple(_list_calls(messages)))
    return ReceivedHandoff(
        intent=read_section(handoff, "intent"),
        reports=tuple(parse_reports(read_section(handoff, "context"))),
        artifacts={part.name: part.text for part in list_sections(handoff) if part.tag == "file"},
        calls=tuple(_list_calls(messages)),
        earlier_attempt=read_section(handoff, "earlier_attempt"),
    )


def read_quoted_request(intent: str) -> str:
    """Return the request that a task of this model quotes; empty where it quotes none."""
    quoted = _QUOTED_REQUEST.match(intent)
    return quoted.group(1) if quoted else ""


def remove_code_spans(text: str) -> str:
    """Return a text without its parts between backticks."""
    return _CODE.sub(" ", text)


def parse_reports(lines: str) -> list[dict[str, Any]]:
    """Return reports from lines of JSON, one object each."""
    return [report for line in lines.splitlines() if (report := parse_json_object(line))]


def list_claims(report: dict[str, Any]) -> list[dict[str, Any]]:
    """Return the claims of a report that have a text."""
    return [claim for claim in list_objects(report, "claims") if claim.get("text")]


def list_objects(data: dict[str, Any], name: str) -> list[dict[str, Any]]:
    """Return the objects of a named list; empty without one."""
    value = data.get(name)
    return [item for item in value if isinstance(item, dict)] if isinstance(value, list) else []


def _list_calls(messages: Sequence[BaseMessage]) -> list[AnsweredCall]:
    answers = {m.tool_call_id: m for m in messages if isinstance(m, ToolMessage)}
    return [
        AnsweredCall(
            call["name"],
            call["args"],
            str(answer.text),
            answer.status == "error" or is_cut_object(str(answer.text)),
        )
        for message in messages
        if isinstance(message, AIMessage)
        for call in message.tool_calls
        if (answer := answers.get(call["id"] or ""))
    ]


def is_cut_object(text: str) -> bool:
    """Return whether a text is the beginning of a JSON object that was too long."""
    return text.startswith("{") and bool(_CUT.search(text[-100:]))


def parse_json_object(text: str) -> dict[str, Any]:
    """Return a text as a JSON object; empty when it is not one."""
    try:
        value = parse_json(text)
    except ValueError:
        return {}
    return value if isinstance(value, dict) else {}
