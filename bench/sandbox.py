#!/usr/bin/env python3
"""Measures the cost of a sandbox: the same tool that does nothing, alone and in each sandbox, interleaved, in one run.

As root and as an ordinary user. CPU time includes every process of a run, also those that outlive their parents;
wall-clock time ends with the command. The machine may be busy, so the fastest tenth is reported beside the median.
"""
import argparse
import ctypes
import json
import os
import pathlib
import re
import resource  # for `os.wait4`; imported before switching to a user who may not be able to read Python's directory
import shutil
import statistics
import subprocess
import sys
import tempfile
import time
import traceback

import run
from run import PEERS, ROOT, TARGET, WORK, held, last_line, say, table

MARK = "<!-- bench/sandbox.py -->"
SRT = "0.0.83"
PACKAGES = {"bwrap": "bubblewrap", "socat": "socat", "rg": "ripgrep"}
# The user `nobody`, which exists on every system.
USER = 65_534
BUDGET_MS, BUDGET_SRT = 10, 50
BUDGET_RUN_MS, BUDGET_PYTHON_MS = 10, 12
ENV = {"PATH": "/usr/local/bin:/usr/bin:/bin", "LC_ALL": "C.UTF-8", "NO_COLOR": "1"}
SYSTEM = ["/usr", "/bin", "/sbin", "/lib", "/lib32", "/lib64", "/libx32"]
TOOL = "echo '{}'\n"
SKILL = """---
name: idle
description: Does nothing. Use when measuring what a run costs.
spec_version: "2.1"
version: 1.0.0
safety: {require_confirmation_for: [destructive_writes], redact: {secrets: true, pii: true}}
tools:
  - name: idle
    description: Does nothing.
    input_schema: {type: object}
    implementation: {runtime: bash, entrypoint: scripts/tool.sh}
---

# Idle
"""
PYTHON_TOOL = "def handler(args, ctx):\n    return {}\n"
PYTHON_SKILL = SKILL.replace("name: idle\n", "name: idle-python\n", 1).replace("runtime: bash, entrypoint: scripts/tool.sh", "runtime: python, entrypoint: scripts/tool.py")
PR_SET_CHILD_SUBREAPER = 36
LIBC = ctypes.CDLL(None, use_errno=True)


# ---------------------------------------------------------------- peers

def install_packages(programs):
    """Installs the distribution's packages if possible; returns what is still missing, and why."""
    wanted = [name for name in programs if not shutil.which(name, path=ENV["PATH"])]
    if not wanted:
        return {}
    why = "not installed, and apt-get is missing or not permitted"
    if shutil.which("apt-get") and os.geteuid() == 0:
        say(f"installing {', '.join(wanted)} from the distribution's packages")
        command = ["apt-get", "install", "-y", "--no-install-recommends", *(PACKAGES[name] for name in wanted)]
        done = subprocess.run(command, capture_output=True, text=True, env={**os.environ, "DEBIAN_FRONTEND": "noninteractive"})
        why = last_line(done.stderr)
    return {name: why for name in wanted if not shutil.which(name, path=ENV["PATH"])}


def install_srt():
    folder = PEERS / "srt"
    script = folder / "node_modules" / "@anthropic-ai" / "sandbox-runtime" / "dist" / "cli.js"
    node = shutil.which("node", path=ENV["PATH"])
    if not node or not shutil.which("npm"):
        return None, "node or npm is not installed"
    if not script.exists():
        say(f"installing @anthropic-ai/sandbox-runtime {SRT} from npm")
        folder.mkdir(parents=True, exist_ok=True)
        command = ["npm", "install", "--silent", "--no-audit", "--prefix", str(folder), f"@anthropic-ai/sandbox-runtime@{SRT}"]
        done = subprocess.run(command, capture_output=True, text=True)
        if done.returncode or not script.exists():
            return None, last_line(done.stderr)
    return [node, str(script)], None


def peers():
    """Returns the available peers, and reports the others."""
    missing = install_packages(PACKAGES)
    found, why = {}, {}
    if "bwrap" in missing:
        why["bubblewrap"] = missing["bwrap"]
    else:
        found["bwrap"] = shutil.which("bwrap", path=ENV["PATH"])
    srt, trouble = (None, f"it needs {', '.join(missing)}") if missing else install_srt()
    if srt:
        found["srt"] = srt
    else:
        why["the npm sandbox runtime"] = trouble
    for name, reason in why.items():
        say(f"\n*** {name} IS NOT AVAILABLE, and is not compared: {reason} ***\n")
    return found, why


