"""How the agent gets onto a host: a command line for its shell, and bytes to send first on stdin.

Nothing is installed and nothing is written there: the source goes through the channel and runs from memory.
"""

import zlib
from pathlib import Path

HERE = Path(__file__).parent

# -I -S: no site packages, no user settings, faster start, less memory (Python >= 3.4).
# One line, single quotes only: also fit for csh and fish as login shells. The loop reads exactly what
# python_payload() holds, so that the first message behind it stays in the pipe. The source is compiled
# definition by definition (two blank lines stand between them): at once it would take 4 MB more for good.
PYTHON_COMMAND = (
    'exec {python} -I -S -c \'import os,zlib;b=b"";'
    'exec("while len(b)<{length}:b+=os.read(0,{length}-len(b))or os._exit(2)");'
    'g=dict(__name__="__main__");'
    '[exec(compile(s,"leapprof-agent","exec"),g)for s in zlib.decompress(b).split(b"\\n\\n\\n")]\''
)
# dd reads byte by byte here, since a larger read could swallow the first message.
SH_COMMAND = "exec env LC_ALL=C {sh} -c 'eval \"$(dd bs=1 count={length} 2>/dev/null)\"'"


def python_payload() -> bytes:
    """Return what to send first to the command of python_command()."""
    return zlib.compress((HERE / "agent.py").read_bytes(), 9)


def python_command(python: str = "python3") -> str:
    """Return the command line that reads python_payload() from stdin and runs it.

    Args:
        python: the interpreter, 3.6 or newer; a name in PATH or an absolute path.
    """
    return PYTHON_COMMAND.format(python=python, length=len(python_payload()))


def sh_payload() -> bytes:
    """Return what to send first to the command of sh_command(): the script without its comments."""
    lines = (HERE / "agent.sh").read_text(encoding="ascii").splitlines()
    kept = [line.strip() for line in lines if line.strip() and not line.strip().startswith("#")]
    return ("\n".join(kept) + "\n").encode("ascii")


def sh_command(sh: str = "sh") -> str:
    """Return the command line that reads sh_payload() from stdin and runs it in a POSIX shell."""
    return SH_COMMAND.format(sh=sh, length=len(sh_payload()))
