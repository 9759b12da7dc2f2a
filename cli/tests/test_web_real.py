"""The pages on a real server: what is refused, what the buttons do, and who keeps whom out."""

from __future__ import annotations

import http.client
import json
import re
import socket
from collections.abc import Iterator
from contextlib import ExitStack, suppress
from dataclasses import dataclass
from pathlib import Path
from urllib.parse import urlencode

import pytest

import planted
from conftest import needs_extension, until, write
from pgsweep_bench.servers.server import ThrowawayServer, default_pg_config
from serving import Serving

pytestmark = [pytest.mark.server, needs_extension]

PATIENCE_S = 60.0
HOSTILE = "\"><script>alert('x')</script>"
SETTINGS = {
    "shared_preload_libraries": "pg_sweep",
    "sweep.mode": "act",
    "autovacuum_naptime": "1h",
    "sweep.naptime": "1s",
    "sweep.min_interval": "1s",
    "sweep.write_limit": "0.1",
    "sweep.floor": "0.1",
}
PAGES = (
    "/",
    "/next",
    "/tables",
    "/catalogs",
    "/bloat",
    "/day",
    "/horizon",
    "/budget",
    "/audit",
    "/trial",
)
PRIVATE = re.compile(r"[A-Za-z0-9_-]{40,}")


@dataclass(frozen=True)
class Answer:
    status: int
    headers: dict[str, str]
    text: str


@dataclass
class Client:
    """A browser without a screen: it keeps one cookie and says where it comes from."""

    address: str
    cookie: str = ""
    csrf: str = ""

    def ask(self, method: str, path: str, body: str | None = None, **headers: str) -> Answer:
        host, _, port = self.address.rpartition(":")
        conn = http.client.HTTPConnection(host, int(port), timeout=PATIENCE_S)
        given = {name.replace("_", "-"): value for name, value in headers.items()}
        if self.cookie:
            given.setdefault("cookie", self.cookie)
        try:
            conn.request(method, path, body, given)
            answer = conn.getresponse()
            text = answer.read().decode()
            found = {name.lower(): value for name, value in answer.getheaders()}
            return Answer(answer.status, found, text)
        finally:
            conn.close()

    def get(self, path: str, **headers: str) -> Answer:
        return self.ask("GET", path, **headers)

    def post(self, path: str, fields: dict[str, str], **headers: str) -> Answer:
        given = {
            "content-type": "application/x-www-form-urlencoded",
            "origin": f"http://{self.address}",
            **headers,
        }
        return self.ask("POST", path, urlencode(fields), **given)

    def page(self, path: str) -> Answer:
        """Return a page with its contents, which may come later."""
        join = "&" if "?" in path else "?"
        address = f"{path}{join}part=1"
        later = (202, 503)
        answer: Answer = until(lambda: a if (a := self.get(address)).status not in later else None)
        return answer

    def sign_in(self, token: str) -> Client:
        answer = self.post("/signin", {"token": token, "to": "/"})
        assert answer.status == 303, answer
        self.cookie = answer.headers["set-cookie"].partition(";")[0]
        found = re.search(r'name="csrf" value="([^"]+)"', self.get("/").text)
        assert found is not None
        self.csrf = found[1]
        return self

    def act(self, path: str, **fields: str) -> str:
        """Press a button and return what is said about it."""
        answer = self.post(path, {"csrf": self.csrf, "to": "/", **fields})
        assert answer.status == 303, answer
        found = re.search(
            r'class="said (\w+)" role="status"><span[^>]*>.</span> ([^<]*)', self.get("/").text
        )
        assert found is not None
        return f"{found[1]}: {found[2]}"


@dataclass(frozen=True)
class Real:
    server: ThrowawayServer
    serving: Serving
    token: str
    cookie: str

    def client(self) -> Client:
        """Return somebody who has signed in."""
        return Client(self.serving.address, self.cookie)

    def stranger(self) -> Client:
        return Client(self.serving.address)


