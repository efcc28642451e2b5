"""Checks the probes of a playbook against the options of `leapprof latency`, before anything is begun."""

from tempfile import gettempdir

from typer.exceptions import TyperException
from typer.main import get_group

from leapprof.cli.latency import app
from leapprof.config.playbook_probes import SERVED
from leapprof.config.playbook_schema import Playbook
from leapprof.errors import ConfigError
from leapprof.experiment.probing import live_words, served_words


def check_probes(playbook: Playbook) -> None:
    """Refuse a probe whose command would not take its words.

    Raises:
        ConfigError: the message is the command's own.
    """
    for number, probe in enumerate(playbook.probes):
        words = served_words(probe, 0, 0) if probe.latency == SERVED else live_words(probe, playbook.phase)
        command = get_group(app).commands[probe.latency]
        try:
            command.make_context(probe.latency, [*words[1:], "--out", gettempdir()])
        except TyperException as error:
            raise ConfigError(error.format_message(), key=f"probes[{number}]") from error
