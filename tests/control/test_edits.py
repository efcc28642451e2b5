"""Tests of editing a config.ini on a host: what changes, and that nothing else does."""

import os
import stat
from pathlib import Path

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from leapprof.control import config_file
from leapprof.control.config_file import RemoteConfig, config_lines
from leapprof.control.edits import ConfigLine, LineEdit, edited, plan_edits
from leapprof.errors import ConfigError, SourceError
from leapprof.model.access import HostConfig
from leapprof.recorder.clock import SystemClock
from leapprof.recorder.link import AgentLink
from leapprof.sources import open_source

SECRET = "EOS6MRy=KEY:5KQwrPbwdL6PhXujxW37FSSQZ1JiwsST4cqQzDeyXtP79zkvFD3"
TEXT = f"""# top of the file
plugin = eosio::chain_plugin
database-map-mode = mapped   # why
  net-threads=2
signature-provider = {SECRET}
producer-threads = 4 # gone in Spring
last = 1"""
LOCAL = HostConfig(name="local", address="", transport="local")


@pytest.fixture
def file(tmp_path):
    """Write a config with an awkward path."""
    path = tmp_path / "it's a dir" / "config.ini"
    path.parent.mkdir()
    path.write_text(TEXT)
    path.chmod(0o640)
    return path


def looked_at(path: Path) -> RemoteConfig:
    """Return the file as leapprof sees it."""
    source = open_source(LOCAL)
    with source, AgentLink.open(source, "python", SystemClock()) as link:
        return config_file.read_config(source, link, str(path), sudo=False)


def changed(path: Path, wanted: dict, removed: tuple = ()) -> tuple[RemoteConfig, str]:
    """Edit the file and return what it was and the new hash."""
    config = looked_at(path)
    edits = plan_edits(config.lines, wanted, removed, str(path))
    source = open_source(LOCAL)
    new = config_file.stage(source, config, edits, "leapprof-test", sudo=False)
    config_file.commit(source, str(path), "leapprof-test", (config.sha256, new), sudo=False)
    return config, new


def test_one_line_changes_and_all_else_stays(file):
    """Comments, order, mode and owner are kept; a new option goes to the end, a removed one becomes a comment."""
    before = file.stat()
    changed(file, {"database-map-mode": "mapped_private", "chain-threads": "4"}, ("producer-threads",))
    assert file.read_text() == (
        TEXT.replace("= mapped   # why", "= mapped_private # why").replace(
            "producer-threads", "# producer-threads"
        )
        + "\nchain-threads = 4\n"
    )
    after = file.stat()
    assert (after.st_mode, after.st_uid, after.st_gid) == (before.st_mode, before.st_uid, before.st_gid)


def test_the_backup_is_for_its_owner_alone(file):
    """The old content lies beside the file with mode 0600, and no partial file is left."""
    changed(file, {"net-threads": "4"})
    backup = file.parent / "config.ini.leapprof-test.bak"
    assert backup.read_text() == TEXT
    assert stat.S_IMODE(backup.stat().st_mode) == 0o600
    assert sorted(p.name for p in file.parent.iterdir()) == ["config.ini", backup.name]


def test_the_secret_never_leaves_the_host(file):
    """Neither the look at the file nor anything that is sent back holds the key."""
    assert "5KQwrPbw" not in repr(looked_at(file))


def test_a_link_is_followed_and_stays_a_link(file):
    """The file behind a link is edited, not replaced by a file."""
    link = file.parent.parent / "link.ini"
    link.symlink_to(file)
    config = looked_at(link)
    edits = plan_edits(config.lines, {"net-threads": "8"}, (), str(link))
    source = open_source(LOCAL)
    new = config_file.stage(source, config, edits, "leapprof-x", sudo=False)
    config_file.commit(source, str(link), "leapprof-x", (config.sha256, new), sudo=False)
    assert link.is_symlink()
    assert "net-threads = 8" in file.read_text()


def test_a_file_that_changed_since_is_refused(file):
    """Another hash than the one that was looked at: nothing is written, at either step."""
    config = looked_at(file)
    edits = plan_edits(config.lines, {"net-threads": "4"}, (), str(file))
    source = open_source(LOCAL)
    new = config_file.stage(source, config, edits, "leapprof-y", sudo=False)
    file.write_text(TEXT + "\n# somebody was here\n")
    with pytest.raises(ConfigError, match="somebody changed it since"):
        config_file.commit(source, str(file), "leapprof-y", (config.sha256, new), sudo=False)
    with pytest.raises(ConfigError, match="somebody changed it since"):
        config_file.stage(source, config, edits, "leapprof-z", sudo=False)
    assert file.read_text() == TEXT + "\n# somebody was here\n"
    assert not list(file.parent.glob("*.new"))


