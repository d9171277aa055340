#!/usr/bin/env python3
"""Runs a random sample of mutants of the crates that guard what a skill may do, each against its own crate's tests.

A mutant is chosen by the hash of the seed, its file, function and change, and never by its line: the same mutants are chosen
again after other code has moved. `cargo install --locked cargo-mutants` first. docs/notes/mutation-testing.md has the results.
"""

import argparse
import collections
import hashlib
import json
import re
import subprocess
import sys
from pathlib import Path

ROOT = Path(__file__).resolve().parent.parent
FILES = {
    "rep-archive": ["lib", "tar", "zip"],
    "rep-audit": ["lib", "read", "verify"],
    "rep-permissions": ["address", "glob", "host", "pii", "policy", "redact"],
}


def listed():
    """All mutants of the files, each with a key that does not change when lines move."""
    packages = [word for crate in FILES for word in ("-p", crate)]
    command = ["cargo", "mutants", "--list", "--json", *packages]
    mutants = json.loads(subprocess.run(command, cwd=ROOT, check=True, capture_output=True, text=True).stdout)
    wanted = {f"crates/{crate}/src/{name}.rs" for crate, names in FILES.items() for name in names}
    seen = collections.Counter()
    for mutant in mutants:
        if mutant["file"] not in wanted:
            continue
        function = (mutant["function"] or {}).get("function_name", "")
        change = re.sub(r"^[^ ]+:\d+:\d+: ", "", mutant["name"])
        key = (mutant["file"], function, change)
        seen[key] += 1
        yield "\0".join([*key, str(seen[key])]), mutant


def sample(seed, count):
    def rank(pair):
        return hashlib.sha256(f"{seed}\0{pair[0]}".encode()).digest()

    return [mutant for _, mutant in sorted(listed(), key=rank)[:count]]


def run(mutants, out, timeout_s):
    results = {}
    for crate in FILES:
        names = [mutant["name"] for mutant in mutants if mutant["package"] == crate]
        if not names:
            continue
        folder = out / crate
        folder.mkdir(parents=True, exist_ok=True)
        chosen = [word for name in names for word in ("-F", f"^{re.escape(name)}$")]
        command = ["cargo", "mutants", "-p", crate, "-j1", "--timeout", str(timeout_s), "-o", str(folder), *chosen]
        # It fails where a mutant survives; what it found is in the report.
        subprocess.run(command, cwd=ROOT, check=False)
        for outcome in json.loads((folder / "mutants.out/outcomes.json").read_text())["outcomes"]:
            # `-F` does not keep out mutants that remove a field of a struct.
            if outcome["scenario"] != "Baseline" and outcome["scenario"]["Mutant"]["name"] in names:
                results[outcome["scenario"]["Mutant"]["name"]] = outcome["summary"]
    return results


def main():
    options = argparse.ArgumentParser(description=__doc__)
    options.add_argument("--seed", type=int, default=1)
    options.add_argument("--count", type=int, default=150)
    options.add_argument("--timeout", type=int, default=120, help="seconds for the tests of one mutant")
    options.add_argument("--out", type=Path, default=ROOT / "target/mutants")
    options.add_argument("--list", action="store_true", help="only print the sample")
    options.add_argument("--crate", choices=FILES, help="only this crate's part of the sample")
    options.add_argument("--only", type=Path, help="a file of mutant names, one a line; others of the sample are left out")
    options = options.parse_args()
    mutants = sample(options.seed, options.count)
    if options.crate:
        mutants = [mutant for mutant in mutants if mutant["package"] == options.crate]
    if options.only:
        wanted = set(options.only.read_text().splitlines())
        mutants = [mutant for mutant in mutants if mutant["name"] in wanted]
    if options.list:
        print("\n".join(sorted(mutant["name"] for mutant in mutants)))
        return
    results = run(mutants, options.out, options.timeout)
    counts = collections.Counter(results.values())
    viable = sum(count for summary, count in counts.items() if summary != "Unviable")
    found = counts["CaughtMutant"] + counts["Timeout"]
    print("\n".join(f"{summary:14} {name}" for name, summary in sorted(results.items()) if summary != "CaughtMutant"))
    print(f"{dict(counts)}: {found} of {viable} viable mutants are caught, {100 * found / max(viable, 1):.1f} %")
    missing = len(mutants) - len(results)
    sys.exit(f"{missing} mutants have no result" if missing else None)


if __name__ == "__main__":
    main()
