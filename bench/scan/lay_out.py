#!/usr/bin/env python3
"""Lays out the labelled scripts as skills: lay_out.py MIRROR OUT.

MIRROR has the git directories of the repositories as OWNER+NAME/repo. A script whose digest is not the labelled one is
an error; a repository that is not there is reported, and its scripts are left out."""
import hashlib
import json
import pathlib
import subprocess
import sys

mirror, out = map(pathlib.Path, sys.argv[1:3])
labels = [json.loads(line) for line in (pathlib.Path(__file__).parent / "labels.jsonl").open()]
missing, count = set(), 0
for label in labels:
    git = mirror / label["repo"].replace("/", "+") / "repo"
    shown = subprocess.run(
        ["git", "--git-dir", str(git), "show", f"{label['commit']}:{label['path']}"], capture_output=True
    )
    if shown.returncode != 0:
        missing.add(label["repo"])
        continue
    if hashlib.sha256(shown.stdout).hexdigest() != label["sha256"]:
        raise SystemExit(f"{label['repo']}: {label['path']} is not the labelled file")
    folder = out / f"gold-{label['id']}"
    (folder / "scripts").mkdir(parents=True, exist_ok=True)
    front = f"---\nname: gold-{label['id']}\ndescription: Holds one script. Use when measuring.\n---\n\n# Script\n"
    (folder / "SKILL.md").write_text(front)
    (folder / "scripts" / pathlib.PurePosixPath(label["path"]).name).write_bytes(shown.stdout)
    count += 1
print(f"{count} of {len(labels)} scripts" + "".join(f"\nno repository {name}" for name in sorted(missing)))
