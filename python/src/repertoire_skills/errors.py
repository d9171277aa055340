"""What a call can fail with. Every class has the code, the remedy and the exit code of the command."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any


class RepError(Exception):
    """A call that has no result."""

    code: str
    """A stable word for programs, such as ``SKILL_NOT_FOUND``."""
    message: str
    """What happened, for people and models."""
    remedy: str | None
    """What would help."""
    exit: int
    """The exit code of the command."""
    data: Mapping[str, Any]
    """Everything that is known: the ``data`` of the answer."""

    def __init__(self, message: str, data: Mapping[str, Any] | None = None) -> None:
        super().__init__(message)
        self.data = data or {}
        self.message = message
        self.code = str(self.data.get("code", "UNKNOWN"))
        remedy = self.data.get("remedy")
        self.remedy = None if remedy is None else str(remedy)
        exit_code = self.data.get("exit", 2)
        self.exit = exit_code if isinstance(exit_code, int) else 2

    def __str__(self) -> str:
        return f"{self.message} ({self.remedy})" if self.remedy else self.message

    def __reduce__(self) -> tuple[type[RepError], tuple[str, Mapping[str, Any]]]:
        return type(self), (self.message, self.data)


class Unable(RepError):
    """The work could not be done: usage, unreadable input or a broken configuration."""


class NotFound(Unable):
    """The skill, file, tool or path does not exist."""


class InvalidSkill(Unable):
    """The skill violates its dialect; ``data["details"]`` lists where."""


class InvalidArgument(Unable):
    """An argument is missing, unknown or of another type."""


class Findings(RepError):
    """A check failed, or nothing was found."""


class Refused(RepError):
    """Permission, trust, confirmation or a secret is missing. Nothing ran."""


class ConfirmationRequired(Refused):
    """The run needs confirmation, and nobody was asked."""


class Declined(Refused):
    """The answer to the confirmation was no."""


class RunFailed(RepError):
    """The skill's own run failed."""


class Cancelled(RepError):
    """The call was cancelled."""


class EngineError(RepError):
    """The program that answers could not be started, or ended during the call."""


_BY_CODE: dict[str, type[RepError]] = {
    "SKILL_NOT_FOUND": NotFound,
    "FILE_NOT_FOUND": NotFound,
    "TOOL_NOT_FOUND": NotFound,
    "PATH_NOT_FOUND": NotFound,
    "UNKNOWN_RULE": NotFound,
    "VALIDATION_FAILED": InvalidSkill,
    "INVALID_SKILL": InvalidSkill,
    "INVALID_ARGUMENT": InvalidArgument,
    "CONFIRMATION_REQUIRED": ConfirmationRequired,
    "DECLINED": Declined,
}

_BY_EXIT: dict[int, type[RepError]] = {1: Findings, 2: Unable, 3: Refused, 4: RunFailed, 130: Cancelled}


def error_from_json(error: Mapping[str, Any]) -> RepError:
    """Builds the exception for the ``error`` of an answer."""
    data: Mapping[str, Any] = error.get("data") or {}
    code, exit_code = str(data.get("code", "")), data.get("exit", 2)
    if error.get("code") == -32602:
        kind: type[RepError] = InvalidArgument
    else:
        kind = _BY_CODE.get(code) or _BY_EXIT.get(exit_code, RepError)
    return kind(str(error.get("message", "the call failed")), data)
