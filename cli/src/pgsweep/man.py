"""The manual pages: a page for each command, made of what the command says of itself.

`python -m pgsweep.man FOLDER` writes them. All but that is pure.
"""

from __future__ import annotations

import sys
import textwrap
from collections.abc import Iterable, Iterator, Mapping
from enum import Enum
from pathlib import Path
from typing import Any

import typer.main

from pgsweep import __version__
from pgsweep.cli import NAME, application

OPTIONS = "Options"
EXIT_STATUS = (
    ("0", "done"),
    ("1", "done, and something needs attention or is missing"),
    ("2", "it could not be done, and a line on stderr says why and what to do"),
)
EXIT_STATUS_OF_CHECK = (("0", "OK"), ("1", "WARNING"), ("2", "CRITICAL"), ("3", "UNKNOWN"))
ENVIRONMENT = (
    ("PGHOST, PGPORT, PGUSER, PGDATABASE, PGPASSWORD, PGSERVICE", "as libpq has them"),
    ("PGSWEEP_FLEET", "the file that pgsweep fleet goes by if no other fleet is named"),
    ("NO_COLOR", "if it is set, nothing is coloured"),
    ("COLUMNS", "the width of what is printed, if stdout is no terminal"),
)


def pages() -> dict[str, str]:
    """Return the text of each page by the name of its file."""
    group: Any = typer.main.get_group(application())
    commands: Mapping[str, Any] = group.commands
    found = {f"{NAME}.1": _overview(group, commands)}
    for words, command in _with_those_below(commands):
        found[f"{_title(words)}.1"] = _page(words, command)
    return found


def _with_those_below(commands: Mapping[str, Any], above: str = "") -> Iterator[tuple[str, Any]]:
    """Return each command by its words, "fleet" and then "fleet hold"."""
    for name, command in commands.items():
        yield f"{above}{name}", command
        yield from _with_those_below(getattr(command, "commands", {}), f"{above}{name} ")


def _title(words: str) -> str:
    return f"{NAME}-{words.replace(' ', '-')}"


def _overview(group: Any, commands: Mapping[str, Any]) -> str:  # noqa: ANN401
    panels: dict[str, list[str]] = {}
    for name, command in commands.items():
        panels.setdefault(str(command.rich_help_panel), []).append(name)
    lines = [
        *_head(NAME, group.help),
        *(".SH SYNOPSIS", f".B {NAME}", r"\fICOMMAND\fR [\fIARGUMENT\fR]..."),
        *(".SH DESCRIPTION", *_paragraphs(group.help)),
        *("Each command has a page of its own.", ".SH COMMANDS"),
    ]
    for panel, names in panels.items():
        lines.append(f".SS {quoted(panel)}")
        lines += _listed((name, commands[name]) for name in names)
    lines += [*_options(group.params), *_table("EXIT STATUS", EXIT_STATUS)]
    return _text([*lines, *_table("ENVIRONMENT", ENVIRONMENT)])


def _listed(commands: Iterable[tuple[str, Any]]) -> Iterator[str]:
    for words, command in commands:
        yield ".TP"
        yield rf"\fB{escaped(_title(words))}(1)\fR"
        yield escaped(_summary(command.help))


def _page(name: str, command: Any) -> str:  # noqa: ANN401
    words = [f".B {NAME} {escaped(name)}", r"[\fIOPTION\fR]..."]
    below = list(_with_those_below(getattr(command, "commands", {}), f"{name} "))
    for param in command.params:
        if param.param_type_name == "argument":
            several = "..." if param.nargs == -1 else ""
            metavar = rf"\fI{escaped(_metavar(param))}\fR{several}"
            words.append(metavar if param.required else f"[{metavar}]")
    codes = EXIT_STATUS_OF_CHECK if name == "check" else EXIT_STATUS
    return _text(
        [
            *_head(_title(name), command.help),
            *(".SH SYNOPSIS", *words),
            *(".SH DESCRIPTION", *_paragraphs(command.help)),
            *((".SH COMMANDS", *_listed(below)) if below else ()),
            *_options(command.params),
            *_table("EXIT STATUS", codes),
            *(".SH SEE ALSO", rf"\fB{NAME}\fR(1)"),
        ]
    )


