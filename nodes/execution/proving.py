"""The proof of an attempt's report: what it rests on, and whether it was sent back once."""

import asyncio
from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass, field
from typing import Any, Final, TypeVar

from nodes.limits.patterns import PatternTimeout
from nodes.proof import COMPUTING_TOOLS, Evidence, find_claims, list_doubts, prove_report
from nodes.text.phrases import detect_language, say
from state import Claim, Report

LONG_TEXT_CHARS: Final = 20_000
"""From here on a text is read in a thread: the other tasks would wait for it."""
T = TypeVar("T")


@dataclass
class ReportProof:
    """What one attempt's worker was given and its tools returned, as far as a claim can cite it."""

    materials: Mapping[str, str] = field(default_factory=dict)
    claims: tuple[Claim, ...] = ()
    """Of the reports in the handoff."""
    words: str = ""
    """Of the user."""
    may_send_back: bool = False
    """A language model does the task, and may correct what is not proved."""
    was_sent_back: bool = False
    _results: list[tuple[str, Any, str, bool]] = field(default_factory=list)
    _proved: tuple[Report, int, Report] | None = None
    """The last report, the number of results then, and the report with its proof."""

    def record_result(
        self, tool: str, arguments: Any, content: str, *, is_of_server: bool = False
    ) -> None:
        """Keep what a tool returned."""
        self._results.append((tool, arguments, content, is_of_server))

    async def prove(self, report: Report) -> Report:
        """Return a report with the proof of each claim, and a gap for each without one.

        Of a report without claims, by a model or of what was computed, the sentences of the output
        that were found are claims.
        """
        if report.claims:
            return await self._prove(report)
        computes = any(tool in COMPUTING_TOOLS for tool, *_ in self._results)
        is_result = report.status == "completed" and report.output
        if not (is_result and (self.may_send_back or computes)):
            return report
        claims = await self._read(self._find_claims, report.output)
        return report.model_copy(update={"claims": claims, "has_found_claims": bool(claims)})

    async def list_doubts(self, report: Report) -> list[str]:
        """Return what of a report is not proved, for the model that wrote it.

        A claim that quotes nothing, and names what was not read, is marked without a return: there
        is no passage that could be corrected.
        """
        if not report.claims:
            return []
        language, claims = detect_language(self.words), (await self._prove(report)).claims
        return list_doubts([c for c in claims if c.quotation or not _is_unread(c, language)], "en")

    def _find_claims(self, output: str) -> tuple[Claim, ...]:
        try:
            return find_claims(output, self._build_evidence())
        except PatternTimeout:
            return ()  # a report without claims promises no check

    def _build_evidence(self) -> Evidence:
        evidence = Evidence(self.words, language=detect_language(self.words))
        for name, text in self.materials.items():
            evidence.add_material(name, text)
        for tool, arguments, content, is_of_server in self._results:
            evidence.add_result(tool, arguments, content, is_of_server=is_of_server)
        evidence.add_claims(self.claims)
        return evidence

    async def _prove(self, report: Report) -> Report:
        """Return a report with its proof; the same one is not proved twice."""
        seen = len(self._results)
        if self._proved is None or self._proved[:2] != (report, seen):
            self._proved = (report, seen, await self._read(self._prove_claims, report))
        return self._proved[2]

    async def _read(self, read: Callable[[Any], T], what: Any) -> T:
        texts = [*self.materials.values(), *(content for _, _, content, _ in self._results)]
        if sum(map(len, texts)) < LONG_TEXT_CHARS:
            return read(what)
        return await asyncio.to_thread(read, what)

    def _prove_claims(self, report: Report) -> Report:
        try:
            return prove_report(report, self._build_evidence())
        except PatternTimeout as error:
            gap = say(detect_language(self.words), "claims_unchecked", error=error)
            doubt = {"proof": "unproved", "doubt": str(error)}
            claims = tuple(each.model_copy(update=doubt) for each in report.claims)
            return report.model_copy(update={"claims": claims, "gaps": (*report.gaps, gap)})


def _is_unread(claim: Claim, language: str) -> bool:
    return claim.doubt == say(language, "source_not_read", source=claim.source)


def mark_returned(claims: Iterable[Claim]) -> tuple[Claim, ...]:
    """Return the claims of a worker elsewhere: whatever it says of them, it returned them."""
    return tuple(each.model_copy(update={"proof": "returned", "doubt": ""}) for each in claims)
