#!/usr/bin/env python3
"""Measures `rep eval-triggers` on the labelled requests in ../shared, and compares it with plain BM25.

Converts both query sets into eval files below target/, runs the release binary, prints the numbers and
exits with 1 if one is below its target. Without ../shared nothing is measured, and the script reports that.
"""
import argparse
import gzip
import json
import os
import pathlib
import subprocess
import sys

ROOT = pathlib.Path(__file__).resolve().parent.parent
# The baselines are those of full-text BM25 with an English stemmer on the same requests.
SETS = {
    "5,000 skills": {
        "hit_at_1": (0.560, 0.60),
        "recall_at_10": (0.790, None),
        "mrr": (0.638, 0.68),
    },
    "410 skills": {
        "hit_at_1": (0.662, 0.70),
        "hit_at_5": (0.864, 0.88),
        "mrr": (0.755, 0.79),
    },
}


def lines(path):
    with path.open(encoding="utf-8") as file:
        return [json.loads(line) for line in file]


def write(path, cases):
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text("".join(json.dumps(case) + "\n" for case in cases), encoding="utf-8")
    return path


def pool(shared, work):
    """Writes the skill pool as directories, and its requests with directories instead of ids."""
    source, skills = shared / "selection", work / "pool"
    paths = {}
    with gzip.open(source / "pool5k.jsonl.gz", "rt", encoding="utf-8") as file:
        for number, line in enumerate(file):
            skill = json.loads(line)
            folder = f"{number}/" + (skill["dir"] or skill["name"] or "skill").replace("/", "-")
            paths[skill["id"]] = folder
            target = skills / folder / "SKILL.md"
            if not target.exists():
                head = f"name: {json.dumps(skill['name'])}\ndescription: {json.dumps(skill['description'])}\n"
                target.parent.mkdir(parents=True, exist_ok=True)
                target.write_text(f"---\n{head}---\n\n{skill['body']}\n", encoding="utf-8")
    cases = []
    for query in lines(source / "queries.jsonl"):
        is_wanted = bool(query["gold"]) and not query.get("negative")
        # A request whose skill is not in the pool is skipped: it has no answer, and is not a negative either.
        if not is_wanted and not query.get("negative"):
            continue
        case = {"query": query["query"], "should_trigger": is_wanted, "skills": [paths[gold] for gold in query["gold"]]}
        case["equiv"] = [paths[equal] for equal in query.get("equiv", []) if equal in paths]
        cases.append(case)
    return skills, write(work / "selection.jsonl", cases)


def corpus(shared, work):
    """Returns the open set of skills, and its requests."""
    source = shared / "corpus"
    folders = {skill["id"]: skill["dir"] for skill in lines(source / "manifest.jsonl")}
    cases = [
        {
            "query": query["query"],
            "should_trigger": query["should_trigger"],
            "skills": [folders[skill] for skill in query["skills"]],
        }
        for query in lines(source / "queries.jsonl")
    ]
    return source / "skills", write(work / "corpus.jsonl", cases)


def measure(binary, skills, file, work):
    environment = {**os.environ, "XDG_CACHE_HOME": str(work / "cache")}
    command = [binary, "eval-triggers", file, "--path", skills, "--json", "--quiet"]
    run = subprocess.run(command, capture_output=True, text=True, env=environment)
    if run.returncode != 0:
        sys.exit(f"{run.stdout}{run.stderr}")
    return json.loads(run.stdout)


def main():
    arguments = argparse.ArgumentParser(description=__doc__)
    arguments.add_argument("--binary", type=pathlib.Path, default=ROOT / "target/release/rep")
    arguments.add_argument("--shared", type=pathlib.Path, default=ROOT.parent / "shared")
    options = arguments.parse_args()
    if not (options.shared / "selection").is_dir():
        print(f"nothing to measure: {options.shared / 'selection'} does not exist")
        return 0
    work = ROOT / "target" / "selection"
    is_below = False
    for (name, expected), prepare in zip(SETS.items(), (pool, corpus)):
        result = measure(options.binary, *prepare(options.shared, work), work)
        search = result["search"]
        print(f"{name}: {search['requests']} requests, {search['negatives']} that should not trigger")
        for key in ("hit_at_1", "hit_at_5", "recall_at_10", "mrr"):
            baseline, target = expected.get(key, (None, None))
            is_missed = target is not None and search[key] < target
            is_below |= is_missed
            beside = f"  BM25 {baseline:.3f}" if baseline is not None else ""
            aim = f"  target {target:.2f}{'  MISSED' if is_missed else ''}" if target is not None else ""
            print(f"  {key:14} {search[key]:.3f}{beside}{aim}")
        print(f"  negatives_first {search['negatives_first']} of {search['negatives']}")
        print(f"  answered       {search['answered']:.3f}")
        print(f"  negatives_unanswered {search['negatives_unanswered']} of {search['negatives']}")
        print(f"  select         {json.dumps(result['select'])}")
    return int(is_below)


if __name__ == "__main__":
    sys.exit(main())
