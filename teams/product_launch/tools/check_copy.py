"""Check copy against what each channel accepts and forbids."""

import asyncio
from collections.abc import Mapping, Sequence
from typing import Annotated, Any, get_args

from langchain_core.tools import tool
from langgraph.prebuilt import InjectedState
from pydantic import BaseModel, Field

from nodes.text.plain_text import sanitize_line
from nodes.tools.framework.tool_report import ToolReport
from state import Severity

from .launch.channels import ChannelName, load_channel_book
from .launch.draft_check import MAX_SHOWN_CHARS, DraftCheck, check_draft, load_forbidden_words
from .launch.drafts import MAX_CHARS, TEXT_SUFFIXES, Draft, find_material_drafts

ACCESS = {"reads": ["private", "untrusted"], "sends": "nothing"}
MAX_TEXTS, MAX_FINDINGS, MAX_CLAIMS = 30, 20, 10
"""Size limit of one answer; the table has a row for each text."""
MAX_QUOTE_CHARS, MAX_REMARK_CHARS, MAX_MESSAGE_CHARS = 200, 160, 360
UNCHECKED_GAP = (
    "Whether the copy is true, fits the brand and the law of the market is for a human to judge: "
    "lengths and listed words alone were checked."
)


class ChannelText(BaseModel):
    """A text to check."""

    channel: ChannelName
    text: str = Field(min_length=1, max_length=10_000)


@tool
async def check_copy(
    texts: Annotated[
        tuple[ChannelText, ...],
        Field(max_length=MAX_TEXTS, description="Texts to check, instead of the files' drafts"),
    ] = (),
    channels: Annotated[
        tuple[ChannelName, ...],
        Field(max_length=30, description="Channels to look at; by default all"),
    ] = (),
    materials: Annotated[dict[str, str] | None, InjectedState("materials")] = None,
) -> dict[str, Any]:
    """Check launch copy: length as the channel counts it, forbidden claims and characters.

    Without `texts` the drafts among the files are checked: texts under headings that name
    their channel. A CSV file with a column `forbidden`, and optionally `reason`, adds forbidden
    words of your own. Without any text the limits of the channels are listed with their source.
    Example: check_copy(texts=[{"channel": "sms", "text": "Nordlys is here. Reply STOP"}])
    """
    given = [Draft(each.channel, each.text, "draft", n) for n, each in enumerate(texts, start=1)]
    return await asyncio.to_thread(_check_texts, given, channels, materials or {})


def _check_texts(
    given: list[Draft], channels: Sequence[ChannelName], materials: Mapping[str, str]
) -> dict[str, Any]:
    report = ToolReport()
    drafts, unknown = (given, list[str]()) if given else find_material_drafts(materials)
    report.gaps += [f"No channel is known for {each!r}; it was not checked." for each in unknown]
    report.failures += [
        f"only the first {MAX_CHARS:,} characters of {name} were read"
        for name, text in materials.items()
        if not given and len(text) > MAX_CHARS and name.lower().endswith(TEXT_SUFFIXES)
    ]
    if wanted := [draft for draft in drafts if draft.channel in (channels or [draft.channel])]:
        if len(wanted) > MAX_TEXTS:
            left = f"the first {MAX_TEXTS} of {len(wanted)} texts were checked; give the rest apart"
            report.failures.append(left)
        own = load_forbidden_words(materials)
        _add_checks(report, [check_draft(draft, own) for draft in wanted[:MAX_TEXTS]])
    else:
        _add_limits(report, channels)
    return report.to_json()


def _add_limits(report: ToolReport, channels: Sequence[ChannelName]) -> None:
    """Add the limits of channels, for when there is no copy to check."""
    book = load_channel_book().channels
    shown = [book[name] for name in channels or book]
    rows = [[each.title, each.max, each.count, each.source] for each in shown]
    report.add_table(["channel", "most", "counted in", "who says so"], rows)
    for each in shown[:MAX_CLAIMS]:
        report.add_claim(f"{each.title}: at most {each.max} ({each.count}).", each.source)
    report.gaps.append("There is no copy to check: writing it takes a language model or a person.")


def _add_checks(report: ToolReport, checked: list[DraftCheck]) -> None:
    bad, rows = [each for each in checked if each.remarks], []
    texts = "1 text" if len(checked) == 1 else f"{len(checked)} texts"
    fitting = len(checked) - len(bad)
    report.lines.append(f"{texts} checked: {fitting} without a remark, {len(bad)} with one.\n")
    for each in checked:
        remarks = "; ".join(remark.text for remark in each.remarks) or "fits"
        shown = sanitize_line(each.draft.text, MAX_SHOWN_CHARS)
        remark = sanitize_line(remarks, MAX_REMARK_CHARS)
        rows.append([each.channel.title, shown, each.length, each.max_length, remark])
    report.add_table(["channel", "text", "length", "most", "remark"], rows)
    sources = dict.fromkeys(f"{each.channel.title}: {each.channel.source}" for each in checked)
    report.lines.append(f"Limits from: {'; '.join(sources)}.")
    for each in checked[:MAX_CLAIMS]:
        text = (
            f"{each.channel.title} in line {each.draft.line} has a length of {each.length}, of at "
            f"most {each.max_length}."
        )
        quote = sanitize_line(each.draft.text, MAX_QUOTE_CHARS)
        report.add_claim(text, each.draft.source, quote)
    for each in bad[:MAX_FINDINGS]:
        _add_remarks(report, each)
    if (more := len(bad) - MAX_FINDINGS) > 0:
        report.gaps.append(f"{more} more texts with remarks are in the table alone.")
    report.gaps.append(UNCHECKED_GAP)


def _add_remarks(report: ToolReport, each: DraftCheck) -> None:
    """Add one finding for all remarks on a text, with the worst severity."""
    remarks = "; ".join(
        f"{remark.text} ({remark.source})" if remark.source else remark.text
        for remark in each.remarks
    )
    worst = min((remark.severity for remark in each.remarks), key=get_args(Severity).index)
    shown = sanitize_line(each.draft.text, MAX_SHOWN_CHARS)
    message = sanitize_line(f"{each.channel.title} {shown!r}: {remarks}", MAX_MESSAGE_CHARS)
    report.add_finding(worst, message, each.draft.source, line=each.draft.line)
