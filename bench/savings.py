#!/usr/bin/env python3
"""Compares the token cost of queries with that of reading whole skills, over a corpus.

Measures for every skill the cost of the whole SKILL.md, of its line in the session manifest, and of a few typical
queries (all constraints, then commands, decisions and workflows one at a time). All twelve sections of every
skill are queried; the exit status is 1 if a query fails other than with `not found`. Writes a table and a plot into docs/.
"""
import argparse
import json
import pathlib
import statistics
import subprocess
import sys
from concurrent.futures import ThreadPoolExecutor

ROOT = pathlib.Path(__file__).resolve().parent.parent
CORPUS = ROOT.parent / "shared" / "corpus" / "skills"
SECTIONS = ["meta", "triggers", "constraints", "decisions", "state", "commands", "global_flags", "workflows", "reference",
            "templates", "environment", "sources"]


def rep(binary, *arguments):
    done = subprocess.run([binary, *map(str, arguments)], capture_output=True, text=True)
    return done.returncode, done.stdout, done.stderr


def look(binary, skill):
    """Returns the tokens of one skill, and the failed queries."""
    code, out, err = rep(binary, "show", skill, "--json")
    if code != 0:
        return None, [f"show {skill}: {err.strip()[:200]}"]
    shown = json.loads(out)
    name, failed = shown["name"], []
    if shown["status"] not in ("active", "hidden"):
        return None, []
    costs, held = {}, shown["tokens"]["sections"]
    for section in SECTIONS:
        counted = ["--tokens"] if section in held else []
        code, out, err = rep(binary, "query", f"{name}:{section}", "--path", skill, *counted)
        answer = json.loads(out) if out.startswith("{") else {}
        # A section that the skill does not have must give `not found`.
        if section not in held and code == 1 and answer.get("error", {}).get("code") == "PATH_NOT_FOUND":
            continue
        if code != 0 or not answer.get("found"):
            failed.append(f"{name}:{section}: exit {code} {out[:120]}{err[:120]}")
            continue
        value = answer["value"]
        costs[section] = {
            "answer": answer["tokens"]["answer"],
            "whole": answer["tokens"]["whole"],
            "entries": len(value) if isinstance(value, (list, dict)) else 1,
        }
    return {"name": name, "costs": costs, "catalogue": shown["tokens"]["catalogue"]}, failed


def typical(skill):
    """Returns the cost of a working session: `meta`, all constraints, and up to two entries of each other section."""
    total = skill["costs"].get("meta", {}).get("answer", 0)
    total += skill["costs"].get("constraints", {}).get("answer", 0)
    for section, count in (("commands", 2), ("decisions", 2), ("workflows", 1)):
        cost = skill["costs"].get(section)
        if cost and cost["entries"]:
            total += round(cost["answer"] * min(count, cost["entries"]) / cost["entries"])
    return total


def quantiles(values):
    values = sorted(values)
    pick = lambda part: values[min(len(values) - 1, int(part * len(values)))]
    return pick(0.1), statistics.median(values), pick(0.9), values[-1]


