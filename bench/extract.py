#!/usr/bin/env python3
"""Scores the facts that `rep-convert` extracts from Markdown against hand-labelled facts, and fails below the minimum score
of the test part.

The labelled skills are in ../shared/convert; without them nothing is scored, and the script reports that. They have two parts:

- development: all of `gold`, and half of `gold2`. It is for reading and tuning, and has no minimum score.
- test: the other half of `gold2`, chosen by the hash of the name. It is scored but never read: only totals are printed.

`--show` prints the missed and the wrong facts of the development part, and `--rules` the effect of each rule there: how many facts
it finds, how many of them are right (P), how many of the labelled facts it finds (R), and what the total is without it. Of a doubtful rule, which is
off by default, the total is the one with it. Texts of the test part are never printed.
"""
import argparse
import functools
import hashlib
import importlib.util
import json
import pathlib
import random
import subprocess
import sys

ROOT = pathlib.Path(__file__).resolve().parent.parent
CONVERT = ROOT.parent / "shared" / "convert"
# Slightly below the current score on the test part: a lower score means that a change broke something.
FLOORS = {"P": 0.95, "F1": 0.85}
# How similar a labelled and an extracted fact must be: the default of the scorer.
ALIKE = 0.55
TEST_SKILLS = 10


def python_with_yaml():
    """Returns an interpreter with PyYAML for the scorer: this one, or one in a separate environment."""
    if importlib.util.find_spec("yaml"):
        return sys.executable
    venv = ROOT / "target" / "peers" / "yaml"
    if not (venv / "bin" / "python").exists():
        subprocess.run([sys.executable, "-m", "venv", venv], check=True)
        subprocess.run([venv / "bin" / "pip", "install", "--quiet", "--disable-pip-version-check", "pyyaml"], check=True)
    return str(venv / "bin" / "python")


def parts():
    """Returns the skills of the development part and of the test part."""
    new = sorted((CONVERT / "gold2").glob("*/SKILL.md"), key=lambda path: hashlib.sha256(path.parent.name.encode()).hexdigest())
    new = [path.parent for path in new]
    old = sorted(path.parent for path in (CONVERT / "gold").glob("*/SKILL.md"))
    return old + sorted(new[TEST_SKILLS:]), sorted(new[:TEST_SKILLS])


def build():
    command = ["cargo", "build", "--quiet", "--package", "rep-convert", "--example", "extract"]
    subprocess.run(command, cwd=ROOT, check=True)


def extracted(skills, *options):
    """Returns the document of each skill, and its facts with the rules that found them."""
    program = ROOT / "target" / "debug" / "examples" / "extract"
    command = [program, "--facts", *options, *skills]
    lines = subprocess.run(command, capture_output=True, check=True, text=True).stdout.splitlines()
    return [json.loads(line) for line in lines]


class Scoring:
    """Scores documents of the same skills repeatedly, and caches the result of each document."""

    def __init__(self, scorer, skills):
        import yaml

        self.scorer, self.skills, self.known = scorer, skills, {}
        self.gold = [yaml.safe_load((skill / "gold.yaml").read_text()) for skill in skills]

    def results(self, documents):
        """Returns the result of each skill: a mapping of sections to counts."""
        return [self.result(number, document) for number, document in zip(range(len(self.skills)), documents, strict=True)]

    def result(self, number, document):
        key = (number, json.dumps(document))
        if key not in self.known:
            self.known[key] = self.scorer.score(self.gold[number], self.scorer.pred_sections(document), ALIKE)
        return self.known[key]


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
    """Computes the 95 % interval of a score by resampling the skills."""
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
        print(f"  {key} is between {low:.3f} and {high:.3f} (95 %)")
    return scores


def print_errors(skills, results):
    for skill, result in zip(skills, results, strict=True):
        for section, found in result.items():
            for word in ("missed", "wrong"):
                for fact in found[word]:
                    print(f"  {skill.name}: {section}: {word}: {str(fact)[:160]}")


def only(document, facts, rule):
    """Returns the facts of one rule as a separate document."""
    found = {}
    for fact in facts:
        if fact["rule"] != rule:
            continue
        *parents, last = fact["path"]
        value, place = document, found
        for step in parents:
            value = value[step]
            empty = [] if isinstance(value, list) else {}
            place = place.setdefault(step, empty)
        if isinstance(place, list):
            place.append(value[last])
        else:
            place[last] = value[last]
    return found


def print_rules(scoring):
    """Prints the effect of each rule in the development part, and the total without it."""
    scorer, skills = scoring.scorer, scoring.skills
    f1 = lambda pairs: micro(scorer, scoring.results([document for document, _ in pairs]))[1]["F1"]
    sure, everything = extracted(skills), extracted(skills, "--doubtful")
    found_by = lambda pairs: {fact["rule"] for _, facts in pairs for fact in facts}
    confident = found_by(sure)
    doubtful = found_by(everything) - confident
    total = f1(sure)
    print(f"rules in the development part (F1 of all: {total:.3f})")
    print(f"  {'rule':24s} {'finds':>5s} {'P':>6s} {'facts':>5s} {'R':>6s} {'without':>8s} {'gains':>7s}")
    for rule in sorted(confident | doubtful):
        pairs = everything if rule in doubtful else sure
        own = [only(document, facts, rule) for document, facts in pairs]
        counts = totals(scoring.results(own)).values()
        # Only the sections in which the rule finds something: its recall is the share of their labelled facts.
        counts = [count for count in counts if count["npred"]]
        finds, right, facts, missed = (sum(count[key] for count in counts) for key in ("npred", "okp", "tp", "fn"))
        if rule in doubtful:
            others = [option for other in sorted(doubtful - {rule}) for option in ("--without", other)]
            changed = f1(extracted(skills, "--doubtful", *others))
            shown, gains = f"{'off':>8s}", changed - total
        else:
            changed = f1(extracted(skills, "--without", rule))
            shown, gains = f"{changed:8.3f}", total - changed
        ratio = lambda part, whole: f"{part / whole:6.3f}" if whole else "     -"
        print(f"  {rule:24s} {finds:5d} {ratio(right, finds)} {facts:5d} {ratio(facts, facts + missed)} {shown} {gains * 100:+7.2f}")
    print("  gains: points of F1 that the rule adds to the total, or would add if it is off")


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--show", action="store_true", help="print the missed and the wrong facts of the development part")
    parser.add_argument("--rules", action="store_true", help="print the effect of each rule in the development part")
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

    # All rules are compared on the same texts.
    scorer.toks = functools.cache(scorer.toks)
    build()
    development, test = parts()
    scoring = Scoring(scorer, development)
    results = scoring.results([document for document, _ in extracted(development)])
    told = print_part(scorer, "development part", results)
    if args.show:
        print_errors(development, results)
    measured = Scoring(scorer, test).results([document for document, _ in extracted(test)])
    scores = print_part(scorer, "test part", measured)
    print(f"F1 differs by {(told['F1'] - scores['F1']) * 100:.1f} points between the parts")
    if args.rules:
        print_rules(scoring)
    low = [f"{key} {scores[key]:.3f} < {floor}" for key, floor in FLOORS.items() if scores[key] < floor]
    if low:
        print("BELOW THE FLOOR OF THE TEST PART: " + ", ".join(low), file=sys.stderr)
    return 1 if low else 0


if __name__ == "__main__":
    sys.exit(main())
