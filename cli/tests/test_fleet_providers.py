"""Who is there: what each provider makes of answers that are good, odd, hostile, or never come."""

from __future__ import annotations

import json
import shutil
import socket
import ssl
import subprocess
import time
from pathlib import Path
from typing import Any

import pytest

from fleets import Answers, black_hole, node, patroni_stub, recorded
from pgsweep.base import errors
from pgsweep.commands import fleet_citus_settings as citus_settings
from pgsweep.fleet import citus, cloudberry, file, http, patroni, providers
from pgsweep.fleet.address import Address, Map, parse
from pgsweep.fleet.citus import Asked
from pgsweep.fleet.http import Credentials
from pgsweep.fleet.node import Found, Node, chosen, merged, reached
from pgsweep.fleet.patroni import Cluster, Configuration
from pgsweep.fleet.providers import Choice
from pgsweep.model import TableSetting

HERE = Asked("asked.example.com", 5555, dbname="app", user="me")


# -- addresses -----------------------------------------------------------------------


@pytest.mark.parametrize(
    ("written", "expected"),
    [
        ("db1", Address("db1")),
        (" db1:5433 ", Address("db1", 5433)),
        ("10.0.0.5:1", Address("10.0.0.5", 1)),
        ("[::1]:5432", Address("::1", 5432)),
        ("[fe80::1]", Address("fe80::1")),
    ],
)
def test_addresses(written: str, expected: Address) -> None:
    assert parse(written) == expected
    assert parse(str(expected)) == expected


@pytest.mark.parametrize("written", ["", ":5432", "a:b", "a:0", "a:65536", "::1", "[::1", "a:1:2"])
def test_what_is_no_address(written: str) -> None:
    with pytest.raises(errors.UsageError, match="is no address"):
        parse(written)


def test_a_map_takes_the_most_exact() -> None:
    places = Map.of({"10.0.0.5": "localhost", "10.0.0.5:5433": "127.0.0.1:7000"})
    places = places.with_options(("10.0.0.6=localhost:5436",))
    assert places.reached(Address("10.0.0.5", 5432)) == Address("localhost", 5432)
    assert places.reached(Address("10.0.0.5", 5433)) == Address("127.0.0.1", 7000)
    assert places.reached(Address("10.0.0.6", 5432)) == Address("localhost", 5436)
    assert places.reached(Address("10.0.0.7", 5432)) == Address("10.0.0.7", 5432)
    with pytest.raises(errors.UsageError, match="maps nothing"):
        places.with_options(("10.0.0.5",))


# -- nodes of several providers ---------------------------------------------------------


def test_a_server_that_two_know_comes_once() -> None:
    named = node("eu1", host="10.0.0.1", group="eu", role="standby", dbname="app")
    known = node("pg1", host="10.0.0.1", role="leader", provider="patroni", timeline=7, lag_bytes=0)
    (both,) = merged([Found((named,)), Found((known,))]).nodes
    assert (both.name, both.group, both.role, both.dbname) == ("eu1", "eu", "leader", "app")
    assert (both.provider, both.timeline, both.lag_bytes) == ("patroni", 7, 0)
    grouped = node("pg1", host="10.0.0.1", group="batman", provider="patroni")
    assert merged([Found((node("x", host="10.0.0.1"),)), Found((grouped,))]).nodes[0].group == (
        "batman"
    )


def test_names_differ() -> None:
    same = [
        node("n1", host="a", group="x"),
        node("n1", host="b", group="y"),
        node("n2", host="c"),
        node("n2", host="d"),
    ]
    names = [one.name for one in merged([Found(tuple(same))]).nodes]
    assert names == ["x/n1", "y/n1", "n2 c:5432", "n2 d:5432"]
    # Two services that lead to nobody knows where have nothing but a number.
    alike = [node("s", host=None, port=None, service=name) for name in ("s", "t")]
    assert [one.name for one in merged([Found(tuple(alike))]).nodes] == ["s local", "s local #2"]


