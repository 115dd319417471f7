"""The commands on estimates, on causes and on questions that wait. Light: help needs them, too."""

from extensions.insight.options import InboxOptions
from graph.commands.options import JsonOption, UrlOption, argument, option, take_options
from graph.commands.settings_loading import load_settings


def why(
    thread: str = argument("[THREAD]", "The run's id, its beginning, or `last`.", default="last"),
    task: str = argument("[TASK]", "One task; in a team inside it outer/inner.", default=""),
    as_json: JsonOption = False,
    url: UrlOption = None,
) -> int:
    """Explain why a run, or a task of it, failed or lacks something, and what helps."""
    from extensions.insight.why import show_why
    from graph.commands.runs import open_runs

    return show_why(thread, task, open_runs(url, load_settings()), as_json=as_json)


def failures(
    since: str = option("--since", "AGE", "Runs of this time: 12h, 7d or 8w.", default="7d"),
    team: str | None = option("--team", "NAME", "Of a team."),
    as_json: JsonOption = False,
    url: UrlOption = None,
) -> int:
    """Count why runs failed or lacked something, over teams and workers."""
    from extensions.insight.failures import show_failures
    from graph.commands.runs import open_runs

    return show_failures(since, team, open_runs(url, load_settings()), as_json=as_json)


def calibration(
    team: str | None = option("--team -t", "NAME", "Of this team alone."),
    as_json: JsonOption = False,
) -> int:
    """Show how often the intervals of estimates held: of ten runs nine should be inside."""
    from extensions.insight.calibration import show_calibration

    return show_calibration(team, load_settings(), as_json=as_json)


@take_options(InboxOptions)
def inbox(options: InboxOptions) -> int:
    """List the questions that wait for you, over all threads; answer several at once."""
    from extensions.insight.inbox_answers import show_inbox

    return show_inbox(options, load_settings(may_ask=True, announces=False))
