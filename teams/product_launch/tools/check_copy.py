"""Check copy against what each channel accepts and forbids."""

import asyncio
from collections.abc import Mapping
from typing import Annotated, Any

from langchain_core.tools import tool
from langgraph.prebuilt import InjectedState

from nodes.text.plain_text import sanitize_line
from nodes.tools.framework.tool_report import build_failures_part
from nodes.tools.tables.formatting import build_claim, format_table

from .launch.channels import Channel, find_channel, load_channel_book
from .launch.draft_check import DraftCheck, check_draft, load_forbidden_words
from .launch.drafts import MAX_CHARS, TEXT_SUFFIXES, find_drafts, find_material_drafts
from .launch.out_of_scope import reject_if_out_of_scope

ACCESS = {"reads": ["private", "untrusted"], "sends": "nothing"}
MAX_TEXTS, MAX_FINDINGS, MAX_CLAIMS = 30, 20, 10
"""Size limit of one answer; the table has a row for each text."""
MAX_QUOTE_CHARS = 200
UNCHECKED_GAP = (
    "Whether the copy is true, fits the brand and the law of the market is for a human to judge: "
    "lengths and listed words alone were checked."
)


@tool
async def check_copy(
    request: str,
    text: str = "",
    materials: Annotated[dict[str, str] | None, InjectedState("materials")] = None,
) -> dict[str, Any]:
    """Check launch copy: length as the channel counts it, forbidden claims and characters.

    Put each text under a heading that names its channel: Google Ads headline, Google Ads
    description, X post, SMS, email subject, App Store name, App Store subtitle, App Store keywords,
    Google Play title, Google Play short description and similar. Without `text` the drafts among
    the artifacts are checked. A CSV artifact with a column `forbidden`, and optionally `reason`,
    adds forbidden words of your own. Each limit is returned with its source.
    Example: check_copy(request="Check the SMS", text="## SMS\\nNordlys is here. Reply STOP")
    """
    if elsewhere := reject_if_out_of_scope(request):
        return elsewhere
    return await asyncio.to_thread(_check_texts, request, text, materials)


def _check_texts(request: str, text: str, materials: Mapping[str, str] | None) -> dict[str, Any]:
    book = load_channel_book()
    if text.strip():
        found, unknown = find_drafts("draft", text, book.channels)
    else:
        found, unknown = find_material_drafts(materials, book.channels)
    gaps = [f"No channel is known for {heading!r}; it was not checked." for heading in unknown]
    failures = _describe_truncation({"draft": text} if text.strip() else materials or {})
    if not found:
        return {**_describe_limits(request, book.channels, gaps), **build_failures_part(failures)}
    own = load_forbidden_words(materials)
    checked = [check_draft(draft, book, own) for draft in found[:MAX_TEXTS]]
    if len(found) > MAX_TEXTS:
        failures.append(
            f"the first {MAX_TEXTS} of {len(found)} texts were checked; give the rest apart"
        )
    findings = [each for one in checked for each in one.list_findings()]
    if (more := len(findings) - MAX_FINDINGS) > 0:
        gaps.append(f"{more} more texts with remarks are in the table alone.")
    bad = sum(bool(each.remarks) for each in checked)
    texts = "1 text" if len(checked) == 1 else f"{len(checked)} texts"
    line = f"{texts} checked: {len(checked) - bad} without a remark, {bad} with one."
    columns = ["channel", "text", "length", "most", "remark"]
    rows = [each.to_row() for each in checked]
    return {
        "summary": "\n\n".join(
            [line, format_table(columns, rows, len(rows)), _cite_sources(checked)]
        ),
        "claims": [_build_length_claim(each) for each in checked[:MAX_CLAIMS]],
        "findings": findings[:MAX_FINDINGS],
        "gaps": [*gaps, UNCHECKED_GAP],
        **build_failures_part(failures),
    }


def _describe_truncation(texts: Mapping[str, str]) -> list[str]:
    long = [name for name, text in texts.items() if len(text) > MAX_CHARS and _may_be_copy(name)]
    return [f"only the first {MAX_CHARS:,} characters of {name} were read" for name in long]


def _may_be_copy(name: str) -> bool:
    return name == "draft" or name.lower().endswith(TEXT_SUFFIXES)


def _describe_limits(
    request: str, channels: Mapping[str, Channel], gaps: list[str]
) -> dict[str, Any]:
    """Return the limits and rules for copy, for when there is no copy to check."""
    asked = [key for key in channels if find_channel(request, {key: channels[key]})]
    shown = {key: channels[key] for key in asked or channels}
    rows = [[each.title, str(each.max), each.count, each.source] for each in shown.values()]
    gap = "There is no copy to check: writing it takes a language model or a person."
    return {
        "summary": "What copy must keep to:\n\n"
        + format_table(["channel", "most", "counted in", "who says so"], rows),
        "claims": [
            build_claim(f"{each.title}: at most {each.max} ({each.count}).", each.source)
            for each in list(shown.values())[:12]
        ],
        "gaps": [*gaps, gap],
    }


def _build_length_claim(each: DraftCheck) -> dict[str, Any]:
    text = (
        f"{each.channel.title} in line {each.draft.line} has a length of {each.length}, of at "
        f"most {each.max_length}."
    )
    return build_claim(text, each.draft.source, sanitize_line(each.draft.text, MAX_QUOTE_CHARS))


def _cite_sources(checked: list[DraftCheck]) -> str:
    named: dict[str, list[str]] = {}
    for channel in dict.fromkeys(each.channel for each in checked):
        named.setdefault(channel.source, []).append(channel.title)
    said = "; ".join(f"{', '.join(titles)}: {source}" for source, titles in named.items())
    return f"Limits from: {said}."
