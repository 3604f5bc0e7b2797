#!/usr/bin/env python3
"""Tests of upstream_reports.py: what it refuses, and what it lets pass."""

import unittest

import upstream_reports

ROW = "| {} | {} | a thing breaks | it does not | {} |\n"
FILES = {
    "tests/a_test.cc": 'TEST_CASE("a thing works") {\n}\nTEST_CASE_METHOD(Fixture, "a longer "\n    "name \\"here\\"", "[tag]") {\n}\n',
    "tests/b.py": "class B:\n    def test_it(self):\n        pass\n",
}
SHOWN = "`tests/a_test.cc`: *a thing works*"


def found(page, named=()):
    return [breach.partition(": ")[2] or breach for breach in
            upstream_reports.breaches(page, FILES.get, {issue: "docs/differences.md" for issue in named})]


class UpstreamReportsTest(unittest.TestCase):
    def test_lets_rows_pass_whose_tests_exist(self):
        page = (ROW.format(12, "open", SHOWN) + ROW.format(700, "closed", "`tests/b.py`: *test_it*; " + SHOWN) +
                ROW.format(701, "?", '`tests/a_test.cc`: *a thing works*, *a longer name "here"*'))
        self.assertEqual(found(page, named=[12, 700]), [])

    def test_refuses_tests_that_are_not_there(self):
        for shown, breach in [
            ("`tests/a_test.cc`: *another thing works*", 'issue 12: tests/a_test.cc has no test "another thing works"'),
            ("`tests/a_test.cc`: *a longer*", 'issue 12: tests/a_test.cc has no test "a longer"'),
            (SHOWN + ", *no test*", 'issue 12: tests/a_test.cc has no test "no test"'),
            ("`tests/b.py`: *test_other*", 'issue 12: tests/b.py has no test "test_other"'),
            ("`tests/c_test.cc`: *a thing works*", "issue 12: there is no tests/c_test.cc"),
            ("a test", "issue 12 names no test"),
        ]:
            with self.subTest(shown=shown):
                self.assertEqual(found(ROW.format(12, "open", shown)), [breach])

    def test_refuses_states_and_orders_that_are_none(self):
        self.assertEqual(found(ROW.format(12, "mended", SHOWN)), ["issue 12: the state is one of open, closed, ?"])
        for numbers in [(13, 12), (12, 12)]:
            page = "".join(ROW.format(number, "open", SHOWN) for number in numbers)
            self.assertEqual(found(page), ["each issue has one row, in the order of their numbers"])
        self.assertEqual(found("no table"), ["no row was found"])

    def test_misses_issues_that_others_name(self):
        self.assertEqual(found(ROW.format(12, "open", SHOWN), named=[12, 34]),
                         ["docs/differences.md names upstream's issue 34, which has no row in docs/upstream-reports.md"])
        text = "(upstream's issue 3873) and issues 5071, 5150 and 5406; [issue 7431](x); issue 12"
        self.assertEqual(upstream_reports.issues_named(text), {3873, 5071, 5150, 5406, 7431})


if __name__ == "__main__":
    unittest.main()
