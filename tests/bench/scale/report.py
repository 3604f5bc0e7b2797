"""Turns the figures of the scale bench into a table and a picture."""

from dataclasses import dataclass
from xml.sax.saxutils import escape


@dataclass(frozen=True)
class Row:
    """One line of the table."""

    name: str
    unit: str
    case: str
    read: object       # From the case's figures (of all cases for "growth").
    budget: float = None
    decimals: int = 1


def _growth(figures):
    """By how many percent an app costs more on the large fleet with all apps than on the small with few."""
    small = figures["growth"]["curve"][0]["cpu_per_app"]
    return (figures["apps"]["cpu_per_app"] / small - 1) * 100


ROWS = [
    Row("CPU per app", "ms", "apps", lambda f: f["cpu_per_app"] * 1e3, 2.5, 2),
    Row("RSS", "MB", "apps", lambda f: f["memory"]["rss"] / 1e6, 100),
    Row("threads", "", "apps", lambda f: f["threads"], 40, 0),
    Row("idle CPU", "%", "apps", lambda f: f["idle_cpu"] * 100, 0.5, 2),
    Row("events per app", "", "apps", lambda f: f["events_per_app"], 4, 2),
    Row("growth of CPU per app from few apps and members", "%", "growth", _growth, 15),
    Row("CPU per pair", "ms", "wide", lambda f: f["cpu_per_pair"] * 1e3, 1.2, 2),
    Row("memory per pair", "kB", "wide", lambda f: f["memory_per_pair"] / 1e3, 12),
    Row("all Ready after", "s", "idle", lambda f: f["ready_seconds"], 2, 2),
    Row("RSS", "MB", "idle", lambda f: f["memory"]["rss"] / 1e6, 45),
    Row("threads", "", "idle", lambda f: f["threads"], 40, 0),
    Row("idle CPU", "%", "idle", lambda f: f["idle_cpu"] * 100, None, 2),
    Row("longest delay of another reconcile", "ms", "storm", lambda f: f["storm"] * 1e3, 200, 0),
    Row("the same before, for comparison", "ms", "storm", lambda f: f["quiet"] * 1e3, None, 0),
    Row("CPU", "s", "rules", lambda f: f["cpu"], 2, 2),
    Row("writes (one is the event ConfigurationLoaded)", "", "rules", lambda f: f["writes"], 1, 0),
    Row("CPU", "s", "restart", lambda f: f["cpu"], 1, 2),
    Row("peak RSS", "MB", "restart", lambda f: f["peak_rss"] / 1e6, 110),
    Row("writes", "", "restart", lambda f: f["writes"], 0, 0),
]


def titles(sizes):
    """What each case is, by name."""
    return {
        "apps": f"{sizes.apps:,} Deployments over 2 of {sizes.members} members each",
        "growth": f"from {sizes.few_curve[0]} x {sizes.few_members} to {sizes.apps:,} x {sizes.members}",
        "wide": f"{sizes.wide_apps} Deployments over {sizes.wide} of {sizes.members} members each",
        "idle": f"{sizes.idle_members} members, nothing propagated",
        "storm": (f"{sizes.storm_back} of {sizes.storm_members} members come back, "
                  f"{sizes.storm_maps * sizes.wide:,} Works"),
        "rules": f"a changed customization of {sizes.rule_maps * sizes.rule_members:,} objects, with the same answers",
        "restart": f"restart with {sizes.apps * 6:,} objects over {sizes.members} members",
    }


def results(figures):
    """(row, value, whether the budget is met or None) of each row whose cases have run."""
    for row in ROWS:
        if row.case == "growth":
            source = figures if {"growth", "apps"} <= figures.keys() else None
        elif row.case == "restart":
            source = figures.get("apps", {}).get("restart")
        else:
            source = figures.get(row.case)
        if source is not None:
            value = row.read(source)
            yield row, value, None if row.budget is None else round(value, row.decimals) <= row.budget