@pytest.fixture(scope="module")
def real(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Real]:
    token_file = tmp_path_factory.mktemp("web") / "token"
    with ExitStack() as stack:
        server = stack.enter_context(ThrowawayServer(default_pg_config(), SETTINGS))
        server.psql("postgres", "CREATE EXTENSION pg_sweep")
        server.psql("postgres", "CREATE DATABASE other")
        server.psql("other", "CREATE EXTENSION pg_sweep")
        quoted = HOSTILE.replace('"', '""')
        write(server, "postgres", f'CREATE TABLE "{quoted}" AS SELECT generate_series(1, 500) AS i')
        write(server, "postgres", f'DELETE FROM "{quoted}"')
        write(server, "other", "CREATE TABLE elsewhere AS SELECT generate_series(1, 500) AS i")
        rows = "SELECT i, repeat('x', 700) FROM generate_series(1, 60000) AS i"
        # Nothing begins until each page that a vacuum changes is written and logged whole.
        server.psql("postgres", "SELECT sweep.hold('1 h')")
        write(server, "postgres", f"CREATE TABLE huge (i, filler) AS {rows}")
        write(server, "postgres", "DELETE FROM huge WHERE i % 3 = 0")
        server.psql("postgres", "CHECKPOINT")
        server.psql("postgres", "SELECT sweep.hold('0')")
        arguments = (*server.flags("postgres"), "--act", "--token-file", str(token_file))
        serving = stack.enter_context(Serving(*arguments))
        token = token_file.read_text().strip()
        yield Real(server, serving, token, serving.sign_in(token))


def relid(real: Real, name: str, dbname: str = "postgres") -> tuple[str, str]:
    found = real.server.psql(
        dbname,
        f"SELECT oid || ' ' || '{name}'::regclass::oid FROM pg_database "
        "WHERE datname = current_database()",
    )
    datid, _, oid = found.strip().partition(" ")
    return datid, oid


# -- looking -----------------------------------------------------------------------


@pytest.mark.parametrize("path", PAGES)
def test_a_page(real: Real, path: str) -> None:
    client = real.client()
    answer = client.get(path)
    assert answer.status == 200, answer.text
    assert answer.text.startswith("<!doctype html>")
    policy = answer.headers["content-security-policy"]
    assert "default-src 'none'" in policy
    assert "unsafe" not in policy
    assert answer.headers["cache-control"] == "no-store"
    assert answer.headers["x-content-type-options"] == "nosniff"
    assert "<script>" not in answer.text
    part = client.page(path)
    assert part.status == 200
    assert "<script>alert" not in part.text
    assert "<html" not in part.text


def test_another_day(real: Real) -> None:
    client = real.client()
    now = client.page("/day").text
    before = re.search(r'href="(/day\?of=\d{4}-\d\d-\d\d)">The day before', now)
    assert before is not None
    yesterday = client.page(before[1])
    assert yesterday.status == 200
    assert "Vacuums on " in yesterday.text
    assert 'href="/day">The last 24 hours' in yesterday.text
    old = client.page("/day?of=2020-02-28").text
    assert "Nothing is known of this time." in old
    assert 'href="/day?of=2020-02-27"' in old
    assert 'href="/day?of=2020-02-29"' in old
    assert "What holds the horizon" not in old
    for wrong in ("x", "2020-02-30", "2999-01-01", "0001-01-01"):
        assert client.get(f"/day?of={wrong}").status == 404


def test_a_hostile_table(real: Real) -> None:
    client = real.client()
    found = client.page("/tables?find=alert")
    assert "&lt;script&gt;alert" in found.text
    way = re.search(r'href="(/table/\d+/\d+)"', found.text)
    assert way is not None
    assert "&lt;script&gt;alert" in client.page(way[1]).text
    search = client.page("/tables?" + urlencode({"find": HOSTILE, "by": HOSTILE}))
    assert search.status == 200
    assert "<script>alert" not in search.text


def test_a_table_of_another_database(real: Real) -> None:
    datid, oid = relid(real, "elsewhere", "other")
    assert "Figures and thresholds" in real.client().page(f"/table/{datid}/{oid}").text


def test_a_table_that_is_not_there(real: Real) -> None:
    assert "not there any more" in real.client().page("/table/0/4294967295").text
    assert real.client().page("/table/0/99999999999").status == 404


def test_nothing_else_is_there(real: Real) -> None:
    client = real.client()
    assert client.get("/nothing").status == 404
    assert client.get("/static/x/token").status == 404
    assert client.get("/static/x/..%2fpages.py").status == 404
    style = re.search(r'href="(/static/[^"]+)"', client.get("/").text)
    assert style is not None
    assert "immutable" in client.get(style[1]).headers["cache-control"]


def test_metrics_are_still_there(real: Real) -> None:
    assert "pgsweep_up 1.0" in real.stranger().get("/metrics", host="prometheus.example").text


# -- who is refused ------------------------------------------------------------------


def test_a_name_that_was_made_to_lead_here(real: Real) -> None:
    assert real.client().get("/", host="evil.example").status == 421


