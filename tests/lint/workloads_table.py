#!/usr/bin/env python3
"""Checks that the workloads of the proof exercise each loop of the controller manager at least twice.

    workloads_table.py [ROOT]     prints one line per breach; exit 1 if there is any

tests/prove/workloads/README.md has three tables, each between `<!-- NAME -->` and `<!-- end -->`:
    loops      each line of cmd/controller-manager/controller_table.cc, and the workloads that exercise it
    workloads  each file of tests/prove/workloads
    scenarios  each file of tests/data/scenarios: with its number of writes, or, without one, why it is not a workload
A loop whose cell begins with "none" is exempt, with the reason that stands there. Of the workloads it is checked, too, that
they have the fields that README describes, and names that no other one has.
"""

import pathlib
import re
import sys

import yaml

FOLDER, SCENARIOS = "tests/prove/workloads", "tests/data/scenarios"
PAGE, SOURCE = f"{FOLDER}/README.md", "cmd/controller-manager/controller_table.cc"
AT_LEAST = 2
FIELDS = {"steps", "flags", "also", "events", "alone", "ties", "define", "end"}
STEP_FIELDS = {"name", "on", "as", "sleep", "wait", "heal", "apply", "delete", "patch", "unjoin", "join", "partition"}
_LINE = re.compile(r'\{"([^"]+)",\s*k(?:ByFlag|AlwaysOn),.*?Register(\w+(?:<\w+>)?)', re.S)


def loops_of(source):
    """The names of the loops in their order: that of the controller, with the class where it has several lines."""
    table = source.partition("kTable[] = {")[2].partition("\n};")[0]
    lines = [match.groups() for match in _LINE.finditer(table)]
    names = [name for name, _ in lines]
    return [name if names.count(name) == 1 else f"{name}: {function}" for name, function in lines]


def rows_of(page, table):
    """[(first cell, second cell, ...)] of a table, without backticks."""
    text = page.partition(f"<!-- {table} -->")[2].partition("<!-- end -->")[0]
    lines = [line for line in text.splitlines() if line.startswith("|")][2:]
    return [tuple(cell.strip().replace("`", "") for cell in line.strip("|").split("|")) for line in lines]


def table_breaches(page, loops, workloads, scenarios):
    """What the tables lack or have too much: of the names of loops, workloads and scenarios."""
    rows = {table: {row[0]: row[1:] for row in rows_of(page, table)} for table in ("loops", "workloads", "scenarios")}
    for table, names in (("loops", loops), ("workloads", workloads), ("scenarios", scenarios)):
        yield from (f"no row for {name} in the table of {table}" for name in names if name not in rows[table])
        yield from (f"the table of {table} has {name}, which is not there" for name in rows[table] if name not in names)
    playable = set(rows["workloads"]) | {name for name, row in rows["scenarios"].items() if row[0].isdigit()}
    for loop, row in rows["loops"].items():
        if row[0].startswith("none"):
            continue
        names = [name.strip() for name in row[0].split(",") if name.strip()]
        yield from (f"{loop}: {name} is not a workload" for name in names if name not in playable)
        if len(set(names)) < AT_LEAST:
            yield f"{loop} has fewer than {AT_LEAST} workloads"


def workload_breaches(name, content):
    """What is wrong with one file of this folder."""
    unknown = sorted(set(content) - FIELDS)
    yield from (f"{name}: there is no field {field}" for field in unknown)
    if not content.get("end"):
        yield f"{name}: it does not say in what it ends"
    for number, step in enumerate(content.get("steps", [])):
        yield from (f"{name}: step {number} has the unknown field {field}" for field in sorted(set(step) - STEP_FIELDS))


def names_of(content):
    """The namespaces of a workload or scenario, and the names of its objects without one."""
    steps = content if isinstance(content, list) else content["steps"]
    metadata = (item["metadata"] for step in steps for item in step.get("apply", []))
    names = {each.get("namespace") or each["name"] for each in metadata}
    return {name for name in names if name.startswith("s-")}


def name_breaches(files):
    """Names that two of {file: content} have, or one has as the beginning of the other's."""
    names = {name: names_of(content) for name, content in files.items()}
    for one, own in names.items():
        for other, theirs in names.items():
            shared = {a for a in own for b in theirs if a == b or a.startswith(b + "-")} if one != other else ()
            yield from (f"{one} would take {name} of {other} for its own, or the other way round" for name in sorted(shared))


def breaches(root):
    def contents(folder):
        files = sorted((root / folder).glob("*.yaml"))
        return {file.stem: yaml.safe_load(file.read_text()) for file in files if not file.stem.endswith("differences")}
    workloads, scenarios = contents(FOLDER), contents(SCENARIOS)
    loops = loops_of((root / SOURCE).read_text())
    if not loops:
        yield f"{SOURCE}: no loop was found"
    yield from (f"{PAGE}: {text}" for text in table_breaches((root / PAGE).read_text(), loops, workloads, scenarios))
    for name, content in workloads.items():
        yield from (f"{FOLDER}: {text}" for text in workload_breaches(name, content))
    yield from (f"{FOLDER}: {text}" for text in name_breaches({**scenarios, **workloads}))


def main():
    root = pathlib.Path(sys.argv[1] if len(sys.argv) > 1 else pathlib.Path(__file__).parents[2])
    found = list(breaches(root))
    print("\n".join(found), end="\n" if found else "")
    return 1 if found else 0


if __name__ == "__main__":
    sys.exit(main())
