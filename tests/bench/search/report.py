"""Turns the figures of karmada-search into a table."""

from dataclasses import dataclass


@dataclass(frozen=True)
class Row:
    """One line: how to read it off the figures of a program, and the most that it may be."""

    name: str
    unit: str
    read: object
    budget: float = None
    decimals: int = 1


def _ms(*path):
    return lambda f: _at(f, path) * 1e3


def _at(figures, path):
    for name in path:
        figures = figures[name]
    return figures


def _mb(*path):
    return lambda f: _at(f, path) / 1e6


def _middle(ordered):
    return ordered[len(ordered) // 2]


ROWS = [
    Row("start to synced", "s", lambda f: f["start"], None, 2),
    Row("CPU until synced", "s", lambda f: f["start_cpu"], None, 2),
    Row("RSS after sync", "MB", _mb("memory", "rss"), 60),
    Row("  of it no file's pages", "MB", _mb("memory", "anonymous")),
    Row("  peak until then", "MB", _mb("memory", "peak")),
    Row("threads", "", lambda f: f["memory"]["threads"], None, 0),
    Row("full list, from the cache", "ms", _ms("lists", "full"), 150),
    Row("  CPU for it", "ms", _ms("lists", "full_cpu")),
    Row("  its size", "MB", _mb("lists", "bytes")),
    Row("  with gzip asked for", "ms", _ms("lists", "full_gzip")),
    Row("    its size then", "MB", _mb("lists", "gzip_bytes")),
    Row("  without resourceVersion", "ms", _ms("lists", "full_live")),
    Row("list by label, a tenth of all", "ms", _ms("lists", "labelled")),
    Row("list of one namespace", "ms", _ms("lists", "namespace"), 10, 2),
    Row("  without resourceVersion", "ms", _ms("lists", "namespace_live"), None, 2),
    Row("page of 500", "ms", _ms("lists", "page")),
    Row("  as a Table, as kubectl asks", "ms", _ms("lists", "page_table")),
    Row("get", "ms", _ms("lists", "get"), 1, 3),
    Row("  slowest of a hundred", "ms", _ms("lists", "get_slow"), None, 3),
    Row("  without resourceVersion", "ms", _ms("lists", "get_live"), None, 3),
    Row("search view, everything", "ms", _ms("lists", "view")),
    Row("search view, one namespace", "ms", _ms("lists", "view_namespace"), None, 2),
    Row("RSS after these", "MB", _mb("lists", "rss")),
    Row("  peak", "MB", _mb("lists", "peak")),
]
BUSY_ROWS = [
    Row("full list without resourceVersion", "ms", _ms("full")),
    Row("  the slowest", "ms", _ms("full_slow")),
    Row("get without resourceVersion", "ms", _ms("get"), None, 2),
    Row("  the slowest", "ms", _ms("get_slow"), None, 2),
]
CLIENT_ROWS = [
    Row("all answered after", "s", lambda c: c["wall"], None, 2),
    Row("CPU for each", "ms", lambda c: c["cpu"] * 1e3),
    Row("RSS before", "MB", lambda c: c["before"] / 1e6),
    Row("peak RSS", "MB", lambda c: c["peak"] / 1e6),
    Row("peak RSS, times that before", "", lambda c: c["growth"], 2, 2),
]
WATCH_ROWS = [
    Row("RSS for each watch", "kB", lambda w: w["rss"] / w["watches"] / 1e3),
    Row("CPU for each event and client", "us", lambda w: w["cpu"] * 1e6),
    Row("write to the last client, median", "ms", lambda w: _middle(w["to_last"]) * 1e3),
    Row("  longest", "ms", lambda w: w["to_last"][-1] * 1e3),
    Row("write to the first client, median", "ms", lambda w: _middle(w["to_first"]) * 1e3),
    Row("  to a watch of the member, median", "ms", lambda w: _middle(w["to_member"]) * 1e3),
]
FLEET_ROWS = [Row(row.name, row.unit, row.read, 500 if row.name == "RSS after sync" else None, row.decimals)
              for row in ROWS]


def sections(figures, sizes):
    """(title, rows, our figures, upstream's or None)"""
    ours, theirs = figures.get("ours"), figures.get("upstream")
    if ours:
        yield f"{sizes.pods:,} pods in two members", ROWS, ours, theirs
        yield "the same, while something else changes in the members", BUSY_ROWS, ours["busy"], (theirs or {}).get("busy")
        for count in sizes.clients:
            yield (f"{count} clients list everything at once", CLIENT_ROWS, _of_clients(ours, count),
                   _of_clients(theirs, count))
        yield f"{sizes.watchers} clients watch everything", WATCH_ROWS, ours["watches"], (theirs or {}).get("watches")
    if "fleet" in figures:
        yield (f"{sizes.fleet_pods:,} pods in {sizes.fleet_members} members of the sandbox", FLEET_ROWS,
               figures["fleet"], None)


def _of_clients(figures, count):
    return next((c for c in (figures or {}).get("clients", []) if c["clients"] == count), None)


def table(figures, sizes):
    """The lines of the table."""
    yield f"{'':44} {'ours':>10} {'upstream':>10} {'up/ours':>8} {'at most':>8}"
    for title, rows, ours, theirs in sections(figures, sizes):
        yield title
        for row in rows:
            yield _line(row, row.read(ours) if ours else None, row.read(theirs) if theirs else None)


def _line(row, our, their):
    def number(value):
        return f"{'-':>10}" if value is None else f"{value:10,.{row.decimals}f}"
    name = "  " + row.name + (f", {row.unit}" if row.unit else "")
    ratio = f"{their / our:8.1f}" if our and their is not None else f"{'':8}"
    verdict = ""
    if row.budget is not None and our is not None:
        verdict = f"{row.budget:>8g} {'met' if round(our, row.decimals) <= row.budget else 'NOT MET'}"
    return f"{name:44} {number(our)} {number(their)} {ratio} {verdict}".rstrip()