def test_a_wrong_token(real: Real) -> None:
    answer = real.stranger().post("/signin", {"token": "wrong", "to": "/"})
    assert answer.status == 403
    assert "set-cookie" not in answer.headers


def test_a_form_without_a_token(real: Real) -> None:
    pid = str(until(lambda: running(real)))
    for fields in ({"pid": pid}, {"pid": pid, "csrf": ""}, {"pid": pid, "csrf": "x" * 32}):
        for client in (real.client(), real.stranger()):
            assert client.post("/act/cancel", fields).status == 403


def test_a_form_of_another_site(real: Real) -> None:
    client = real.client().sign_in(real.token)
    fields = {"csrf": client.csrf, "pid": "1", "began": "x"}
    for origin in ("http://evil.example", "null", "", f"http://{client.address}.evil.example"):
        assert client.post("/act/cancel", fields, origin=origin).status == 403
        assert client.post("/signin", {"token": real.token}, origin=origin).status == 403


def test_a_form_with_the_secret_of_another_visitor(real: Real) -> None:
    client, other = real.client().sign_in(real.token), real.client().sign_in(real.token)
    answer = client.post("/act/cancel", {"csrf": other.csrf, "pid": "1", "began": "x"})
    assert answer.status == 403


def test_a_cookie_is_for_these_pages_alone(real: Real) -> None:
    answer = real.client().post("/signin", {"token": real.token, "to": "//evil.example"})
    cookie = answer.headers["set-cookie"].lower()
    assert "httponly" in cookie
    assert "samesite=strict" in cookie
    assert answer.headers["location"] == "/"


def test_who_has_signed_out_has_no_buttons(real: Real) -> None:
    client = real.client().sign_in(real.token)
    assert client.post("/signout", {"csrf": client.csrf}).status == 303
    assert client.post("/act/cancel", {"csrf": client.csrf, "pid": "1"}).status == 403


def test_no_button_answers_to_a_link(real: Real) -> None:
    client = real.client().sign_in(real.token)
    for act in ("slow", "hurry", "release", "cancel", "vacuum", "snooze"):
        assert client.get(f"/act/{act}").status == 405


def test_a_form_that_is_too_long(real: Real) -> None:
    client = real.client().sign_in(real.token)
    assert client.post("/act/cancel", {"csrf": client.csrf, "x": "y" * 10_000}).status == 403


def test_no_secret_is_in_pages_or_logs(real: Real) -> None:
    client = real.client().sign_in(real.token)
    client.act("/act/slow", pid="1", began="x")
    log = json.dumps(real.serving.log)
    secrets = (real.token, client.cookie.partition("=")[2])
    for secret in (*secrets, client.csrf):
        assert secret not in log
    for path in PAGES:
        for secret in secrets:
            assert secret not in client.get(path).text
    assert any(line["event"] == "acted" and line["act"] == "slow" for line in real.serving.log)


# -- acting --------------------------------------------------------------------------


def running(real: Real) -> int | None:
    found = real.server.psql("postgres", "SELECT pid FROM sweep.progress WHERE relname = 'huge'")
    return int(found) if found.strip() else None


def button(client: Client, act: str) -> dict[str, str]:
    """Return the fields of a button on the page Now."""
    found = re.search(
        rf'action="/act/{act}">.*?name="pid" value="(\d+)">.*?name="began" value="([^"]*)"',
        client.page("/").text,
        re.DOTALL,
    )
    return {"pid": found[1], "began": found[2]} if found else {}


def test_steering_a_vacuum(real: Real) -> None:
    client = real.client().sign_in(real.token)
    fields = until(lambda: button(client, "slow"))
    assert "good: slowed down" in client.act("/act/slow", **fields)
    limited = "SELECT limited_by = 'sweep.slow()' FROM sweep.progress WHERE relname = 'huge'"
    until(lambda: real.server.psql("postgres", limited).strip() == "t")
    assert "good: neither" in client.act("/act/release", **fields)
    # The process may do something else by then.
    other = {**fields, "began": "2000-01-01T00:00:00+00:00"}
    assert "bad: process" in client.act("/act/cancel", **other)
    asked = client.get(f"/cancel/{fields['pid']}")
    assert asked.status == 200
    assert "Keep it" in asked.text
    assert "good: cancelled" in client.act("/act/cancel", **fields)
    ended = "SELECT count(*) FROM sweep.runs WHERE relname = 'huge' AND outcome = 'cancelled'"
    until(lambda: int(real.server.psql("postgres", ended)) > 0)


