#!/usr/bin/env python3
"""Runs a random sample of mutants of the security-relevant crates, each against the tests of its own crate.

A mutant is chosen by the hash of the seed, its file, function and change, but not its line, so the same mutants are
chosen after other code has moved. Run `cargo install --locked cargo-mutants` first. The results are in
docs/notes/mutation-testing.md.
"""

import argparse
import collections
import hashlib
import json
import os
import re
import subprocess
import sys
from pathlib import Path

ROOT = Path(__file__).resolve().parent.parent
PLANNING = ["plan", "plan/command", "plan/declarations", "plan/request", "plan/plan_json", "plan/description"]
# The sampled files of each crate, and the number of mutants.
FILES = {
    "rep-archive": (66, ["lib", "tar", "zip"]),
    "rep-audit": (34, ["lib", "runs", "verification"]),
    "rep-permissions": (100, ["address", "glob", "host", "pii", "policy", "redact"]),
    "rep-runtime": (100, [*PLANNING, "access", "approval", "grant"]),
}
# Arguments of `cargo test`. `tests::runs` is skipped: it starts real interpreters, takes longer than all other tests
# together, and only runs what other tests plan and grant.
TESTS = {"rep-runtime": ["--lib", "--", "--skip", "tests::runs"]}
# Reduces writing and linking, and does not store the failures of property tests in mutants.
VARIABLES = {"CARGO_PROFILE_DEV_DEBUG": "0", "PROPTEST_DISABLE_FAILURE_PERSISTENCE": "1"}


def listed():
    """Returns all mutants of the files, each with a key that does not depend on line numbers."""
    packages = [word for crate in FILES for word in ("-p", crate)]
    command = ["cargo", "mutants", "--list", "--json", *packages]
    mutants = json.loads(subprocess.run(command, cwd=ROOT, check=True, capture_output=True, text=True).stdout)
    wanted = {f"crates/{crate}/src/{name}.rs" for crate, (_, names) in FILES.items() for name in names}
    if missing := sorted(name for name in wanted if not (ROOT / name).exists()):
        sys.exit(f"these files do not exist; change FILES: {', '.join(missing)}")
    seen = collections.Counter()
    for mutant in mutants:
        if mutant["file"] not in wanted:
            continue
        function = (mutant["function"] or {}).get("function_name", "")
        change = re.sub(r"^[^ ]+:\d+:\d+: ", "", mutant["name"])
        key = (mutant["file"], function, change)
        seen[key] += 1
        yield "\0".join([*key, str(seen[key])]), mutant


def sample(seed):
    """Returns the mutants with the lowest hashes for each crate."""

    def rank(pair):
        return hashlib.sha256(f"{seed}\0{pair[0]}".encode()).digest()

    ranked = [mutant for _, mutant in sorted(listed(), key=rank)]
    for crate, (count, _) in FILES.items():
        yield from [mutant for mutant in ranked if mutant["package"] == crate][:count]


def run(mutants, options):
    results = {}
    for crate, (_, files) in FILES.items():
        names = [mutant["name"] for mutant in mutants if mutant["package"] == crate]
        if not names:
            continue
        folder = options.out / crate
        folder.mkdir(parents=True, exist_ok=True)
        command = ["cargo", "mutants", "-p", crate, "--timeout", str(options.timeout), "-o", str(folder)]
        command += ["--in-place"] if options.in_place else []
        command += [word for name in names for word in ("-F", f"^{re.escape(name)}$")]
        command += [word for file in files for word in ("-f", f"crates/{crate}/src/{file}.rs")]
        command += ["--", *TESTS.get(crate, [])]
        # It fails if a mutant survives; the results are in the report.
        subprocess.run(command, cwd=ROOT, check=False, env={**os.environ, **VARIABLES})
        for outcome in json.loads((folder / "mutants.out/outcomes.json").read_text())["outcomes"]:
            # `-F` does not exclude mutants that remove a field of a struct.
            if outcome["scenario"] != "Baseline" and outcome["scenario"]["Mutant"]["name"] in names:
                results[outcome["scenario"]["Mutant"]["name"]] = (crate, outcome["summary"])
    return results


def report(crate, summaries):
    counts = collections.Counter(summaries)
    viable = sum(count for summary, count in counts.items() if summary != "Unviable")
    found = counts["CaughtMutant"] + counts["Timeout"]
    if viable:
        print(f"{crate:16} {dict(counts)}: {found} of {viable} viable mutants are caught, {100 * found / viable:.1f} %")


def main():
    options = argparse.ArgumentParser(description=__doc__)
    options.add_argument("--seed", type=int, default=1)
    options.add_argument("--timeout", type=int, default=60, help="seconds for the tests of one mutant")
    options.add_argument("--out", type=Path, default=ROOT / "target/mutants")
    options.add_argument("--in-place", action="store_true", help="change this tree instead of a copy: faster")
    options.add_argument("--list", action="store_true", help="only print the sample")
    options.add_argument("--crate", choices=FILES, help="only this crate's part of the sample")
    options.add_argument("--only", type=Path, help="a file with the mutants of the sample to run, one per line")
    options = options.parse_args()
    mutants = list(sample(options.seed))
    if options.crate:
        mutants = [mutant for mutant in mutants if mutant["package"] == options.crate]
    if options.only:
        wanted = set(options.only.read_text().splitlines())
        mutants = [mutant for mutant in mutants if mutant["name"] in wanted]
    if options.list:
        print("\n".join(sorted(mutant["name"] for mutant in mutants)))
        return
    results = run(mutants, options)
    for name, (_, summary) in sorted(results.items()):
        if summary != "CaughtMutant":
            print(f"{summary:14} {name}")
    for crate in FILES:
        report(crate, [summary for of, summary in results.values() if of == crate])
    report("all", [summary for _, summary in results.values()])
    missing = len(mutants) - len(results)
    sys.exit(f"{missing} mutants have no result" if missing else None)


if __name__ == "__main__":
    main()
