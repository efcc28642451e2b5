"""A plan is text that the agent can read without any library."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from leapprof.agent.plan import (
    CgroupFile,
    Command,
    ConfigRead,
    HttpGet,
    Link,
    Listing,
    Match,
    Plan,
    ProcessFile,
    Read,
    StatVfs,
    encode_line,
    encode_plan,
    plan_message,
)
from leapprof.errors import ConfigError


def test_a_plan_is_one_directive_a_line() -> None:
    """The encoded form is what the module's docstring shows."""
    plan = Plan(
        reads=(Read(path="/proc/stat", keep=("cpu ", "ctxt")),),
        listings=(Listing(path="/sys/class/block"),),
        links=(Link(path="/sys/class/block/*"),),
        statvfs=(StatVfs(path="/"),),
        matches=(Match(id="eos", kind="exe_name", value="nodeos"),),
        https=(HttpGet(match_id="eos", address="127.0.0.1:8888", path="/v1/chain/get_info"),),
        configs=(ConfigRead(match_id="eos", path="/etc/config.ini"),),
        commands=(Command(name="smart", argv=("smartctl", "-j", "-a", "/dev/sda")),),
        allowed_options=("data-dir",),
    )
    lines = encode_plan(plan).decode().split("\n")
    assert lines[0] == "leapprof-plan\t1"
    assert lines[-2:] == ["end", ""]
    assert "read\t1\t/proc/stat\tcpu \tctxt" in lines
    assert "http\t10\teos\t127.0.0.1:8888\t/v1/chain/get_info\t262144\t2000" in lines
    assert "command\tsmart\tsmartctl\t-j\t-a\t/dev/sda" in lines
    assert "allow\tdata-dir" in lines


@pytest.mark.parametrize(
    "plan",
    [
        Plan(reads=(Read(path="proc/stat"),)),
        Plan(reads=(Read(path="/proc/stat", every_ticks=-1),)),
        Plan(reads=(Read(path="/proc/a\nread\t1\t/etc/shadow"),)),
        Plan(matches=(Match(id="eos", kind="guess", value="x"),)),
        Plan(matches=(Match(id="a/b", kind="pid", value="1"),)),
        Plan(process_files=(ProcessFile(name="environ"),)),
        Plan(cgroup_files=(CgroupFile(name="cgroup.kill"),)),
        Plan(commands=(Command(name="x", argv=()),)),
        Plan(https=(HttpGet(match_id="eos", address="127.0.0.1:1", path="/a b"),)),
        Plan(interval_ms=1),
    ],
)
def test_what_no_agent_does_is_refused(plan: Plan) -> None:
    """A plan that cannot be obeyed fails here and not on the host."""
    with pytest.raises(ConfigError):
        encode_plan(plan)


@given(text=st.text())
def test_a_field_cannot_break_out_of_its_line(text: str) -> None:
    """Any text is either one field or refused."""
    try:
        line = encode_line("read", text)
    except ConfigError:
        return
    assert line.split("\t") == ["read", text]
    assert "\n" not in line


def test_a_message_announces_the_bytes_of_its_plan() -> None:
    """The agent reads exactly the plan and leaves what follows in the pipe."""
    encoded = encode_plan(Plan())
    assert plan_message(encoded) == b"plan %d\n" % len(encoded) + encoded
