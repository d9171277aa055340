"""A skill registry and a code executor for Google ADK (``google-adk`` 2.6 and later).

>>> from google.adk.tools.skill_toolset import SkillToolset
>>> from repertoire_skills.adapters.adk import RepCodeExecutor, RepSkillRegistry
>>> toolset = SkillToolset(registry=RepSkillRegistry(["examples"]), code_executor=RepCodeExecutor())
"""

from __future__ import annotations

import os
import tempfile
import threading
import uuid
import weakref
from collections.abc import Sequence
from importlib.metadata import version
from pathlib import Path
from typing import Any

from google.adk.code_executors.base_code_executor import BaseCodeExecutor
from google.adk.code_executors.code_execution_utils import CodeExecutionInput, CodeExecutionResult
from google.adk.skills import Frontmatter, Skill, SkillRegistry
from google.adk.skills.models import Resources, Script
from pydantic import PrivateAttr

from ..aio import AsyncLibrary
from ..calls import Caller
from ..errors import NotFound, RepError
from ..library import Library

# The files of a skill that are loaded with it.
_FILES_MAX = 200


def _frontmatter(name: str, description: str) -> Frontmatter:
    # The framework accepts fewer names and descriptions than hosts do. One that it would refuse is not lost.
    return Frontmatter.model_construct(name=name, description=description, metadata={})


class RepSkillRegistry(SkillRegistry):
    """The active skills of some paths, or of a project and its user."""

    def __init__(
        self,
        paths: Sequence[str | os.PathLike[str]] | None = None,
        *,
        library: AsyncLibrary | None = None,
        project: str | None = None,
        trust: bool = False,
    ) -> None:
        self.library = library or AsyncLibrary(paths, project=project, trust=trust, for_model=True)

    async def _active(self) -> dict[str, str]:
        return {skill.qualified_name: skill.description for skill in await self.library.skills()}

    async def get_skill(self, *, name: str) -> Skill:
        """Loads an active skill with its files. Raises ``ValueError`` for all others."""
        try:
            shown = await self.library.show(name)
        except NotFound as error:
            raise ValueError(str(error)) from error
        if shown.status != "active":
            raise ValueError(f"skill `{name}` is {shown.status}")
        resources: dict[str, dict[str, Any]] = {"references": {}, "assets": {}, "scripts": {}}
        for file in shown.files[:_FILES_MAX]:
            kind, _, rest = file.path.partition("/")
            if kind not in resources or not rest:
                continue
            data = await self.library.read_bytes(name, file.path)
            try:
                content: str | bytes = data.decode()
            except UnicodeDecodeError:
                content = data
            if kind != "scripts":
                resources[kind][rest] = content
            elif isinstance(content, str):
                resources[kind][rest] = Script(src=content)
        return Skill.model_construct(
            frontmatter=_frontmatter(name, shown.description),
            instructions=await self.library.read(name),
            resources=Resources(**resources),
        )

    async def search_skills(self, *, query: str) -> list[Frontmatter]:
        """Searches as ``rep search`` does. Only active skills are found."""
        active = await self._active()
        hits = await self.library.search(query)
        return [_frontmatter(hit.name, active[hit.name]) for hit in hits if hit.name in active]


class RepCodeExecutor(BaseCodeExecutor):
    """Runs the code that ADK makes of a script in the sandbox: no network, no files, no environment, no other programs.

    ADK hands an executor code and not a script, so the audit log names the skill ``adk-code``.
    """

    _library: Library = PrivateAttr()
    _folder: Path = PrivateAttr()
    _lock: Any = PrivateAttr(default_factory=threading.Lock)

    def model_post_init(self, context: Any) -> None:
        """Makes the directory that holds code while it runs."""
        super().model_post_init(context)
        scratch = tempfile.TemporaryDirectory(prefix="rep-adk-")
        self._folder = Path(scratch.name) / "adk-code"
        self._folder.mkdir()
        text = "---\nname: adk-code\ndescription: Code that an agent runs. Use for nothing else.\n---\n\n# Code\n"
        (self._folder / "SKILL.md").write_text(text)
        self._library = Library([self._folder])
        weakref.finalize(self, scratch.cleanup)

    def execute_code(
        self, invocation_context: Any, code_execution_input: CodeExecutionInput
    ) -> CodeExecutionResult:
        """Runs Python code and returns what it printed."""
        agent = getattr(getattr(invocation_context, "agent", None), "name", None)
        call = getattr(invocation_context, "invocation_id", None)
        caller = Caller(f"google-adk {version('google-adk')}", agent, call)
        script = self._folder / f"{uuid.uuid4().hex}.py"
        script.write_text(code_execution_input.code)
        try:
            result = self._library.run_script(
                "adk-code", script.name, caller=caller, timeout=self.timeout_seconds or None
            )
        except RepError as error:
            return CodeExecutionResult(stderr=f"{error.code}: {error}")
        finally:
            script.unlink()
        denied = "".join(f"denied: {denial.action} {denial.target}\n" for denial in result.denied)
        ended = CodeExecutionResult(stdout=result.stdout, stderr=result.stderr + denied)
        if hasattr(ended, "exit_code"):
            ended.exit_code = result.returncode
        return ended
