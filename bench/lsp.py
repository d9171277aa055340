#!/usr/bin/env python3
"""Measures `rep lsp` in a library of 2,000 generated skills, beside skill-language-server (npm) in the same run.

    bench/lsp.py [--rep BINARY] [--peer NAME=COMMAND]… [--skills N] [--rounds N]

Measured are the wall-clock times of `initialize`, of the first diagnostics after `didOpen`, and of the diagnostics after
each change, the report about the whole workspace, and the largest resident set. The rounds of all servers alternate. A
server that cannot be installed is reported as NOT COMPARED. The exit status is 1 if a budget of `rep lsp` is missed.
"""
import argparse
import json
import os
import pathlib
import queue
import shlex
import shutil
import subprocess
import sys
import threading
import time

import run
from run import PEERS, WORK, binary

PEER = "skill-language-server"
PEER_VERSION = "0.8.0"
WAIT_SECONDS = 60
CHANGES = 100
BUDGETS = {
    "initialize_ms": 20,
    "first_diagnostics_ms": 50,
    "change_p50_ms": 5,
    "change_p99_ms": 25,
    "workspace_ms": 400,
    "resident_mb": 40,
}


class Server:
    """A language server as a child process, with a client that keeps what it says."""

    def __init__(self, command, folder):
        self.start = time.perf_counter()
        self.child = subprocess.Popen(command, stdin=subprocess.PIPE, stdout=subprocess.PIPE, stderr=subprocess.DEVNULL, cwd=folder)
        self.messages = queue.Queue()
        self.next_id = 0
        threading.Thread(target=self.read, daemon=True).start()

    def read(self):
        output = self.child.stdout
        while line := output.readline():
            length = 0
            while line.strip():
                name, value = line.split(b":", 1)
                if name.lower() == b"content-length":
                    length = int(value)
                line = output.readline()
            self.messages.put((time.perf_counter(), json.loads(output.read(length))))

    def send(self, message):
        content = json.dumps({"jsonrpc": "2.0", **message}).encode()
        self.child.stdin.write(b"Content-Length: %d\r\n\r\n%s" % (len(content), content))
        self.child.stdin.flush()

    def notify(self, method, params):
        self.send({"method": method, "params": params})

    def wait(self, is_wanted):
        """Returns the first message that is wanted and when it arrived. Answers the requests of the server."""
        deadline = time.perf_counter() + WAIT_SECONDS
        while (rest := deadline - time.perf_counter()) > 0:
            try:
                arrived, message = self.messages.get(timeout=rest)
            except queue.Empty:
                break
            if "method" in message and "id" in message:
                items = message.get("params", {}).get("items", []) if message["method"] == "workspace/configuration" else None
                self.send({"id": message["id"], "result": [None] * len(items) if items is not None else None})
            if is_wanted(message):
                return arrived, message
        raise TimeoutError("the server did not answer")

    def request(self, method, params):
        self.next_id += 1
        number = self.next_id
        self.send({"id": number, "method": method, "params": params})
        return self.wait(lambda message: message.get("id") == number and "method" not in message)

    def resident_mb(self):
        status = pathlib.Path(f"/proc/{self.child.pid}/status").read_text()
        peak = next(line for line in status.splitlines() if line.startswith("VmHWM"))
        return int(peak.split()[1]) / 1024

    def end(self):
        try:
            self.request("shutdown", None)
            self.notify("exit", None)
            self.child.wait(5)
        except (TimeoutError, OSError, subprocess.TimeoutExpired):
            self.child.kill()
            self.child.wait()


def capabilities(pulls):
    found = {
        "general": {"positionEncodings": ["utf-8", "utf-16"]},
        "workspace": {"configuration": True, "workspaceFolders": True, "didChangeWatchedFiles": {"dynamicRegistration": True}},
        "textDocument": {"publishDiagnostics": {}, "synchronization": {}},
    }
    if pulls:
        found["textDocument"]["diagnostic"] = {}
    return found


def open_session(command, folder, pulls):
    server = Server(command, folder)
    uri = folder.as_uri()
    params = {"processId": os.getpid(), "rootUri": uri, "workspaceFolders": [{"uri": uri, "name": "x"}], "capabilities": capabilities(pulls)}
    arrived, answer = server.request("initialize", params)
    return server, (arrived - server.start) * 1000, answer["result"]["capabilities"]