def test_the_first_button_after_idle_session_timeout(real: Real, tmp_path: Path) -> None:
    real.server.psql("postgres", "CREATE ROLE idler LOGIN SUPERUSER")
    # Longer than a busy machine takes from one statement of an act to the next.
    real.server.psql("postgres", "ALTER ROLE idler SET idle_session_timeout = '4s'")
    flags = real.server.flags("postgres")
    arguments = (*flags, "-U", "idler", "--act", "--token-file", str(tmp_path / "token"))
    sessions = "SELECT count(*) FROM pg_stat_activity WHERE usename = 'idler'"
    with Serving(*arguments) as serving:
        client = Client(serving.address).sign_in((tmp_path / "token").read_text())
        datid, oid = relid(real, "huge")
        for _ in range(2):
            said = client.act("/act/snooze", datid=datid, relid=oid, **{"for": "0"})
            assert "good: it is not left alone" in said
            until(lambda: int(real.server.psql("postgres", sessions)) == 0)


def test_tables_are_vacuumed_and_left_alone(real: Real) -> None:
    client = real.client().sign_in(real.token)
    datid, oid = relid(real, "elsewhere", "other")
    fields = {"datid": datid, "relid": oid}
    assert "good: it is left alone until" in client.act("/act/snooze", **fields, **{"for": "2 h"})
    snoozed = "SELECT snoozed_until IS NOT NULL FROM sweep.tables WHERE relname = 'elsewhere'"
    assert real.server.psql("other", snoozed).strip() == "t"
    assert "good: it is not left alone" in client.act("/act/snooze", **fields, **{"for": "0"})
    assert "bad:" in client.act("/act/snooze", **fields, **{"for": "100 years"})
    assert "bad:" in client.act("/act/vacuum", datid="4294967295", relid=oid)
    assert "good: it is vacuumed next" in client.act("/act/vacuum", **fields)
    audited = client.page("/audit").text
    assert f'href="/table/{fields["datid"]}/{oid}"' in audited
    for word in ("snooze", "vacuum", "until 2", "ended", "postgres"):
        assert word in audited, word
    done = "SELECT count(*) FROM sweep.runs WHERE relname = 'elsewhere' AND reason ~ 'requested'"
    until(lambda: int(real.server.psql("other", done)) > 0)


@pytest.mark.parametrize("act", ["vacuum", "snooze"])
def test_no_button_runs_what_the_owner_of_a_database_planted(real: Real, act: str) -> None:
    planted.plant(real.server)
    client = real.client().sign_in(real.token)
    datid, oid = relid(real, "pg_class", planted.DBNAME)
    said = client.act(f"/act/{act}", datid=datid, relid=oid, **{"for": "2 h"})
    assert planted.SAID not in said
    assert "bad: extension" in said
    assert "is not installed in database" in said
    page = client.page(f"/table/{datid}/{oid}").text
    assert planted.SAID not in page
    # What would fail is not offered.
    assert "/act/" not in page
    assert "/act/" in client.page("/table/{}/{}".format(*relid(real, "huge"))).text


# -- who keeps whom out ----------------------------------------------------------------


def test_a_thousand_slow_clients_keep_nobody_out(real: Real) -> None:
    host, _, port = real.serving.address.rpartition(":")
    slow = []
    try:
        for number in range(1000):
            each = socket.create_connection((host, int(port)), timeout=PATIENCE_S)
            each.sendall(b"GET / HTTP/1.1\r\nHost: localhost\r\nX-Slow: ")
            slow.append(each)
            if number % 100 == 0:
                assert real.client().get("/metrics").status == 200
        assert real.client().get("/metrics").status == 200
        assert real.client().get("/").status == 200
    finally:
        for each in slow:
            each.close()


def held_up(real: Real, first: bytes, then: bytes = b"") -> None:
    """Have a hundred clients begin something and not end it. Others are answered all the same."""
    host, _, port = real.serving.address.rpartition(":")
    slow = []
    try:
        for _ in range(100):
            each = socket.create_connection((host, int(port)), timeout=PATIENCE_S)
            each.setsockopt(socket.SOL_SOCKET, socket.SO_RCVBUF, 4096)
            each.sendall(first)
            slow.append(each)
        # A hundred requests at once are too many for a moment.
        until(lambda: real.client().get("/metrics").status == 200)
        for each in slow:
            with suppress(OSError):
                each.sendall(then)
        until(lambda: real.client().get("/metrics").status == 200)
        assert real.client().get("/").status == 200
    finally:
        for each in slow:
            each.close()


