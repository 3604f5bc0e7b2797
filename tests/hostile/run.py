#!/usr/bin/env python3
"""Attacks karmada-search and karmada-controller-manager, which run over the sandbox, and fails if one takes more than it may.

    run.py [--short] [--pods N] [--program FILE] [--manager FILE] [NAME ...]

Prints what each attack did to memory, CPU time and to somebody else who went on reading, and in the end what was skipped, and what failed.
"""

import argparse
import contextlib
import pathlib
import signal
import sys
import time

HERE = pathlib.Path(__file__).resolve().parent
sys.path[:0] = [str(HERE)]
sys.dont_write_bytecode = True

from hostile.site import Site, paths  # noqa: E402  (it sets the path for the next ones)
from hostile import bodies, connections, live, pages, reviews, searches, shares, slow, sorts, together, watches  # noqa: E402,F401  (they declare attacks on karmada-search)
from hostile import lists, members, starts  # noqa: E402,F401  (and these on the controller manager)
from hostile.attack import ATTACKS, shown  # noqa: E402
from hostile.plane import Plane  # noqa: E402


def main():
    options = parse()
    signal.signal(signal.SIGTERM, lambda *_: sys.exit(143))
    for program in ("karmada-search", "karmada-controller-manager", "karmada-sandbox", "search_load"):
        if not (paths.BIN / program).exists():
            sys.exit(f"hostile: {paths.BIN / program} is missing: make hostile builds it")
    size = "short" if options.short else "long"
    chosen = [a for a in ATTACKS if size in a.sizes and (not options.names or any(name in a.name for name in options.names))]
    if not chosen:
        sys.exit(f"hostile: no such attack; there are {', '.join(a.name for a in ATTACKS)}")
    failed, skipped = [], []
    for target, place in (("search", search_site), ("manager", manager_plane)):
        attacks = [attack for attack in chosen if attack.target == target]
        if attacks:
            with place(options) as site:
                for attack in attacks:
                    broken, reason = run(site, attack, size)
                    failed += broken
                    skipped += [f"{attack.name}: {reason}"] if reason else []
    for line in skipped:
        print(f"hostile: SKIPPED: {line}")
    for line in failed:
        print(f"hostile: FAILED: {line}")
    sys.exit(1 if failed else 0)


@contextlib.contextmanager
def search_site(options):
    began = time.monotonic()
    with Site(paths.BUILD / "hostile", options.pods or (2_000 if options.short else 20_000), options.program) as site:
        print(f"hostile: {site.total:,} pods in {len(site.members)} members after {time.monotonic() - began:.0f} s", flush=True)
        yield site


def manager_plane(options):
    return Plane(paths.BUILD / "hostile", options.manager)


def run(site, attack, size):
    """Runs one attack; returns what it broke, and why it was skipped ("" if it was not)."""
    began = time.monotonic()
    with site.attacked(attack) as attacked:
        figures = attack.run(attacked, attack.sizes[size]) or {}
        figures = {**attacked.finish(), **figures}
    print(f"hostile: {attack.name} ({time.monotonic() - began:.0f} s)")
    bounds = attack.bounds(size == "long")
    for name, value in figures.items():
        print(f"  {name}: {shown(value)}" + (f" (at most {bounds[name]})" if name in bounds else ""), flush=True)
    return attack.broken(figures, size == "long"), figures.get("skipped", "")


def parse():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--short", action="store_true", help="fewer pods and requests, and no bounds of time")
    parser.add_argument("--pods", type=int)
    parser.add_argument("--program", default=paths.BIN / "karmada-search", help="another karmada-search, to compare with")
    parser.add_argument("--manager", default=paths.DAEMON, help="another karmada-controller-manager")
    parser.add_argument("names", nargs="*", metavar="NAME", help="parts of the names of attacks")
    return parser.parse_args()


if __name__ == "__main__":
    main()
