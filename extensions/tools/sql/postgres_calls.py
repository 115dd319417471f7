"""Check which functions a statement calls: only those that compute and have no side effects.

A transaction that may only read protects tables, but not the server: functions write messages into
its log, take locks, end sessions, and run SQL out of text. The server's catalogue states what a
function does; what a statement may call is read from its text without parsing it, and rather too
much than too little: a name can only be called if a bracket or a comment follows it.
"""

import re
from typing import Any, Final

from nodes.errors import ToolRefused
from nodes.limits.patterns import Pattern

_NAME: Final = Pattern(r"[\w$]+")
_CALL: Final = Pattern(r'(?<=[\w$])"?\s*+(?:\(|/\*|--)')
MAX_NAME_CHARS: Final = 63
"""The server truncates longer ones."""
_ESCAPED_NAME: Final = Pattern(r'u&"', re.IGNORECASE)

_SAFE_FUNCTION_NAMES: Final = """
age array_sample array_shuffle array_to_json array_to_string clock_timestamp col_description
concat concat_ws current_database current_schema current_schemas current_user date date_add
date_part date_subtract date_trunc enum_first enum_last enum_range extract format format_type
gen_random_uuid generate_series has_any_column_privilege has_column_privilege
has_schema_privilege has_table_privilege json_agg json_agg_strict json_build_array
json_build_object json_object_agg json_object_agg_strict json_object_agg_unique
json_object_agg_unique_strict json_populate_record json_populate_recordset json_to_record
json_to_recordset json_to_tsvector jsonb_agg jsonb_agg_strict jsonb_build_array
jsonb_build_object jsonb_path_exists_tz jsonb_path_match_tz jsonb_path_query_array_tz
jsonb_path_query_first_tz jsonb_path_query_tz jsonb_populate_record
jsonb_populate_record_valid jsonb_populate_recordset jsonb_to_record jsonb_to_recordset
jsonb_to_tsvector length make_timestamptz money now numeric obj_description overlaps
pg_column_size pg_database_size pg_get_constraintdef pg_get_indexdef pg_get_viewdef
pg_indexes_size pg_relation_size pg_table_size pg_total_relation_size pg_typeof
phraseto_tsquery plainto_tsquery quote_literal
quote_nullable random random_normal regclass row_to_json session_user statement_timestamp time
timeofday timestamp timestamptz timetz timezone to_char to_date to_json to_jsonb to_number
to_regclass to_regtype to_timestamp to_tsquery to_tsvector transaction_timestamp
ts_headline uuidv4 uuidv7 version websearch_to_tsquery xml xml_is_well_formed
"""
SAFE_FUNCTIONS: Final = _SAFE_FUNCTION_NAMES.split()
"""The server's own functions that are not immutable but only compute; others are refused."""

_HARMFUL_CALLS_SQL: Final = r"""
SELECT 'the function ' || p.proname
FROM pg_proc AS p LEFT JOIN pg_type AS argument ON argument.oid = p.proargtypes[0]
WHERE (
    lower(p.proname::text COLLATE "C") = ANY (%(called)s)
    -- A function of a row can be written as if it were a column of it.
    OR (argument.typtype IN ('c', 'd', 'p') AND p.pronargs - p.pronargdefaults <= 1
        AND lower(p.proname::text COLLATE "C") = ANY (%(names)s))
    OR (p.proname::text COLLATE "C" !~ '^[A-Za-z_][A-Za-z0-9_$]*$'
        AND strpos(lower(%(sql)s), lower(p.proname::text)) > 0)
)
AND p.prokind <> 'p' AND p.prorettype <> 'trigger'::regtype
AND 'internal'::regtype <> ALL (p.proargtypes)
AND has_schema_privilege(p.pronamespace, 'USAGE')
AND (
    p.prosecdef
    OR p.provolatile <> 'i' AND NOT (
        p.pronamespace = 'pg_catalog'::regnamespace AND p.proname = ANY (%(computing)s))
    OR EXISTS (
        SELECT FROM pg_aggregate AS a JOIN pg_proc AS step ON step.oid IN (
            a.aggtransfn, a.aggfinalfn, a.aggcombinefn, a.aggmtransfn, a.aggminvtransfn,
            a.aggmfinalfn)
        WHERE a.aggfnoid = p.oid AND (step.provolatile = 'v' OR step.prosecdef))
)
UNION
SELECT 'the operator ' || o.oprname FROM pg_operator AS o JOIN pg_proc AS p ON p.oid = o.oprcode
WHERE (p.provolatile = 'v' OR p.prosecdef) AND strpos(%(sql)s, o.oprname::text) > 0
UNION
SELECT 'the cast to ' || format_type(c.casttarget, NULL)
FROM pg_cast AS c JOIN pg_proc AS p ON p.oid = c.castfunc
WHERE (p.provolatile = 'v' OR p.prosecdef) AND (
    c.castcontext = 'i'
    -- A type of the server has more names than its own.
    OR %(sql)s ~* '::|cast' AND EXISTS (
        SELECT FROM pg_type AS t WHERE c.casttarget IN (t.oid, t.typbasetype)
        AND (t.typnamespace = 'pg_catalog'::regnamespace
            OR strpos(lower(%(sql)s), lower(t.typname::text)) > 0)))
ORDER BY 1 LIMIT 5"""


async def refuse_unsafe_functions(connection: Any, sql: str) -> None:
    """Refuse a statement that may call a function whose side effects are not known to be none.

    Raises:
        ToolRefused: it may; the message names the function.
    """
    if _ESCAPED_NAME.search(sql):
        raise ToolRefused('a name may not be written with escapes (U&"…"); write it plainly')
    names = list_names(sql)
    asked = {
        "called": [name for name, is_called in names if is_called],
        "names": [name for name, _ in names],
        "sql": sql.replace('""', '"'),
        "computing": SAFE_FUNCTIONS,
    }
    found = [
        row[0] for row in await (await connection.execute(_HARMFUL_CALLS_SQL, asked)).fetchall()
    ]
    if found:
        raise ToolRefused(
            f"the statement may not use {', '.join(found)}: only functions that compute, and have "
            "no other effect, may be called; select from tables and views without it"
        )


def list_names(sql: str) -> list[tuple[str, bool]]:
    """Return the words of a statement, in lower case, each with whether it may be a call."""
    return [
        (
            word[0].lstrip("0123456789$")[:MAX_NAME_CHARS].lower(),
            _CALL.match(sql, word.end()) is not None,
        )
        for word in _NAME.finditer(sql)
    ]
