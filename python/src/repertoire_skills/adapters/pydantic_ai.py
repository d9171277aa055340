"""A script executor for Pydantic AI (``pydantic-ai-skills`` 2.1 and later).

>>> from pydantic_ai_skills import SkillsCapability
>>> from repertoire_skills.adapters.pydantic_ai import RepScriptExecutor
>>> skills = SkillsCapability("examples", script_executor=RepScriptExecutor(["examples"]))
"""

from __future__ import annotations

import os
from collections.abc import Mapping, Sequence
from importlib.metadata import version
from pathlib import Path
from typing import Any, cast

from pydantic_ai_skills import SkillScript

from ..aio import AsyncLibrary
from ..calls import Caller
from ..errors import RepError


def script_words(args: Mapping[str, Any] | None) -> list[str]:
    """Renders named arguments as words of a command line, as the executor of the framework does."""
    words: list[str] = []
    for name, value in (args or {}).items():
        option = f"--{name}"
        if isinstance(value, bool):
            words.extend([option] if value else [])
        elif isinstance(value, list):
            words.extend(word for item in cast("list[Any]", value) for word in (option, str(item)))
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
        call = getattr(ctx, "tool_call_id", None)
        agent = self.agent or getattr(getattr(ctx, "agent", None), "name", None)
        caller = Caller(f"pydantic-ai-skills {version('pydantic-ai-skills')}", agent, call)
        try:
            skill, path = await self._find(script.uri)
            result = await self.library.run_script(
                skill, path, script_words(args), approve=self.approve, caller=caller, timeout=self.timeout
            )
        except RepError as error:
            return f"error {error.code}: {error}"
        parts = [result.stdout]
        if result.stderr:
            parts.append(f"Stderr:\n{result.stderr}")
        parts.extend(f"denied: {denial.action} {denial.target}" for denial in result.denied)
        if result.returncode != 0:
            parts.append(f"Script exited with code {result.returncode}")
        return "\n\n".join(part.strip() for part in parts if part.strip()) or "(no output)"


__all__ = ["RepScriptExecutor", "script_words"]
