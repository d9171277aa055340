"""The child process ``rep api``: one for each library, shared by threads and tasks."""

from __future__ import annotations

import atexit
import itertools
import json
import os
import subprocess
import threading
import weakref
from collections.abc import Callable, Mapping
from concurrent.futures import Future
from typing import IO, Any

from ._binary import find_rep
from .errors import EngineError, RepError, error_from_json

Json = dict[str, Any]
ConfirmFunction = Callable[[Json], str]
Listener = Callable[[Json], None]

# How long a child may take to end after its input was closed.
_END_SECONDS = 2.0

_connections: weakref.WeakSet[_Connection] = weakref.WeakSet()
_engines: weakref.WeakSet[Engine] = weakref.WeakSet()


def _ended(what: str) -> EngineError:
    return EngineError(what, {"code": "ENGINE_ENDED", "remedy": "call again", "exit": 2, "retriable": True})


class _Connection:
    """One child process with its unanswered calls. It holds nothing of the library that uses it."""

    def __init__(self, arguments: list[str]) -> None:
        try:
            self.process = subprocess.Popen(arguments, stdin=subprocess.PIPE, stdout=subprocess.PIPE)
        except OSError as error:
            raise EngineError(f"could not start `{arguments[0]}`: {error}", {"code": "NOT_STARTED"}) from error
        assert self.process.stdin is not None and self.process.stdout is not None
        self.input: IO[bytes] = self.process.stdin
        self.descriptors = (self.process.stdin.fileno(), self.process.stdout.fileno())
        self.lock = threading.Lock()
        self.write_lock = threading.Lock()
        self.pending: dict[int, Future[Any]] = {}
        self.confirm: dict[int, ConfirmFunction] = {}
        self.progress: dict[int, Listener] = {}
        self.listeners: list[tuple[int, Listener]] = []
        self.has_answered = False
        self.is_closed = False
        self.owner = os.getpid()
        _connections.add(self)
        threading.Thread(target=_read_lines, args=(self, self.process.stdout), daemon=True, name="rep-api").start()

    def send(self, message: Json) -> None:
        line = json.dumps(message, separators=(",", ":"), ensure_ascii=False).encode("utf-8", "surrogatepass") + b"\n"
        with self.write_lock:
            self.input.write(line)
            self.input.flush()

    def submit(
        self,
        number: int,
        method: str,
        params: Json,
        confirm: ConfirmFunction | None,
        progress: Listener | None,
    ) -> Future[Any]:
        future: Future[Any] = Future()
        with self.lock:
            if self.is_closed:
                raise _ended("the engine has ended")
            self.pending[number] = future
            if confirm is not None:
                self.confirm[number] = confirm
            if progress is not None:
                self.progress[number] = progress
        try:
            self.send({"jsonrpc": "2.0", "id": number, "method": method, "params": params})
        except (OSError, ValueError):
            # The thread that reads fails every call; this one may have come too late for it.
            self.fail(_ended("the engine ended before the call"))
        return future

    def cancel(self, number: int) -> None:
        try:
            self.send({"jsonrpc": "2.0", "method": "cancel", "params": {"id": number}})
        except (OSError, ValueError):
            pass  # A child that has ended runs nothing.

    def fail(self, error: RepError) -> None:
        with self.lock:
            self.is_closed = True
            waiting = list(self.pending.values())
            self.pending.clear()
            listeners, self.listeners = self.listeners, []
        for _, listener in listeners:
            listener({"ended": True})
        for future in waiting:
            if not future.done():
                future.set_exception(error)

    def receive(self, message: Json) -> None:
        method, number = message.get("method"), message.get("id")
        if method == "confirm":
            threading.Thread(target=self._answer_question, args=(number, message["params"]), daemon=True).start()
        elif method == "progress":
            listener = self.progress.get(message["params"].get("id"))
            if listener is not None:
                listener(message["params"])
        elif method == "library/changed":
            for library, listener in list(self.listeners):
                if library == message["params"].get("library"):
                    listener(message["params"])
        elif isinstance(number, int):
            self._answer_call(number, message)

    def _answer_call(self, number: int, message: Json) -> None:
        with self.lock:
            future = self.pending.pop(number, None)
            self.confirm.pop(number, None)
            self.progress.pop(number, None)
        self.has_answered = True
        if future is None or not future.set_running_or_notify_cancel():
            return
        if "error" in message:
            future.set_exception(error_from_json(message["error"]))
        else:
            future.set_result(message.get("result"))

    def _answer_question(self, question: Any, params: Json) -> None:
        confirm = self.confirm.get(params.get("request", -1))
        answer = "no"
        try:
            answer = confirm(params) if confirm is not None else "no"
        finally:
            try:
                self.send({"jsonrpc": "2.0", "id": question, "result": {"answer": answer}})
            except (OSError, ValueError):
                pass  # A child that has ended asks nothing.

    def close(self) -> None:
        """Ends the child and waits for it. In a process that only inherited it, lets go of it."""
        if self.owner != os.getpid():
            self.abandon()
            return
        self.fail(_ended("the library was closed"))
        try:
            self.input.close()
        except OSError:
            pass  # It has ended already.
        try:
            self.process.wait(_END_SECONDS)
        except subprocess.TimeoutExpired:
            self.process.kill()
            self.process.wait()

    def abandon(self) -> None:
        """Releases the copies of the pipes that a fork made. The child belongs to the parent."""
        self.is_closed = True
        if self.process.returncode is not None:
            return
        # Without a return code, `Popen` would look after a process that is not its own.
        self.process.returncode = 0
        # The numbers stay taken, so that no later file gets one that another object closes.
        nothing = os.open(os.devnull, os.O_RDWR)
        for number in self.descriptors:
            os.dup2(nothing, number, inheritable=False)
        os.close(nothing)


