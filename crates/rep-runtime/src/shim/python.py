"""Calls a function in a skill's file: reads the arguments from stdin as JSON, writes the result to the original stdout.

Usage: python.py ENTRYPOINT HANDLER. Output of the tool itself goes to stderr.
"""

import os
import sys

RESULT = os.dup(1)
os.dup2(2, 1)

# What only some tools need is imported on first use: `json`, `inspect`, `pathlib`, `signal` and `traceback` take longer
# to import than most tools take to run. The modules with an underscore are part of CPython, and are what the others
# are made of.
try:
    import _signal as signal
    from _frozen_importlib import module_from_spec
    from _frozen_importlib_external import spec_from_file_location
except ImportError:
    import signal
    from importlib.util import module_from_spec, spec_from_file_location

MESSAGE_MAX = 4000


class ToolError(Exception):
    """An error with a custom code, as created by `ctx.error(...)`."""

    def __init__(self, message, code="TOOL_FAILED", retriable=False, details=None):
        super().__init__(message)
        self.code, self.retriable, self.details = code, retriable, details


class Paths:
    @property
    def skill(self):
        return as_path(os.environ["REP_SKILL"])

    @property
    def workspace(self):
        return as_path(os.environ["REP_WORKSPACE"])

    @property
    def tmp(self):
        return as_path(os.environ.get("TMPDIR", "/tmp"))


def as_path(text):
    import pathlib

    return pathlib.Path(text)


class Log:
    def _write(self, level, message, fields):
        import json

        line = {"level": level, "message": str(message), **fields}
        print(json.dumps(line, ensure_ascii=False, default=str), file=sys.stderr, flush=True)

    def debug(self, message, **fields):
        self._write("debug", message, fields)

    def info(self, message, **fields):
        self._write("info", message, fields)

    def warning(self, message, **fields):
        self._write("warning", message, fields)

    warn = warning

    def error(self, message, **fields):
        self._write("error", message, fields)


class Context:
    """The second argument of a handler."""

    def __init__(self):
        self.paths, self.log, self.tool = Paths(), Log(), os.environ.get("REP_TOOL", "")
        self.logger = self.log
        self._unread = b""

    def error(self, message, code="TOOL_FAILED", retriable=False, details=None):
        return ToolError(message, code, retriable, details)

    def call_tool(self, tool, args=None):
        """Calls another tool of the library through the host and returns its result."""
        if "REP_CHANNEL" not in os.environ:
            raise ToolError("this host does not support calling other tools", "UNAVAILABLE")
        import json

        channel = int(os.environ["REP_CHANNEL"])
        request = json.dumps({"tool": tool, "args": {} if args is None else args}, allow_nan=False) + "\n"
        write(channel, request.encode())
        while b"\n" not in self._unread:
            block = os.read(channel, 65536)
            if not block:
                raise ToolError("the host closed the channel", "UNAVAILABLE")
            self._unread += block
        line, self._unread = self._unread.split(b"\n", 1)
        answer = json.loads(line)
        if "error" in answer:
            error = answer["error"]
            raise ToolError(error["message"], error["code"], error.get("retriable", False), error)
        return answer["result"]


def write(descriptor, data):
    while data:
        data = data[os.write(descriptor, data) :]


def envelope(code, message, **more):
    message = str(message)[:MESSAGE_MAX]
    error = {"code": code, "message": message, "retriable": False}
    error.update({key: value for key, value in more.items() if value is not None})
    return {"status": "error", "error": error}


def described(problem, skill):
    """Returns the envelope of an exception: its details, and where in the skill it was raised."""
    import errno
    import traceback

    code = getattr(problem, "code", None)
    known = isinstance(code, str) and code.replace("_", "").isalnum() and code.upper() == code and not code[0].isdigit()
    number = getattr(problem, "errno", None)
    at = None
    if isinstance(problem, SyntaxError) and problem.filename:
        at = f"{problem.filename}:{problem.lineno}"
    for frame in traceback.extract_tb(problem.__traceback__):
        if frame.filename.startswith(skill + os.sep):
            at = f"{os.path.relpath(frame.filename, skill)}:{frame.lineno}"
    more = {
        "type": type(problem).__name__ if not isinstance(problem, ToolError) else None,
        "at": at,
        "errno": errno.errorcode.get(number) if isinstance(number, int) else None,
        "details": plain(getattr(problem, "details", None)),
    }
    retriable = getattr(problem, "retriable", None)
    if isinstance(retriable, bool):
        more["retriable"] = retriable
    text = str(problem) or type(problem).__name__
    other = "RESOURCE_EXHAUSTED" if isinstance(problem, MemoryError) else "TOOL_FAILED"
    return envelope(code if known else other, text, **more)


