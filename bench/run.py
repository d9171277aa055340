#!/usr/bin/env python3
"""Measures `rep` and its peers: the same work, interleaved, in one run.

The machine may be busy, so the result is CPU time (user + system, from the kernel's accounting of
each process), and for the shortest work the number of instructions counted by valgrind.
A ratio is the peer's cost divided by ours: above 1, `rep` is cheaper.
"""
import argparse
import json
import os
import pathlib
import random
import re
import shutil
import statistics
import subprocess
import sys
import tempfile
import time

ROOT = pathlib.Path(__file__).resolve().parent.parent
TARGET = ROOT / "target"
PEERS = TARGET / "peers"
WORK = TARGET / "bench"
CORPUS = ROOT.parent / "shared" / "corpus" / "skills"
PAGE = ROOT / "docs" / "benchmarks.md"
# The marks at which the sections of other scripts start in the page, and the mark of bench/scale.py.
SECTION = re.compile(r"^<!-- bench/\w+\.py -->$", re.M)
SCALE = "<!-- bench/scale.py -->"
SMALL, LARGE = 2_000, 40_000
# Changes whenever the generated skills change, so that old ones are deleted.
GENERATOR = "3"
CALLS = 20  # calls of a tool that accepts one skill per call; the result is extrapolated
# Crates and the names of their binaries, with the compared version.
CRATES = {"agent-skills": ("agent-skills-cli", "0.5.0"), "skref": ("skref", "1.2.0"), "agnix": ("agnix-cli", "0.60.3")}
# The tools whose instructions are counted.
QUICK = ("rep", "agent-skills", "skref")
REFERENCE = "0.1.1"
ENV = {**os.environ, "NO_COLOR": "1", "LC_ALL": "C.UTF-8"}


def say(text):
    print(text, file=sys.stderr, flush=True)


# ---------------------------------------------------------------- peers

def install_reference():
    venv = PEERS / "skills-ref"
    binary = venv / "bin" / "agentskills"
    if not binary.exists():
        say(f"installing skills-ref {REFERENCE} from PyPI")
        pip = [str(venv / "bin" / "pip"), "install", "--quiet", "--disable-pip-version-check", f"skills-ref=={REFERENCE}"]
        for command in ([sys.executable, "-m", "venv", str(venv)], pip):
            done = subprocess.run(command, capture_output=True, text=True)
            if done.returncode:
                return None, last_line(done.stderr)
    return binary, None


def install_crate(binary, minutes):
    crate, version = CRATES[binary]
    path = PEERS / "cargo" / "bin" / binary
    if path.exists():
        return path, None
    say(f"building {crate} {version} from the registry (at most {minutes} minutes)")
    env = {**os.environ, "CARGO_PROFILE_RELEASE_LTO": "off", "CARGO_TARGET_DIR": str(PEERS / "build")}
    why = ""
    for locked in (["--locked"], []):
        command = ["cargo", "install", *locked, "-j2", "--root", str(PEERS / "cargo"), f"{crate}@{version}"]
        try:
            done = subprocess.run(command, capture_output=True, text=True, env=env, timeout=minutes * 60)
        except subprocess.TimeoutExpired:
            return None, f"not built within {minutes} minutes"
        except OSError as error:
            return None, str(error)
        if done.returncode == 0:
            return path, None
        why = last_line(done.stderr)
    return None, why


def last_line(text):
    lines = [line for line in text.splitlines() if line.strip()]
    return lines[-1] if lines else "no reason given"


def install(wanted, minutes):
    peers, missing = {}, {}
    for name in wanted:
        path, why = install_reference() if name == "skills-ref" else install_crate(name, minutes)
        if path:
            peers[name] = str(path)
        else:
            missing[name] = why
            say(f"cannot install {name}, going on without it: {why}")
    return peers, missing


# ---------------------------------------------------------------- work

NOUNS = """invoice ledger manifest schema pipeline cluster report dashboard ticket release changelog contract
image table spreadsheet archive certificate token session queue cache index migration template query
dataset notebook model prompt webhook calendar mailbox transcript glossary survey budget forecast""".split()
VERBS = """review extract convert validate summarise draft compare merge split audit plan repair annotate
translate schedule publish rotate measure sample group""".split()
FILLER = """the of a to and in for with before after when each every that this only first then from into
without until while between below above against""".split()
CODE = {
    "bash": "set -eu\nfor file in input/*.{noun}; do\n  sort \"$file\" | uniq -c > \"output/$(basename \"$file\")\"\ndone\n",
    "python": "import json\n\n\ndef {verb}(path):\n    with open(path) as file:\n        data = json.load(file)\n    return [row for row in data if row.get(\"{noun}\")]\n",
    "json": "{{\n  \"{noun}\": {{\"state\": \"ready\", \"count\": 3}},\n  \"steps\": [\"{verb}\", \"report\"]\n}}\n",
}


