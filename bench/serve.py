"""Measures `rep serve`, and tests it under load. Needs only the standard library; compares with FastMCP if its Python is given.

    serve.py BINARY measure [--fastmcp PYTHON] [--peer NAME=COMMAND]...
                                                   spawn to first answers, requests per second, memory; 20 and 2,000 skills. In
                                                   a command, {} is replaced by the directory of the skills
    serve.py BINARY load [--clients 64] [--seconds 20] [--runs 1000]
                                                   mixed requests, hot reloads and tool runs: none may be lost
"""

import argparse
import http.client
import json
import os
import re
import statistics
import subprocess
import sys
import tempfile
import threading
import time
from pathlib import Path

META = {
    "io.modelcontextprotocol/protocolVersion": "2026-07-28",
    "io.modelcontextprotocol/clientInfo": {"name": "bench", "version": "1"},
    "io.modelcontextprotocol/clientCapabilities": {},
}
FASTMCP = """
import sys
from pathlib import Path
from fastmcp import FastMCP
from fastmcp.server.providers.skills import SkillsDirectoryProvider
from fastmcp.skills.extension import SkillsExtension
provider = SkillsDirectoryProvider(roots=Path(sys.argv[1]), experimental_skills=True, supporting_files="resources")
server = FastMCP("bench", providers=[provider])
server.add_extension(SkillsExtension(providers=[provider]))
server.run(transport="stdio", show_banner=False)
"""


def library(folder, count):
    for number in range(count):
        skill = folder / f"skill-{number:04}"
        (skill / "references").mkdir(parents=True)
        text = f"---\nname: skill-{number:04}\ndescription: Does task {number}. Use when task {number} is wanted.\n---\n\n# Task {number}\n\n"
        (skill / "SKILL.md").write_text(text + "".join(f"{step}. Do step {step} of task {number}.\n" for step in range(1, 60)))
        (skill / "references" / "notes.md").write_text(f"Notes on {number}.\n" * 40)


def tool(folder):
    skill = folder / "echo"
    (skill / "scripts").mkdir(parents=True)
    (skill / "SKILL.md").write_text(
        '---\nname: echo\ndescription: Echoes. Use when testing.\nspec_version: "2.1"\nversion: 1.0.0\n'
        "safety: {require_confirmation_for: [destructive_writes], redact: {secrets: true, pii: true}}\n"
        "tools:\n  - name: echo\n    description: Echoes.\n    input_schema: {type: object}\n"
        "    implementation: {runtime: bash, entrypoint: scripts/echo.sh}\n---\n\n# Echo\n"
    )
    (skill / "scripts" / "echo.sh").write_text("IFS= read -r line; printf '%s' \"$line\"\n")


def memory(pid):
    """Returns the resident memory of a process and its children, in MB."""
    total = 0
    todo = [pid]
    while todo:
        one = todo.pop()
        try:
            status = Path(f"/proc/{one}/status").read_text()
            total += int(re.search(r"VmRSS:\s+(\d+)", status).group(1))
            todo += [int(child) for child in Path(f"/proc/{one}/task/{one}/children").read_text().split()]
        except (OSError, AttributeError):
            pass
    return total / 1024


class Stdio:
    def __init__(self, command, has_meta=True):
        self.meta = {"_meta": META} if has_meta else {}
        self.started = time.perf_counter()
        self.child = subprocess.Popen(command, stdin=subprocess.PIPE, stdout=subprocess.PIPE, stderr=subprocess.DEVNULL)
        self.number = 0

    def ask(self, method, params):
        self.number += 1
        request = {"jsonrpc": "2.0", "id": self.number, "method": method, "params": {**params, **self.meta}}
        self.child.stdin.write(json.dumps(request).encode() + b"\n")
        self.child.stdin.flush()
        while True:
            line = self.child.stdout.readline()
            if not line:
                raise EOFError(method)
            # Some servers write other text to stdout.
            if not line.startswith(b"{"):
                continue
            answer = json.loads(line)
            if answer.get("id") == self.number:
                return answer

    def tell(self, method):
        self.child.stdin.write(json.dumps({"jsonrpc": "2.0", "method": method}).encode() + b"\n")
        self.child.stdin.flush()

    def all(self, method, field):
        items, cursor = [], None
        while True:
            answer = self.ask(method, {"cursor": cursor} if cursor else {})["result"]
            items += answer[field]
            cursor = answer.get("nextCursor")
            if not cursor:
                return items

    def end(self):
        self.child.stdin.close()
        try:
            self.child.wait(timeout=10)
        except subprocess.TimeoutExpired:
            self.child.kill()
            self.child.wait()


