"""No statement does more than read, whatever it is after; nor does a role that could do more."""

import asyncio
import hashlib
import os
import sqlite3
from collections.abc import Iterable, Iterator
from itertools import chain
from pathlib import Path
from typing import Any, Final

import duckdb
import psycopg
import pytest

from extensions.tools.analyze_table import analyze_table
from extensions.tools.query_database import query_database
from extensions.tools.sql.client import CHILD_FUNCTION, MAX_WRITTEN_BYTES
from graph.commands.doctor import run_doctor
from graph.commands.teams import report_problems
from graph.settings import Settings
from nodes.errors import SettingsInvalid, ToolFailed, ToolRefused
from nodes.tools.framework.isolation import IsolatedFunction
from nodes.tools.framework.settings import ToolSettings
from tests.hostile_sql import CORPUS, SECRET, AttackedServer, fill_placeholders, run_attacked_server
from tests.postgres_server import run_query

# Each process that runs some of them starts a server.
pytestmark = [pytest.mark.slow, pytest.mark.xdist_group("hostile_sql")]

TIMEOUT_S: Final = 0.5
AIMS_AT_FILES: Final = (
    *("files_read", "files_written", "settings", "passwords", "sql_in_text", "elsewhere"),
    *("rows", "objects", "commands", "several", "endless"),
)
"""What the engines that read files have anything of; the rest is PostgreSQL's own."""
ORDINARY: Final = (
    "SELECT region, sum(revenue) AS total FROM sales GROUP BY region ORDER BY total DESC LIMIT 5",
    "SELECT count(*), count(DISTINCT region), avg(revenue), stddev(revenue) FROM sales",
    "SELECT date_trunc('month', now()), to_char(now(), 'YYYY-MM'), age(now(), '2020-01-01')",
    "SELECT extract(year FROM CURRENT_DATE), date_part('day', now()), now() AT TIME ZONE 'UTC'",
    "SELECT lag(revenue) OVER (PARTITION BY region ORDER BY revenue), rank() OVER () FROM sales",
    "SELECT percentile_cont(0.5) WITHIN GROUP (ORDER BY revenue) FROM sales",
    "SELECT region, count(*) FILTER (WHERE revenue > 1) FROM sales GROUP BY ROLLUP (region)",
    "WITH top AS (SELECT max(revenue) AS most FROM sales) SELECT * FROM sales, top",
    "WITH RECURSIVE r(n) AS (SELECT 1 UNION ALL SELECT n + 1 FROM r WHERE n < 9) TABLE r",
    "SELECT s.region, t.n FROM sales s CROSS JOIN LATERAL (SELECT s.revenue * 2 AS n) t",
    "SELECT day::date FROM generate_series('2024-01-01', '2024-01-03', interval '1 day') AS day",
    "SELECT json_agg(s), jsonb_build_object('a', max(s.revenue)), row_to_json(s) FROM sales s "
    "GROUP BY s.*",
    "SELECT string_agg(region, ', ' ORDER BY region), array_agg(revenue) FROM sales",
    "SELECT unnest(ARRAY[1, 2]), regexp_matches(region, '[A-Z]', 'g') FROM sales",
    "SELECT * FROM sales WHERE region ILIKE '%n%' AND region ~* 'o' AND region NOT IN ('x')",
    "SELECT * FROM sales WHERE to_tsvector('simple', region) @@ to_tsquery('north')",
    "SELECT coalesce(nullif(region, ''), '-'), greatest(1, revenue), CAST(revenue AS int) "
    "FROM sales",
    "SELECT concat(region, '-', revenue), format('%s', region), left(region, 2) FROM sales",
    "SELECT round(revenue::numeric, 2), 10 / 4.0, 2 ^ 3, width_bucket(revenue, 0, 9, 3) FROM sales",
    "SELECT random() < 2, gen_random_uuid() IS NOT NULL, md5(region) FROM sales",
    "SELECT column_name, data_type FROM information_schema.columns WHERE table_name = 'sales'",
    "SELECT pg_size_pretty(pg_total_relation_size('sales'::regclass))",
    "SELECT l2_distance('[1,2]'::vector, '[1,3]'), '[1]'::vector <-> '[3]'",
    "VALUES (1, 'a'), (2, 'b')",
    "SELECT 'pg_sleep' AS word, 'DELETE FROM sales; --' AS text",
    "SELECT * FROM sales TABLESAMPLE system (100);",
)
EFFECTS: Final = {
    "rows": "UPDATE sales SET revenue = revenue + 1",
    "sequence": "SELECT nextval('ids')",
    "large objects": "SELECT lo_put(4711, 0, 'gone')",
    "settings": "ALTER ROLE reader SET statement_timeout = 9999",
    "settings file": "ALTER SYSTEM SET log_statement = 'ddl'",
    "settings loaded": "SELECT pg_reload_conf(), pg_sleep(0.5)",
    "roles": "CREATE ROLE intruder",
    "members": "GRANT pg_monitor TO guests",
    "relations": "CREATE TABLE made (a int)",
    "slots": "SELECT pg_create_physical_replication_slot('made')",
    "advisory locks": "SELECT pg_advisory_lock(1)",
    "transactions": "SELECT pg_current_xact_id()",
    "notices": "SELECT pg_notify('door', 'open')",
    "log": "SELECT pg_logical_emit_message(false, 'a', 'b')",
    "files": "COPY sales TO '{out}'",
    "sessions": "SELECT pg_terminate_backend({victim}, 5000)",
}


