"""What an attempt at a task is made from, with the tool calls that it has made so far."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from langchain_core.messages import AIMessage, BaseMessage, ToolMessage

from nodes.limits.nesting import parse_json
from nodes.limits.patterns import Pattern
from nodes.schemas.handoff import Handoff, WorkValues
from nodes.text.request_parts import (
    begins_with_verb,
    goes_on,
    is_question,
    list_asking_parts,
    list_degrees,
    needs_earlier_request,
    points_back,
    read_fragment,
)
from nodes.text.similarity import extract_stems, pair_words
from state import Report

DECLINED = "(the human declined to answer"
"""How an answer begins that is none."""
OPENING = 'For the request "'
CITING = "Give every figure and statement with the name of its source."
"""Around the words of a task that is planned by rule."""
OTHERS_READ_ON = "Leave what no table holds to"
ONLY_WHAT_IS_LEFT = "Do so only for what is left open by"
"""In the tasks of two workers who get the same words: who reads tables is first."""
_PROVED = ("quoted", "computed", "returned")
MAX_QUERY_WORDS, MAX_QUERIES = 24, 8
_CUT = Pattern(r"\n\[cut \d+ of \d+ characters\]\s*$")
_NAME = Pattern(r"\w+(?:['\u2019.,\-/:@+]\w+)*+")
_ASKED = Pattern(r"\b(\w+) \(")


@dataclass(frozen=True)
class AnsweredCall:
    """A tool call of this attempt and its answer."""

    tool: str
    arguments: Mapping[str, Any]
    text: str
    is_error: bool = False

    @property
    def is_cut(self) -> bool:
        """Whether the answer is the beginning of a JSON object that was too long."""
        return self.text.startswith("{") and bool(_CUT.search(self.text[-100:]))

    @property
    def has_failed(self) -> bool:
        """Whether it has no readable answer: it failed, refused, or was cut."""
        return self.is_error or self.is_cut

    @property
    def is_refusal(self) -> bool:
        """Whether the tool refused the arguments; other failures do not concern them."""
        return self.is_error and not (self.is_cut or self.text.startswith(f"{self.tool} failed: "))

    @property
    def data(self) -> dict[str, Any]:
        """The answer as JSON; empty when it is not a JSON object."""
        try:
            value = parse_json(self.text)
        except ValueError:
            return {}
        return value if isinstance(value, dict) else {}

    @property
    def gaps(self) -> list[str]:
        """The gaps that the answer names."""
        found = self.data.get("gaps")
        return [str(gap) for gap in found] if isinstance(found, list) else []

    @property
    def has_passages(self) -> bool:
        """Whether a query found passages, and the tool says nothing of its own about them."""
        is_plain = not {"summary", "escalation", "rows"} & self.data.keys()
        return "query" in self.arguments and is_plain and bool(self.list_objects("results"))

    def list_objects(self, name: str) -> list[dict[str, Any]]:
        """Return the objects of a list of the answer."""
        found = self.data.get(name)
        return [each for each in found if isinstance(each, dict)] if isinstance(found, list) else []


@dataclass(frozen=True)
class Work:
    """A task with its handoff, a human's answers, and the calls that were made for it.

    `subject` has the request's own words, if any; `earlier` is why the last attempt failed; `card`
    is the worker's name and description; `lead` the earlier requests that the words need,
    and `rows_lead` those that they need where they ask a table.
    """

    handoff: Handoff
    subject: str = ""
    answers: Mapping[str, str] | None = None
    calls: Sequence[AnsweredCall] = ()
    earlier: str = ""
    card: str = ""
    lead: str = ""
    rows_lead: str = ""

    @property
    def request(self) -> str:
        """The words of the task, without a human's answers."""
        return self.subject or _read_own_words(self.handoff.intent)

    @property
    def words(self) -> str:
        """What to look for: a human's answers, if any, else the words of the task."""
        return "\n".join((self.answers or {}).values()) or self.request

    @property
    def question(self) -> str:
        """The words of the task with a human's answers; one that asks itself takes their place."""
        if not self.answers or is_question(self.words) or begins_with_verb(self.words):
            return self.words.strip()
        return f"{self.request.rstrip(' .?!')}: {self.words}"

    @property
    def absent(self) -> list[str]:
        """The words of the request that no document has of those that were searched.

        Where tables have answered some of the request, only those that they leave open. None of a
        task in other words than the request's.
        """
        if not (self.subject or self.answers or self.handoff.intent.startswith(OPENING)):
            return []
        written = {word.lower(): word for word in _NAME.findall(self.words)}
        left_open = self._left_open
        is_open = [word for word in self._find_absent() if word in left_open or not self._tables]
        is_open = [word for word in is_open if word in written or not self.lead]
        return [written.get(word, word) for word in is_open]

    @property
    def is_answered(self) -> bool:
        """Whether the task is for what the tables leave open, and they leave nothing open.

        One word that no searched document has either is nothing that is open.
        """
        is_open = any(len(each.failures) > len(each.left_open) for each in self._tables)
        left_open = self._left_open
        is_absent = len(left_open) <= 1 and left_open <= {*self._find_absent()}
        return bool(self._tables) and is_absent and not is_open

    @property
    def _tables(self) -> list[Report]:
        """The reports of those that read tables, where the task is for what they leave open."""
        return [
            each
            for each in self.handoff.context
            if f"{ONLY_WHAT_IS_LEFT} {each.task}." in self.handoff.intent
            and each.status == "completed"
        ]

    @property
    def _left_open(self) -> set[str]:
        """The words that the tables lack, in lower case."""
        return {word.lower() for each in self._tables for word in each.left_open}

    def _find_absent(self) -> list[str]:
        found = (call.data.get("absent") for call in self.calls if call.has_passages)
        words = dict.fromkeys(str(n) for each in found if isinstance(each, list) for n in each)
        return [word for word in words if word not in list_degrees(self.words)]

    @property
    def answer_text(self) -> str:
        """A human's answers, each after the names of the arguments that the question asks for."""
        lines = [(*_ASKED.findall(asked), text) for asked, text in (self.answers or {}).items()]
        return "\n".join(" ".join(parts).replace("_", " ") for parts in lines)

    @property
    def text(self) -> str:
        """The words of the task and those of a human's answers."""
        return f"{self.request}\n{self.answer_text}".strip()

    @property
    def query(self) -> str:
        """The content words to search for; where they only name the work, those of the card."""
        names_work = extract_stems(self.words) <= extract_stems(self.card)
        return _list_words(f"{self.lead} {self.words} {self.card if names_work else ''}")

    @property
    def queries(self) -> list[str]:
        """The same for each question and order; one that points back has what is before it, too.

        Of several, those with words that the tables leave open.
        """
        parts = list_asking_parts(self.words)
        left = self._left_open
        asked = [part for part in parts if left.intersection(_NAME.findall(part.lower()))] or parts
        led = [
            f"{self.lead} {' '.join(parts[: at + 1])}" if is_later else part
            for at, part in enumerate(parts)
            for is_later in [points_back(part) or read_fragment(part)]
            if part in asked
        ]
        found = list(dict.fromkeys(map(_list_words, led)))
        is_part = len(found) > 1 or len(asked) < len(parts)
        return found if is_part and len(found) <= MAX_QUERIES and all(found) else [self.query]

    @property
    def claims(self) -> list[dict[str, str]]:
        """The claims of earlier reports, but for those without a quotation that are proved."""
        every = (claim for report in self.handoff.context for claim in report.claims)
        held = [claim for claim in every if claim.quotation or claim.proof not in _PROVED]
        return [{"text": c.text, "source": c.source, "quotation": c.quotation} for c in held]

    @property
    def has_computed(self) -> bool:
        """Whether earlier reports have claims that are proved by what was computed or by rows."""
        claims = (claim for each in self.handoff.context for claim in each.claims)
        return any(claim.proof in _PROVED and not claim.quotation for claim in claims)

    @property
    def findings(self) -> list[dict[str, Any]]:
        """The findings of earlier reports, as JSON objects."""
        held = (finding for report in self.handoff.context for finding in report.findings)
        return [finding.model_dump(mode="json") for finding in held]