def test_picking_nodes() -> None:
    nodes = (node("a", group="x"), node("b", group="y"), node("c", group="y"))
    assert chosen(nodes, (), ()) == nodes
    assert [one.name for one in chosen(nodes, ("b",), ())] == ["b"]
    assert [one.name for one in chosen(nodes, (), ("y",))] == ["b", "c"]
    with pytest.raises(errors.UsageError, match='no node "d"') as caught:
        chosen(nodes, ("d",), ())
    assert caught.value.hint == "There are: a, b, c."
    with pytest.raises(errors.UsageError, match='no group "z"'):
        chosen(nodes, (), ("z",))


def test_a_map_moves_nodes_and_not_services() -> None:
    nodes = (node("a", host="10.0.0.5"), node("s", host=None, port=None, service="s"))
    moved = reached(nodes, Map.of({"10.0.0.5": "localhost:5433"}))
    assert [one.address for one in moved] == [Address("localhost", 5433), Address(None)]
    # The machine is the same, wherever it is reached.
    assert moved[0].host_id == "a"


# -- file --------------------------------------------------------------------------------

FILE = """
dbname = "app"
user = "watcher"
services = ["eu1"]

[map]
"10.0.0.5" = "localhost:5433"

[[nodes]]
name = "one"
host = "10.0.0.5"
port = 5432
group = "eu"
role = "primary"
host_id = "rack7"

[[nodes]]
service = "two"
dbname = "other"

[citus]
host = "coordinator"

[[patroni]]
name = "batman"
urls = ["https://10.0.0.9:8008"]
rest_user = "admin"
password_file = "secret"
cacert = "ca.pem"
"""


@pytest.fixture
def fleet_file(tmp_path: Path) -> Path:
    (tmp_path / "secret").write_text("pass word\n")
    (tmp_path / "secret").chmod(0o600)
    path = tmp_path / "fleet.toml"
    path.write_text(FILE)
    return path


def test_a_file(fleet_file: Path) -> None:
    plan = file.load(fleet_file, {"PATRONI_CTL_CERTFILE": "/x/cert.pem"})
    one, two, eu1 = plan.nodes
    assert (one.name, one.group, one.role, one.host_id) == ("one", "eu", "primary", "rack7")
    assert (one.dbname, one.user) == ("app", "watcher")
    assert (two.name, two.service, two.dbname, two.host) == ("two", "two", "other", None)
    assert (eu1.name, eu1.service, eu1.dbname) == ("eu1", "eu1", "app")
    assert plan.citus[0].asked == Asked("coordinator", None, None, "app", "watcher")
    (cluster,) = plan.patroni
    assert cluster.who == Credentials(
        "admin", "pass word", str(fleet_file.parent / "ca.pem"), "/x/cert.pem", None
    )
    assert plan.places.reached(one.address) == Address("localhost", 5433)


@pytest.mark.parametrize(
    ("text", "said"),
    [
        ("nodes = 1", "nodes that are no tables"),
        ("[[nodes]]\nname = 'x'", "has neither host nor service"),
        ("[[nodes]]\nhost = 5", "has a host that is no text"),
        ("[[nodes]]\nhost = 'a'\nport = '5432'", "has a port that is none"),
        ("[[nodes]]\nhost = 'a'\nport = true", "has a port that is none"),
        ("[[nodes]]\nhost = 'a'\nport = 70000", "has a port that is none"),
        ("[[nodes]]\nhost = 'a'\npassword = 'x'", "has a password, which does not belong"),
        ("[[nodes]]\nhost = 'a'\nhots = 'b'", 'has an unknown key "hots"'),
        ("nodes = [1]", "is no table"),
        ("services = 'a'", "no list of texts"),
        ("services = [1]", "no list of texts"),
        ("map = 1", "has a map that is no table"),
        ("[map]\na = 5", "that is no text"),
        ("[map]\n'a:b' = 'c'", "is no address"),
        ("[[patroni]]\nname = 'x'", "has no urls"),
        ("[[patroni]]\nurls = ['http://a']\npassword_file = 'no'", "cannot read the password"),
        ('[[nodes]]\nhost = "a\\u0000b"', "has a host that is no text"),
        ("nodes = [", "is no TOML"),
        ("a = " + "[" * 100_000, "is no TOML"),
    ],
)
def test_a_file_that_is_wrong(tmp_path: Path, text: str, said: str) -> None:
    path = tmp_path / "fleet.toml"
    path.write_text(text)
    with pytest.raises(errors.UsageError) as caught:
        file.load(path, {})
    assert said in caught.value.message
    assert caught.value.hint


