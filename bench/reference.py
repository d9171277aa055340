"""Runs the reference tool and ours on the same skills and compares stdout, stderr and exit code."""
import concurrent.futures
import pathlib
import subprocess
import sys

ours, theirs, listing = sys.argv[1:4]
ours, theirs = (str(pathlib.Path(p).absolute()) for p in (ours, theirs))
root = pathlib.Path(__file__).resolve().parent.parent
allowed = {}
for line in pathlib.Path(listing).read_text().splitlines():
    if line and not line.startswith("#"):
        case, _, why = line.partition("\t")
        allowed[case] = why

skills = []
shared = root.parent / "shared"
for base in (root / "examples", shared / "conformance" / "cases"):
    if base.is_dir():
        skills += [(base, p.parent) for p in sorted(base.rglob("*")) if p.name.lower() == "skill.md"]
if not shared.is_dir():
    print("note: ../shared is not here; only the examples are compared")


def run(program, command, skill):
    p = subprocess.run([program, command, skill.name], cwd=skill.parent, capture_output=True, timeout=60)
    return p.returncode, p.stdout.decode("utf-8", "replace"), p.stderr.decode("utf-8", "replace")


def same(ref, got):
    """Compares two results. Only the parser message after `Invalid YAML in frontmatter:` may differ."""
    mark = "Invalid YAML in frontmatter:"
    if mark in ref[2] and mark in got[2]:
        return ref[0] == got[0] and ref[1] == got[1] and ref[2].split(mark)[0] == got[2].split(mark)[0]
    return ref == got


def compare(item):
    base, skill = item
    rows = []
    for command in ("validate", "read-properties", "to-prompt"):
        case = f"{command} {skill.relative_to(base)}"
        ref, got = run(theirs, command, skill), run(ours, command, skill)
        rows.append((case, same(ref, got), ref, got))
    return rows


# Classes of cases in which the specification, as conflicts.md interprets it, contradicts the reference tool.
CLASSES = {
    "flow style refused by its parser": lambda ref: "JSONesque flow" in ref[2],
    "crash with a traceback": lambda ref: "Traceback (most recent call last)" in ref[2],
}
differ, known, used, by_class = [], 0, set(), dict.fromkeys(CLASSES, 0)
total = 0
with concurrent.futures.ThreadPoolExecutor(2) as pool:
    for rows in pool.map(compare, skills):
        for case, ok, ref, got in rows:
            total += 1
            if ok:
                continue
            reason = next((name for name, is_case in CLASSES.items() if is_case(ref)), None)
            if reason:
                known += 1
                by_class[reason] += 1
            elif case in allowed:
                known += 1
                used.add(case)
            else:
                differ.append(f"{case}\n  reference {ref}\n  ours      {got}")
print("\n".join(differ))
if shared.is_dir():
    for case in sorted(set(allowed) - used):
        differ.append(case)
        print(f"listed as different, but the same: {case}")
for name, count in by_class.items():
    print(f"  {count} where the reference: {name}")
print(f"compared {total} answers: {total - known - len(differ)} the same, {known} differ where the specification says so")
print(f"{total - len(differ)} passed, {len(differ)} failed")
sys.exit(1 if differ else 0)
