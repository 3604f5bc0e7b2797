#!/usr/bin/env python3
"""Runs the tests of a build with ctest, and says in the end which have failed and what runs them again.

    run_ctest.py BUILD [ARGUMENT...]     BUILD is such as build/release; the rest are arguments of ctest

The output of a test is shown only if it fails, and of its log only the part of the test cases that failed (catch_main.cc).
"""

import json
import pathlib
import re
import shlex
import subprocess
import sys

ROOT = pathlib.Path(__file__).resolve().parent.parent
FAILED_CASE = re.compile(r"^failed test case: (.*)$", re.MULTILINE)


def pattern_of(case):
    """A Catch2 pattern for exactly this test case, quoted for a shell."""
    return shlex.quote(re.sub(r"([\\,\[\]*])", r"\\\1", case))


def program_of(command):
    """The test program of a ctest command, without the arguments that choose its cases; None if it has no cases."""
    program = pathlib.Path(command[0])
    if not program.name.endswith("_test"):
        return None
    return program.relative_to(ROOT) if program.is_relative_to(ROOT) else program


def again(build, test, command, output):
    """Returns the lines that say what runs a failed test again."""
    program = program_of(command)
    cases = sorted(set(FAILED_CASE.findall(output)))
    if program and cases:
        return [f"{program} {pattern_of(case)}" for case in cases]
    whole = f"ctest --test-dir {build} --output-on-failure -R {shlex.quote('^' + re.escape(test) + '$')}"
    log = build / "Testing" / "logs" / f"{test}.log"
    if program and (ROOT / log).exists() and (ROOT / log).stat().st_size:
        # It was killed, or ended without a word of Catch2: its log has the case that was running.
        with open(ROOT / log, errors="replace") as kept:
            return [whole, f"    # its log stays in {log}: {kept.readline().strip()}"]
    return [whole]


def outputs(log):
    """Returns the output of each test by its name, from ctest's LastTest.log."""
    text = log.read_text(errors="replace") if log.exists() else ""
    found = {}
    for part in re.split(r"^(?=\d+/\d+ Testing: )", text, flags=re.MULTILINE):
        if name := re.match(r"\d+/\d+ Testing: (.*)", part):
            found[name.group(1)] = part
    return found


def main():
    build = pathlib.Path(sys.argv[1])
    ctest = ["ctest", "--output-on-failure", *sys.argv[2:]]
    failures = ROOT / build / "Testing" / "Temporary" / "LastTestsFailed.log"
    listed = json.loads(subprocess.run(["ctest", "--show-only=json-v1"], cwd=ROOT / build, check=True,
                                       capture_output=True).stdout)
    commands = {test["name"]: test.get("command", ["?"]) for test in listed["tests"]}
    # ctest leaves the list of an earlier run where it is when all tests pass, and `--rerun-failed` reads it.
    if "--rerun-failed" not in ctest:
        failures.unlink(missing_ok=True)
    elif not failures.exists() or not failures.stat().st_size:
        print("nothing has failed the last time")
        return 0
    status = subprocess.run(ctest, cwd=ROOT / build).returncode
    if status == 0:
        return 0
    failed = [line.split(":", 1)[1] for line in failures.read_text().splitlines()] if failures.exists() else []
    said = outputs(failures.with_name("LastTest.log"))
    print(f"\n{len(failed)} failed. To run them again:")
    for test in failed:
        print(f"  {test}")
        for line in again(build, test, commands.get(test, ["?"]), said.get(test, "")):
            print(f"    {line}")
    if failed and build.name == "release":
        print("  all of them: make retest")
    return status


if __name__ == "__main__":
    sys.exit(main())
