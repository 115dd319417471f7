"""Check claims against the sources they name."""

import asyncio
import json
from collections import Counter
from collections.abc import Mapping, Sequence
from itertools import accumulate
from typing import Any, Final, Literal

from langchain_core.tools import BaseTool, tool
from pydantic import BaseModel

from extensions.tools.documents.library import Document, get_library
from extensions.tools.sql.location import list_data_files, locate_database
from nodes.errors import FileUnreadable, ToolRefused
from nodes.proof import ClaimCheck, Evidence, check_claim
from nodes.text.counts import format_count
from nodes.text.plain_text import sanitize_line
from nodes.tools.framework.argument_types import CitedClaim
from nodes.tools.framework.documents import read_document
from nodes.tools.framework.materials import Materials
from nodes.tools.framework.settings import ToolSettings
from state import Claim

MAX_CLAIMS = 100
MAX_ANSWER_CHARS = 18_000
"""Limit on the results, serialized as JSON."""
MAX_SHOWN_DOUBTS = 10
MAX_SHOWN_CHARS = 300
SourceVerdict = Literal["supported", "computed", "partly", "unsupported", "source_unknown"]
SURE: Final = ("supported", "computed")


class SourceCheck(BaseModel):
    """The result of checking one claim."""

    source: str
    text: str
    claim: str
    quote_found: bool | None = None
    figures_missing: tuple[str, ...] = ()
    verdict: SourceVerdict


def check_sources(settings: ToolSettings) -> BaseTool:
    """Build the check over the run's materials and `settings.documents`."""
    library = get_library(settings.documents)

    @tool("check_sources")
    async def check_all(
        claims: list[CitedClaim],
        materials: Materials = None,
    ) -> dict[str, Any]:
        """Look each claim's quotation and figures up in the source it names.

        The verdict is supported, computed (by one step from figures there), partly, unsupported or
        source_unknown.
        Example: check_sources(claims=[{"text": "AWS grew 17 %", "source": "aws.md",
        "quotation": "revenue grew 17%"}])
        """
        if not claims:
            raise ToolRefused("give at least one claim with text and source")
        read, skipped = await library.load_documents(materials)
        unread = {item.source: item.reason for item in skipped}
        checks = await asyncio.to_thread(
            _check_claims, claims[:MAX_CLAIMS], read, unread, settings.sql_url
        )
        answer = _fit_to_size(checks)
        if len(claims) > MAX_CLAIMS:
            failure = f"only the first {MAX_CLAIMS} of {len(claims)} claims were checked"
            answer["failures"] = [failure]
        return answer

    return check_all


def _fit_to_size(checks: Sequence[SourceCheck]) -> dict[str, Any]:
    """Return as many checks as fit the limit, the doubtful ones before the supported ones."""
    found = [check.model_dump(mode="json") for check in checks]
    doubtful_first = sorted(range(len(found)), key=lambda at: (found[at]["verdict"] in SURE, at))
    sizes = accumulate(len(json.dumps(found[at], ensure_ascii=False)) for at in doubtful_first)
    kept = {at for at, size in zip(doubtful_first, sizes, strict=True) if size <= MAX_ANSWER_CHARS}
    answer: dict[str, Any] = {
        "summary": _summarize(checks),
        "checked": len(found),
        "results": [each for at, each in enumerate(found) if at in kept],
    }
    if all(check.verdict in SURE for check in checks):
        answer["found_as_expected"] = True
    left = Counter(each["verdict"] for at, each in enumerate(found) if at not in kept)
    if supported := sum(left.pop(name, 0) for name in SURE):
        answer["supported_and_not_listed"] = supported
    if left:
        answer["gaps"] = [f"{left.total()} more claims that are not supported are not listed"]
    return answer


def _summarize(checks: Sequence[SourceCheck]) -> str:
    """Return how many claims have which verdict, and the first that are not supported."""
    if all(check.verdict in SURE for check in checks):
        return f"{format_count(len(checks), 'claim')} checked: all are so in their sources."
    counts = Counter(check.verdict for check in checks)
    counted = ", ".join(f"{count} {name}" for name, count in sorted(counts.items()))
    doubtful = [each for each in checks if each.verdict in ("partly", "unsupported")]
    lines = [f"- {each.claim}: {each.text}" for each in doubtful[:MAX_SHOWN_DOUBTS]]
    return "\n".join([f"{format_count(len(checks), 'claim')} checked: {counted}.", *lines])


def _check_claims(
    claims: Sequence[CitedClaim],
    read: Sequence[Document],
    unread: Mapping[str, str],
    sql_url: str | None,
) -> list[SourceCheck]:
    files, broken = _read_data_files(sql_url)
    evidence = Evidence()
    for document in (*read, *files):
        evidence.add_material(document.name, document.text)
    return [_check(claim, evidence, {**unread, **broken}) for claim in claims]


def _check(claim: CitedClaim, evidence: Evidence, unread: Mapping[str, str]) -> SourceCheck:
    found = evidence.find(claim.source)
    if not found:
        return _build_check(claim, "source_unknown", _explain_unknown(claim.source, unread))
    cited = Claim(text=claim.text, source=claim.source, quotation=claim.quotation)
    check = check_claim(cited, evidence)
    parts = list[str]()
    if check.is_quoted is not None:
        parts.append("the quotation is in it" if check.is_quoted else "the quotation is not in it")
    if check.lacking:
        parts.append(f"not there: {', '.join(check.lacking)}")
    elif check.step:
        parts.append(f"its figures follow from those there: {check.step}")
    elif check.proof != "unproved":
        is_plain = check.proof == "stated" and not check.is_quoted
        parts.append("neither a quotation nor a figure to look for" if is_plain else "found there")
    verdict = _decide_verdict(check)
    return _build_check(claim, verdict, f"{claim.source}: {'; '.join(parts)}", check)


def _decide_verdict(check: ClaimCheck) -> SourceVerdict:
    if check.proof == "unproved":
        return "partly" if check.is_quoted else "unsupported"
    if check.proof == "stated" and not check.is_quoted:
        return "partly"
    return "computed" if check.proof == "computed" else "supported"


def _build_check(
    claim: CitedClaim, verdict: SourceVerdict, reason: str, check: ClaimCheck | None = None
) -> SourceCheck:
    return SourceCheck(
        source=sanitize_line(claim.source, MAX_SHOWN_CHARS),
        text=f"{verdict}: {reason}",
        claim=sanitize_line(claim.text, MAX_SHOWN_CHARS),
        quote_found=check.is_quoted if check else None,
        figures_missing=check.lacking if check else (),
        verdict=verdict,
    )


def _explain_unknown(source: str, unread: Mapping[str, str]) -> str:
    if not source.strip():
        return "the claim names no source"
    if source.startswith(("http://", "https://")):
        return "a web page, which only its finder can read again"
    if source in unread:
        return f"it could not be read: {unread[source]}"
    return f"{source[:200]!r} is neither a material nor a document"


def _read_data_files(sql_url: str | None) -> tuple[list[Document], dict[str, str]]:
    """Read the CSV files of `query_database`, whose results are cited by file name.

    Returns:
        The files, and why others could not be read.
    """
    try:
        location = locate_database(sql_url)
    except ToolRefused:
        return [], {}
    files = list_data_files(location.target) if location.engine == "files" else []
    found, unread = list[Document](), dict[str, str]()
    for path in files:
        try:
            texts = read_document(path).items()
            found += [Document(path.name + part, text) for part, text in texts]
        except FileUnreadable as error:
            unread[path.name] = error.cause
    return found, unread
