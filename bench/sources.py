#!/usr/bin/env python3
"""Measures how long `rep` takes to install skills from git and from a registry, and to compare or restore 200 of them, beside
the npm tool `skills`.

The git server and the registry (docker-registry) run on this machine. Each installation starts with an empty cache and an
empty home. `bench/sources.py --write` stores the section in docs/benchmarks.md. See bench/README.md.
"""
import argparse
import http.server
import os
import pathlib
import resource
import shutil
import socket
import statistics
import subprocess
import tempfile
import threading
import time
import urllib.parse

import install
import run

MARK = "<!-- bench/sources.py -->"
RUNS = 7


class Git(http.server.BaseHTTPRequestHandler):
    """Offers the repositories below `root` with git's own `http-backend`."""
    root = ""

    def answer(self):
        address = urllib.parse.urlsplit(self.path)
        body = self.rfile.read(int(self.headers.get("Content-Length") or 0))
        env = {**os.environ, "GIT_PROJECT_ROOT": self.root, "GIT_HTTP_EXPORT_ALL": "1", "PATH_INFO": address.path.replace(".git/", "/.git/", 1),
               "QUERY_STRING": address.query, "REQUEST_METHOD": self.command, "CONTENT_TYPE": self.headers.get("Content-Type", ""),
               "CONTENT_LENGTH": str(len(body)), "REMOTE_ADDR": "127.0.0.1", "HTTP_CONTENT_ENCODING": self.headers.get("Content-Encoding", ""),
               "GIT_PROTOCOL": self.headers.get("Git-Protocol", "")}
        done = subprocess.run(["git", "http-backend"], input=body, env=env, capture_output=True)
        head, _, content = done.stdout.partition(b"\r\n\r\n")
        fields = [line.split(": ", 1) for line in head.decode().split("\r\n") if line]
        status = next((value for key, value in fields if key == "Status"), "200 OK")
        self.send_response(int(status.split()[0]))
        for key, value in fields:
            if key != "Status":
                self.send_header(key, value)
        self.end_headers()
        self.wfile.write(content)

    do_GET = do_POST = answer

    def log_message(self, *_):
        pass


def write_skills(folder, count):
    for number in range(count):
        name = f"skill-{number:03}"
        skill = folder / name
        (skill / "scripts").mkdir(parents=True)
        about = f"Fills forms of kind {number}. Use when the user brings a form of kind {number}."
        (skill / "SKILL.md").write_text(f"---\nname: {name}\ndescription: {about}\nmetadata:\n  version: 1.0.0\n---\n\n# {name}\n\n" + "1. Fill the form.\n" * 40)
        (skill / "scripts/fill.py").write_text(f"print('filled {number}')\n" * 50)
        (skill / "reference.md").write_text(f"Form {number}.\n" * 200)


def repository(root, count):
    folder = root / f"skills{count}"
    write_skills(folder, count)
    git = ["git", "-c", "user.name=T", "-c", "user.email=t@example.org", "-c", "commit.gpgsign=false"]
    for words in (["init", "--quiet", "--initial-branch=main"], ["add", "--all"], ["commit", "--quiet", "-m", "first"]):
        subprocess.run([*git, *words], cwd=folder, check=True)
    return folder


