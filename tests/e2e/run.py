#!/usr/bin/env python3
"""The end-to-end tests: our daemon in a real Karmada control plane, our CRDs, kubectl on our sandbox.

    run.py [--compat] [--part I/N] [PATTERN...]
                                       runs the cases whose name contains one of the patterns (default: all)

Builds the servers that they need (testbed/), brings a plane with two members up in build/e2e, runs the cases
below cases/, or with --compat the long ones below compat/, and closes with one line. Logs of everything that ran stay in
build/e2e/logs, and the names of the cases that failed in build/e2e/failed, one in a line. Cases that need no plane run
meanwhile, in a process of their own, whose lines follow in the end.

With --part, of what takes turns only the Ith of N parts is run: the behaviour tests, and the long cases that say so.
"""

import argparse
import contextlib
import fcntl
import pathlib
import signal
import subprocess
import sys
import time
import unittest

HERE = pathlib.Path(__file__).resolve().parent
sys.path.insert(0, str(HERE))
sys.dont_write_bytecode = True

from rig import paths, suite  # noqa: E402  (the path has to be set first)
from rig.plane import Plane  # noqa: E402


class Progress(unittest.TestResult):
    """One line per test with its time; the last words of the daemon, or of karmada-search, with each failure."""

    def __init__(self, plane):
        super().__init__()
        self.plane, self.passed = plane, 0
        self._began = time.monotonic()

    def startTest(self, test):
        super().startTest(test)
        suite.ran.add(test.id().split(".")[-3])
        self._began = time.monotonic()

    def addSuccess(self, test):
        super().addSuccess(test)
        self.passed += 1
        self._say("ok", test)

    def addSkip(self, test, reason):
        super().addSkip(test, reason)
        self._say("SKIPPED", test, [reason])

    def addFailure(self, test, err):
        super().addFailure(test, err)
        self._say_failed(test, self.failures[-1][1])

    def addError(self, test, err):
        super().addError(test, err)
        self._say_failed(test, self.errors[-1][1])

    def addSubTest(self, test, subtest, err):
        before = len(self.failures)
        super().addSubTest(test, subtest, err)
        if err is not None:
            self._say_failed(subtest, (self.failures if len(self.failures) > before else self.errors)[-1][1])

    def _say(self, outcome, test, details=()):
        print(f"{outcome:7} {time.monotonic() - self._began:6.1f} s  {name_of(test)}", flush=True)
        for line in details:
            print(f"        {line}", flush=True)

    def _say_failed(self, test, error):
        self._say("FAILED", test, error.strip().splitlines()[-60:])
        processes = self.plane.processes if self.plane else []
        daemons = [p for p in processes if p.command[0] in (str(paths.DAEMON), str(paths.SEARCH))]
        for daemon in daemons[-1:]:
            print(f"        -- the end of {daemon.log}:", flush=True)
            for line in daemon.tail(12).splitlines():
                print(f"        {line[:400]}", flush=True)


def name_of(test):
    """cases.test_samples.SamplesTest.test_it_lands -> samples: it lands; a sub-test with what it is about."""
    case = getattr(test, "test_case", test)
    about = f" {test._subDescription()}" if case is not test else ""
    words = case.id().split(".")
    if len(words) != 4:
        return case.id() + about
    return f"{words[1]}: {words[3]}".replace("test_", "").replace("_", " ") + about


def pattern_of(test):
    """What runs the case again: its id, or that of the class whose preparations failed."""
    return getattr(test, "test_case", test).id().removesuffix(")").split("(")[-1]


def read_arguments():
    parser = argparse.ArgumentParser(description="Runs the end-to-end tests.")
    parser.add_argument("--compat", action="store_true", help="the long cases")
    parser.add_argument("--part", type=suite.Part.parse, default=suite.Part(), metavar="I/N",
                        help="of what takes turns the Ith of N parts")
    parser.add_argument(Apart.FLAG, action="store_true", help=argparse.SUPPRESS)
    parser.add_argument("patterns", nargs="*", metavar="PATTERN", help="part of the name of a case")
    return parser.parse_args()


def load(folder, patterns):
    """The cases of a folder, those that need the shared daemon together, then those that leave hundreds of objects and
    kinds behind, among which others would be slow, and last those that judge what all did."""
    found = unittest.defaultTestLoader.discover(str(HERE / folder), top_level_dir=str(HERE))

    def flatten(tests):
        for test in tests:
            if isinstance(test, unittest.TestSuite):
                yield from flatten(test)
            else:
                yield test
    tests = suite.part.of_cases(flatten(found))
    tests = [t for t in tests if not patterns or any(p in t.id() for p in patterns)]
    tests.sort(key=lambda t: (getattr(t, "judges_all", False), getattr(t, "fills_the_plane", False),
                              not isinstance(t, suite.DaemonCase)))
    return unittest.TestSuite(tests)