def _head(title: str, text: str) -> list[str]:
    return [
        f'.TH {quoted(title.upper())} 1 "" {quoted(f"{NAME} {__version__}")} {quoted(NAME)}',
        # No word is cut in two, because words are options and names.
        *(".nh", ".ad l"),
        ".SH NAME",
        rf"{escaped(title)} \- {escaped(_summary(text))}",
    ]


def _summary(text: str) -> str:
    """Return the first sentence as the line that apropos(1) shows."""
    first = " ".join(text.split("\n\n")[0].split()).split(". ")[0].rstrip(".")
    return first[0].lower() + first[1:]


def _paragraphs(text: str) -> Iterator[str]:
    for number, paragraph in enumerate(text.strip().split("\n\n")):
        if number:
            yield ".PP"
        yield from _filled(paragraph)


def _options(params: Iterable[Any]) -> Iterator[str]:
    """Return arguments and options, a section for each panel, as --help shows them."""
    sections: dict[str, list[Any]] = {"Arguments": [], OPTIONS: []}
    for param in params:
        kind = "Arguments" if param.param_type_name == "argument" else OPTIONS
        sections.setdefault(getattr(param, "rich_help_panel", None) or kind, []).append(param)
    for title, found in sections.items():
        if found:
            yield f".SH {quoted(title.upper())}"
        for param in found:
            yield ".TP"
            yield _named(param)
            yield from _filled(_help(param))


def _named(param: Any) -> str:  # noqa: ANN401
    """Return an argument or option as it is written."""
    if param.param_type_name == "argument":
        return rf"\fI{escaped(_metavar(param))}\fR"
    names = ", ".join(rf"\fB{escaped(name)}\fR" for name in (*param.opts, *param.secondary_opts))
    takes_no_value = param.is_flag or param.name == "help"
    return names if takes_no_value else rf"{names} \fI{escaped(_metavar(param))}\fR"


def _metavar(param: Any) -> str:  # noqa: ANN401
    """Return the word for a value, such as TABLE."""
    if param.metavar:
        return str(param.metavar).strip("[].")
    return "|".join(_choices(param)) or str(param.name).removesuffix("_option").upper()


def _choices(param: Any) -> list[str]:  # noqa: ANN401
    """Return the words that an option takes, if only some are allowed. Typer knows the type."""
    annotation = getattr(getattr(param, "type_descriptor", None), "annotation", None)
    if isinstance(annotation, type) and issubclass(annotation, Enum):
        return [str(member.value) for member in annotation]
    return [str(choice) for choice in getattr(getattr(param, "type", None), "choices", ())]


def _help(param: Any) -> str:  # noqa: ANN401
    text = str(param.help or "")
    shown = param.default not in (None, False, "", ()) and getattr(param, "show_default", True)
    default = getattr(param.default, "value", param.default)
    return f"{text} The default is {default}." if shown and not callable(default) else text


def _table(title: str, rows: Iterable[tuple[str, str]]) -> Iterator[str]:
    yield f".SH {quoted(title)}"
    for name, what in rows:
        yield ".TP"
        yield rf"\fB{escaped(name)}\fR"
        yield escaped(what)


def _filled(text: str) -> Iterator[str]:
    """Return a paragraph in lines that are not too long to read in the file."""
    for line in textwrap.wrap(" ".join(text.split()), 100, break_on_hyphens=False):
        yield escaped(line)


def escaped(text: str) -> str:
    """Return text that roff prints as it is."""
    text = text.replace("\\", r"\e").replace("-", r"\-").replace("'", r"\(aq")
    # A line that begins with a period would be a request.
    return rf"\&{text}" if text.startswith(".") else text


def quoted(text: str) -> str:
    """Return text as one argument of a request."""
    return '"' + escaped(text).replace('"', r"\(dq") + '"'


def _text(lines: Iterable[str]) -> str:
    return "\n".join(lines) + "\n"


def main() -> int:
    """Write the pages into the folder that is named, and return the exit code."""
    if len(sys.argv) != 2:
        sys.stderr.write("usage: python -m pgsweep.man FOLDER\n")
        return 2
    folder = Path(sys.argv[1])
    folder.mkdir(parents=True, exist_ok=True)
    for name, text in pages().items():
        (folder / name).write_text(text, encoding="utf-8")
    return 0


if __name__ == "__main__":
    sys.exit(main())
