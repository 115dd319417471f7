"""The command on questions that wait. Light: help needs it, too."""

from extensions.insight.inbox_options import InboxOptions
from graph.commands.options import take_options
from graph.commands.settings_loading import load_settings


@take_options(InboxOptions)
def inbox(options: InboxOptions) -> int:
    """List the questions that wait for you, over all threads; answer several at once."""
    from extensions.insight.inbox_answers import show_inbox

    return show_inbox(options, load_settings(may_ask=True, announces=False))