def measure_typing(command, folder, file):
    """Opens a file and changes it: a reference to a missing file gets another name each time."""
    server, initialize, _ = open_session(command, folder, False)
    try:
        text = file.read_text() + "\nSee [one](references/missing-0.md) and /keep-lighthouse-lag.\n"
        uri = file.as_uri()

        def is_about(version):
            return lambda message: (
                message.get("method") == "textDocument/publishDiagnostics"
                and message["params"]["uri"] == uri
                and message["params"].get("version", version) == version
            )

        server.notify("initialized", {})
        start = time.perf_counter()
        server.notify("textDocument/didOpen", {"textDocument": {"uri": uri, "languageId": "markdown", "version": 1, "text": text}})
        arrived, _ = server.wait(is_about(1))
        first, changes = (arrived - start) * 1000, []
        for version in range(2, CHANGES + 2):
            # A person types slower than any server checks.
            time.sleep(0.06)
            while not server.messages.empty():
                server.wait(lambda message: True)
            new = text.replace("missing-0", f"missing-{version}").replace("lighthouse-lag", f"lighthouse-l{'aeiou'[version % 5]}g")
            start = time.perf_counter()
            document = {"uri": uri, "version": version}
            server.notify("textDocument/didChange", {"textDocument": document, "contentChanges": [{"text": new}]})
            arrived, _ = server.wait(is_about(version))
            changes.append((arrived - start) * 1000)
        return {"initialize_ms": [initialize], "first_diagnostics_ms": [first], "changes": changes, "resident_mb": [server.resident_mb()]}
    finally:
        server.end()


def measure_workspace(command, folder):
    """Asks for the findings of all skills, if the server can report them."""
    server, _, offered = open_session(command, folder, True)
    try:
        if not (offered.get("diagnosticProvider") or {}).get("workspaceDiagnostics"):
            return {}
        server.notify("initialized", {})
        start = time.perf_counter()
        arrived, answer = server.request("workspace/diagnostic", {"previousResultIds": []})
        if "error" in answer:
            raise TimeoutError(answer["error"]["message"])
        return {"workspace_ms": [(arrived - start) * 1000], "resident_workspace_mb": [server.resident_mb()]}
    finally:
        server.end()


def install_peer():
    """Installs the npm server, and returns its command or the reason why it cannot be compared."""
    if not shutil.which("npm"):
        return None, "npm is not installed"
    script = PEERS / "npm" / "node_modules" / ".bin" / PEER
    if not script.exists():
        (PEERS / "npm").mkdir(parents=True, exist_ok=True)
        command = ["npm", "install", "--silent", "--no-audit", "--ignore-scripts", "--prefix", str(PEERS / "npm"), f"{PEER}@{PEER_VERSION}"]
        done = subprocess.run(command, capture_output=True, text=True)
        if done.returncode or not script.exists():
            return None, (done.stderr.strip().splitlines() or ["npm failed"])[0]
    return [str(script), "--stdio"], ""


def lay_out(library):
    """Returns a workspace with the library in `.claude/skills`, because some servers search only there."""
    workspace = WORK / f"{library.name}-workspace"
    if not workspace.exists():
        shutil.copytree(library, workspace / ".claude" / "skills", copy_function=os.link)
    return workspace.resolve()


def middle(values, share=0.5):
    ordered = sorted(values)
    return ordered[min(len(ordered) - 1, int(len(ordered) * share))]


def summarize(found):
    changes = found.pop("changes", [])
    numbers = {key: middle(values) for key, values in found.items()}
    if changes:
        numbers |= {"change_p50_ms": middle(changes), "change_p99_ms": middle(changes, 0.99)}
    return {key: round(value, 2) for key, value in sorted(numbers.items())}


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--rep", help="measures that binary instead of building the release")
    parser.add_argument("--peer", action="append", default=[], metavar="NAME=COMMAND", help="another server")
    parser.add_argument("--skills", type=int, default=2000)
    parser.add_argument("--rounds", type=int, default=5)
    options = parser.parse_args()
    WORK.mkdir(parents=True, exist_ok=True)
    servers = {"rep lsp": [str(pathlib.Path(binary(options.rep)).resolve()), "lsp"]}
    for peer in options.peer:
        name, command = peer.split("=", 1)
        servers[name] = shlex.split(command)
    if not any(PEER in name for name in servers):
        command, reason = install_peer()
        if command:
            servers[f"{PEER} {PEER_VERSION}"] = command
        else:
            print(f"NOT COMPARED: {PEER}: {reason}")
    folder = lay_out(pathlib.Path(run.library(options.skills)).resolve())
    file = sorted(folder.glob(".claude/skills/*/SKILL.md"))[options.skills // 2]
    found = {name: {} for name in servers}
    for _ in range(options.rounds):
        for name, command in servers.items():
            for numbers in (measure_typing(command, folder, file), measure_workspace(command, folder)):
                for key, values in numbers.items():
                    found[name].setdefault(key, []).extend(values)
    found = {name: summarize(numbers) for name, numbers in found.items()}
    print(json.dumps({"skills": options.skills, "rounds": options.rounds, "servers": found}, indent=2))
    missed = {key: found["rep lsp"][key] for key, most in BUDGETS.items() if found["rep lsp"][key] > most}
    for key, value in missed.items():
        print(f"missed: {key} is {value}, the budget is {BUDGETS[key]}", file=sys.stderr)
    sys.exit(1 if missed else 0)


main()
