"""What each method sends, and how its answer becomes a value. Both libraries use it."""

from __future__ import annotations

import base64
import os
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, Generic, Literal, TypeVar, Union

from . import types
from .errors import error_from_json

T = TypeVar("T")

Path = Union[str, "os.PathLike[str]"]
Style = Literal["xml", "json", "markdown", "manifest"]
Question = Literal["can", "how", "when", "syntax"]
Status = Literal["active", "hidden", "shadowed", "invalid", "untrusted", "disabled"]


@dataclass(frozen=True)
class Caller:
    """For whom a run is. The audit log names it."""

    framework: str
    agent: str | None = None
    call: str | None = None


@dataclass(frozen=True)
class Call(Generic[T]):
    """One request."""

    method: str
    params: dict[str, Any]
    decode: Callable[[Any], T]


def _params(**values: Any) -> dict[str, Any]:
    return {name: value for name, value in values.items() if value is not None and value is not False}


def _paths(paths: Sequence[Path] | None) -> list[str] | None:
    return None if paths is None else [os.fspath(path) for path in paths]


def _caller(caller: Caller | None) -> dict[str, Any] | None:
    return None if caller is None else _params(framework=caller.framework, agent=caller.agent, call=caller.call)


def hello() -> Call[types.Hello]:
    return Call("hello", {"client": "python"}, types.Hello.from_json)


def skills(status: Status | None) -> Call[tuple[types.ListedSkill, ...]]:
    def decode(value: Any) -> tuple[types.ListedSkill, ...]:
        listed = types.SkillList.from_json(value).skills
        return tuple(skill for skill in listed if status is None or skill.status == status)

    return Call("list", {}, decode)


def show(skill: str) -> Call[types.ShownSkill]:
    return Call("show", {"skill": skill}, types.ShownSkill.from_json)


def prompt(budget: int | None, style: Style, locations: bool) -> Call[types.PromptResult]:
    params = _params(budget=budget, style=style, no_location=not locations)
    return Call("prompt", params, types.PromptResult.from_json)


def _bytes(value: Any) -> bytes:
    read = types.ReadResult.from_json(value)
    return (read.text or "").encode() if read.base64 is None else base64.b64decode(read.base64)


def read(skill: str, file: str | None) -> Call[str]:
    return Call("read", _params(skill=skill, file=file), lambda value: _bytes(value).decode("utf-8", "replace"))


def read_bytes(skill: str, file: str) -> Call[bytes]:
    return Call("read", {"skill": skill, "file": file}, _bytes)


def search(text: str, limit: int, min_score: float | None) -> Call[tuple[types.SearchResultsResults, ...]]:
    params = {"text": text, "limit": limit, **({} if min_score is None else {"min_score": min_score})}
    return Call("search", params, lambda value: types.SearchResults.from_json(value).results)


def select(
    text: str,
    files: Sequence[Path],
    intents: Sequence[str],
    skills: Sequence[str],
    fallback: Literal["none", "search"],
) -> Call[tuple[types.SelectedSkillsSelected, ...]]:
    params = {
        "text": text,
        "files": _paths(files),
        "intents": list(intents),
        "skills": list(skills),
        "fallback": fallback,
    }
    return Call("select", params, lambda value: types.SelectedSkills.from_json(value).selected)


def query(text: str) -> Call[types.QueryResult]:
    def decode(value: Mapping[str, Any]) -> types.QueryResult:
        if value.get("found") is True:
            return types.QueryResult.from_json(value)
        error: Mapping[str, Any] = value["error"]
        data = {**error, "exit": 1, "suggestions": value.get("suggestions", [])}
        raise error_from_json({"message": error["message"], "data": data})

    return Call("query", {"query": text}, decode)


def ask(skill: str, question: Question, about: str) -> Call[types.Answer]:
    return Call("ask", {"skill": skill, "question": question, "about": about}, types.Answer.from_json)


def check(
    paths: Sequence[Path] | None, profiles: Sequence[str], select: Sequence[str], ignore: Sequence[str]
) -> Call[types.CheckReport]:
    params = _params(paths=_paths(paths), profiles=list(profiles), select=list(select), ignore=list(ignore))
    return Call("check", params, types.CheckReport.from_json)


def scan(paths: Sequence[Path] | None) -> Call[types.ScanReport]:
    return Call("scan", _params(paths=_paths(paths)), types.ScanReport.from_json)


def tools(skill: str) -> Call[types.EffectiveTools]:
    return Call("tools", {"skill": skill}, types.EffectiveTools.from_json)


def run(
    skill: str,
    tool: str,
    input: Mapping[str, Any] | None,
    approve: bool | str,
    workspace: Path | None,
    timeout: int | None,
    caller: Caller | None,
) -> Call[types.RunAnswer]:
    params = _params(
        skill=skill,
        tool=tool,
        input={} if input is None else dict(input),
        approve=approve,
        workspace=None if workspace is None else os.fspath(workspace),
        timeout=timeout,
        caller=_caller(caller),
    )
    return Call("run", params, types.RunAnswer.from_json)


def run_script(
    skill: str,
    script: str,
    args: Sequence[str],
    approve: bool | str,
    workspace: Path | None,
    timeout: int | None,
    caller: Caller | None,
) -> Call[types.ScriptResult]:
    params = _params(
        skill=skill,
        script=script,
        args=list(args),
        approve=approve,
        workspace=None if workspace is None else os.fspath(workspace),
        timeout=timeout,
        caller=_caller(caller),
    )
    return Call("run_script", params, lambda value: types.ScriptResult.from_json(value["result"]))


def policy(skill: str, tool: str | None) -> Call[types.SkillPolicy]:
    return Call("policy", _params(skill=skill, tool=tool), types.SkillPolicy.from_json)


def audit(skill: str | None, since: str | None, limit: int | None) -> Call[types.AuditRuns]:
    return Call("audit", _params(skill=skill, since=since, limit=limit), types.AuditRuns.from_json)


def reload() -> Call[types.LibraryState]:
    return Call("reload", {}, types.LibraryState.from_json)


def watch() -> Call[types.LibraryState]:
    return Call("watch", {}, types.LibraryState.from_json)
