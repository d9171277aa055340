#!/usr/bin/env python3
"""Measures `rep api` with 2,000 skills: `bench/api.py REP [--skills N]`. Exits with 1 if a number exceeds its goal.

The client is this script alone: one line out, one line in. A call ends when its answer has arrived; reading the JSON
is not counted, because Python's reader takes four times as long as a list of 2,000 skills.
"""

from __future__ import annotations

import argparse
import json
import os
import pathlib
import statistics
import subprocess
import sys
import tempfile
import time

# Milliseconds, but for the memory in MiB.
GOALS = {"ready": 60, "read": 0.3, "query": 0.3, "search": 3, "list": 3, "64 calls at once": None, "memory": 40}
WORDS = ("table", "form", "invoice", "branch", "query", "image", "report", "server", "letter", "archive")
ROUNDS = 200


def write_library(folder: pathlib.Path, count: int) -> None:
    for number in range(count):
        word, other = WORDS[number % len(WORDS)], WORDS[number // len(WORDS) % len(WORDS)]
        place = folder / f"{word}-{other}-{number}"
        place.mkdir()
        lines = "\n".join(f"{step}. Take the {word} and put it beside {other} number {step * number}." for step in range(1, 20))
        head = f"name: {place.name}\ndescription: Handles each {word} with its {other}. Use when somebody brings {word} {number}."
        (place / "SKILL.md").write_text(f"---\n{head}\n---\n\n# {word} and {other}\n\n{lines}\n")


def read_answer(line: bytes) -> dict[str, object]:
    answer = json.loads(line)
    if "error" in answer:
        sys.exit(f"error: {answer['error']}")
    return answer


class Client:
    """A child and its answers, in order."""

    def __init__(self, rep: str, folder: pathlib.Path, home: pathlib.Path) -> None:
        environment = {**os.environ, "HOME": str(home)}
        for name in ("XDG_DATA_HOME", "XDG_CONFIG_HOME", "XDG_CACHE_HOME"):
            environment.pop(name, None)
        arguments = [rep, "api", "--path", str(folder)]
        self.child = subprocess.Popen(arguments, stdin=subprocess.PIPE, stdout=subprocess.PIPE, env=environment, cwd=home)
        self.number = 0

    def send(self, method: str, params: dict[str, object]) -> None:
        assert self.child.stdin is not None
        self.number += 1
        message = {"jsonrpc": "2.0", "id": self.number, "method": method, "params": params}
        self.child.stdin.write(json.dumps(message).encode() + b"\n")
        self.child.stdin.flush()

    def receive_line(self) -> bytes:
        assert self.child.stdout is not None
        return self.child.stdout.readline()

    def receive(self) -> dict[str, object]:
        return read_answer(self.receive_line())

    def measure(self, method: str, params: dict[str, object]) -> float:
        started = time.perf_counter()
        self.send(method, params)
        line = self.receive_line()
        elapsed = (time.perf_counter() - started) * 1000
        read_answer(line)
        return elapsed

    def close(self) -> None:
        assert self.child.stdin is not None
        self.child.stdin.close()
        self.child.wait()


def measure_all(rep: str, count: int) -> dict[str, float]:
    with tempfile.TemporaryDirectory() as scratch:
        root = pathlib.Path(scratch)
        folder, home = root / "skills", root / "home"
        folder.mkdir()
        home.mkdir()
        write_library(folder, count)
        names = sorted(one.name for one in folder.iterdir())
        # The first start fills the caches of the user.
        first = Client(rep, folder, home)
        first.measure("search", {"text": "invoice beside a form"})
        first.close()
        ready: list[float] = []
        for _ in range(5):
            started = time.perf_counter()
            client = Client(rep, folder, home)
            client.measure("read", {"skill": names[0]})
            ready.append((time.perf_counter() - started) * 1000)
            client.close()
        client = Client(rep, folder, home)
        client.measure("search", {"text": "invoice"})
        pick = [names[number * 7 % count] for number in range(ROUNDS)]
        found = {
            "ready": statistics.median(ready),
            "read": statistics.median(client.measure("read", {"skill": name}) for name in pick),
            "query": statistics.median(client.measure("query", {"query": f"{name}:meta.name"}) for name in pick),
            "search": statistics.median(client.measure("search", {"text": f"bring {name}"}) for name in pick[:50]),
            "list": statistics.median(client.measure("list", {}) for _ in range(50)),
        }
        started = time.perf_counter()
        for name in pick[:64]:
            client.send("read", {"skill": name})
        answered = {client.receive()["id"] for _ in range(64)}
        assert len(answered) == 64
        found["64 calls at once"] = (time.perf_counter() - started) * 1000
        status = pathlib.Path(f"/proc/{client.child.pid}/status").read_text()
        found["memory"] = int(status.split("VmRSS:")[1].split()[0]) / 1024
        client.close()
        return found


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("rep")
    parser.add_argument("--skills", type=int, default=2000)
    arguments = parser.parse_args()
    is_good = True
    for name, value in measure_all(arguments.rep, arguments.skills).items():
        goal = GOALS[name]
        is_within = goal is None or value <= goal
        is_good &= is_within
        unit = "MiB" if name == "memory" else "ms"
        shown = "" if goal is None else f"  (goal {goal} {unit})"
        print(f"{name:18} {value:8.2f} {unit}{shown}{'' if is_within else '  MISSED'}")
    return 0 if is_good else 1


if __name__ == "__main__":
    sys.exit(main())
