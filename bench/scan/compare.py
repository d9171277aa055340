#!/usr/bin/env python3
"""Scores `rep scan` and a peer on labelled skills; `bench/scan.sh` calls it."""
import argparse
import json
import math
import pathlib
import resource
import shutil
import subprocess

parser = argparse.ArgumentParser()
parser.add_argument("--rep", required=True)
parser.add_argument("dirs", nargs="+", type=pathlib.Path)
args = parser.parse_args()


def wilson(hits, total, z=1.96):
    if total == 0:
        return 0.0, 1.0
    p, d = hits / total, 1 + z * z / total
    centre = p + z * z / (2 * total)
    spread = z * math.sqrt(p * (1 - p) / total + z * z / (4 * total * total))
    return (centre - spread) / d, (centre + spread) / d


def cpu():
    used = resource.getrusage(resource.RUSAGE_CHILDREN)
    return used.ru_utime + used.ru_stime


def scan_with_rep(folder, level):
    run = subprocess.run([args.rep, "scan", "--json", str(folder)], capture_output=True, text=True)
    if run.returncode not in (0, 1):
        raise SystemExit(f"rep: exit {run.returncode}: {run.stderr[-300:]}")
    wanted = {"error"} if level == "error" else {"error", "warning"}
    flagged = set()
    for skill in json.loads(run.stdout)["skills"]:
        name = pathlib.Path(skill["path"]).resolve().relative_to(folder.resolve()).parts[0]
        if any(finding["level"] in wanted for finding in skill["findings"]):
            flagged.add(name)
    return flagged


def scan_with_peer(folder, _level):
    flagged = set()
    for skill in sorted(path for path in folder.iterdir() if path.is_dir()):
        run = subprocess.run(["skill-scanner", "scan", str(skill), "--format", "json"], capture_output=True, text=True)
        try:
            report = json.loads(run.stdout)
        except ValueError:
            continue
        if any(str(one.get("severity", "")).upper() in ("HIGH", "CRITICAL") for one in report.get("findings", [])):
            flagged.add(skill.name)
    return flagged


tools = [("rep, error", scan_with_rep, "error"), ("rep, warning", scan_with_rep, "warning")]
if shutil.which("skill-scanner"):
    tools.append(("skill-scanner", scan_with_peer, "error"))
else:
    print("NOT COMPARED: skill-scanner (pip install cisco-ai-skill-scanner) is not installed")
for folder in args.dirs:
    print(f"\n{folder}")
    print(f"{'':14} {'recall':>26} {'false positives':>26} {'ms CPU/skill':>13}")
    for name, scan, level in tools:
        started, row, total = cpu(), [], 0
        for label in ("malicious", "benign"):
            part = folder / label
            names = {path.name for path in part.iterdir() if path.is_dir()} if part.is_dir() else set()
            hits = len(scan(part, level) & names) if names else 0
            low, high = wilson(hits, len(names))
            row.append(f"{hits / max(len(names), 1):.3f} ({hits}/{len(names)}, {low:.2f}-{high:.2f})")
            total += len(names)
        print(f"{name:14} {row[0]:>26} {row[1]:>26} {1000 * (cpu() - started) / max(total, 1):13.2f}")
