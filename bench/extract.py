#!/usr/bin/env python3
"""Scores what `rep-convert` extracts from Markdown against hand-labelled facts, and fails below the floor of the test part.

The labelled skills lie beside the repository in ../shared/convert; without them nothing is scored, loudly. They have two parts:

- development: all of `gold`, and half of `gold2`. It is there to be read and tuned on, and has no floor.
- test: the other half of `gold2`, chosen by the hash of the name. It is scored and never read: only totals are printed.

`--show` prints what was missed and what was wrong in the development part.
"""
import argparse
import hashlib
import importlib.util
import json
import pathlib
import random
import subprocess
import sys

ROOT = pathlib.Path(__file__).resolve().parent.parent
CONVERT = ROOT.parent / "shared" / "convert"
# What the extractor reaches on the test part, less a little: a change that falls below has broken something.
FLOORS = {"P": 0.94, "F1": 0.69}
# How alike a fact and what was extracted must be, as the scorer has it by default.
ALIKE = 0.55
TEST_SKILLS = 10


def python_with_yaml():
    """An interpreter that can run the scorer, which reads YAML: this one, or one of a folder of its own."""
    if importlib.util.find_spec("yaml"):
        return sys.executable
    venv = ROOT / "target" / "peers" / "yaml"
    if not (venv / "bin" / "python").exists():
        subprocess.run([sys.executable, "-m", "venv", venv], check=True)
        subprocess.run([venv / "bin" / "pip", "install", "--quiet", "--disable-pip-version-check", "pyyaml"], check=True)
    return str(venv / "bin" / "python")


def parts():
    """The skills of the development part and of the test part."""
    new = sorted((CONVERT / "gold2").glob("*/SKILL.md"), key=lambda path: hashlib.sha256(path.parent.name.encode()).hexdigest())
    new = [path.parent for path in new]
    old = sorted(path.parent for path in (CONVERT / "gold").glob("*/SKILL.md"))
    return old + sorted(new[TEST_SKILLS:]), sorted(new[:TEST_SKILLS])


def extracted(skills):
    build = ["cargo", "build", "--quiet", "--package", "rep-convert", "--example", "extract"]
    subprocess.run(build, cwd=ROOT, check=True)
    program = ROOT / "target" / "debug" / "examples" / "extract"
    lines = subprocess.run([program, *skills], capture_output=True, check=True, text=True).stdout.splitlines()
    return [json.loads(line) for line in lines]


def scored(scorer, skills):
    """The result of each skill: a mapping of sections to counts."""
    import yaml

    results = []
    for skill, document in zip(skills, extracted(skills), strict=True):
        gold = yaml.safe_load((skill / "gold.yaml").read_text())
        results.append(scorer.score(gold, scorer.pred_sections(document), ALIKE))
    return results


def totals(results):
    counts = {}
    for result in results:
        for section, found in result.items():
            own = counts.setdefault(section, dict.fromkeys(("tp", "fn", "okp", "npred"), 0))
            for key in own:
                own[key] += found[key]
    return counts


def micro(scorer, results):
    counts = totals(results).values()
    sums = {key: sum(count[key] for count in counts) for key in ("tp", "fn", "okp", "npred")}
    return sums, dict(zip(("P", "R", "F1"), (value or 0.0 for value in scorer.prf(**sums)), strict=True))


def interval(scorer, results, key):
    """The 95 % interval of a score, by drawing the skills again and again."""
    dice = random.Random(1)
    drawn = sorted(micro(scorer, dice.choices(results, k=len(results)))[1][key] for _ in range(2000))
    return drawn[50], drawn[-51]


def print_part(scorer, name, results):
    print(f"{name} ({len(results)} skills)")
    print(f"  {'section':12s} {'facts':>5s} {'found':>5s} {'P':>6s} {'R':>6s} {'F1':>6s}")
    shown = lambda value: "     -" if value is None else f"{value:6.3f}"
    for section, count in totals(results).items():
        scores = " ".join(shown(value) for value in scorer.prf(**count))
        print(f"  {section:12s} {count['tp'] + count['fn']:5d} {count['npred']:5d} {scores}")
    sums, scores = micro(scorer, results)
    print(f"  {'all':12s} {sums['tp'] + sums['fn']:5d} {sums['npred']:5d} " + " ".join(shown(scores[key]) for key in scores))
    for key in ("P", "F1"):
        low, high = interval(scorer, results, key)
        print(f"  {key} lies between {low:.3f} and {high:.3f} (95 %)")
    return scores


def print_errors(skills, results):
    for skill, result in zip(skills, results, strict=True):
        for section, found in result.items():
            for word in ("missed", "wrong"):
                for fact in found[word]:
                    print(f"  {skill.name}: {section}: {word}: {str(fact)[:160]}")


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--show", action="store_true", help="print what was missed and what was wrong in the development part")
    args = parser.parse_args()
    if not (CONVERT / "gold2").is_dir():
        print(f"NOT SCORED: {CONVERT} is not here", file=sys.stderr)
        return 0
    python = python_with_yaml()
    if python != sys.executable:
        return subprocess.run([python, *sys.argv]).returncode
    sys.path.insert(0, str(CONVERT))
    sys.dont_write_bytecode = True
    import score_convert as scorer

    development, test = parts()
    results = scored(scorer, development)
    told = print_part(scorer, "development part", results)
    if args.show:
        print_errors(development, results)
    scores = print_part(scorer, "test part", scored(scorer, test))
    print(f"F1 differs by {(told['F1'] - scores['F1']) * 100:.1f} points between the parts")
    low = [f"{key} {scores[key]:.3f} < {floor}" for key, floor in FLOORS.items() if scores[key] < floor]
    if low:
        print("BELOW THE FLOOR OF THE TEST PART: " + ", ".join(low), file=sys.stderr)
    return 1 if low else 0


if __name__ == "__main__":
    sys.exit(main())
