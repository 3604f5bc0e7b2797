#!/usr/bin/env python3
"""Compares the attempts of docs/security.md with those that the behaviour tests make.

    tenancy_table.py [ROOT]     prints one line per breach; exit 1 if there is any

The table between the marks `<!-- attempts -->` and `<!-- end -->` has a row for each attempt of
tests/behaviour/tenancy_attempts.cc, and no other: its kind, its field, what is tried, and the reason of the event
that says that it is refused ("admission" when Karmada's webhook refuses it, "-" for none).
"""

import pathlib
import re
import sys

PAGE = "docs/security.md"
SOURCE = "tests/behaviour/tenancy_attempts.cc"
STRING = r'"((?:[^"\\]|\\.)*)"'
ATTEMPT = re.compile(r"\{%s,\s*%s,\s*%s,\s*%s,\s*R\"" % ((STRING,) * 4))


def rows_of(page):
    table = page.partition("<!-- attempts -->")[2].partition("<!-- end -->")[0]
    lines = [line for line in table.splitlines() if line.startswith("|")][2:]
    cells = ([cell.strip().replace("`", "") for cell in line.strip("|").split("|")] for line in lines)
    return [tuple(row[:4]) for row in cells]


def attempts_of(source):
    for kind, field, what, event in ATTEMPT.findall(source):
        yield kind, field, what, event.split()[-1] if event else "-"


def breaches(page, source):
    rows, attempts = rows_of(page), list(attempts_of(source))
    if not attempts:
        yield f"{SOURCE}: no attempt was found"
    for attempt in attempts:
        if attempt not in rows:
            yield f"{PAGE}: no row for {attempt}"
    for row in rows:
        if row not in attempts:
            yield f"{SOURCE}: no attempt for {row}"


def main():
    root = pathlib.Path(sys.argv[1] if len(sys.argv) > 1 else pathlib.Path(__file__).parents[2])
    found = list(breaches((root / PAGE).read_text(), (root / SOURCE).read_text()))
    print("\n".join(found), end="\n" if found else "")
    return 1 if found else 0


if __name__ == "__main__":
    sys.exit(main())
