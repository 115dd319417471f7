"""Reports what is wrong with a server's settings when it starts."""

import logging
from typing import Final

from extensions.server.aegra_settings import AegraSettings, read_aegra_settings
from extensions.server.start_problems import StartProblem, find_start_problems
from nodes.errors import SettingsInvalid

LOGGER: Final = logging.getLogger("supervise.server")


def report_start_problems() -> AegraSettings:
    """Return the settings of the server, and log a warning for each that is doubtful.

    Raises:
        SettingsInvalid: the server must not start with them.
    """
    settings = read_aegra_settings()
    found = list(find_start_problems(settings.instance))
    for problem in found:
        if not problem.is_fatal:
            LOGGER.warning("%s", problem)
    if fatal := [problem for problem in found if problem.is_fatal]:
        raise SettingsInvalid(
            "; ".join(problem.text for problem in fatal), next=_join_advice(fatal)
        )
    return settings


def _join_advice(problems: list[StartProblem]) -> str:
    return "; ".join(problem.next for problem in problems)
