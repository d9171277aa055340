#!/usr/bin/env python3
"""Measures the output of `rep convert --to uasp`: against hand-labelled facts, against the examples of the specification,
and with PyYAML, which defines the content version. Fails if a file of the corpus or its version is wrong.

The gold set, the specification and the corpus are in ../shared; without them nothing is measured, and the script reports
that. `--rep FILE` measures that binary, `--show` prints the missed and the wrong facts.
"""
import argparse
import json
import pathlib
import re
import subprocess
import sys
import tempfile

from extract import CONVERT, ROOT, python_with_yaml

SHARED = CONVERT.parent

# Run by an interpreter with PyYAML: computes the version of every file in a directory as the specification defines it.
RECIPE = """
import hashlib, json, pathlib, sys, yaml
wrong, count = [], 0
for path in sorted(pathlib.Path(sys.argv[1]).rglob('*.uasp.yaml')):
    skill = yaml.safe_load(path.read_text(encoding='utf-8'))
    meta = {key: value for key, value in skill['meta'].items() if key != 'version'}
    content = {**{key: value for key, value in skill.items() if key != 'meta'}, 'meta': meta}
    text = json.dumps(content, sort_keys=True, separators=(',', ':'))
    count += 1
    if hashlib.sha256(text.encode()).hexdigest()[:8] != skill['meta']['version']:
        wrong.append(str(path))
print(json.dumps({'count': count, 'wrong': wrong}))
"""

# Run the same way for two files: counts the items of each section, and the common ones.
SHARE = """
import json, re, sys, yaml
ours, theirs = (yaml.safe_load(open(path, encoding='utf-8')) for path in sys.argv[1:3])
like = lambda value: re.sub(r'[^a-z0-9]+', ' ', str(value).lower()).strip()
def facts(skill, section):
    top, _, below = section.partition('.')
    found = (skill.get(top) or {}).get(below) if below else skill.get(top)
    if isinstance(found, dict):
        return {like(key) for key in found}
    name = lambda one: next((one[key] for key in ('path', 'url', 'name', 'id', 'when', 'use') if key in one), one)
    return {like(name(one) if isinstance(one, dict) else one) for one in found or []}
rows = []
for section in ('constraints.never', 'constraints.always', 'constraints.prefer', 'decisions', 'state.entities', 'commands',
                'global_flags', 'workflows', 'reference', 'templates', 'environment', 'sources'):
    one, two = facts(ours, section), facts(theirs, section)
    rows.append((section, len(one), len(two), len(one & two)))
print(json.dumps({'type': [ours['meta']['type'], theirs['meta']['type']], 'rows': rows}))
"""


def score(python, args, gold, folder):
    """Returns the totals of the scorer for a directory of files."""
    with tempfile.NamedTemporaryFile(suffix=".json") as result:
        command = [python, args.scorer, "--gold", gold, "--pred", folder, "--json", result.name]
        done = subprocess.run(command + (["-v"] if args.show else []), check=True, capture_output=True, text=True)
        return done.stdout, json.loads(pathlib.Path(result.name).read_text())["micro"]


def convert(rep, skill, out):
    done = subprocess.run([rep, "convert", skill, "--to", "uasp", "--out", out, "--force", "-q"], capture_output=True, text=True)
    if done.returncode:
        sys.exit(f"{skill} does not convert: {done.stderr}")


