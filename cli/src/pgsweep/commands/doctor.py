"""`pgsweep doctor`: why pg_sweep does not do what one expects."""

from __future__ import annotations

from pgsweep.base import output, paragraph
from pgsweep.commands.options import Json, with_target
from pgsweep.findings import checks, sources
from pgsweep.output.terminal import health_json, reports
from pgsweep.source import db


@with_target
def doctor(target: db.Target, json: Json = False) -> int:
    """Check the installation line by line, with what to do about each finding.

    It works without the extension and without the library, too. The exit code is 0 if all is
    well, 1 if there is something to look at, and 2 if pg_sweep does not work in this database.
    """
    with db.connect(target) as session:
        facts = sources.facts(session)
        found = checks.diagnose(facts)
        notes = () if facts.installed_version else sources.notes("doctor", session)
    if json:
        output.document(health_json.doctor(found))
        output.notes(notes)
    else:
        output.lines(reports.doctor_lines(found, output.width()))
        output.lines(paragraph.notes(notes, output.width()))
    return checks.exit_code(found)
