"""The pages of `serve` without a server: who is let in, what is escaped, what is refused."""

from __future__ import annotations

import re
import stat
import time
from dataclasses import replace
from datetime import date, datetime, timedelta, timezone
from pathlib import Path
from typing import Any

import pytest
from rich.text import Text

import samples
from conftest import Pgsweep
from pgsweep.base import errors
from pgsweep.model import Call, Snapshot, Step, compute
from pgsweep.output.terminal import grid
from pgsweep.output.terminal.columns import progress_columns
from pgsweep.output.web import acts, diary, guard, html, pages, signin, signing, views

HOSTILE = "\"><script>alert('x')</script>\x1b[31m&"
TOKEN = "a token that is long enough"
HERE = "127.0.0.1"


def page(template: str, snapshot: Snapshot, acts: bool = True, **values: object) -> str:
    visitor = signin.Visitor(until=1e9)

    class Who:
        csrf = visitor.csrf

    Who.acts = acts  # type: ignore[attr-defined]
    Who.visitor = visitor if acts else None  # type: ignore[attr-defined]
    filled = {
        "path": "/",
        "here": "/",
        "base": "",
        "node": "",
        "nav": (("/", "Now"),),
        "part": False,
        "who": Who,
        "said": "",
        "failed": False,
        "style": "/s",
        "script": "/j",
        "top": views.top(snapshot),
        "trouble": None,
        "reading": False,
        "every_s": 2,
        **values,
    }
    return html.environment().get_template(template).render(filled)


def hostile() -> Snapshot:
    """Return a server whose every name is an attack."""
    names = {"datname": HOSTILE, "schemaname": HOSTILE, "relname": HOSTILE}
    return samples.snapshot(
        progress=(samples.progress(**names, limited_by=HOSTILE),),
        runs=(samples.run(**names, reason=HOSTILE),),
        databases=(samples.database(datname=HOSTILE, reason=HOSTILE),),
        queue=(samples.waiting(**names, reason=HOSTILE, waiting_for=HOSTILE),),
        blockers=(samples.blocker(name=HOSTILE, query=HOSTILE, usename=HOSTILE, fix=HOSTILE),),
    )


def hostile_calls() -> tuple[Call, ...]:
    """Return a call by somebody whose every name is an attack."""
    return (
        Call(
            called_at=samples.NOW,
            datid=5,
            datname=HOSTILE,
            pid=1,
            usename=HOSTILE,
            role=HOSTILE,
            application_name=HOSTILE,
            command="snooze",
            relid=16384,
            schemaname=HOSTILE,
            relname=HOSTILE,
            vacuum_pid=None,
            detail=HOSTILE,
        ),
    )


def hostile_trial() -> views.Tried:
    """Return a trial with a table whose every name is an attack."""
    row = replace(samples.tried_table(), datname=HOSTILE, schemaname=HOSTILE, relname=HOSTILE)
    return views.Tried((row, replace(row, autovacuums=0, manual_vacuums=0)), samples.NOW, "observe")


@pytest.mark.parametrize(
    "zone", ["UTC", "Asia/Kolkata", "Asia/Kathmandu", "America/St_Johns", "Australia/Eucla"]
)
def test_a_day_has_its_own_hours(monkeypatch: pytest.MonkeyPatch, zone: str) -> None:
    """The server counts by its own hours, which begin at half past in some zones."""
    asked: list[datetime] = []
    monkeypatch.setenv("TZ", zone)
    monkeypatch.setattr("pgsweep.findings.sources.span", lambda _, *times: asked.extend(times))
    time.tzset()
    try:
        pages.read_day(Extension(), date(2026, 2, 10))  # type: ignore[arg-type]
        begin, end = asked
        assert end - begin == timedelta(hours=24)
        assert (compute.full_hour(begin), compute.full_hour(end)) == (begin, end)
        # Its title is made of it.
        assert begin.astimezone().date() == date(2026, 2, 10)
        assert (begin - timedelta(hours=1)).astimezone().date() == date(2026, 2, 9)
    finally:
        monkeypatch.undo()
        time.tzset()


class Extension:
    """A session in a database that has the extension."""

    extension = True

    def views(self) -> Extension:
        return self

    def require_extension(self) -> None:
        return