def plot(points):
    """Draws a scatter plot of session cost against whole cost, both in tokens, on logarithmic axes, as plain SVG."""
    import math
    width, height, left, bottom = 640, 420, 64, 48
    low, high = 10, max(max(x, y) for x, y in points) * 1.2
    scale = lambda value, room: (math.log10(max(value, low)) - math.log10(low)) / (math.log10(high) - math.log10(low)) * room
    at = lambda x, y: (left + scale(x, width - left - 16), height - bottom - scale(y, height - bottom - 16))
    lines = [f'<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 {width} {height}" role="img" '
             f'aria-label="Tokens of a session of questions against tokens of the whole skill" font-family="sans-serif" font-size="12">',
             f'<rect width="{width}" height="{height}" fill="#fff"/>']
    tick = 10
    while tick < high:
        (x, _), (_, y) = at(tick, low), at(low, tick)
        lines.append(f'<path d="M{x:.1f} 16V{height - bottom}M{left} {y:.1f}H{width - 16}" stroke="#ddd" fill="none"/>')
        lines.append(f'<text x="{x:.1f}" y="{height - bottom + 16}" text-anchor="middle" fill="#444">{tick:,}</text>')
        lines.append(f'<text x="{left - 6}" y="{y + 4:.1f}" text-anchor="end" fill="#444">{tick:,}</text>')
        tick *= 10
    (x0, y0), (x1, y1) = at(low, low), at(high, high)
    lines.append(f'<path d="M{x0:.1f} {y0:.1f}L{x1:.1f} {y1:.1f}" stroke="#888" stroke-dasharray="4 4" fill="none"/>')
    for x, y in sorted(points):
        cx, cy = at(x, y)
        lines.append(f'<circle cx="{cx:.1f}" cy="{cy:.1f}" r="2.5" fill="#2563a8" fill-opacity="0.5"/>')
    lines.append(f'<text x="{width / 2}" y="{height - 8}" text-anchor="middle" fill="#222">tokens of the whole file</text>')
    lines.append(f'<text transform="translate(14 {height / 2}) rotate(-90)" text-anchor="middle" fill="#222">tokens of a session of questions</text>')
    return "\n".join([*lines, "</svg>"]) + "\n"


def main():
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--bin", default=str(ROOT / "target/release/rep"))
    parser.add_argument("--corpus", type=pathlib.Path, default=CORPUS)
    parser.add_argument("--write", action="store_true", help="write docs/savings.md and docs/savings.svg")
    options = parser.parse_args()
    if not options.corpus.is_dir():
        print(f"SKIPPED: {options.corpus} is not here, so nothing was queried")
        return 0
    skills = sorted(path.parent for path in options.corpus.rglob("SKILL.md"))
    with ThreadPoolExecutor(2) as pool:
        found = list(pool.map(lambda skill: look(options.bin, skill), skills))
    failed = [failure for _, failures in found for failure in failures]
    looked = [skill for skill, _ in found if skill]
    points = [(skill["costs"]["meta"]["whole"], typical(skill)) for skill in looked if "meta" in skill["costs"]]
    rows = [("whole file", [whole for whole, _ in points]), ("a session of questions", [session for _, session in points])]
    for section in SECTIONS:
        costs = [skill["costs"][section]["answer"] for skill in looked if section in skill["costs"]]
        if costs:
            rows.append((f"`{section}`", costs))
    saved = [1 - session / whole for whole, session in points if whole]
    text = ["# Token savings of queries", "",
            f"Written by `bench/savings.py` over {len(points)} public skills, in tokens of `o200k_base`; Markdown skills are converted by rules. "
            "A session consists of queries for `meta`, all constraints, two commands, two decisions and one workflow, if the skill has them. "
            "The envelope of each answer (skill, path, lines) adds about 60 to 100 tokens per query: below about 600 tokens it is "
            "cheaper to read the whole file.", "",
            "| | skills | 10 % | median | 90 % | most |", "|---|---|---|---|---|---|"]
    for name, values in rows:
        ten, half, ninety, most = quantiles(values)
        text.append(f"| {name} | {len(values)} | {ten:,.0f} | {half:,.0f} | {ninety:,.0f} | {most:,} |")
    ten, half, ninety, _ = quantiles(saved)
    text += ["", f"A session saves {half:.0%} at the median (10 %: {ten:.0%}, 90 %: {ninety:.0%}); for "
             f"{sum(1 for part in saved if part <= 0)} of {len(saved)} skills it saves nothing.", "",
             "![Tokens of a session of questions against tokens of the whole file](savings.svg)", ""]
    print("\n".join(text))
    if options.write:
        (ROOT / "docs/savings.md").write_text("\n".join(text))
        (ROOT / "docs/savings.svg").write_text(plot(points))
    for failure in failed[:20]:
        print(f"FAILED {failure}", file=sys.stderr)
    return 1 if failed else 0


if __name__ == "__main__":
    sys.exit(main())
