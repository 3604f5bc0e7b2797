"""Compares the facts of two trees, and those of the newer one with the tables of this repository."""

from dataclasses import asdict, dataclass, field

import surroundings
import tables as own
import trees


ELSEWHERE = "not needed: "


@dataclass
class Row:
    """One difference. `change` is added, removed, changed or reworded between the trees, or lacking: in upstream's tree as
    before, but in no table here. `here` says what the table has; None where there is no table, "" where it is the same."""
    area: str
    change: str
    name: str
    before: str = ""
    after: str = ""
    here: object = None
    origin: str = ""  # The library that a flag is of.


@dataclass
class Result:
    upstream: str
    since: str = ""
    rows: list = field(default_factory=list)
    compared: dict = field(default_factory=dict)  # Area -> how many facts upstream has.
    unchanged_lacking: dict = field(default_factory=dict)  # Area -> how many facts no table has, before as after.
    problems: list = field(default_factory=list)  # What could not be compared.

    def as_json(self):
        return asdict(self)


def facts(area, upstream, result):
    """The facts of one tree; None, with a problem, where it has none."""
    try:
        found = area.read(upstream)
    except (trees.Unreadable, OSError) as error:
        result.problems.append(f"{area.key}: {error}")
        return None
    except (ValueError, KeyError, IndexError, TypeError, AttributeError) as error:
        result.problems.append(f"{area.key}: {upstream.tree.name} is written in a form that is not understood: {error!r}")
        return None
    if not found and not area.may_be_empty:
        result.problems.append(f"{area.key}: nothing was found in {upstream.tree.name}; upstream may have moved it")
        return None
    return found


def compare(areas, upstream, since=None, tables=None, everything=False):
    """`upstream`, `since`: areas.Upstream. Without `since` only the tables are compared."""
    result = Result(upstream.tree.name, since.tree.name if since else "")
    for area in areas:
        here = with_reasons(area, tables) if area.here and tables else None
        if not since and not here:
            continue
        after = facts(area, upstream, result)
        before = facts(area, since, result) if since else None
        if after is None or (since and before is None):
            continue
        result.compared[area.key] = len(after)
        result.rows += changed_rows(area, upstream, before, after, here) if since else []
        lacking = [Row(area.key, "lacking", name, value, value, text)
                   for name, value in after.items() if here and (not since or before.get(name) == value)
                   for text in [here(name, value)] if text and text != own.BY_HAND and not text.startswith(ELSEWHERE)]
        if area.nested:
            lacking = without_nested(lacking)
        if everything or not since:
            result.rows += lacking
        elif lacking:
            result.unchanged_lacking[area.key] = len(lacking)
    return result


def with_reasons(area, tables):
    """What the table says of a fact; of one that belongs elsewhere, where that is."""
    table = area.here(tables)

    def compare_fact(name, value):
        text = table(name, value)
        if text in ("", None, own.BY_HAND):
            return text
        reason = tables.reason_elsewhere(area.key, name)
        return f"{ELSEWHERE}{reason}" if reason else text
    return compare_fact


def changed_rows(area, upstream, before, after, here):
    if area.form == "code":
        return code_rows(area, before, after)
    rows = []
    for name in sorted(set(before) | set(after)):
        old, new = before.get(name), after.get(name)
        if old == new:
            continue
        change = "added" if old is None else "removed" if new is None else "changed"
        if area.form == "text":
            rows.append(text_row(area, change, name, old or "", new or ""))
            continue
        if change == "changed" and area.key.startswith("flags:") and old.partition("; ")[0] == new.partition("; ")[0]:
            change = "reworded"
        # Of what upstream has no longer, the table is asked whether it still has it.
        text = here(name, old if new is None else new) if here else None
        if new is None and text is not None:
            text = "not here" if text and text != own.BY_HAND else "still here"
        rows.append(Row(area.key, change, name, old or "", new or "", text))
        if area.origin:
            rows[-1].origin = area.origin(upstream, name)
    return without_nested(rows) if area.nested else rows


def text_row(area, change, name, old, new):
    removed, added = surroundings.lines_changed(old, new)
    return Row(area.key, change, name, "\n".join(removed) if change == "changed" else "",
               "\n".join(added) if change == "changed" else f"{len((old or new).splitlines())} lines")


def code_rows(area, before, after):
    """One row for each file, which names the functions that differ in more than comments and form."""
    files = {}
    for name in sorted(set(before) | set(after)):
        if before.get(name) != after.get(name):
            path, _, function = name.partition(": ")
            sign = "+" if name not in before else "-" if name not in after else "~"
            files.setdefault(path, []).append(sign + function)
    paths = [{name.partition(": ")[0] for name in found} for found in (before, after)]
    return [Row(area.key, "added" if path not in paths[0] else "removed" if path not in paths[1] else "changed", path,
                "", " ".join(functions)) for path, functions in files.items()]


def without_nested(rows):
    """Rows whose parent was added or removed as a whole (or lacks as a whole) are counted in the parent's row."""
    kept, parents = [], {}
    for row in sorted(rows, key=lambda r: r.name):
        parent = next((parents[row.change, prefix] for prefix in prefixes(row.name) if (row.change, prefix) in parents), None)
        whole = row.change in ("added", "removed") or (row.change == "lacking" and str(row.here).endswith("nothing"))
        if parent is not None and whole:
            parent[1] += 1
            continue
        kept.append([row, 0])
        if whole:
            parents[row.change, row.name] = kept[-1]
    for row, below in kept:
        if below:
            row.name += f" (and {below} below it)"
    return [row for row, _ in kept]


def prefixes(name):
    """The names above: "A v1 spec.x[]" and "A v1 spec.x" of "A v1 spec.x[].y"."""
    for at in range(len(name) - 1, 0, -1):
        if name[at] in ".[{ ":
            yield name[:at]
