"""Check copy against what each channel accepts and forbids."""

from collections.abc import Sequence
from typing import Annotated, Any, get_args

from langchain_core.tools import tool
from pydantic import BaseModel, Field

from nodes.text.counts import format_count
from nodes.text.plain_text import sanitize_line
from nodes.tools.framework.materials import Materials
from nodes.tools.framework.tool_report import ToolReport, fit_to_size
from state import Severity

from .launch.channels import ChannelName, load_channel_book
from .launch.drafts import (
    MAX_CHARS,
    MAX_SHOWN_CHARS,
    TEXT_SUFFIXES,
    Draft,
    DraftCheck,
    check_draft,
    find_material_drafts,
    load_forbidden_words,
)

ACCESS = {"reads": ["private", "untrusted"], "sends": "nothing"}
MAX_TEXTS = 30
SHOWN_COUNTS = (30, 20, 10)
"""Texts shown, fewer where they are too long together."""
MAX_QUOTE_CHARS, MAX_REMARK_CHARS = 200, 160
UNCHECKED_GAP = (
    "Whether the copy is true, fits the brand and the law of the market is for a human to judge: "
    "lengths and listed words alone were checked."
)


class ChannelText(BaseModel):
    """A text to check."""

    channel: ChannelName
    text: str = Field(min_length=1, max_length=10_000)


@tool
def check_copy(
    texts: Annotated[
        tuple[ChannelText, ...],
        Field(max_length=MAX_TEXTS, description="Texts to check, instead of the files' drafts"),
    ] = (),
    channels: Annotated[
        tuple[ChannelName, ...],
        Field(max_length=30, description="Channels to look at; by default all"),
    ] = (),
    materials: Materials = None,
) -> dict[str, Any]:
    """Check launch copy: length as the channel counts it, forbidden claims and characters.

    Without `texts` the drafts among the files are checked: texts under headings that name
    their channel. A CSV file with a column `forbidden`, and optionally `reason`, adds forbidden
    words of your own. Without any text the limits of the channels are listed with their source.
    Example: check_copy(texts=[{"channel": "sms", "text": "Nordlys is here. Reply STOP"}])
    """
    given = [Draft(each.channel, each.text, "draft", n) for n, each in enumerate(texts, start=1)]
    materials = materials or {}
    drafts, unknown = (given, list[str]()) if given else find_material_drafts(materials)
    gaps = [f"No channel is known for {each!r}; it was not checked." for each in unknown]
    wanted = [draft for draft in drafts if draft.channel in (channels or [draft.channel])]
    if not wanted:
        return _report_limits(channels, gaps).to_json()
    failures = [
        f"only the first {MAX_CHARS:,} characters of {name} were read"
        for name, text in materials.items()
        if not given and len(text) > MAX_CHARS and name.lower().endswith(TEXT_SUFFIXES)
    ]
    if len(wanted) > MAX_TEXTS:
        left = f"the first {MAX_TEXTS} of {len(wanted)} texts were checked; give the rest apart"
        failures.append(left)
    own = load_forbidden_words(materials)
    checked = [check_draft(draft, own) for draft in wanted[:MAX_TEXTS]]

    def report_checks(count: int) -> ToolReport:
        report = ToolReport(gaps=[*gaps], failures=failures)
        _add_checks(report, checked, count)
        return report

    return fit_to_size(report_checks, SHOWN_COUNTS)


def _report_limits(channels: Sequence[ChannelName], gaps: list[str]) -> ToolReport:
    """Return the limits of channels, for when there is no copy to check."""
    book, report = load_channel_book().channels, ToolReport(gaps=gaps)
    shown = [book[name] for name in channels or book]
    rows = [[each.title, each.max, each.count, each.source] for each in shown]
    report.add_table(["channel", "most", "counted in", "who says so"], rows)
    for each in shown:
        report.add_claim(f"{each.title}: at most {each.max} ({each.count}).", each.source)
    report.gaps.append("There is no copy to check: writing it takes a language model or a person.")
    return report


def _add_checks(report: ToolReport, checked: Sequence[DraftCheck], count: int) -> None:
    bad, rows = sum(bool(each.remarks) for each in checked), []
    texts = format_count(len(checked), "text")
    fitting = len(checked) - bad
    report.lines.append(f"{texts} checked: {fitting} without a remark, {bad} with one.\n")
    for each in checked[:count]:
        title, line = each.channel.title, each.draft.line
        shown = sanitize_line(each.draft.text, MAX_SHOWN_CHARS)
        remarks = "; ".join(remark.text for remark in each.remarks) or "fits"
        rows.append([title, shown, each.length, each.max_length])
        rows[-1].append(sanitize_line(remarks, MAX_REMARK_CHARS))
        text = (
            f"{title} in line {line} has a length of {each.length}, of at most {each.max_length}."
        )
        report.add_claim(text, each.draft.source, sanitize_line(each.draft.text, MAX_QUOTE_CHARS))
        if each.remarks:
            sourced = "; ".join(remark.with_source for remark in each.remarks)
            severities = (remark.severity for remark in each.remarks)
            worst = min(severities, key=get_args(Severity).index)
            report.add_finding(worst, f"{title} {shown!r}: {sourced}", each.draft.source, line=line)
    report.add_table(["channel", "text", "length", "most", "remark"], rows)
    sources = dict.fromkeys(f"{each.channel.title}: {each.channel.source}" for each in checked)
    report.lines.append(f"Limits from: {'; '.join(sources)}.")
    if len(checked) > count:
        report.gaps.append(f"{len(checked) - count} of {len(checked)} texts are not shown.")
    report.gaps.append(UNCHECKED_GAP)
