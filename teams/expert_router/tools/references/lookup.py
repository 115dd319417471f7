"""Build the experts' tools: each quotes what answers a query, or escalates."""

import asyncio
from collections.abc import Mapping, Sequence
from typing import Annotated, Any

from langchain_core.tools import BaseTool, tool
from langgraph.prebuilt import InjectedState
from pydantic import Field as Parameter

from nodes.errors import ToolRefused
from nodes.text.counts import format_count
from nodes.text.plain_text import sanitize_line
from nodes.tools.documents.folder import SkippedFile, describe_unread
from nodes.tools.documents.index import PassageIndex
from nodes.tools.documents.library import get_library
from nodes.tools.framework.argument_types import Query
from nodes.tools.framework.out_of_scope import escalate_out_of_scope
from nodes.tools.framework.settings import ToolSettings
from nodes.tools.framework.tool_report import ToolReport, join_names

from .collection import Country, Field, ReferenceEntry, find_entries, load_entries
from .coverage import extract_keywords
from .quotations import Quotation, find_quotations
from .referrals import find_referral

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
            ),
        ],
        country: Annotated[
            Country | None,
            Parameter(description="Where it must hold; EU for a member state not named here"),
        ] = None,
        limit: Annotated[int, Parameter(description="Most entries to quote", ge=1, le=8)] = 3,
        materials: Annotated[dict[str, str] | None, InjectedState("materials")] = None,
    ) -> dict[str, Any]:
        if len(query) > MAX_QUERY_CHARS:
            raise ToolRefused(
                f"the query has {len(query)} characters, of at most {MAX_QUERY_CHARS}; ask one "
                "question in a few words"
            )
        if whom := await asyncio.to_thread(find_referral, field, query):
            return escalate_out_of_scope(whom)
        if not extract_keywords(query):
            raise ToolRefused("the query names nothing to look up; say what it is about")
        index, skipped, _ = await library.get_index(materials)
        told = await asyncio.to_thread(_look_up, field, query, country, limit, index, skipped)
        return _name_unquoted(told, materials or {})

    return search


_DESCRIPTION = """\
Find the entries of the {field} references that answer a question, and passages of the user's \
own documents. Quote them word for word and cite `source` exactly as given.

An escalation is returned for an emergency, for advice on the user's own case, and for what no \
entry answers; `topics` then lists what is available, in case other words find it."""


def _look_up(
    field: Field,
    query: str,
    country: Country | None,
    limit: int,
    index: PassageIndex,
    skipped: Sequence[SkippedFile],
) -> dict[str, Any]:
    found = find_entries(query, country)
    entries = [entry for owner, entry in found if owner == field][:limit]
    quoted, silenced = find_quotations(index, query, limit)
    unread = describe_unread(skipped)
    if not entries and not quoted:
        others = list(dict.fromkeys(owner for owner, _ in found))
        return _escalate_unanswered(field, query, others, unread)
    report = ToolReport()
    _report_entries(report, field, entries)
    _report_quotations(report, quoted)
    if (where := sorted({each.where for each in entries if each.where})) and country is None:
        report.gaps.append(
            f"The entries hold for: {join_names(where)}. Elsewhere other rules may hold."
        )
    if silenced:
        report.gaps.append(
            f"Not quoted, since it gives orders to its reader: a passage of {join_names(silenced)}."
        )
    if unread:
        report.gaps.append(f"Not read: {unread}.")
    return report.to_json()


def _name_unquoted(told: dict[str, Any], materials: Mapping[str, str]) -> dict[str, Any]:
    """Return the answer with a gap for the user's files if none of them is quoted."""
    cited = {claim["source"] for claim in told.get("claims", ())}
    if not cited or not materials or cited & materials.keys():
        return told
    return {**told, "gaps": [*told["gaps"], f"Nothing on it was found in {join_names(materials)}."]}


def _report_entries(report: ToolReport, field: Field, entries: Sequence[ReferenceEntry]) -> None:
    if entries:
        number = format_count(len(entries), "entry", "entries")
        report.lines.append(
            f"{number} of the {field} references, quoted; the source that each names decides."
        )
    for entry in entries:
        where = f" ({entry.where})" if entry.where else ""
        _add_quote(report, f"**{entry.title}**{where}", entry.text, entry.citation)


def _report_quotations(report: ToolReport, quoted: Sequence[Quotation]) -> None:
    if quoted:
        report.lines += [*([""] if report.lines else []), "From your own documents, word for word:"]
    for each in quoted:
        place = f", {sanitize_line(each.place, 80)}" if each.place else ""
        _add_quote(report, f"**{each.source}**{place}", each.text, each.source)


def _add_quote(report: ToolReport, head: str, text: str, source: str) -> None:
    quoted = [f"> {line.strip()}".rstrip() for line in text.splitlines()]
    report.lines += ["", head, "", *quoted, "", f"Source: {source}"]
    report.add_claim(text, source, text)


def _escalate_unanswered(
    field: Field, query: str, others: Sequence[Field], unread: str
) -> dict[str, Any]:
    words = join_names(word[:MAX_WORD_CHARS] for word in extract_keywords(query))
    hint = f"those of {join_names(others)} do" if others else "give one that does with --file"
    missed = f"; not read: {unread}" if unread else ""
    escalation = escalate_out_of_scope(
        f"the {field} references hold nothing that answers this ({words}); {hint}{missed}"
    )
    return {**escalation, "topics": [entry.title for entry in load_entries(field)]}
