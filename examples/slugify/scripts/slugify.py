#!/usr/bin/env python3
"""Turns titles into slugs. Titles come from the arguments, else from standard input, one per line.

Exit codes: 0 fine, 1 --check found something that is no slug, 2 usage, 3 a title has no slug.
"""

import argparse
import json
import os
import re
import sys
import unicodedata

# Letters that do not decompose into a Latin letter and a mark.
SPELLED_OUT = str.maketrans({"ß": "ss", "æ": "ae", "œ": "oe", "ø": "o", "đ": "d", "ð": "d", "þ": "th", "ł": "l", "ı": "i"})
APOSTROPHES = re.compile("['\u2019\u02bc`]")


def plain(text):
    """Lower case, without the accents of Latin and Greek letters. The marks of other scripts make other letters: they stay."""
    kept, base = [], ""
    for letter in unicodedata.normalize("NFKD", text.casefold().translate(SPELLED_OUT)):
        if not unicodedata.combining(letter):
            base = unicodedata.name(letter, "")
        elif base.startswith(("LATIN", "GREEK")):
            continue
        kept.append(letter)
    return unicodedata.normalize("NFC", "".join(kept))


def slugify(title, limit):
    """The slug of a title, and whether it had to be cut."""
    text = APOSTROPHES.sub("", plain(title))
    # Words are runs of letters, numbers and marks.
    words = "".join(letter if unicodedata.category(letter)[0] in "LNM" else " " for letter in text).split()
    slug = "-".join(words)
    if len(slug) <= limit:
        return slug, False
    kept = ""
    for word in words:
        longer = f"{kept}-{word}" if kept else word
        if len(longer) > limit:
            break
        kept = longer
    return kept or slug[:limit], True


def unique(slugs):
    """The same slugs, numbered where one would repeat another."""
    taken = set()
    for slug in slugs:
        candidate, number = slug, 1
        while candidate in taken:
            number += 1
            candidate = f"{slug}-{number}"
        taken.add(candidate)
        yield candidate


def positive(text):
    number = int(text)
    if number < 1:
        raise argparse.ArgumentTypeError("must be at least 1")
    return number


def arguments(argv):
    parser = argparse.ArgumentParser(prog="slugify.py", description="Turns titles into slugs.")
    parser.add_argument("titles", nargs="*", help="titles; standard input when there are none")
    parser.add_argument("--json", action="store_true", help="print one JSON object")
    parser.add_argument("--unique", action="store_true", help="number repeated slugs")
    parser.add_argument("--max", type=positive, default=os.environ.get("SLUGIFY_MAX", "60"), metavar="N")
    parser.add_argument("--check", action="store_true", help="check slugs instead of making them")
    return parser.parse_args(argv)


def check(slugs, limit):
    bad = [slug for slug in slugs if not slug or slugify(slug, limit) != (slug, False)]
    for slug in bad:
        print(f"not a slug: {slug!r}", file=sys.stderr)
    return 1 if bad else 0


def main(argv):
    options = arguments(argv)
    titles = options.titles or [line.strip() for line in sys.stdin if line.strip()]
    if options.check:
        return check(titles, options.max)
    made = [slugify(title, options.max) for title in titles]
    for title, (slug, _) in zip(titles, made):
        if not slug:
            print(f"no letters or digits in {title!r}", file=sys.stderr)
            return 3
    slugs = [slug for slug, _ in made]
    if options.unique:
        slugs = list(unique(slugs))
    if options.json:
        rows = [{"title": t, "slug": s, "cut": cut} for t, s, (_, cut) in zip(titles, slugs, made)]
        print(json.dumps({"count": len(rows), "slugs": rows}, ensure_ascii=False, indent=2))
    else:
        for slug in slugs:
            print(slug)
    return 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
