#!/usr/bin/env python3
"""Compares the behaviours of `rep scan` with the labels: score_labels.py --rep BIN OUT [--show KIND].

OUT is what `lay_out.py` wrote. A behaviour is right if a label of the same kind has the same argument, or if one of the two
arguments is a pattern that covers the other; it is exact if the arguments are equal. Prints precision, recall and exact
arguments for each kind, and exits with 1 if a floor is not met."""
import argparse
import fnmatch
import json
import pathlib
import subprocess
import sys

KINDS = ("read", "write", "connect", "spawn", "env", "secrets")
PRECISION_MIN, RECALL_MIN, EXACT_MIN = 0.95, 0.90, 0.85

parser = argparse.ArgumentParser()
parser.add_argument("--rep", default="rep")
parser.add_argument("--show", default="")
parser.add_argument("--floors", action="store_true")
parser.add_argument("out", type=pathlib.Path)
args = parser.parse_args()

labels = {}
for line in (pathlib.Path(__file__).parent / "labels.jsonl").open():
    label = json.loads(line)
    name = pathlib.PurePosixPath(label["path"]).name
    own = {k: [v.replace("@self", f"@skill/scripts/{name}") for v in vs] for k, vs in label["capabilities"].items()}
    labels[f"gold-{label['id']}"] = own
run = subprocess.run([args.rep, "scan", "--json", str(args.out)], capture_output=True, text=True)
if run.returncode not in (0, 1):
    raise SystemExit(f"exit {run.returncode}: {run.stderr[-300:]}")
found = {}
for skill in json.loads(run.stdout)["skills"]:
    kinds = {kind: set() for kind in KINDS}
    for behaviour in skill["behaviours"]:
        if behaviour["file"].endswith("SKILL.md") or behaviour.get("capability") not in KINDS:
            continue
        kinds[behaviour["capability"]].add(behaviour["argument"])
    found[skill["name"]] = kinds


def covers(a, b):
    return a == b or fnmatch.fnmatchcase(b, a) or fnmatch.fnmatchcase(a, b)


failed = False
print(f"{'kind':10} {'labels':>6} {'found':>6} {'precision':>9} {'recall':>6} {'exact':>6}")
for kind in KINDS:
    wanted = [(name, value) for name, own in labels.items() if name in found for value in own.get(kind, [])]
    got = [(name, value) for name, own in found.items() for value in sorted(own[kind])]
    right = [one for one in got if any(covers(one[1], other) for other in labels[one[0]].get(kind, []))]
    recalled = [one for one in wanted if any(covers(one[1], other) for other in found[one[0]][kind])]
    exact = [one for one in wanted if one[1] in found[one[0]][kind]]
    precision, recall = len(right) / max(len(got), 1), len(recalled) / max(len(wanted), 1)
    exactness = len(exact) / max(len(recalled), 1)
    print(f"{kind:10} {len(wanted):6} {len(got):6} {precision:9.3f} {recall:6.3f} {exactness:6.3f}")
    failed |= precision < PRECISION_MIN or recall < RECALL_MIN or exactness < EXACT_MIN
    if kind == args.show or args.show == "all":
        for one in got:
            if one not in right:
                print("   wrong  ", kind, *one)
        for one in wanted:
            if one not in recalled:
                print("   missing", kind, *one)
            elif one not in exact:
                print("   inexact", kind, *one, "found", sorted(found[one[0]][kind]))
sys.exit(1 if args.floors and failed else 0)
