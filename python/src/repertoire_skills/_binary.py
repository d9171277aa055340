"""Finds the program ``rep``."""

from __future__ import annotations

import os
import shutil
import sys
import sysconfig
from pathlib import Path

from .errors import EngineError

VARIABLE = "REP_BINARY"


def find_rep() -> str:
    """Returns the path of the program.

    The variable ``REP_BINARY`` comes first, then the program of this package, wherever it was installed, then ``PATH``.
    """
    named = os.environ.get(VARIABLE)
    if named:
        return named
    name = "rep.exe" if sys.platform == "win32" else "rep"
    package = Path(__file__).resolve().parent
    places = [
        sysconfig.get_path("scripts"),
        # `pip install --user`
        sysconfig.get_path("scripts", f"{os.name}_user"),
        # `pip install --target` and `--prefix`
        str(package.parent / "bin"),
        str(package.parent.parent.parent.parent / "bin"),
        os.path.dirname(sys.executable),
    ]
    for place in places:
        found = Path(place) / name if place else None
        if found is not None and found.is_file():
            return str(found)
    on_path = shutil.which(name)
    if on_path is not None:
        return on_path
    raise EngineError(
        "the program `rep` was not found",
        {"code": "NOT_INSTALLED", "remedy": f"install the package again, or set {VARIABLE}", "exit": 2},
    )
