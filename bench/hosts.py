"""Asks real hosts which skills they list, and compares the result with the predictions of `rep list --host`."""
import argparse
import fnmatch
import html
import http.server
import json
import os
import pathlib
import re
import subprocess
import sys
import tempfile
import threading

import hosts_fixture

ROOT = pathlib.Path(__file__).resolve().parent.parent
# The text before the list of Claude Code.
LISTING = "The following skills are available for use with the Skill tool:"


def run(program, arguments, folder, home, environment, more=None):
    """Runs a host with only `PATH` from the environment of this machine."""
    env = {"PATH": os.environ["PATH"], "HOME": str(home), "TERM": "dumb", **environment, **(more or {})}
    home.mkdir(parents=True, exist_ok=True)
    done = subprocess.run([str(program), *arguments], cwd=folder, env=env, capture_output=True, timeout=180,
                          stdin=subprocess.DEVNULL)
    if done.returncode != 0:
        raise RuntimeError(f"exit {done.returncode}: {done.stderr.decode('utf-8', 'replace')[-300:]}")
    return done.stdout.decode("utf-8", "replace")


def texts(value):
    """Returns all strings of a JSON value."""
    if isinstance(value, str):
        yield value
    elif isinstance(value, dict):
        for item in value.values():
            yield from texts(item)
    elif isinstance(value, list):
        for item in value:
            yield from texts(item)


def codex(program, folder, home, environment):
    shown = run(program, ["debug", "prompt-input", "hello"], folder, home, environment)
    listing = next((text for text in texts(json.loads(shown)) if text.startswith("<skills_instructions>")), "")
    roots = dict(re.findall(r"^- `(r\d+)` = `(.*)`$", listing, re.M))
    rows = []
    for name, about, file in re.findall(r"^- (.*?): (.*) \(file: (.*)\)$", listing.partition("### Available")[2], re.M):
        first, _, rest = file.partition("/")
        path = f"{roots[first]}/{rest}" if first in roots else file
        if "/.system/" not in path:
            rows.append((name, path, about))
    return rows


def gemini(program, folder, home, environment):
    shown = run(program, ["skills", "list", "--all"], folder, home, environment)
    pattern = r"^(.*) \[(?:Enabled|Disabled)\]( \[Built-in\])?\n  Description: ((?:.|\n)*?)\n  Location:    (.*)$"
    return [(name, path, about) for name, own, about, path in re.findall(pattern, shown, re.M) if not own]


def opencode(program, folder, home, environment):
    shown = json.loads(run(program, ["debug", "skill"], folder, home, environment))
    return [(row["name"], row["location"], row.get("description")) for row in shown if row["location"] != "<built-in>"]


def copilot(program, folder, home, environment):
    shown = json.loads(run(program, ["skill", "list", "--json"], folder, home, environment))
    return [(row["name"], row["path"] + "/SKILL.md", row["description"]) for row in shown if row["source"] != "builtin"]


class Model(http.server.BaseHTTPRequestHandler):
    """Replaces the service of the model: records requests and answers with one word."""
    seen = []

    def do_POST(self):
        body = self.rfile.read(int(self.headers.get("content-length", 0)))
        try:
            Model.seen.append(json.loads(body))
        except ValueError:
            pass
        usage = {"input_tokens": 1, "output_tokens": 1}
        message = {"id": "m", "type": "message", "role": "assistant", "model": "m", "content": [], "stop_reason": None,
                   "stop_sequence": None, "usage": usage}
        events = [
            ("message_start", {"message": message}),
            ("content_block_start", {"index": 0, "content_block": {"type": "text", "text": ""}}),
            ("content_block_delta", {"index": 0, "delta": {"type": "text_delta", "text": "ok"}}),
            ("content_block_stop", {"index": 0}),
            ("message_delta", {"delta": {"stop_reason": "end_turn", "stop_sequence": None}, "usage": usage}),
            ("message_stop", {}),
        ]
        self.send_response(200)
        self.send_header("content-type", "text/event-stream")
        self.end_headers()
        for kind, data in events:
            self.wfile.write(f"event: {kind}\ndata: {json.dumps({'type': kind, **data})}\n\n".encode())

    def do_GET(self):
        self.send_response(404)
        self.end_headers()

    do_HEAD = do_GET

    def log_message(self, *_):
        pass