def sentence(dice):
    words = [dice.choice(VERBS).capitalize()]
    for _ in range(dice.randint(8, 18)):
        words.append(dice.choice(FILLER if dice.random() < 0.45 else NOUNS))
    return " ".join(words) + "."


def paragraph(dice, least=2, most=5):
    return " ".join(sentence(dice) for _ in range(dice.randint(least, most)))


def body(dice, links):
    """Generates about 6 kB of Markdown: headings, paragraphs, lists, fences, a table, and the links."""
    noun, verb = dice.choice(NOUNS), dice.choice(VERBS)
    parts = [f"# {verb.capitalize()} the {noun}\n\n{paragraph(dice)}\n"]
    parts += [f"For {dice.choice(NOUNS)} details see [{title}]({file}).\n" for title, file in links]
    size, size_wanted = sum(map(len, parts)), dice.randint(4_500, 7_500)
    section = 0
    while size < size_wanted:
        section += 1
        kind = section % 4
        head = f"\n{'##' if section % 3 else '###'} Step {section}: {dice.choice(VERBS)} the {dice.choice(NOUNS)}\n\n"
        if kind == 1:
            text = "\n".join(f"{n}. {sentence(dice)} Use `{dice.choice(VERBS)}-{dice.choice(NOUNS)}`." for n in range(1, 6))
        elif kind == 2:
            language = dice.choice(sorted(CODE))
            code = CODE[language].format(noun=dice.choice(NOUNS), verb=dice.choice(VERBS))
            text = f"{paragraph(dice, 1, 2)}\n\n```{language}\n{code}```"
        elif kind == 3:
            rows = "\n".join(f"| {dice.choice(NOUNS)} | {dice.choice(VERBS)} | {dice.randint(1, 99)} |" for _ in range(5))
            text = f"{paragraph(dice, 1, 2)}\n\n| what | how | count |\n|---|---|---|\n{rows}"
        else:
            text = f"{paragraph(dice)}\n\n- **{dice.choice(NOUNS)}**: {sentence(dice)}\n- *{dice.choice(NOUNS)}*: {sentence(dice)}"
        parts.append(f"{head}{text}\n")
        size += len(parts[-1])
    return "".join(parts)


def library(count):
    """Generates a tree of `count` valid skills below target/bench, the same on every machine."""
    folder, stamp = WORK / f"skills-{count}", WORK / f"skills-{count}.stamp"
    if stamp.exists() and stamp.read_text() == GENERATOR:
        return folder
    say(f"writing {count:,} skills")
    shutil.rmtree(folder, ignore_errors=True)
    for number in range(count):
        dice = random.Random(number)
        name = f"{dice.choice(VERBS)}-{dice.choice(NOUNS)}-{number:05}"
        skill = folder / name
        skill.mkdir(parents=True)
        links = []
        if number % 3 == 0:
            (skill / "references").mkdir()
            for title in ("format", "checklist")[: dice.randint(1, 2)]:
                (skill / "references" / f"{title}.md").write_text(f"# The {title}\n\n{paragraph(dice, 8, 16)}\n")
                links.append((title, f"references/{title}.md"))
        about = f"{sentence(dice)} {sentence(dice)} Use when somebody asks to {dice.choice(VERBS)} a {dice.choice(NOUNS)}."
        front = [f"name: {name}", f"description: {about}"]
        if number % 2:
            front.append("license: MIT")
        if number % 5 == 0:
            front.append(f"metadata:\n  author: team-{dice.choice(NOUNS)}\n  version: \"1.{dice.randint(0, 9)}\"")
        if number % 7 == 0:
            front.append("allowed-tools: Read Grep")
        (skill / "SKILL.md").write_text("---\n" + "\n".join(front) + "\n---\n\n" + body(dice, links))
    stamp.write_text(GENERATOR)
    return folder


# ---------------------------------------------------------------- measuring

