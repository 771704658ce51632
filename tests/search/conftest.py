"""Makes the games that are written in Python for the tests of games known here as well."""

import sys
from pathlib import Path

sys.path.append(str(Path(__file__).parents[1] / "games"))