def claude(program, folder, home, environment):
    server = http.server.ThreadingHTTPServer(("127.0.0.1", 0), Model)
    threading.Thread(target=server.serve_forever, daemon=True).start()
    Model.seen.clear()
    more = {"ANTHROPIC_API_KEY": "none", "ANTHROPIC_BASE_URL": f"http://127.0.0.1:{server.server_port}",
            "CLAUDE_CODE_DISABLE_NONESSENTIAL_TRAFFIC": "1", "DISABLE_AUTOUPDATER": "1"}
    try:
        shown = run(program, ["-p", "hi", "--output-format", "stream-json", "--verbose"], folder, home, environment, more)
    finally:
        server.shutdown()
    first = next(json.loads(line) for line in shown.splitlines() if '"subtype":"init"' in line)
    told = next(text for body in Model.seen for text in texts(body) if LISTING in text).partition(LISTING)[2]
    told = told.partition("</system-reminder>")[0]
    rows = re.findall(r"^- (\S+)(?: \([^)\n]*\))?: ((?:.|\n(?!- |\n|$))*)", told, re.M)
    # Skills that only users may invoke are listed without a description.
    told = {name for name, _ in rows}
    rows += [(name, None) for name in first["skills"] if name not in told]
    return [(name, None, about and html.unescape(about)) for name, about in rows]


# Host of the table, package, version, program, listing, and our statuses that its listing includes.
HOSTS = [
    ("claude-code", "@anthropic-ai/claude-code", "2.1.325", "claude", claude, {"active", "hidden"}),
    ("codex", "@openai/codex", "0.166.0", "codex", codex, {"active"}),
    ("copilot", "@github/copilot", "1.0.102", "copilot", copilot, {"active", "hidden"}),
    ("gemini-cli", "@google/gemini-cli", "0.61.0", "gemini", gemini, {"active", "hidden"}),
    ("opencode", "opencode-ai", "1.18.33", "opencode", opencode, {"active", "hidden"}),
]


def install(package, version, folder):
    """Returns the directory of the program, or why it is missing."""
    stamp = folder / "installed"
    if not (stamp.is_file() and stamp.read_text() == version):
        folder.mkdir(parents=True, exist_ok=True)
        command = ["npm", "install", "--prefix", str(folder), "--no-audit", "--no-fund", "--loglevel=error",
                   f"{package}@{version}"]
        done = subprocess.run(command, capture_output=True, text=True, timeout=900)
        if done.returncode != 0:
            raise RuntimeError(f"cannot be installed: {done.stderr.strip()[-200:]}")
        stamp.write_text(version)
    return folder / "node_modules/.bin"


def predicted(rep, host, folder, home, environment, is_trusted):
    env = {"PATH": os.environ["PATH"], "HOME": str(home), **environment}
    done = subprocess.run([rep, "list", "--host", host, "--json", *(["--trust"] if is_trusted else [])], cwd=folder, env=env, capture_output=True)
    if done.returncode != 0:
        raise SystemExit(f"rep list --host {host}: {done.stderr.decode()}")
    return json.loads(done.stdout)


def flat(text):
    return " ".join((text or "").split())


def real(path):
    return os.path.realpath(path) if path else None


def compare(listed, ours, statuses):
    """Returns the names whose copies differ, with both sides, and whether the host's copies are among ours."""
    theirs, mine, every = {}, {}, {}
    for name, path, about in listed:
        theirs.setdefault(name, []).append((real(path), flat(about)))
    has_paths = any(path for _, path, _ in listed)
    for skill in ours:
        path = real(skill["location"]) if has_paths else None
        about = "" if skill["status"] == "hidden" and not has_paths else flat(skill["description"])
        every.setdefault(skill["qualified_name"], []).append((path, about))
        if skill["status"] in statuses:
            mine.setdefault(skill["qualified_name"], []).append((path, about))
    rows = []
    for name in sorted(theirs.keys() | mine.keys()):
        one, two = sorted(theirs.get(name, []), key=str), sorted(mine.get(name, []), key=str)
        if one != two:
            rows.append((name, one, two, bool(one) and all(copy in every.get(name, []) for copy in one)))
    return rows, len(theirs.keys() | mine.keys())


