"""What a remote worker is sent: keys, headers of a trace, and nothing private of others."""

from pathlib import Path

import pytest
from langsmith.run_helpers import tracing_context
from langsmith.run_trees import RunTree
from opentelemetry import trace
from opentelemetry.sdk.trace import TracerProvider

from extensions.remote.checks import list_remote_warnings
from extensions.remote.connect import expand_headers
from extensions.remote.run import build_trace_headers
from graph.teams.team_loader import list_team_problems, load_team
from nodes.errors import SettingsInvalid
from nodes.errors.redaction import redact_text
from nodes.planning.team_record import build_team_record
from nodes.planning.tool_fit import explain_misfit
from nodes.schemas.servers import RemoteSpec
from nodes.security.provenance import build_taint, describe_private_source, exclude_worker
from nodes.security.tool_access import reaches_outside
from nodes.text.variables import list_unset_variables
from state import Attempt, Dependency, Origin, Report, Task, WorkerState


def write_team(folder: Path, keys: str) -> Path:
    team = folder / "caller"
    team.mkdir()
    (team / "team.md").write_text("---\ndescription: Calls.\n---\nOne task.\n")
    (team / "far.md").write_text(f"---\ndescription: Finds numbers far away.\n{keys}\n---\n")
    return team


def test_a_remote_worker_needs_no_instructions(tmp_path: Path) -> None:
    keys = "remote: https://far.example/\ngraph: crew\nheaders: {x-key: '${KEY}'}"

    team = load_team(write_team(tmp_path, keys))

    spec = team.find_worker("far").remote
    assert spec is not None
    assert (spec.protocol, spec.url, spec.graph) == (
        "agent_protocol",
        "https://far.example",
        "crew",
    )
    assert team.find_worker("far").limits.timeout_s == 600
    assert reaches_outside(team)


def test_a_trusted_one_does_not_reach_outside(tmp_path: Path) -> None:
    keys = "a2a: http://10.0.0.5:8000\naccess: {reads: [untrusted], sends: nothing}"

    team = load_team(write_team(tmp_path, keys))

    spec = team.find_worker("far").remote
    assert spec is not None
    assert spec.access.reads == ("untrusted",)
    assert not reaches_outside(team)


@pytest.mark.parametrize(
    ("keys", "problem"),
    [
        ("remote: https://far.example", "graph is missing"),
        ("graph: crew", "graph is for a worker on another server"),
        ("remote: https://far.example\na2a: https://far.example\ngraph: x", "one of remote"),
        ("a2a: https://far.example\ngraph: x", "remove graph"),
        ("a2a: far.example", "must be an address"),
        ("a2a: ftp://far.example", "must be an address"),
        ("a2a: 'https://far.example:port'", "must be an address"),
        ("a2a: https://user:pw@far.example", "holds a password"),
        ("a2a: https://far.example/?key=1", "no ? and no #"),
        ("a2a: https://far.example\ntools: [calculate]", "workers that work here"),
        ("a2a: https://far.example\nteam: other", "workers that work here"),
        ("a2a: https://far.example\nheaders: {host: evil}", "not a header that can be set"),
        ("a2a: https://far.example\nheaders: {'a b': c}", "not a header that can be set"),
        ("a2a: https://far.example\nheaders: text", "names and values"),
        ("a2a: https://far.example\naccess: {sends: query}", "access must have"),
        ("a2a: https://far.example\naccess: {read: []}", "access must have"),
    ],
)
def test_each_invalid_key_is_a_problem_with_its_line(
    tmp_path: Path, keys: str, problem: str
) -> None:
    problems = list_team_problems(write_team(tmp_path, keys))

    assert any(problem in each and "far.md:" in each for each in problems), problems


def test_variables_of_headers_are_replaced_and_secret() -> None:
    spec = RemoteSpec(
        url="https://far.example",
        headers={"Authorization": "Bearer ${TOKEN}", "x-mode": "${MODE:-slow and steady}"},
    )

    headers = expand_headers("far", spec, {"TOKEN": "tok-1234567890"}.get)

    assert headers == {"Authorization": "Bearer tok-1234567890", "x-mode": "slow and steady"}
    assert redact_text("it said tok-1234567890") == "it said [secret]"


def test_an_unset_variable_is_one_clear_line() -> None:
    spec = RemoteSpec(url="https://far.example", headers={"Authorization": "Bearer ${TOKEN}"})

    with pytest.raises(SettingsInvalid) as raised:
        expand_headers("far", spec, {"TOKEN": ""}.get)

    assert raised.value.format_line() == (
        "error[SETTINGS_INVALID] the header Authorization of worker far needs TOKEN, which is not "
        "set. next: set TOKEN in the environment or in a trusted .env, or write ${TOKEN:-default}"
    )