def _read_lines(connection: _Connection, output: IO[bytes]) -> None:
    owner = os.getpid()
    try:
        for line in output:
            try:
                message = json.loads(line)
            except ValueError:
                break
            connection.receive(message)
    except (OSError, ValueError):
        pass  # The stream was closed.
    if os.getpid() != owner:
        return
    # The child is waited for, so that it never becomes a zombie.
    try:
        output.close()
        connection.process.wait(_END_SECONDS)
    except (OSError, subprocess.TimeoutExpired):
        pass
    code = connection.process.returncode
    connection.fail(_ended(f"the engine ended during the call (exit code {code})"))


class Engine:
    """Starts the child when it is needed, and once more after it ended."""

    def __init__(self, arguments: list[str]) -> None:
        self._arguments = arguments
        self._lock = threading.Lock()
        self._numbers = itertools.count(1)
        self._connection: _Connection | None = None
        self._failures = 0
        self._is_closed = False
        _engines.add(self)

    def _connect(self) -> _Connection:
        with self._lock:
            if self._is_closed:
                raise EngineError("the library is closed", {"code": "CLOSED"})
            known = self._connection
            if known is not None and not known.is_closed:
                return known
            if known is not None:
                self._failures = 0 if known.has_answered else self._failures + 1
                if self._failures > 1:
                    raise _ended("the engine ended again and again")
            self._connection = connection = _Connection([find_rep(), "api", *self._arguments])
            weakref.finalize(self, connection.close)
            return connection

    def submit(
        self,
        method: str,
        params: Json,
        confirm: ConfirmFunction | None = None,
        progress: Listener | None = None,
    ) -> tuple[Future[Any], Callable[[], None]]:
        """Sends a request. Returns its answer, and a function that cancels it."""
        connection = self._connect()
        number = next(self._numbers)
        future = connection.submit(number, method, params, confirm, progress)
        return future, lambda: connection.cancel(number)

    def call(
        self,
        method: str,
        params: Json,
        confirm: ConfirmFunction | None = None,
        progress: Listener | None = None,
    ) -> Any:
        """Sends a request and waits for its answer."""
        future, cancel = self.submit(method, params, confirm, progress)
        try:
            return future.result()
        except (KeyboardInterrupt, SystemExit):
            cancel()
            raise

    def listen(self, library: int, listener: Listener) -> Callable[[], None]:
        """Calls a function when a library changes. Returns a function that ends it."""
        connection = self._connect()
        entry = (library, listener)
        connection.listeners.append(entry)

        def stop() -> None:
            if entry in connection.listeners:
                connection.listeners.remove(entry)

        return stop

    def close(self) -> None:
        """Ends the child."""
        with self._lock:
            self._is_closed = True
            connection, self._connection = self._connection, None
        if connection is not None:
            connection.close()

    def forget_after_fork(self) -> None:
        """Lets go of the parent's child. The next call starts another one."""
        self._lock = threading.Lock()
        if self._connection is not None:
            self._connection.abandon()
            self._connection = None


def _close_all() -> None:
    for connection in list(_connections):
        connection.close()


def _after_fork() -> None:
    for engine in list(_engines):
        engine.forget_after_fork()


atexit.register(_close_all)
if hasattr(os, "register_at_fork"):
    os.register_at_fork(after_in_child=_after_fork)


def library_arguments(options: Mapping[str, Any]) -> list[str]:
    """Renders options as arguments of the command line."""
    arguments: list[str] = []
    for name, value in options.items():
        flag = "--path" if name == "paths" else f"--{name.replace('_', '-')}"
        if isinstance(value, bool):
            if value:
                arguments.append(flag)
        elif isinstance(value, (list, tuple)):
            for item in value:  # pyright: ignore[reportUnknownVariableType]
                arguments.append(f"{flag}={os.fspath(item)}")  # pyright: ignore[reportUnknownArgumentType]
        elif value is not None:
            arguments.append(f"{flag}={os.fspath(value)}")
    return arguments
