#!/usr/bin/env python3
"""Measures how `rep` scales with the library: list, prompt, select and search over 100 to 100,000 generated skills.

Libraries come from `cargo xtask library`, which is deterministic. Peers that can list a library, or print its prompt, run
interleaved over the same library. Growth is CPU time per skill relative to the next smaller library: 1 is linear.
"""
import argparse
import json
import os
import pathlib
import re
import shutil
import statistics
import subprocess
import sys

import run
from run import PEERS, ROOT, SCALE, TARGET, WORK, held, last_line, megabytes, say, seconds, table, times

SIZES = [100, 1_000, 10_000]
LARGE = 100_000
BESIDE = 2_000  # the library size of the budgets against peers
ANSWERS = 10_000  # the library size of the budgets of in-process answers
ANSWER_MS = 2
OPENSKILLS = "1.5.0"
# Text that only one generated skill contains; see crates/rep-test-support/src/synthetic_library.rs.
PHRASE, FILE, NAME = "quixotic marmalade foghorn", "in/a.zzlog", "keep-lighthouse-log"
CACHE = WORK / "cache"
INDEX = CACHE / "repertoire" / "search.idx"


# ---------------------------------------------------------------- libraries and peers

def library(count, shape):
    """Generates a library below target/bench, again if the sources of the generator have changed."""
    folder, stamp = WORK / f"{shape}-{count}", WORK / f"{shape}-{count}.stamp"
    sources = sorted((ROOT / "crates/rep-test-support/src").glob("synthetic_library*")) + sorted((ROOT / "crates/rep-test-support/src/synthetic_library").iterdir())
    version = "".join(path.read_text() for path in sources if path.is_file())
    if stamp.exists() and stamp.read_text() == version:
        return folder
    say(f"writing {count:,} skills, {shape}")
    shutil.rmtree(folder, ignore_errors=True)
    more = ["--mixed"] if shape == "mixed" else []
    subprocess.run(["cargo", "xtask", "library", str(folder), str(count), *more], cwd=ROOT, check=True, stdout=subprocess.DEVNULL)
    stamp.write_text(version)
    return folder


def install_openskills():
    script = PEERS / "npm" / "node_modules" / "openskills" / "dist" / "cli.js"
    node = shutil.which("node")
    if not node or not shutil.which("npm"):
        return None, "npm is not installed"
    if not script.exists():
        say(f"installing openskills {OPENSKILLS} from npm")
        command = ["npm", "install", "--silent", "--no-audit", "--prefix", str(PEERS / "npm"), f"openskills@{OPENSKILLS}"]
        (PEERS / "npm").mkdir(parents=True, exist_ok=True)
        done = subprocess.run(command, capture_output=True, text=True)
        if done.returncode or not script.exists():
            return None, last_line(done.stderr)
    return [node, str(script)], None


def peers(minutes):
    found, missing = {}, {}
    path, why = run.install_crate("agent-skills", minutes)
    found["agent-skills"], missing["agent-skills"] = path and [str(path)], why
    found["openskills"], missing["openskills"] = install_openskills()
    return {name: line for name, line in found.items() if line}, {name: why for name, why in missing.items() if why}


def home(folder, count):
    """Creates a home whose personal skills are the library, for the peer that only reads those."""
    place = WORK / f"home-{count}" / ".claude"
    place.mkdir(parents=True, exist_ok=True)
    link = place / "skills"
    if not link.is_symlink():
        link.symlink_to(folder)
    return str(place.parent)


# ---------------------------------------------------------------- measuring

def measured(command, runs, before=lambda: None, patience=60.0):
    """Returns the CPU time of every run, with a preparation before each, and the peak memory of one more run."""
    cost = run.Cost()
    for number in range(runs):
        if number >= 2 and sum(cost.wall) > patience:
            break
        before()
        cpu, wall, _, status = run.spend(command)
        if status not in (0, 1):
            sys.exit(f"{command}: exit {status}")
        cost.cpu.append(cpu)
        cost.wall.append(wall)
    before()
    cost.memory = run.peak_memory(command)
    return cost


def proven(command, pattern, count):
    done = subprocess.run(command, env=run.ENV, stdin=subprocess.DEVNULL, capture_output=True, text=True, errors="replace")
    seen = len(re.findall(pattern, done.stdout, re.M))
    if seen != count:
        sys.exit(f"{command}: {seen} of {count} (exit {done.returncode}): {last_line(done.stderr)[:160]}")


