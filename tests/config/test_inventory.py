"""leapprof.toml and the resolution of names."""

from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from leapprof.config.inventory import read_inventory, resolve_hosts
from leapprof.errors import ConfigError, LeapprofError
from leapprof.model.access import DeviceRating, NodeosSelector

FULL = """
[defaults]
user = "ops"
port = 2222
ssh_config = "ssh/config"

[hosts.eos-1]
address = "10.0.0.11"
port = 22
transport = "openssh"
region = "fra"
nodeos = ["eos=unit:nodeos-eos.service", "exe_name:nodeos"]
commands.smart = ["sudo", "-n", "smartctl", "-a", "/dev/nvme0"]
devices.nvme0n1 = { drive = "Samsung 980 PRO", rated_tbw = 600 }

[hosts.wax-1]

[hosts.here]
transport = "local"

[groups.eos]
hosts = ["eos-1"]

[groups.both]
hosts = ["eos", "wax-1", "eos-1"]
"""


def written(tmp_path: Path, text: str, name: str = "leapprof.toml") -> Path:
    """Write an inventory and return its path."""
    path = tmp_path / name
    path.write_text(text)
    return path


def test_a_host_is_read_with_everything_the_operator_says(tmp_path):
    """Each key of a host arrives in its HostConfig; what is not said comes from the defaults."""
    (host,) = resolve_hosts(["eos-1"], written(tmp_path, FULL))
    assert (host.name, host.address, host.port, host.user) == ("eos-1", "10.0.0.11", 22, "ops")
    assert (host.transport, host.region) == ("openssh", "fra")
    assert host.ssh_config == str(tmp_path / "ssh/config")
    assert host.nodeos == (
        NodeosSelector(id="eos", kind="unit", value="nodeos-eos.service"),
        NodeosSelector(id="nodeos", kind="exe_name", value="nodeos"),
    )
    assert host.commands == {"smart": ("sudo", "-n", "smartctl", "-a", "/dev/nvme0")}
    assert host.devices == (DeviceRating(device="nvme0n1", drive="Samsung 980 PRO", rated_tbw=600.0),)


def test_a_host_without_address_is_reached_by_its_name(tmp_path):
    """The name of a host is its address (an ssh alias, say) when none is given."""
    (host,) = resolve_hosts(["wax-1"], written(tmp_path, FULL))
    assert (host.address, host.port) == ("wax-1", 2222)


def test_groups_may_hold_groups_and_each_host_comes_once(tmp_path):
    """A group is its hosts and those of the groups in it, in order, without repetition."""
    path = written(tmp_path, FULL)
    assert [host.name for host in resolve_hosts(["both", "eos-1"], path)] == ["eos-1", "wax-1"]
    assert [host.name for host in resolve_hosts(["all"], path)] == ["eos-1", "wax-1", "here"]


def test_groups_in_a_circle_end(tmp_path):
    """Groups that name each other do not hang the reader."""
    path = written(tmp_path, '[hosts.a]\n[groups.x]\nhosts=["y","a"]\n[groups.y]\nhosts=["x"]\n')
    assert [host.name for host in resolve_hosts(["x"], path)] == ["a"]


def test_a_name_that_is_no_entry_is_an_ssh_alias(tmp_path):
    """Names unknown to the inventory go to ssh as they are."""
    path = written(tmp_path, FULL)
    (alias, full) = resolve_hosts(["some-alias", "me@10.1.1.1:2200"], path)
    assert (alias.address, alias.user, alias.port) == ("some-alias", None, None)
    assert (full.address, full.user, full.port) == ("10.1.1.1", "me", 2200)


def test_local_is_this_machine():
    """`local` needs no inventory."""
    (host,) = resolve_hosts(["local"], None)
    assert host.transport == "local"


@pytest.mark.parametrize(
    ("text", "said"),
    [
        ("[hosts.a]\nport = '22'", "hosts.a.port"),
        ("[hosts.a]\nport = 70000", "hosts.a.port"),
        ("[hosts.a]\nadress = 'x'", "hosts.a.adress"),
        ("[hosts.a]\naddress = '-oProxyCommand=x'", "hosts.a.address"),
        ("[hosts.a]\ntransport = 'telnet'", "hosts.a.transport"),
        ("[hosts.a]\nnodeos = ['what:x']", "hosts.a.nodeos"),
        ("[hosts.a]\ndevices.sda = { rated_tbw = -1 }", "hosts.a.devices.sda.rated_tbw"),
        ("[hosts.a]\ntransport = 'replay'", "hosts.a.replay"),
        ("[hosts.a]\n[groups.a]\nhosts = []", "host and a group"),
        ("[groups.x]\nhosts = ['nobody']", "neither a host nor a group"),
        ("[hosts.a\n", "is not TOML"),
        ("ansible = 'missing.ini'", "missing.ini"),
    ],
)
def test_a_mistake_is_named_with_file_and_key(tmp_path, text, said):
    """The message says which file and which key is wrong."""
    path = written(tmp_path, text)
    with pytest.raises(ConfigError) as caught:
        resolve_hosts(["x"], path)
    assert said in str(caught.value)
    assert str(tmp_path) in str(caught.value)


def test_passwords_are_refused_and_never_repeated(tmp_path):
    """A password in the file is refused with advice; its value is not shown."""
    path = written(tmp_path, "[hosts.a]\npassword = 'hunter2'\n")
    with pytest.raises(ConfigError, match="ssh-agent") as caught:
        resolve_hosts(["a"], path)
    assert "hunter2" not in str(caught.value)
    assert "hosts.a.password" in str(caught.value)


def test_an_empty_group_is_an_error(tmp_path):
    """Recording nobody is not what was meant."""
    with pytest.raises(ConfigError, match="no hosts"):
        resolve_hosts(["none"], written(tmp_path, "[groups.none]\nhosts = []\n"))


def test_an_ansible_inventory_may_be_named_in_the_file(tmp_path):
    """Hosts of the named Ansible inventory are found beside our own."""
    written(tmp_path, "[db]\ndb[1:2] ansible_user=root\n", "hosts.ini")
    path = written(tmp_path, "ansible = 'hosts.ini'\n[hosts.a]\n[groups.mine]\nhosts = ['a', 'db1']\n")
    assert [host.name for host in resolve_hosts(["mine", "db"], path)] == ["a", "db1", "db2"]


@given(st.text(max_size=300))
def test_any_text_is_an_inventory_or_a_config_error(tmp_path_factory, text):
    """Whatever the file holds, reading it ends with an inventory or an error of ours."""
    path = tmp_path_factory.getbasetemp() / "any.toml"
    path.write_text(text, encoding="utf-8", errors="replace", newline="")
    try:
        read_inventory(path)
    except LeapprofError as error:
        assert error.exit_code == 2
