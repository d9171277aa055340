"""Middleware for LangChain agents (``langchain`` 1.0 and later), also those of deepagents.

>>> from langchain.agents import create_agent
>>> from repertoire_skills.adapters.langchain import RepSkillsMiddleware
>>> skills = RepSkillsMiddleware(["examples"], agent="research")
"""

from __future__ import annotations

import os
from collections.abc import Awaitable, Callable, Sequence
from importlib.metadata import version
from typing import Annotated, Any, cast

from langchain.agents.middleware import AgentMiddleware
from langchain.agents.middleware.types import ModelRequest, ModelResponse
from langchain_core.tools import BaseTool, InjectedToolCallId, tool

from ..calls import Caller
from ..errors import RepError
from ..library import Approve, Library

_INTRODUCTION = (
    "You have skills: instructions for special tasks. If a task matches a description, call `load_skill` with the name "
    "before you start, and follow what it says."
)


def _explain(error: RepError) -> str:
    return f"error {error.code}: {error}"


class RepSkillsMiddleware(AgentMiddleware):
    """Puts the catalog of skills into the system prompt, and gives the model tools to use them.

    ``budget`` limits the tokens of the catalog. ``approve`` answers runs that need confirmation; without it they are refused.
    What the catalog leaves out is in :attr:`left_out` after each model call.
    """

    def __init__(
        self,
        paths: Sequence[str | os.PathLike[str]] | None = None,
        *,
        library: Library | None = None,
        project: str | None = None,
        trust: bool = False,
        budget: int | None = None,
        agent: str | None = None,
        approve: Approve = False,
    ) -> None:
        super().__init__()
        self.library = library or Library(paths, project=project, trust=trust, for_model=True)
        self.budget = budget
        self.agent = agent
        self.approve: Approve = approve
        self.left_out: tuple[str, ...] = ()
        self.tools = self._build_tools()

    def render_catalog(self) -> str:
        """Returns what the model sees: the catalog of ``rep prompt``, without file locations."""
        shown = self.library.prompt(budget=self.budget, locations=False)
        self.left_out = shown.dropped
        return f"{_INTRODUCTION}\n\n{shown.text}" if shown.text else ""

    def _with_catalog(self, request: ModelRequest) -> ModelRequest:
        catalog = self.render_catalog()
        if not catalog:
            return request
        prompt = f"{request.system_prompt}\n\n{catalog}" if request.system_prompt else catalog
        # Versions of the framework declare this in different ways.
        untyped = cast("Any", request)
        if hasattr(request, "override"):
            return cast("ModelRequest", untyped.override(system_prompt=prompt))
        untyped.system_prompt = prompt
        return request

    def wrap_model_call(
        self, request: ModelRequest, handler: Callable[[ModelRequest], ModelResponse]
    ) -> ModelResponse:
        """Adds the catalog to the system prompt."""
        return handler(self._with_catalog(request))

    async def awrap_model_call(
        self, request: ModelRequest, handler: Callable[[ModelRequest], Awaitable[ModelResponse]]
    ) -> ModelResponse:
        """Adds the catalog to the system prompt."""
        import asyncio

        return await handler(await asyncio.to_thread(self._with_catalog, request))

    def _build_tools(self) -> list[BaseTool]:
        library = self.library

        @tool
        def load_skill(name: str) -> str:
            """Load the complete instructions of a skill."""
            try:
                return library.read(name)
            except RepError as error:
                return _explain(error)

        @tool
        def read_skill_file(skill: str, path: str) -> str:
            """Read one file of a skill."""
            try:
                return library.read(skill, path)
            except RepError as error:
                return _explain(error)

        @tool
        def search_skills(text: str) -> str:
            """Search the skills by their text, also those that the catalog leaves out."""
            active = {skill.qualified_name for skill in library.skills()}
            hits = [hit for hit in library.search(text) if hit.name in active]
            return "\n".join(f"{hit.name}: {hit.description}" for hit in hits) or "no skill fits"

        @tool
        def query_skill(query: str) -> str:
            """Get one value of a skill, such as `pdf:constraints.never`, instead of its complete instructions."""
            import json

            try:
                return json.dumps(library.query(query).value, ensure_ascii=False)
            except RepError as error:
                return _explain(error)

        @tool
        def run_skill_script(
            skill: str, script: str, arguments: list[str], tool_call_id: Annotated[str, InjectedToolCallId]
        ) -> str:
            """Run a script that a skill bundles, in a sandbox. Each of `arguments` is one word; no shell is involved."""
            caller = Caller(f"langchain {version('langchain')}", agent=self.agent, call=tool_call_id)
            try:
                result = library.run_script(skill, script, arguments, approve=self.approve, caller=caller)
            except RepError as error:
                return _explain(error)
            denied = "".join(f"\ndenied: {denial.action} {denial.target}" for denial in result.denied)
            said = f"\nstderr:\n{result.stderr}" if result.stderr else ""
            return f"exit code {result.returncode}\n{result.stdout}{said}{denied}"

        tools: list[BaseTool] = [load_skill, read_skill_file, search_skills, query_skill, run_skill_script]
        return tools


__all__: list[Any] = ["RepSkillsMiddleware"]
