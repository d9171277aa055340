#!/usr/bin/env python3
"""Scores what `rep-convert` extracts from Markdown against hand-labelled facts, and fails below the floors.

The gold set and its scorer lie beside the repository in ../shared/convert; without them nothing is scored, loudly.
`--show` prints what was missed and what was wrong, `--gold DIR` scores another set of the same form.
"""
import argparse
import json
import pathlib
import subprocess
import sys
import tempfile

ROOT = pathlib.Path(__file__).resolve().parent.parent
CONVERT = ROOT.parent / "shared" / "convert"
# What the extractor reaches, less a little: a change that falls below has broken something.
FLOORS = {"P": 0.98, "R": 0.965, "F1": 0.975}


def python_with_yaml():
    """An interpreter that can run the scorer, which reads YAML: this one, or one of a folder of its own."""
    if subprocess.run([sys.executable, "-c", "import yaml"], capture_output=True).returncode == 0:
        return sys.executable
    venv = ROOT / "target" / "peers" / "yaml"
    if not (venv / "bin" / "python").exists():
        subprocess.run([sys.executable, "-m", "venv", venv], check=True)
        subprocess.run([venv / "bin" / "pip", "install", "--quiet", "--disable-pip-version-check", "pyyaml"], check=True)
    return str(venv / "bin" / "python")


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--gold", type=pathlib.Path, default=CONVERT / "gold")
    parser.add_argument("--scorer", type=pathlib.Path, default=CONVERT / "score_convert.py")
    parser.add_argument("--show", action="store_true", help="print what was missed and what was wrong")
    parser.add_argument("--keep", type=pathlib.Path, help="write the predictions here and keep them")
    args = parser.parse_args()
    if not args.gold.is_dir() or not args.scorer.is_file():
        print(f"NOT SCORED: {args.gold} or {args.scorer} is not here", file=sys.stderr)
        return 0
    build = ["cargo", "build", "--quiet", "--package", "rep-convert", "--example", "extract"]
    subprocess.run(build, cwd=ROOT, check=True)
    program = ROOT / "target" / "debug" / "examples" / "extract"
    skills = sorted(path.parent for path in args.gold.glob("*/SKILL.md"))
    with tempfile.TemporaryDirectory() as scratch:
        out = args.keep or pathlib.Path(scratch)
        out.mkdir(parents=True, exist_ok=True)
        made = subprocess.run([program, *skills], capture_output=True, check=True, text=True).stdout.splitlines()
        for skill, document in zip(skills, made, strict=True):
            # JSON is YAML too; only the layout differs.
            text = json.dumps(json.loads(document), indent=2, ensure_ascii=False)
            (out / f"{skill.name}.uasp.yaml").write_text(text + "\n")
        result = pathlib.Path(scratch) / "result.json"
        command = [python_with_yaml(), args.scorer, "--gold", args.gold, "--pred", out, "--json", result]
        subprocess.run(command + (["-v"] if args.show else []), check=True)
        micro = json.loads(result.read_text())["micro"]
    low = [f"{name} {micro[name]:.3f} < {floor}" for name, floor in FLOORS.items() if micro[name] < floor]
    if low:
        print("BELOW THE FLOOR: " + ", ".join(low), file=sys.stderr)
    return 1 if low else 0


if __name__ == "__main__":
    sys.exit(main())
