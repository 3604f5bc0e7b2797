"""Turns the runs of both interpreters into tables for people."""

import json
from statistics import median

SUBJECTS = {"cloneset": "Lua, CloneSet", "deployment": "built-in, Deployment"}
# The most that one operation may take, in µs.
LUA, LUA_REVISE, LUA_AGGREGATE, BUILT_IN, BUILT_IN_OBJECT = 10, 15, 30, 1, 5
# How many times upstream's rate an operation in Lua must reach.
LUA_SPEED = 15


def at_most(subject, operation):
    if subject == "cloneset":
        return {"ReviseReplica": LUA_REVISE, "AggregateStatus": LUA_AGGREGATE}.get(operation, LUA)
    return BUILT_IN_OBJECT if operation in ("ReviseReplica", "AggregateStatus") else BUILT_IN


def lines(ours, theirs):
    yield from operations(ours, theirs)
    yield ""
    yield from scaling(ours, theirs)
    yield ""
    yield from webhook(ours)
    yield ""
    yield conditions(ours)


def _of(runs, table, keys, figure):
    """The median over runs of a figure of the row with these keys; None without runs."""
    found = [row[figure] for run in runs for row in run[table] if all(row[k] == v for k, v in keys.items())]
    return median(found) if found else None


def _ratio(their, our):
    return f"{their / our:8.1f}" if their else f"{'-':>8}"


def _number(value, width, digits=0):
    return f"{'-':>{width}}" if value is None else f"{value:{width},.{digits}f}"


def operations(ours, theirs):
    """Time is the CPU's: on a machine that does nothing else it is the wall's, for ours to the last ns."""
    yield f"medians of {len(ours)} round(s); ns are CPU time, bytes what is allocated"
    yield ""
    yield (f"{'':42} {'ours':>9} {'upstream':>10} {'up/ours':>8} {'wall':>8} {'at most':>8} {'':7} "
           f"{'ours':>8} {'upstream':>9}")
    yield (f"{'':42} {'ns/op':>9} {'ns/op':>10} {'':8} {'up/ours':>8} {'ns/op':>8} {'':7} "
           f"{'B/op':>8} {'B/op':>9}")
    for row in ours[0]["operations"]:
        yield _operation(row["object"], row["operation"], ours, theirs)


def _operation(subject, operation, ours, theirs):
    keys = {"object": subject, "operation": operation}
    cpu, wall, size = ([_of(runs, "operations", keys, figure) for runs in (ours, theirs)]
                       for figure in ("cpuNsPerOp", "nsPerOp", "bytesPerOp"))
    limit = at_most(subject, operation) * 1000
    fast = cpu[0] <= limit
    if subject == "cloneset" and cpu[1] is not None:
        fast = fast and cpu[1] / cpu[0] >= LUA_SPEED
    return (f"{SUBJECTS[subject] + ': ' + operation:42} {_number(cpu[0], 9)} {_number(cpu[1], 10)} "
            f"{_ratio(cpu[1], cpu[0])} {_ratio(wall[1], wall[0])} {_number(limit, 8)} "
            f"{'met' if fast else 'NOT MET':7} {_number(size[0], 8)} {_number(size[1], 9)}")


def scaling(ours, theirs):
    yield (f"{'answers a second, by the wall':42} {'ours 1':>9} {'ours 2':>9} {'2/1':>6} "
           f"{'upstream 1':>11} {'upstream 2':>11} {'2/1':>6}")
    for row in ours[0]["scaling"]:
        if row["workers"] == 1:
            yield _scaled(row["object"], row["operation"], ours, theirs)


def _scaled(subject, operation, ours, theirs):
    rates = [[_of(runs, "scaling", {"object": subject, "operation": operation, "workers": n}, "opsPerSecond")
              for n in (1, 2)] for runs in (ours, theirs)]
    gain = [_number(two / one if one else None, 6, 2) for one, two in rates]
    return (f"{SUBJECTS[subject] + ': ' + operation:42} {_number(rates[0][0], 9)} {_number(rates[0][1], 9)} "
            f"{gain[0]} {_number(rates[1][0], 11)} {_number(rates[1][1], 11)} {gain[1]}")


def webhook(ours):
    """The layer against the same request sent without it."""
    cost = {way: {figure: median(run["webhook"][way][figure] for run in ours) / 1000
                  for figure in ("medianNs", "p90Ns")} for way in ("raw", "layer")}
    size = ours[0]["webhook"]["requestBytes"]
    yield f"{f'InterpretHealth by a webhook, {size} bytes, TLS':42} {'median µs':>9} {'p90 µs':>9}"
    for way, name in (("raw", "raw HTTPS round trip"), ("layer", "through the webhook layer")):
        yield f"{name:42} {cost[way]['medianNs']:9.1f} {cost[way]['p90Ns']:9.1f}"
    yield f"{'overhead of the layer':42} {cost['layer']['medianNs'] - cost['raw']['medianNs']:9.1f}"


def conditions(ours):
    """How much of the time this program was not running: wall beyond CPU, of our operations."""
    walls = [(row["nsPerOp"], row["cpuNsPerOp"]) for run in ours for row in run["operations"]]
    away = 1 - sum(cpu / wall for wall, cpu in walls) / len(walls)
    return f"The machine was busy with other things for {away:.0%} of the time that our operations took."


def different_answers(ours, theirs):
    """Operations that the two sides answer differently, as far as callers look."""
    found = []
    for our, their in zip(ours["operations"], theirs["operations"], strict=True):
        assert (our["object"], our["operation"]) == (their["object"], their["operation"])
        mine, upstream = (_comparable(row["operation"], row["answer"]) for row in (our, their))
        if mine != upstream:
            found.append(f"{our['operation']} of {our['object']}:\n  ours     {json_text(mine)}\n"
                         f"  upstream {json_text(upstream)}")
    return found


def _comparable(operation, answer):
    if operation == "AggregateStatus":  # Callers take nothing else of it.
        return answer["status"]
    if operation == "InterpretDependency":  # Upstream's order inside a kind is random.
        return sorted(answer, key=json_text)
    return answer


def json_text(value):
    return json.dumps(value, sort_keys=True)