# ---------------------------------------------------------------- ours

def built(given):
    """Builds `rep`, `sandbox-trial` and the in-process benchmark in the release profile."""
    jobs = ["--quiet", "-j2"]
    subprocess.run(["cargo", "build", "--release", *jobs, "-p", "rep-sandbox", "--bin", "sandbox-trial"], cwd=ROOT, check=True)
    if not given:
        subprocess.run(["cargo", "build", "--release", *jobs, "-p", "rep"], cwd=ROOT, check=True)
    command = ["cargo", "bench", *jobs, "-p", "rep-sandbox", "--bench", "launch", "--no-run", "--message-format=json"]
    done = subprocess.run(command, cwd=ROOT, capture_output=True, text=True, check=True)
    found = [json.loads(line) for line in done.stdout.splitlines() if line.startswith("{")]
    launch = next(item["executable"] for item in found if item.get("executable") and item["target"]["name"] == "launch")
    return {"rep": given or TARGET / "release" / "rep", "sandbox-trial": TARGET / "release" / "sandbox-trial", "launch": launch}


# ---------------------------------------------------------------- the scene

class Scene:
    """Creates a directory owned by the measured user: the skill, an empty workspace, and copies of our programs."""

    def __init__(self, folder, binaries, found):
        self.folder, self.found = pathlib.Path(folder), found
        self.skill, self.workspace = self.folder / "idle", self.folder / "workspace"
        (self.skill / "scripts").mkdir(parents=True)
        self.workspace.mkdir()
        self.script = self.skill / "scripts" / "tool.sh"
        self.script.write_text(TOOL)
        (self.skill / "SKILL.md").write_text(SKILL)
        self.python_skill = self.folder / "idle-python"
        (self.python_skill / "scripts").mkdir(parents=True)
        (self.python_skill / "scripts" / "tool.py").write_text(PYTHON_TOOL)
        (self.python_skill / "SKILL.md").write_text(PYTHON_SKILL)
        self.settings = self.folder / "srt.json"
        self.settings.write_text(json.dumps({
            "network": {"allowedDomains": [], "deniedDomains": []},
            "filesystem": {"denyRead": [], "allowWrite": [], "denyWrite": []},
        }))
        self.binaries = {name: shutil.copy2(path, self.folder / name) for name, path in binaries.items()}
        self.env = {**ENV, "HOME": str(self.folder / "home"), **{
            f"XDG_{kind}_HOME": str(self.folder / "home" / kind.lower()) for kind in ("CACHE", "CONFIG", "DATA", "STATE")
        }}
        (self.folder / "home").mkdir()

    def give(self, user):
        for path in [self.folder, *self.folder.rglob("*")]:
            os.chown(path, user, user)

    def bwrap(self, command):
        """Returns the command for bubblewrap with the same view: an empty root, the system and the skill for reading, new /proc, /dev and /tmp, nothing shared."""
        line = [self.found["bwrap"], "--unshare-all", "--die-with-parent", "--new-session", "--clearenv"]
        line += ["--setenv", "PATH", ENV["PATH"], "--proc", "/proc", "--dev", "/dev", "--tmpfs", "/tmp"]
        for path in SYSTEM:
            if os.path.islink(path):
                line += ["--symlink", os.readlink(path), path]
            elif os.path.isdir(path):
                line += ["--ro-bind", path, path]
        line += ["--ro-bind", str(self.skill), str(self.skill), "--dir", str(self.workspace), "--chdir", str(self.workspace)]
        return [*line, "--", *command]

    def trial(self, name, command):
        """Returns the command for the sandbox alone: a helper that reads a job on stdin. The job is written to a file."""
        job = self.folder / f"{name}.json"
        job.write_text(json.dumps({
            "argv": command, "workspace": str(self.workspace), "readable": [str(self.skill)], "env": {"PATH": ENV["PATH"]},
        }))
        return [str(self.binaries["sandbox-trial"])], str(job)

    def lines(self):
        """Maps work to its commands: name to (command, file for stdin, share of the rounds)."""
        def real(name):
            path = shutil.which(name, path=ENV["PATH"])
            return path and os.path.realpath(path)

        works = {"bash": [real("bash"), str(self.script)]}
        for name, arguments in (("python3", ["-c", "pass"]), ("node", ["-e", "0"])):
            if real(name):
                works[name] = [real(name), *arguments]
        lines = {}
        for work, command in works.items():
            tools = {"plain": (command, None, 1), "trial": (*self.trial(work, command), 1)}
            if "bwrap" in self.found:
                tools["bwrap"] = (self.bwrap(command), None, 1)
            skill = {"bash": self.skill, "python3": self.python_skill}.get(work)
            if skill:
                rep = [str(self.binaries["rep"]), "run", f"{skill}:idle", "--workspace", str(self.workspace)]
                tools["rep run"] = (rep, None, 1)
            if work == "bash" and "srt" in self.found:
                tools["srt"] = ([*self.found["srt"], "--settings", str(self.settings), *command], None, 0.2)
            lines[work] = tools
        return lines


