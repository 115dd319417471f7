"""The port for certificates: what a plan can at most cost and reach, which an extension works out.

Without one, plans are approved by the estimate and by their tools alone.
"""

import asyncio
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any, Protocol

from nodes.errors import PlanInvalid, SettingsInvalid
from nodes.models.catalog import ModelCatalog
from nodes.schemas.team import Team
from nodes.security.tool_access import list_effect_tools
from state import Context, Estimate, Origin, Plan, SupervisorState, TaintLabel

Certificate = Mapping[str, Any]
"""As JSON: it has at least `caps`, and `summary`, which is a few lines for a human."""


class CertificateRefused(PlanInvalid):
    """A run is outside of the certificate that it was given."""

    code, exit_code = "OUTSIDE_CERTIFICATE", 2


@dataclass(frozen=True, kw_only=True)
class PlannedRun:
    """All that a certificate follows from."""

    plan: Plan
    team: Team
    models: ModelCatalog
    context: Context
    """With the caps of the team."""
    materials: Sequence[str]
    """Their names."""
    public: Sequence[str] = ()
    """Those of them that hold nothing private."""
    earlier_labels: Sequence[TaintLabel] = ()
    """What was read in the thread before the plan was made."""


class Certifier(Protocol):
    """Makes certificates, and compares runs with them."""

    def certify(self, run: PlannedRun) -> Certificate:
        """Return the certificate of a planned run, whether or not one was given to it."""

    def find_excess(self, given: Certificate, run: PlannedRun) -> str:
        """Return what of a planned run is outside of a certificate; empty if nothing is."""

    def read(self, given: Certificate) -> dict[str, Any]:
        """Return what a run that is held to a certificate needs of it; `caps` as in `Context`.

        Raises:
            SettingsInvalid: it is damaged, or of another version.
        """


_registered: list[Certifier] = []


def register_certifier(certifier: Certifier) -> None:
    """Let plans be certified."""
    _registered[:] = [certifier]


def lower_to_certificate(context: Context) -> Context:
    """Return a context with no cap above that of its certificate, if it has one.

    Raises:
        SettingsInvalid: the certificate cannot be used.
    """
    if context.certificate is None:
        return context
    if not _registered:
        raise SettingsInvalid("a certificate was given, and no extension reads it")
    kept, lowest = _registered[0].read(context.certificate), dict[str, Any]()
    for name, cap in kept["caps"].items():
        caps = [each for each in (cap, getattr(context, name)) if each is not None]
        lowest[name] = min(caps, default=None)
    return replace(context, certificate=kept, **lowest)


def describe_run(
    state: SupervisorState, plan: Plan, team: Team, models: ModelCatalog, context: Context
) -> PlannedRun:
    """Return what the certificate of a plan follows from."""
    origin = state.get("origin") or Origin(taint_labels=())
    return PlannedRun(
        plan=plan,
        team=team,
        models=models,
        context=context,
        materials=tuple(state.get("materials", {})),
        public=origin.public,
        earlier_labels=origin.taint_labels,
    )


async def make_certificate(run: PlannedRun) -> Certificate | None:
    """Return the certificate of a planned run, worked out in a thread; None without an extension.

    Raises:
        CertificateRefused: the run was given another one, and is outside of it.
    """
    if not _registered:
        return None
    if problem := await find_excess(run):
        raise CertificateRefused(
            "the run is outside of its certificate",
            cause=problem,
            kept="no task was begun",
            next="run the plan that was certified (--plan), or certify this one (--plan-only "
            "--certificate FILE)",
        )
    return await asyncio.to_thread(_registered[0].certify, run)


async def find_excess(run: PlannedRun) -> str:
    """Return what of a planned run is outside of the certificate that it was given."""
    given = run.context.certificate
    if given is None or not _registered:
        return ""
    return await asyncio.to_thread(_registered[0].find_excess, given, run)


def may_ask(team: Team, context: Context) -> bool:
    """Return whether a human may be asked about a plan before anything of it runs."""
    above = (team.approve_above, context.approve_above)
    return team.approve_plan or context.approve_plan or above != (None, None)


def needs_approval(plan: Plan, team: Team, context: Context, estimate: Estimate) -> bool:
    """Return whether a human must approve a plan.

    Of the estimate its upper bound counts, where it has one.
    """
    above = team.approve_above if context.approve_above is None else context.approve_above
    if team.approve_plan or context.approve_plan or above is None:
        return team.approve_plan or context.approve_plan
    highest = (estimate.high or estimate).cost_usd
    if estimate.cost_usd is None or highest is None:
        return True
    return max(estimate.cost_usd, highest) > above or any(
        list_effect_tools(worker, team)
        for task in plan.tasks
        for worker in (team.roster if task.is_compound else [team.find_worker(task.worker)])
    )
