"""Ansible inventories, INI and YAML."""

from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from leapprof.config.ansible_ini import parse_ini
from leapprof.config.ansible_yaml import parse_yaml
from leapprof.config.inventory import resolve_hosts
from leapprof.config.ranges import expand_ranges
from leapprof.errors import ConfigError

INI = """\
# fleet
lonely.example:2200

[eos]
web[01:03].example ansible_user=ops  # three
db ansible_host=10.0.0.9 ansible_port=2222 ansible_ssh_private_key_file=/keys/db
v6 ansible_host=2001:db8::5
here ansible_connection=local

[chains:children]
eos

[chains:vars]
ansible_user = chains-user
ansible_ssh_common_args='-o ProxyJump=bastion'

[all:vars]
ansible_user=everybody
"""
YAML = """\
all:
  vars: {ansible_user: everybody}
  hosts:
    lonely.example: {ansible_port: 2200}
  children:
    chains:
      vars:
        ansible_user: chains-user
        ansible_ssh_common_args: -o ProxyJump=bastion
      children:
        eos:
          hosts:
            web[01:03].example:
              ansible_user: ops
            db:
              ansible_host: 10.0.0.9
              ansible_port: 2222
              ansible_ssh_private_key_file: /keys/db
            v6: {ansible_host: "2001:db8::5"}
            here: {ansible_connection: local}
"""


@pytest.fixture(params=["hosts.ini", "hosts.yml"])
def inventory(request, tmp_path) -> Path:
    """The same inventory in both forms."""
    path = tmp_path / request.param
    path.write_text(INI if request.param.endswith("ini") else YAML)
    return path


def test_addresses_ports_users_and_keys_are_read(inventory):
    """Both forms say the same of a host."""
    (host,) = resolve_hosts(["db"], inventory)
    assert (host.address, host.port, host.user) == ("10.0.0.9", 2222, "chains-user")
    assert host.identity_files == ("/keys/db",)
    assert host.options == ("ProxyJump=bastion",)


def test_groups_bring_their_children_s_hosts_and_ranges(inventory):
    """A group is all hosts below it; the nearest variable counts."""
    hosts = resolve_hosts(["chains"], inventory)
    assert [host.name for host in hosts[:3]] == ["web01.example", "web02.example", "web03.example"]
    assert {host.user for host in hosts[:3]} == {"ops"}
    assert hosts[-1].transport == "local"


def test_hosts_without_group_have_the_variables_of_all(inventory):
    """A host that stands alone has a port of its own and the user of everybody."""
    (host,) = resolve_hosts(["lonely.example"], inventory)
    assert (host.port, host.user) == (2200, "everybody")


@pytest.mark.parametrize("key", ["ansible_password", "ansible_ssh_pass", "ansible_become_password"])
def test_passwords_are_refused_and_never_repeated(tmp_path, key):
    """A password is refused with the line and advice; its value is not shown."""
    path = tmp_path / "hosts"
    path.write_text(f"[a]\nx {key}=hunter2\n")
    with pytest.raises(ConfigError, match="ssh-agent") as caught:
        resolve_hosts(["x"], path)
    assert "line 2" in str(caught.value)
    assert "hunter2" not in str(caught.value)


@pytest.mark.parametrize(
    ("name", "text", "said"),
    [
        ("h.ini", "x ansible_host='{{ ip }}'\n", "template"),
        ("h.ini", "x ansible_port=ssh\n", "not a port"),
        ("h.ini", "x ansible_connection=winrm\n", "not ssh or local"),
        ("h.ini", "x ansible_ssh_common_args='-W %h:%p'\n", "ssh's configuration"),
        ("h.ini", "x 'ansible_host\n", "unbalanced"),
        ("h.ini", "x ansible_host\n", "key=value"),
        ("h.ini", "x ansible_host=-oProxyCommand=y\n", "not an address"),
        (
            "h.yml",
            "all:\n  hosts:\n    x:\n      ansible_host: !vault |\n        $ANSIBLE_VAULT;1.1\n",
            "line 4",
        ),
        ("h.yml", "all:\n  hosts: {x: {}, x: {}}\n", "twice"),
        ("h.yml", "all: [1]\n", "mapping"),
        ("h.yml", "all:\n  host: {}\n", "not hosts, children or vars"),
        ("h.yml", "all: {\n", "not YAML"),
    ],
)
def test_a_mistake_is_named(tmp_path, name, text, said):
    """The message says what cannot be read, and where."""
    path = tmp_path / name
    path.write_text(text)
    with pytest.raises(ConfigError) as caught:
        resolve_hosts(["x"], path)
    assert said in str(caught.value)
    assert name in str(caught.value)


def test_variables_that_are_not_ours_may_be_templates_or_vaulted(tmp_path):
    """What does not say how a host is reached is not looked at."""
    path = tmp_path / "h.yml"
    path.write_text("all:\n  hosts:\n    x: {role: '{{ y }}', list: [1], api: !vault abc}\n")
    assert resolve_hosts(["x"], path)[0].address == "x"


def test_groups_in_a_circle_end():
    """Children that name each other do not hang the reader."""
    inventory = parse_ini("[a:children]\nb\n[b:children]\na\n[b]\nx\n", "h")
    assert inventory.hosts_of("a") == ("x",)
    assert inventory.host("x").address == "x"


def test_aliases_that_stand_for_millions_of_nodes_are_refused():
    """A small file of nested aliases does not become a huge inventory."""
    lines = ["a0: &a0 {hosts: {x: {}}}"]
    lines += [f"a{n}: &a{n} {{children: {{p: *a{n - 1}, q: *a{n - 1}, r: *a{n - 1}}}}}" for n in range(1, 20)]
    with pytest.raises(ConfigError, match="more than"):
        parse_yaml("\n".join(lines), "h.yml")


def test_ranges_count_in_numbers_and_letters():
    """Widths are kept, steps honoured, several ranges multiplied."""
    assert expand_ranges("w[08:10]", "f") == ("w08", "w09", "w10")
    assert expand_ranges("w[1:5:2]-[a:b]", "f") == ("w1-a", "w1-b", "w3-a", "w3-b", "w5-a", "w5-b")


@pytest.mark.parametrize("pattern", ["w[3:1]", "w[1:999999999]", "w[1:2:0]", "[1:200][1:200]"])
def test_ranges_without_or_with_too_many_hosts_are_refused(pattern):
    """A range stands for 1 to 10,000 hosts."""
    with pytest.raises(ConfigError):
        expand_ranges(pattern, "f")


WORDS = st.lists(
    st.sampled_from(
        ["[a]", "[a:vars]", "[b:children]", "x", "ansible_port=", "[1:3]", "=", "'", "{{", "\n", " ", ":"]
    )
    | st.text(max_size=8),
    max_size=30,
)


@given(WORDS)
def test_any_text_is_an_inventory_or_a_config_error(words):
    """Whatever the file holds, nothing else comes out of the readers."""
    text = "".join(words)
    for parse in (parse_ini, parse_yaml):
        try:
            inventory = parse(text, "h")
            for name in inventory.hosts_of("all"):
                inventory.host(name)
        except ConfigError:
            pass
