"""Turns measurements into a table for people, JSON for programs and a picture."""

from dataclasses import dataclass
from statistics import median
from xml.sax.saxutils import escape


@dataclass(frozen=True)
class Figure:
    """One line of the table: how to read it off a measurement, and the most that it, or its ratio to upstream's, may be."""

    name: str
    unit: str
    read: object
    budget: object = None  # A number, or the name of one of the app's own budgets.
    ratio_budget: float = None

    def verdict(self, app, our, their):
        """"4 met", or "0.2 x NOT MET" for a ratio; "" where there is nothing to hold it against."""
        budget = app.budgets.get(self.budget, self.budget)
        if budget is not None:
            return f"{budget:8g} {'met' if our <= budget else 'NOT MET'}"
        if self.ratio_budget is not None and their:
            return f"{self.ratio_budget:7g}x {'met' if our <= self.ratio_budget * their else 'NOT MET'}"
        return ""


def _codes(counter, method=None, code=None):
    return sum(n for (m, c), n in counter.items() if method in (None, m) and code in (None, c))


FIGURES = [
    Figure("writes at the control plane per app", "", lambda m: m.writes_per_app(), "writes"),
    Figure("  of them works/status", "", lambda m: _resource(m, "works/status")),
    Figure("  of them resourcebindings/status", "", lambda m: _resource(m, "resourcebindings/status")),
    Figure("events per app", "", lambda m: m.events / m.apps),
    Figure("  of them the daemon's", "", lambda m: m.daemon_events / m.apps, "events"),
    # Discovery looks again every so often, whatever the number of apps: none per app is not none at all.
    Figure("GETs at the control plane per app", "", lambda m: _codes(m.control_plane_requests, "GET") / m.apps,
           0.05),
    Figure("writes of the daemon per app", "", lambda m: _writes(m) / m.apps),
    Figure("answers 409 per app", "", lambda m: _codes(m.requests, code="409") / m.apps, 0),
    Figure("CPU of the daemon per app", "ms", lambda m: m.cpu_seconds / m.apps * 1000, "cpu"),
    Figure("last created to all applied", "s", lambda m: m.applied_seconds, ratio_budget=0.2),
    Figure("RSS, settled", "MB", lambda m: m.rss / 1e6, "rss"),
    Figure("RSS, peak", "MB", lambda m: m.peak_rss / 1e6),
    Figure("writes after a restart", "", lambda m: m.restart_writes, 0),
    Figure("events after a restart", "", lambda m: m.restart_events, 0),
]


def _resource(m, resource):
    return sum(n for (_, r), n in m.writes.items() if r == resource) / m.apps


def _writes(m):
    return sum(n for (method, _), n in m.requests.items() if method != "GET")


def rows(ours, theirs):
    """(figure, our median, their median or None) of the runs' measurements."""
    for figure in FIGURES:
        yield (figure, median(map(figure.read, ours)), median(map(figure.read, theirs)) if theirs else None)


def table(app, ours, theirs):
    """The lines of the table."""
    yield f"{'':38} {'ours':>10} {'upstream':>10} {'ratio':>8} {'at most':>8}"
    for figure, our, their in rows(ours, theirs):
        ratio = f"{our / their:8.3f}" if their else f"{'-':>8}"
        their_text = f"{their:10.2f}" if their is not None else f"{'-':>10}"
        name = figure.name + (f", {figure.unit}" if figure.unit else "")
        yield f"{name:38} {our:10.2f} {their_text} {ratio} {figure.verdict(app, our, their)}".rstrip()


def cpu_table(label, measurements):
    """Who had the CPU from the last created until all was applied."""
    first = measurements[0]
    total = sum(first.cpu_until_applied.values())
    yield f"{label}: CPU from the last created to all applied, {total:.1f} s in {first.applied_seconds:.1f} s"
    for name, seconds in first.cpu_until_applied.most_common():
        if seconds / total >= 0.005:
            yield f"  {name:32} {seconds:6.1f} s {100 * seconds / total:5.1f} %"


def requests_table(label, measurements):
    """The daemon's requests per app by method and code, and the control plane's writes by resource."""
    first = measurements[0]
    yield f"{label}: requests of the daemon per app (of them to the control plane)"
    for (method, code), count in sorted(first.requests.items()):
        own = first.control_plane_requests[method, code]
        yield f"  {method:7} {code:4} {count / first.apps:9.2f} ({own / first.apps:.2f})"
    yield f"{label}: writes at the control plane per app, all clients"
    for (verb, resource), count in first.writes.most_common():
        if count / first.apps >= 0.005:
            yield f"  {verb:7} {resource:34} {count / first.apps:9.2f}"


def svg(ours, theirs, title):
    """A bar per figure: ours as a share of upstream's."""
    shown = [(f, o, t) for f, o, t in rows(ours, theirs) if t]
    height, left, width = 34, 270, 420
    total = height * len(shown) + 70
    scale = width / max([1.0] + [o / t for _, o, t in shown])
    out = [f'<svg xmlns="http://www.w3.org/2000/svg" width="{left + width + 150}" height="{total}" '
           'font-family="sans-serif" font-size="13" role="img">', f"<title>{escape(title)}</title>",
           "<desc>A bar for each figure of the table above: ours as a share of upstream's.</desc>",
           '<rect width="100%" height="100%" fill="white"/>',
           f'<text x="12" y="24" font-size="16">{escape(title)}</text>']
    for i, (figure, our, their) in enumerate(shown):
        y = 48 + i * height
        unit = f" {figure.unit}" if figure.unit else ""
        out += [f'<text x="{left - 10}" y="{y + 16}" text-anchor="end">{escape(figure.name.strip())}</text>',
                f'<rect x="{left}" y="{y}" width="{scale:.1f}" height="22" fill="#dde3ea"/>',
                f'<rect x="{left}" y="{y}" width="{max(1.0, scale * our / their):.1f}" height="22" fill="#326ce5"/>',
                f'<text x="{left + scale * max(1.0, our / their) + 8:.1f}" y="{y + 16}">'
                f'{our:.3g} of {their:.3g}{unit}</text>']
    out += [f'<text x="{left}" y="{total - 8}" fill="#666">blue: ours, grey: upstream = 100 %</text>', "</svg>"]
    return "\n".join(out) + "\n"
