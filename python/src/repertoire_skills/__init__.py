"""Skills for agents: find, read, query, check and run them, with the program ``rep``.

>>> from repertoire_skills import Library
>>> with Library(paths=["examples"]) as library:
...     library.query("slugify:meta.name").value
'slugify'
"""

from . import types
from ._binary import find_rep
from .calls import Caller
from .aio import AsyncLibrary
from .errors import (
    Cancelled,
    ConfirmationRequired,
    Declined,
    EngineError,
    Findings,
    InvalidArgument,
    InvalidSkill,
    NotFound,
    Refused,
    RepError,
    RunFailed,
    Unable,
)
from .library import Library

__version__ = "0.1.0"

__all__ = [
    "AsyncLibrary",
    "Caller",
    "Cancelled",
    "ConfirmationRequired",
    "Declined",
    "EngineError",
    "Findings",
    "InvalidArgument",
    "InvalidSkill",
    "Library",
    "NotFound",
    "Refused",
    "RepError",
    "RunFailed",
    "Unable",
    "find_rep",
    "types",
]