class Expected:
    """Reads the differences of bench/hosts-differs.txt: host, `scenario:name`, always or sometimes, key of the host table."""

    def __init__(self, file):
        lines = [line for line in file.read_text().splitlines() if line and not line.startswith("#")]
        self.lines = [tuple(line.split("\t")) for line in lines]
        self.used = set()

    def explains(self, host, case, is_known_copy, keys):
        for line in self.lines:
            owner, pattern, how, key = line
            if owner == host and fnmatch.fnmatchcase(case, pattern) and (how == "always" or is_known_copy):
                if key not in keys:
                    raise SystemExit(f"{host}: the host table has no difference `{key}`")
                self.used.add(line)
                return key
        return None

    def unused(self, hosts):
        return [line for line in self.lines if line[0] in hosts and line[2] == "always" and line not in self.used]


def shown(copies, base):
    return "; ".join(f"{(path or '').replace(str(base), '')} {about[:60]}" for path, about in copies) or "not listed"


def ask(host, version, program, listing, statuses, rep, scenarios, base, expected, table):
    """Compares one host in every scenario. Returns the number of undocumented differences."""
    bundled = set()
    if host == "claude-code":
        # Its listing has no file names, so its bundled skills are those that it lists in an empty home.
        empty = base / "nothing"
        empty.mkdir()
        hosts_fixture.repository(empty)
        bundled = {name for name, _, _ in listing(program, empty, base / "nobody", {})}
    wrong = 0
    for scenario, home, folder, environment, is_trusted in scenarios:
        told = {**environment, **({"GEMINI_CLI_TRUST_WORKSPACE": "true"} if is_trusted else {})}
        listed = [row for row in listing(program, folder, home, told) if row[0] not in bundled]
        answer = predicted(rep, host, folder, home, environment, is_trusted)
        if not any(version in folder["source"] for folder in answer["host"]["folders"]):
            raise SystemExit(f"{host}: the host table does not say that it was seen in {version}")
        keys = {difference["key"] for difference in answer["host"]["differs"]}
        rows, count = compare(listed, answer["skills"], statuses)
        known = []
        for name, theirs, mine, is_known_copy in rows:
            key = expected.explains(host, f"{scenario}:{name}", is_known_copy, keys)
            if key:
                known.append(f"{name or repr(name)} ({key})")
                continue
            wrong += 1
            print(f"  {host} {scenario}: `{name}`\n    host: {shown(theirs, base)}\n    rep:  {shown(mine, base)}")
        verdict = "agree" if not rows else "differ as documented" if len(known) == len(rows) else "DIFFER"
        table.append((host, scenario, count, verdict, ", ".join(known)))
    return wrong


def main():
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("rep")
    parser.add_argument("--host", action="append", help="only this host")
    parser.add_argument("--keep", help="build the homes and projects here and leave them")
    options = parser.parse_args()
    rep = str(pathlib.Path(options.rep).absolute())
    expected = Expected(ROOT / "bench/hosts-differs.txt")
    table, ran, missing, wrong = [], [], [], 0
    for host, package, version, name, listing, statuses in HOSTS:
        if options.host and host not in options.host:
            continue
        with tempfile.TemporaryDirectory() as scratch:
            base = pathlib.Path(options.keep or scratch).resolve() / host
            scenarios = hosts_fixture.build(base)
            try:
                program = install(package, version, ROOT / "target/peers/hosts" / name) / name
                wrong += ask(host, version, program, listing, statuses, rep, scenarios, base, expected, table)
                ran.append(host)
            except (OSError, RuntimeError, ValueError, StopIteration, subprocess.SubprocessError) as error:
                missing.append(f"{host} {version}: {error}")
    width = max((len(row[3]) for row in table), default=0)
    for host, scenario, count, verdict, known in table:
        print(f"{host:12} {scenario:9} {count:4} names  {verdict:{width}}  {known}")
    for line in missing:
        print(f"NOT COMPARED: {line}")
    unused = expected.unused(ran)
    for line in unused:
        print(f"documented, but not so: {' '.join(line)}")
    print(f"{len(ran)} hosts compared, {len(missing)} not; {wrong} differences undocumented, {len(unused)} documented ones gone")
    return 1 if wrong or unused else 0


if __name__ == "__main__":
    sys.exit(main())