@pytest.mark.parametrize("acts", [True, False])
def test_hostile_names_stay_text(acts: bool) -> None:
    snapshot = hostile()
    found = [
        page("now.html.j2", snapshot, acts, now=views.now(snapshot)),
        page("next.html.j2", snapshot, acts, next=views.next_(snapshot)),
        page("horizon.html.j2", snapshot, acts, horizon=views.holders(snapshot)),
        page("audit.html.j2", snapshot, acts, audit=views.audit(hostile_calls(), samples.NOW)),
        page("trial.html.j2", snapshot, acts, trial=views.trial(hostile_trial())),
    ]
    for each in found:
        assert "&lt;script&gt;alert" in each
        assert "<script>" not in each
        assert "\x1b" not in each
        # No attribute was ended by a quote in a name.
        assert not re.search(r'<[^>]*[^&]"><script', each)


def test_a_failure_is_shown_as_text() -> None:
    trouble = errors.QueryError(HOSTILE, HOSTILE)
    found = page("now.html.j2", samples.snapshot(), top=None, trouble=trouble)
    assert "&lt;script&gt;alert" in found
    assert "<script>" not in found


def test_without_the_right_there_are_no_buttons() -> None:
    snapshot = hostile()
    found = page("now.html.j2", snapshot, acts=False, now=views.now(snapshot))
    assert 'method="post"' not in found
    assert 'method="post"' in page("now.html.j2", snapshot, now=views.now(snapshot))


def test_a_page_without_the_extension() -> None:
    core = samples.core_status()
    snapshot = samples.snapshot(status=None, core=core, queue=None, limits=(), step=None)
    assert "no pg_sweep in this database" in page("now.html.j2", snapshot, now=views.now(snapshot))


def test_a_long_queue_is_cut_and_says_so() -> None:
    queue = tuple(samples.waiting(position=i, relid=i) for i in range(1, 1001))
    shown = views.next_(samples.snapshot(queue=queue, status=samples.status(due=10_000)))
    assert shown.sheet is not None
    assert (len(shown.sheet.rows), shown.shown, shown.number) == (100, 100, 10_000)


def test_tables_are_found_and_ordered() -> None:
    now = samples.server().now
    rows = tuple(
        samples.table(
            relid=i,
            relname=f"t{i}",
            schemaname="public",
            score=float(i),
            pages=100 - i,
            freeze_time=now + timedelta(hours=abs(i - 7)) if i < 20 else None,
        )
        for i in range(1, 31)
    )
    catalog = samples.table(
        relid=1259, lane="catalog", relname="pg_class", schemaname="pg_catalog", score=0.1, pages=1
    )
    found = views.Found((*rows, catalog), (), 5, samples.server())
    assert views.tables(found, "", "score", catalogs=False).sheet.rows[0][0].text == "t30"
    assert views.tables(found, "", "size", catalogs=False).sheet.rows[0][0].text == "t1"
    assert views.tables(found, "", "freeze", catalogs=False).sheet.rows[0][0].text == "t7"
    assert views.tables(found, "T2", "nonsense", catalogs=False).number == 11
    only = views.tables(found, "", "score", catalogs=True)
    assert [row[0].text for row in only.sheet.rows] == ["pg_catalog.pg_class"]
    assert only.sheet.rows[0][0].href == "/table/5/1259"


def test_a_bar_for_what_is_known() -> None:
    rows = (samples.progress(pid=1, done_pct=40.0), samples.progress(pid=2, done_pct=None))
    shown = views.now(samples.snapshot(progress=rows))
    at = shown.sheet.titles.index("Done")
    assert shown.sheet.rows[0][at].pct == 40.0


def test_titles_are_those_of_the_terminal() -> None:
    assert grid.titled("LIMITED BY") == "Limited by"
    assert grid.titled("XID %") == "XID %"
    assert grid.titled("ETA") == "ETA"
    lines = compute.with_workers([samples.progress()])
    shown = html.sheet(progress_columns(samples.server().now, False), lines, {"READ": "MB/s"})
    assert "Read MB/s" in shown.titles
    assert shown.titles[shown.head] == "Table"


def test_meanings() -> None:
    assert html.meaning(Text("x", style="bold red")) == "bad"
    assert html.meaning(Text.assemble(("x", "yellow"))) == "warn"
    assert html.meaning(Text("x")) == ""


# -- the diary ------------------------------------------------------------------


