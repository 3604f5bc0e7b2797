"""Prints what comparison.py has found, for people."""

SIGNS = {"added": "+", "removed": "-", "changed": "~", "reworded": "\"", "lacking": "!"}
CUT = 220


def cut(text, wide, at=0):
    """The text on one line; a long one from shortly before `at`."""
    text = " / ".join(line for line in text.splitlines() if line.strip())
    if wide or len(text) <= CUT:
        return text
    begin = 0 if at < CUT * 2 // 3 else at - CUT // 3
    piece = text[begin:begin + CUT]
    return ("... " if begin else "") + piece + (" ..." if begin + CUT < len(text) else "")


def first_difference(before, after):
    return next((i for i, (a, b) in enumerate(zip(before, after)) if a != b), min(len(before), len(after)))


def lines_of(result, areas, wide=False):
    title = f"Upstream {result.upstream}"
    yield f"{title} against {result.since}, and the tables of this repository" if result.since else \
        f"{title} against the tables of this repository"
    yield "+ added  - removed  ~ changed  \" reworded  ! in no table here"
    for area in areas:
        rows = [row for row in result.rows if row.area == area.key]
        lacking = result.unchanged_lacking.get(area.key, 0)
        if area.key not in result.compared or not (rows or lacking):
            continue
        yield ""
        yield f"== {area.title} [{area.key}]: {len(rows)} of {result.compared[area.key]}"
        for row in rows:
            yield from lines_of_row(row, result, wide)
        if lacking:
            yield f"  ({lacking} more are in no table here, before as after; --all lists them)"
    same = [area.key for area in areas if area.key in result.compared
            and not any(row.area == area.key for row in result.rows)]
    yield ""
    if same:
        yield "No difference: " + ", ".join(same)
    for problem in result.problems:
        yield f"NOT COMPARED {problem}"
    yield f"{len(result.rows)} differences in {len(result.compared)} areas" + \
        (f", {len(result.problems)} areas not compared" if result.problems else "")


def lines_of_row(row, result, wide):
    sign = SIGNS[row.change]
    origin = f"  (of {row.origin})" if row.origin else ""
    if row.change in ("changed", "reworded") and row.before:
        yield f"  {sign} {row.name}{origin}"
        width = max(len(result.since), len(result.upstream), 4)
        at = first_difference(row.before, row.after)
        yield f"      {result.since:{width}}  {cut(row.before, wide, at)}"
        yield f"      {result.upstream:{width}}  {cut(row.after, wide, at)}"
        if row.here:
            yield f"      {'here':{width}}  {cut(row.here, wide)}"
        return
    # Names of functions are all of what a row of code says.
    value = cut(row.after or row.before, wide or (row.after or row.before)[:1] in tuple("+-~"))
    yield f"  {sign} {row.name}{origin}" + (f"  {value}" if value else "")
    if row.here:
        yield f"      here: {cut(row.here, wide)}"
