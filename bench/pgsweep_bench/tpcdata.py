"""TPC-DS' tables, data and queries, from duckdb's extension of that name.

All of it comes from installed packages (the extra "bench"). Nothing is fetched. PostgreSQL takes
duckdb's CREATE TABLE statements and, but for long ones, all 99 queries as they are.
"""

from __future__ import annotations

import importlib
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from pgsweep.base import extras
from pgsweep.base.errors import UsageError

PACKAGES = ("duckdb", "duckdb_extension_tpcds")
# Below this dsdgen() does not end.
LEAST_SCALE_FACTOR = 0.01

# The specification has these keys. duckdb makes tables without keys.
PRIMARY_KEYS = {
    "call_center": "cc_call_center_sk",
    "catalog_page": "cp_catalog_page_sk",
    "catalog_returns": "cr_item_sk, cr_order_number",
    "catalog_sales": "cs_item_sk, cs_order_number",
    "customer": "c_customer_sk",
    "customer_address": "ca_address_sk",
    "customer_demographics": "cd_demo_sk",
    "date_dim": "d_date_sk",
    "household_demographics": "hd_demo_sk",
    "income_band": "ib_income_band_sk",
    "inventory": "inv_date_sk, inv_item_sk, inv_warehouse_sk",
    "item": "i_item_sk",
    "promotion": "p_promo_sk",
    "reason": "r_reason_sk",
    "ship_mode": "sm_ship_mode_sk",
    "store": "s_store_sk",
    "store_returns": "sr_item_sk, sr_ticket_number",
    "store_sales": "ss_item_sk, ss_ticket_number",
    "time_dim": "t_time_sk",
    "warehouse": "w_warehouse_sk",
    "web_page": "wp_web_page_sk",
    "web_returns": "wr_item_sk, wr_order_number",
    "web_sales": "ws_item_sk, ws_order_number",
    "web_site": "web_site_sk",
}
# These are what the queries join and select by most. The primary keys begin with the item.
INDEXES = {
    "catalog_returns": ("cr_returned_date_sk", "cr_returning_customer_sk"),
    "catalog_sales": ("cs_sold_date_sk", "cs_bill_customer_sk"),
    "customer": ("c_current_addr_sk",),
    "date_dim": ("d_year",),
    "store_returns": ("sr_returned_date_sk", "sr_customer_sk"),
    "store_sales": ("ss_sold_date_sk", "ss_customer_sk"),
    "web_returns": ("wr_returned_date_sk", "wr_returning_customer_sk"),
    "web_sales": ("ws_sold_date_sk", "ws_bill_customer_sk"),
}


@dataclass(frozen=True)
class Data:
    """Files to load, and what to ask then."""

    # the CREATE TABLE statement of each table
    tables: dict[str, str]
    # the rows of each table, as CSV with "|" between the values
    files: dict[str, Path]
    # by number, from 1 to 99
    queries: dict[int, str]


def check() -> None:
    """Raise if the packages are not there."""
    extras.require("bench", "TPC-DS", PACKAGES)


def generate(folder: Path, scale_factor: float) -> Data:
    """Write the data of this scale factor into an empty folder. Factor 1 is about 1 GB."""
    assert scale_factor >= LEAST_SCALE_FACTOR
    check()
    duckdb = importlib.import_module("duckdb")
    # Nothing may be fetched, whatever a query mentions.
    config = {"autoinstall_known_extensions": "false", "autoload_known_extensions": "false"}
    with duckdb.connect(":memory:", config=config) as connection:
        connection.execute(f"LOAD {_quoted(_extension(duckdb.__version__))}")
        connection.execute(f"CALL dsdgen(sf = {scale_factor!r})")
        tables = dict(_rows(connection, "SELECT table_name, sql FROM duckdb_tables() ORDER BY 1"))
        files = {name: folder / f"{name}.csv" for name in tables}
        for name, file in files.items():
            options = "FORMAT csv, HEADER false, DELIMITER '|'"
            connection.execute(f"COPY {name} TO {_quoted(file)} ({options})")
            file.chmod(0o644)
        queries = dict(_rows(connection, "SELECT query_nr, query FROM tpcds_queries()"))
    return Data(tables, files, queries)


def load_statements(data: Data) -> list[str]:
    """Return the statements that make and fill the tables on the server that has the files."""
    statements = []
    for name, create in data.tables.items():
        statements.append(create)
        statements.append(
            f"COPY {name} FROM {_quoted(data.files[name])} (FORMAT csv, DELIMITER '|')"
        )
        statements.append(f"ALTER TABLE {name} ADD PRIMARY KEY ({PRIMARY_KEYS[name]})")
        statements += [f"CREATE INDEX ON {name} ({column})" for column in INDEXES.get(name, ())]
    return statements


def _extension(version: str) -> Path:
    package = importlib.import_module("duckdb_extension_tpcds")
    file = Path(package.__path__[0], "extensions", f"v{version}", "tpcds.duckdb_extension")
    if not file.exists():
        raise UsageError(
            f"duckdb {version} and its extension tpcds are of different versions",
            "Run tools/venv bench in pg_sweep's sources.",
        )
    return file


def _rows(connection: Any, sql: str) -> list[tuple[Any, ...]]:  # noqa: ANN401
    found: list[tuple[Any, ...]] = connection.execute(sql).fetchall()
    return found


def _quoted(path: Path) -> str:
    return "'" + str(path).replace("'", "''") + "'"
