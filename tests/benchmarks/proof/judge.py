"""What is measured, behind one seam: the only file that knows the checked package."""

from typing import Protocol

from nodes.proof import Evidence, prove_answer, prove_report
from state import Answer
from tests.benchmarks.proof.cases import Case


class Judge(Protocol):
    """Tells what of a case is not proved; it may read nothing of a case that says what is false."""

    def judge_report(self, case: Case) -> tuple[set[int], list[str]]:
        """Return the indices of the claims that are not proved, and all problems in words."""

    def judge_answer(self, case: Case) -> list[str]:
        """Return the lines of the answer that are marked, each as it is in the answer."""


class PackageJudge:
    """Asks the package of this repository that proves reports and answers."""

    def judge_report(self, case: Case) -> tuple[set[int], list[str]]:
        """Return what is not proved of a report, as it is checked before it is published."""
        evidence = Evidence(case.request)
        for name, text in case.materials.items():
            evidence.add_material(name, text)
        for tool, text in case.tool_results:
            evidence.add_result(tool, {}, text)
        claims = prove_report(case.report, evidence).claims
        doubted = {at for at, claim in enumerate(claims) if claim.proof == "unproved"}
        return doubted, [claims[at].doubt for at in sorted(doubted)]

    def judge_answer(self, case: Case) -> list[str]:
        """Return the marked lines of an answer, as it is checked before it is delivered."""
        evidence = Evidence(case.request)
        for name, text in case.materials.items():
            evidence.add_material(name, text)
        for tool, text in case.tool_results:
            evidence.add_result(tool, {}, text)
        report = prove_report(case.report, evidence)
        read = Evidence(case.request)
        for name in case.materials:
            read.add_material(name, "")
        proved = prove_answer(Answer(text=case.answer), [report], read)
        before, after = case.answer.splitlines(), proved.answer.text.splitlines()
        return [old for old, new in zip(before, after, strict=True) if old != new]
