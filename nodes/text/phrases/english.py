"""The program's own words in an answer, in English."""

from collections.abc import Mapping
from typing import Final

ENGLISH: Final[Mapping[str, str]] = {
    # The frame of an answer.
    "findings": "Findings",
    "sources": "Sources",
    "contradictions": "Contradictions",
    "gaps": "Gaps",
    "confidence": "Confidence",
    "confidence_of": "{confidence} of 100",
    "confidence_unknown": "unknown",
    "confidence_unknown_for": "but unknown for {tasks}",
    "finding_confidence_unknown": "(confidence unknown)",
    "no_source": "no source",
    "status": "Status",
    "status_passages": "passages found; no language model has read them",
    "status_partial": "partial, parts of the request are not answered",
    "status_failed": "failed, no task has given a result",
    # What a run leaves open.
    "not_answered": "not answered: {part}",
    "not_read": "not read: {name} ({reason})",
    "needs_model": "This part needs a language model: {part}",
    "no_result": "no task has given a result",
    "plan_by_rule": "no model gave a valid plan, so the plan was made by rule: {reason}",
    "of_tasks": "{tasks} {reason}",
    "not_run": "was not run before the run's caps{caps}: {task}",
    "not_possible": "could not do it ({reason}): {message}",
    "failed": "failed: {reason}",
    "skipped": "was skipped: {reason}",
    "lacks": "lacks: {gap}",
    "not_fixed": "{task} was sent back and not fixed: its first result is used",
    "results_cut": "the results are longer than {chars} characters together and were cut",
    "group_cut": "the results of {tasks} were cut, not summarised: {reason}",
    "group_unreadable": "the results of {tasks} were cut, their summary could not be read",
    "synthesis_failed": "the synthesis failed, the reports are listed unchanged: {reason}",
    "synthesis_unreadable": (
        "the synthesizer's answer could not be read, the reports are listed unchanged"
    ),
    # Why a task could not be done.
    "out_of_scope": "out of scope",
    "ambiguous_input": "missing or unclear input",
    "confidence_too_low": "too uncertain",
    "timeout": "out of time",
    # Verdicts on contradictions.
    "undecided": "cannot decide",
    "neither_holds": "neither holds",
    "first_holds": "the first holds ({source})",
    "second_holds": "the second holds ({source})",
    "no_reason": "the judge gave no reason",
    "no_judge": "no judge was asked",
    "no_judging_model": "no model is configured that could judge",
    "no_ruling": "the judge gave no ruling on it",
    "judge_failed": "the judge failed: {reason}",
    "judge_unreadable": "the judge's verdict could not be read",
    # The answer without a synthesizer.
    "no_model_usable": "No task could be completed, as no model could be used.",
    "none_completed": "No task could be completed.",
    "nothing_found_out": "Nothing could be found out.",
    "more_gaps": "and {count} more",
    "for_an_answer": "For an answer, {remedy}.",
    "for_what_is_missing": "For what is missing, {remedy}.",
    "no_answer_written": "No answer could be written from these reports; for one, {remedy}.",
    # What the user can do.
    "or": ", or ",
    "and": " and ",
    "resume": "resume the run",
    "repair_and_resume": "{ways}, and resume the run",
    "with_larger": "{remedy} with a larger {options}",
    "ask_with_file": "ask again with a file to read",
    "ask_contact": "ask {contact}",
    "ask_human": "ask a person who can do this",
    "ask_in_its_words": "use words of the files, or set a language model (`supervise doctor`)",
    "check_endpoint": "check that the model's endpoint works and that its address is right",
    "wait_for_faster": "wait until the model's endpoint is faster, or name another model",
    "wait_for_calls": "wait until the model's endpoint accepts more calls",
    "add_quota": "add to the quota of the model's account",
    "correct_key": "correct the model's key",
    # Without a language model.
    "passages": "Passages found; no language model has read them",
    "no_model": "No language model is set up: these are sentences and figures from your files.",
    "nothing_found": "Nothing was found in {places}",
    "nothing_to_work_on": "There was nothing to work on: no result of {tasks}",
    "tool_not_called": (
        "{tool} was not called: without a language model {argument} cannot be filled from the words"
    ),
    "no_file": "There is no file; attach one",
    "numbers_unused": "{tool} was called without {numbers}: that needs a language model",
    "its_argument": "its argument {names}",
    "its_arguments": "its arguments {names}",
    "answer_unused": "The answer changes no call: to make use of it a language model is needed",
}
