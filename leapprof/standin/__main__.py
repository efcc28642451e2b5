"""``python -m leapprof.standin``."""

import sys

from leapprof.standin.main import main

if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