def measured(name, command, count):
    firsts, lists = [], []
    for _ in range(3):
        client = Stdio(command)
        client.ask("server/discover", {})
        firsts.append(time.perf_counter() - client.started)
        skills = client.all("skills/list", "skills")
        lists.append(time.perf_counter() - client.started)
        assert len(skills) == count, (name, len(skills))
        resources = client.all("resources/list", "resources")
        used = memory(client.child.pid)
        begun = time.perf_counter()
        times = 300
        for number in range(times):
            client.ask("resources/read", {"uri": f"skill://skill-{number % count:04}/SKILL.md"})
        rate = times / (time.perf_counter() - begun)
        client.end()
    print(
        f"{name:10} {count:5} skills  first answer {min(firsts) * 1000:7.0f} ms  all of skills/list {min(lists) * 1000:7.0f} ms"
        f"  {len(resources):5} resources  {used:6.1f} MB  {rate:6.0f} reads/s one after the other"
    )


def listed(name, command, count, rounds=3):
    """Measures what every server of skills supports: the old handshake and its lists."""
    best = None
    for _ in range(rounds):
        client = Stdio(command, has_meta=False)
        try:
            client.ask("initialize", {"protocolVersion": "2025-06-18", "capabilities": {}, "clientInfo": {"name": "bench", "version": "1"}})
            first = time.perf_counter() - client.started
            client.tell("notifications/initialized")
            sizes = {}
            for method, field in (("tools/list", "tools"), ("resources/list", "resources"), ("prompts/list", "prompts")):
                try:
                    sizes[field] = len(client.all(method, field))
                except KeyError:
                    sizes[field] = 0
            total = time.perf_counter() - client.started
            used = memory(client.child.pid)
        except EOFError:
            print(f"{name:18} {count:5} skills  does not serve them")
            return None
        finally:
            client.end()
        best = min(best or (first, total, used), (first, total, used))
    first, total, used = best
    told = ", ".join(f"{number} {field}" for field, number in sizes.items())
    print(f"{name:18} {count:5} skills  initialize {first * 1000:7.0f} ms  all lists {total * 1000:7.0f} ms  {used:6.1f} MB  ({told})")
    return best


def compared(binary, peers, folder, count):
    ours = listed("rep", [binary, "serve", "--path", str(folder / "skills")], count)
    for peer in peers:
        name, command = peer.split("=", 1)
        words = [word.replace("{}", str(folder / "skills")) for word in command.split()]
        theirs = listed(name, words, count)
        if theirs:
            first, total, used = (theirs[at] / ours[at] for at in range(3))
            print(f"{'':18}               rep: {first:.1f}x faster to initialize, {total:.1f}x to list, {used:.1f}x less memory")


def measure(binary, fastmcp, peers):
    for count in (20, 2000):
        with tempfile.TemporaryDirectory() as folder:
            folder = Path(folder)
            library(folder / "skills", count)
            os.environ["HOME"] = str(folder / "home")
            (folder / "home").mkdir()
            measured("rep", [binary, "serve", "--path", str(folder / "skills")], count)
            if fastmcp:
                (folder / "server.py").write_text(FASTMCP)
                measured("FastMCP", [fastmcp, str(folder / "server.py"), str(folder / "skills")], count)
            compared(binary, peers, folder, count)


class Http:
    """A client with its own connection."""

    def __init__(self, port):
        self.connection = http.client.HTTPConnection("127.0.0.1", port, timeout=120)
        self.number = 0

    def ask(self, method, params):
        self.number += 1
        body = json.dumps({"jsonrpc": "2.0", "id": self.number, "method": method, "params": {**params, "_meta": META}})
        headers = {
            "Content-Type": "application/json",
            "Accept": "application/json, text/event-stream",
            "MCP-Protocol-Version": "2026-07-28",
            "Mcp-Method": method,
        }
        name = params.get("name") or params.get("uri")
        if name:
            headers["Mcp-Name"] = name
        self.connection.request("POST", "/mcp", body, headers)
        answer = self.connection.getresponse()
        text = answer.read().decode()
        data = [line[5:].strip() for line in text.splitlines() if line.startswith("data:")]
        message = json.loads(([one for one in data if one.startswith("{")] or [text])[-1])
        if message.get("id") != self.number:
            raise ValueError(f"{method}: {answer.status} {text[:200]}")
        return message


