"""Skills of a machine or of some directories, for programs that wait for answers."""

from __future__ import annotations

import queue
from collections.abc import Callable, Iterator, Mapping, Sequence
from types import TracebackType
from typing import Any, Literal, TypeVar, Union

from . import calls, types
from .calls import Call, Caller, Path, Question, Status, Style
from ._engine import Engine, library_arguments
from .errors import EngineError

T = TypeVar("T")

Approve = Union[bool, Callable[[types.Confirmation], Union[bool, Literal["always"]]]]
"""Agree (``True``), refuse (``False``), or a function that decides about a confirmation."""


def _decide(approve: Callable[[types.Confirmation], bool | Literal["always"]]) -> Callable[[dict[str, Any]], str]:
    def confirm(params: dict[str, Any]) -> str:
        answer = approve(types.Confirmation.from_json(params))
        return "always" if answer == "always" else "yes" if answer is True else "no"

    return confirm


class Library:
    """The skills of some paths, or of a project and its user.

    One child process answers for all threads. It starts with the first call, and ends with ``close``, a ``with`` block,
    garbage collection or the interpreter. A fork gets a child of its own.

    >>> with Library(paths=["examples"]) as library:
    ...     "slugify" in [skill.name for skill in library.skills(status=None)]
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

    def hello(self) -> types.Hello:
        """Returns the version of the program and its methods."""
        return self._do(calls.hello())

    def skills(self, status: Status | None = "active") -> tuple[types.ListedSkill, ...]:
        """Lists the skills with a status, or all of them."""
        return self._do(calls.skills(status))

    def show(self, skill: str) -> types.ShownSkill:
        """Returns everything about one skill."""
        return self._do(calls.show(skill))

    def prompt(self, *, budget: int | None = None, style: Style = "xml", locations: bool = True) -> types.PromptResult:
        """Renders the catalog for a model's context, within a number of tokens, and says what was left out."""
        return self._do(calls.prompt(budget, style, locations))

    def read(self, skill: str, file: str | None = None) -> str:
        """Returns the text of a skill for a model, or one of its files as text."""
        return self._do(calls.read(skill, file))

    def read_bytes(self, skill: str, file: str) -> bytes:
        """Returns the bytes of one file of a skill."""
        return self._do(calls.read_bytes(skill, file))

    def search(self, text: str, *, limit: int = 10, min_score: float | None = None) -> tuple[types.SearchResultsResults, ...]:
        """Searches the skills, best match first. Returns nothing if no skill fits."""
        return self._do(calls.search(text, limit, min_score))

    def select(
        self,
        text: str,
        *,
        files: Sequence[Path] = (),
        intents: Sequence[str] = (),
        skills: Sequence[str] = (),
        fallback: Literal["none", "search"] = "none",
    ) -> tuple[types.SelectedSkillsSelected, ...]:
        """Selects the skills whose triggers match a request."""
        return self._do(calls.select(text, files, intents, skills, fallback))

    def query(self, text: str) -> types.QueryResult:
        """Answers a query such as ``slugify:meta.name``. Raises ``Findings`` or ``NotFound`` if nothing matches."""
        return self._do(calls.query(text))

    def ask(self, skill: str, question: Question, about: str) -> types.Answer:
        """Answers a common question by queries."""
        return self._do(calls.ask(skill, question, about))

    def check(
        self,
        paths: Sequence[Path] | None = None,
        *,
        profiles: Sequence[str] = (),
        select: Sequence[str] = (),
        ignore: Sequence[str] = (),
    ) -> types.CheckReport:
        """Checks skills: those of the paths, or of the library."""
        return self._do(calls.check(paths, profiles, select, ignore))

    def scan(self, paths: Sequence[Path] | None = None) -> types.ScanReport:
        """Shows what skills do and what is dangerous about it: those of the paths, or of the library. Nothing runs."""
        return self._do(calls.scan(paths))

    def tools(self, skill: str) -> types.EffectiveTools:
        """Returns the tools of a skill."""
        return self._do(calls.tools(skill))

    def policy(self, skill: str, tool: str | None = None) -> types.SkillPolicy:
        """Returns what the tools of a skill may do."""
        return self._do(calls.policy(skill, tool))

    def audit(self, *, skill: str | None = None, since: str | None = None, limit: int | None = None) -> types.AuditRuns:
        """Lists what ran."""
        return self._do(calls.audit(skill, since, limit))

    def reload(self) -> types.LibraryState:
        """Discovers the skills again, without waiting for the watcher."""
        return self._do(calls.reload())

    def run(
        self,
        skill: str,
        tool: str,
        input: Mapping[str, Any] | None = None,
        *,
        approve: Approve = False,
        workspace: Path | None = None,
        timeout: int | None = None,
        caller: Caller | None = None,
    ) -> types.RunAnswer:
        """Runs a tool in the sandbox. Raises ``Refused`` if it may not run, ``RunFailed`` if it fails."""
        asked: bool | str = "ask" if callable(approve) else approve
        call = calls.run(skill, tool, input, asked, workspace, timeout, caller or self._caller)
        return self._do(call, approve)

    def run_script(
        self,
        skill: str,
        script: str,
        args: Sequence[str] = (),
        *,
        approve: Approve = False,
        workspace: Path | None = None,
        timeout: int | None = None,
        caller: Caller | None = None,
    ) -> types.ScriptResult:
        """Runs a bundled script in the sandbox. A script that ends with a failure has a result."""
        asked: bool | str = "ask" if callable(approve) else approve
        call = calls.run_script(skill, script, args, asked, workspace, timeout, caller or self._caller)
        return self._do(call, approve)

    def _do(self, call: Call[T], approve: Approve = False) -> T:
        confirm = _decide(approve) if callable(approve) else None
        return call.decode(self._engine.call(call.method, call.params, confirm))

    def watch(self, timeout: float | None = None) -> Iterator[types.LibraryChanged]:
        """Yields a change whenever skills changed. Ends if nothing changes for ``timeout`` seconds.

        Files are watched when this returns.
        """
        changes: queue.Queue[dict[str, Any]] = queue.Queue()
        state = self._do(calls.watch())
        stop = self._engine.listen(state.library, changes.put)

        def iterate() -> Iterator[types.LibraryChanged]:
            try:
                while True:
                    try:
                        change = changes.get(timeout=timeout)
                    except queue.Empty:
                        return
                    if change.get("ended"):
                        raise EngineError("the engine ended", {"code": "ENGINE_ENDED"})
                    yield types.LibraryChanged.from_json(change)
            finally:
                stop()

        return iterate()

    def close(self) -> None:
        """Ends the child process. Calls that wait fail."""
        self._engine.close()

    def __enter__(self) -> Library:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self.close()