def needs_plane(test):
    return getattr(test, "needs_plane", True)


@contextlib.contextmanager
def plane_for(tests):
    """A plane with its suite, unless no case needs one: then None."""
    if not any(map(needs_plane, tests)):
        yield None
        return
    if not paths.DAEMON.exists():
        sys.exit(f"e2e: {paths.DAEMON} is missing: make build")
    with Plane(paths.BUILD / "e2e", paths.Testbed.build(with_upstream=True)) as plane, suite.on(plane):
        yield plane


class Apart:
    """The cases that need no plane, in a process of their own. Ends it when it is left."""

    FLAG = "--without-plane"
    FAILED = paths.BUILD / "e2e" / "failed-without-plane"

    def __init__(self):
        self._log = paths.BUILD / "e2e" / "logs" / "without-plane.log"
        with self._log.open("w") as log:
            self._process = subprocess.Popen([sys.executable, "-u", __file__, self.FLAG, *sys.argv[1:]], stdout=log,
                                             stderr=subprocess.STDOUT, stdin=subprocess.DEVNULL)

    def __enter__(self):
        return self

    def __exit__(self, *_):
        self._process.terminate()
        self._process.wait()

    def wait(self):
        """Prints what it has printed. Returns how many cases have passed, how many were skipped, and what has failed."""
        status = self._process.wait()
        lines = self._log.read_text().splitlines()
        print("\n".join(lines[:-3]), flush=True)
        counts = [int(word) for word in lines[-1].split() if word.isdigit()] if lines else []
        if status not in (0, 1) or len(counts) != 3:
            return 0, 0, [f"{self.FLAG}, which ended with {status}: {self._log}"]
        return counts[0], counts[2], self.FAILED.read_text().split()


def hold_folder():
    """Makes the folder of planes and logs this process's own until it ends, since two runs would destroy each other's."""
    (paths.BUILD / "e2e").mkdir(parents=True, exist_ok=True)
    lock = (paths.BUILD / "e2e.lock").open("w")
    try:
        fcntl.flock(lock, fcntl.LOCK_EX | fcntl.LOCK_NB)
    except BlockingIOError:
        sys.exit(f"e2e: another run has {paths.BUILD / 'e2e'}: wait until it has ended")
    return lock


def interrupt(number, _):
    """unittest takes whatever else is raised in a test for a failure, and goes on."""
    raise KeyboardInterrupt(number)


def main():
    signal.signal(signal.SIGTERM, interrupt)
    arguments = read_arguments()
    suite.part, is_apart = arguments.part, arguments.without_plane
    folder = "compat" if arguments.compat else "cases"
    tests = list(load(folder, arguments.patterns))
    apart = [test for test in tests if not needs_plane(test)]
    splits = not is_apart and folder == "cases" and 0 < len(apart) < len(tests)
    if is_apart or splits:
        tests = apart if is_apart else [test for test in tests if needs_plane(test)]
    if not tests:
        sys.exit("e2e: no test of that name")
    (paths.BUILD / "e2e" / "logs").mkdir(parents=True, exist_ok=True)
    passed, skipped, failed = 0, 0, []
    hold = contextlib.nullcontext() if is_apart else hold_folder()  # Whoever started this holds it.
    with hold, plane_for(tests) as plane, contextlib.ExitStack() as beside:
        others = beside.enter_context(Apart()) if splits else None
        result = Progress(plane)
        unittest.TestSuite(tests).run(result)
        if others:
            passed, skipped, failed = others.wait()
    failed = sorted({pattern_of(test) for test, _ in result.failures + result.errors} | set(failed))
    passed, skipped = passed + result.passed, skipped + len(result.skipped)
    (Apart.FAILED if is_apart else paths.BUILD / "e2e" / "failed").write_text("".join(f"{name}\n" for name in failed))
    print(f"\nlogs: {paths.BUILD / 'e2e' / 'logs'}")
    print(f"{passed} passed, {len(failed)} failed, {skipped} skipped")
    return 0 if passed and not failed else 1


if __name__ == "__main__":
    try:
        sys.exit(main())
    except KeyboardInterrupt as stopped:
        sys.exit(128 + (stopped.args or (signal.SIGINT,))[0])
