#!/usr/bin/env python3
"""Describes the columns of a CSV or TSV file. Standard library only.

As a tool:    profile_csv({"path": "data/harvest.csv"}, ctx) -> dict
As a command: python3 scripts/profile.py FILE [MAX_ROWS]
"""

import csv
import datetime
import json
import math
import pathlib
import re
import sys

SKILL = pathlib.Path(__file__).resolve().parent.parent
DELIMITERS = (",", ";", "\t", "|")
# More than 18 digits, or a leading zero: an identifier, not a quantity.
INTEGER = re.compile(r"[+-]?(0|[1-9][0-9]{0,17})")
NUMBER = re.compile(r"[+-]?(0|[1-9][0-9]*)?(\.[0-9]+)?([eE][+-]?[0-9]+)?")
DATE = re.compile(r"[0-9]{4}-[0-9]{2}-[0-9]{2}")


class Refused(Exception):
    """The file cannot be profiled; becomes the error envelope."""

    def __init__(self, code, message):
        super().__init__(message)
        self.code = code


def profile_csv(args, ctx=None):
    """The tool's handler: counts and ranges per column, or an error envelope."""
    try:
        return describe(args["path"], args.get("max_rows", 100_000))
    except Refused as refused:
        error = {"code": refused.code, "message": str(refused), "retriable": False}
        return {"status": "error", "error": error}


def describe(path, max_rows):
    try:
        with locate(path).open(encoding="utf-8-sig", newline="") as file:
            delimiter = delimiter_of(path, file.readline())
            file.seek(0)
            return summarise(path, delimiter, csv.reader(file, delimiter=delimiter), max_rows)
    except UnicodeDecodeError:
        raise Refused("INVALID_ARGUMENT", f"{path} is not UTF-8 text") from None
    except csv.Error as error:
        raise Refused("INVALID_ARGUMENT", f"{path} is not a readable table: {error}") from None
    except OSError as error:
        raise Refused("NOT_FOUND", f"cannot read {path}: {error.strerror}") from None


def locate(path):
    """The file in the workspace, or the sample of that name beside this skill."""
    wanted = pathlib.PurePosixPath(path)
    if wanted.is_absolute() or ".." in wanted.parts:
        raise Refused("INVALID_ARGUMENT", "path must be relative and stay inside the workspace")
    for root in (pathlib.Path.cwd(), SKILL):
        if (root / wanted).is_file():
            return root / wanted
    raise Refused("NOT_FOUND", f"{path} does not exist")


def delimiter_of(path, header):
    """Tab for .tsv; otherwise the candidate that splits the header into most cells."""
    if path.endswith(".tsv"):
        return "\t"
    return max(DELIMITERS, key=lambda mark: len(next(csv.reader([header], delimiter=mark), [])))


def summarise(path, delimiter, reader, max_rows):
    header = next(reader, None)
    if header is None:
        raise Refused("INVALID_ARGUMENT", f"{path} is empty")
    cells = [[] for _ in header]
    rows = ragged = 0
    truncated = False
    for row in reader:
        if not row:
            continue
        if rows == max_rows:
            truncated = True
            break
        rows += 1
        ragged += len(row) != len(header)
        for at, column in enumerate(cells):
            column.append(row[at].strip() if at < len(row) else "")
    names = [name.strip() or f"column {at}" for at, name in enumerate(header, start=1)]
    return {
        "path": path,
        "delimiter": delimiter,
        "rows": rows,
        "ragged_rows": ragged,
        "truncated": truncated,
        "columns": [summary(name, column) for name, column in zip(names, cells)],
    }


def summary(name, cells):
    values = [cell for cell in cells if cell]
    kind, ordered = typed(values)
    return {
        "name": name,
        "type": kind,
        "empty": len(cells) - len(values),
        "distinct": len(set(values)),
        "min": min(ordered, default=None),
        "max": max(ordered, default=None),
    }


def typed(values):
    """The narrowest type that fits every value, and the values to take the range of."""
    if not values:
        return "empty", []
    if all(INTEGER.fullmatch(value) for value in values):
        return "integer", [int(value) for value in values]
    if all(is_number(value) for value in values):
        return "number", [float(value) for value in values]
    if all(is_date(value) for value in values):
        return "date", values
    if all(value.lower() in ("true", "false") for value in values):
        return "boolean", []
    return "text", []


def is_number(value):
    if not NUMBER.fullmatch(value):
        return False
    try:
        return math.isfinite(float(value))
    except ValueError:
        return False


def is_date(value):
    if not DATE.fullmatch(value):
        return False
    try:
        datetime.date.fromisoformat(value)
    except ValueError:
        return False
    return True


def main(argv):
    if len(argv) not in (2, 3) or (len(argv) == 3 and not argv[2].isdecimal()):
        print("usage: profile.py FILE [MAX_ROWS]", file=sys.stderr)
        return 2
    args = {"path": argv[1]}
    if len(argv) == 3:
        args["max_rows"] = int(argv[2])
    result = profile_csv(args)
    print(json.dumps(result, indent=2))
    return 1 if result.get("status") == "error" else 0


if __name__ == "__main__":
    sys.exit(main(sys.argv))
