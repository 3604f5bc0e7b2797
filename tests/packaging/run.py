#!/usr/bin/env python3
"""Tests of images and packages: see README.md.

    run.py [WORD...]     runs the cases whose name contains one of the words (default: all)
"""
import pathlib
import sys
import unittest

HERE = pathlib.Path(__file__).resolve().parent
sys.path[:0] = [str(HERE), str(HERE.parents[1] / "packaging" / "image"), str(HERE.parents[1] / "packaging" / "man")]
sys.dont_write_bytecode = True


def main():
    words = sys.argv[1:]
    suite = unittest.TestSuite()
    for path in sorted(HERE.glob("test_*.py")):
        if not words or any(word in path.stem for word in words):
            suite.addTests(unittest.defaultTestLoader.loadTestsFromName(path.stem))
    if suite.countTestCases() == 0:
        sys.exit(f"run.py: no case has one of {', '.join(words)} in its name")
    result = unittest.TextTestRunner(verbosity=2).run(suite)
    failed = len(result.failures) + len(result.errors)
    print(f"test-package: {result.testsRun - failed} passed, {failed} failed")
    sys.exit(failed != 0)


if __name__ == "__main__":
    main()
