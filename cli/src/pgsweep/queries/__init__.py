"""The SQL texts. Each file is one query, or a few that `several` asks in one message.

A line that ends in "-- from 18" or "-- before 18" is for these versions of the server only.
{columns} stands for the fields that a row is read into, and for all columns where that is not said.
"""

from __future__ import annotations

import re
from dataclasses import fields
from functools import cache
from importlib import resources


@cache
def text(name: str, version_num: int, kind: type | None = None) -> bytes:
    """Return the SQL of queries/<name>.sql for a server of this version (150020).

    Its rows are read into `kind`, a dataclass.
    """

    def fits(line: str) -> bool:
        match = re.search(r"-- (before|from) (\d+)$", line)
        if match is None:
            return True
        return (version_num >= int(match.group(2)) * 10000) == (match.group(1) == "from")

    query = resources.files("pgsweep.queries").joinpath(f"{name}.sql").read_text("utf-8")
    columns = "*" if kind is None else ", ".join(field.name for field in fields(kind))
    query = query.replace("{columns}", columns)
    return "".join(line for line in query.splitlines(keepends=True) if fits(line.rstrip())).encode()


@cache
def uses_extension(name: str) -> bool:
    """Return whether the SQL names anything of the extension, and not only in a string."""
    query = resources.files("pgsweep.queries").joinpath(f"{name}.sql").read_text("utf-8")
    return bool(re.search(r"\bsweep(_internal)?\.", re.sub(r"--.*|'[^']*'", "", query)))
