"""A source of skills and a script runner for Microsoft agent-framework (``agent-framework-core`` 1.21 and later).

>>> from agent_framework import SkillsProvider
>>> from repertoire_skills.adapters.agent_framework import RepSkillsSource
>>> provider = SkillsProvider(RepSkillsSource(["examples"]))
"""

from __future__ import annotations

import os
from collections.abc import Sequence
from importlib.metadata import version
from pathlib import Path
from typing import Any

from agent_framework import (
    FunctionInvocationContext,
    Skill,
    SkillFrontmatter,
    SkillResource,
    SkillScript,
    SkillsSource,
)

from ..calls import Caller
from ..aio import AsyncLibrary
from ..errors import RepError


def _frontmatter(name: str, description: str) -> SkillFrontmatter:
    # The framework accepts fewer names and descriptions than hosts do. One that it would refuse is not lost.
    frontmatter = SkillFrontmatter(name="skill", description="A skill.")
    frontmatter.name, frontmatter.description = name, description
    return frontmatter


def _caller(context: FunctionInvocationContext | None, agent: str | None) -> Caller:
    metadata: dict[str, Any] = dict(getattr(context, "metadata", None) or {})
    call = metadata.get("call_id")
    return Caller(f"agent-framework {version('agent-framework-core')}", agent, None if call is None else str(call))


def _was_approved(context: FunctionInvocationContext | None) -> bool:
    """Whether the framework asked its user before this call, as it does unless approval was switched off."""
    function = getattr(context, "function", None)
    return getattr(function, "approval_mode", None) == "always_require"


async def _run(
    library: AsyncLibrary,
    skill: str,
    script: str,
    args: dict[str, Any] | list[str] | None,
    context: FunctionInvocationContext | None,
    agent: str | None,
) -> dict[str, Any]:
    if isinstance(args, dict):
        return {"error": "the arguments of a script are a list of words"}
    words = [str(word) for word in args or []]
    try:
        result = await library.run_script(
            skill, script, words, approve=_was_approved(context), caller=_caller(context, agent)
        )
    except RepError as error:
        return {"error": error.code, "message": str(error)}
    denied = [f"{denial.action} {denial.target}" for denial in result.denied]
    return {
        "stdout": result.stdout,
        "stderr": result.stderr,
        "returncode": result.returncode,
        **({"denied": denied} if denied else {}),
    }


class _RepResource(SkillResource):
    def __init__(self, library: AsyncLibrary, skill: str, name: str) -> None:
        super().__init__(name=name)
        self._library, self._skill = library, skill

    async def read(self, **kwargs: Any) -> str:
        return await self._library.read(self._skill, self.name)


class _RepScript(SkillScript):
    def __init__(self, library: AsyncLibrary, skill: str, name: str, agent: str | None) -> None:
        super().__init__(name=name)
        self._library, self._skill, self._agent = library, skill, agent

    async def run(
        self,
        skill: Skill,
        args: dict[str, Any] | list[str] | None = None,
        *,
        context: FunctionInvocationContext | None = None,
        **kwargs: Any,
    ) -> dict[str, Any]:
        return await _run(self._library, self._skill, self.name, args, context, self._agent)


class _RepSkill(Skill):
    def __init__(self, library: AsyncLibrary, name: str, description: str, agent: str | None) -> None:
        self._library, self._agent = library, agent
        self._frontmatter = _frontmatter(name, description)

    @property
    def frontmatter(self) -> SkillFrontmatter:
        return self._frontmatter

    async def get_content(self) -> str:
        return await self._library.read(self._frontmatter.name)

    async def _has_file(self, name: str) -> bool:
        shown = await self._library.show(self._frontmatter.name)
        return any(file.path == name for file in shown.files)

    async def get_resource(self, name: str) -> SkillResource | None:
        if not await self._has_file(name):
            return None
        return _RepResource(self._library, self._frontmatter.name, name)

    async def get_script(self, name: str) -> SkillScript | None:
        if not await self._has_file(name):
            return None
        return _RepScript(self._library, self._frontmatter.name, name, self._agent)


class RepSkillsSource(SkillsSource):
    """The active skills of some paths, or of a project and its user. Scripts run in the sandbox.

    ``budget`` limits the tokens of the catalog. Descriptions are shortened as in ``rep prompt``, and what it drops is not
    listed but named in :attr:`left_out`.
    """

    def __init__(
        self,
        paths: Sequence[str | os.PathLike[str]] | None = None,
        *,
        library: AsyncLibrary | None = None,
        project: str | None = None,
        trust: bool = False,
        budget: int | None = None,
    ) -> None:
        self.library = library or AsyncLibrary(paths, project=project, trust=trust, for_model=True)
        self.budget = budget
        self.left_out: tuple[str, ...] = ()

    async def get_skills(self, context: Any = None) -> list[Skill]:
        """Returns the skills that ``rep prompt`` shows, in its order."""
        shown = await self.library.prompt(budget=self.budget)
        self.left_out = shown.dropped
        agent = getattr(getattr(context, "agent", None), "name", None)
        skills = zip(shown.skills, shown.descriptions)
        return [_RepSkill(self.library, name, description, agent) for name, description in skills]


async def rep_script_runner(
    skill: Any,
    script: Any,
    args: dict[str, Any] | list[str] | None = None,
    *,
    context: FunctionInvocationContext | None = None,
) -> dict[str, Any]:
    """Runs a script of a file-based skill of the framework in the sandbox: the ``script_runner`` of its file sources."""
    folder = Path(skill.path)
    folder = folder.parent if folder.is_file() else folder
    async with AsyncLibrary([folder], for_model=True) as library:
        names = [known.qualified_name for known in await library.skills()]
        if len(names) != 1:
            return {"error": "INVALID_SKILL", "message": f"`{folder.name}` is not one active skill"}
        path = Path(getattr(script, "full_path", None) or script.name)
        name = path.relative_to(folder).as_posix() if path.is_absolute() else path.as_posix()
        return await _run(library, names[0], name, args, context, None)
