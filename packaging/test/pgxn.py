"""Is the archive what PGXN takes: one folder, a META.json of its specification, and its files?"""

import json
import re
import sys
from zipfile import ZipFile

VERSION = re.compile(r"(0|[1-9]\d*)\.(0|[1-9]\d*)\.(0|[1-9]\d*)(-[A-Za-z0-9.-]+)?")
REQUIRED = ("name", "version", "abstract", "maintainer", "license", "provides", "meta-spec")


def main() -> int:
    """Print what is wrong, or that nothing is, and return the exit code."""
    with ZipFile(sys.argv[1]) as archive:
        names = archive.namelist()
        roots = {name.split("/")[0] for name in names}
        root = min(roots)
        meta = json.loads(archive.read(f"{root}/META.json"))
    wrong = [f"META.json has no {key}" for key in REQUIRED if not meta.get(key)]
    if roots != {f"{meta['name']}-{meta['version']}"}:
        wrong.append(f"the archive's folders are {roots}")
    wrong += [
        f"{what['version']} is no semantic version"
        for what in (meta, *meta["provides"].values())
        if not VERSION.fullmatch(what["version"])
    ]
    for name, what in meta["provides"].items():
        wrong += [
            f"{name} names {what[key]}, which is not there"
            for key in ("file", "docfile")
            if f"{root}/{what[key]}" not in names
        ]
        if not {"abstract", "version", "file"} <= what.keys():
            wrong.append(f"what is provided as {name} is not described")
    if meta["meta-spec"].get("version") != "1.0.0":
        wrong.append("meta-spec is not 1.0.0")
    lines = [f"not ok - PGXN: {line}" for line in wrong] or ["ok - the archive for PGXN"]
    sys.stdout.write("\n".join(lines) + "\n")
    return 1 if wrong else 0


if __name__ == "__main__":
    sys.exit(main())
