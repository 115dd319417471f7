"""`supervise doctor`: what is configured, what can be reached, and how to mend the rest."""

import platform
from collections.abc import Callable, Iterator
from importlib.metadata import PackageNotFoundError, version
from importlib.util import find_spec
from typing import Final

from graph.commands.diagnosis import Diagnosis, Grade
from graph.commands.doctor_database import look_at_database
from graph.commands.doctor_sql import look_at_sql
from graph.commands.endpoint import OPENAI_URL, EndpointAnswer, ask_endpoint
from graph.commands.screen import put_listing
from graph.progress import model_shown
from graph.settings import EMBEDDED, Settings
from graph.teams import check_team, list_teams
from graph.text import one_line
from nodes.errors import SettingsInvalid
from nodes.models.prices import is_priced
from nodes.tools.documents.folder import stored_documents

PACKAGES: Final = ("langgraph", "langchain", "langchain-openai", "openai", "pydantic", "langsmith")


def diagnose(settings: Settings) -> int:
    """Look at everything, say it, and give 2 when something configured is broken."""
    found = [diagnosis for look in _LOOKS for diagnosis in look(settings)]
    put_listing([_row(diagnosis) for diagnosis in found], ("", "", ""))
    return 2 if any(diagnosis.grade == "broken" for diagnosis in found) else 0


def _row(diagnosis: Diagnosis) -> tuple[str, str, str]:
    fix = f"\nfix: {one_line(diagnosis.fix, 300)}" if diagnosis.fix else ""
    return f"{diagnosis.grade:6}", diagnosis.name, one_line(diagnosis.text, 300) + fix


def _versions(settings: Settings) -> Iterator[Diagnosis]:
    yield Diagnosis("ok", "python", f"{platform.python_version()} on {platform.system()}")
    for package in PACKAGES:
        try:
            yield Diagnosis("ok", package, version(package))
        except PackageNotFoundError:
            yield Diagnosis("broken", package, "not installed", f"uv pip install {package}")


def _models(settings: Settings) -> Iterator[Diagnosis]:
    models = settings.models()
    tiers = {"fast": models.fast, "standard": models.standard, "strong": models.strong}
    for tier, name in tiers.items():
        yield _model(f"model {tier}", name)
    for name in dict.fromkeys(tiers.values()):
        if not is_priced(name, models.prices):
            fix = f"set SUPERVISE_PRICES={name}=INPUT/OUTPUT, US dollars for a million tokens"
            yield Diagnosis("note", "price", f"none is known for {name}: no cap on money", fix)
    called = [name.partition(":")[2] for name in tiers.values() if name.startswith("openai:")]
    if called or models.base_url:
        yield from _endpoint(ask_endpoint(models.base_url, models.api_key), called, settings)


def _model(label: str, name: str) -> Diagnosis:
    if name == EMBEDDED:
        fix = "set OPENAI_API_KEY, or OPENAI_BASE_URL for a server of your own"
        return Diagnosis("note", label, model_shown(name), fix)
    package = f"langchain_{name.partition(':')[0].split('_')[0]}"
    if find_spec(package) is None:
        fix = f"uv pip install {package.replace('_', '-')}"
        return Diagnosis("broken", label, f"{name}: {package} is not installed", fix)
    return Diagnosis("ok", label, name)


def _endpoint(answer: EndpointAnswer, called: list[str], settings: Settings) -> Iterator[Diagnosis]:
    where = settings.openai_base_url or OPENAI_URL
    if answer.problem:
        grade: Grade = "note" if answer.reached else "broken"
        yield Diagnosis(grade, "endpoint", f"{where}: {answer.problem}", answer.fix)
        return
    yield Diagnosis("ok", "endpoint", f"{where} answers in {answer.seconds:.2f} s")
    unknown = sorted(set(called) - set(answer.models))
    if answer.models and unknown:
        some = ", ".join(answer.models[:8])
        fix = f"set SUPERVISE_MODEL_FAST, _STANDARD and _STRONG to openai:NAME; it has {some}"
        yield Diagnosis("note", "endpoint", f"does not list {', '.join(unknown)}", fix)


def _teams(settings: Settings) -> Iterator[Diagnosis]:
    for folder in settings.team_folders:
        if not folder.is_dir():
            fix = "create it, or change SUPERVISE_TEAMS"
            yield Diagnosis("broken", "teams", f"{folder} is not a folder", fix)
    for folder in list_teams(settings):
        problems = check_team(folder, settings)
        if problems:
            fix = f"supervise check {folder}"
            yield Diagnosis("broken", f"team {folder.name}", problems[0], fix)
        else:
            yield Diagnosis("ok", f"team {folder.name}", str(folder))


def _sources(settings: Settings) -> Iterator[Diagnosis]:
    try:
        settings.tools()
    except SettingsInvalid as error:
        yield Diagnosis("broken", "documents", str(error), error.next)
        return
    if settings.documents is None:
        fix = "set SUPERVISE_DOCUMENTS to a folder that search_documents may read"
        yield Diagnosis("note", "documents", "only the files of a run", fix)
    else:
        stored, skipped = stored_documents(settings.documents)
        text = f"{settings.documents}: {len(stored)} documents, {len(skipped)} skipped"
        yield Diagnosis("ok", "documents", text)
    yield look_at_sql(settings.sql_url)
    engine = "Tavily, by key" if settings.tavily_api_key else "keyless engine"
    fix = "" if settings.tavily_api_key else "set TAVILY_API_KEY for better results"
    yield Diagnosis("ok" if settings.tavily_api_key else "note", "web search", engine, fix)


def _tracing(settings: Settings) -> Iterator[Diagnosis]:
    if not settings.langsmith_tracing:
        text = "off: nothing about a run leaves this machine but what models and tools are asked"
        yield Diagnosis("ok", "LangSmith tracing", text)
    elif settings.langsmith_api_key is None:
        fix = "set LANGSMITH_API_KEY, or unset LANGSMITH_TRACING"
        yield Diagnosis("broken", "LangSmith tracing", "on, but without a key", fix)
    else:
        where = settings.langsmith_endpoint or "LangSmith's own endpoint"
        text = f"on: requests, prompts and answers are sent to {where}"
        yield Diagnosis("ok", "LangSmith tracing", text)


def _misspelt(settings: Settings) -> Iterator[Diagnosis]:
    for name, near in settings.unknown().items():
        fix = f"did you mean {near}?" if near else ".env.example lists what is read"
        yield Diagnosis("note", "setting", f"{name} means nothing here", fix)


_LOOKS: Final[tuple[Callable[[Settings], Iterator[Diagnosis]], ...]] = (
    _versions,
    _misspelt,
    _models,
    look_at_database,
    _teams,
    _sources,
    _tracing,
)
