"""What is measured, behind one seam: the only file that knows the checked package."""

from typing import Protocol

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
        """Prove `case.report` against `case.materials` and `case.tool_results`.

        The call is the one that a worker's report goes through before it is published, without a
        model: its report, what the worker was given by name, what its tools returned.
        """
        raise NotImplementedError("call the package's check of a report here")

    def judge_answer(self, case: Case) -> list[str]:
        """Check each line of `case.answer` against the proved claims of `case.report`.

        The call is the one that an answer goes through before it is delivered: the answer's text,
        the reports it is made of, the request.
        """
        raise NotImplementedError("call the package's check of an answer here")
