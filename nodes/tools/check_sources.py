"""Check claims against the sources they name."""

import asyncio
import json
from collections import Counter
from collections.abc import Mapping, Sequence
from itertools import accumulate
from pathlib import PurePosixPath
from typing import Annotated, Any

from langchain_core.tools import BaseTool, tool
from langgraph.prebuilt import InjectedState

from nodes.errors import FileUnreadable, ToolRefused
from nodes.text.counts import format_count
from nodes.tools.documents.library import Document, get_library
from nodes.tools.documents.reader import read_document
from nodes.tools.evidence.source_check import (
    CitedClaim,
    SourceCheck,
    build_unknown_check,
    check_claim,
)
from nodes.tools.framework.settings import ToolSettings
from nodes.tools.sql.location import list_data_files, locate_database

MAX_CLAIMS = 100
MAX_ANSWER_CHARS = 18_000
"""Limit on the results, serialized as JSON."""
MAX_SHOWN_DOUBTS = 10


def check_sources(settings: ToolSettings) -> BaseTool:
    """Build the check over the run's materials and `settings.documents`."""
    library = get_library(settings.documents)

    @tool("check_sources")
    async def check_all(
        claims: list[CitedClaim],
        materials: Annotated[dict[str, str] | None, InjectedState("materials")] = None,
    ) -> dict[str, Any]:
        """Look each claim's quotation and figures up in the source it names.

        The verdict is supported, partly, unsupported or source_unknown. A figure that is not in the
        source was derived by calculation, or is wrong: check it against the other results.
        Example: check_sources(claims=[{"text": "AWS grew 17 %", "source": "aws.md",
        "quote": "revenue grew 17%"}])
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
    doubtful_first = sorted(
        range(len(found)), key=lambda at: (found[at]["verdict"] == "supported", at)
    )
    sizes = accumulate(len(json.dumps(found[at], ensure_ascii=False)) for at in doubtful_first)
    kept = {at for at, size in zip(doubtful_first, sizes, strict=True) if size <= MAX_ANSWER_CHARS}
    answer: dict[str, Any] = {
        "summary": _summarize(checks),
        "checked": len(found),
        "results": [each for at, each in enumerate(found) if at in kept],
    }
    left = Counter(each["verdict"] for at, each in enumerate(found) if at not in kept)
    if supported := left.pop("supported", 0):
        answer["supported_and_not_listed"] = supported
    if left:
        answer["gaps"] = [f"{left.total()} more claims that are not supported are not listed"]
    return answer


def _summarize(checks: Sequence[SourceCheck]) -> str:
    """Return how many claims have which verdict, and the first that are not supported."""
    counts = Counter(map(_name_verdict, checks))
    counted = ", ".join(f"{count} {name}" for name, count in sorted(counts.items()))
    doubtful = [each for each in checks if _name_verdict(each) in ("partly", "unsupported")]
    lines = [f"- {each.claim}: {each.text}" for each in doubtful[:MAX_SHOWN_DOUBTS]]
    return "\n".join([f"{format_count(len(checks), 'claim')} checked: {counted}.", *lines])


def _name_verdict(check: SourceCheck) -> str:
    """Return a verdict; a computed row, which quotes nothing, is "computed"."""
    is_row = check.quote_found is None and bool(check.figures_missing)
    return "computed" if is_row and check.verdict != "supported" else check.verdict


def _check_claims(
    claims: Sequence[CitedClaim],
    read: Sequence[Document],
    unread: Mapping[str, str],
    sql_url: str | None,
) -> list[SourceCheck]:
    files, broken = _read_data_files(sql_url)
    documents, unread = [*read, *files], {**unread, **broken}
    checks = list[SourceCheck]()
    for claim in claims:
        found = _find_document(claim.source, documents)
        if found is not None:
            checks.append(check_claim(claim, found.name, found.text))
        elif not claim.source.strip():
            checks.append(build_unknown_check(claim, "the claim names no source"))
        elif claim.source.startswith(("http://", "https://")):
            checks.append(
                build_unknown_check(claim, "a web page, which only its finder can read again")
            )
        elif claim.source in unread:
            checks.append(
                build_unknown_check(claim, f"it could not be read: {unread[claim.source]}")
            )
        else:
            checks.append(
                build_unknown_check(
                    claim, f"{claim.source[:200]!r} is neither a material nor a document"
                )
            )
    return checks


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


def _find_document(source: str, documents: Sequence[Document]) -> Document | None:
    """Find a source by its name, else by its file name if only one document has it."""
    wanted = source.strip().casefold()
    if not wanted:
        return None
    for bare in (lambda name: name.casefold(), _normalize_file_name, _normalize_stem):
        named = [item for item in documents if bare(item.name) == bare(wanted)]
        if len(named) == 1:
            return named[0]
    names = source.split(", ")
    parts = [_find_document(name, documents) for name in names] if len(names) > 1 else []
    if not parts or not all(parts):
        return None
    return Document(source, "\n".join(part.text for part in parts if part))


def _normalize_file_name(name: str) -> str:
    return PurePosixPath(name.casefold()).name


def _normalize_stem(name: str) -> str:
    return PurePosixPath(name.casefold()).stem
