"""Options of a command line."""

from leapprof.probes.cmdline import command_options, parse_cmdline


def options_of(text: str) -> dict[str, tuple[str | None, ...]]:
    """Return the options of a command line."""
    return command_options(parse_cmdline(text))


def test_values_stand_behind_or_in_the_option() -> None:
    """``--name value``, ``--name=value``, ``-d value`` and ``-dvalue`` mean the same."""
    assert options_of("nodeos\0--data-dir\0/a") == {"data-dir": ("/a",)}
    assert options_of("nodeos\0--data-dir=/a") == {"data-dir": ("/a",)}
    assert options_of("nodeos\0-d\0/a") == {"data-dir": ("/a",)}
    assert options_of("nodeos\0-d/a") == {"data-dir": ("/a",)}


def test_switch_has_no_value() -> None:
    """An option that another one follows has no values."""
    assert options_of("nodeos\0-e\0--disable-replay-opts\0--plugin=a\0--plugin\0b") == {
        "enable-stale-production": (),
        "disable-replay-opts": (),
        "plugin": ("a", "b"),
    }


def test_hidden_value_is_none() -> None:
    """What the agent did not let out is known to be there, and nothing more."""
    assert options_of("nodeos\0--signature-provider\0***") == {"signature-provider": (None,)}


def test_word_without_an_option_is_left_out() -> None:
    """Stray words are no options."""
    assert options_of("nodeos\0stray\0--a\0b\0stray") == {"a": ("b",)}