def at(minute: int, second: float = 0.0) -> datetime:
    return datetime(2026, 3, 1, 12, tzinfo=timezone.utc) + timedelta(minutes=minute, seconds=second)


def step(when: datetime, **given: Any) -> Step:
    return samples.governor_step(
        at=when, **{"read_mb_per_s": 1.0, "dirty_mb_per_s": 1.0, "wal_mb_per_s": 0.0, **given}
    )


def test_steps_become_minutes() -> None:
    kept = diary.Diary()
    first = (
        step(at(0, 40), allowed_mb_per_s=5.0, users_waiting=2.0),
        step(at(0, 10), allowed_mb_per_s=None, users_waiting=None),
    )
    kept.note(diary.Pulse(at(0, 50), first, None))
    assert kept.minutes() == ()
    # The same steps are read again, and one more.
    kept.note(diary.Pulse(at(1, 5), (step(at(1, 1), read_mb_per_s=9.0), *first), None))
    assert kept.minutes() == (diary.Minute(at(0), used=2.0, allowed=5.0, waiting=2.0),)
    kept.note(diary.Pulse(at(3), (), None))
    assert [minute.used for minute in kept.minutes()] == [2.0, 10.0]
    kept.note(diary.Pulse(at(3, 1), (step(at(1, 1), read_mb_per_s=9.0),), None))
    kept.note(diary.Pulse(at(4), (), None))
    assert len(kept.minutes()) == 2


def test_a_day_is_kept_and_no_more() -> None:
    kept = diary.Diary()
    for minute in range(0, 3 * 24 * 60, 7):
        kept.note(diary.Pulse(at(minute, 30), (step(at(minute, 10)),), at(minute)))
    assert len(kept.minutes()) <= 24 * 60 / 7 + 1
    assert len(kept.checkpoints()) <= 24 * 60 / 7 + 1
    assert kept.checkpoints()[-1] > at(3 * 24 * 60 - 8)


def test_checkpoints_are_noted_once() -> None:
    kept = diary.Diary()
    kept.note(diary.Pulse(at(1), (), at(0)))
    for _ in range(3):
        kept.note(diary.Pulse(at(3), (), at(2)))
    # The first one was before the diary began.
    assert kept.checkpoints() == (at(2),)


# -- signing in ------------------------------------------------------------------


class Clock:
    now = 0.0

    def __call__(self) -> float:
        return self.now


def test_the_token_lets_in() -> None:
    clock = Clock()
    door = signin.SignIn(TOKEN, clock)
    assert door.enter("wrong", HERE) is None
    assert door.visitor(None) is None
    assert door.visitor("") is None
    cookie = door.enter(f" {TOKEN}\n", HERE)
    assert cookie is not None
    assert door.visitor(cookie) is not None
    clock.now = signin.LASTS_S
    assert door.visitor(cookie) is None


def test_who_signs_out_is_out() -> None:
    door = signin.SignIn(TOKEN)
    cookie = door.enter(TOKEN, HERE)
    door.leave(cookie)
    door.leave(None)
    assert door.visitor(cookie) is None


def test_after_wrong_tokens_nobody_is_let_in_for_a_while() -> None:
    clock = Clock()
    door = signin.SignIn(TOKEN, clock)
    for _ in range(signin.TRIES):
        assert door.enter("guess", HERE) is None
    assert door.closed(HERE)
    assert door.enter(TOKEN, HERE) is None
    # Somebody else is not kept out by that.
    assert door.enter(TOKEN, "10.0.0.7") is not None
    clock.now = signin.PAUSE_S
    assert door.enter(TOKEN, HERE) is not None


def test_visitors_are_bounded() -> None:
    door = signin.SignIn(TOKEN)
    cookies = [door.enter(TOKEN, HERE) for _ in range(signin.VISITORS + 1)]
    assert door.visitor(cookies[0]) is None
    assert all(door.visitor(cookie) for cookie in cookies[1:])
    assert len(set(cookies)) == len(cookies)


def test_a_token_file_is_made_for_its_owner_alone(tmp_path: Path) -> None:
    file = tmp_path / "token"
    token = signin.read_token(file)
    assert len(token) >= 40
    assert stat.S_IMODE(file.stat().st_mode) == 0o600
    assert signin.read_token(file) == token