def registry(base):
    """Starts docker-registry. Returns its process and its address."""
    if not shutil.which("docker-registry"):
        return None, None
    with socket.socket() as free:
        free.bind(("127.0.0.1", 0))
        port = free.getsockname()[1]
    settings = base / "registry.yml"
    settings.write_text(f"version: 0.1\nlog: {{level: error}}\nstorage:\n  filesystem: {{rootdirectory: '{base}/registry'}}\n"
                        f"http:\n  addr: 127.0.0.1:{port}\n  secret: x\n")
    process = subprocess.Popen(["docker-registry", "serve", str(settings)], stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
    for _ in range(200):
        try:
            socket.create_connection(("127.0.0.1", port), 1).close()
            return process, f"127.0.0.1:{port}"
        except OSError:
            time.sleep(0.05)
    raise RuntimeError("the registry does not listen")


def measure(prepare, work, runs=RUNS):
    """Returns the medians of CPU and of the clock, in seconds, over runs that each start where `prepare` ends."""
    cpu, clock = [], []
    for _ in range(runs):
        where = prepare()
        before, start = resource.getrusage(resource.RUSAGE_CHILDREN), time.perf_counter()
        work(where)
        clock.append(time.perf_counter() - start)
        after = resource.getrusage(resource.RUSAGE_CHILDREN)
        cpu.append(after.ru_utime + after.ru_stime - before.ru_utime - before.ru_stime)
    return statistics.median(cpu), statistics.median(clock)


def require(where, count):
    """Fails unless so many skills are installed; 0 requires nothing."""
    found = len(list(where[0].glob(".agents/skills/*/SKILL.md")))
    if count and found != count:
        raise RuntimeError(f"{found} of {count} skills are installed")


def tool_runs(command, folder, home, *words):
    """Runs the npm tool without a terminal and without telemetry."""
    env = {"PATH": os.environ["PATH"], "HOME": str(home), "DISABLE_TELEMETRY": "1", "DO_NOT_TRACK": "1"}
    done = subprocess.run([*command, *words], cwd=folder, env=env, capture_output=True, text=True, timeout=300, stdin=subprocess.DEVNULL)
    if done.returncode != 0:
        raise RuntimeError(f"skills {' '.join(words)}: exit {done.returncode}: {(done.stdout + done.stderr)[-300:]}")


def find_tool():
    """Installs the npm tool and a Node that is new enough, so that neither is measured."""
    install.hosts.install(install.TOOL, install.TOOL_VERSION, install.PEERS / "npm-skills")
    return [install.node_for_tool(), str(install.PEERS / "npm-skills/node_modules/skills/bin/cli.mjs")]


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--write", action="store_true", help="store the section in docs/benchmarks.md")
    parser.add_argument("--rep", metavar="FILE", help="measure this binary instead of building the release")
    parser.add_argument("--runs", type=int, default=RUNS, help=f"of each command (default {RUNS})")
    args = parser.parse_args()
    run.WORK.mkdir(parents=True, exist_ok=True)
    rep = run.binary(args.rep)
    rows, missing, tool = [], [], None
    try:
        tool = find_tool()
    except (OSError, RuntimeError, subprocess.SubprocessError) as error:
        missing.append(f"{install.TOOL}: {error}")
    with tempfile.TemporaryDirectory() as scratch:
        base = pathlib.Path(scratch).resolve()
        Git.root = str(base / "srv")
        few, many = (repository(base / "srv", count) for count in (16, 200))
        server = http.server.ThreadingHTTPServer(("127.0.0.1", 0), Git)
        threading.Thread(target=server.serve_forever, daemon=True).start()
        url = f"http://127.0.0.1:{server.server_port}/skills%d.git"
        process, address = registry(base)
        count = iter(range(10_000))

        def empty():
            number = next(count)
            home = base / f"home{number}"
            home.mkdir()
            return install.project(base, f"project{number}"), home

        def ours(*words, count=0):
            return lambda where: (install.rep(rep, *where, *words), require(where, count))

        def theirs(*words, count=0):
            return lambda where: (tool_runs(tool, *where, *words), require(where, count))

        def row(work, own, peer=None, peer_name="", prepare=empty, peer_prepare=empty):
            measured = measure(prepare, own, args.runs)
            other = None
            if peer and tool:
                try:
                    other = measure(peer_prepare, peer, max(args.runs // 2, 1))
                except (OSError, RuntimeError, subprocess.SubprocessError) as error:
                    missing.append(f"{peer_name}: {error}")
            rows.append((work, measured, peer_name, other))
            run.say(f"{work}: {measured}, {other}")

        hosts = ["--host", "codex", "--host", "claude-code"]
        agents = ["-a", "codex", "-a", "claude-code", "--skill", "*", "-y"]
        row("install 16 skills from git", ours("install", url % 16, "--yes", *hosts, count=16),
            theirs("add", url % 16, *agents, count=16), "skills add")
        if process:
            target = f"oci://{address}/team/all:1"
            names = [str(few / f"skill-{number:03}") for number in range(16)]
            install.rep(rep, base, base / "pusher", "push", *names, target, "--collection", "team")
            row("install 16 skills from a registry", ours("install", target, "--yes", *hosts, count=16))
        else:
            missing.append("the registry: docker-registry is not installed")

        installed = empty()
        install.rep(rep, *installed, "install", url % 200, "--yes", *hosts)
        foreign = empty()
        try:
            tool_runs(tool, *foreign, "add", url % 200, *agents)
        except (OSError, RuntimeError, subprocess.SubprocessError) as error:
            missing.append(f"skills add of 200: {error}")
        row("`sync --offline`, 200 current skills", ours("sync", "--offline"), theirs("experimental_install", "-y"),
            "skills experimental_install, which fetches", prepare=lambda: installed, peer_prepare=lambda: foreign)
        row("`verify`, 200 current skills", ours("verify"), prepare=lambda: installed)

        def emptied():
            for folder in (".agents", ".claude"):
                shutil.rmtree(installed[0] / folder)
            return installed
        row("`sync --offline`, 200 missing skills, from the cache", ours("sync", "--offline", count=200), prepare=emptied)
        lock = (installed[0] / "skills-lock.json").read_text()

        def cloned():
            where = empty()
            (where[0] / "skills-lock.json").write_text(lock)
            return where
        row("`sync`, 200 missing skills, from git", ours("sync", count=200), prepare=cloned)
        server.shutdown()
        if process:
            process.kill()
            process.wait()
    text = section(rows, missing, rep)
    print(text, end="")
    if args.write:
        run.store(text, MARK)


def section(rows, missing, rep):
    lines = []
    for work, (cpu, clock), peer, other in rows:
        theirs = [run.seconds(value) for value in other] if other else ["–", "–"]
        lines.append([work, run.seconds(cpu), run.seconds(clock), peer if other else "–", *theirs])
    parts = [
        MARK,
        "## Installing",
        "Written by `bench/sources.py --write`. Do not edit.",
        f"Tools: rep {run.version_of(rep)}, {install.TOOL} {install.TOOL_VERSION}. Cores: {os.cpu_count()}. The git server and the registry are\n"
        "on the same machine. Each installation starts with an empty cache. CPU is user and system time of the tool and of the git\n"
        "that it starts, all cores added up; both columns are medians. The npm tool restores from its lock file over the network\n"
        "only, and accepts content that differs.",
        run.table(["work", "CPU, ours", "clock, ours", "peer", "CPU, peer", "clock, peer"], lines),
    ]
    if missing:
        parts.append("\n".join(f"- not measured: {line}" for line in missing))
    return "\n\n".join(parts) + "\n"


if __name__ == "__main__":
    main()
