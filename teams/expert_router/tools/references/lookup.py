"""Build the experts' tools: each quotes what answers a query, or escalates.

The reference entries are one file of YAML for each field.
"""

import asyncio
import math
import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from functools import cache
from pathlib import Path
from typing import Annotated, Any, Literal, NamedTuple, get_args

import yaml
from langchain_core.tools import BaseTool, tool
from pydantic import BaseModel, ConfigDict, TypeAdapter
from pydantic import Field as Parameter

from extensions.tools.documents.index import STOP_WORDS, PassageIndex
from extensions.tools.documents.library import describe_unread, get_library
from extensions.tools.documents.passages import Passage
from nodes.errors import ToolRefused
from nodes.limits.patterns import Pattern
from nodes.text.counts import format_count
from nodes.text.plain_text import sanitize_line
from nodes.text.word_lists import FUNCTION_WORDS, QUESTION_WORDS
from nodes.tools.framework.argument_types import Query
from nodes.tools.framework.materials import Materials
from nodes.tools.framework.settings import ToolSettings
from nodes.tools.framework.tool_report import ToolReport, escalate_out_of_scope, join_names

MIN_SHARE = 0.4
"""Share of the weight of the query's words that a passage must have."""
MIN_SHARE_OF_BEST = 0.75
"""Share of the best passage's weight that another must have to be listed beside it."""
MAX_HITS = 100
"""Passages examined for each word."""
MAX_WORDS = 40
"""Words of a query that are looked up."""

_WORD = Pattern(r"[^\W_]{2,}")
_IGNORED_WORDS = FUNCTION_WORDS | QUESTION_WORDS | STOP_WORDS


def extract_keywords(query: str) -> tuple[str, ...]:
    """Return the words of a query that are not grammar."""
    words = (word.lower() for word in _WORD.findall(query))
    return tuple(dict.fromkeys(word for word in words if word not in _IGNORED_WORDS))[:MAX_WORDS]


def find_covering_passages(index: PassageIndex, query: str) -> list[Passage]:
    """Return the passages that cover a query, the best first; none if none covers it.

    A word weighs the more the fewer passages have it; most if none has it. One shared word is
    enough only if no other passage has it, and this one has it in the same form.
    """
    words = extract_keywords(query)
    holders = {word: {hit.passage for hit in index.search(word, MAX_HITS)} for word in words}
    weights = {word: math.log(1 + MAX_HITS / max(1, len(holders[word]))) for word in words}
    shared = {
        passage: [word for word in words if passage in holders[word]]
        for passage in set().union(*holders.values())
    }
    total = sum(weights.values())
    shares = {
        passage: sum(weights[word] for word in found) / total
        for passage, found in shared.items()
        if len(found) > 1 or (len(holders[found[0]]) == 1 and _has_word(passage, found[0]))
    }
    least = max(MIN_SHARE, MIN_SHARE_OF_BEST * max(shares.values(), default=0.0))
    kept = [passage for passage in shares if shares[passage] >= least]
    return sorted(kept, key=lambda each: (-shares[each], each.source, each.text))


def _has_word(passage: Passage, word: str) -> bool:
    return word in _WORD.findall(f"{passage.place} {passage.text}".lower())


Field = Literal["legal", "medical", "technical", "financial"]
Country = Literal["EU", "Germany", "UK", "United States"]

FIELDS: tuple[Field, ...] = get_args(Field)
PLACES: dict[Country, tuple[str, ...]] = {
    "EU": ("European Union",),
    "Germany": ("Germany", "European Union"),
    "UK": ("United Kingdom", "Great Britain", "England and Wales", "England"),
    "United States": ("United States",),
}
"""Where entries hold that hold in a country."""

_FOLDER = Path(__file__).parent


class ReferenceEntry(BaseModel):
    """A fact in our words, and the public text that supports it."""

    model_config = ConfigDict(frozen=True, extra="forbid")

    id: str
    title: str
    where: str = ""
    """Where it applies; empty if the place does not matter."""
    terms: str
    """Other words for what users ask."""
    text: str
    source: str
    as_of: str
    """Date or version of the source."""

    @property
    def citation(self) -> str:
        """Return the source with its date or version."""
        return f"{self.source} ({self.as_of})"