def test_a_file_that_cannot_be_read(tmp_path: Path) -> None:
    with pytest.raises(errors.UsageError, match="No such file"):
        file.load(tmp_path / "nothing.toml", {})
    (tmp_path / "latin").write_bytes(b"a = '\xe9'")
    with pytest.raises(errors.UsageError, match="not UTF-8"):
        file.load(tmp_path / "latin", {})


def test_a_password_that_others_can_read_is_refused(fleet_file: Path) -> None:
    (fleet_file.parent / "secret").chmod(0o640)
    with pytest.raises(errors.UsageError, match="others can read the password"):
        file.load(fleet_file, {})


def test_the_command_line_names_a_fleet(fleet_file: Path) -> None:
    with pytest.raises(errors.UsageError, match="no fleet is named"):
        providers.plan_of(Choice())
    choice = Choice(
        file=str(fleet_file),
        services=("more",),
        patroni=("http://p1:8008,http://p2:8008",),
        cloudberry="service=gp",
        maps=("p1=localhost",),
        dbname="over",
    )
    plan = providers.plan_of(choice)
    # -d holds for all nodes, also for those that the file gives another one.
    assert {one.dbname for one in plan.nodes} == {"over"}
    assert plan.citus[0].asked.dbname == "over"
    assert plan.patroni[1].urls == ("http://p1:8008", "http://p2:8008")
    assert plan.cloudberry[0].asked == Asked(None, None, "gp", "over", None)
    assert choice.words()[:4] == ["--file", str(fleet_file), "--service", "more"]


# -- Patroni -----------------------------------------------------------------------------


def test_patroni_as_recorded() -> None:
    found = patroni.parse(recorded("patroni_cluster.json"), Cluster(("http://a",), dbname="app"))
    one, two, three, four = found.nodes
    assert (one.name, one.group, one.role, one.host, one.port) == (
        *("patroni1", "demo", "leader", "10.89.0.4", 5432),
    )
    assert (one.state, one.timeline, one.lag_bytes, one.dbname) == ("", 5, None, "app")
    assert (two.role, two.port, two.lag_bytes, two.state) == ("sync_standby", 5433, 16384, "")
    assert (three.state, three.lag_bytes, three.unasked) == ("start failed", None, "")
    assert merged([found]).nodes == found.nodes
    assert four.unasked == "Patroni knows no address yet (creating replica)"
    assert found.notes == ('Patroni\'s cluster "demo" is paused: there is no failover now.',)


def test_patroni_4_as_recorded() -> None:
    (one, *_), restart = _of("patroni_4_restart.json")
    assert (one.role, one.state, one.lag_bytes) == (
        *("leader", "a restart is pending (sweep.max_runs)", None),
    )
    assert restart == ()
    nodes, notes = _of("patroni_4_sync_paused.json")
    assert [(node.role, node.state, node.lag_bytes, node.timeline) for node in nodes] == [
        ("replica", "", 0, 4),
        ("leader", "", None, 4),
        ("sync_standby", "", 0, 4),
    ]
    assert notes == ('Patroni\'s cluster "batman" is paused: there is no failover now.',)
    nodes, _ = _of("patroni_4_stopped.json")
    assert (nodes[2].state, nodes[2].lag_bytes, nodes[2].port) == ("stopped", None, 5503)


def _of(name: str) -> tuple[tuple[Node, ...], tuple[str, ...]]:
    found = patroni.parse(recorded(name), Cluster(("http://127.0.0.1:8011",)))
    return found.nodes, found.notes


