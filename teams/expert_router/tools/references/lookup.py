"""Answer a question from one domain's references and the user's own documents."""

import asyncio
from collections.abc import Hashable, Mapping, Sequence
from typing import Any, TypeVar

from nodes.text.counts import format_count
from nodes.text.plain_text import sanitize_line
from nodes.tools.documents.folder import SkippedFile, describe_unread
from nodes.tools.documents.index import PassageIndex
from nodes.tools.documents.library import DocumentLibrary
from nodes.tools.framework.out_of_scope import escalate_out_of_scope
from nodes.tools.framework.tool_report import ToolReport, join_names

from .collection import (
    DOMAINS,
    Domain,
    ReferenceEntry,
    find_places,
    load_collection,
)
from .question_words import QuestionWords, split_question
from .referral import find_referral
from .user_documents import Quotation, find_quotations

MAX_ENTRIES = 3
MAX_QUOTATIONS = 3
MAX_WORD_CHARS = 40
MAX_QUESTION_CHARS = 8000

Item = TypeVar("Item", bound=Hashable)


async def look_up_references(
    domain: Domain, question: str, materials: Mapping[str, str] | None, library: DocumentLibrary
) -> dict[str, Any]:
    """Quote what answers a question; escalate what needs a human, or what nothing answers."""
    if whom := await asyncio.to_thread(find_referral, domain, question):
        return escalate_out_of_scope(whom)
    asked = split_question(question[:MAX_QUESTION_CHARS])
    if not asked[0].keywords:
        message = "the question names nothing to look up; say what it is about"
        return {"escalation": {"reason": "ambiguous_input", "message": message}}
    index, skipped, _ = await library.get_index(materials)
    return await asyncio.to_thread(_compose_report, question, domain, asked, index, skipped)


def _compose_report(
    question: str,
    domain: Domain,
    asked: Sequence[QuestionWords],
    index: PassageIndex,
    skipped: Sequence[SkippedFile],
) -> dict[str, Any]:
    named = find_places(asked[0])
    entries = _find_entries(domain, asked)[:MAX_ENTRIES]
    found = _pick_best([find_quotations(index, words) for words in asked])
    quoted = [each for each in found if not each.contains_instructions][:MAX_QUOTATIONS]
    if not entries and not quoted:
        return _escalate_unanswered(question, domain, asked, skipped)
    reply = ToolReport()
    _report_entries(reply, domain, entries)
    _report_quotations(reply, quoted)
    if (where := {entry.where for entry in entries if entry.where}) and not named:
        names = join_names(sorted(where))
        reply.gaps.append(f"The entries hold for: {names}. Elsewhere other rules may hold.")
    if silenced := {each.source for each in found if each.contains_instructions}:
        names = join_names(sorted(silenced))
        reply.gaps.append(f"Not quoted, since it gives orders to its reader: a passage of {names}.")
    if unread := describe_unread(skipped):
        reply.gaps.append(f"Not read: {unread}.")
    if len(question) > MAX_QUESTION_CHARS:
        reply.failures.append(f"only the first {MAX_QUESTION_CHARS} characters were looked up")
    return reply.to_json()


def _find_entries(domain: Domain, asked: Sequence[QuestionWords]) -> list[ReferenceEntry]:
    collection, named = load_collection(domain), find_places(asked[0])
    return _pick_best([collection.find_answers(words, named) for words in asked])


def _pick_best(by_part: Sequence[list[Item]]) -> list[Item]:
    """Return what answers the whole question, and the best for each of its clauses."""
    whole, *clauses = by_part
    best = [one for found in clauses for one in found[:1]]
    return list(dict.fromkeys([*whole, *best]))


def _report_entries(reply: ToolReport, domain: Domain, entries: Sequence[ReferenceEntry]) -> None:
    if entries:
        number = format_count(len(entries), "entry", "entries")
        reply.lines.append(
            f"{number} of the {domain} references, quoted; the source that each names decides."
        )
    for entry in entries:
        where = f" ({entry.where})" if entry.where else ""
        reply.lines += _format_block(f"**{entry.title}**{where}", entry.text, entry.citation)
        reply.add_claim(entry.text, entry.citation, entry.text)


def _report_quotations(reply: ToolReport, quoted: Sequence[Quotation]) -> None:
    if quoted:
        reply.lines += [*([""] if reply.lines else []), "From your own documents, word for word:"]
    for each in quoted:
        place = f", {sanitize_line(each.place, 80)}" if each.place else ""
        reply.lines += _format_block(f"**{each.source}**{place}", each.text, each.source)
        reply.add_claim(each.text, each.source, each.text)


def _format_block(head: str, text: str, source: str) -> list[str]:
    quoted = [f"> {line.strip()}".rstrip() for line in text.splitlines()]
    return ["", head, "", *quoted, "", f"Source: {source}"]


def _escalate_unanswered(
    question: str, domain: Domain, asked: Sequence[QuestionWords], skipped: Sequence[SkippedFile]
) -> dict[str, Any]:
    """Escalate to a human, to the expert for the question, or with the available topics."""
    others = [other for other in DOMAINS if other != domain]
    if whom := next(filter(None, (find_referral(other, question) for other in others)), ""):
        return escalate_out_of_scope(whom)
    words = join_names(word[:MAX_WORD_CHARS] for word in asked[0].keywords)
    elsewhere = [other for other in others if _find_entries(other, asked)]
    unread = f"; not read: {missed}" if (missed := describe_unread(skipped)) else ""
    hint = f"those of {join_names(elsewhere)} do" if elsewhere else "give one that does with --file"
    told = escalate_out_of_scope(
        f"the {domain} references hold nothing that answers this ({words}); {hint}{unread}"
    )
    return {**told, "topics": [entry.title for entry in load_collection(domain).entries]}
