"""A question put to one domain's references and to the user's own documents."""

import asyncio
from collections.abc import Hashable, Mapping, Sequence
from typing import Any, TypeVar

from nodes.tools.documents.folder import Skipped, list_unread
from nodes.tools.documents.index import PassageIndex
from nodes.tools.documents.library import Library
from nodes.tools.plain_text import plain_line
from nodes.tools.references.collection import DOMAINS, Domain, Entry, collection_of, places
from nodes.tools.references.handing_over import for_a_person
from nodes.tools.references.own import Quotation, quotations
from nodes.tools.references.words import Words, parts
from nodes.tools.replies import Reply, counted, listed
from nodes.tools.scope import out_of_scope

MAX_ENTRIES = 3
MAX_QUOTATIONS = 3
MAX_WORD_CHARS = 40
MAX_QUESTION_CHARS = 8000

Found = TypeVar("Found", bound=Hashable)


async def consult(
    domain: Domain, question: str, materials: Mapping[str, str] | None, library: Library
) -> dict[str, Any]:
    """Quote what answers a question; hand back what is for a person, or what nothing answers."""
    if whom := await asyncio.to_thread(for_a_person, domain, question):
        return out_of_scope(whom)
    asked = parts(question[:MAX_QUESTION_CHARS])
    if not asked[0].telling:
        message = "the question names nothing to look up; say what it is about"
        return {"escalation": {"reason": "ambiguous_input", "message": message}}
    index, skipped, _ = await library.index(materials)
    return await asyncio.to_thread(_told, question, domain, asked, index, skipped)


def _told(
    question: str,
    domain: Domain,
    asked: Sequence[Words],
    index: PassageIndex,
    skipped: Sequence[Skipped],
) -> dict[str, Any]:
    named = places(asked[0])
    entries = _entries(domain, asked)[:MAX_ENTRIES]
    found = _found([quotations(index, words) for words in asked])
    quoted = [each for each in found if not each.gives_orders][:MAX_QUOTATIONS]
    if not entries and not quoted:
        return _nothing(question, domain, asked, skipped)
    reply = Reply()
    _tell_entries(reply, domain, entries)
    _tell_quotations(reply, quoted)
    if (where := {entry.where for entry in entries if entry.where}) and not named:
        names = listed(sorted(where))
        reply.gaps.append(f"The entries hold for: {names}. Elsewhere other rules may hold.")
    if silenced := {each.source for each in found if each.gives_orders}:
        names = listed(sorted(silenced))
        reply.gaps.append(f"Not quoted, since it gives orders to its reader: a passage of {names}.")
    if unread := list_unread(skipped):
        reply.gaps.append(f"Not read: {unread}.")
    if len(question) > MAX_QUESTION_CHARS:
        reply.failures.append(f"only the first {MAX_QUESTION_CHARS} characters were looked up")
    return reply.to_json()


def _entries(domain: Domain, asked: Sequence[Words]) -> list[Entry]:
    collection, named = collection_of(domain), places(asked[0])
    return _found([collection.answering(words, named) for words in asked])


def _found(by_part: Sequence[list[Found]]) -> list[Found]:
    """Give what answers the whole question, and the best for each of its clauses."""
    whole, *clauses = by_part
    best = [one for found in clauses for one in found[:1]]
    return list(dict.fromkeys([*whole, *best]))


def _tell_entries(reply: Reply, domain: Domain, entries: Sequence[Entry]) -> None:
    if entries:
        number = counted(len(entries), "entry", "entries")
        reply.lines.append(
            f"{number} of the {domain} references, quoted; the source that each names decides."
        )
    for entry in entries:
        where = f" ({entry.where})" if entry.where else ""
        reply.lines += _block(f"**{entry.title}**{where}", entry.text, entry.citation)
        reply.claim(entry.text, entry.citation, entry.text)


def _tell_quotations(reply: Reply, quoted: Sequence[Quotation]) -> None:
    if quoted:
        reply.lines += [*([""] if reply.lines else []), "From your own documents, word for word:"]
    for each in quoted:
        place = f", {plain_line(each.place, 80)}" if each.place else ""
        reply.lines += _block(f"**{each.source}**{place}", each.text, each.source)
        reply.claim(each.text, each.source, each.text)


def _block(head: str, text: str, source: str) -> list[str]:
    quoted = [f"> {line.strip()}".rstrip() for line in text.splitlines()]
    return ["", head, "", *quoted, "", f"Source: {source}"]


def _nothing(
    question: str, domain: Domain, asked: Sequence[Words], skipped: Sequence[Skipped]
) -> dict[str, Any]:
    """Hand back: to a person, to the expert who does know, or with what the references hold."""
    others = [other for other in DOMAINS if other != domain]
    if whom := next(filter(None, (for_a_person(other, question) for other in others)), ""):
        return out_of_scope(whom)
    words = listed(word[:MAX_WORD_CHARS] for word in asked[0].telling)
    elsewhere = [other for other in others if _entries(other, asked)]
    unread = f"; not read: {missed}" if (missed := list_unread(skipped)) else ""
    hint = f"those of {listed(elsewhere)} do" if elsewhere else "give one that does with --file"
    told = out_of_scope(
        f"the {domain} references hold nothing that answers this ({words}); {hint}{unread}"
    )
    return {**told, "topics": [entry.title for entry in collection_of(domain).entries]}
