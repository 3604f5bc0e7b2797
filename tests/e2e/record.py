#!/usr/bin/env python3
"""Records what upstream's controller manager leaves behind in the scenarios of tests/data/scenarios.

    record.py [SCENARIO...]     all scenarios, or those named; writes their .upstream.json

On a testbed of Karmada v1.19 (KARMADA_TESTBED, README.md) it writes .v1.19.json: what that release leaves behind otherwise.

Needs Go. Builds the servers and upstream's controller manager (testbed/), brings a plane with two members up and runs the
scenarios on it, those that change clusters one after the other.
"""

import argparse
import pathlib
import signal
import sys

HERE = pathlib.Path(__file__).resolve().parent
sys.path.insert(0, str(HERE))
sys.dont_write_bytecode = True

from rig import paths, scenario  # noqa: E402  (the path has to be set first)
from rig.daemon import Daemon  # noqa: E402
from rig.plane import Plane  # noqa: E402


def say(line):
    print(line, flush=True)


def record(plane, scenarios, release):
    """Records scenarios side by side; returns a line for each that could not be recorded."""
    left = {}
    try:
        outcomes = scenario.run(plane, scenarios, log=say)
    finally:
        left = scenario.clean_up(plane)
    refused = []
    for one in scenarios:
        try:
            one.record(outcomes[one.name], release)
        except AssertionError as error:
            refused.append(f"{one.name}: {error}")
    if left:
        sys.exit("\n".join([f"record: left behind: {sorted(left)}", *refused]))
    return refused


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("scenario", nargs="*")
    options = parser.parse_args()
    signal.signal(signal.SIGTERM, lambda *_: sys.exit(143))
    scenarios = scenario.load(paths.SCENARIOS, options.scenario)
    testbed = paths.Testbed.build(with_upstream=True)
    together = [one for one in scenarios if not one.alone]
    batches = ([together] if together else []) + [[one] for one in scenarios if one.alone]
    refused = []
    with Plane(paths.BUILD / "record", testbed) as plane:
        release = scenario.release_of(plane.versions()["karmada"])
        for flags, of_these in scenario.by_flags(batches):
            with Daemon(plane, testbed.exe("upstream-controller-manager"), flags=flags + scenario.UPSTREAM_FLAGS):
                plane.wait_members_ready()
                for batch in of_these:
                    say(f"recording {', '.join(one.name for one in batch)}")
                    refused += record(plane, batch, release)
    if refused:
        sys.exit("record: not stored:\n" + "\n".join(refused))


if __name__ == "__main__":
    main()