def works(rep, folder):
    """Returns the measurements of a mixed library: name to command, preparation of each run, and proof."""
    scopes = ["--project", f"{folder}/project", "--home", f"{folder}/home", "--managed", f"{folder}/managed", "--trust"]
    one = next(iter(sorted((folder / "home/.claude/skills").iterdir()))) / "SKILL.md"

    def forget():
        INDEX.unlink(missing_ok=True)

    def change():
        one.write_bytes(one.read_bytes())

    search = [rep, "search", PHRASE, *scopes]
    return {
        "list": ([rep, "list", *scopes], None),
        "prompt": ([rep, "prompt", *scopes], None),
        "select": ([rep, "select", "look at this", "--file", FILE, *scopes], None),
        "search, no index": (search, forget),
        "search, index": (search, None),
        "search, index, one changed": (search, change),
    }


def grow(rep, sizes, runs):
    """Measures CPU and memory of all work at all sizes."""
    costs = {}
    for count in sizes:
        folder = library(count, "mixed")
        shutil.rmtree(CACHE, ignore_errors=True)
        for name, (command, before) in works(rep, folder).items():
            say(f"measuring: {name}, {count:,} skills")
            if name == "select":
                proven(command, f"^{NAME} ", 1)
            elif name.startswith("search"):
                proven([*command, "--limit", "1"], f" {NAME}$", 1)
            often = max(2, runs * (1 if count >= 100_000 else 3 if count >= 10_000 else 10) // 2)
            costs[name, count] = measured(command, often, before or (lambda: None))
    return costs


def beside(rep, tools, sizes, runs):
    """Compares `list` and `prompt` of a plain library with the peers; returns rows of a table."""
    rows = []
    for count in sizes:
        folder = library(count, "plain")
        run.ENV["HOME"] = home(folder, count)
        paths = sorted(str(path) for path in folder.iterdir())
        bench = run.Bench(rep, {}, runs)
        often = 60 if count <= 1_000 else 30 if count <= 10_000 else 5
        work = {"rep": ("rep list", [[rep, "list", "--path", str(folder)]], run.says(r"  active ", count))}
        if "agent-skills" in tools:
            line = [*tools["agent-skills"], "list", str(folder)]
            work["agent-skills"] = ("agent-skills list", [line], run.says(r"^\S+  +\S", count))
        if "openskills" in tools:
            work["openskills"] = ("openskills list", [[*tools["openskills"], "list"]], run.number_is(r"\((\d+) total\)", count))
        budgets = {"agent-skills": 1} if count == BESIDE else None
        counted = run.QUICK if count <= BESIDE else ()
        bench.compare(f"`list`, {count:,} skills", work, often, counted=counted, budgets=budgets)
        work = {"rep": ("rep prompt", [[rep, "prompt", "--path", str(folder)]], run.says(r"<skill>", count))}
        # Above this size, the paths do not fit on a command line.
        if "agent-skills" in tools and sum(map(len, paths)) < 1_500_000:
            line = [*tools["agent-skills"], "to-prompt", *paths]
            work["agent-skills"] = ("agent-skills to-prompt", [line], run.says(r"<skill>", count))
        bench.compare(f"`prompt`, {count:,} skills", work, often, counted=counted, budgets=budgets)
        rows += [(found, bench.notes) for found in bench.rows]
    notes = [note for _, more in rows for note in more]
    return [run.cells(found) for found, _ in rows], sorted(set(notes))


# ---------------------------------------------------------------- answers in process

def bench_binary():
    command = ["cargo", "bench", "--quiet", "-p", "rep-library", "--no-run", "--message-format=json"]
    done = subprocess.run(command, cwd=ROOT, capture_output=True, text=True, check=True)
    found = [json.loads(line) for line in done.stdout.splitlines() if line.startswith("{")]
    return next(item["executable"] for item in found if item.get("executable") and item["target"]["name"] == "answers")


def instructions_of_one(binary, what, answers):
    """Returns the instructions of one answer, from the difference between three rounds and one."""
    counts = [run.instructions([binary, "--skills", str(ANSWERS), "--only", what, "--rounds", str(n)]) for n in (1, 3)]
    return (counts[1] - counts[0]) / (2 * answers) if all(counts) else None


def answers(count_instructions):
    say(f"measuring: answers in process, {ANSWERS:,} skills")
    binary = bench_binary()
    done = subprocess.run([binary, "--skills", str(ANSWERS), "--json"], capture_output=True, text=True, check=True)
    rows = []
    for line in map(json.loads, done.stdout.splitlines()):
        counted = instructions_of_one(binary, line["what"], line["answers"] // 20) if count_instructions else None
        median = line["median_ns"] / 1e6
        rows.append([f"`{line['what']}`", f"{line['skills']:,}", f"{median:.3f} ms", f"{line['p95_ns'] / 1e6:.3f} ms",
                     run.millions(counted) if counted else "–", f"≤ {ANSWER_MS} ms {held(median <= ANSWER_MS)}"])
    return rows


# ---------------------------------------------------------------- the section

def growth_rows(costs, sizes):
    rows = []
    for name in dict.fromkeys(name for name, _ in costs):
        line = [f"`{name}`" if "," not in name else f"`{name.split(',')[0]}`,{name.split(',', 1)[1]}"]
        smaller = None
        for count in sizes:
            cost = costs[name, count]
            cpu = cost.middle(cost.cpu)
            cell = f"{seconds(cpu)}, {megabytes(cost.memory)}"
            if smaller:
                cell += f" ({(cpu / count) / (smaller[0] / smaller[1]):.2f})"
            line.append(cell)
            smaller = (cpu, count)
        rows.append(line)
    return rows


def section(rep, sizes, costs, rows, notes, in_process, missing):
    parts = [
        SCALE,
        "## Growth",
        "Written by `bench/scale.py --write`. Do not edit.",
        f"Tools: rep {run.version_of(rep)}. Cores: {os.cpu_count()}. CPU time is the median of the runs, user and system, all cores added\n"
        "up; memory is the peak. In brackets: CPU time per skill against the next smaller library, where 1 is linear and less is better.\n"
        "The library has every scope, both dialects, collisions, packages, links, and skills that are hidden or broken.",
        table(["work", *(f"{count:,} skills" for count in sizes)], growth_rows(costs, sizes)),
        "Compared with the peers, over one directory of skills that all of them can read:",
        table(run.HEAD, rows),
        f"One answer in a process that has loaded {ANSWERS:,} skills (`cargo bench -p rep-library`):",
        table(["answer", "skills", "median", "95th percentile", "instructions", "budget"], in_process),
    ]
    more = [f"{name} was not available: {why}" for name, why in missing.items()]
    more.append("Search and select are not compared with a peer. skillport's search is part of a 700 MB MCP server whose full-text index fails "
                "with the database that it installs; agentskills-retrieval is not in the registry.")
    parts.append("\n".join(f"- {note}" for note in [*notes, *more]))
    return "\n\n".join(parts).replace(str(ROOT.parent) + "/", "") + "\n"


def options():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--large", action="store_true", help=f"also {LARGE:,} skills, which take 3 GB of disk")
    parser.add_argument("--write", action="store_true", help="store the section in docs/benchmarks.md")
    parser.add_argument("--rep", metavar="FILE", help="measure this binary instead of building the release")
    parser.add_argument("--runs", type=int, default=100, metavar="PERCENT", help="of the usual number of runs (default 100)")
    parser.add_argument("--minutes", type=int, default=8, help="the longest build of a peer (default 8)")
    parser.add_argument("--no-instructions", action="store_true", help="do not count the instructions of an answer, which takes minutes")
    return parser.parse_args()


def main():
    args = options()
    WORK.mkdir(parents=True, exist_ok=True)
    run.ENV.update({"XDG_CACHE_HOME": str(CACHE), "HOME": str(WORK / "nobody")})
    rep = run.binary(args.rep)
    tools, missing = peers(args.minutes)
    sizes = [*SIZES, *([LARGE] if args.large else [])]
    costs = grow(rep, sizes, max(2, 10 * args.runs // 100))
    rows, notes = beside(rep, tools, sorted([*sizes, BESIDE]), args.runs)
    text = section(rep, sizes, costs, rows, notes, answers(not args.no_instructions), missing)
    print(text, end="")
    if args.write:
        run.store(text, SCALE)
    return 1 if "**missed**" in text else 0


if __name__ == "__main__":
    sys.exit(main())
