"""Commands that an operator may let run on a host: a closed list of programs that read, each with what it may be told.

The agent runs them at the start and the end of a recording, without a shell. Options that change a drive or a log
(smartctl(8) -t -s -S -o -X; nvme(1) format, sanitize …; journalctl(1) --rotate, --vacuum-*) are not among them.
"""

from collections.abc import Callable, Sequence

SUDO = ("sudo", "-n")
_SMARTCTL = (
    "-a",
    "-x",
    "-A",
    "-i",
    "-H",
    "-c",
    "-l",
    "-d",
    "-j",
    "--json",
    "--all",
    "--xall",
    "--device=",
    "--log=",
)
_JOURNALCTL = (
    "-u",
    "-o",
    "-n",
    "-b",
    "--unit=",
    "--output=",
    "--lines=",
    "--boot",
    "--no-pager",
    "-q",
    "--quiet",
)
_NVME_READS = ("smart-log", "smart-add-log", "id-ctrl", "list", "ocp", "intel", "wdc", "micron", "solidigm")


def _options_among(known: Sequence[str]) -> Callable[[Sequence[str]], bool]:
    def check(words: Sequence[str]) -> bool:
        options = (word for word in words if word.startswith("-"))
        return all(
            any(o == k or ((k[-1] == "=" or k == "--json") and o.startswith(k)) for k in known)
            for o in options
        )

    return check


def _nvme(words: Sequence[str]) -> bool:
    verbs = [word for word in words if not word.startswith(("-", "/")) and word not in ("json", "normal")]
    return bool(verbs) and all(verb in _NVME_READS for verb in verbs)


ALLOWED: dict[str, Callable[[Sequence[str]], bool]] = {
    "smartctl": _options_among(_SMARTCTL),
    "nvme": _nvme,
    "zpool": lambda words: words[:1] in (["list"], ["status"]),
    "journalctl": _options_among(_JOURNALCTL),
    "docker": lambda words: words[:1] == ["logs"],
    "podman": lambda words: words[:1] == ["logs"],
    "nodeos": lambda words: words in (["--full-version"], ["--version"]),
}


def is_allowed(argv: Sequence[str]) -> bool:
    """Return whether a command reads only: a program of the list, told what it may be told, with sudo -n or without."""
    words = list(argv)
    if tuple(words[: len(SUDO)]) == SUDO:
        words = words[len(SUDO) :]
    if not words:
        return False
    check = ALLOWED.get(words[0].rsplit("/", 1)[-1])
    return check is not None and check(words[1:])
