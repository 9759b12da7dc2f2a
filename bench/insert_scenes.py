"""The scenes of bench/insert: the seed's experiment, with one thing changed in each.

The default is PostgreSQL's own autovacuum_naptime, a table that COPY (FREEZE) has loaded, and
nothing but inserts. A scene's name says what is changed.
"""

from __future__ import annotations

from dataclasses import dataclass, replace

ROWS_PER_PAGE, LETTERS, PARTITIONS = 57, "abcdefghij", 64

# Four clients insert that many rows, or documents, in a transaction.
ROW_BYTES, DOCUMENT_BYTES = 10 * 8192 / ROWS_PER_PAGE, 8192 / 2


@dataclass(frozen=True)
class Scene:
    """One arrangement, the same for both servers."""

    name: str
    naptime: str = "1min"  # or "off": no autovacuum
    load: str = "freeze"  # or "copy", "select", "empty", "vacuumed", "frozen"
    beside: str = ""  # or "updates", "deletes", "aborts"
    per_s: int = 0  # so many of these a second
    snapshot: bool = False  # one of 5 s is open all the time
    tables: str = "one"  # or "partitions", "turns", "documents"
    event: str = ""  # or "lock", "restart", "pause"
    asked: float = 1.0  # pages read and dirtied, of stock's


def _scenes() -> list[Scene]:
    default = Scene("default", asked=0.03)
    scenes = [
        default,
        replace(default, name="naptime-2s", naptime="2s"),
        replace(default, name="no-autovacuum", naptime="off"),
        # what was loaded is to be read and frozen once, too
        replace(default, name="load-copy", load="copy", asked=0.10),
        replace(default, name="load-select", load="select", asked=0.10),
        replace(default, name="load-empty", load="empty"),
        replace(default, name="load-vacuumed", load="vacuumed"),
        Scene("snapshot", snapshot=True),
    ]
    for beside in ("updates", "deletes", "aborts"):
        for per_s in (1, 20, 200):
            asked = 0.30 if per_s <= 20 else 1.0
            scenes += [
                Scene(f"{beside}-{per_s}", beside=beside, per_s=per_s, asked=asked),
                Scene(f"{beside}-{per_s}-snapshot", beside=beside, per_s=per_s, snapshot=True),
            ]
    return [
        *scenes,
        Scene("updates-20-naptime-2s", naptime="2s", beside="updates", per_s=20, asked=0.30),
        Scene("updates-20-load-copy", load="copy", beside="updates", per_s=20, asked=0.30),
        Scene("partitions", tables="partitions", asked=0.10),
        Scene("partitions-naptime-2s", naptime="2s", tables="partitions", asked=0.10),
        Scene("turns", tables="turns", asked=0.03),
        # COPY (FREEZE) makes no page of a TOAST table all-visible
        Scene("documents", load="frozen", tables="documents", asked=0.03),
        Scene("documents-naptime-2s", "2s", load="frozen", tables="documents", asked=0.03),
        Scene("documents-load-freeze", tables="documents"),
        Scene("lock", event="lock"),
        Scene("restart", event="restart"),
        Scene("pause", event="pause"),
    ]


SCENES = {scene.name: scene for scene in _scenes()}


def tables_of(scene: Scene) -> list[str]:
    """Return the names of the tables that clients insert into."""
    return ["history", "history2"] if scene.tables == "turns" else ["history"]


def transaction_share(scene: Scene) -> float:
    """Return how many transactions bring as many pages as one of ten rows."""
    return ROW_BYTES / DOCUMENT_BYTES if scene.tables == "documents" else 1.0


def load(scene: Scene, table: str, file: str, pages: int) -> list[str]:
    """Return the statements that make a table and load that many pages."""
    rows = pages * (2 if scene.tables == "documents" else ROWS_PER_PAGE)
    data = "repeat('a', 4000)" if scene.tables == "documents" else "repeat(chr(97 + i % 10), 90)"
    select = f"SELECT i % 4, i % 4, now() + i * interval '1 us', {data}"
    select += f" FROM generate_series(1, {rows}) i"
    index = f"CREATE INDEX ON {table} (id)"
    if scene.load == "empty":
        return [f"{_create(scene, table)}; {index}"]
    if scene.load == "select":
        return [f"{_create(scene, table)}; INSERT INTO {table} {select}; {index}"]
    # There is a file for each table, since COPY (FREEZE) takes no partitioned table. Another
    # table tells which rows belong where.
    names = _leaves(scene, table)
    freeze = " (FREEZE)" if scene.load == "freeze" else ""
    return [
        f"{_create(scene, 'rows')}; INSERT INTO rows {select}",
        *(
            f"COPY {source} TO '{file}.{name}'"
            for source, name in zip(_leaves(scene, "rows"), names, strict=True)
        ),
        "DROP TABLE rows",
        f"BEGIN; {_create(scene, table)}; "
        + "; ".join(f"COPY {name} FROM '{file}.{name}'{freeze}" for name in names)
        + f"; {index}; COMMIT",
        *([f"VACUUM ANALYZE {table}"] if scene.load == "vacuumed" else []),
        *([f"VACUUM (FREEZE, ANALYZE) {table}"] if scene.load == "frozen" else []),
    ]


def _leaves(scene: Scene, table: str) -> list[str]:
    return [f"{table}_{i}" for i in range(PARTITIONS)] if scene.tables == "partitions" else [table]


def _create(scene: Scene, table: str) -> str:
    columns = "id bigint, client_id int NOT NULL, mtime timestamptz DEFAULT now(), data text"
    create = f"CREATE TABLE {table} ({columns})"
    if scene.tables == "documents":
        return f"{create}; ALTER TABLE {table} ALTER data SET STORAGE EXTERNAL"
    if scene.tables == "one" or scene.tables == "turns":
        return create
    return f"{create} PARTITION BY HASH (mtime); " + "; ".join(
        f"CREATE TABLE {name} PARTITION OF {table}"
        f" FOR VALUES WITH (MODULUS {PARTITIONS}, REMAINDER {i})"
        for i, name in enumerate(_leaves(scene, table))
    )


def insert(scene: Scene, table: str) -> str:
    """Return a client's transaction."""
    if scene.tables == "documents":
        values = "(:client_id, :client_id, repeat('a', 4000))"
    else:
        values = ",\n".join(f"(:client_id, :client_id, repeat('{c}', 90))" for c in LETTERS)
    return f"INSERT INTO {table} (id, client_id, data) VALUES\n{values};\n"


def beside(scene: Scene, table: str, pages: int) -> str:
    """Return what a client does beside the inserts: to rows all over what was loaded."""
    row = f"\\set page random(0, {pages - 1})\n\\set item random(1, {ROWS_PER_PAGE})\n"
    if scene.beside == "updates":
        return f"{row}UPDATE {table} SET mtime = now() WHERE ctid = '(:page,:item)';\n"
    if scene.beside == "deletes":
        return f"{row}DELETE FROM {table} WHERE ctid = '(:page,:item)';\n"
    return f"BEGIN;\n{insert(scene, table).replace(':client_id', '0')}ROLLBACK;\n"