def plain(value):
    """Returns the value if JSON can represent it."""
    import json

    try:
        return json.loads(json.dumps(value, allow_nan=False))
    except (TypeError, ValueError, RecursionError):
        return None


def load(entrypoint, skill):
    sys.argv = [entrypoint]
    sys.path[:0] = [os.path.dirname(entrypoint), skill]
    spec = spec_from_file_location("rep_tool", entrypoint)
    module = module_from_spec(spec)
    sys.modules["rep_tool"] = module
    spec.loader.exec_module(module)
    return module


def find(module, handler):
    found = module
    for part in handler.split("."):
        found = getattr(found, part, None)
    if callable(found):
        return found
    function = type(find)
    names = sorted(
        name for name, value in vars(module).items() if isinstance(value, function) and value.__module__ == "rep_tool"
    )
    there = ", ".join(names) or "none"
    raise ToolError(f"the entrypoint has no function `{handler}`; its functions: {there}", "HANDLER_NOT_FOUND")


def call(function, args, ctx):
    result = function(*choose_arguments(function, args, ctx))
    if hasattr(type(result), "__await__") or is_generator_coroutine(result):
        import asyncio

        async def wait():
            return await result

        result = asyncio.run(wait())
    return result


def choose_arguments(function, args, ctx):
    """Returns as many of the two arguments as the function takes."""
    both = (args, ctx)
    if is_plain_with_two_parameters(function):
        return both
    import inspect

    try:
        signature = inspect.signature(function)
    except (TypeError, ValueError):
        return both
    return next((given for given in (both, (args,), ()) if takes(signature, given)), both)


def is_plain_with_two_parameters(function):
    """Returns whether this is `def handler(args, ctx)`, for which no signature needs to be computed."""
    code = getattr(function, "__code__", None)
    is_plain = type(function) is type(takes) and not hasattr(function, "__wrapped__")
    return is_plain and not hasattr(function, "__signature__") and code.co_argcount == 2 and not code.co_kwonlyargcount


def takes(signature, given):
    try:
        signature.bind(*given)
        return True
    except TypeError:
        return False


def is_generator_coroutine(value):
    """Returns whether this is a generator made with `types.coroutine`, which can be awaited as well."""
    code = getattr(value, "gi_code", None)
    return code is not None and bool(code.co_flags & 0x100)


class Decoding:
    """The settings of `json.loads`."""

    strict, object_hook, object_pairs_hook = True, None, None
    parse_float, parse_int, parse_constant = float, int, float


def decoded(data):
    """Parses the arguments. Whatever the fast way cannot do, `json` does."""
    try:
        from _json import make_scanner

        text = data.decode()
        value, end = make_scanner(Decoding)(text, 0)
        if not text[end:].strip(" \t\r\n"):
            return value
    except Exception:
        pass
    import json

    return json.loads(data)


def quickly_encoded(result):
    """Writes a result as `json.dumps` does, without importing it. Raises some exception where that is not possible."""
    from _json import encode_basestring, make_encoder

    def refuse(value):
        raise TypeError(type(value))

    encode = make_encoder({}, refuse, encode_basestring, None, ": ", ", ", False, False, False)
    return "".join(encode(result, 0)).encode("utf-8")


def encoded(result):
    try:
        return quickly_encoded(result), 0
    except Exception:
        import json
    try:
        return json.dumps(result, ensure_ascii=False, allow_nan=False).encode("utf-8"), 0
    except (TypeError, ValueError, RecursionError) as problem:
        failure = envelope("INVALID_RESULT", f"the result cannot be written as JSON: {problem}")
        return json.dumps(failure).encode(), 1


def main(entrypoint, handler):
    # On SIGTERM, `finally` blocks still run.
    signal.signal(signal.SIGTERM, lambda *_: sys.exit(143))
    if hasattr(sys.stdout, "reconfigure"):
        sys.stdout.reconfigure(line_buffering=True, errors="backslashreplace")
    args = decoded(sys.stdin.buffer.read())
    nothing = os.open(os.devnull, os.O_RDONLY)
    os.dup2(nothing, 0)
    os.close(nothing)
    skill = os.environ["REP_SKILL"]
    try:
        result = call(find(load(entrypoint, skill), handler), args, Context())
    except Exception as problem:
        import json

        if not isinstance(problem, ToolError):
            import traceback

            traceback.print_exc()
        failure = json.dumps(described(problem, skill), ensure_ascii=True).encode()
        write(RESULT, failure + b"\n")
        sys.exit(1)
    data, code = encoded(result)
    write(RESULT, data + b"\n")
    sys.exit(code)


main(sys.argv[1], sys.argv[2])
