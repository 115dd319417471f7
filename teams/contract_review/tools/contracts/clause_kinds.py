"""The kinds of clauses that a review looks for first, and the wording that identifies them."""

from dataclasses import dataclass
from functools import cached_property

from .phrases import Phrase, parse_phrase


@dataclass(frozen=True)
class ClauseKind:
    """A kind of clause; its wordings are phrases, separated by semicolons."""

    title: str
    headings: str
    """Wording of headings, and of requests for this kind."""
    wording: str
    """Wording of its sentences."""
    unless: str = ""
    """Wording of another kind, though it looks like this one."""

    @cached_property
    def heading_phrases(self) -> tuple[Phrase, ...]:
        """Return the heading wordings as phrases."""
        return _parse_phrases(self.headings)

    @cached_property
    def phrases(self) -> tuple[Phrase, ...]:
        """Return the sentence wordings as phrases."""
        return _parse_phrases(self.wording)

    @cached_property
    def exceptions(self) -> tuple[Phrase, ...]:
        """Return the wordings of other kinds as phrases."""
        return _parse_phrases(self.unless) if self.unless else ()

    def is_named_in(self, text: str) -> bool:
        """Return whether a heading or a request names this kind."""
        low = text.lower()
        return any(True for each in self.heading_phrases for _ in each.find_matches(low))


def _parse_phrases(wording: str) -> tuple[Phrase, ...]:
    return tuple(parse_phrase(" ".join(text.split())) for text in wording.split(";"))


CLAUSE_KINDS = (
    ClauseKind(
        "Term",
        "term; duration; commencement",
        "initial term; term of this agreement shall; shall commence; remain in full force; "
        "continue* for ... #; continue until; shall|will commence on; for a term of",
    ),
    ClauseKind(
        "Renewal",
        "renew*; extension",
        "automatic* renew*; automatic* extend*; right to renew; shall|will|may renew; "
        "renewal term*; option to extend; extend the term; successive ... term*|period*",
    ),
    ClauseKind(
        "Termination",
        "terminat*; cancel*; end of the agreement",
        "may terminate; may be terminated; right to terminate; upon termination; "
        "terminate this agreement|contract|lease|license; upon the termination; may cancel; "
        "terminat* for cause|convenience; terminated by either",
    ),
    ClauseKind(
        "Limitation of liability",
        "liab*; consequential; damages",
        "limitation of liability; aggregate liability; consequential ... damages; not be liable; "
        "not have any liability; liable for any; in no event; total liability; "
        "maximum liability; liability ... exceed",
    ),
    ClauseKind(
        "Indemnity",
        "indemni*; hold harmless; release",
        "indemnify; indemnifies; hold|holds|held harmless; releases and discharges; indemnified",
    ),
    ClauseKind(
        "Warranties",
        "warrant*; representation*",
        "represents and warrants; represents, warrants; represent and warrant; warrants that; "
        "no warrant*; as is; implied warrant*; disclaim*",
    ),
    ClauseKind(
        "Payment",
        "pay*; fee*; price*; compensation; invoice*; royalt*",
        "agrees to pay; shall|will pay; due and payable; payable within; payment terms; "
        "invoice*; service fee; late payment*; late fee*; interest on; royalty; "
        "letter of credit; discount of; payable on",
    ),
    ClauseKind(
        "Confidentiality",
        "confidential*; non-disclosure; nondisclosure; secre*",
        "confidential information; keep ... confidential; not disclose; as confidential; "
        "information ... secret",
    ),
    ClauseKind(
        "Intellectual property",
        "intellectual property; ip; ownership; licen*; trademark*; copyright*; patent*; "
        "work product",
        "intellectual property; right, title; title or interest; sole owner; owned by; "
        "work* made for hire; work-for-hire; grants ... license|licence|right; "
        "trademark* ... logo*; perpetual; royalty-free",
    ),
    ClauseKind(
        "Non-compete",
        "non-compet*; noncompet*; non-solicit*; compet*; restrictive covenant*",
        "not ... render similar services; compete with; competitive to; competitive product*; "
        "non-compet*; shall|will not ... solicit; not to solicit; competing product*|business*",
    ),
    ClauseKind(
        "Exclusivity",
        "exclusiv*",
        "exclusive; sole and exclusive; exclusively with|from",
        "exclusive jurisdiction; exclusive remedy",
    ),
    ClauseKind(
        "Assignment and change of control",
        "assign*; change of control; subcontract*; sub-distribut*",
        "not be assigned; assign any; assign this; may not assign; shall|will not assign; "
        "assign ... without; change of control; delegate",
    ),
    ClauseKind(
        "Governing law and disputes",
        "governing law; law; jurisdiction; forum; dispute*; arbitration; venue",
        "governed by; governed in accordance; construed and governed; exclusive jurisdiction; "
        "consent to the jurisdiction; courts of; courts located; arbitrat*; venue; jury trial; "
        "brought ... courts; laws of ... govern",
    ),
    ClauseKind(
        "Audit and inspection",
        "audit*; inspection; records",
        "right to audit; audit of; books and records; right to inspect",
    ),
    ClauseKind(
        "Insurance",
        "insur*",
        "insurance; insured",
    ),
    ClauseKind(
        "Data protection",
        "data protection; privacy; personal data; gdpr",
        "personal data; personal information; data protection; gdpr; data subject*",
    ),
    ClauseKind(
        "Force majeure",
        "force majeure; excusable delay*",
        "force majeure; beyond ... reasonable control; act* of god",
    ),
    ClauseKind(
        "Notices",
        "notice*",
        "notices ... sent; notices ... given; all notices; notices ... in writing; "
        "notices to the parties",
    ),
    ClauseKind(
        "Survival",
        "surviv*",
        "survive termination; shall|will survive; survive the; beyond its termination",
    ),
    ClauseKind(
        "Entire agreement and amendment",
        "entire agreement; amendment*; integration; waiver",
        "entire agreement; entire understanding; supersedes; amended only; only be changed; "
        "may be amended; modified only; in writing signed",
    ),
)
"""By importance: what a reader must know before signing comes first."""
