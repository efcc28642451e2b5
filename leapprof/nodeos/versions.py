"""Version strings of nodeos → family and numbers, and which option table fits.

Sources: release names of EOSIO 2, Leap 3.1 to 5.0 and Spring 1.0 to 2.0; ``nodeos --version`` and
``--full-version`` (``v5.0.3``, ``v5.0.3-<40 hex>-dirty``); package names of chain forks
(``wax_2.0.13wax03``, ``5.0.1wax01``). nodeos itself never says whether it is Leap or Spring: both print
``v1.2.2``-like numbers, so the family follows from the major number: EOSIO ended with 2, Leap has 3 to 5,
and 1 (and a bare 2 with ``-dev``) is Spring.
"""

import re
from dataclasses import dataclass

FAMILIES = ("eosio", "leap", "spring")
MAX_VERSION_CHARS = 128

_PARTS = re.compile(
    r"(?:(?P<family>eosio|eos|leap|spring|antelope-spring|antelope|mandel|wax|telos|ux|proton|xpr|fio)[-_ ]?)"
    r"?"
    r"v?(?P<major>\d{1,4})\.(?P<minor>\d{1,4})(?:\.(?P<patch>\d{1,4}))?"
    r"(?P<rest>[-_.+ 0-9a-z]*)\Z",
    re.ASCII,
)
_FORK = re.compile(r"[-_.+ ]?(wax|telos|ux|proton|xpr|fio)[-_.]?\d*")
_FIRST_LEAP_MAJOR, _LAST_LEAP_MAJOR, _LAST_EOSIO_MAJOR = 3, 5, 2
_CHAIN_FAMILIES = frozenset({"wax", "telos", "ux", "proton", "xpr", "fio"})


@dataclass(frozen=True, slots=True, kw_only=True)
class Version:
    """A version of nodeos.

    Attributes:
        family: eosio, leap or spring.
        numbers: major, minor and, when it was said, patch.
        text: as it was written.
        fork: the chain whose fork it is (``wax``), or None.
    """

    family: str
    numbers: tuple[int, ...]
    text: str
    fork: str | None = None

    @property
    def order(self) -> tuple[int, ...]:
        """Return what sorts versions by age across the families: EOSIO, Leap, Spring."""
        return (FAMILIES.index(self.family), *self.numbers)

    @property
    def name(self) -> str:
        """Return the plain name: ``leap-5.0.3``."""
        return f"{self.family}-{'.'.join(str(n) for n in self.numbers)}"

    def is_before(self, name: str) -> bool:
        """Return whether this is older than a version such as ``leap-5.0``."""
        return self.order < parse_version(name).order


def parse_version(text: str) -> Version:
    """Return the version that a string names.

    Args:
        text: ``v5.0.3``, ``5.0.1wax01``, ``wax_2.0.13wax03``, ``leap-3.1``, ``spring-1.2.2``,
            ``v5.0.3-<40 hex>-dirty``.

    Raises:
        ValueError: it names no version of nodeos that leapprof knows the family of.
    """
    found = _PARTS.match(text.strip().lower()) if len(text) <= MAX_VERSION_CHARS else None
    if found is None:
        raise ValueError(_unknown(text))
    numbers = tuple(int(found[part]) for part in ("major", "minor", "patch") if found[part] is not None)
    named = found["family"] or ""
    rest = found["rest"] or ""
    family = _family(named, numbers[0], rest)
    if family is None:
        raise ValueError(_unknown(text))
    fork = _FORK.match(rest)
    chain = fork[1] if fork else (named if named in _CHAIN_FAMILIES else None)
    return Version(family=family, numbers=numbers, text=text.strip(), fork=chain)


def nearest(wanted: Version, known: tuple[Version, ...]) -> Version | None:
    """Return the known version of the same family, major and minor number, or None.

    Of several patches it is the asked one, else the newest that is not newer, else the oldest.
    Without a patch number it is the newest.
    """
    same = sorted(
        (v for v in known if v.family == wanted.family and v.numbers[:2] == wanted.numbers[:2]),
        key=lambda v: v.order,
    )
    if not same:
        return None
    not_newer = [v for v in same if v.numbers <= wanted.numbers]
    if len(wanted.numbers) == 2 or not not_newer:
        return same[-1] if len(wanted.numbers) == 2 else same[0]
    return not_newer[-1]


def _family(named: str, major: int, rest: str) -> str | None:
    if named in ("eosio", "eos", "leap"):
        return "eosio" if named != "leap" else "leap"
    if "spring" in named:
        return "spring"
    if _FIRST_LEAP_MAJOR <= major <= _LAST_LEAP_MAJOR:
        return "leap"
    if major == _LAST_EOSIO_MAJOR:
        return "spring" if "dev" in rest else "eosio"
    return "spring" if major == 1 else None


def _unknown(text: str) -> str:
    shown = "".join(c if c.isprintable() else "?" for c in text[:40])
    return (
        f"'{shown}' is no version of nodeos that leapprof knows: write leap-5.0, spring-1.2, "
        "an exact patch such as v5.0.3, or a chain fork's string such as 5.0.1wax01"
    )
