"""Turns the runs of both interpreters into tables for people."""

import json
from statistics import median

SUBJECTS = {"cloneset": "Lua, CloneSet", "deployment": "built-in, Deployment"}
# The most that one operation may take, in µs, and how many times upstream's rate that is to be. The first is a promise
# about one kind of machine; the second holds on any: it is what upstream took there, over ours. (Of ReviseReplica
# built in nothing is asked against upstream's, which leaves the copy to its callers.)
BUDGETS = {
    ("cloneset", "InterpretHealth"): (10, 15),
    ("cloneset", "InterpretReplica"): (10, 15),
    ("cloneset", "InterpretStatus"): (10, 15),
    ("cloneset", "InterpretDependency"): (10, 15),
    ("cloneset", "ReviseReplica"): (15, 18),
    ("cloneset", "AggregateStatus"): (30, 26),
    ("deployment", "InterpretHealth"): (1, 18),
    ("deployment", "InterpretReplica"): (1, 18),
    ("deployment", "InterpretStatus"): (1, 3.7),
    ("deployment", "InterpretDependency"): (1, 18),
    ("deployment", "ReviseReplica"): (5, None),
    ("deployment", "AggregateStatus"): (5, 11),
}


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
    return f"{their / our:7.1f}" if their else f"{'-':>7}"


def _number(value, width, digits=0):
    return f"{'-':>{width}}" if value is None else f"{value:{width},.{digits}f}"


def operations(ours, theirs):
    """Time is the CPU's: on a machine that does nothing else it is the wall's, for ours to the last ns."""
    yield f"medians of {len(ours)} round(s); ns are CPU time, bytes what is allocated"
    yield ""
    yield (f"{'':41} {'ours':>7} {'upstream':>9} {'at most':>8} {'':7} {'up/ours':>7} {'wall':>7} {'at least':>8} {'':7} "
           f"{'ours':>6} {'upstream':>8}")
    yield (f"{'':41} {'ns/op':>7} {'ns/op':>9} {'ns/op':>8} {'':7} {'':7} {'up/ours':>7} {'up/ours':>8} {'':7} "
           f"{'B/op':>6} {'B/op':>8}")
    for row in ours[0]["operations"]:
        yield _operation(row["object"], row["operation"], ours, theirs)


def _operation(subject, operation, ours, theirs):
    keys = {"object": subject, "operation": operation}
    cpu, wall, size = ([_of(runs, "operations", keys, figure) for runs in (ours, theirs)]
                       for figure in ("cpuNsPerOp", "nsPerOp", "bytesPerOp"))
    limit, times = BUDGETS[subject, operation]
    return (f"{SUBJECTS[subject] + ': ' + operation:41} {_number(cpu[0], 7)} {_number(cpu[1], 9)} "
            f"{_number(limit * 1000, 8)} {_verdict(cpu[0] <= limit * 1000)} "
            f"{_ratio(cpu[1], cpu[0])} {_ratio(wall[1], wall[0])} {_number(times, 8, 1)} "
            f"{_verdict(cpu[1] / cpu[0] >= times) if times and cpu[1] else '':7} "
            f"{_number(size[0], 6)} {_number(size[1], 8)}")


def _verdict(met):
    return f"{'met' if met else 'NOT MET':7}"


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
        hidden = ["conditions"] if answer["kind"] == "Deployment" else []  # Upstream makes none.
        return {name: value for name, value in answer["status"].items() if name not in hidden}
    if operation == "InterpretDependency":  # Upstream's order inside a kind is random.
        return sorted(answer, key=json_text)
    return answer


def json_text(value):
    return json.dumps(value, sort_keys=True)
