#!/usr/bin/env python3
"""Checks SQL statements without running them. Standard library only.

    sql_review.py lint FILE [--fail]            suspicious statements
    sql_review.py plan FILE --schema SCHEMA     SQLite's plan for each statement, on an empty database in memory
    sql_review.py report FILE                   the findings of lint, as Markdown

Every command takes --json. Exit codes: 0 fine, 1 findings and --fail, 2 usage or unreadable input.
"""

import argparse
import json
import os
import pathlib
import re
import sqlite3
import sys

# SQLite's number for ATTACH, which the module does not name.
ATTACH = 24
# Comments and quoted texts, so that their contents are not taken for SQL.
OPAQUE = re.compile(r"--[^\n]*|/\*.*?(?:\*/|\Z)|'(?:[^']|'')*(?:'|\Z)|\"(?:[^\"]|\"\")*(?:\"|\Z)", re.DOTALL)

RULES = [
    ("leading-wildcard", "slow", "no index can help a pattern that starts with a wildcard"),
    ("null-comparison", "wrong", "is never true; use IS NULL or IS NOT NULL"),
    ("select-star", "fragile", "names every column, also those added later"),
    ("write-without-where", "loss", "changes every row of the table"),
]
PATTERNS = {
    "null-comparison": re.compile(r"(?:<>|!=|(?<![<>!:])=)\s*NULL\b", re.IGNORECASE),
    "select-star": re.compile(r"\bSELECT\s+(?:DISTINCT\s+)?(?:\w+\.)?\*", re.IGNORECASE),
    "leading-wildcard": re.compile(r"\bLIKE\s+'[%_]", re.IGNORECASE),
}
WRITE = re.compile(r"\s*(?:UPDATE|DELETE\s+FROM)\b", re.IGNORECASE)
SET_NULL = re.compile(r"\bSET\b.*?(?=\bWHERE\b|\Z)", re.IGNORECASE | re.DOTALL)


def blank(match):
    """Spaces in place of a match; line breaks stay, so that line numbers hold."""
    return re.sub(r"[^\n]", " ", match.group())


def statements(text):
    """Each statement as (line, source without comments, the same without quoted texts)."""
    bare = OPAQUE.sub(lambda m: blank(m) if m.group().startswith(("--", "/*")) else m.group(), text)
    masked = OPAQUE.sub(blank, text)
    start = 0
    for end in [match.start() for match in re.finditer(";", masked)] + [len(masked)]:
        if masked[start:end].strip():
            first = start + len(masked[start:end]) - len(masked[start:end].lstrip())
            yield text.count("\n", 0, first) + 1, bare[start:end], masked[start:end]
        start = end + 1


def broken_rules(bare, masked):
    # `SET column = NULL` is an assignment, not a comparison.
    compared = SET_NULL.sub(blank, masked) if WRITE.match(masked) else masked
    searched = {"null-comparison": compared, "select-star": masked, "leading-wildcard": bare}
    for rule, text in searched.items():
        if PATTERNS[rule].search(text):
            yield rule
    if WRITE.match(masked) and not re.search(r"\bWHERE\b", masked, re.IGNORECASE):
        yield "write-without-where"


def lint(text):
    found = []
    count = 0
    for line, bare, masked in statements(text):
        count += 1
        broken = set(broken_rules(bare, masked))
        found += [
            {"line": line, "rule": rule, "weight": weight, "message": message}
            for rule, weight, message in RULES
            if rule in broken
        ]
    return {"statements": count, "findings": found}


class Unknown(dict):
    """Gives every named placeholder the value NULL."""

    def __missing__(self, key):
        return None


def plan(text, schema):
    database = sqlite3.connect(":memory:")
    # A schema under review must not open files.
    database.set_authorizer(lambda action, *_: sqlite3.SQLITE_DENY if action == ATTACH else sqlite3.SQLITE_OK)
    try:
        database.executescript(schema)
    except sqlite3.Error as error:
        print(f"sql_review.py: SQLite does not take the schema: {error}", file=sys.stderr)
        raise SystemExit(2) from None
    steps = []
    for line, bare, masked in statements(text):
        values = (None,) * masked.count("?") if "?" in masked else Unknown()
        try:
            rows = database.execute("EXPLAIN QUERY PLAN " + bare, values).fetchall()
            steps.append({"line": line, "steps": [row[3] for row in rows], "error": None})
        except sqlite3.Error as error:
            steps.append({"line": line, "steps": [], "error": str(error)})
    scans = sum(any(step.startswith("SCAN") for step in entry["steps"]) for entry in steps)
    return {"statements": len(steps), "scans": scans, "plans": steps}


def show_lint(name, result):
    for found in result["findings"]:
        print(f"{name}:{found['line']}: {found['rule']}: {found['message']}")
    print(f"{len(result['findings'])} findings in {result['statements']} statements")


def show_plan(name, result):
    for entry in result["plans"]:
        for step in entry["steps"] or [f"error: {entry['error']}" if entry["error"] else "nothing to plan"]:
            print(f"{name}:{entry['line']}: {step}")
    print(f"{result['scans']} of {result['statements']} statements scan a table")


def show_report(name, result):
    print(f"## Review of {name}")
    for heading, weights in (("Must fix", ("loss", "wrong")), ("Should fix", ("fragile", "slow"))):
        lines = [f for weight in weights for f in result["findings"] if f["weight"] == weight]
        if lines:
            print(f"\n### {heading}")
        for found in lines:
            print(f"- line {found['line']}: `{found['rule']}`: {found['message']}")
    if not result["findings"]:
        print("\nNothing found.")


def read(path):
    try:
        return pathlib.Path(path).read_text(encoding="utf-8")
    except (OSError, UnicodeDecodeError) as error:
        print(f"sql_review.py: cannot read {path}: {error}", file=sys.stderr)
        raise SystemExit(2) from None


def arguments(argv):
    common = argparse.ArgumentParser(add_help=False)
    common.add_argument("--json", action="store_true", default=bool(os.environ.get("SQL_REVIEW_JSON")))
    common.add_argument("file")
    parser = argparse.ArgumentParser(prog="sql_review.py", description="Checks SQL statements without running them.")
    commands = parser.add_subparsers(dest="command", required=True)
    commands.add_parser("lint", parents=[common]).add_argument("--fail", action="store_true")
    commands.add_parser("plan", parents=[common]).add_argument("--schema", required=True)
    commands.add_parser("report", parents=[common])
    return parser.parse_args(argv)


def main(argv):
    options = arguments(argv)
    text = read(options.file)
    if options.command == "plan":
        result, show = plan(text, read(options.schema)), show_plan
    else:
        result, show = lint(text), show_lint if options.command == "lint" else show_report
    if options.json:
        print(json.dumps({"file": options.file, **result}, indent=2))
    else:
        show(options.file, result)
    return 1 if options.command == "lint" and options.fail and result["findings"] else 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
