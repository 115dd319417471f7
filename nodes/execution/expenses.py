"""The entries of attempts in a run's ledger."""

from state import Attempt, Expense, enter_expenses


def build_expenses(task: str, number: int, attempt: Attempt) -> dict[str, Expense]:
    """Return an attempt's entries for the run's ledger; those of a nested team one by one."""
    if not attempt.ledger:
        spent = Expense(
            worker=attempt.worker,
            tier=attempt.tier,
            usage=attempt.usage,
            task=task,
            attempt=number,
        )
        return enter_expenses(spent)
    return enter_expenses(
        *(
            Expense(
                worker=spent.worker,
                tier=spent.tier,
                usage=spent.usage,
                purpose="inner team",
                task=task,
                attempt=number,
                inner=key,
            )
            for key, spent in attempt.ledger.items()
        )
    )
