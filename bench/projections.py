"""Validates the output of `rep export --host claude-api` with the reference tool."""
import concurrent.futures
import pathlib
import subprocess
import sys
import tempfile

rep, reference, corpus, most = sys.argv[1:5]
rep, reference = (str(pathlib.Path(program).absolute()) for program in (rep, reference))
folders = sorted({path.parent for path in pathlib.Path(corpus).rglob("SKILL.md") if path.is_file() and not path.is_symlink()})
folders = folders[:int(most)] if most else folders


def one(numbered):
    number, folder = numbered
    with tempfile.TemporaryDirectory() as out:
        made = subprocess.run([rep, "export", "--host", "claude-api", str(folder.absolute()), "--out", out], capture_output=True,
                              text=True, timeout=120)
        if made.returncode in (1, 2):
            return "refused", folder, ""
        if made.returncode != 0:
            return "failed", folder, made.stderr
        for projection in pathlib.Path(out).iterdir():
            judged = subprocess.run([reference, "validate", str(projection)], capture_output=True, text=True, timeout=120)
            if judged.returncode != 0:
                return "rejected", folder, judged.stdout + judged.stderr
    return "accepted", folder, ""


counts = dict.fromkeys(("accepted", "refused", "rejected", "failed"), 0)
with concurrent.futures.ThreadPoolExecutor(4) as pool:
    for verdict, folder, why in pool.map(one, enumerate(folders)):
        counts[verdict] += 1
        if verdict in ("rejected", "failed"):
            print(f"{verdict}: {folder}\n{why.strip()}")
print(f"{len(folders)} skills: {counts['accepted']} projections accepted by the reference tool, {counts['refused']} refused by us, "
      f"{counts['rejected']} rejected, {counts['failed']} failed")
sys.exit(1 if counts["rejected"] or counts["failed"] or not counts["accepted"] else 0)
