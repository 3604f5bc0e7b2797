"""The C++ behaviour tests on a plane of real servers."""

import re

from . import paths, suite
from .process import run

_REAL = "~[sandbox]"  # Those that need no server of our own.


def _not(name):
    """A pattern for all tests but that of this name. Catch2 separates patterns by commas, within quotes, too."""
    return '~"' + re.sub(r"([\\,\[\]*])", r"\\\1", name) + '"'


def names():
    """The names of the behaviour tests that run on real servers."""
    # Its exit code is the number of tests.
    return run([paths.BEHAVIOUR_TEST, "--list-test-names-only", _REAL]).stdout.splitlines()


def run_part(case):
    """As run_all, but only those of the part that is run now."""
    every = names()
    mine = suite.part.of(every)
    return run_all(case, left_out=[name for name in every if name not in mine])


def run_all(case, left_out=()):
    """Runs them on the plane of a case, except those of these names; the case fails if one of them does. Returns how many
    have passed. They start and stop the daemon themselves, so the suite's must not run."""
    every = names()
    case.assertGreater(len(every), len(left_out))
    case.assertEqual([name for name in left_out if name not in every], [], "left out, but no test has this name")
    output = run_those(case, [_REAL, *map(_not, left_out)])
    passed = len(every) - len(left_out)
    case.assertIn(f" in {passed} test cases)", output)
    return passed


def run_those(case, patterns, timeout=1500, **environment):
    """Runs the tests that the patterns choose on the plane of a case, which fails if one of them does. Returns what they have printed."""
    done = run([paths.BEHAVIOUR_TEST, "--durations=yes", *patterns], timeout=timeout, env={
        "TEST_PLANE": str(case.plane.folder),
        "KARMADA_CONTROLLER_MANAGER": str(paths.DAEMON),
        "BEHAVIOUR_LOG": str(case.plane.logs / "behaviour-daemon.log"),
        **environment,
    })
    (case.plane.logs / "behaviour.log").write_text(done.stdout)
    print("\n".join(done.stdout.strip().splitlines()[-3:]), flush=True)
    case.assertEqual(done.returncode, 0, done.stdout[-8000:] + done.stderr[-2000:])
    return done.stdout
