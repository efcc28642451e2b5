"""What `ssh -G` prints, and its tokens."""

import shutil

import pytest

from leapprof.errors import ConfigError
from leapprof.model.access import HostConfig
from leapprof.sources import ssh_config
from leapprof.sources.jump import parse_jump, resolve_chain
from leapprof.sources.ssh_config import parse_ssh_g, resolve
from leapprof.sources.ssh_settings import expand, settings_from, split_paths

needs_ssh = pytest.mark.skipif(shutil.which("ssh") is None, reason="needs ssh (Debian: openssh-client)")
HOST = HostConfig(name="w", address="web")


def test_options_are_told_apart_and_repeated_ones_kept():
    """Names are in lower case; identity files come several times."""
    assert parse_ssh_g("hostname a\nidentityfile x\nidentityFile y z\n\n") == {
        "hostname": ["a"],
        "identityfile": ["x", "y z"],
        "": [""],
    }


def test_file_names_with_blanks_are_found_by_being_there(tmp_path):
    """`ssh -G` prints lists without quotes."""
    (tmp_path / "with two blanks").touch()
    text = f"{tmp_path}/with two blanks /tmp/b none"
    assert split_paths(text) == (f"{tmp_path}/with two blanks", "/tmp/b")


def test_tokens_and_variables_are_replaced(monkeypatch):
    """%h and ${X} are replaced, %% is a percent sign, unknown ones are an error that says what to do."""
    monkeypatch.setenv("LEAPPROF_X", "x")
    assert expand("nc %h %p ${LEAPPROF_X} 5%%", {"h": "web", "p": "22", "%": "%"}, "w") == "nc web 22 x 5%"
    for text in ("%q", "%", "${LEAPPROF_NOT_SET}"):
        with pytest.raises(ConfigError, match="--transport openssh"):
            expand(text, {"h": "web"}, "w")


def test_what_only_openssh_can_do_is_noted():
    """GSSAPI and friends are named in the message of a failed log-in."""
    settings = settings_from("w", {"gssapiauthentication": ["yes"], "pkcs11provider": ["none"]})
    assert settings.wants == ("GSSAPI",)


@pytest.mark.parametrize("value", [["none"], ["/run/agent"], ["SSH_AUTH_SOCK"], ["$OTHER"], []])
def test_the_agent_is_the_one_that_is_configured(monkeypatch, value):
    """IdentityAgent may be off, a path, a variable, or not said."""
    monkeypatch.setenv("SSH_AUTH_SOCK", "/run/usual")
    monkeypatch.setenv("OTHER", "/run/other")
    wanted = {"none": None, "/run/agent": "/run/agent", "$OTHER": "/run/other"}
    expected = wanted.get(value[0], "/run/usual") if value else "/run/usual"
    assert settings_from("w", {"identityagent": value}).identity_agent == expected


@needs_ssh
def test_include_and_several_files_are_followed(tmp_path):
    """`ssh -G` reads included files, which paramiko does not."""
    (tmp_path / "more").write_text(
        "Host web\n HostName 10.9.8.7\n Port 2201\n User ops\n IdentityFile ~/k\n HostKeyAlias ali\n"
        f" UserKnownHostsFile {tmp_path}/a {tmp_path}/b\n GlobalKnownHostsFile none\n ProxyCommand nc %h %p\n"
    )
    (tmp_path / "config").write_text(f"Include {tmp_path}/more\n")
    settings = resolve(HostConfig(name="w", address="web", ssh_config=str(tmp_path / "config"), user="me"))
    assert (settings.hostname, settings.port, settings.user) == ("10.9.8.7", 2201, "me")
    assert settings.known_hosts_files == (f"{tmp_path}/a", f"{tmp_path}/b")
    assert settings.proxy_command == "nc 10.9.8.7 2201"
    assert settings.host_key_alias == "ali"
    assert not settings.identity_files[0].startswith("~")


@needs_ssh
def test_a_wrong_configuration_is_an_error_that_repeats_what_ssh_says(tmp_path):
    """A mistake in ssh_config is the operator's to mend."""
    (tmp_path / "config").write_text("Nonsense yes\n")
    with pytest.raises(ConfigError, match="nonsense"):
        resolve(HostConfig(name="w", address="web", ssh_config=str(tmp_path / "config")))


def test_without_an_ssh_program_a_finding_says_what_is_not_read(tmp_path, monkeypatch):
    """Paramiko's reader is the fallback, and says that Include is not followed."""
    (tmp_path / "config").write_text("Host web\n HostName 10.9.8.7\n Port 2201\n IdentityFile /k\n")
    monkeypatch.setattr(ssh_config.shutil, "which", lambda name: None)
    settings = resolve(
        HostConfig(name="w", address="web", ssh_config=str(tmp_path / "config"), options=("HostKeyAlias=z",))
    )
    assert (settings.hostname, settings.port, settings.host_key_alias) == ("10.9.8.7", 2201, "z")
    assert settings.identity_files == ("/k",)
    assert [finding.code for finding in settings.findings] == ["ssh-include-not-followed"]


@needs_ssh
def test_jump_hosts_are_resolved_hop_by_hop(tmp_path):
    """Each hop has its own block; the first hop of a list may have a jump of its own."""
    (tmp_path / "config").write_text(
        "Host web\n ProxyJump u1@one:2201,two\nHost one\n HostName 10.0.0.1\n ProxyJump zero\n"
        "Host two\n HostName 10.0.0.2\nHost zero\n ProxyJump none\n"
    )
    chain = resolve_chain(HostConfig(name="w", address="web", ssh_config=str(tmp_path / "config")))
    assert [(hop.alias, hop.hostname) for hop in chain] == [
        ("zero", "zero"),
        ("one", "10.0.0.1"),
        ("two", "10.0.0.2"),
        ("web", "web"),
    ]
    assert (chain[1].user, chain[1].port) == ("u1", 2201)


@needs_ssh
def test_jump_hosts_in_a_circle_are_an_error(tmp_path):
    """A circle ends with a message, not with a hang."""
    (tmp_path / "config").write_text("Host a\n ProxyJump b\nHost b\n ProxyJump a\n")
    with pytest.raises(Exception, match="circle"):
        resolve_chain(HostConfig(name="a", address="a", ssh_config=str(tmp_path / "config")))


@pytest.mark.parametrize(
    ("text", "parts"),
    [
        ("j", (None, "j", None)),
        ("u@j:22", ("u", "j", 22)),
        ("ssh://u@j:22/", ("u", "j", 22)),
        ("u@[::1]:22", ("u", "::1", 22)),
        ("a@b@j", ("a@b", "j", None)),
    ],
)
def test_forms_of_a_jump_host(text, parts):
    """User, host and port of a hop are told apart."""
    hop = parse_jump(text, HOST)
    assert (hop.user, hop.address, hop.port) == parts


@pytest.mark.parametrize("text", ["", "u@", "-oX", "j:port", "u@-x"])
def test_what_is_no_jump_host_is_refused(text):
    """Nothing that ssh could take for an option."""
    with pytest.raises(ConfigError):
        parse_jump(text, HOST)
