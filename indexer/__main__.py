"""``python -m indexer``"""

import sys

from indexer.cli import main

if __name__ == "__main__":
    sys.exit(main())