def test_a_member_that_patroni_has_forgotten() -> None:
    there = {
        "members": [member(api_url="http://p1:8008/patroni"), member(name="n", api_url="http://[")]
    }

    def notes(*urls: str) -> tuple[str, ...]:
        return patroni.parse(there, Cluster(urls)).notes

    several = 'Patroni names several leaders of "": m, n.'
    assert notes("http://p1:8008/", "http://p2:8008") == (
        "Patroni names no member at p2:8008: it has ended, or it is a name of another one.",
        several,
    )
    # Names that Patroni does not use say nothing.
    assert notes("http://lb:80", "http://other:8008") == (several,)


def member(**given: Any) -> dict[str, Any]:
    base = {"name": "m", "role": "leader", "state": "running", "host": "h", "port": 5432}
    return {**base, **given}


@pytest.mark.parametrize(
    ("odd", "said"),
    [
        (5, "it is no object"),
        ({}, "it has no name"),
        (member(name=""), "it has no name"),
        (member(name=["x"]), "it has no name"),
        (member(host=5), "is no text"),
        (member(host=""), "is no text"),
        (member(port="5432"), "is no port"),
        (member(port=True), "is no port"),
        (member(port=1e9), "is no port"),
        (member(port=-1), "is no port"),
    ],
)
def test_an_odd_member_of_patroni_is_left_out(odd: object, said: str) -> None:
    found = patroni.parse({"members": [member(), odd], "scope": "s"}, Cluster(("http://a",)))
    assert [one.name for one in found.nodes] == ["m"]
    assert len(found.notes) == 1
    assert said in found.notes[0]
    assert found.notes[0].startswith("A member of Patroni is left out")


def test_what_is_odd_and_harmless_in_patroni() -> None:
    odd = member(
        role=7, state=None, lag=True, timeline=-3, tags="x", name="\x1b[31m\u202ered", port=None
    )
    (one,) = patroni.parse({"members": [odd], "scope": 5}, Cluster(("http://a",))).nodes
    assert (one.role, one.state, one.lag_bytes, one.timeline) == ("", "unknown", None, None)
    assert (one.group, one.port) == ("", None)
    assert (
        patroni.parse({"members": [member(lag=2**70)]}, Cluster(("u",))).nodes[0].lag_bytes is None
    )
    # Before 4.0 the leader was called master.
    assert (
        patroni.parse({"members": [member(role="master")]}, Cluster(("u",))).nodes[0].role
        == "leader"
    )
    two = {"members": [member(), member(name="n")], "scope": "s"}
    assert "several leaders" in patroni.parse(two, Cluster(("u",))).notes[0]
    many = {"members": [member(name=f"m{i}") for i in range(1500)]}
    found = patroni.parse(many, Cluster(("u",)))
    assert len(found.nodes) == 1000
    assert "1,500 members" in found.notes[0]


def test_a_restart_that_is_pending() -> None:
    reason = {"sweep.max_runs": {"old_value": "2000", "new_value": "3000"}}
    rows = [
        member(pending_restart=True, pending_restart_reason=reason),
        member(name="n", pending_restart=True, role="replica", state="streaming"),
        member(name="o", pending_restart="x", pending_restart_reason=5, role="replica"),
        member(name="p", pending_restart=True, state="stopped", role="replica"),
    ]
    found = patroni.parse({"members": rows}, Cluster(("u",)))
    assert [one.state for one in found.nodes] == [
        "a restart is pending (sweep.max_runs)",
        "a restart is pending",
        "",
        "stopped",
    ]


@pytest.mark.parametrize(
    "document", [None, [], "x", 5, {}, {"members": None}, {"members": {}}, {"members": "ab"}]
)
def test_what_is_no_answer_of_patroni(document: object) -> None:
    with pytest.raises(errors.QueryError, match="has no members"):
        patroni.parse(document, Cluster(("http://a",)))


def test_patroni_without_members() -> None:
    with pytest.raises(errors.QueryError, match="names no member"):
        patroni.parse({"members": []}, Cluster(("http://a",)))
    with pytest.raises(errors.QueryError, match="left out: it is no object"):
        patroni.parse({"members": [1]}, Cluster(("http://a",)))


