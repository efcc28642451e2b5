"""Tests of stopping and starting: commands, time-outs, the dirty flag."""

import pytest

from leapprof.config.playbook_schema import Restart, StopStart
from leapprof.control.commands import filled, filled_plain, run_checked, run_here, shown, with_sudo
from leapprof.control.service import (
    UNKNOWN_STATE_STOP_S,
    estimate_stop_s,
    parse_systemd_span_s,
    read_dirty_flag,
    service_commands,
    state_bytes_on_disk,
)
from leapprof.errors import CommandError, SourceError, SourceTimeoutError
from leapprof.model.access import HostConfig
from leapprof.sources import open_source

LOCAL = HostConfig(name="local", address="", transport="local")


@pytest.mark.parametrize(
    ("restart", "stop", "start"),
    [
        (Restart(systemd="n@{host}"), "systemctl stop -- n@e1", "systemctl start -- n@e1"),
        (Restart(systemd="a b", sudo=True), "sudo -n systemctl stop -- 'a b'", "sudo -n systemctl start -- 'a b'"),
        (Restart(docker="eos"), "docker stop --time 90 -- eos", "docker start -- eos"),
        (Restart(commands=StopStart(stop="/x/stop {host}", start="/x/start")), "/x/stop e1", "/x/start"),
    ],
)  # fmt: skip
def test_each_way_has_its_commands(restart, stop, start):
    """Docker is told how long to wait; its own 10 s would kill nodeos in the middle of the write-back."""
    commands = service_commands(restart, {"host": "e1"}, 90.0)
    assert (commands.stop, commands.start) == (stop, start)


@pytest.mark.parametrize(
    ("text", "seconds"),
    [
        ("1min 30s", 90.0), ("5min", 300.0), ("500ms", 0.5), ("1h 5min 2.5s", 3902.5), ("infinity", None),
        ("", None), ("x", None),
    ],
)  # fmt: skip
def test_a_span_of_systemd_is_read(text, seconds):
    """The forms of systemd.time(7); infinity is no limit."""
    assert parse_systemd_span_s(text) == seconds


def test_a_stop_takes_longer_the_larger_the_state():
    """In steps of 1 GiB; unknown is taken for large."""
    assert estimate_stop_s(0) < estimate_stop_s(1) == estimate_stop_s(2**30) < estimate_stop_s(2**36)
    assert estimate_stop_s(None) == UNKNOWN_STATE_STOP_S


def test_the_dirty_flag_is_byte_8(tmp_path):
    """1 is dirty, 0 clean, no file nothing; a file that is too short is an error."""
    source = open_source(LOCAL)
    state = tmp_path / "st'ate"
    state.mkdir()
    assert read_dirty_flag(source, str(state), sudo=False) is None
    assert state_bytes_on_disk(source, str(state), sudo=False) is None
    for flag in (0, 1):
        (state / "shared_memory.bin").write_bytes(b"EOSIODB3" + bytes([flag]) + bytes(5000))
        assert read_dirty_flag(source, str(state), sudo=False) == flag
    assert state_bytes_on_disk(source, str(state), sudo=False) >= 4096
    (state / "shared_memory.bin").write_bytes(b"short")
    with pytest.raises(SourceError):
        read_dirty_flag(source, str(state), sudo=False)


def test_names_are_quoted_in_commands_and_plain_in_paths():
    """A name with a space or a quote stays one word; braces of the shell stay."""
    names = {"host": "it's a", "dir": "/x y"}
    assert filled("ls {dir} ${HOME} {other}", names) == "ls '/x y' ${HOME} {other}"
    assert filled_plain("/etc/{host}.ini", names) == "/etc/it's a.ini"
    assert filled("echo {host}", names) == "echo 'it'\"'\"'s a'"


def test_a_script_is_one_word_for_any_shell():
    """Quoted once, with sudo in front when asked."""
    assert with_sudo("echo 'a'", sudo=False) == "sh -c 'echo '\"'\"'a'\"'\"''"
    assert with_sudo("x", sudo=True) == "sudo -n sh -c x"


def test_output_of_a_host_is_bounded_and_escaped():
    """No control character and no endless line reaches a terminal."""
    text = shown(b"\x1b[31mred\x00" + b"x" * 10_000)
    assert text.isprintable()
    assert len(text) <= 400


def test_a_failed_command_names_its_status():
    """The error holds the command and what it said."""
    with pytest.raises(CommandError, match="status 3"):
        run_checked(open_source(LOCAL), "echo no >&2; exit 3", 10.0)


def test_a_command_here_has_a_time_and_an_environment(tmp_path):
    """It sees what it is told, and is ended when it takes too long."""
    assert run_here(f'printf "$LEAPPROF_REASON" > {tmp_path}/page', 10.0, {"LEAPPROF_REASON": "why"}) == 0
    assert (tmp_path / "page").read_text() == "why"
    with pytest.raises(SourceTimeoutError):
        run_here("sleep 5", 0.1)
