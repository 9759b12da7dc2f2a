"""Autovacuum's settings for one table: the server's, overridden by storage parameters.

All of it is pure. The source is relation_needs_vacanalyze() in PostgreSQL's autovacuum.c (13 to
19). What a server does not have (autovacuum_vacuum_max_threshold before 18, weights before 19) is
None here, and a weight is 1.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from pgsweep.model.core_facts import Relation

PG_STATISTIC = 2619


@dataclass(frozen=True)
class Options:
    """What autovacuum goes by for one table."""

    # None means that it is not set for this table.
    enabled: bool | None
    # Whether the storage parameters are those of its main table, and not its own.
    inherited: bool
    vacuum_threshold: float
    vacuum_scale_factor: float
    vacuum_max_threshold: float | None
    # None means that it is switched off.
    insert_threshold: float | None
    insert_scale_factor: float
    analyze_threshold: float
    analyze_scale_factor: float
    freeze_max_age: int
    multixact_freeze_max_age: int


def parse(reloptions: Sequence[str] | None) -> dict[str, str]:
    """Return storage parameters as a dictionary."""
    return dict(option.partition("=")[::2] for option in reloptions or ())


def boolean(value: str | None, default: bool = False) -> bool:
    """Return what the server makes of the text of a boolean."""
    if value is None:
        return default
    text = value.strip().lower()
    return text in ("1", "on") or (text != "" and ("true".startswith(text) or text in "yes"))


def number_of(value: str | None) -> float | None:
    """Return what the server makes of the text of a number: 5, 0.5, 1e8, 0x10."""
    if value is None:
        return None
    try:
        return float(value)
    except ValueError:
        pass
    try:
        return float(int(value, 0))
    except ValueError:
        return None


def options_of(relation: Relation, settings: Mapping[str, str]) -> Options:
    """Return the options in force.

    A TOAST table without a parameter of its own goes by all of its main table's.
    """
    inherited = relation.relkind == "t" and not relation.reloptions
    given = parse(relation.main_reloptions if inherited else relation.reloptions)

    def number(option: str, setting: str, least: float, default: float) -> float:
        """Return the table's value if it is one, else the server's."""
        value = number_of(given.get(f"autovacuum_{option}"))
        if value is not None and value >= least:
            return value
        return float(settings.get(f"autovacuum_{setting}", default))

    def capped(option: str, default: int) -> int:
        """Return the smaller one. A table can only be earlier than the server."""
        server = int(settings.get(f"autovacuum_{option}", default))
        value = number_of(given.get(f"autovacuum_{option}"))
        return server if value is None else min(server, int(value))

    insert = number("vacuum_insert_threshold", "vacuum_insert_threshold", -1, 1000)
    largest: float | None = None
    if "autovacuum_vacuum_max_threshold" in settings:
        largest = number("vacuum_max_threshold", "vacuum_max_threshold", -1, -1)
    enabled = given.get("autovacuum_enabled")
    return Options(
        enabled=None if enabled is None else boolean(enabled),
        inherited=inherited,
        vacuum_threshold=number("vacuum_threshold", "vacuum_threshold", 0, 50),
        vacuum_scale_factor=number("vacuum_scale_factor", "vacuum_scale_factor", 0, 0.2),
        vacuum_max_threshold=None if largest is None or largest < 0 else largest,
        insert_threshold=None if insert < 0 else insert,
        insert_scale_factor=number(
            "vacuum_insert_scale_factor", "vacuum_insert_scale_factor", 0, 0.2
        ),
        analyze_threshold=number("analyze_threshold", "analyze_threshold", 0, 50),
        analyze_scale_factor=number("analyze_scale_factor", "analyze_scale_factor", 0, 0.1),
        freeze_max_age=capped("freeze_max_age", 200_000_000),
        multixact_freeze_max_age=capped("multixact_freeze_max_age", 400_000_000),
    )


@dataclass(frozen=True)
class Thresholds:
    """How many rows make a table due. It is due when it has more than that."""

    vacuum: float
    insert: float | None
    analyze: float


def thresholds(relation: Relation, options: Options) -> Thresholds:
    """Return the thresholds as core computes them."""
    # A table that was never vacuumed counts as empty.
    rows = max(relation.reltuples, 0.0)
    vacuum = options.vacuum_threshold + options.vacuum_scale_factor * rows
    if options.vacuum_max_threshold is not None:
        vacuum = min(vacuum, options.vacuum_max_threshold)
    insert: float | None = None
    if options.insert_threshold is not None:
        unfrozen = 1.0
        if relation.frozen_pages and relation.pages > 0:
            # Statistics may have been set by hand. They are clamped, as core does.
            unfrozen = 1.0 - min(relation.frozen_pages, relation.pages) / relation.pages
        insert = options.insert_threshold + options.insert_scale_factor * rows * unfrozen
    analyze = options.analyze_threshold + options.analyze_scale_factor * rows
    return Thresholds(vacuum, insert, analyze)


@dataclass(frozen=True)
class Scores:
    """How urgent a table is, in PostgreSQL 19's parts. It is due at 1."""

    xid: float
    mxid: float
    vacuum: float
    insert: float
    analyze: float

    @property
    def total(self) -> float:
        """Return the greatest part."""
        return max(self.xid, self.mxid, self.vacuum, self.insert, self.analyze)


def scores(
    relation: Relation, options: Options, limits: Thresholds, settings: Mapping[str, str]
) -> Scores:
    """Return the scores as PostgreSQL 19 defines them, on every version.

    The parts are ages ÷ limits and rows ÷ thresholds. From the age on at which the failsafe
    strikes, the part is raised to the power of (age ÷ 100 million).
    """

    def weight(name: str) -> float:
        return float(settings.get(f"autovacuum_{name}_score_weight", 1.0))

    def age_part(age: int | None, limit: int, failsafe: str) -> float:
        if age is None or age <= 0 or limit <= 0:
            return 0.0
        part = age / limit
        strikes = max(int(settings.get(failsafe, 1_600_000_000)), limit * 1.05)
        return part ** max(1.0, age / 100_000_000) if age >= strikes else part

    def rows_part(have: int, allowed: float | None) -> float:
        # A threshold below one row counts as one.
        return 0.0 if allowed is None else have / max(allowed, 1.0)

    # Neither TOAST tables nor pg_statistic are ever analyzed.
    analyzed = relation.relkind != "t" and relation.relid != PG_STATISTIC
    return Scores(
        xid=age_part(relation.xid_age, options.freeze_max_age, "vacuum_failsafe_age")
        * weight("freeze"),
        mxid=age_part(
            relation.mxid_age, options.multixact_freeze_max_age, "vacuum_multixact_failsafe_age"
        )
        * weight("multixact_freeze"),
        vacuum=rows_part(relation.dead_tuples, limits.vacuum) * weight("vacuum"),
        insert=rows_part(relation.ins_since_vacuum, limits.insert) * weight("vacuum_insert"),
        analyze=rows_part(relation.mod_since_analyze, limits.analyze) * weight("analyze")
        if analyzed
        else 0.0,
    )
