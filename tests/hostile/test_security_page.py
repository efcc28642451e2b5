"""What the security page gives to copy is right: rules of sudo, and the words that use them."""

import re
import shutil
import subprocess
import tomllib
from pathlib import Path

import pytest

from leapprof.config.commands import is_allowed

PAGE = (Path(__file__).parent.parent.parent / "docs" / "security.md").read_text(encoding="utf-8")
RULES = re.findall(r"^leapprof ALL=.*$", PAGE, re.MULTILINE)
RULE = re.compile(r"leapprof ALL=\(root\) NOPASSWD: (/\S+(?: [^\s*?\[\]\\!]+)*)")


def test_there_are_rules_to_copy() -> None:
    """SMART by two programs, and the log."""
    assert {Path(rule.split()[3]).name for rule in RULES} == {"smartctl", "nvme", "journalctl"}


@pytest.mark.parametrize("rule", RULES)
def test_a_rule_names_one_command_that_leapprof_accepts(rule: str) -> None:
    """An absolute path and whole words without wildcards; leapprof would run it, and runs nothing that writes."""
    found = RULE.fullmatch(rule)
    assert found, rule
    assert is_allowed(["sudo", "-n", *found[1].split()])


def test_the_words_of_the_inventory_are_those_of_a_rule() -> None:
    """What leapprof.toml says is word for word what sudo allows."""
    block = next(text for text in re.findall(r"```toml\n(.*?)```", PAGE, re.DOTALL) if "commands." in text)
    commands = tomllib.loads(block)["hosts"]["eos-1"]["commands"]
    allowed = {f"leapprof ALL=(root) NOPASSWD: {' '.join(words[2:])}" for words in commands.values()}
    assert allowed <= set(RULES)


@pytest.mark.skipif(shutil.which("visudo") is None, reason="needs visudo (Debian: sudo)")
def test_sudo_reads_the_rules(tmp_path: Path) -> None:
    """`visudo -cf` accepts them as they stand there."""
    path = tmp_path / "leapprof"
    path.write_text("\n".join(RULES) + "\n")
    path.chmod(0o440)
    done = subprocess.run(["visudo", "-cf", str(path)], capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stdout + done.stderr
