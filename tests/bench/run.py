#!/usr/bin/env python3
"""Measures our controller manager against upstream's, alternately, on one real control plane.

    run.py [--apps N] [--rounds N] [--ours-only] [--only alone|dependencies]

Prints a table for Deployments alone, and one for Deployments that a ConfigMap and a Secret follow; leaves them with the
raw numbers and pictures in build/bench.
"""

import argparse
import json
import pathlib
import signal
import sys

HERE = pathlib.Path(__file__).resolve().parent
sys.path[:0] = [str(HERE), str(HERE.parent / "e2e")]
sys.dont_write_bytecode = True

import report  # noqa: E402  (the path has to be set first)
from apps import ALONE, WITH_DEPENDENCIES  # noqa: E402
from measure import measure  # noqa: E402
from rig import paths  # noqa: E402
from rig.plane import Plane  # noqa: E402


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--apps", type=int, default=300)
    parser.add_argument("--rounds", type=int, default=1)
    parser.add_argument("--ours-only", action="store_true")
    parser.add_argument("--only", choices=["alone", "dependencies"])
    options = parser.parse_args()
    signal.signal(signal.SIGTERM, lambda *_: sys.exit(143))
    if not paths.DAEMON.exists():
        sys.exit(f"bench: {paths.DAEMON} is missing: make build")
    testbed = paths.Testbed.build(with_upstream=not options.ours_only)
    daemons = {"ours": str(paths.DAEMON)}
    if not options.ours_only:
        daemons["upstream"] = testbed.exe("upstream-controller-manager")
    folder = paths.BUILD / "bench"
    with Plane(folder / "plane", testbed) as plane:
        for app in (ALONE, WITH_DEPENDENCIES):
            if options.only in (None, app.name):
                write(folder, app, run(plane, daemons, app, options), options.apps)
    print(f"bench: tables, raw numbers and pictures are in {folder}")


def run(plane, daemons, app, options):
    """The measurements of each daemon, in turn."""
    results = {name: [] for name in daemons}
    for number in range(options.rounds):
        for name, exe in daemons.items():
            print(f"bench: {name}, round {number + 1}: {options.apps} {app.title}", flush=True)
            results[name].append(measure(plane, exe, f"{app.name}-{name}-{number}", app, options.apps))
    return results


def write(folder, app, results, apps):
    ours, theirs = results.get("ours", []), results.get("upstream", [])
    title = f"{apps} {app.title}, divided over two members"
    lines = [f"{title}; medians of {len(ours)} round(s)", ""]
    lines += report.table(app, ours, theirs)
    for name, measurements in results.items():
        lines += ["", *report.requests_table(name, measurements)]
        lines += ["", *report.cpu_table(name, measurements)]
    text = "\n".join(lines)
    print(f"\n{text}\n")
    (folder / f"{app.name}.txt").write_text(text + "\n")
    (folder / f"{app.name}.json").write_text(json.dumps(
        {name: [plain(m) for m in measurements] for name, measurements in results.items()}, indent=1))
    if theirs:
        (folder / f"{app.name}.svg").write_text(report.svg(ours, theirs, f"{title}: ours against upstream"))


def plain(measurement):
    """A measurement as JSON: counters' keys become words."""
    return {name: {_words(key): n for key, n in value.items()} if isinstance(value, dict) else value
            for name, value in vars(measurement).items()}


def _words(key):
    return key if isinstance(key, str) else " ".join(key)


if __name__ == "__main__":
    main()
