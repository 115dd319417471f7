"""The kinds of clauses that a review looks for first, and the words they are known by."""

from dataclasses import dataclass
from functools import cached_property

from nodes.tools.contracts.phrases import Phrase, phrase


@dataclass(frozen=True)
class Kind:
    """A kind of clause; its wordings are phrases, parted by semicolons."""

    title: str
    headings: str
    """Wording of headings, and of requests that ask for it."""
    wording: str
    """Wording of its sentences."""
    unless: str = ""
    """Wording that is of another kind, though it sounds like this one."""

    @cached_property
    def heading_phrases(self) -> tuple[Phrase, ...]:
        """Give the wording of headings as phrases."""
        return _phrases(self.headings)

    @cached_property
    def phrases(self) -> tuple[Phrase, ...]:
        """Give the wording of sentences as phrases."""
        return _phrases(self.wording)

    @cached_property
    def exceptions(self) -> tuple[Phrase, ...]:
        """Give the wording of other kinds as phrases."""
        return _phrases(self.unless) if self.unless else ()

    def is_named_in(self, text: str) -> bool:
        """Say whether a heading or a request names it."""
        low = text.lower()
        return any(True for each in self.heading_phrases for _ in each.matches(low))


def _phrases(wording: str) -> tuple[Phrase, ...]:
    return tuple(phrase(" ".join(text.split())) for text in wording.split(";"))


KINDS = (
    Kind(
        "Term",
        "term; duration; commencement",
        "initial term; term of this agreement shall; shall commence; remain in full force; "
        "continue* for ... #; continue until; shall|will commence on; for a term of",
    ),
    Kind(
        "Renewal",
        "renew*; extension",
        "automatic* renew*; automatic* extend*; right to renew; shall|will|may renew; "
        "renewal term*; option to extend; extend the term; successive ... term*|period*",
    ),
    Kind(
        "Termination",
        "terminat*; cancel*; end of the agreement",
        "may terminate; may be terminated; right to terminate; upon termination; "
        "terminate this agreement|contract|lease|license; upon the termination; may cancel; "
        "terminat* for cause|convenience; terminated by either",
    ),
    Kind(
        "Limitation of liability",
        "liab*; consequential; damages",
        "limitation of liability; aggregate liability; consequential ... damages; not be liable; "
        "not have any liability; liable for any; in no event; total liability; "
        "maximum liability; liability ... exceed",
    ),
    Kind(
        "Indemnity",
        "indemni*; hold harmless; release",
        "indemnify; indemnifies; hold|holds|held harmless; releases and discharges; indemnified",
    ),
    Kind(
        "Warranties",
        "warrant*; representation*",
        "represents and warrants; represents, warrants; represent and warrant; warrants that; "
        "no warrant*; as is; implied warrant*; disclaim*",
    ),
    Kind(
        "Payment",
        "pay*; fee*; price*; compensation; invoice*; royalt*",
        "agrees to pay; shall|will pay; due and payable; payable within; payment terms; "
        "invoice*; service fee; late payment*; late fee*; interest on; royalty; "
        "letter of credit; discount of; payable on",
    ),
    Kind(
        "Confidentiality",
        "confidential*; non-disclosure; nondisclosure; secre*",
        "confidential information; keep ... confidential; not disclose; as confidential; "
        "information ... secret",
    ),
    Kind(
        "Intellectual property",
        "intellectual property; ip; ownership; licen*; trademark*; copyright*; patent*; "
        "work product",
        "intellectual property; right, title; title or interest; sole owner; owned by; "
        "work* made for hire; work-for-hire; grants ... license|licence|right; "
        "trademark* ... logo*; perpetual; royalty-free",
    ),
    Kind(
        "Non-compete",
        "non-compet*; noncompet*; non-solicit*; compet*; restrictive covenant*",
        "not ... render similar services; compete with; competitive to; competitive product*; "
        "non-compet*; shall|will not ... solicit; not to solicit; competing product*|business*",
    ),
    Kind(
        "Exclusivity",
        "exclusiv*",
        "exclusive; sole and exclusive; exclusively with|from",
        "exclusive jurisdiction; exclusive remedy",
    ),
    Kind(
        "Assignment and change of control",
        "assign*; change of control; subcontract*; sub-distribut*",
        "not be assigned; assign any; assign this; may not assign; shall|will not assign; "
        "assign ... without; change of control; delegate",
    ),
    Kind(
        "Governing law and disputes",
        "governing law; law; jurisdiction; forum; dispute*; arbitration; venue",
        "governed by; governed in accordance; construed and governed; exclusive jurisdiction; "
        "consent to the jurisdiction; courts of; courts located; arbitrat*; venue; jury trial; "
        "brought ... courts; laws of ... govern",
    ),
    Kind(
        "Audit and inspection",
        "audit*; inspection; records",
        "right to audit; audit of; books and records; right to inspect",
    ),
    Kind(
        "Insurance",
        "insur*",
        "insurance; insured",
    ),
    Kind(
        "Data protection",
        "data protection; privacy; personal data; gdpr",
        "personal data; personal information; data protection; gdpr; data subject*",
    ),
    Kind(
        "Force majeure",
        "force majeure; excusable delay*",
        "force majeure; beyond ... reasonable control; act* of god",
    ),
    Kind(
        "Notices",
        "notice*",
        "notices ... sent; notices ... given; all notices; notices ... in writing; "
        "notices to the parties",
    ),
    Kind(
        "Survival",
        "surviv*",
        "survive termination; shall|will survive; survive the; beyond its termination",
    ),
    Kind(
        "Entire agreement and amendment",
        "entire agreement; amendment*; integration; waiver",
        "entire agreement; entire understanding; supersedes; amended only; only be changed; "
        "may be amended; modified only; in writing signed",
    ),
)
"""By weight: what a reader must know before signing comes first."""
