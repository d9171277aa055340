"""Skills of a machine or of some directories, for programs with an event loop."""

from __future__ import annotations

import asyncio
import inspect
from collections.abc import AsyncIterator, Awaitable, Callable, Mapping, Sequence
from types import TracebackType
from typing import Any, Literal, TypeVar, Union

from . import calls, types
from .calls import Call, Caller, Path, Question, Status, Style
from ._engine import Engine, library_arguments
from .errors import EngineError

T = TypeVar("T")

Decision = Union[bool, Literal["always"]]
AsyncApprove = Union[bool, Callable[[types.Confirmation], Union[Decision, Awaitable[Decision]]]]
"""Agree (``True``), refuse (``False``), or a function or coroutine function that decides about a confirmation."""


class AsyncLibrary:
    """The skills of some paths, or of a project and its user.

    The twin of :class:`repertoire_skills.Library`. A task that is cancelled cancels its call.

    >>> async def names() -> list[str]:
    ...     async with AsyncLibrary(paths=["examples"]) as library:
    ...         return [skill.name for skill in await library.skills(status=None)]
    >>> "slugify" in asyncio.run(names())
    True
    """

    def __init__(
        self,
        paths: Sequence[Path] | None = None,
        *,
        project: Path | None = None,
        home: Path | None = None,
        managed: Path | None = None,
        precedence: Literal["project-first", "claude-code"] | None = None,
        trust: bool = False,
        lenient: bool = False,
        for_model: bool = False,
        caller: Caller | None = None,
    ) -> None:
        """``paths`` are used instead of discovery, and trusted. ``caller`` is named in the audit log of every run."""
        self._caller = caller
        options = {
            "paths": paths,
            "project": project,
            "home": home,
            "managed": managed,
            "precedence": precedence,
            "trust": trust,
            "lenient": lenient,
            "for_model": for_model,
        }
        self._engine = Engine(library_arguments(options))

    async def hello(self) -> types.Hello:
        """Returns the version of the program and its methods."""
        return await self._do(calls.hello())

    async def skills(self, status: Status | None = "active") -> tuple[types.ListedSkill, ...]:
        """Lists the skills with a status, or all of them."""
        return await self._do(calls.skills(status))

    async def show(self, skill: str) -> types.ShownSkill:
        """Returns everything about one skill."""
        return await self._do(calls.show(skill))

    async def prompt(self, *, budget: int | None = None, style: Style = "xml", locations: bool = True) -> types.PromptResult:
        """Renders the catalog for a model's context, within a number of tokens, and says what was left out."""
        return await self._do(calls.prompt(budget, style, locations))

    async def read(self, skill: str, file: str | None = None) -> str:
        """Returns the text of a skill for a model, or one of its files as text."""
        return await self._do(calls.read(skill, file))

    async def read_bytes(self, skill: str, file: str) -> bytes:
        """Returns the bytes of one file of a skill."""
        return await self._do(calls.read_bytes(skill, file))

    async def search(self, text: str, *, limit: int = 10, min_score: float | None = None) -> tuple[types.SearchResultsResults, ...]:
        """Searches the skills, best match first. Returns nothing if no skill fits."""
        return await self._do(calls.search(text, limit, min_score))

    async def select(
        self,
        text: str,
        *,
        files: Sequence[Path] = (),
        intents: Sequence[str] = (),
        skills: Sequence[str] = (),
        fallback: Literal["none", "search"] = "none",
    ) -> tuple[types.SelectedSkillsSelected, ...]:
        """Selects the skills whose triggers match a request."""
        return await self._do(calls.select(text, files, intents, skills, fallback))

    async def query(self, text: str) -> types.QueryResult:
        """Answers a query such as ``slugify:meta.name``. Raises ``Findings`` or ``NotFound`` if nothing matches."""
        return await self._do(calls.query(text))

    async def ask(self, skill: str, question: Question, about: str) -> types.Answer:
        """Answers a common question by queries."""
        return await self._do(calls.ask(skill, question, about))

    async def check(
        self,
        paths: Sequence[Path] | None = None,
        *,
        profiles: Sequence[str] = (),
        select: Sequence[str] = (),
        ignore: Sequence[str] = (),
    ) -> types.CheckReport:
        """Checks skills: those of the paths, or of the library."""
        return await self._do(calls.check(paths, profiles, select, ignore))

    async def scan(self, paths: Sequence[Path] | None = None) -> types.ScanReport:
        """Shows what skills do and what is dangerous about it: those of the paths, or of the library. Nothing runs."""
        return await self._do(calls.scan(paths))

    async def tools(self, skill: str) -> types.EffectiveTools:
        """Returns the tools of a skill."""
        return await self._do(calls.tools(skill))

    async def policy(self, skill: str, tool: str | None = None) -> types.SkillPolicy:
        """Returns what the tools of a skill may do."""
        return await self._do(calls.policy(skill, tool))

    async def audit(self, *, skill: str | None = None, since: str | None = None, limit: int | None = None) -> types.AuditRuns:
        """Lists what ran."""
        return await self._do(calls.audit(skill, since, limit))

    async def reload(self) -> types.LibraryState:
        """Discovers the skills again, without waiting for the watcher."""
        return await self._do(calls.reload())

    async def run(
        self,
        skill: str,
        tool: str,
        input: Mapping[str, Any] | None = None,
        *,
        approve: AsyncApprove = False,
        workspace: Path | None = None,
        timeout: int | None = None,
        caller: Caller | None = None,
    ) -> types.RunAnswer:
        """Runs a tool in the sandbox. Raises ``Refused`` if it may not run, ``RunFailed`` if it fails."""
        asked: bool | str = "ask" if callable(approve) else approve
        call = calls.run(skill, tool, input, asked, workspace, timeout, caller or self._caller)
        return await self._do(call, approve)

    async def run_script(
        self,
        skill: str,
        script: str,
        args: Sequence[str] = (),
        *,
        approve: AsyncApprove = False,
        workspace: Path | None = None,
        timeout: int | None = None,
        caller: Caller | None = None,
    ) -> types.ScriptResult:
        """Runs a bundled script in the sandbox. A script that ends with a failure has a result."""
        asked: bool | str = "ask" if callable(approve) else approve
        call = calls.run_script(skill, script, args, asked, workspace, timeout, caller or self._caller)
        return await self._do(call, approve)

    async def _do(self, call: Call[T], approve: AsyncApprove = False) -> T:
        loop = asyncio.get_running_loop()
        confirm = self._decide(approve, loop) if callable(approve) else None
        # Starting the child takes milliseconds that the loop should not wait for.
        future, cancel = await asyncio.to_thread(self._engine.submit, call.method, call.params, confirm)
        try:
            return call.decode(await asyncio.wrap_future(future))
        except asyncio.CancelledError:
            cancel()
            raise

    @staticmethod
    def _decide(
        approve: Callable[[types.Confirmation], Decision | Awaitable[Decision]], loop: asyncio.AbstractEventLoop
    ) -> Callable[[dict[str, Any]], str]:
        async def decide(params: dict[str, Any]) -> Decision:
            answer = approve(types.Confirmation.from_json(params))
            if inspect.isawaitable(answer):
                return await answer
            return answer

        def confirm(params: dict[str, Any]) -> str:
            answer = asyncio.run_coroutine_threadsafe(decide(params), loop).result()
            return "always" if answer == "always" else "yes" if answer is True else "no"

        return confirm

    async def watch(self) -> AsyncIterator[types.LibraryChanged]:
        """Yields a change whenever skills changed."""
        loop = asyncio.get_running_loop()
        changes: asyncio.Queue[dict[str, Any]] = asyncio.Queue()
        state = await self._do(calls.watch())

        def put(change: dict[str, Any]) -> None:
            if not loop.is_closed():
                loop.call_soon_threadsafe(changes.put_nowait, change)

        stop = self._engine.listen(state.library, put)
        try:
            while True:
                change = await changes.get()
                if change.get("ended"):
                    raise EngineError("the engine ended", {"code": "ENGINE_ENDED"})
                yield types.LibraryChanged.from_json(change)
        finally:
            stop()

    async def close(self) -> None:
        """Ends the child process. Calls that wait fail."""
        await asyncio.to_thread(self._engine.close)

    async def __aenter__(self) -> AsyncLibrary:
        return self

    async def __aexit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        await self.close()
