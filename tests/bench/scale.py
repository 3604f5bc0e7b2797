#!/usr/bin/env python3
"""Measures the controller manager with many members and apps, on the sandbox: no Go, no real servers.

    scale.py [--quick] [--only CASE,...] [--output text|json] [--bin FOLDER]

Cases: apps (and a restart), growth, wide, idle, storm, rules. Prints a table with its budgets; leaves it with the raw numbers
in build/bench.
"""

import argparse
import json
import pathlib
import signal
import sys
import time

HERE = pathlib.Path(__file__).resolve().parent
sys.path[:0] = [str(HERE), str(HERE.parent / "e2e")]
sys.dont_write_bytecode = True

from scale import report  # noqa: E402  (the path has to be set first)
from scale.cases import QUICK, Bench, Sizes  # noqa: E402

TOP = HERE.parent.parent
CASES = ("apps", "growth", "wide", "idle", "storm", "rules")


def main():
    options = parse()
    signal.signal(signal.SIGTERM, lambda *_: sys.exit(143))
    for program in ("karmada-sandbox", "karmada-controller-manager"):
        if not (options.bin / program).exists():
            sys.exit(f"bench-scale: {options.bin / program} is missing: make build")
    sizes, began = QUICK if options.quick else Sizes(), time.monotonic()

    def say(words):
        print(f"bench-scale: {time.monotonic() - began:5.0f} s: {words}", file=sys.stderr, flush=True)
    bench = Bench(options.bin, TOP / "build" / "bench" / "scale", sizes, say)
    figures = {}
    for case in options.only:
        figures[case] = getattr(bench, case)()
    write(options, sizes, figures)


def parse():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--quick", action="store_true", help="a tenth of the sizes, to try it out")
    parser.add_argument("--only", type=lambda text: text.split(","), default=list(CASES), metavar="CASE,...")
    parser.add_argument("--output", choices=("text", "json"), default="text")
    parser.add_argument("--bin", type=pathlib.Path, default=TOP / "build" / "release" / "bin",
                        help="where the programs are")
    options = parser.parse_args()
    unknown = sorted(set(options.only) - set(CASES))
    if unknown:
        parser.error(f"no such case: {', '.join(unknown)} (there are {', '.join(CASES)})")
    return options


def write(options, sizes, figures):
    folder = TOP / "build" / "bench"
    folder.mkdir(parents=True, exist_ok=True)
    text = "\n".join(report.table(figures, sizes))
    rows = [{"case": row.case, "what": row.name, "unit": row.unit, "value": value, "atMost": row.budget, "met": met}
            for row, value, met in report.results(figures)]
    document = json.dumps({"rows": rows, "figures": figures}, indent=1)
    print(document if options.output == "json" else f"\n{text}\n")
    (folder / "scale.txt").write_text(text + "\n")
    (folder / "scale.json").write_text(document + "\n")
    curves = {}
    for case in ("apps", "growth"):
        for point in figures.get(case, {}).get("curve", []):
            curves.setdefault(point["members"], []).append((point["apps"], point["cpu_per_app"] * 1e3))
    if curves:
        (folder / "scale.svg").write_text(report.svg(curves, budget=2.5))
    print(f"bench-scale: table, raw numbers and picture are in {folder}/scale.{{txt,json,svg}}", file=sys.stderr)


if __name__ == "__main__":
    main()
