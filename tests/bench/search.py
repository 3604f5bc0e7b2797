#!/usr/bin/env python3
"""Measures our karmada-search against upstream's on one real control plane, and ours alone with many pods.

    search.py [--ours-only] [--only servers,fleet] [--pods N] [--fleet-pods N] [--folder FOLDER]

Prints a table with its budgets; leaves it with the raw numbers in build/bench.
"""

import argparse
import json
import pathlib
import signal
import sys
import time
from dataclasses import dataclass

HERE = pathlib.Path(__file__).resolve().parent
sys.path[:0] = [str(HERE), str(HERE.parent / "e2e")]
sys.dont_write_bytecode = True

from rig import paths  # noqa: E402  (the path has to be set first)
from search import report  # noqa: E402
from search.fleet import FleetStage  # noqa: E402
from search.real import RealStage, programs  # noqa: E402

PARTS = ("servers", "fleet")


@dataclass(frozen=True)
class Sizes:
    """How much there is of everything."""

    pods: int
    fleet_pods: int
    fleet_members: int = 10
    clients: tuple = (10, 100)
    watchers: int = 500


def main():
    options, began = parse(), time.monotonic()
    signal.signal(signal.SIGTERM, lambda *_: sys.exit(143))
    for program in ("karmada-search", "karmada-sandbox", "karmada-controller-manager", "search_load"):
        if not (paths.BIN / program).exists():
            sys.exit(f"bench-search: {paths.BIN / program} is missing: make bench-search builds it")
    sizes = Sizes(options.pods, options.fleet_pods)

    def say(words):
        print(f"bench-search: {time.monotonic() - began:4.0f} s: {words}", flush=True)
    figures, folder = {}, paths.BUILD / "bench"
    if "servers" in options.only:
        figures |= servers(options, folder / "search-plane", sizes, say)
    if "fleet" in options.only:
        with FleetStage(paths.BIN, folder / "search-sandbox", sizes.fleet_members, sizes.fleet_pods, say) as stage:
            figures["fleet"] = stage.measure()
    write(folder, figures, sizes)


def parse():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--ours-only", action="store_true", help="leave upstream's out")
    parser.add_argument("--only", type=lambda text: text.split(","), default=list(PARTS), metavar="PART,...")
    parser.add_argument("--pods", type=int, default=10_000)
    parser.add_argument("--fleet-pods", type=int, default=100_000)
    options = parser.parse_args()
    unknown = sorted(set(options.only) - set(PARTS))
    if unknown:
        parser.error(f"no such part: {', '.join(unknown)} (there are {', '.join(PARTS)})")
    return options


def servers(options, folder, sizes, say):
    """The figures of both programs on real servers."""
    testbed = paths.Testbed.build(with_upstream=not options.ours_only)
    with RealStage(folder, testbed, paths.BIN / "search_load", sizes.pods, say) as stage:
        return {name: stage.measure(name, exe, repeats, sizes.clients, sizes.watchers)
                for name, exe, repeats in programs(testbed, options.ours_only)}


def write(folder, figures, sizes):
    folder.mkdir(parents=True, exist_ok=True)
    text = "\n".join(report.table(figures, sizes))
    print(f"\n{text}\n")
    (folder / "search.txt").write_text(text + "\n")
    (folder / "search.json").write_text(json.dumps(figures, indent=1) + "\n")
    print(f"bench-search: the table and the raw numbers are in {folder}/search.{{txt,json}}")


if __name__ == "__main__":
    main()