def examples(python, args, out, scratch):
    """Compares the specification's conversions of three skills with ours."""
    seeds = sorted((SHARED / "seeds").glob("003_*.txt"))
    if not seeds:
        print("NOT COMPARED: the specification is not here", file=sys.stderr)
        return
    gold, theirs, ours = (scratch / name for name in ("gold", "theirs", "ours"))
    for folder in (gold, theirs, ours):
        folder.mkdir()
    for block in re.findall(r"^```yaml\n(.*?)^```", seeds[0].read_text(), re.M | re.S):
        name = re.search(r"^  name: *([a-z-]+)", block, re.M)
        if name and (args.gold / name[1]).is_dir():
            (gold / name[1]).symlink_to(args.gold / name[1])
            (theirs / f"{name[1]}.uasp.yaml").write_text(block)
            (ours / f"{name[1]}.uasp.yaml").write_text((out / f"{name[1]}.uasp.yaml").read_text())
    print("\nthe specification's examples, against hand-labelled facts of their originals")
    for title, folder in (("its own", theirs), ("ours", ours)):
        micro = score(python, args, gold, folder)[1]
        print(f"  {title:8} P {micro['P']:.3f}  R {micro['R']:.3f}  F1 {micro['F1']:.3f}")
    for path in sorted(ours.iterdir()):
        made = subprocess.run([python, "-c", SHARE, path, theirs / path.name], check=True, capture_output=True, text=True)
        share = json.loads(made.stdout)
        print(f"  {path.name}: type {share['type'][0]}, the specification says {share['type'][1]}")
        for section, one, two, both in share["rows"]:
            if one or two:
                print(f"    {section:20} ours {one:4}  its own {two:4}  the same words {both:4}")


def versions(python, rep, scratch):
    """Checks that every skill of the corpus converts, and that PyYAML computes the same version."""
    corpus = SHARED / "corpus" / "skills"
    if not corpus.is_dir():
        print("NOT CONVERTED: the corpus is not here", file=sys.stderr)
        return True
    out = scratch / "corpus"
    command = [rep, "convert", "--all", "--path", corpus, "--to", "uasp", "--out-dir", out, "--json", "-q"]
    done = subprocess.run(command, capture_output=True, text=True)
    summary = json.loads(done.stdout)["summary"]
    found = json.loads(subprocess.run([python, "-c", RECIPE, out], check=True, capture_output=True, text=True).stdout)
    checked = subprocess.run([rep, "check", out, "--profile", "uasp", "--format", "json"], capture_output=True, text=True)
    errors = json.loads(checked.stdout)["summary"]["errors"]
    print(f"\ncorpus: {summary['written']} of {summary['skills']} written, {summary['failed']} failed, {errors} errors, "
          f"{summary['needs_review']} values to review; PyYAML computes {found['count'] - len(found['wrong'])} of {found['count']} versions")
    for path in found["wrong"][:10]:
        print(f"  another version by PyYAML: {path}", file=sys.stderr)
    return not (found["wrong"] or summary["failed"] or errors or found["count"] != summary["written"])


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--gold", type=pathlib.Path, default=CONVERT / "gold")
    parser.add_argument("--scorer", type=pathlib.Path, default=CONVERT / "score_convert.py")
    parser.add_argument("--rep", type=pathlib.Path, help="the binary; built if not given")
    parser.add_argument("--show", action="store_true", help="print the missed and the wrong facts")
    args = parser.parse_args()
    if not args.gold.is_dir() or not args.scorer.is_file():
        print(f"NOT MEASURED: {args.gold} or {args.scorer} is not here", file=sys.stderr)
        return 0
    if args.rep is None:
        subprocess.run(["cargo", "build", "--quiet", "--package", "rep"], cwd=ROOT, check=True)
    rep = (args.rep or ROOT / "target" / "debug" / "rep").resolve()
    python = python_with_yaml()
    with tempfile.TemporaryDirectory() as scratch:
        scratch = pathlib.Path(scratch)
        out = scratch / "out"
        for skill in sorted(path.parent for path in args.gold.glob("*/SKILL.md")):
            convert(rep, skill, out / f"{skill.name}.uasp.yaml")
        # These skills may be used for tuning. `extract.py` checks the minimum score on other skills.
        table, _ = score(python, args, args.gold, out)
        print(table, end="")
        examples(python, args, out, scratch)
        is_fine = versions(python, rep, scratch)
    return 0 if is_fine else 1


if __name__ == "__main__":
    sys.exit(main())