def find_entries(query: str, country: Country | None = None) -> list[tuple[Field, ReferenceEntry]]:
    """Return the entries of every field whose title and terms cover a query, the best first.

    Args:
        country: an entry that holds only elsewhere is left out.
    """
    held = {
        entry.id: (field, entry)
        for field in FIELDS
        for entry in load_entries(field)
        if not (country and entry.where) or entry.where in PLACES[country]
    }
    found = find_covering_passages(_build_index(), query)
    return [held[each.source] for each in found if each.source in held]


@cache
def load_entries(field: Field) -> tuple[ReferenceEntry, ...]:
    """Load a field's entries, once per process."""
    return TypeAdapter(tuple[ReferenceEntry, ...]).validate_python(_read_yaml(field))


@cache
def _build_index() -> PassageIndex:
    """Index the titles and terms of all fields: a word that many entries have tells little."""
    place_words = _read_yaml("places")
    return PassageIndex(
        Passage(
            entry.id,
            entry.title,
            f"{entry.terms} {entry.where} {place_words.get(entry.where, '')}",
        )
        for field in FIELDS
        for entry in load_entries(field)
    )


@cache
def _read_yaml(name: str) -> dict[str, str]:
    held: dict[str, str] = yaml.safe_load((_FOLDER / f"{name}.yaml").read_text(encoding="utf-8"))
    return held


MAX_QUOTE_CHARS = 700
STEM_CHARS = 5

_BREAK = Pattern(r"\n[ \t]*\n")
_INSTRUCTION = Pattern(
    r"\b(?:ignore|disregard|forget)\b.{0,40}\b(?:instructions?|prompts?)\b"
    r"|\b(?:ignore|disregard|forget) (?:all |any |your |the |these |previous )*rules\b"
    r"|^[^\w\n]*+(?:system|assistant)\W*:"
    r"|\byou (?:are|act as) (?:now )?(?:an? )?(?:ai|assistant|chatbot|language model)\b"
    r"|\b(?:ai|language) models? (?:must|should|shall)\b",
    re.IGNORECASE | re.DOTALL | re.MULTILINE,
)


class Quotation(NamedTuple):
    """Words of a document, verbatim."""

    source: str
    place: str
    text: str


def find_quotations(
    index: PassageIndex, query: str, limit: int
) -> tuple[list[Quotation], list[str]]:
    """Return quotations that answer a query, the best first; and the sources of withheld ones.

    A passage that addresses a program that reads it is no reference, and is withheld.
    """
    stems = [word[:STEM_CHARS] for word in extract_keywords(query)]
    found = [
        Quotation(each.source, each.place, _choose_quote(each.text, stems))
        for each in find_covering_passages(index, query)
    ]
    kept = [each for each in found if not _INSTRUCTION.search(each.text)]
    return kept[:limit], sorted({each.source for each in found if each not in kept})


def _choose_quote(text: str, stems: list[str]) -> str:
    """Return the paragraph with most of the query's words, cut at a line or word if it is long."""
    parts = [part.strip() for part in _BREAK.split(text)]
    paragraphs = [part for part in parts if part and not part.startswith("#")] or [text]
    best = max(paragraphs, key=lambda part: sum(stem in part.lower() for stem in stems))
    if len(best) <= MAX_QUOTE_CHARS:
        return best
    cut = max(best.rfind(mark, 0, MAX_QUOTE_CHARS) for mark in (". ", "\n", " "))
    return best[: cut + 1 if cut > 0 else MAX_QUOTE_CHARS].strip()


_FILE = Path(__file__).with_name("referrals.yaml")

Rule = tuple[str, tuple[tuple[Pattern, ...], ...]]
"""What is said, and the combinations of patterns of which one must be found."""


def find_referral(field: Field, query: str) -> str:
    """Return whom a query is for instead; empty if the references may answer it.

    Emergencies come first, in every field. The worker's instructions say the same to a model; this
    check also holds where the model does not.
    """
    for message, combinations in (*_load_rules("everywhere"), *_load_rules(field)):
        if any(all(each.search(query) for each in patterns) for patterns in combinations):
            return message
    return ""


@cache
def _load_rules(section: str) -> tuple[Rule, ...]:
    held = yaml.safe_load(_FILE.read_text(encoding="utf-8"))
    words = held["words"]
    return tuple(
        (
            rule["says"],
            tuple(
                tuple(Pattern(words.get(part, part), re.IGNORECASE) for part in line.split(" & "))
                for line in rule["when"]
            ),
        )
        for rule in held.get(section, ())
    )


MAX_QUERY_CHARS = 2000
MAX_WORD_CHARS = 40


