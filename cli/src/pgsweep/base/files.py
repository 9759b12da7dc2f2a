"""Writing the files that somebody asked for."""

from __future__ import annotations

import os
from pathlib import Path

from pgsweep.base import output
from pgsweep.base.errors import UsageError


def write(file: Path, text: str, hint: str) -> None:
    """Write the whole file or nothing. A reader never sees a part."""
    partial_file = file.with_name(f".{file.name}.{os.getpid()}")
    try:
        partial_file.write_text(text + "\n", encoding="utf-8")
        partial_file.replace(file)
    except OSError as exc:
        raise UsageError(f'could not write "{file}": {exc.strerror}', hint) from exc
    finally:
        partial_file.unlink(missing_ok=True)


def write_document(text: str, path: str) -> None:
    """Write the whole file or nothing, and say so. The path - is stdout."""
    if path == "-":
        output.document(text)
        return
    write(Path(path), text, "Name another file with --output.")
    output.note(f"wrote {path} ({len(text.encode()) / 1000:,.0f} kB)")
