"""Measures what leapprof costs and how far it goes, prints it, and writes docs/cost.md.

python -m benchmarks                  about 12 minutes
python -m benchmarks --only storage   one section; the others stay as they are
python -m benchmarks --long           ten minutes for the agent
"""

import argparse
import sys
from pathlib import Path

from benchmarks import agent_cost, collector, speed, storage
from benchmarks.figures import PAGE, write_page

PARTS = {"agent": agent_cost, "collector": collector, "storage": storage, "speed": speed}


def main() -> None:
    """Measure and write."""
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("--only", choices=sorted(PARTS), action="append", help="may be given more than once")
    parser.add_argument("--long", action="store_true", help="ten minutes for the agent, as its target says")
    parser.add_argument("--out", type=Path, default=PAGE)
    arguments = parser.parse_args()
    titles = [part.TITLE for part in PARTS.values()]
    for name in arguments.only or PARTS:
        section = PARTS[name].measure(long=arguments.long)
        sys.stdout.write(section.render())
        sys.stdout.flush()
        write_page([section.render()], titles, arguments.out)


if __name__ == "__main__":
    main()
