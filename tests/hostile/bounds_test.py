#!/usr/bin/env python3
"""Each bound that docs/search.md and docs/operations-reference.md name has an attack or a test that tries it, which README.md names, and each
attack has a row there; an attack whose figures are missing has failed."""

import dataclasses
import math
import pathlib
import re
import sys
import unittest

HERE = pathlib.Path(__file__).resolve().parent
ROOT = HERE.parents[1]
sys.path[:0] = [str(HERE)]
sys.dont_write_bytecode = True

from run import ATTACKS  # noqa: E402  (the path has to be set first)
from hostile.attack import Attack  # noqa: E402

_TEST = re.compile(r"`(tests/[^`]+)` \"([^\"]+)\"")


def rows(file, heading):
    """The rows of the first table below a heading, as lists of cells."""
    text = (ROOT / file).read_text()
    after = text.split(f"\n{heading}\n", 1)[1]
    lines = after.splitlines()
    begin = next(number for number, line in enumerate(lines) if line.startswith("|---"))
    table = []
    for line in lines[begin + 1:]:
        if not line.startswith("|"):
            break
        table.append([cell.strip() for cell in line.strip("|").split(" |")])
    return table


def tried(file, heading):
    """{beginning of a bound: what tries it} of a table of README.md."""
    return {row[0]: row[1] for row in rows(file, heading)}


class BoundsTest(unittest.TestCase):
    maxDiff = None

    def check_bounds(self, documented, heading):
        bounds = [row[0] for row in documented]
        table = tried("tests/hostile/README.md", heading)

        def is_of(start, bound):
            """A row that is a whole bound is of no other one."""
            return start == bound or (bound.startswith(start) and start not in bounds and bound not in table)
        for bound in bounds:
            self.assertEqual(len([start for start in table if is_of(start, bound)]), 1, f"rows for the bound: {bound}")
        for start, by in table.items():
            self.assertEqual(len([bound for bound in bounds if is_of(start, bound)]), 1, f"bounds for the row: {start}")
            self.check_names(start, by)

    def check_names(self, start, by):
        """What tries a bound exists: attacks by name, tests by file and case."""
        names = {attack.name for attack in ATTACKS}
        for file, case in _TEST.findall(by):
            self.assertIn(f'"{case}"', (ROOT / file).read_text(), start)
        attacks = [name.strip() for name in _TEST.sub("", by).split(";") if name.strip()]
        self.assertEqual([name for name in attacks if name not in names], [], start)
        self.assertTrue(by, start)

    def test_the_bounds_of_search_are_tried(self):
        self.check_bounds(rows("docs/search.md", "## Bounds"), "### Of karmada-search")

    def test_the_bounds_of_the_controller_manager_are_tried(self):
        self.check_bounds(rows("docs/operations-reference.md", "### Bounds"), "### Of karmada-controller-manager")

    def test_a_figure_that_is_missing_keeps_no_bound(self):
        one = Attack("one", None, {}, at_most={"growth MB": 10}, at_most_long={"slowest s": 3}, has_process=False)
        self.assertEqual(one.broken({"growth MB": 10.0}, is_long=False), [])
        self.assertEqual(one.broken({"growth MB": 10.0}, is_long=True), ["one: slowest s is missing, at most 3 may be"])
        self.assertEqual(one.broken({}, is_long=False), ["one: growth MB is missing, at most 10 may be"])
        self.assertEqual(one.broken({"growth MB": math.nan}, is_long=False), ["one: growth MB is nan, at most 10 may be"])
        self.assertEqual(one.broken({"growth MB": 11}, is_long=False), ["one: growth MB is 11, at most 10 may be"])
        self.assertEqual(one.broken({"skipped": "no cgroup"}, is_long=True), [])
        self.assertEqual(one.broken({"skipped": "no cgroup", "growth MB": 11}, is_long=False), ["one: growth MB is 11, at most 10 may be"])
        self.assertIn("threads", dataclasses.replace(one, has_process=True).bounds(is_long=False))

    def test_each_attack_is_described(self):
        described = [row[0] for heading in ("## karmada-search", "## karmada-controller-manager")
                     for row in rows("tests/hostile/README.md", heading)]
        self.assertEqual(sorted(described), sorted(attack.name for attack in ATTACKS))


if __name__ == "__main__":
    unittest.main()
