"""Workers on other servers: a LangGraph server, or one that speaks A2A."""

from collections.abc import Iterable, Mapping
from typing import TYPE_CHECKING

from graph.extensions import DoctorCheck, Extension

if TYPE_CHECKING:
    from extensions.remote.connect import RemoteWorker
    from graph.settings import Settings
    from nodes.schemas.team import Team, Worker


class _Remote(Extension):
    def build_worker(self, worker: "Worker", variables: Mapping[str, str]) -> "RemoteWorker | None":
        """Return a worker whose file has the key `remote`; its client is imported here."""
        if worker.remote is None:
            return None
        from extensions.remote.connect import build_remote_worker

        return build_remote_worker(worker.name, worker.remote, variables.get)

    def list_checks(self, settings: "Settings") -> Iterable[DoctorCheck]:
        """Call the server of each remote worker."""
        from extensions.remote.checks import check_remote_workers

        return check_remote_workers(settings)

    def check_team(self, team: "Team", settings: "Settings", *, is_online: bool) -> Iterable[str]:
        """Call the team's servers, and say what each offers."""
        from extensions.remote.checks import describe_offers

        return describe_offers(team, settings) if is_online else ()

    def list_team_warnings(self, team: "Team") -> Iterable[str]:
        """Warn of a credential that is written out, or sent without encryption."""
        from extensions.remote.checks import list_remote_warnings

        return list_remote_warnings(team)


EXTENSION = _Remote()
