"""Names as the server has them, as text: bytes of any encoding are shown, never refused.

All of it is pure. A server knows names of other databases, whose encoding may be another one, and
a database of encoding SQL_ASCII takes any bytes. So nothing is converted by the server. Its bytes
are read in the encoding of the database that was asked, and what does not fit that encoding is
escaped.
"""

from __future__ import annotations

import codecs
import re

# Python does not call these as PostgreSQL does, and no rule below finds them.
_CODECS = {"SQL_ASCII": "utf-8", "EUC_CN": "gb2312", "KOI8R": "koi8_r", "KOI8U": "koi8_u"}


def codec(server_encoding: str) -> str:
    """Return Python's name of a server's encoding.

    An encoding that it does not know counts as ASCII.
    """
    name = server_encoding.upper()
    windows = name.removeprefix("WIN")
    found = _CODECS.get(name, f"cp{windows}" if windows != name and windows.isdigit() else name)
    try:
        return codecs.lookup(found).name
    except LookupError:
        return "ascii"


def readable(value: bytes, encoding: str) -> str:
    r"""Return bytes as text. Bytes that are invalid in this encoding become \xe9 and the like."""
    return value.decode(encoding, "backslashreplace")


def sendable(value: str, encoding: str) -> bytes:
    r"""Return text as bytes.

    No name has a character that the encoding lacks. Such a character becomes \u20ac and the like,
    so that a search for it finds nothing, instead of failing.
    """
    return value.encode(encoding, "backslashreplace")


_QUALIFIED = re.compile(r"""(?:("(?:[^"]|"")+"|[^".]+)\.)?("(?:[^"]|"")+"|[^".]+)""")


def qualified(value: str) -> tuple[str | None, str]:
    """Return schema and name of what was written as NAME or SCHEMA.NAME.

    Parts are read as in SQL: without quotes in small letters.
    """
    match = _QUALIFIED.fullmatch(value)
    if match is None:
        schema, _, name = value.rpartition(".")
        return schema or None, folded(name)
    schema, name = match.group(1), match.group(2)
    return (_unquoted(schema) if schema else None), _unquoted(name)


def _unquoted(part: str) -> str:
    return part[1:-1].replace('""', '"') if part.startswith('"') else folded(part)


def folded(name: str) -> str:
    """Return a name without quotes as the server reads it. Only letters of ASCII are folded."""
    return re.sub("[A-Z]+", lambda capitals: capitals[0].lower(), name)
