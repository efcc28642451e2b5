"""Small files of settings."""

from hypothesis import given
from hypothesis import strategies as st

from leapprof.probes.settings import parse_assignments, parse_choice, parse_line, parse_page_size


def test_choice_is_the_word_in_brackets() -> None:
    """``always [madvise] never`` means madvise."""
    assert parse_choice("always [madvise] never\n") == "madvise"
    assert parse_choice("") is None


def test_assignments_lose_their_quotes() -> None:
    """Values of os-release are quoted or not; comments are none."""
    text = '# CONFIG_X is not set\nPRETTY_NAME="Debian GNU/Linux 12 (bookworm)"\nID=debian\nCONFIG_MEM_SOFT_DIRTY=y\n'
    assert parse_assignments(text) == {
        "PRETTY_NAME": "Debian GNU/Linux 12 (bookworm)",
        "ID": "debian",
        "CONFIG_MEM_SOFT_DIRTY": "y",
    }


def test_line_is_printable_and_bounded() -> None:
    """Control characters of a hostile model name do not reach a terminal."""
    assert parse_line("Samsung\x1b[31m SSD   \n") == "Samsung?[31m SSD"
    assert parse_line(" \n") is None
    assert len(parse_line("x" * 1000) or "") == 256


def test_a_page_is_that_of_the_first_mapping() -> None:
    """Some arm64 kernels have pages of 64 KiB; later mappings may lie on huge pages."""
    assert parse_page_size("KernelPageSize:       64 kB\nKernelPageSize:     2048 kB\n") == 65536
    assert parse_page_size("KernelPageSize: \n") is None


@given(st.text())
def test_any_text_has_a_meaning(text: str) -> None:
    """None of the four raises."""
    parse_choice(text)
    parse_assignments(text)
    parse_page_size(text)
    line = parse_line(text)
    assert line is None or line.isprintable()
