"""Lines for a terminal."""

from leapprof.cli.folding import MAX_LINE_CHARS, folded, harmless


def test_a_line_that_is_cut_says_so() -> None:
    """Nothing ends in the middle of a word without an ellipsis; nothing moves the cursor."""
    assert harmless("a" * MAX_LINE_CHARS) == "a" * MAX_LINE_CHARS
    assert harmless("b" * 3000).endswith("b…")
    assert len(harmless("b" * 3000)) == MAX_LINE_CHARS
    assert harmless("a\x1b[2Jb") == "a?[2Jb"


def test_lines_that_follow_stand_below_the_text() -> None:
    """Folded at 40 columns at least, never within a word; a program gets one line."""
    text = "word " * 12 + "/a/very/long/path/that/is/copied/from/the/screen/as/it/stands"
    assert folded("  head ", text, None).count("\n") == 0
    lines = folded("  head ", text, 20).splitlines()
    assert len(lines) > 1
    assert all(line.startswith(" " * 7) for line in lines[1:])
    assert all(len(line) <= 40 or " " not in line.strip() for line in lines)
    assert lines[-1].strip() == text.split()[-1]