@pytest.fixture(scope="module")
def attacked() -> Iterator[AttackedServer]:
    """A server with a reader and an owner of its table, for all tests of this file."""
    with run_attacked_server() as made:
        yield made


def open_child() -> IsolatedFunction:
    """Return the child process in which the tool asks; it is started again when it has ended."""
    return IsolatedFunction(CHILD_FUNCTION, timeout_s=20, max_written_bytes=MAX_WRITTEN_BYTES)


async def ask(
    child: IsolatedFunction, engine: str, target: str, statements: Iterable[str], **request: Any
) -> list[Any]:
    """Ask as the tool does; failures are answers."""
    answers = list[Any]()
    common = {"engine": engine, "target": target, "materials": {}, "statement_s": TIMEOUT_S}
    for sql in statements:
        try:
            answers.append(await child.call(**{**common, **request, "sql": sql}))
        except ToolFailed as failure:
            answers.append({"error": str(failure)})
    return answers


async def run_statements(
    engine: str, target: str, statements: Iterable[str], **request: Any
) -> list[Any]:
    """Ask in a child process of its own."""
    async with open_child() as child:
        return await ask(child, engine, target, statements, **request)


def test_the_corpus_holds_at_least_128_different_statements():
    statements = [statement for each in CORPUS.values() for statement in each]

    assert len(set(statements)) == len(statements) >= 128


@pytest.mark.parametrize("role", ["reader", "owner"])
async def test_a14_no_statement_has_an_effect_even_under_a_role_that_owns_the_tables(
    attacked: AttackedServer, role: str
):
    url = attacked.server.build_url(user=role)
    async with open_child() as child:
        for aim in CORPUS:
            before = attacked.read_state()

            answers = await ask(child, "postgres", url, attacked.list_statements(aim, role))

            assert SECRET not in str(answers) and "SCRAM-SHA" not in str(answers), aim
            assert attacked.list_changes(before) == {}, aim


async def test_a14_no_statement_takes_powers_through_the_tool(attacked: AttackedServer):
    url = attacked.server.build_url(user="reader")
    tool = query_database(ToolSettings(sql_url=url), timeout_s=TIMEOUT_S)
    before = attacked.read_state()

    asked = [
        tool.ainvoke({"sql": sql, "materials": None}) for sql in attacked.list_statements("role")
    ]
    answers = await asyncio.gather(*asked, return_exceptions=True)

    unlike = [each for each in answers if not isinstance(each, ToolRefused | ToolFailed)]
    assert unlike == []
    assert SECRET not in str(answers)
    assert attacked.list_changes(before) == {}


async def test_a14_ordinary_statements_are_answered(attacked: AttackedServer):
    answers = await run_statements(
        "postgres", attacked.server.build_url(user="reader"), list(ORDINARY)
    )

    pairs = zip(ORDINARY, answers, strict=True)
    assert [(sql, answer["error"]) for sql, answer in pairs if "error" in answer] == []


async def test_a14_what_is_called_in_disguise_is_refused_before_it_runs(attacked: AttackedServer):
    aims = ("disguised", "definitions", "log", "sql_in_text")
    statements = chain.from_iterable(attacked.list_statements(aim) for aim in aims)

    answers = await run_statements("postgres", attacked.server.build_url(user="reader"), statements)

    assert [answer for answer in answers if "error" not in answer] == []


def test_every_kind_of_effect_would_be_seen():
    with run_attacked_server() as broken:
        for kind, sql in EFFECTS.items():
            places = {
                "{out}": str(broken.out),
                "{victim}": str(broken.get_victim_process("reader")),
            }
            before = broken.read_state()
            broken.run_as_superuser(fill_placeholders(sql, places))
            assert kind in broken.list_changes(before), kind