# ---------------------------------------------------------------- measuring

def spend(command, stdin, env):
    """Returns wall-clock milliseconds until a command ends, and CPU milliseconds until all its processes have ended."""
    actions = [(os.POSIX_SPAWN_OPEN, 0, stdin or os.devnull, os.O_RDONLY, 0)]
    actions += [(os.POSIX_SPAWN_OPEN, fd, os.devnull, os.O_WRONLY, 0) for fd in (1, 2)]
    begin = time.perf_counter()
    pid = os.posix_spawn(command[0], command, env, file_actions=actions)
    _, status, used = os.wait4(pid, 0)
    wall = time.perf_counter() - begin
    cpu = used.ru_utime + used.ru_stime
    # This process inherits processes that outlive their parent; it does not wait long for them.
    until = time.monotonic() + 3
    while time.monotonic() < until:
        try:
            gone, _, used = os.wait4(-1, os.WNOHANG)
        except ChildProcessError:
            break
        if gone:
            cpu += used.ru_utime + used.ru_stime
        else:
            time.sleep(0.0005)
    return [wall * 1e3, cpu * 1e3, os.waitstatus_to_exitcode(status)]


def trouble(name, work, command, stdin, env):
    """Runs once as a warm-up, and reports an error if the tool did not run."""
    with open(stdin or os.devnull) as file:
        done = subprocess.run(command, stdin=file, capture_output=True, text=True, env=env, timeout=60)
    out = done.stdout
    if name == "trial" and done.returncode == 0:
        told = json.loads(out)
        weak = [layer for layer in told.get("layers", []) if not layer[1].startswith("enforced")]
        if told.get("code") != 0 or weak:
            return last_line(json.dumps(weak or told))[:300]
        out = told["stdout"]
    if done.returncode or ((work == "bash" or name == "rep run") and out.strip() != "{}"):
        return f"exit {done.returncode}: {last_line(done.stderr or done.stdout)[:300]}"
    return None


def measure(scene, rounds):
    """Runs every command once per round; the starting command advances by one each round."""
    if LIBC.prctl(PR_SET_CHILD_SUBREAPER, 1, 0, 0, 0):
        raise OSError(ctypes.get_errno(), "cannot inherit processes")
    os.chdir(scene.workspace)
    spent, left_out, lines = {}, {}, {}
    for work, tools in scene.lines().items():
        for name, (command, stdin, share) in tools.items():
            wrong = trouble(name, work, command, stdin, scene.env)
            if wrong:
                left_out[f"{name}, {work}"] = wrong
            else:
                lines[work, name] = (command, stdin, max(3, int(rounds * share)))
                spent[work, name] = []
    order = list(lines)
    for number in range(rounds):
        for key in order[number % len(order):] + order[:number % len(order)]:
            command, stdin, often = lines[key]
            # The fewer runs of a slow command are spread over all rounds.
            if number * often // rounds != (number - 1) * often // rounds:
                wall, cpu, status = spend(command, stdin, scene.env)
                if status:
                    raise RuntimeError(f"{key}: exit {status} in round {number}")
                spent[key].append([wall, cpu])
    done = subprocess.run([scene.binaries["launch"], "--rounds", str(rounds), "--json"], env=scene.env, capture_output=True, text=True)
    if done.returncode:
        left_out["in process"] = last_line(done.stderr)[:300]
    for line in map(json.loads, done.stdout.splitlines()):
        work = {"python": "python3"}.get(line["what"], line["what"])
        spent[work, "plain, in process"], spent[work, "in process"] = line["plain"], line["sandbox"]
    return {"spent": [[*key, values] for key, values in spent.items()], "left_out": left_out}


def as_user(user, work):
    """Runs `work` in a process of that user and returns its result."""
    reader, writer = os.pipe()
    pid = os.fork()
    if pid == 0:
        status = 1
        try:
            os.close(reader)
            if os.geteuid() != user:
                os.setgroups([])
                os.setresgid(user, user, user)
                os.setresuid(user, user, user)
            with os.fdopen(writer, "w") as file:
                json.dump(work(), file)
            status = 0
        except BaseException:
            traceback.print_exc()
        finally:
            os._exit(status)
    os.close(writer)
    with os.fdopen(reader) as file:
        text = file.read()
    _, status = os.waitpid(pid, 0)
    if status:
        sys.exit("the measuring process failed")
    return json.loads(text)