def test_patroni_over_http() -> None:
    answers = Answers(recorded("patroni_cluster.json"))
    who = Credentials("admin", "sécret")
    with patroni_stub(answers) as url:
        found = patroni.fetch(Cluster((f"{url}/",), "named", who), 5.0)
    assert {one.group for one in found.nodes} == {"named"}
    method, path, headers, _ = answers.asked[0]
    assert (method, path) == ("GET", "/cluster")
    # "admin:sécret"
    assert headers["Authorization"] == "Basic YWRtaW46c8OpY3JldA=="


def test_any_member_of_patroni_does(tmp_path: Path) -> None:
    del tmp_path
    good, bad = Answers(recorded("patroni_cluster.json")), Answers()
    bad.status = 503
    with black_hole() as silent, patroni_stub(bad) as ill, patroni_stub(good) as well:
        urls = (f"http://127.0.0.1:{silent}", ill, well)
        begun = time.monotonic()
        assert len(patroni.fetch(Cluster(urls), 30.0).nodes) == 4
        # Who is silent is not waited for.
        assert time.monotonic() - begun < 15.0
        # What was answered says more than silence.
        with pytest.raises(errors.QueryError, match="answers 503"):
            patroni.fetch(Cluster(urls[:2]), 0.5)
        with pytest.raises(errors.CannotConnectError, match=r"did not answer within"):
            patroni.fetch(Cluster(urls[:1]), 0.2)


@pytest.mark.parametrize(
    ("status", "body", "kind", "said"),
    [
        (200, b"<html>", errors.QueryError, "does not answer in JSON"),
        (200, b"\xff\xfe\x00", errors.QueryError, "does not answer in JSON"),
        (200, b"[" * 200_000, errors.QueryError, "does not answer in JSON"),
        (200, b" " * (http.MOST_BYTES + 1), errors.QueryError, "more than 4 MB"),
        (401, b"no", errors.PermissionDeniedError, "wants a user and password"),
        (403, b"", errors.PermissionDeniedError, "wants a user and password"),
        (302, b"", errors.QueryError, "answers 302"),
        (500, b"{}", errors.QueryError, "answers 500"),
        (401, b"not authenticated", errors.PermissionDeniedError, r"\(not authenticated\)"),
        (503, b"x" * 81, errors.QueryError, "answers 503$"),
        (503, b"\x1b[31mred", errors.QueryError, "answers 503$"),
    ],
)
def test_bad_answers_over_http(
    status: int, body: bytes, kind: type[errors.PgsweepError], said: str
) -> None:
    answers = Answers()
    answers.status, answers.body = status, body
    # Nobody is sent elsewhere, where the password would go as well.
    answers.headers["Location"] = "http://127.0.0.1:1/"
    with patroni_stub(answers) as url, pytest.raises(kind, match=said):
        http.ask(url, "/cluster", Credentials("u", "p"), 5.0)
    assert len(answers.asked) == 1


@pytest.mark.parametrize(
    "url", ["", "localhost:8008", "file:///etc/passwd", "ftp://a", "http://", "http://a:0x", "//a"]
)
def test_what_is_no_url(url: str) -> None:
    with pytest.raises(errors.UsageError):
        http.split(url)


def test_a_password_in_a_url_is_refused_and_not_repeated() -> None:
    with pytest.raises(errors.UsageError) as caught:
        http.split("http://user:s3cret@db1:8008")
    assert "s3cret" not in caught.value.one_line()
    with pytest.raises(errors.UsageError, match="control characters"):
        http.split("http://db1:8008/a b")


def test_http_that_is_none() -> None:
    with socket.create_server(("127.0.0.1", 0)) as listener:
        port = listener.getsockname()[1]
    with pytest.raises(errors.CannotConnectError, match=f"127.0.0.1:{port}: "):
        http.ask(f"http://127.0.0.1:{port}", "/cluster", Credentials(), 5.0)


needs_openssl = pytest.mark.skipif(
    shutil.which("openssl") is None, reason="NOT TESTED: there is no openssl"
)