class Cost:
    """The cost of one tool for one piece of work."""

    def __init__(self):
        self.cpu, self.wall = [], []
        self.memory = self.instructions = None
        self.times = 1  # the number of calls that the measured ones represent

    def middle(self, values):
        return statistics.median(values) * self.times

    def quartiles(self):
        if len(self.cpu) < 4:
            return min(self.cpu) * self.times, max(self.cpu) * self.times
        low, _, high = statistics.quantiles(self.cpu, n=4)
        return low * self.times, high * self.times


def spend(command):
    """Runs a command to its end. Returns CPU and wall-clock seconds, peak kilobytes and exit status."""
    null = os.open(os.devnull, os.O_RDWR)
    actions = [(os.POSIX_SPAWN_DUP2, null, fd) for fd in (0, 1, 2)]
    begin = time.perf_counter()
    pid = os.posix_spawn(command[0], command, ENV, file_actions=actions)
    _, status, used = os.wait4(pid, 0)
    wall = time.perf_counter() - begin
    os.close(null)
    return used.ru_utime + used.ru_stime, wall, used.ru_maxrss, os.waitstatus_to_exitcode(status)


def peak_memory(command):
    """Returns peak resident kilobytes. A process inherits the peak of its parent, so a small process starts it."""
    if not os.access("/usr/bin/time", os.X_OK):
        return spend(command)[2]
    with tempfile.NamedTemporaryFile("r", dir=WORK) as file:
        subprocess.run(["/usr/bin/time", "-f", "%M", "-o", file.name, *command], env=ENV,
                       stdin=subprocess.DEVNULL, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
        return int(file.read().split()[-1])


def instructions(command):
    valgrind = shutil.which("valgrind")
    if not valgrind:
        return None
    line = [valgrind, "--tool=callgrind", "--callgrind-out-file=/dev/null", *command]
    done = subprocess.run(line, env=ENV, stdin=subprocess.DEVNULL, capture_output=True, text=True, errors="replace")
    found = re.search(r"Collected\s*:\s*(\d+)", done.stderr) or re.search(r"refs:\s*([\d,]+)", done.stderr)
    return int(found.group(1).replace(",", "")) if found else None


class Broken(Exception):
    """A tool did not complete the work to be measured."""


def prove(name, command, proof):
    """Runs once as a warm-up, and checks that the work was done: a tool that gives up early is fast."""
    done = subprocess.run(command, env=ENV, stdin=subprocess.DEVNULL, capture_output=True, text=True, errors="replace")
    trouble = proof(done)
    if trouble:
        raise Broken(f"{name}: {trouble} (exit {done.returncode}): {last_line(done.stderr or done.stdout)[:160]}")


def measure(tools, runs, patience, count_instructions=()):
    """Interleaves the runs of all tools. A tool that exceeds its time limit skips the remaining runs."""
    costs = {name: Cost() for name in tools}
    for number in range(runs):
        for name, commands in tools.items():
            cost = costs[name]
            if number >= 3 and sum(cost.wall) > patience:
                continue
            cpu = wall = 0.0
            for command in commands:
                more_cpu, more_wall, _, _ = spend(command)
                cpu, wall = cpu + more_cpu, wall + more_wall
            cost.cpu.append(cpu)
            cost.wall.append(wall)
    for name, commands in tools.items():
        costs[name].memory = peak_memory(commands[0])
        if name in count_instructions:
            costs[name].instructions = instructions(commands[0])
    return costs


def exits(*codes):
    return lambda done: None if done.returncode in codes else "unexpected exit"


def says(pattern, count, codes=(0,)):
    """Requires that stdout matches `pattern` `count` times."""
    def proof(done):
        seen = len(re.findall(pattern, done.stdout, re.M))
        return exits(*codes)(done) or (None if seen == count else f"did {seen} of {count}")
    return proof


def number_is(pattern, count, codes=(0,)):
    """Requires that the number captured by `pattern` on stdout is `count`."""
    def proof(done):
        found = re.search(pattern, done.stdout)
        seen = int(found.group(1).replace(",", "")) if found else 0
        return exits(*codes)(done) or (None if seen == count else f"did {seen} of {count}")
    return proof


class Bench:
    def __init__(self, rep, peers, runs):
        self.rep, self.peers, self.runs = rep, peers, runs
        self.rows, self.notes = [], []

    def compare(self, work, tools, runs, patience=20.0, counted=(), times=None, budgets=None):
        """Measures one piece of work. `tools`: name to (label, commands, proof). `times`: tools whose calls are extrapolated."""
        say(f"measuring: {work}")
        able = {}
        for name, (_, commands, proof) in tools.items():
            try:
                prove(name, commands[0], proof)
                able[name] = commands
            except (Broken, OSError) as error:
                self.notes.append(f"{work}: left out, {error}")
                say(f"  left out: {error}")
        if "rep" not in able:
            return
        # Counting is fifty times slower than running, and unnecessary if the results are far apart.
        costed = [name for name in able if name in counted and len(able[name]) == 1]
        costs = measure(able, max(3, runs * self.runs // 100), patience, costed)
        for name, factor in (times or {}).items():
            if name in costs:
                costs[name].times = factor
        for name in able:
            if name != "rep":
                need = (budgets or {}).get(name)
                self.rows.append(row(work, tools[name][0], costs["rep"], costs[name], need))
        if len(able) == 1:
            self.rows.append(row(work, None, costs["rep"], None, None))


def row(work, label, ours, peer, need):
    found = {"work": work, "peer": label or "–", "ours": ours, "theirs": peer, "ratio": None, "counted": None, "budget": "–"}
    if not peer:
        return found
    found["ratio"] = peer.middle(peer.cpu) / ours.middle(ours.cpu)
    if ours.instructions and peer.instructions:
        found["counted"] = peer.instructions / ours.instructions
    if need:
        found["budget"] = verdict(found, ours, peer, need)
    return found


def verdict(found, ours, peer, need):
    """Decides by CPU time or, if the middle halves of the runs overlap, by instructions."""
    low, high = ours.quartiles()
    peer_low, peer_high = peer.quartiles()
    name = f"≥ {need}×"
    is_close = low * need <= peer_high and peer_low <= high * need
    if not is_close:
        return f"{name} {'holds' if found['ratio'] >= need else '**missed**'}"
    if found["counted"] and need == 1:
        return f"{name} {'holds' if found['counted'] >= need else '**missed**'} (CPU too close, by instructions)"
    return f"{name} too close to call"


# ---------------------------------------------------------------- the table

def seconds(value):
    return f"{value * 1e3:.2f} ms" if value < 0.01 else f"{value * 1e3:.0f} ms" if value < 1 else f"{value:.2f} s"


def megabytes(kilobytes):
    return f"{kilobytes / 1024:.1f} MB"


def times(ratio):
    return "–" if ratio is None else f"{ratio:.0f}×" if ratio >= 20 else f"{ratio:.2f}×"


def millions(count):
    return f"{count / 1e6:.2f} M" if count < 1e8 else f"{count / 1e6:.0f} M"


HEAD = ["work", "peer", "CPU, ours", "CPU, peer", "ratio", "clock, ours", "clock, peer", "instructions, ours / peer", "ratio",
        "memory, ours / peer", "budget"]


def cells(found):
    ours, peer = found["ours"], found["theirs"]
    counted = "–"
    if found["counted"]:
        counted = f"{millions(ours.instructions)} / {millions(peer.instructions)}"
    return [
        found["work"], found["peer"], seconds(ours.middle(ours.cpu)), seconds(peer.middle(peer.cpu)) if peer else "–",
        times(found["ratio"]), seconds(ours.middle(ours.wall)), seconds(peer.middle(peer.wall)) if peer else "–", counted,
        times(found["counted"]), f"{megabytes(ours.memory)} / {megabytes(peer.memory) if peer else '–'}", found["budget"],
    ]


def table(head, rows):
    widths = [max(len(line[at]) for line in [head, *rows]) for at in range(len(head))]
    def line(texts):
        return "| " + " | ".join(text.ljust(width) for text, width in zip(texts, widths)) + " |"
    return "\n".join([line(head), "|" + "|".join("-" * (width + 2) for width in widths) + "|", *map(line, rows)])


# ---------------------------------------------------------------- the pieces of work

def loop(program, skills):
    return [[program, "validate", str(skill)] for skill in skills]


def whole_library(bench, work, folder, count, runs, budgets=None, with_slow=True, codes=(0,)):
    """Measures `check` over a tree. The peers check less: only agnix has rules beyond the specification."""
    peers, found = bench.peers, sorted(path.parent for path in folder.rglob("SKILL.md"))
    if len(found) != count:
        bench.notes.append(f"{work}: agent-skills finds {len(found)} of them; it does not support `skill.md`.")
    skills = found[:: max(1, count // CALLS)][:CALLS]
    tools = {"rep": ("rep check", [[bench.rep, "check", str(folder)]], number_is(r"checked ([\d,]+) skills", count, codes))}
    if "agent-skills" in peers:
        deep = [] if all(path.parent == folder for path in skills) else ["-r"]
        command = [peers["agent-skills"], "list", str(folder), "--check", *deep]
        tools["agent-skills"] = ("agent-skills list --check", [command], says(r"^[✓✗]", len(found)))
    if "agnix" in peers:
        tools["agnix"] = ("agnix", [[peers["agnix"], str(folder)]], exits(0, 1))
    factors = {}
    if with_slow:
        for name in ("skref", "skills-ref"):
            if name in peers:
                calls = loop(peers[name], skills)
                tools[name] = (f"{name} validate, {count:,} calls extrapolated from {len(calls)}", calls, exits(0, 1))
                factors[name] = count / len(calls)
    bench.compare(work, tools, runs, counted=QUICK if count < LARGE else (), times=factors, budgets=budgets)


def prompts(bench, work, folder, runs, budgets):
    peers = bench.peers
    paths = sorted(str(path) for path in folder.iterdir())
    proof = says(r"<skill>", len(paths))
    tools = {"rep": ("rep to-prompt", [[bench.rep, "to-prompt", *paths]], proof)}
    for name in ("agent-skills", "skref", "skills-ref"):
        if name in peers:
            tools[name] = (f"{name} to-prompt", [[peers[name], "to-prompt", *paths]], proof)
    bench.compare(work, tools, runs, counted=QUICK, budgets=budgets)


def everything(bench, is_large):
    rep, peers = bench.rep, bench.peers
    natives = {"agent-skills": 1, "skref": 1}
    small = library(SMALL)
    one = str(min(path for path in small.iterdir() if (path / "references").is_dir()))

    tools = {"rep": ("rep --version", [[rep, "--version"]], says(r"\d+\.\d+\.\d+", 1))}
    tools |= {name: (f"{name} --version", [[path, "--version"]], says(r"\d+\.\d+\.\d+", 1)) for name, path in peers.items()}
    bench.compare("start: `--version`", tools, 100, 8.0, QUICK, budgets={**natives, "skills-ref": 100})

    tools = {"rep": ("rep validate", [[rep, "validate", one]], exits(0))}
    for name, path in peers.items():
        verb = [] if name == "agnix" else ["validate"]
        tools[name] = (" ".join([name, *verb]), [[path, *verb, one]], exits(0))
    bench.compare("one skill: `validate`", tools, 100, 8.0, QUICK, budgets={**natives, "skills-ref": 100})

    budgets = {"agent-skills": 1, "agnix": 20}
    whole_library(bench, f"`check`, {SMALL:,} skills", small, SMALL, 20, budgets)
    prompts(bench, f"`to-prompt`, {SMALL:,} skills", small, 20, natives)
    if CORPUS.is_dir():
        count = sum(1 for path in CORPUS.rglob("*") if path.name in ("SKILL.md", "skill.md"))
        whole_library(bench, f"`check`, {count} skills from public repositories", CORPUS, count, 20, budgets, False, (0, 1))
    else:
        bench.notes.append("The corpus of skills from public repositories is not here.")
    if is_large:
        large = library(LARGE)
        whole_library(bench, f"`check`, {LARGE:,} skills", large, LARGE, 3, budgets, False)


def other_budgets(bench):
    """Returns the budgets that are numbers and not comparisons with a peer."""
    lines = []
    size = os.path.getsize(bench.rep) / 1e6
    lines.append(["release binary", f"{size:.1f} MB", "≤ 25 MB", held(size <= 25)])
    by_work = {found["work"]: found["ours"] for found in bench.rows}
    small, large = by_work.get(f"`check`, {SMALL:,} skills"), by_work.get(f"`check`, {LARGE:,} skills")
    if large:
        used = large.memory / 1024
        lines.append([f"memory of `check`, {LARGE:,} skills", f"{used:.0f} MB", "≤ 150 MB", held(used <= 150)])
    if small and large:
        growth = large.middle(large.cpu) / small.middle(small.cpu) / (LARGE / SMALL)
        lines.append(["CPU per skill of `check`, 40,000 against 2,000", f"{growth:.2f}×", "linear: ≤ 1.25×", held(growth <= 1.25)])
    return lines


def held(is_so):
    return "holds" if is_so else "**missed**"


def version_of(path):
    done = subprocess.run([path, "--version"], env=ENV, capture_output=True, text=True)
    found = re.search(r"\d+\.\d+\.\d+\S*", done.stdout + done.stderr)
    return found.group(0) if found else "unknown"


def page(bench, missing):
    versions = ", ".join(f"{name} {version_of(path)}" for name, path in {"rep": bench.rep, **bench.peers}.items())
    unmeasured = [] if "agnix" in bench.peers else ["`check` against agnix, the linter with the most rules (≥ 20×; needs `--all`)"]
    if not any(f"{LARGE:,}" in found["work"] for found in bench.rows):
        unmeasured.append(f"`check` over {LARGE:,} skills (needs `--large`)")
    unmeasured += ["query", "sandboxed runs", "the MCP server", "the time of a clean build"]
    notes = [f"Budgets not measured in this run: {'; '.join(unmeasured)}.", *bench.notes, *(f"{name} could not be installed: {why}" for name, why in missing.items())]
    parts = [
        "# Benchmarks",
        "Written by `bench/run.py --write`; see `bench/README.md`. Do not edit.",
        f"Tools: {versions}. Cores: {os.cpu_count()}.",
        "CPU is user and system time together, the median of interleaved runs, all cores added up; the clock is a median\n"
        "too, and unreliable on a busy machine. Instructions are those of the process outside the kernel. A ratio is the\n"
        "peer's cost divided by ours: above 1, `rep` is cheaper. The peers in Rust are built without link-time optimisation;\n"
        "`rep` with it, as it is released. `rep check` applies every rule of its profiles to every file of a skill; the peers, agnix\n"
        "aside, check only the frontmatter of SKILL.md, so `check` is not the same work, only the same skills.",
        table(HEAD, [cells(found) for found in bench.rows]),
        table(["budget", "measured", "limit", "verdict"], other_budgets(bench)),
    ]
    parts.append("\n".join(f"- {note}" for note in notes))
    return "\n\n".join(parts).replace(str(ROOT.parent) + "/", "") + "\n"


def store(text, mark=""):
    """Replaces the section of one script in the page. The part before the first mark belongs to this script."""
    old = PAGE.read_text() if PAGE.exists() else "# Benchmarks\n"
    begins = [0, *(found.start() for found in SECTION.finditer(old)), len(old)]
    parts = [old[begin:end].strip("\n") for begin, end in zip(begins, begins[1:])]
    at = next((at for at, part in enumerate(parts) if at and mark and part.startswith(mark)), len(parts) if mark else 0)
    parts[at:at + 1] = [text.strip("\n")]
    PAGE.parent.mkdir(exist_ok=True)
    PAGE.write_text("\n\n".join(parts) + "\n")


def options():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--all", action="store_true", help="also the peer that takes minutes to build (agnix)")
    parser.add_argument("--large", action="store_true", help=f"also {LARGE:,} skills: memory and linearity")
    parser.add_argument("--write", action="store_true", help="store the table as docs/benchmarks.md")
    parser.add_argument("--json", metavar="FILE", help="store every number as JSON")
    parser.add_argument("--rep", metavar="FILE", help="measure this binary instead of building the release")
    parser.add_argument("--runs", type=int, default=100, metavar="PERCENT", help="of the usual number of runs (default 100)")
    parser.add_argument("--minutes", type=int, default=8, help="the longest build of a peer (default 8)")
    return parser.parse_args()


def binary(given):
    """Returns the binary to measure: a copy, so that a build does not replace it during the run."""
    if not given:
        subprocess.run(["cargo", "build", "--quiet", "--release"], cwd=ROOT, check=True)
    fresh, copy = WORK / "rep.new", WORK / "rep"
    shutil.copy2(given or TARGET / "release" / "rep", fresh)
    fresh.replace(copy)
    return str(copy)


def as_json(bench):
    def cost(of):
        return of and {**vars(of)}
    return [{**found, "ours": cost(found["ours"]), "theirs": cost(found["theirs"])} for found in bench.rows]


def main():
    args = options()
    WORK.mkdir(parents=True, exist_ok=True)
    rep = binary(args.rep)
    wanted = ["agent-skills", "skref", "skills-ref"]
    if args.all or (PEERS / "cargo" / "bin" / "agnix").exists():
        wanted.insert(2, "agnix")
    peers, missing = install(wanted, args.minutes)
    bench = Bench(rep, peers, args.runs)
    everything(bench, args.large)
    text = page(bench, missing)
    print(text, end="")
    if args.write:
        store(text)
    if args.json:
        pathlib.Path(args.json).write_text(json.dumps(as_json(bench), indent=1, ensure_ascii=False))
    return 1 if "**missed**" in text else 0


if __name__ == "__main__":
    sys.exit(main())