def test_a_token_file_that_will_not_do(tmp_path: Path) -> None:
    file = tmp_path / "token"
    file.write_text(TOKEN)
    file.chmod(0o640)
    with pytest.raises(errors.UsageError, match="by others"):
        signin.read_token(file)
    file.chmod(0o600)
    assert signin.read_token(file) == TOKEN
    file.write_text("short")
    with pytest.raises(errors.UsageError, match="shorter"):
        signin.read_token(file)
    file.write_bytes(b"\xff" * 40)
    with pytest.raises(errors.UsageError, match="not text"):
        signin.read_token(file)
    with pytest.raises(errors.UsageError, match="cannot make"):
        signin.read_token(tmp_path / "nowhere" / "token")


def test_addresses_that_guess_are_bounded() -> None:
    door = signin.SignIn(TOKEN)
    for number in range(signin.CLIENTS + 100):
        for _ in range(signin.TRIES):
            door.enter("guess", str(number))
    assert not door.closed("0")
    assert door.closed(str(signin.CLIENTS + 99))


def test_a_credential_may_be_read_by_its_group(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    file = tmp_path / "token"
    file.write_text(TOKEN)
    file.chmod(0o440)
    with pytest.raises(errors.UsageError, match="by others"):
        signin.read_token(file)
    monkeypatch.setenv("CREDENTIALS_DIRECTORY", str(tmp_path))
    assert signin.read_token(file) == TOKEN
    file.chmod(0o444)
    with pytest.raises(errors.UsageError, match="by others"):
        signin.read_token(file)


def test_cookies_of_two_tokens_do_not_meet() -> None:
    assert signin.SignIn(TOKEN).cookie != signin.SignIn(TOKEN + "!").cookie


def test_act_needs_a_token_file(pgsweep: Pgsweep) -> None:
    result = pgsweep("serve", "--act", "--listen", "127.0.0.1:0")
    assert result.code == 2
    assert "--token-file" in result.err


# -- who is refused ----------------------------------------------------------------


@pytest.mark.parametrize(
    "host",
    ["127.0.0.1:9188", "localhost", "LOCALHOST:80", "[::1]:9188", "10.0.0.7:9188", "db.example:1"],
)
def test_known_names(host: str) -> None:
    assert guard.Guard(None, ["db.example"]).knows(host)  # type: ignore[arg-type]


@pytest.mark.parametrize(
    "host", ["", "evil.example", "evil.example:9188", "127.0.0.1.evil.example"]
)
def test_unknown_names(host: str) -> None:
    assert not guard.Guard(None, ["db.example"]).knows(host)  # type: ignore[arg-type]


@pytest.mark.parametrize(
    ("client", "host", "here"),
    [
        ("127.0.0.1", "127.0.0.1:9188", True),
        ("127.0.0.1", "localhost", True),
        ("127.8.0.1", "127.0.0.1", True),
        ("::1", "[::1]:9188", True),
        ("::ffff:127.0.0.1", "localhost:9188", True),
        ("10.0.0.7", "localhost", False),
        ("::ffff:10.0.0.7", "localhost", False),
        # A proxy here that does not say for whom it asks.
        ("127.0.0.1", "db.example", False),
        ("127.0.0.1", "10.0.0.1:9188", False),
        ("127.0.0.1", "", False),
        ("nonsense", "localhost", False),
        (None, "localhost", False),
    ],
)
def test_who_is_on_this_machine(client: str | None, host: str, here: bool) -> None:
    scope = {
        "type": "http",
        "client": None if client is None else (client, 1),
        "headers": [(b"host", host.encode())],
    }
    assert guard.is_here(scope) is here


@pytest.mark.parametrize(
    ("to", "kept"),
    [
        ("/", True),
        ("/table/5/16384", True),
        ("/tables?find=x", True),
        ("//evil.example", False),
        ("https://evil.example", False),
        ("/\\evil.example", False),
        ("/\r\nset-cookie: x", False),
        ("", False),
    ],
)
def test_only_these_pages_are_led_to(to: str, kept: bool) -> None:
    assert signing.local(to) == (to if kept else "/")


@pytest.mark.parametrize(
    "value", ["", "-1", "9" * 5000, "1e3", "٣", "99999999999", "1; DROP TABLE x"]
)
def test_numbers_of_forms(value: str) -> None:
    with pytest.raises(errors.UsageError):
        acts.number({"pid": value}, "pid")
    assert acts.number({"pid": "4294967295"}, "pid") == 4294967295
