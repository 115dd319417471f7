"""`supervise doctor`: what is configured, what can be reached, and how to fix the rest."""

import platform
from collections.abc import Callable, Iterator
from importlib.metadata import PackageNotFoundError, version
from importlib.util import find_spec
from typing import Final

from graph.commands.doctor_check import CheckLevel, DoctorCheck
from graph.commands.doctor_database import check_database
from graph.commands.doctor_sql import check_sql_database
from graph.commands.endpoint_probe import OPENAI_URL, EndpointReply, fetch_model_list
from graph.commands.output import print_listing
from graph.display.progress import label_model
from graph.display.text import to_one_line
from graph.evaluation.team_check import check_team
from graph.settings import EMBEDDED, Settings
from graph.teams.team_loader import list_teams
from nodes.errors import SettingsInvalid
from nodes.models.prices import is_priced
from nodes.text.counts import format_count
from nodes.tools.documents.folder import list_documents
from nodes.tools.framework.extras import list_missing_packages, write_install_command

PACKAGES: Final = ("langgraph", "langchain", "langchain-openai", "openai", "pydantic", "langsmith")


def run_doctor(settings: Settings) -> int:
    """Check everything and print it; return 2 if something configured is broken."""
    found = [diagnosis for look in _CHECKS for diagnosis in look(settings)]
    print_listing([_format_row(diagnosis) for diagnosis in found], ("", "", ""))
    return 2 if any(diagnosis.level == "broken" for diagnosis in found) else 0


def _format_row(diagnosis: DoctorCheck) -> tuple[str, str, str]:
    fix = f"\nfix: {to_one_line(diagnosis.fix, 300)}" if diagnosis.fix else ""
    return f"{diagnosis.level:6}", diagnosis.name, to_one_line(diagnosis.text, 300) + fix


def _check_versions(settings: Settings) -> Iterator[DoctorCheck]:
    yield DoctorCheck("ok", "python", f"{platform.python_version()} on {platform.system()}")
    for package in PACKAGES:
        try:
            yield DoctorCheck("ok", package, version(package))
        except PackageNotFoundError:
            yield DoctorCheck("broken", package, "not installed", f"uv pip install {package}")


def _check_models(settings: Settings) -> Iterator[DoctorCheck]:
    models = settings.build_model_settings()
    tiers = {"fast": models.fast, "standard": models.standard, "strong": models.strong}
    for tier, name in tiers.items():
        yield _check_model(f"model {tier}", name)
    for name in dict.fromkeys(tiers.values()):
        if not is_priced(name, models.prices):
            fix = f"set SUPERVISE_PRICES={name}=INPUT/OUTPUT, US dollars for a million tokens"
            yield DoctorCheck("note", "price", f"unknown for {name}: no cap on money", fix)
    called = [name.partition(":")[2] for name in tiers.values() if name.startswith("openai:")]
    if called or models.base_url:
        yield from _check_endpoint(
            fetch_model_list(models.base_url, models.api_key), called, settings
        )


def _check_model(label: str, name: str) -> DoctorCheck:
    if name == EMBEDDED:
        fix = "set OPENAI_API_KEY, or OPENAI_BASE_URL for your own server"
        return DoctorCheck("note", label, label_model(name), fix)
    package = f"langchain_{name.partition(':')[0].split('_')[0]}"
    if find_spec(package) is None:
        fix = f"uv pip install {package.replace('_', '-')}"
        return DoctorCheck("broken", label, f"{name}: {package} is not installed", fix)
    return DoctorCheck("ok", label, name)


def _check_endpoint(
    answer: EndpointReply, called: list[str], settings: Settings
) -> Iterator[DoctorCheck]:
    where = settings.openai_base_url or OPENAI_URL
    if answer.problem:
        grade: CheckLevel = "note" if answer.is_reachable else "broken"
        yield DoctorCheck(grade, "endpoint", f"{where}: {answer.problem}", answer.fix)
        return
    yield DoctorCheck("ok", "endpoint", f"{where} answers in {answer.seconds:.2f} s")
    unknown = sorted(set(called) - set(answer.models))
    if answer.models and unknown:
        some = ", ".join(answer.models[:8])
        fix = f"set SUPERVISE_MODEL_FAST, _STANDARD and _STRONG to openai:NAME; it has {some}"
        yield DoctorCheck("note", "endpoint", f"does not list {', '.join(unknown)}", fix)


def _check_teams(settings: Settings) -> Iterator[DoctorCheck]:
    for folder in settings.team_folders:
        if not folder.is_dir():
            fix = "create it, or change SUPERVISE_TEAMS"
            yield DoctorCheck("broken", "teams", f"{folder} is not a folder", fix)
    for folder in list_teams(settings):
        problems = check_team(folder, settings)
        if problems:
            fix = f"supervise check {folder}"
            yield DoctorCheck("broken", f"team {folder.name}", problems[0], fix)
        elif missing := list_missing_packages(folder.name):
            text = f"packages are missing: {', '.join(missing)}"
            fix = write_install_command(folder.name)
            yield DoctorCheck("note", f"team {folder.name}", text, fix)
        else:
            yield DoctorCheck("ok", f"team {folder.name}", str(folder))


def _check_sources(settings: Settings) -> Iterator[DoctorCheck]:
    try:
        settings.build_tool_settings()
    except SettingsInvalid as error:
        yield DoctorCheck("broken", "documents", str(error), error.next)
        return
    if settings.documents is None:
        fix = "set SUPERVISE_DOCUMENTS to a folder that search_documents may read"
        yield DoctorCheck("note", "documents", "only the files of a run", fix)
    else:
        stored, skipped = list_documents(settings.documents)
        found = format_count(len(stored), "document")
        text = f"{settings.documents}: {found}, {len(skipped)} skipped"
        yield DoctorCheck("ok", "documents", text)
    yield check_sql_database(settings.sql_url)
    engine = "Tavily, by key" if settings.tavily_api_key else "keyless engine"
    fix = "" if settings.tavily_api_key else "set TAVILY_API_KEY for better results"
    yield DoctorCheck("ok" if settings.tavily_api_key else "note", "web search", engine, fix)


def _check_tracing(settings: Settings) -> Iterator[DoctorCheck]:
    if not settings.langsmith_tracing:
        text = "off: run data leaves this machine only in requests to models and tools"
        yield DoctorCheck("ok", "LangSmith tracing", text)
    elif settings.langsmith_api_key is None:
        fix = "set LANGSMITH_API_KEY, or unset LANGSMITH_TRACING"
        yield DoctorCheck("broken", "LangSmith tracing", "on, but no key is set", fix)
    else:
        where = settings.langsmith_endpoint or "LangSmith's own endpoint"
        text = f"on: requests, prompts and answers are sent to {where}"
        yield DoctorCheck("ok", "LangSmith tracing", text)


def _check_setting_names(settings: Settings) -> Iterator[DoctorCheck]:
    for name, near in settings.find_unknown_variables().items():
        fix = f"did you mean {near}?" if near else ".env.example lists the settings"
        yield DoctorCheck("note", "setting", f"{name} is not a setting", fix)


_CHECKS: Final[tuple[Callable[[Settings], Iterator[DoctorCheck]], ...]] = (
    _check_versions,
    _check_setting_names,
    _check_models,
    check_database,
    _check_teams,
    _check_sources,
    _check_tracing,
)
