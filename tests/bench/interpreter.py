#!/usr/bin/env python3
"""Measures our resource interpreter against upstream's: the same objects, each called in its own process,
by turns.

    interpreter.py [--rounds N] [--seconds S] [--ours-only]

Prints a table; leaves it with the raw numbers in build/bench. Fails when the two sides answer differently.
"""

import argparse
import json
import pathlib
import shutil
import subprocess
import sys

HERE = pathlib.Path(__file__).resolve().parent
sys.path[:0] = [str(HERE)]
sys.dont_write_bytecode = True

import interpreter_report as report  # noqa: E402  (the path has to be set first)

TOP = HERE.parent.parent
OBJECTS = HERE / "interpreter" / "objects"
UPSTREAM = HERE / "interpreter" / "upstream"
OURS = TOP / "build" / "release" / "bin" / "interpreter_bench"
FOLDER = TOP / "build" / "bench"


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--rounds", type=int, default=3)
    parser.add_argument("--seconds", type=float, default=1, help="how long to run each operation")
    parser.add_argument("--ours-only", action="store_true")
    options = parser.parse_args()
    if not OURS.exists():
        sys.exit(f"bench: {OURS} is missing: make bench-interpreter builds it")
    FOLDER.mkdir(parents=True, exist_ok=True)
    sides = {"ours": [OURS, OBJECTS, str(options.seconds)]}
    if not options.ours_only:
        sides["upstream"] = [build_upstream(), "--objects", OBJECTS, "--time", f"{options.seconds}s"]
    runs = {name: [] for name in sides}
    for number in range(options.rounds):
        for name, command in sides.items():
            print(f"bench: {name}: interpreter, round {number + 1} of {options.rounds}", flush=True)
            runs[name].append(measured(name, command))
    write(runs)
    different = report.different_answers(runs["ours"][0], runs["upstream"][0]) if "upstream" in runs else []
    if different:
        sys.exit("bench: the sides do not agree, so that their costs cannot be compared:\n" + "\n".join(different))


def build_upstream():
    if shutil.which("go") is None:
        sys.exit("bench: upstream's interpreter is built with Go, and there is no go in the PATH (go.mod has the version)."
                 "\n  Ours alone: tests/bench/interpreter.py --ours-only")
    out = FOLDER / "upstream-interpreter"
    print("bench: building upstream's interpreter (minutes the first time)", flush=True)
    try:
        subprocess.run(["go", "build", "-o", out, "."], cwd=UPSTREAM, check=True)
    except (OSError, subprocess.CalledProcessError) as error:
        sys.exit(f"bench: {UPSTREAM} could not be built with Go: {error}")
    return out


def measured(name, command):
    """What one run of a side's program printed. What it logs goes to a file."""
    log = FOLDER / f"interpreter-{name}.log"
    with log.open("w") as stderr:
        done = subprocess.run(command, cwd=TOP, stdout=subprocess.PIPE, stderr=stderr, text=True, check=False)
    if done.returncode != 0:
        sys.exit(f"bench: {name}: the interpreter failed: {log.read_text()[-2000:]}")
    return json.loads(done.stdout)


def write(runs):
    text = "\n".join(report.lines(runs["ours"], runs.get("upstream", [])))
    print(f"\n{text}\n")
    (FOLDER / "interpreter.txt").write_text(text + "\n")
    (FOLDER / "interpreter.json").write_text(json.dumps(runs, indent=1) + "\n")
    print(f"bench: the table and the raw numbers are in {FOLDER}/interpreter.{{txt,json}}")


if __name__ == "__main__":
    main()