def certificate(folder: Path, name: str) -> tuple[str, str]:
    """Make a certificate for localhost that vouches for itself. Return it and its key."""
    cert, key = folder / f"{name}.pem", folder / f"{name}.key"
    subprocess.run(
        [
            *("openssl", "req", "-x509", "-nodes", "-days", "2", "-newkey", "ec"),
            *("-pkeyopt", "ec_paramgen_curve:prime256v1", "-subj", f"/CN={name}"),
            *("-addext", "subjectAltName=DNS:localhost", "-keyout", str(key), "-out", str(cert)),
        ],
        check=True,
        capture_output=True,
    )
    return str(cert), str(key)


@needs_openssl
def test_patroni_over_tls(tmp_path: Path) -> None:
    cert, key = certificate(tmp_path, "server")
    client = certificate(tmp_path, "client")
    context = ssl.create_default_context(ssl.Purpose.CLIENT_AUTH, cafile=client[0])
    context.load_cert_chain(cert, key)
    context.verify_mode = ssl.CERT_REQUIRED

    def wrap(plain: socket.socket) -> ssl.SSLSocket:
        return context.wrap_socket(plain, server_side=True)

    with patroni_stub(Answers(recorded("patroni_cluster.json")), wrap) as url:
        good = Credentials(cacert=cert, cert=client[0], key=client[1])
        assert len(patroni.fetch(Cluster((url,), who=good), 10.0).nodes) == 4
        with pytest.raises(errors.CannotConnectError, match="TLS failed"):
            patroni.fetch(Cluster((url,)), 10.0)
        with pytest.raises(errors.CannotConnectError):
            patroni.fetch(Cluster((url,), who=Credentials(cacert=cert)), 10.0)
        with pytest.raises(errors.UsageError, match="there is no file"):
            patroni.fetch(Cluster((url,), who=Credentials(cacert="/no/such")), 10.0)
        broken = Credentials(cacert=key)
        with pytest.raises(errors.UsageError, match="certificates cannot be used"):
            patroni.fetch(Cluster((url,), who=broken), 10.0)


def test_the_configuration_of_patroni() -> None:
    parameters = {"max_connections": "100", "x.y": True}
    answers = Answers({"loop_wait": 5, "postgresql": {"parameters": parameters}})
    with patroni_stub(answers) as url:
        cluster = Cluster((url,), who=Credentials("u", "p"))
        assert patroni.configuration(cluster, 5.0) == Configuration(parameters, 5.0)
        assert patroni.patch(cluster, {"sweep.mode": "act", "gone": None}, 5.0) == url
    method, path, _, sent = answers.asked[-1]
    assert (method, path) == ("PATCH", "/config")
    assert json.loads(sent) == {"postgresql": {"parameters": {"sweep.mode": "act", "gone": None}}}
    assert patroni.parse_config({}) == Configuration({}, 10.0)
    assert patroni.parse_config({"postgresql": None, "loop_wait": "x"}) == Configuration({}, 10.0)
    # Nobody waits for an hour.
    assert patroni.parse_config({"loop_wait": 3600}).loop_wait_s == 10.0
    wrong: tuple[object, ...] = (None, [], {"postgresql": 5}, {"postgresql": {"parameters": "x"}})
    for odd in wrong:
        with pytest.raises(errors.QueryError):
            patroni.parse_config(odd)


def test_a_change_goes_to_the_next_member_if_one_refuses() -> None:
    bad, good = Answers(), Answers({})
    bad.status = 503
    with patroni_stub(bad) as first, patroni_stub(good) as second:
        assert patroni.patch(Cluster((first, second)), {"a": "1"}, 5.0) == second
        with pytest.raises(errors.QueryError, match="answers 503"):
            patroni.patch(Cluster((first,)), {"a": "1"}, 5.0)


