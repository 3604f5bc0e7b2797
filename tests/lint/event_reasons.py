#!/usr/bin/env python3
"""Compares docs/events.md with the reasons of events and conditions in the sources.

    event_reasons.py [ROOT]     prints one line per breach; exit 1 if there is any

A reason of the code is a constant of `namespace reason` (or `api::scaling`) in a header of api/, or what
stands as the reason where an event is recorded or a condition is made. Each has to be in a table of the
page: in one of conditions, or in one of events with the type that it is recorded with. What the page
names, reasons and controllers, has to be in the code.
"""

import pathlib
import re
import sys
from dataclasses import dataclass

PAGE = "docs/events.md"
# Where events are recorded and conditions are made. lens/, search/ and sandbox/ have reasons of their own.
FOLDERS = ("api", "binding", "controllers", "detector", "interpreter", "kube/cache",
           "kube/runtime", "loops", "members", "overrides", "works", "cmd/controller-manager")
SKIPPED = "interpreter/check/"  # Answers of the admission endpoint: its reason is a Status'.
# Reasons of fields that are neither events nor conditions: the page names them outside of the tables.
OF_FIELDS = {"TaintUntolerated", "ApplicationFailure"}
CONDITION = "condition"
TYPES = ("Normal", "Warning")

# A call -> which of its arguments is the reason, and what it makes. Type None: another argument says it.
CALLS = {
    "Normal": (1, "Normal"),
    "Routine": (1, "Normal"),
    "Warning": (1, "Warning"),
    "Record": (3, None),
    "ConditionOf": (2, CONDITION),
    "NewCondition": (1, CONDITION),
    "Ready": (1, CONDITION),
    "Warn": (None, "Warning"),  # A function of a loop's own: any of its arguments may be the reason.
}
# An initializer of a designated field -> what its first element, or its value, is the reason of.
FIELDS = {
    "success": "Normal",
    "failure": "Warning",
    "success_event": "Normal",
    "failure_event": "Warning",
    "success_reason": CONDITION,
    "failure_reason": CONDITION,
}

COMMENT_OR_STRING = re.compile(r'"(?:[^"\\\n]|\\.)*"|//[^\n]*|/\*.*?\*/', re.DOTALL)
CONSTANT = re.compile(r'constexpr\s+(?:const\s+)?(?:char|absl::string_view)\s*\*?\s*(k\w+)(?:\[\])?\s*=\s*"([^"\n]*)"')
REASON_TEXT = re.compile(r"[A-Z][A-Za-z]+")
# A condition that is written as JSON, or given to kube::SetCondition as {type, status, reason, message}.
JSON_REASON = re.compile(r'\{"reason",\s*("[A-Z]\w*")\}')
SET_CONDITION = re.compile(r"\bSetCondition\(\w+,\s*\{")
NAME = re.compile(r'"([^"\n]*)"|((?:\w+::)*)\b(k[A-Z]\w*)')
CALL = re.compile(r"\b(%s)\(" % "|".join(CALLS))
FIELD = re.compile(r"\.(%s)\s*=\s*\{?" % "|".join(FIELDS))
ROW = re.compile(r"^\|([^|]*)\|([^|]*)\|([^|]*)\|.*\|$", re.MULTILINE)
QUOTED = re.compile(r"`([^`\n]+)`")


@dataclass(frozen=True)
class Constant:
    name: str
    text: str
    qualified: str  # As others name it: "reason::kSyncFailed".


def without_comments(text):
    """The text with comments blanked; strings and line numbers stay."""
    def blank(match):
        found = match.group(0)
        return found if found[0] == '"' else re.sub(r"[^\n]", " ", found)
    return COMMENT_OR_STRING.sub(blank, text)


def block(text, opening):
    """What is between the braces of the namespace that the pattern opens; '' if there is none."""
    match = re.search(opening, text)
    if not match:
        return ""
    depth, at = 1, match.end()
    while depth and at < len(text):
        depth += {"{": 1, "}": -1}.get(text[at], 0)
        at += 1
    return text[match.end():at - 1]


def declared(headers):
    """The constants of the reasons' namespaces. `headers`: {path: text without comments}."""
    found = []
    for text in headers.values():
        for name, value in CONSTANT.findall(block(text, r"\bnamespace reason \{")):
            found.append(Constant(name, value, f"reason::{name}"))
        scaling = block(text, r"\bnamespace api::scaling \{")
        for name, value in CONSTANT.findall(scaling.split("namespace message {")[0]):
            found.append(Constant(name, value, f"scaling::{name}"))
    return found


def split(text, at):
    """The top-level pieces, by commas, of what follows an opening bracket at at - 1."""
    pieces, depth, start = [], 1, at
    for match in re.compile(r'"(?:[^"\\\n]|\\.)*"|[({\[]|[)}\]]|,').finditer(text, at):
        token = match.group(0)
        if token in "({[":
            depth += 1
        elif token in ")}]":
            depth -= 1
        if depth == 0 or (depth == 1 and token == ","):
            pieces.append(text[start:match.start()])
            start = match.end()
        if depth == 0:
            break
    return pieces


