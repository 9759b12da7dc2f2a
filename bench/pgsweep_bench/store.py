"""Results on disk. They are JSON, written so that a reader never sees half a file."""

from __future__ import annotations

import json
import os
import textwrap
import types
from collections.abc import Mapping
from dataclasses import MISSING, asdict, fields, is_dataclass
from functools import cache
from pathlib import Path
from typing import Any, Literal, Union, cast, get_args, get_origin, get_type_hints

from pgsweep.base.errors import PgsweepError
from pgsweep_bench.result import FORMAT, Result

# in characters
LINE = 180


class ResultError(PgsweepError):
    """A file holds no result that this version can read."""


def dumps(result: Result) -> str:
    """Return a result as JSON."""
    # It goes through JSON once. What is laid out below then has what JSON has: no tuples and no
    # dates.
    document = json.loads(json.dumps(asdict(result), allow_nan=False, default=str))
    return _laid_out(document, 0) + "\n"


def _laid_out(value: Any, depth: int) -> str:  # noqa: ANN401
    """Return JSON with as much in a line as fits.

    A result is many numbers and few words.
    """
    text = json.dumps(value)
    if depth + len(text) <= LINE or not isinstance(value, (dict, list)):
        return text
    margin = " " * (depth + 1)
    if isinstance(value, dict):
        parts = [f"{json.dumps(key)}: {_laid_out(each, depth + 1)}" for key, each in value.items()]
    elif '"' in text:
        parts = [_laid_out(each, depth + 1) for each in value]
    else:
        # There are only numbers, so a line may end at any blank.
        return textwrap.fill(text, LINE, subsequent_indent=margin)
    first, last = ("{", "}") if isinstance(value, dict) else ("[", "]")
    inner = f",\n{margin}".join(parts)
    return f"{first}\n{margin}{inner}\n{' ' * depth}{last}"


def loads(text: str, where: str = "result") -> Result:
    """Return the result that the JSON describes. `where` is for messages."""
    try:
        document = json.loads(text)
    except json.JSONDecodeError as exc:
        raise ResultError(f"{where} is no JSON: {exc}", _hint()) from exc
    version = document.get("format") if isinstance(document, dict) else None
    if not isinstance(version, int):
        raise ResultError(f"{where} is no result of an experiment", _hint())
    if version > FORMAT:
        raise ResultError(
            f"{where} has format {version}, this pgsweep reads up to {FORMAT}",
            "Use the pgsweep that wrote it, or a later one.",
        )
    return cast("Result", _build(Result, document, where))


def _hint() -> str:
    return "Name a file that pgsweep_bench wrote."


def save(result: Result, path: Path) -> None:
    """Write a result. What was there stays until the new file is complete and on disk."""
    partial = path.with_name(f".{path.name}.{os.getpid()}")
    try:
        with partial.open("w") as file:
            file.write(dumps(result))
            file.flush()
            os.fsync(file.fileno())
        partial.replace(path)
    except OSError as exc:
        raise ResultError(f'could not write "{path}": {exc.strerror}') from exc
    finally:
        partial.unlink(missing_ok=True)


def load(path: Path) -> Result:
    """Return the result in a file."""
    try:
        text = path.read_text()
    except (OSError, UnicodeDecodeError) as exc:
        reason = exc.strerror if isinstance(exc, OSError) else "it is no text"
        raise ResultError(f'could not read "{path}": {reason}') from exc
    return loads(text, f'"{path}"')


@cache
def _hints(kind: type) -> dict[str, Any]:
    return get_type_hints(kind)


def _build(kind: Any, value: Any, where: str) -> Any:  # noqa: ANN401
    """Return value as the type of the contract. Unknown keys are those of a later release."""
    origin, inner = get_origin(kind), get_args(kind)
    if kind is Any:
        return value
    if is_dataclass(kind):
        return _build_dataclass(cast("type", kind), value, where)
    if origin in (Union, types.UnionType):
        return None if value is None else _build(inner[0], value, where)
    if origin is tuple:
        _require(isinstance(value, list), "a list", value, where)
        kinds = inner[:1] * len(value) if inner[1:] == (...,) else inner
        _require(len(kinds) == len(value), f"{len(kinds)} values", value, where)
        pairs = zip(kinds, value, strict=True)
        return tuple(_build(kind, entry, f"{where}[{i}]") for i, (kind, entry) in enumerate(pairs))
    if origin is dict:
        _require(isinstance(value, Mapping), "an object", value, where)
        return {key: _build(inner[1], entry, f"{where}.{key}") for key, entry in value.items()}
    if origin is Literal:
        _require(value in inner, f"one of {', '.join(inner)}", value, where)
        return value
    accepted = (int, float) if kind is float else (kind,)
    right = isinstance(value, accepted) and (kind is bool or not isinstance(value, bool))
    _require(right, {str: "text", bool: "true or false"}.get(kind, "a number"), value, where)
    return kind(value)


def _build_dataclass(kind: type, value: Any, where: str) -> Any:  # noqa: ANN401
    _require(isinstance(value, Mapping), "an object", value, where)
    found = {}
    for field in fields(kind):
        if field.name in value:
            place = f"{where}: {field.name}"
            found[field.name] = _build(_hints(kind)[field.name], value[field.name], place)
        elif field.default is MISSING and field.default_factory is MISSING:
            raise ResultError(f'{where}: "{field.name}" is missing', _hint())
    return kind(**found)


def _require(condition: bool, what: str, value: object, where: str) -> None:
    if not condition:
        raise ResultError(f"{where}: {str(value)[:40]!r} is not {what}", _hint())