POWERS: Final = {
    "a superuser": ("SUPERUSER", ()),
    "a member of a superuser": ("", ("GRANT boss TO {}",)),
    "an heir of nothing": ("NOINHERIT", ("GRANT boss TO {}",)),
    "one who may only pass it on": (
        "",
        ("GRANT boss TO {} WITH ADMIN TRUE, INHERIT FALSE, SET FALSE",),
    ),
    "a member of a member": ("", ("CREATE ROLE middle; GRANT boss TO middle; GRANT middle TO {}",)),
    "a reader of files": ("", ("GRANT pg_read_server_files TO {}",)),
    "a writer of files": ("", ("GRANT pg_write_server_files TO {}",)),
    "a starter of programs": ("", ("GRANT pg_execute_server_program TO {}",)),
    "a reader of all data": ("", ("GRANT pg_read_all_data TO {}",)),
    "a writer of all data": ("", ("GRANT pg_write_all_data TO {}",)),
    "one who ends sessions": ("", ("GRANT pg_signal_backend TO {}",)),
    "one who watches": ("", ("GRANT pg_monitor TO {}",)),
    "a replicator": ("REPLICATION", ()),
    "a maker of roles": ("CREATEROLE", ()),
    "a reader of hashes": ("", ("GRANT SELECT ON pg_authid TO {}",)),
    "a reader of their column": ("", ("GRANT SELECT (rolname, rolpassword) ON pg_authid TO {}",)),
    "a reader of their view": ("", ("GRANT SELECT ON pg_shadow TO {}",)),
}


@pytest.fixture
def made_role(attacked: AttackedServer) -> Iterator[str]:
    """A role that may sign in, and goes again."""
    attacked.run_as_superuser("CREATE ROLE made LOGIN; GRANT guests TO made")
    attacked.run_as_superuser("CREATE ROLE boss SUPERUSER")
    yield "made"
    attacked.run_as_superuser("DROP OWNED BY made; DROP ROLE made; DROP ROLE boss")
    attacked.run_as_superuser("DROP ROLE IF EXISTS middle")


@pytest.mark.parametrize("power", POWERS)
async def test_a14_a_role_that_could_do_more_is_refused_with_what_makes_a_reader(
    attacked: AttackedServer, made_role: str, power: str
):
    attribute, granted = POWERS[power]
    for statement in (f"ALTER ROLE {made_role} {attribute}" if attribute else "", *granted):
        attacked.run_as_superuser(statement.format(made_role))
    tool = query_database(ToolSettings(sql_url=attacked.server.build_url(user=made_role)))

    with pytest.raises(ToolRefused) as refusal:
        await tool.ainvoke({"sql": "SELECT 1", "materials": None})

    text = str(refusal.value)
    assert "SUPERVISE_SQL_URL" in text and repr(made_role) in text and "\n" not in text
    for part in ("CREATE ROLE reader LOGIN PASSWORD", "GRANT CONNECT", "GRANT USAGE", "SELECT ON"):
        assert part in text


async def test_a14_what_a_refusal_proposes_makes_a_role_that_is_accepted(
    attacked: AttackedServer,
):
    [refused] = await run_statements("postgres", attacked.server.build_url(), ["SELECT 1"])
    statements = refused["fix"].partition(": ")[2].replace("reader", "proposed")
    attacked.run_as_superuser(f"{statements} GRANT guests TO proposed")

    answers = await run_statements(
        "postgres", attacked.server.build_url(user="proposed"), ["", "SELECT count(*) FROM sales"]
    )

    assert [table["table"] for table in answers[0]["tables"]] == ["sales"]
    assert answers[1]["rows"] == [[2]]


@pytest.mark.parametrize("option", ["role", "session_authorization"])
async def test_a14_a_superuser_who_signs_in_as_another_is_refused(
    attacked: AttackedServer, option: str
):
    url = f"{attacked.server.build_url()}?options=-c{option}%3Dreader"

    [answer] = await run_statements("postgres", url, ["SELECT * FROM sales"])

    assert "'postgres', a superuser" in answer["error"] and "rows" not in answer


def test_doctor_and_check_refuse_a_superusers_address_in_the_same_words(
    attacked: AttackedServer, capsys: pytest.CaptureFixture[str]
):
    settings = Settings(sql_url=attacked.server.build_url())

    code = run_doctor(settings)
    output = capsys.readouterr().out
    with pytest.raises(SettingsInvalid) as refusal:
        report_problems("market_analysis", settings)

    assert code == 2
    assert refusal.value.what in output and refusal.value.next in output
    assert "CREATE ROLE reader" in refusal.value.format_line()


def test_doctor_and_check_accept_a_readers_address(
    attacked: AttackedServer, capsys: pytest.CaptureFixture[str]
):
    settings = Settings(sql_url=attacked.server.build_url(user="reader"))

    codes = run_doctor(settings), report_problems("market_analysis", settings)

    assert codes == (0, 0)
    assert "its role may only read" in capsys.readouterr().out