# ---------------------------------------------------------------- the section

class Spent:
    """All runs of one command."""

    def __init__(self, values):
        self.count = len(values)
        self.wall, self.cpu = (sorted(column) for column in zip(*values))

    def middle(self, which):
        return statistics.median(getattr(self, which))

    def quick(self, which):
        values = getattr(self, which)
        return values[len(values) // 10]


NAMES = {
    "plain": "plain spawn", "bwrap": "bubblewrap, same view", "srt": "npm sandbox runtime", "trial": "our sandbox, as a command",
    "rep run": "`rep run`, all of it", "plain, in process": "plain spawn, from Rust", "in process": "our sandbox, in process",
}
WORKS = {"bash": "bash tool", "python3": "`python3 -c pass`", "node": "`node -e 0`", "true": "`true`"}
HEAD = ["tool", "through", "runs", "clock", "p10", "over plain", "CPU", "p10", "over plain", "clock, to ours", "CPU, to ours"]


def ms(value):
    return f"{value:.2f}" if value < 10 else f"{value:.1f}" if value < 100 else f"{value:.0f}"


def pair(spent, plain, which):
    """Returns the difference to a plain spawn: of the medians, and of the fastest tenths."""
    return f"{ms(spent.middle(which) - plain.middle(which))} / {ms(spent.quick(which) - plain.quick(which))}"


def rows(spent):
    lines = []
    for (work, name), one in sorted(spent.items(), key=lambda item: (list(WORKS).index(item[0][0]), list(NAMES).index(item[0][1]))):
        inside = "in process" in name
        base = spent.get((work, "plain, in process" if inside else "plain"))
        ours = spent.get((work, "in process" if inside else "trial"))
        is_plain = one is base
        lines.append([
            WORKS[work], NAMES[name], str(one.count), ms(one.middle("wall")), ms(one.quick("wall")),
            "–" if is_plain or not base else pair(one, base, "wall"), ms(one.middle("cpu")), ms(one.quick("cpu")),
            "–" if is_plain or not base else pair(one, base, "cpu"),
            *("–" if one is ours or not ours else run.times(one.middle(which) / ours.middle(which)) for which in ("wall", "cpu")),
        ])
    return lines


def budgets(who, spent):
    """Returns the budgets by wall-clock and CPU time: medians, and the fastest tenth for wall-clock time."""
    lines = []
    inside, plain = spent.get(("bash", "in process")), spent.get(("bash", "plain, in process"))
    ours, bwrap, srt = (spent.get(("bash", name)) for name in ("trial", "bwrap", "srt"))

    def line(budget, limit, measured, verdict):
        lines.append([who, budget, measured, limit, verdict])

    if inside and plain:
        wall, quick = inside.middle("wall") - plain.middle("wall"), inside.quick("wall") - plain.quick("wall")
        cpu = inside.middle("cpu") - plain.middle("cpu")
        line("bash tool, in process, over a plain spawn", f"≤ {BUDGET_MS} ms", f"clock {ms(wall)} ms (p10 {ms(quick)}), CPU {ms(cpu)} ms",
             held(max(wall, cpu) <= BUDGET_MS))
    whole = spent.get(("bash", "rep run"))
    if whole:
        line("bash tool, all of `rep run`", f"≤ {BUDGET_RUN_MS} ms",
             f"clock {ms(whole.middle('wall'))} ms (p10 {ms(whole.quick('wall'))}), CPU {ms(whole.middle('cpu'))} ms (p10 {ms(whole.quick('cpu'))})",
             held(max(whole.middle("wall"), whole.middle("cpu")) <= BUDGET_RUN_MS))
    python, plain_python = spent.get(("python3", "rep run")), spent.get(("python3", "plain"))
    if python and plain_python:
        more = [python.middle(which) - plain_python.middle(which) for which in ("wall", "cpu")]
        quick = [python.quick(which) - plain_python.quick(which) for which in ("wall", "cpu")]
        line("Python tool, all of `rep run`, over plain Python", f"≤ {BUDGET_PYTHON_MS} ms",
             f"clock {ms(more[0])} ms (p10 {ms(quick[0])}), CPU {ms(more[1])} ms (p10 {ms(quick[1])})",
             held(max(more) <= BUDGET_PYTHON_MS))
    for name, peer, need in (("bubblewrap", bwrap, 1), ("npm sandbox runtime", srt, BUDGET_SRT)):
        if ours and peer:
            wall, cpu = (peer.middle(which) / ours.middle(which) for which in ("wall", "cpu"))
            line(f"bash tool, as a command, against {name}", f"≥ {need}×", f"clock {run.times(wall)}, CPU {run.times(cpu)}",
                 held(min(wall, cpu) >= need))
        else:
            line(f"bash tool, as a command, against {name}", f"≥ {need}×", "–", "**not measured**")
    return lines


def section(found, missing, results, rep):
    versions = [f"rep {run.version_of(rep)}"]
    if "bwrap" in found:
        versions.append(f"bubblewrap {run.version_of(found['bwrap'])}")
    if "srt" in found:
        versions.append(f"@anthropic-ai/sandbox-runtime {SRT}")
    load = ", ".join(f"{value:.1f}" for value in os.getloadavg())
    notes = [f"NOT COMPARED: {name} was not available: {why}" for name, why in missing.items()]
    notes += [f"NOT COMPARED, {who}: {name}: {why}" for who, (_, left_out) in results.items() for name, why in left_out.items()]
    notes += [
        "The peers do less: bubblewrap has no seccomp filter and no Landlock here, hides nothing in `/proc`, shows no part of `/etc`, "
        "sets no limits and reads no output; in the npm sandbox runtime, the whole file system is readable.",
        "`rep run` also finds the interpreter, reads the skill, plans the run, checks the policy, validates the result and writes a record that is flushed to disk.",
        "The kernel's work to remove namespaces after a run is not counted for any tool.",
    ]
    parts = [
        MARK,
        "## Sandbox",
        "Written by `bench/sandbox.py --write`. Do not edit.",
        f"Tools: {', '.join(versions)}. Cores: {os.cpu_count()}. Kernel {re.match(r'[0-9.]+', os.uname().release).group(0)}. Load when done: {load}.\n"
        "Milliseconds: the median, the fastest tenth (p10), and both over a plain spawn of the same tool in the same rounds. CPU time includes\n"
        "every process of a run. A ratio is the cost divided by that of our sandbox at the same level (as a command, or in process).",
    ]
    for who, (spent, _) in results.items():
        parts += [f"As {who}:", table(HEAD, rows(spent))]
    parts.append(table(["as", "budget", "measured", "limit", "verdict"], [line for who, (spent, _) in results.items() for line in budgets(who, spent)]))
    parts.append("\n".join(f"- {note}" for note in notes))
    return "\n\n".join(parts).replace(str(ROOT.parent) + "/", "") + "\n"


def options():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--write", action="store_true", help="store the section in docs/benchmarks.md")
    parser.add_argument("--json", metavar="FILE", help="store every number as JSON")
    parser.add_argument("--rep", metavar="FILE", help="measure this binary instead of building the release")
    parser.add_argument("--rounds", type=int, default=100, help="of each command; the npm runtime gets a fifth (default 100)")
    return parser.parse_args()


def main():
    args = options()
    if not sys.platform.startswith("linux"):
        sys.exit("our sandbox needs Linux")
    WORK.mkdir(parents=True, exist_ok=True)
    binaries = built(args.rep)
    found, missing = peers()
    users = {"root": 0, "an ordinary user": USER} if os.geteuid() == 0 else {"an ordinary user": os.geteuid()}
    if len(users) == 1:
        missing["root"] = "this was not run as root"
    results, numbers = {}, {}
    for who, user in users.items():
        say(f"measuring as {who}")
        with tempfile.TemporaryDirectory(prefix="rep-bench-") as folder:
            scene = Scene(folder, binaries, found)
            if os.geteuid() == 0:
                scene.give(user)
            numbers[who] = as_user(user, lambda: measure(scene, args.rounds))
        for name, why in numbers[who]["left_out"].items():
            say(f"\n*** {name} DOES NOT RUN as {who}, and is not compared: {why} ***\n")
        spent = {(work, name): Spent(values) for work, name, values in numbers[who]["spent"]}
        results[who] = spent, numbers[who]["left_out"]
    text = section(found, missing, results, str(binaries["rep"]))
    print(text, end="")
    if args.write:
        run.store(text, MARK)
    if args.json:
        pathlib.Path(args.json).write_text(json.dumps(numbers))
    return 1 if "**missed**" in text else 0


if __name__ == "__main__":
    sys.exit(main())
