"""What a shell completes, and that it never fails."""

from __future__ import annotations

import os
import shutil
import subprocess
import sys
import time
from pathlib import Path

import pytest

from conftest import Pgsweep
from pgsweep.commands.completion import in_time, plain_names
from pgsweep_bench.servers.server import ThrowawayServer, free_port

PATIENCE_S = 60.0


def complete(*words: str) -> list[str]:
    """Return what bash would offer for the last word."""
    asked = subprocess.run(
        [sys.executable, "-m", "pgsweep"],
        env={
            **os.environ,
            "_PGSWEEP_COMPLETE": "complete_bash",
            "COMP_WORDS": "\n".join(("pgsweep", *words)),
            "COMP_CWORD": str(len(words)),
        },
        capture_output=True,
        text=True,
        check=False,
    )
    assert asked.stderr == ""
    assert asked.returncode == 0
    return asked.stdout.split()


def offered(wanted: list[str], *words: str) -> None:
    """Wait until bash would offer these. A busy server may miss the deadline."""
    until = time.monotonic() + PATIENCE_S
    while (found := complete(*words)) != wanted:
        assert found == []
        assert time.monotonic() < until


def test_commands_and_options() -> None:
    assert complete("qu") == ["queue"]
    assert complete("h") == ["hold"]
    assert complete("queue", "--wa") == ["--watch"]
    assert complete("--completion", "z") == ["zsh"]
    assert complete("runs", "--started-by", "m") == ["manual"]


@pytest.mark.server
def test_tables(stub: ThrowawayServer) -> None:
    stub.psql("stub", 'CREATE TABLE "Or; $(x)" (i int)')
    stub.psql("stub", "CREATE SCHEMA other; CREATE TABLE other.orders_old (i int)")
    flags = stub.flags("stub")
    try:
        offered(["orders"], "explain", *flags, "or")
        offered(["orders", "other.orders_old"], "set", *flags, "o")
        offered(["other.orders_old"], "vacuum", *flags, "other.")
        offered(["orders"], "runs", *flags, "--table", "ord")
        offered(["pg_catalog.pg_class"], "snooze", *flags, "pg_catalog.pg_cl")
        # A name that has to be quoted is not offered.
        assert complete("explain", *flags, "Or") == []
        assert complete("explain", *flags, "$(touch x)") == []
    finally:
        stub.psql("stub", 'DROP TABLE "Or; $(x)"; DROP SCHEMA other CASCADE')


def test_no_server_is_no_error() -> None:
    assert complete("explain", "-h", "127.0.0.1", "-p", str(free_port()), "o") == []
    assert complete("explain", "-d", "no such=string", "o") == []


def test_a_deadline() -> None:
    assert in_time(lambda: ["a"], 60.0) == ["a"]
    assert in_time(lambda: [str(1 // 0)], 60.0) == []
    started = time.monotonic()

    def slow() -> list[str]:
        time.sleep(20.0)
        return ["late"]

    assert in_time(slow, 0.05) == []
    assert time.monotonic() - started < 15.0


def test_only_plain_names() -> None:
    found = [("public", "t"), ("s", "t1"), ("public", "T"), ("s p", "t"), ("public", "a$b")]
    assert plain_names(found) == ["t", "s.t1"]


@pytest.mark.parametrize("shell", ["bash", "zsh", "fish"])
def test_scripts(pgsweep: Pgsweep, shell: str, tmp_path: Path) -> None:
    script = pgsweep("--completion", shell).out
    assert f"_PGSWEEP_COMPLETE=complete_{shell}" in script
    # A script in zsh's fpath is loaded by the first completion, which is to complete as well.
    assert ("loadautofunc" in script) == (shell == "zsh")
    program = shutil.which(shell)
    if program is None:
        return
    file = tmp_path / shell
    file.write_text(script)
    subprocess.run([program, "-n", str(file)], check=True, capture_output=True)


def test_bash_completes(pgsweep: Pgsweep, tmp_path: Path) -> None:
    """Have bash itself ask, with a command of our name."""
    bash = shutil.which("bash")
    if bash is None:
        pytest.skip("NOT TESTED: there is no bash")
    (tmp_path / "script").write_text(pgsweep("--completion", "bash").out)
    command = tmp_path / "pgsweep"
    command.write_text(f'#!/bin/sh\nexec {sys.executable} -m pgsweep "$@"\n')
    command.chmod(0o755)
    ask = (
        f". {tmp_path}/script; COMP_WORDS=(pgsweep bloc); COMP_CWORD=1; "
        f'_pgsweep_completion {command}; echo "${{COMPREPLY[*]}}"'
    )
    said = subprocess.run([bash, "-c", ask], capture_output=True, text=True, check=True)
    assert said.stdout.split() == ["blockers"]

    unknown = pgsweep("--completion", "tcsh")
    assert unknown.code == 2