def test_what_patronictl_reads_back() -> None:
    words = patroni.edit_config(
        "batman",
        {"sweep.mode": "act", "a": "on", "b": "30", "c": "it's 5", "d": None, "e": "010-x"},
    )
    assert words == (
        *("patronictl", "edit-config", "batman", "-p", "sweep.mode=act", "-p", 'a="on"'),
        *("-p", "b=30", "-p", 'c="it\'s 5"', "-p", "d=null", "-p", 'e="010-x"'),
    )


# -- Citus -------------------------------------------------------------------------------


def dist_node(**given: Any) -> dict[str, Any]:
    base = {
        "nodeid": 2,
        "groupid": 1,
        "nodename": "10.0.0.2",
        "nodeport": 5432,
        "noderole": "primary",
        "isactive": True,
        "shouldhaveshards": True,
    }
    return {**base, **given}


def test_citus() -> None:
    rows = [
        dist_node(nodeid=1, groupid=0, nodename="localhost", shouldhaveshards=False),
        dist_node(),
        dist_node(nodeid=3, groupid=2, nodename="10.0.0.3", shouldhaveshards=False),
        dist_node(nodeid=4, groupid=3, nodename="10.0.0.4", isactive=False),
        dist_node(nodeid=5, groupid=1, nodename="10.0.0.5", noderole="secondary"),
    ]
    found = citus.parse(rows, 0, HERE, "c")
    assert [(one.name, one.role, one.state) for one in found.nodes] == [
        ("coordinator", "coordinator", ""),
        ("10.0.0.2:5432", "worker", ""),
        ("10.0.0.3:5432", "worker", "gets no shards"),
        ("10.0.0.4:5432", "worker", "inactive"),
        ("10.0.0.5:5432", "standby", ""),
    ]
    first = found.nodes[0]
    # The node that was asked is known by how it was reached. "localhost" is so there only.
    assert first.address == Address("asked.example.com", 5555)
    assert (first.node_id, first.group_id, first.citus) == (1, 0, "c")
    assert {one.dbname for one in found.nodes} == {"app"}


def test_citus_without_its_coordinator_among_the_nodes() -> None:
    found = citus.parse([dist_node()], 0, HERE, "c")
    assert [(one.name, one.group_id) for one in found.nodes] == [
        ("coordinator", 0),
        ("10.0.0.2:5432", 1),
    ]
    # A worker with metadata knows the others, too.
    asked = citus.parse([dist_node(nodeid=1, groupid=0), dist_node()], 1, HERE, "c")
    assert [one.host for one in asked.nodes] == ["10.0.0.2", "asked.example.com"]
    with pytest.raises(errors.QueryError, match="knows no other nodes"):
        citus.parse([], 1, HERE, "c")


@pytest.mark.parametrize(
    "odd",
    [
        {"nodeid": None},
        {"groupid": "1"},
        {"nodeid": True},
        {"nodename": None},
        {"nodename": ""},
        {"nodeport": None},
        {"nodeport": 0},
    ],
)
def test_an_odd_node_of_citus_is_left_out(odd: dict[str, Any]) -> None:
    found = citus.parse([dist_node(**odd), dist_node(nodeid=9, groupid=9)], 0, HERE, "c")
    assert [one.node_id for one in found.nodes] == [0, 9]
    assert len(found.notes) == 1
    assert "pg_dist_node is left out" in found.notes[0]


def test_shards_of_citus() -> None:
    base = {
        "schemaname": "app",
        "relname": "orders",
        "part_relname": "orders_2026",
        "shard_schemaname": "app",
        "groupid": 1,
    }
    rows = [
        {**base, "shard_sql_name": "app.orders_102008"},
        {**base, "shard_sql_name": "orders_102009"},
        {**base, "shard_sql_name": 'app."we""ird. x_102010"'},
        {**base, "shard_sql_name": None},
    ]
    shards = citus.parse_shards(rows)
    assert [one.shard_relname for one in shards] == [
        "orders_102008",
        "orders_102009",
        'we"ird. x_102010',
    ]
    assert shards[2].written == 'app."we""ird. x_102010"'
    # Settings are kept under the Citus table of the shard itself: a partition, not what it is of.
    assert {one.table for one in shards} == {"app.orders_2026"}


