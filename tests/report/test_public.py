"""--public: planted secrets are nowhere, and what matters stays."""

import re
from dataclasses import replace

import pytest

from leapprof.model import Event
from leapprof.report import Format, write
from leapprof.report.aliases import Aliases, add_patterns, bare_address, rewriter
from leapprof.report.public import publish
from tests.support.comparisons import SECRETS, recording, sample

TEXT_FORMATS = frozenset({Format.HTML, Format.MD, Format.JSON, Format.CSV})


def published_text(text):
    """The text as an event of a published report."""
    made = sample()
    event = Event(boottime_ns=1, wall_ns=1, kind="x", subject="", detail=text)
    before = replace(made.before, recording=replace(made.before.recording, events=(event,)))
    return publish(replace(made, before=before)).before.recording.events[0].detail


def test_no_planted_secret_is_in_any_file(tmp_path):
    """Hosts, peers, producers, addresses, serials, users, keys: searched for in every text file."""
    plain = "".join(
        p.read_text() for p in write(sample(nasty=True), tmp_path / "a", TEXT_FORMATS, public=False)
    )
    assert all(secret in plain for secret in SECRETS)
    for path in write(sample(nasty=True), tmp_path / "b", TEXT_FORMATS, public=True):
        text = path.read_text().lower()
        assert [secret for secret in SECRETS if secret.lower() in text] == [], path.name


def test_the_same_secret_has_the_same_alias_everywhere():
    """Host, title and commands agree; both sides are the same host."""
    made = publish(sample(nasty=True))
    assert made.before.recording.host.name == made.after.recording.host.name == "host-1"
    assert made.title.startswith("database-map-mode: mapped → mapped_private on host-1")
    assert made.repeat[0].startswith("leapprof record host-1 ")


def test_two_hosts_have_two_aliases():
    """A comparison across hosts still tells them apart."""
    made = sample()
    other = replace(made.after, recording=recording("after", "mapped_private", host_name="bench-2"))
    both = publish(replace(made, after=other))
    assert (both.before.recording.host.name, both.after.recording.host.name) == ("host-1", "host-2")


def test_publishing_is_stable_and_changes_no_figure():
    """Same input, same aliases; metrics, wear and charts are as they were."""
    made = sample(nasty=True)
    once, twice = publish(made), publish(made)
    assert once.facts == twice.facts
    assert once.metrics == made.metrics
    assert [w.before for w in once.wear] == [w.before for w in made.wear]
    assert [c.name for c in once.charts] == [c.name for c in made.charts]


def test_publishing_what_is_published_keeps_the_aliases():
    """Aliases themselves are no secrets that get new numbers in another order."""
    once = publish(sample(nasty=True))
    assert publish(once).before.recording.host.name == "host-1"


@pytest.mark.parametrize(
    ("text", "shown"),
    [
        ("lost 198.51.100.7:9876", "lost address-1:9876"),
        ("bound to 127.0.0.1:8888 and 0.0.0.0:80", "bound to 127.0.0.1:8888 and 0.0.0.0:80"),
        ("from fd00::1:2, gone", "from address-1, gone"),
        ("[2001:db8::9]:9876 closed", "[address-1]:9876 closed"),
        ("at 12:30:45 UTC", "at 12:30:45 UTC"),
        ("v5.0.3 on 6.18.5", "v5.0.3 on 6.18.5"),
        ("peer api.somewhere.example:9876", "peer address-1:9876"),
        ("see https://my.secret.example/x", "see https://address-1/x"),
        ("in /home/bob/nodes/data/state", "in path-1"),
        ("in /root/eos", "in path-1"),
        ("bob@box7 logged in", "host-2 logged in"),
        ("nodeos@eos.service restarted", "nodeos@eos.service restarted"),
        ("net_plugin.cpp:3021 says config.ini:42", "net_plugin.cpp:3021 says config.ini:42"),
        ("id 123e4567-e89b-42d3-a456-426614174000", "id uuid-1"),
        ("PUB_K1_" + "5" * 50, "key-1"),
    ],
)
def test_secrets_are_known_by_their_form(text, shown):
    """Wherever they stand; loopback, times and versions stay."""
    result = published_text(text)
    assert re.sub(r"(address|path|uuid|key)-\d+", r"\1-1", result) == shown


def test_a_name_within_another_is_not_left_half():
    """The longest secret is replaced first."""
    aliases = Aliases()
    aliases.add("castle", "producer")
    aliases.add("castle.example", "host")
    assert rewriter(aliases)("on castle.example and CASTLE") == "on host-1 and producer-1"


def test_a_short_name_is_replaced_as_a_word_only():
    """A host called ``eos`` does not tear ``nodeos`` apart."""
    aliases = Aliases()
    aliases.add("eos", "host")
    assert rewriter(aliases)("nodeos on eos, eos-1") == "nodeos on host-1, host-1-1"


def test_words_of_ours_are_no_secrets():
    """A host called ``local`` keeps its name; so does what everybody has."""
    aliases = Aliases()
    assert aliases.add("local", "host") == "local"
    assert aliases.add("eosio", "producer") == "eosio"
    assert rewriter(aliases)("local") == "local"


@pytest.mark.parametrize(
    ("text", "address"),
    [
        ("[2001:db8::1]:9876", "2001:db8::1"), ("2001:db8::1", "2001:db8::1"), ("a.example:1:trx", "a.example"),
        ("http://b.example/", "b.example"), ("192.0.2.1:80", "192.0.2.1"), ("", ""),
    ],
)  # fmt: skip
def test_addresses_are_found_without_their_ports(text, address):
    """Brackets, schemes and ports go."""
    assert bare_address(text) == address


def test_text_without_secrets_is_left_alone():
    """No alias, no change."""
    aliases = Aliases()
    add_patterns(aliases, "CPU 9.84 % at 2 blocks/s, 10^12 bytes")
    assert aliases.alias_of == {}