def test_doctor_names_a_server_that_cannot_be_reached(capsys: pytest.CaptureFixture[str]):
    code = run_doctor(Settings(sql_url="postgresql://me:pw-hidden@127.0.0.1:1/sales"))

    output = capsys.readouterr().out
    assert code == 2 and "cannot be reached" in output and "pw-hidden" not in output


def test_a_transaction_that_may_only_read_cannot_be_made_to_write(attacked: AttackedServer):
    with psycopg.connect(attacked.server.build_url(user="owner")) as connection:
        connection.set_read_only(True)
        with pytest.raises(psycopg.Error, match="read-write mode"):
            connection.execute("SELECT set_config('transaction_read_only', 'off', true)")


@pytest.fixture
def tables(request: pytest.FixtureRequest, tmp_path: Path) -> dict[str, Any]:
    """The table in a file of SQLite, in one of DuckDB, or as a CSV file of the run."""
    folder = tmp_path / "data"
    folder.mkdir()
    sheet = "region,revenue\nNorth,1\nSouth,2\n"
    made = "CREATE TABLE sales (region TEXT, revenue FLOAT)"
    rows = "INSERT INTO sales VALUES ('North', 1), ('South', 2)"
    targets = {"sqlite": folder / "sales.db", "duckdb": folder / "sales.duckdb"}
    if request.param == "sqlite":
        with sqlite3.connect(targets["sqlite"]) as base:
            base.execute(made)
            base.execute(rows)
        base.close()
    elif request.param == "duckdb":
        with duckdb.connect(str(targets["duckdb"])) as duck:
            duck.execute(made)
            duck.execute(rows)
    materials = {"sales.csv": sheet} if request.param == "none" else {}
    target = str(targets.get(request.param, ""))
    return {"engine": request.param, "target": target, "materials": materials}


def hash_files(folder: Path) -> dict[str, str]:
    files = (path for path in folder.rglob("*") if path.is_file())
    return {str(path): hashlib.sha256(path.read_bytes()).hexdigest() for path in files}


@pytest.mark.parametrize("tables", ["sqlite", "duckdb", "none"], indirect=True)
async def test_a12_no_statement_on_files_has_an_effect(tables: dict[str, Any], tmp_path: Path):
    secret = tmp_path / "secret.txt"
    secret.write_text(SECRET)
    places = {"{secret}": str(secret), "{out}": str(tmp_path / "out"), "{victim}": str(os.getpid())}
    before = hash_files(tmp_path)
    async with open_child() as child:
        for aim in AIMS_AT_FILES if tables["engine"] != "none" else ("files_written", "rows"):
            statements = [fill_placeholders(sql, places) for sql in CORPUS[aim]]

            answers = await ask(child, statements=statements, **tables)
            [kept] = await ask(child, statements=["SELECT * FROM sales ORDER BY 1"], **tables)

            assert SECRET not in str(answers), aim
            assert hash_files(tmp_path) == before, aim
            assert kept["rows"] == [["North", 1], ["South", 2]], aim


CHANGES: Final = (
    "EXPLAIN ANALYZE DELETE FROM sales",
    "EXPLAIN ANALYZE SELECT * FROM sales",
    "explain /* */ (analyze, format json) UPDATE sales SET revenue = 0",
    "WITH gone AS (DELETE FROM sales RETURNING *) SELECT * FROM gone",
    "WITH made AS (INSERT INTO sales VALUES ('West', 3) RETURNING *) SELECT * FROM made",
    "WITH made AS (UPDATE sales SET revenue = 0 RETURNING *) SELECT * FROM made",
    "EXPLAIN DELETE FROM sales",
)


@pytest.mark.parametrize("tables", ["sqlite", "duckdb", "none"], indirect=True)
async def test_a12_what_would_change_a_table_of_a_file_is_refused_in_one_line(
    tables: dict[str, Any],
):
    answers = await run_statements(statements=CHANGES, **tables)

    for sql, answer in zip(CHANGES, answers, strict=True):
        assert "rows" not in answer and answer["error"] and "\n" not in answer["error"], sql


async def test_a_text_among_the_numbers_of_a_server_is_left_out_and_named(
    attacked: AttackedServer,
):
    for statement in (
        "CREATE TABLE marks (pupil text, mark text)",
        "INSERT INTO marks VALUES ('A', '2'), ('B', ' 3.5'), ('C', 'n/a'), ('D', 'ill')",
        "GRANT SELECT ON marks TO reader",
    ):
        run_query(attacked.server.build_url(), statement)
    tool = analyze_table(ToolSettings(sql_url=attacked.server.build_url(user="reader")))

    found = await tool.ainvoke({"table": "marks", "measures": ["mark"], "aggregate": "sum"})

    assert found["rows"] == [[5.5]]
    assert found["gaps"] == [
        "marks: mark: no number in 2 cells (not in any figure): 'n/a', 'ill'",
    ]
