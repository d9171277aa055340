"""Skills and a script executor for Pydantic AI (``pydantic-ai-skills`` 2.1 and later).

>>> from pydantic_ai_skills import SkillsCapability
>>> from repertoire_skills.adapters.pydantic_ai import RepScriptExecutor, rep_skills
>>> skills = SkillsCapability(skills=rep_skills(["examples"]))
>>> with_own_loader = SkillsCapability("examples", script_executor=RepScriptExecutor(["examples"]))
"""

from __future__ import annotations

import asyncio
import os
import warnings
from collections.abc import Collection, Iterable, Mapping, Sequence
from functools import partial
from importlib.metadata import version
from itertools import count
from pathlib import Path
from typing import Any, cast

from pydantic_ai_skills import Skill, SkillResource, SkillScript

from .. import types
from ..aio import AsyncLibrary
from ..calls import Caller
from ..errors import RepError
from ..library import Library

_FRAMEWORK = "pydantic-ai-skills"


def script_words(args: Mapping[str, Any] | None) -> list[str]:
    """Renders named arguments as words of a command line, as the executor of the framework does."""
    words: list[str] = []
    for name, value in (args or {}).items():
        option = f"--{name}"
        if isinstance(value, bool):
            words.extend([option] if value else [])
        elif isinstance(value, list):
            words.extend(word for item in cast("Iterable[Any]", value) for word in (option, str(item)))
        elif value is not None:
            words.extend([option, str(value)])
    return words


class RepScriptExecutor:
    """Runs the scripts of skills in the sandbox. ``paths`` are the directories of the framework's capability.

    Scripts of skills that are not active are refused, and so are runs that need confirmation unless ``approve`` is set:
    the framework asks its user before it calls an executor if the tool ``run_skill_script`` requires approval.
    """

    def __init__(
        self,
        paths: Sequence[str | os.PathLike[str]] | None = None,
        *,
        library: AsyncLibrary | None = None,
        project: str | None = None,
        trust: bool = False,
        agent: str | None = None,
        approve: bool = False,
        timeout: int | None = None,
    ) -> None:
        self.library = library or AsyncLibrary(paths, project=project, trust=trust, for_model=True)
        self.agent = agent
        self.approve = approve
        self.timeout = timeout

    async def _find(self, uri: str) -> tuple[str, str]:
        """Returns the name of the active skill that bundles a file, and the path of the file in it."""
        file = Path(uri).resolve()
        for skill in await self.library.skills():
            folder = Path(skill.location).resolve().parent
            if file.is_relative_to(folder):
                return skill.qualified_name, file.relative_to(folder).as_posix()
        raise ValueError(f"no active skill bundles `{file.name}`")

    async def run(self, script: SkillScript, args: dict[str, Any] | None = None, ctx: Any | None = None) -> str:
        """Runs a script, and returns what it printed, its exit code if it failed, and what it was denied."""
        if script.uri is None:
            raise ValueError(f"script `{script.name}` is not a file")
        caller = _caller(ctx, self.agent)
        try:
            skill, path = await self._find(script.uri)
            result = await self.library.run_script(
                skill, path, script_words(args), approve=self.approve, caller=caller, timeout=self.timeout
            )
        except RepError as error:
            return f"error {error.code}: {error}"
        return _describe(result)


def _caller(ctx: Any | None, agent: str | None) -> Caller:
    agent = agent or getattr(getattr(ctx, "agent", None), "name", None)
    return Caller(f"{_FRAMEWORK} {version(_FRAMEWORK)}", agent, getattr(ctx, "tool_call_id", None))


def _describe(result: types.ScriptResult) -> str:
    parts = [result.stdout]
    if result.stderr:
        parts.append(f"Stderr:\n{result.stderr}")
    parts.extend(f"denied: {denial.action} {denial.target}" for denial in result.denied)
    if result.returncode != 0:
        parts.append(f"Script exited with code {result.returncode}")
    return "\n\n".join(part.strip() for part in parts if part.strip()) or "(no output)"


class _RepResource(SkillResource):
    """A file of a skill. It is read when the model asks for it."""

    def __init__(self, library: Library, skill: str, path: str) -> None:
        super().__init__(path, uri=f"skill://{skill}/{path}")
        self.library, self.skill = library, skill

    async def load(self, ctx: Any, args: dict[str, Any] | None = None) -> str:
        try:
            return await asyncio.to_thread(self.library.read, self.skill, self.name)
        except RepError as error:
            return f"error {error.code}: {error}"


class _RepScript(SkillScript):
    """A script of a skill. It runs in the sandbox."""

    def __init__(self, library: Library, skill: str, path: str, agent: str | None, approve: bool) -> None:
        super().__init__(path, uri=f"skill://{skill}/{path}", skill_name=skill)
        self.library, self.agent, self.approve = library, agent, approve

    async def run(self, ctx: Any, args: dict[str, Any] | None = None) -> str:
        caller = _caller(ctx, self.agent)
        run = partial(self.library.run_script, approve=self.approve, caller=caller)
        try:
            return _describe(await asyncio.to_thread(run, self.skill_name or "", self.name, script_words(args)))
        except RepError as error:
            return f"error {error.code}: {error}"


def _name_capability(name: str, taken: Collection[str]) -> str:
    # The framework refuses names with a colon, which stands between a package and its skill.
    plain = name.replace(":", "-")
    names = (plain if number == 1 else f"{plain}-{number}" for number in count(1))
    return next(known for known in names if known not in taken)


def rep_skills(
    paths: Sequence[str | os.PathLike[str]] | None = None,
    *,
    library: Library | None = None,
    project: str | None = None,
    trust: bool = False,
    budget: int | None = None,
    agent: str | None = None,
    approve: bool = False,
) -> list[Skill]:
    """Returns the skills that ``rep prompt`` shows, in its order: the ``skills`` of the framework's capability.

    Their files are read when the model asks for them, and their scripts run in the sandbox. ``budget`` limits the tokens
    of the catalog. A colon in a name, which the framework refuses, becomes a hyphen.
    """
    library = library or Library(paths, project=project, trust=trust, for_model=True)
    shown = library.prompt(budget=budget)
    skills: list[Skill] = []
    taken: set[str] = set()
    for name, description in zip(shown.skills, shown.descriptions):
        try:
            content, files = library.read(name), library.show(name).files
        except RepError as error:
            # The skill changed meanwhile. The others are not affected.
            warnings.warn(f"skill `{name}` is left out: {error}", stacklevel=2)
            continue
        resources: list[SkillResource] = []
        scripts: list[SkillScript] = []
        for file in files:
            if file.kind == "script":
                scripts.append(_RepScript(library, name, file.path, agent, approve))
            elif file.kind != "main":
                resources.append(_RepResource(library, name, file.path))
        # A description that a budget dropped is empty, and the framework needs one.
        known = _name_capability(name, taken)
        taken.add(known)
        skills.append(Skill(known, description or name, content, resources=resources, scripts=scripts))
    return skills


__all__ = ["RepScriptExecutor", "rep_skills", "script_words"]