class Sources:
    """The sources below FOLDERS, and what their constants stand for."""

    def __init__(self, files):
        self.files = {path: without_comments(text) for path, text in files.items()}
        self.declared = declared({p: t for p, t in self.files.items() if re.fullmatch(r"api/\w+\.h", p)})
        self.by_qualified = {constant.qualified: constant.text for constant in self.declared}
        self.constants = {}  # Name -> [(path, value)].
        for path, text in self.files.items():
            for name, value in CONSTANT.findall(text):
                self.constants.setdefault(name, []).append((path, value))
        self.strings = {s for text in self.files.values() for s in re.findall(r'"([^"\\\n]+)"', text)}

    def texts_of(self, path, expression):
        """The reasons that an expression names. What it takes from a variable is found where that is set."""
        for literal, scope, name in NAME.findall(expression):
            if literal:
                yield literal
                continue
            last = scope.split("::")[-2] if scope else ""
            text = self.by_qualified.get(f"{last}::{name}")
            # A type, such as kube::EventType::kWarning, is no constant of this file or of a header beside it.
            text = text or (None if last else self.constant_near(path, name))
            if text:
                yield text

    def constant_near(self, path, name):
        """The value of a constant of the file itself, or of a header of the same top folder."""
        top = path.split("/")[0] + "/"
        for other, value in self.constants.get(name, []):
            if other == path or (other.endswith(".h") and other.startswith(top)):
                return value
        return None

    def recorded(self):
        """{(reason, type or CONDITION): the path of one place}, as far as a place shows both."""
        found = {}
        for path, text in self.files.items():
            if path.startswith("kube/runtime/") and path.endswith("event_recorder.h"):
                continue  # Declarations, and the example in the comment.
            for match in CALL.finditer(text):
                for reason, kind in self.of_call(path, match.group(1), split(text, match.end())):
                    found.setdefault((reason, kind), path)
            for match in FIELD.finditer(text):
                value = split(text, match.end())[0]
                for reason in self.texts_of(path, value):
                    found.setdefault((reason, FIELDS[match.group(1)]), path)
            written = [m.group(1) for m in JSON_REASON.finditer(text)]
            written += [split(text, m.end())[2] for m in SET_CONDITION.finditer(text)]
            for expression in written:
                for reason in self.texts_of(path, expression):
                    found.setdefault((reason, CONDITION), path)
        return {pair: path for pair, path in found.items() if REASON_TEXT.fullmatch(pair[0])}

    def of_call(self, path, name, arguments):
        index, kind = CALLS[name]
        if index is None:
            reasons = [r for argument in arguments for r in self.texts_of(path, argument)
                       if r in self.by_qualified.values() or "(" not in argument]
            yield from ((reason, kind) for reason in reasons)
            return
        if len(arguments) <= index:
            return
        kinds = [kind]
        if kind is None:
            kinds = [t for t in TYPES if f"k{t}" in arguments[2]]
        reasons = list(self.texts_of(path, arguments[index]))
        for i, reason in enumerate(reasons):
            # "open ? kWarning : kNormal" goes with "open ? kSuspended : kResumed".
            if len(kinds) == len(reasons) == 2:
                order = sorted(TYPES, key=lambda t: arguments[2].index(f"k{t}"))
                yield reason, order[i]
            else:
                yield from ((reason, k) for k in kinds)

    def unused(self):
        """The declared constants that no file but a declaring header names."""
        def is_used(constant):
            inside = re.compile(r"\b%s\b(?!\[)" % constant.name)
            outside = re.compile(r"\b%s\b" % re.escape(constant.qualified))
            return any((inside if path.startswith("api/") and path.endswith(".cc") else outside).search(text)
                       for path, text in self.files.items())
        return [constant for constant in self.declared if not is_used(constant)]


def rows(page):
    """(line, type or CONDITION, reason, controllers) of each row of the tables of reasons."""
    for match in ROW.finditer(page):
        first, second, third = (cell.strip() for cell in match.groups())
        is_condition = first.startswith("`") and re.search(r"\b(True|False|Unknown)$", first)
        if first not in TYPES and not is_condition:
            continue
        reasons = QUOTED.findall(second)
        line = page.count("\n", 0, match.start()) + 1
        yield line, CONDITION if is_condition else first, reasons, QUOTED.findall(third)


def breaches(page, sources):
    """What is wrong with the text of the page."""
    in_page = set()
    recorded = sources.recorded()
    in_code = set(sources.by_qualified.values()) | {reason for reason, _ in recorded}
    for line, kind, reasons, controllers in rows(page):
        if len(reasons) != 1:
            yield f"{PAGE}:{line}: a row has one reason, in backticks"
            continue
        in_page.add((reasons[0], kind))
        if reasons[0] not in in_code:
            yield f"{PAGE}:{line}: {reasons[0]} is no reason in the code"
        for name in controllers:
            if name not in sources.strings:
                yield f"{PAGE}:{line}: {name} is no controller's name in the code"
    for pair, path in sorted(recorded.items()):
        if pair not in in_page:
            yield f"{PAGE}:0: no row for {pair[0]} ({pair[1]}), which {path} has"
    rows_have = {reason for reason, _ in in_page}
    for constant in sources.declared:
        is_named = f"`{constant.text}`" in page if constant.text in OF_FIELDS else constant.text in rows_have
        if not is_named:
            yield f"{PAGE}:0: {constant.text} (api {constant.qualified}) is missing"
    for constant in sources.unused():
        yield f"api/:0: {constant.qualified} is used nowhere"


def read_sources(root):
    return Sources({str(file.relative_to(root)): file.read_text()
                    for folder in FOLDERS for suffix in ("*.h", "*.cc")
                    for file in sorted((root / folder).rglob(suffix))
                    if not str(file.relative_to(root)).startswith(SKIPPED)})


def main(argv):
    root = pathlib.Path(argv[1] if len(argv) > 1 else pathlib.Path(__file__).parents[2]).resolve()
    sources = read_sources(root)
    found = list(breaches((root / PAGE).read_text(), sources))
    for breach in found:
        print(breach)
    print(f"event reasons: {len(sources.recorded())} in the code, {len(found)} breaches")
    return 1 if found or not sources.declared else 0


if __name__ == "__main__":
    sys.exit(main(sys.argv))
