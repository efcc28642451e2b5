"""A nodeos that comes back with another version, option or map mode is an event of the recording."""

from leapprof.ingest.rows import FrameIngest
from tests.ingest.frames import frame, nodeos_texts


def events_of(*texts: dict[str, str]) -> list[tuple[str, str, str]]:
    """Return kind, subject and detail of the events of these frames."""
    taken = FrameIngest()
    for seq, each in enumerate(texts, 1):
        taken.add(frame(seq, nodeos_texts() | each))
    return [(event.kind, event.subject, event.detail) for event in taken.events()]


def info(version: str) -> dict[str, str]:
    """Return an answer of get_info with this Server header."""
    return {"http/eos/v1/chain/get_info": f"200 5 nodeos/{version}\n{{}}"}


def command(*words: str) -> dict[str, str]:
    """Return a command line."""
    return {"nodeos/eos/42/900/cmdline": "\0".join(("nodeos", *words))}


def test_first_version_is_no_change_and_another_one_is() -> None:
    """The Server header tells the version at each question."""
    assert events_of(info("v4.0.6"), {}, info("v4.0.6"), info("v5.0.3")) == [
        ("version-changed", "eos", "v4.0.6 before, v5.0.3 now")
    ]


def test_other_map_mode_on_the_command_line_is_two_events() -> None:
    """The mode is told with its values, since they are words of nodeos."""
    events = events_of(
        command("--database-map-mode", "mapped"), command("--database-map-mode", "mapped_private")
    )
    assert events == [
        ("config-changed", "eos", "command line: database-map-mode"),
        ("map-mode-changed", "eos", "mapped before, mapped_private now"),
    ]


def test_changed_option_of_the_config_file_is_told_by_name_alone() -> None:
    """Values stay in the manifest, where it is decided who may see them."""
    events = events_of({"config/eos": "1\tchain-threads\t2\n"}, {"config/eos": "1\tchain-threads\t4\n"})
    assert events == [("config-changed", "eos", "config file: chain-threads")]


def test_frame_without_options_changes_nothing() -> None:
    """Command line and config file are in the first and the last frame only."""
    assert events_of(command("--plugin", "a"), {}, command("--plugin", "a")) == []


def test_a_map_mode_told_in_two_places_is_one_change() -> None:
    """Config file and command line may both say it, one after the other, and once more on the way back."""
    both = [
        command("--database-map-mode", mode) | {"config/eos": f"1\tdatabase-map-mode\t{mode}\n"}
        for mode in ("mapped", "mapped_private", "mapped")
    ]
    changes = [detail for kind, _, detail in events_of(*both) if kind == "map-mode-changed"]
    assert changes == ["mapped before, mapped_private now", "mapped_private before, mapped now"]
