"""The colours of reports, for a light and a dark page.

The hues are those of Okabe and Ito, which people with any colour vision can tell apart. They are
made darker on white and lighter on black until text in them can be read (4.5:1). Nothing is told
by colour alone: verdicts have a sign and a word, lines a legend, bars a label.

Plots name colours by CSS variable, so that one plot serves both pages.
"""

from __future__ import annotations

# name: (light, dark)
COLOURS: dict[str, tuple[str, str]] = {
    "page": ("#fbfbfa", "#14171a"),
    "card": ("#ffffff", "#1c2024"),
    "ink": ("#1d2429", "#e8eaec"),
    "muted": ("#5c666e", "#a3adb5"),
    "line": ("#e2e5e8", "#333a40"),
    "better": ("#00694b", "#3ccf9f"),
    "worse": ("#b34700", "#ff9052"),
    "same": ("#5c666e", "#a3adb5"),
    "sweep": ("#007e5c", "#2fc08f"),
    "stock": ("#0067a3", "#62b5ea"),
    "off": ("#a04a7a", "#e08fbd"),
    "other1": ("#946200", "#e6b030"),
    "other2": ("#5a4fcf", "#a79df5"),
    "other3": ("#6b7280", "#b4bcc6"),
    "read": ("#0067a3", "#62b5ea"),
    "dirtied": ("#b34700", "#ff9052"),
    "wal": ("#946200", "#e6b030"),
    "autovacuum": ("#0067a3", "#62b5ea"),
    "autovacuum_wraparound": ("#b34700", "#ff9052"),
    "manual": ("#946200", "#e6b030"),
}

OTHERS = ("other1", "other2", "other3")


def variable(name: str) -> str:
    """Return how a plot names a colour."""
    if name not in COLOURS:
        raise KeyError(name)
    return f"var(--{name})"


def variants(names: tuple[str, ...]) -> tuple[str, ...]:
    """Return a colour for each server of an experiment.

    A server has the same colour in every experiment.
    """
    others = 0
    colours = []
    for name in names:
        if name in ("sweep", "stock", "off"):
            colours.append(variable(name))
        else:
            colours.append(variable(OTHERS[others % len(OTHERS)]))
            others += 1
    return tuple(colours)


def style() -> str:
    """Return the CSS that defines the colours."""
    light = "".join(f"--{name}:{value[0]};" for name, value in COLOURS.items())
    dark = "".join(f"--{name}:{value[1]};" for name, value in COLOURS.items())
    return (
        f":root{{color-scheme:light dark;{light}}}\n"
        f"@media (prefers-color-scheme:dark){{:root{{{dark}}}}}\n"
    )