def _read_own_words(description: str) -> str:
    """Return what a task asks: of one that was planned by rule and changed since, its own words."""
    quoted, found, rest = description.removeprefix(OPENING).partition('": ')
    is_by_rule = description.startswith(OPENING) and found
    return f"{quoted}{rest.partition(CITING)[2]}" if is_by_rule else description


def _list_words(text: str) -> str:
    """Return the content words, and names such as `max_age` and 2.31 whole, in lower case."""
    words = [word.lower() for word in _NAME.findall(text) if pair_words(word)]
    words = [word.removesuffix("'s").removesuffix("\u2019s") for word in words]
    return " ".join(dict.fromkeys(words[:MAX_QUERY_WORDS]))


def read_work(values: WorkValues, messages: Sequence[BaseMessage]) -> Work:
    """Return a task's values with the calls of the conversation that were answered."""
    given = {m.tool_call_id: m for m in messages if isinstance(m, ToolMessage)}
    asked = [call for m in messages if isinstance(m, AIMessage) for call in m.tool_calls]
    calls = [
        AnsweredCall(call["name"], call["args"], str(answer.text), answer.status == "error")
        for call in asked
        if (answer := given.get(call["id"] or ""))
    ]
    answers = {q: a for q, a in values.answers.items() if not a.startswith(DECLINED)}
    lead = read_lead(values.before, values.subject)
    card = values.worker.card
    rows = read_lead(values.before, values.subject, of_rows=True)
    return Work(values.handoff, values.subject, answers, calls, values.earlier, card, lead, rows)


def read_lead(before: str, words: str, *, of_rows: bool = False) -> str:
    """Return the earlier requests that words are about, from the last that names its own subject.

    Empty for words that name theirs.

    Args:
        of_rows: words that begin with "and" may name the same rows, and are about those.
    """
    lead = list[str]()
    for text in filter(None, map(str.strip, reversed(before.splitlines()))):
        later = lead[0] if lead else words
        if not (needs_earlier_request(later) or (of_rows and goes_on(later))):
            break
        lead.insert(0, text if text[-1] in ".?!" else f"{text}.")
    return " ".join(lead)
