"""Names, numbers, texts and choices as ANSI SQL that SQLite, DuckDB and PostgreSQL read alike."""

from __future__ import annotations

from collections.abc import Sequence
from itertools import pairwise

from calcore.errors import InputError
from calcore.subgroups import MISSING, Subgroup

LARGEST_FINITE = 1.7976931348623157e308
_WIDE = 8  # ways of one CASE of a tree: SQLite's parser keeps a stack of 100, and each level takes five


def identifier(name: str) -> str:
    """A column's name in double quotes; quotes inside are doubled. InputError for an empty name or a NUL."""
    if not name or "\0" in name:
        raise InputError(f"SQL cannot name a column {name!r}; give the column a name without NUL characters.")
    return '"' + name.replace('"', '""') + '"'


def literal(value: float) -> str:
    """A number with 17 digits, which is enough for every double.

    Always with an exponent: "0.1" would be an exact decimal in DuckDB and PostgreSQL, "1e-1" is a double.
    """
    digits, exponent = f"{value:.16e}".split("e")
    text = f"{digits.rstrip('0').rstrip('.')}e{int(exponent)}"
    return f"({text})" if value < 0 else text


def case(choices: Sequence[tuple[str, str]], otherwise: str) -> str:
    """The text of the first condition that holds."""
    when = "".join(f"WHEN {condition} THEN {then}\n" for condition, then in choices)
    return f"CASE {when}ELSE {otherwise} END"


def tree(value: str, starts: Sequence[float], leaves: Sequence[str]) -> str:
    """The leaf in which ``value`` lies, as nested CASEs eight wide: ten thousand leaves are five deep.

    Leaf j begins at ``starts[j - 1]``.
    """
    if len(leaves) <= _WIDE:
        choices = [(f"{value} < {literal(s)}", leaf) for s, leaf in zip(starts, leaves, strict=False)]
        return case(choices, leaves[-1]) if choices else leaves[0]
    cuts = [round(i * len(leaves) / _WIDE) for i in range(_WIDE + 1)]
    parts = [tree(value, starts[a : b - 1], leaves[a:b]) for a, b in pairwise(cuts)]
    return tree(value, [starts[cut - 1] for cut in cuts[1:-1]], parts)


def predicate(group: Subgroup) -> str:
    """A subgroup as a condition on columns, never true for NULL unless the level is "(missing)".

    Levels are written as text without a type, so that a column of numbers is compared as numbers.
    """
    if group.parts:
        return "(" + (" AND " if group.kind == "all_of" else " OR ").join(map(predicate, group.parts)) + ")"
    assert group.column is not None
    column = identifier(group.column)
    if group.kind == "equals":
        assert group.value is not None
        return f"{column} IS NULL" if group.value == MISSING else f"{column} = {_text(group.value)}"
    ends = [] if group.low is None else [f"{column} >= {literal(group.low)}"]
    # without an upper end: NaN counts as larger than every number in DuckDB and PostgreSQL, and is in no range
    high = f"<= {literal(LARGEST_FINITE)}" if group.high is None else f"< {literal(group.high)}"
    return "(" + " AND ".join([*ends, f"{column} {high}"]) + ")"


def simple_parts(group: Subgroup) -> list[Subgroup]:
    """The predicates over one column that a subgroup is made of."""
    return [leaf for part in group.parts for leaf in simple_parts(part)] if group.parts else [group]


def _text(value: str) -> str:
    if "\0" in value:
        raise InputError(f"SQL cannot hold the level {value!r} with a NUL character; export the map as JSON.")
    return "'" + value.replace("'", "''") + "'"