def build_reference_tool(field: Field, settings: ToolSettings) -> BaseTool:
    """Build a field's search, also of the run's materials and `settings.documents`."""
    library = get_library(settings.documents)

    @tool(f"{field}_reference", description=_DESCRIPTION.format(field=field))
    async def search(
        query: Annotated[
            Query,
            Parameter(
                description="What is asked, in the user's own words, one question at a time",
                max_length=MAX_QUERY_CHARS,
            ),
        ],
        country: Annotated[
            Country | None,
            Parameter(description="Where it must hold; EU for a member state not named here"),
        ] = None,
        limit: Annotated[int, Parameter(description="Most entries to quote", ge=1, le=8)] = 3,
        materials: Materials = None,
    ) -> dict[str, Any]:
        if whom := await asyncio.to_thread(find_referral, field, query):
            return escalate_out_of_scope(whom)
        if not extract_keywords(query):
            raise ToolRefused("the query names nothing to look up; say what it is about")
        index, skipped, _ = await library.get_index(materials)
        found = await asyncio.to_thread(_look_up, field, query, country, limit, index)
        return _build_report(found, country, describe_unread(skipped), materials or {})

    return search


_DESCRIPTION = """\
Find the entries of the {field} references that answer a question, and passages of the user's \
own documents. Quote them word for word and cite `source` exactly as given.

An escalation is returned for an emergency, for advice on the user's own case, and for what no \
entry answers; `topics` then lists what is available, in case other words find it."""


@dataclass(frozen=True)
class _Found:
    """What a lookup found, the best first."""

    field: Field
    query: str
    entries: Sequence[ReferenceEntry]
    other_fields: Sequence[Field]
    """Other fields whose entries answer the query."""
    quotations: Sequence[Quotation]
    withheld: Sequence[str]
    """Documents with a passage that gives orders to its reader."""


def _look_up(
    field: Field, query: str, country: Country | None, limit: int, index: PassageIndex
) -> _Found:
    found = find_entries(query, country)
    entries = [entry for owner, entry in found if owner == field][:limit]
    others = list(dict.fromkeys(owner for owner, _ in found))
    return _Found(field, query, entries, others, *find_quotations(index, query, limit))


def _build_report(
    found: _Found, country: Country | None, unread: str, materials: Mapping[str, str]
) -> dict[str, Any]:
    if not found.entries and not found.quotations:
        return _escalate_unanswered(found, unread)
    report = ToolReport()
    if found.entries:
        number = format_count(len(found.entries), "entry", "entries")
        report.lines.append(
            f"{number} of the {found.field} references, quoted; the source that each names decides."
        )
    for entry in found.entries:
        where = f" ({entry.where})" if entry.where else ""
        _add_quote(report, f"**{entry.title}**{where}", entry.text, entry.citation)
    if found.quotations:
        report.lines += ["", "From your own documents, word for word:"]
    for each in found.quotations:
        place = f", {sanitize_line(each.place, 80)}" if each.place else ""
        _add_quote(report, f"**{each.source}**{place}", each.text, each.source)
    places = sorted({each.where for each in found.entries if each.where and not country})
    unquoted = materials if materials.keys().isdisjoint(c["source"] for c in report.claims) else ()
    for names, gap in (
        (places, "The entries hold for: {}. Elsewhere other rules may hold."),
        (found.withheld, "Not quoted, since it gives orders to its reader: a passage of {}."),
        ([unread] if unread else [], "Not read: {}."),
        (unquoted, "Nothing on it was found in {}."),
    ):
        report.gaps += [gap.format(join_names(names))] if names else []
    return report.to_json()


def _add_quote(report: ToolReport, head: str, text: str, source: str) -> None:
    quoted = [f"> {line.strip()}".rstrip() for line in text.splitlines()]
    report.lines += ["", head, "", *quoted, "", f"Source: {source}"]
    report.add_claim(text, source, text)


def _escalate_unanswered(found: _Found, unread: str) -> dict[str, Any]:
    words = join_names(word[:MAX_WORD_CHARS] for word in extract_keywords(found.query))
    others = join_names(found.other_fields)
    hint = (
        f"those of {others} do" if others else "attach one that does (on the command line: --file)"
    )
    missed = f"; not read: {unread}" if unread else ""
    escalation = escalate_out_of_scope(
        f"the {found.field} references hold nothing that answers this ({words}); {hint}{missed}"
    )
    return {**escalation, "topics": [entry.title for entry in load_entries(found.field)]}
