"""The command line as the installed command `almanac`, and as `python -m almanac`."""

import sys

from flows.__main__ import main

if __name__ == "__main__":
    sys.exit(main())