def test_what_a_node_of_citus_has_not_or_has_otherwise() -> None:
    def setting(table: str, name: str, value: str) -> TableSetting:
        return TableSetting("app", 1, "App", table, name, value, "me", None)

    there = citus_settings.by_table(
        [
            setting("orders", "enabled", "off"),
            setting("orders", "min_interval", "5s"),
            setting("items", "enabled", "off"),
        ]
    )
    here = citus_settings.by_table(
        [
            setting("items", "enabled", "off"),
            setting("items", "cleaner", "on"),
            setting("orders", "min_interval", "7s"),
        ]
    )
    assert citus_settings.different(here, there) == {
        '"App".orders': {"enabled": "off", "min_interval": "5s"}
    }
    assert citus_settings.different(there, there) == {}
    # What only this node has is left alone.
    assert citus_settings.different(here, {}) == {}


@pytest.mark.parametrize(
    ("name", "gpid"),
    [
        ("citus_internal gpid=20000004711", 20_000_004_711),
        ("citus_run_command gpid=10000000001 (pid 1 on node 1)", 10_000_000_001),
        ("psql", None),
        (None, None),
        ("gpid=9999999999999999999999999", None),
        ("xgpid=5", None),
    ],
)
def test_global_pids(name: str | None, gpid: int | None) -> None:
    assert citus.gpid_of(name) == gpid


def test_where_a_global_pid_comes_from() -> None:
    nodes = (node("w1", node_id=2), node("w2", node_id=3))
    assert citus.origin(nodes, 30_000_000_017) == (nodes[1], 17)
    assert citus.origin(nodes, 90_000_000_017) == (None, 17)


# -- Cloudberry -----------------------------------------------------------------------------


def segment(**given: Any) -> dict[str, Any]:
    base = {
        "dbid": 2,
        "content": 0,
        "role": "p",
        "preferred_role": "p",
        "mode": "s",
        "status": "u",
        "port": 6000,
        "hostname": "sdw1",
        "address": "10.0.0.11",
    }
    return {**base, **given}


def test_cloudberry() -> None:
    rows = [
        segment(dbid=1, content=-1, port=5432, hostname="cdw", address="cdw", mode="n"),
        segment(dbid=8, content=-1, role="m", preferred_role="m", port=5432, address="scdw"),
        segment(),
        segment(dbid=5, role="m", preferred_role="m", mode="n", status="d", hostname="sdw2"),
        segment(dbid=3, content=1, preferred_role="m"),
    ]
    found = cloudberry.parse(rows, HERE, "gp")
    assert [(one.name, one.role, one.state) for one in found.nodes] == [
        ("coordinator", "coordinator", ""),
        ("standby", "standby", ""),
        ("seg0", "segment", ""),
        ("seg0 mirror", "mirror", "down, not in sync"),
        ("seg1", "segment", "not its preferred role"),
    ]
    coordinator, standby, seg0, mirror, _ = found.nodes
    assert (coordinator.address, coordinator.options) == (Address("asked.example.com", 5555), None)
    assert (seg0.address, seg0.options) == (Address("10.0.0.11", 6000), "-c gp_role=utility")
    assert seg0.host_id == "sdw1"
    assert "takes no sessions" in standby.unasked
    assert mirror.unasked == "a mirror takes no sessions (not in sync)"
    assert found.notes[0].startswith("Segments are not in their preferred role")


@pytest.mark.parametrize(
    "odd",
    [
        {"content": None},
        {"content": -2},
        {"content": True},
        {"role": "x"},
        {"role": None},
        {"address": None, "hostname": ""},
        {"port": "6000"},
        {"port": 99999},
    ],
)
def test_an_odd_segment_is_left_out(odd: dict[str, Any]) -> None:
    found = cloudberry.parse([segment(**odd), segment(content=5)], HERE, "gp")
    assert [one.name for one in found.nodes] == ["seg5"]
    assert "gp_segment_configuration is left out" in found.notes[0]
    with pytest.raises(errors.QueryError, match="has no segments"):
        cloudberry.parse([], HERE, "gp")