def table(figures, sizes):
    """The lines of the table."""
    yield f"{'':54} {'':>9} {'at most':>9}"
    last = None
    for row, value, met in results(figures):
        if row.case != last:
            yield titles(sizes)[row.case]
            last = row.case
        name = "  " + row.name + (f", {row.unit}" if row.unit else "")
        budget = "" if met is None else f"{row.budget:>9g} {'met' if met else 'NOT MET'}"
        yield f"{name:54} {value:9,.{row.decimals}f} {budget}".rstrip()


# ---- The picture: CPU per app against the number of apps, one line for each number of members. ----------------

WIDTH, HEIGHT, LEFT, BOTTOM, TOP, RIGHT = 640, 360, 64, 52, 52, 120
COLOURS = ("#2a78d6", "#1baf7a", "#eb6834")
# Both a light and a dark page: text and lines follow the reader's colour scheme.
STYLE = """<style>
 .page { fill: #fcfcfb } .text { fill: #0b0b0b } .soft { fill: #52514e } .grid { stroke: #e1e0d9 }
 @media (prefers-color-scheme: dark) {
  .page { fill: #1a1a19 } .text { fill: #ffffff } .soft { fill: #c3c2b7 } .grid { stroke: #2c2c2a } }
</style>"""


def svg(curves, budget=None):
    """curves: members -> [(apps, ms per app)]."""
    most_apps = max(apps for points in curves.values() for apps, _ in points)
    most_ms = _round_up(max([ms for points in curves.values() for _, ms in points] + [budget or 0]))
    across, down = WIDTH - LEFT - RIGHT, HEIGHT - TOP - BOTTOM

    def place(apps, ms):
        return LEFT + across * apps / most_apps, TOP + down * (1 - ms / most_ms)
    out = [f'<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 {WIDTH} {HEIGHT}" width="{WIDTH}" '
           f'font-family="system-ui, sans-serif" font-size="12" role="img">',
           "<title>CPU time of the controller manager per app</title>",
           "<desc>A curve for each number of members, over the number of Deployments, with the budget as a line.</desc>", STYLE,
           '<rect class="page" width="100%" height="100%"/>',
           _text(16, 26, "CPU time of the controller manager per app, ms", "text", size=15)]
    for step in range(5):
        ms = most_ms * step / 4
        x, y = place(0, ms)
        out += [f'<path class="grid" d="M{x:.1f} {y:.1f}H{WIDTH - RIGHT}"/>', _text(x - 8, y + 4, f"{ms:g}", "soft", "end")]
    for apps in sorted({apps for points in curves.values() for apps, _ in points}):
        x, y = place(apps, 0)
        out.append(_text(x, y + 18, f"{apps:,}", "soft", "middle"))
    out.append(_text(LEFT + across / 2, HEIGHT - 12, "Deployments, each over two members", "soft", "middle"))
    if budget is not None:
        x, y = place(0, budget)
        out += [f'<path class="grid" stroke-dasharray="4 4" d="M{x:.1f} {y:.1f}H{WIDTH - RIGHT}"/>',
                _text(WIDTH - RIGHT + 8, y + 4, f"budget {budget:g}", "soft")]
    for colour, (members, points) in zip(COLOURS, sorted(curves.items())):
        out += _line([place(*point) for point in points], points, f"{members} members", colour)
    return "\n".join([*out, "</svg>"]) + "\n"


def _line(places, points, label, colour):
    path = "M" + "L".join(f"{x:.1f} {y:.1f}" for x, y in places)
    yield f'<path d="{path}" fill="none" stroke="{colour}" stroke-width="2"/>'
    for (x, y), (apps, ms) in zip(places, points):
        yield (f'<circle cx="{x:.1f}" cy="{y:.1f}" r="4" fill="{colour}"><title>{apps:,} apps, {label}: '
               f'{ms:.2f} ms</title></circle>')
    x, y = places[-1]
    yield _text(x + 8, y - 8, label, "text")


def _text(x, y, words, style, anchor="start", size=12):
    return (f'<text class="{style}" x="{x:.1f}" y="{y:.1f}" text-anchor="{anchor}" font-size="{size}">'
            f'{escape(words)}</text>')


def _round_up(value):
    """A number that divides well by four."""
    step = next(s for s in (0.4, 0.8, 2, 4, 8, 12, 16, 20, 40, 80, 200, 400, 1e9) if s >= value)
    return step