def test_who_sends_no_body_keeps_nobody_out(real: Real) -> None:
    head = b"GET /nothing HTTP/1.1\r\nHost: localhost\r\nContent-Length: 1000\r\n\r\n"
    held_up(real, head, b"x")


def test_who_sends_a_form_slowly_keeps_nobody_out(real: Real) -> None:
    origin = f"Origin: http://{real.serving.address}\r\n"
    head = f"POST /signin HTTP/1.1\r\nHost: {real.serving.address}\r\n{origin}"
    held_up(real, f"{head}Content-Length: 1000\r\n\r\n".encode(), b"x")


def test_who_does_not_read_keeps_nobody_out(real: Real) -> None:
    held_up(real, b"GET /metrics HTTP/1.1\r\nHost: localhost\r\n\r\n" * 200)


def test_who_goes_away_leaves_no_traceback(real: Real) -> None:
    host, _, port = real.serving.address.rpartition(":")
    before = len(real.serving.log)
    origin = f"Origin: http://{real.serving.address}\r\n"
    head = f"POST /signin HTTP/1.1\r\nHost: {real.serving.address}\r\n{origin}"
    with socket.create_connection((host, int(port)), timeout=PATIENCE_S) as conn:
        conn.sendall(f"{head}Content-Length: 1000\r\n\r\nx".encode())
    assert real.client().get(f"/table/{'9' * 5000}/1").status in (200, 404)
    assert real.client().get("/table/x/1").status == 404
    assert not [line for line in real.serving.log[before:] if "traceback" in line]


def test_where_there_is_a_token_nobody_is_let_in_for_his_address(real: Real) -> None:
    """A proxy with its own defaults asks from here, for this address, and says not for whom."""
    datid, oid = relid(real, "huge")
    for path in (*PAGES, f"/table/{datid}/{oid}", "/cancel/1", "/?part=1"):
        answer = real.stranger().get(path)
        assert answer.status == 303, path
        assert answer.headers["location"].startswith("/signin")
        assert "Running vacuums" not in answer.text
    assert real.stranger().get("/", cookie="pgsweep-0=x").status == 303
    assert real.stranger().get("/signin").status == 200


def test_without_a_token_only_this_machine_is_let_in(real: Real) -> None:
    with Serving(*real.server.flags("postgres")) as serving:
        client = Client(serving.address)
        assert client.get("/").status == 200
        assert client.get("/", x_forwarded_for="10.0.0.7").status == 403
        assert client.get("/?part=1", x_forwarded_for="10.0.0.7").status == 403
        assert client.get("/", host="10.0.0.1").status == 403
        assert client.get("/signin").status == 404


def test_without_act_there_is_nothing_to_press(real: Real, tmp_path: Path) -> None:
    arguments = (*real.server.flags("postgres"), "--token-file", str(tmp_path / "token"))
    with Serving(*arguments) as serving:
        token = (tmp_path / "token").read_text().strip()
        client = Client(serving.address).sign_in(token)
        assert "/act/" not in client.page("/").text
        assert client.post("/act/cancel", {"csrf": client.csrf, "pid": "1"}).status == 404


def test_without_the_extension(real: Real) -> None:
    real.server.psql("postgres", "CREATE DATABASE bare")
    write(real.server, "bare", "CREATE TABLE alone AS SELECT generate_series(1, 500) AS i")
    with Serving(*real.server.flags("bare")) as serving:
        client = Client(serving.address)
        for path in (
            "/",
            "/next",
            "/tables",
            "/catalogs",
            "/horizon",
            "/budget",
            "/audit",
            "/trial",
        ):
            assert client.page(path).status == 200, path
        assert "has no pg_sweep" in client.page("/day").text
        way = re.search(r'href="(/table/\d+/\d+)"', client.page("/tables?find=alone").text)
        assert way is not None
        found = client.page(way[1]).text
        assert "Figures and thresholds" in found
        assert "below" in found or "due" in found
        assert "does not exist any more" in client.page("/table/4294967294/1249").text


def test_a_server_that_goes_and_comes(real: Real) -> None:
    client = real.client()
    real.server.stop()
    gone = until(lambda: found if (found := client.get("/?part=1")).status == 503 else None)
    assert "No data" in gone.text
    # The page itself is there, and tries again.
    assert client.get("/").status in (200, 503)
    real.server.start_again()
    until(lambda: "Running vacuums" in client.get("/?part=1").text)