def load(binary, clients, seconds, runs):
    with tempfile.TemporaryDirectory() as folder:
        folder = Path(folder)
        library(folder / "skills", 200)
        tool(folder / "skills")
        os.environ["HOME"] = str(folder / "home")
        (folder / "home").mkdir()
        command = [binary, "serve", "--http", "127.0.0.1:0", "--path", str(folder / "skills"), "--allow-run=echo", "--no-token", "--workspace", str(folder)]
        server = subprocess.Popen(command, stderr=subprocess.PIPE, text=True)
        port = int(re.search(r":(\d+)/mcp", server.stderr.readline()).group(1))
        threading.Thread(target=lambda: [None for _ in server.stderr], daemon=True).start()
        lock, counts, wrong, times = threading.Lock(), {}, [], []
        until = time.monotonic() + seconds
        left = [runs]

        def one(number):
            client = Http(port)
            mix = [
                ("skills/list", {}),
                ("resources/read", {"uri": f"skill://skill-{number:04}/SKILL.md"}),
                ("tools/call", {"name": "search_skills", "arguments": {"text": f"task {number}"}}),
                ("tools/call", {"name": "load_skill", "arguments": {"name": f"skill-{number:04}"}}),
                ("tools/list", {}),
                ("prompts/get", {"name": f"skill-{number:04}"}),
            ]
            turn = 0
            while True:
                with lock:
                    is_run = left[0] > 0 and turn % 2 == 0
                    left[0] -= is_run
                    if not is_run and time.monotonic() > until and left[0] <= 0:
                        return
                method, params = mix[turn % len(mix)]
                if is_run:
                    method, params = "tools/call", {"name": "echo__echo", "arguments": {"n": number, "turn": turn}}
                turn += 1
                begun = time.perf_counter()
                try:
                    answer = client.ask(method, params)
                    good = "result" in answer and not answer["result"].get("isError")
                    if is_run:
                        good = good and answer["result"].get("structuredContent") == params["arguments"]
                    # The server correctly refuses a page of a list that has changed.
                    why = None if good else json.dumps(answer)[:300]
                except Exception as error:
                    why = f"{method}: {error!r}"
                    client = Http(port)
                with lock:
                    counts["runs" if is_run else method] = counts.get("runs" if is_run else method, 0) + 1
                    times.append(time.perf_counter() - begun)
                    if why:
                        wrong.append(why)

        memories = []
        threads = [threading.Thread(target=one, args=(number,)) for number in range(clients)]
        for thread in threads:
            thread.start()
        reloads = 0
        while any(thread.is_alive() for thread in threads):
            notes = folder / "skills" / f"skill-{199 - reloads % 100:04}" / "references" / "notes.md"
            notes.write_text(f"Changed {reloads}.\n")
            reloads += 1
            time.sleep(0.5)
            memories.append(memory(server.pid))
        for thread in threads:
            thread.join()
        children = Path(f"/proc/{server.pid}/task/{server.pid}/children").read_text().split()
        server.terminate()
        code = server.wait(timeout=30)
        total = sum(counts.values())
        print(f"{total} requests of {clients} clients, {reloads} changes on disk: {counts}")
        print(f"median {statistics.median(times) * 1000:.1f} ms, worst {max(times) * 1000:.0f} ms")
        third = max(1, len(memories) // 3)
        print(f"memory: first third {max(memories[:third]):.0f} MB, last third {max(memories[-third:]):.0f} MB at most")
        print("memory over time:", " ".join(f"{one:.0f}" for one in memories[:: max(1, len(memories) // 20)]), "MB")
        print(f"processes left: {len(children)}; exit code {code}; wrong answers: {len(wrong)}")
        for why in wrong[:5]:
            print("  ", why)
        return 1 if wrong or children or code else 0


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("binary")
    parser.add_argument("what", choices=["measure", "load"])
    parser.add_argument("--fastmcp")
    parser.add_argument("--peer", action="append", default=[])
    parser.add_argument("--clients", type=int, default=64)
    parser.add_argument("--seconds", type=float, default=20)
    parser.add_argument("--runs", type=int, default=1000)
    given = parser.parse_args()
    binary = str(Path(given.binary).resolve())
    if given.what == "measure":
        measure(binary, given.fastmcp, given.peer)
        return 0
    return load(binary, given.clients, given.seconds, given.runs)


sys.exit(main())