def test_a_value_of_two_lines_is_refused() -> None:
    spec = RemoteSpec(url="https://far.example", headers={"x": "${TOKEN}"})

    with pytest.raises(SettingsInvalid, match="one line"):
        expand_headers("far", spec, {"TOKEN": "a\r\nx-admin: 1"}.get)


def test_written_secrets_and_plain_http_are_warned_of_and_never_shown(tmp_path: Path) -> None:
    keys = (
        "remote: http://far.example\ngraph: crew\n"
        "headers: {Authorization: Bearer written-out-1, x-key: '${KEY}'}"
    )

    team = load_team(write_team(tmp_path, keys))

    warnings = [*list_remote_warnings(team)]
    assert "Authorization holds its value" in warnings[0]
    assert "without encryption" in warnings[1]
    [worker] = team.workers
    assert worker.remote and list_unset_variables(worker.remote.headers.values(), {}) == ["KEY"]
    assert "written-out-1" not in team.model_dump_json()


def test_what_a_worker_elsewhere_can_do_is_not_judged_by_its_tools(tmp_path: Path) -> None:
    team = load_team(write_team(tmp_path, "a2a: https://far.example"))
    task = Task(id="a", description="Deploy the release to production.", worker="far")

    assert explain_misfit(task, team.find_worker("far"), team) is None


def test_a_run_whose_remote_worker_has_moved_cannot_be_resumed(tmp_path: Path) -> None:
    team = load_team(write_team(tmp_path, "a2a: https://far.example"))
    moved = RemoteSpec(protocol="a2a", url="https://elsewhere.example")
    (worker,) = team.workers
    changed = team.model_copy(update={"workers": (worker.model_copy(update={"remote": moved}),)})

    assert build_team_record(team).tools == {"far": ("A2A agent at far.example",)}
    assert build_team_record(changed).tools != build_team_record(team).tools


def make_state(reporter: str, attempt_by: str) -> WorkerState:
    report = Report(task="b", worker=reporter, output="It is odd.", taint_labels=("private",))
    failed = Attempt(description="Find it.", worker=attempt_by, taint_labels=("private",))
    task = Task(id="a", description="Find it.", worker="far", depends_on=(Dependency(task="b"),))
    return {
        "task": task,
        "origin": Origin(user_text="Find it.", taint_labels=()),
        "materials": {},
        "inputs": {"b": report},
        "attempts": {"1": failed},
    }


def test_its_own_results_and_attempts_may_be_sent_back_to_it() -> None:
    taint = build_taint(exclude_worker(make_state("far", "far"), "far"))

    assert "private" not in taint.taint_labels


def test_results_and_attempts_of_others_and_files_of_the_user_count() -> None:
    with_file = make_state("far", "far") | {"materials": {"notes.txt": "x"}}

    for state in (make_state("near", "far"), make_state("far", "near"), with_file):
        assert "private" in build_taint(exclude_worker(state, "far")).taint_labels


@pytest.mark.parametrize(
    ("changes", "source"),
    [
        ({"materials": {"notes.txt": "x"}}, "notes.txt is private"),
        ({}, "the result of b is private"),
        ({"inputs": {}}, "an earlier attempt has read private data"),
        (
            {"inputs": {}, "attempts": {}},
            "its words were written after private data was read in this thread",
        ),
    ],
)
def test_the_source_of_what_is_private_is_named(changes: WorkerState, source: str) -> None:
    state = make_state("near", "near")
    state.update(changes)

    assert describe_private_source(state) == source


def test_without_tracing_no_header_is_sent() -> None:
    with tracing_context(enabled=False):
        assert build_trace_headers() == {}


def test_with_langsmith_the_place_in_the_trace_is_sent_and_no_metadata() -> None:
    tree = RunTree(name="act", project_name="my project", extra={"metadata": {"secret": "x"}})

    with tracing_context(enabled=True, parent=tree):
        headers = build_trace_headers()

    assert headers == {
        "langsmith-trace": tree.dotted_order,
        "baggage": "langsmith-project=my%20project",
    }


def test_with_open_telemetry_the_span_is_sent() -> None:
    tracer = TracerProvider().get_tracer("test")

    with tracing_context(enabled=False), tracer.start_as_current_span("act") as span:
        headers = build_trace_headers()

    context = span.get_span_context()
    ids = f"{context.trace_id:032x}-{context.span_id:016x}"
    assert headers == {"traceparent": f"00-{ids}-{context.trace_flags:02x}"}
    assert trace.get_current_span().get_span_context().is_valid is False
