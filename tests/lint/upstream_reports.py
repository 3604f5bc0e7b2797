#!/usr/bin/env python3
"""Compares docs/upstream-reports.md with the tests that it names, and with the issues that others name.

    upstream_reports.py [ROOT]     prints one line per breach; exit 1 if there is any

Each row of the page has the number of an issue of upstream, its state, and tests as `path`: *name*, *another name of the same
file*. A test of C++ is the name of a TEST_CASE, one of Python a method. An issue that docs/differences.md, docs/decisions.md
or a source names ("upstream's issue 3873", "issues 5071, 5150") has a row.
"""

import pathlib
import re
import sys

PAGE = "docs/upstream-reports.md"
NAMING = ("docs/differences.md", "docs/decisions.md")
FOLDERS = ("api", "autoscaling", "base", "binding", "cmd", "config", "controllers", "detector", "interpreter", "kube", "lens", "loops",
           "members", "overrides", "sandbox", "search", "tests", "works")
STATES = ("open", "closed", "?")

ROW = re.compile(r"^\| (\d+) \|([^|]*)\|([^|]*)\|([^|]*)\|([^|]*)\|$", re.MULTILINE)
FILE = re.compile(r"`([^`]+)`:((?:\s*\*[^*]+\*,?)+)")
NAMED = re.compile(r"\bissues? (\d{3,5}(?:(?:, | and )\d{3,5})*)")
STRINGS = re.compile(r'\bTEST_CASE(?:_METHOD)?\(\s*(?:\w+,\s*)?((?:"(?:[^"\\]|\\.)*"\s*)+)')


def tests_of(path, text):
    """The names of the tests in a file."""
    if path.endswith(".py"):
        return set(re.findall(r"^\s+def (test_\w+)\(", text, re.MULTILINE))
    return {"".join(re.findall(r'"((?:[^"\\]|\\.)*)"', found)).replace('\\"', '"') for found in STRINGS.findall(text)}


def rows_of(page):
    """(issue, state, [(path, test)]) of each row."""
    for issue, state, _, _, shown in ROW.findall(page):
        yield int(issue), state.strip(), [(path, name) for path, names in FILE.findall(shown)
                                          for name in re.findall(r"\*([^*]+)\*", names)]


def issues_named(text):
    return {int(number) for numbers in NAMED.findall(text) for number in re.findall(r"\d+", numbers)}


def breaches(page, read, named):
    """`read`: path -> text, None for no file. `named`: {issue: where it is named}."""
    rows = list(rows_of(page))
    if not rows:
        yield f"{PAGE}: no row was found"
    issues = [issue for issue, _, _ in rows]
    if issues != sorted(set(issues)):
        yield f"{PAGE}: each issue has one row, in the order of their numbers"
    for issue, state, tests in rows:
        if state not in STATES:
            yield f"{PAGE}: issue {issue}: the state is one of {', '.join(STATES)}"
        if not tests:
            yield f"{PAGE}: issue {issue} names no test"
        for path, name in tests:
            text = read(path)
            if text is None:
                yield f"{PAGE}: issue {issue}: there is no {path}"
            elif name not in tests_of(path, text):
                yield f"{PAGE}: issue {issue}: {path} has no test \"{name}\""
    for issue, where in sorted(named.items()):
        if issue not in issues:
            yield f"{where} names upstream's issue {issue}, which has no row in {PAGE}"


def named_below(root):
    named = {}
    sources = [path for folder in FOLDERS for suffix in ("*.h", "*.cc") for path in sorted((root / folder).rglob(suffix))]
    for path in [root / name for name in NAMING] + sources:
        for issue in issues_named(path.read_text()):
            named.setdefault(issue, path.relative_to(root).as_posix())
    return named


def main(argv):
    root = pathlib.Path(argv[1] if len(argv) > 1 else pathlib.Path(__file__).parents[2]).resolve()
    page = (root / PAGE).read_text()
    found = list(breaches(page, lambda path: (root / path).read_text() if (root / path).is_file() else None, named_below(root)))
    for breach in found:
        print(breach)
    print(f"upstream reports: {len(list(rows_of(page)))} issues, {len(found)} breaches")
    return 1 if found else 0


if __name__ == "__main__":
    sys.exit(main(sys.argv))
