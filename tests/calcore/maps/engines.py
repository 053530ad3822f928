"""Databases that tests run SQL expressions in; each is skipped with a reason where it is not installed."""

from __future__ import annotations

import sqlite3

import numpy as np
import pandas as pd
import pytest

from calcore.maps.run_sql import run_in_sqlite, score_column, sqlite_has_logarithms


def in_duckdb(expression: str, scores: np.ndarray, table: pd.DataFrame | None = None) -> np.ndarray:
    """The expression's value for each score, NaN for NULL; ``table`` has a row a score."""
    duckdb = pytest.importorskip("duckdb", reason="duckdb is not installed (requirements-dev.txt)")
    frame = pd.DataFrame(index=range(len(scores))) if table is None else table.astype(object)
    frame = frame.where(frame.notna(), None)
    if table is not None:
        frame = frame.astype({name: "float64" for name in table if table[name].dtype.kind == "f"})
    frame = frame.assign(**{score_column(table): scores, "row number": np.arange(len(scores))})
    with duckdb.connect() as connection:
        connection.execute("SET threads = 1")
        connection.register("given", frame)
        query = f'SELECT CAST({expression} AS DOUBLE) AS r FROM given ORDER BY "row number"'
        found = connection.execute(query).fetchnumpy()["r"]
    return np.ma.filled(np.ma.asarray(found, dtype=float), np.nan)


def in_sqlite(expression: str, scores: np.ndarray, table: pd.DataFrame | None = None) -> np.ndarray:
    """The same in SQLite; expressions with LN or EXP need a build with mathematical functions."""
    with sqlite3.connect(":memory:") as connection:
        built = sqlite_has_logarithms(connection)
    connection.close()
    if not built and ("LN(" in expression or "EXP(" in expression):
        pytest.skip("this build of SQLite has no mathematical functions (SQLITE_ENABLE_MATH_FUNCTIONS)")
    return run_in_sqlite(expression, scores, table)


DATABASES = {"duckdb": in_duckdb, "sqlite": in_sqlite}