def test_the_way_back_restores_every_byte(file):
    """The backup comes back, with the mode of the file; a file that is not as we left it is refused."""
    config, new = changed(file, {"net-threads": "4"})
    source = open_source(LOCAL)
    config_file.restore(source, str(file), "leapprof-test", (new, config.sha256), sudo=False)
    assert file.read_text() == TEXT
    assert stat.S_IMODE(file.stat().st_mode) == 0o640
    with pytest.raises(ConfigError, match="somebody changed it since"):
        config_file.restore(source, str(file), "leapprof-test", (new, config.sha256), sudo=False)


@pytest.mark.skipif(os.getuid() == 0, reason="needs a user other than root, whom permissions stop")
def test_a_directory_that_may_not_be_written_is_an_error(file):
    """The message says that nothing was changed."""
    file.parent.chmod(0o555)
    try:
        with pytest.raises(SourceError, match="was not changed"):
            changed(file, {"net-threads": "4"})
    finally:
        file.parent.chmod(0o755)


def test_a_missing_file_is_an_error(tmp_path):
    """There is nothing to look at."""
    with pytest.raises(SourceError):
        looked_at(tmp_path / "config.ini")


def test_an_option_with_several_lines_is_refused():
    """Nobody guesses which line is meant."""
    lines = (ConfigLine(line=1, name="plugin", value="a"), ConfigLine(line=2, name="plugin", value="b"))
    with pytest.raises(ConfigError, match="2 lines of plugin"):
        plan_edits(lines, {"plugin": "c"}, (), "config.ini")


def test_a_section_is_refused():
    """A [section] becomes part of the names below it: a new line at the end would mean something else."""
    with pytest.raises(ConfigError, match="section"):
        plan_edits((ConfigLine(line=2, name="s.plugin", value="a"),), {"x": "1"}, (), "config.ini")


def test_what_is_there_already_is_not_edited():
    """A file that says what is wanted needs no edit."""
    lines = (ConfigLine(line=3, name="net-threads", value="4"),)
    assert plan_edits(lines, {"net-threads": "4"}, ("absent",), "config.ini") == ()


def test_the_edited_file_can_be_judged_before_it_is_written():
    """Entries after the edits: changed, added, without the removed ones."""
    lines = (
        ConfigLine(line=1, name="a", value="1"), ConfigLine(line=2, name="b", value="2"),
        ConfigLine(line=3, name="c", value=None),
    )  # fmt: skip
    edits = plan_edits(lines, {"a": "9", "d": "4"}, ("b",), "config.ini")
    assert [(e.line, e.name, e.value) for e in edited(lines, edits).entries] == [
        (1, "a", "9"), (3, "c", ""), (4, "d", "4")
    ]  # fmt: skip


@given(st.text(max_size=200))
def test_any_answer_of_the_agent_is_read(text):
    """A line of another form is left out."""
    assert all(line.line >= 0 for line in config_lines(text))


VALUES = st.text(
    alphabet=st.characters(codec="utf-8", exclude_characters="#\n\r\0", exclude_categories=("Cc", "Cs")),
    max_size=40,
)


@settings(max_examples=15, deadline=None)
@given(value=VALUES)
def test_any_value_arrives_as_it_is(tmp_path_factory, value):
    """Slashes, ampersands, quotes, backslashes and dollars mean themselves."""
    path = tmp_path_factory.mktemp("edit") / "config.ini"
    path.write_text("# x\nagent-name = before\n# y\n")
    source = open_source(LOCAL)
    sha = config_file.file_sha256(source, str(path), sudo=False)
    edits = (
        LineEdit(line=2, option="agent-name", text=f"agent-name = {value}"),
        LineEdit(line=None, option="http-alias", text=f"http-alias = {value}"),
    )
    config = RemoteConfig(path=str(path), sha256=sha, lines=())
    new = config_file.stage(source, config, edits, "leapprof-v", sudo=False)
    config_file.commit(source, str(path), "leapprof-v", (sha, new), sudo=False)
    lines = path.read_text().split("\n")
    assert lines[1].rstrip(" \t") == f"agent-name = {value}".rstrip(" \t\x0b\x0c")
    assert lines[3] == f"http-alias = {value}"
