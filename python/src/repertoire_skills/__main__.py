"""``python -m repertoire_skills`` is the command line."""

from __future__ import annotations

import os
import subprocess
import sys

from ._binary import find_rep


def main() -> int:
    """Runs ``rep`` with the arguments of this process."""
    arguments = [find_rep(), *sys.argv[1:]]
    if sys.platform == "win32":
        return subprocess.run(arguments, check=False).returncode
    os.execv(arguments[0], arguments)


if __name__ == "__main__":
    sys.exit(main())
