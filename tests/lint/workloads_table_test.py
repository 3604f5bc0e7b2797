#!/usr/bin/env python3
"""Tests of workloads_table.py: what it refuses, and what it lets pass."""

import unittest

import workloads_table

SOURCE = """
constexpr ControllerEntry kTable[] = {
    {"alone", kByFlag, kOneWorker, controllers::RegisterAlone},
    {"scoped", kByFlag, &Concurrency::scoped, RegisterScoped<Namespaced>},
    {"scoped", kByFlag, &Concurrency::scoped,
     RegisterScoped<Cluster>, Gate::kFailover},

    {"always there", kAlwaysOn, kJoiners, controllers::RegisterAlways, std::nullopt, Joins, "--flag"},
};
"""
LOOPS = ["alone", "scoped: Scoped<Namespaced>", "scoped: Scoped<Cluster>", "always there"]


def page(loops, workloads=(("a", "3"), ("b", "4")), scenarios=(("s", "5"), ("t", "real servers"))):
    def table(name, rows):
        return f"<!-- {name} -->\n| x | y |\n|---|---|\n" + "".join(
            "| " + " | ".join(row) + " |\n" for row in rows) + "<!-- end -->\n"
    return table("loops", loops) + table("workloads", workloads) + table("scenarios", scenarios)


def found(text, loops=("one",)):
    return list(workloads_table.table_breaches(text, loops, ["a", "b"], ["s", "t"]))


class WorkloadsTableTest(unittest.TestCase):
    def test_finds_every_line_of_the_table_of_controllers(self):
        self.assertEqual(workloads_table.loops_of(SOURCE), LOOPS)

    def test_lets_loops_pass_that_two_workloads_exercise(self):
        self.assertEqual(found(page([("`one`", "`a`, `s`")])), [])
        self.assertEqual(found(page([("one", "none: it needs another server")])), [])

    def test_refuses_loops_with_one_workload(self):
        for cell in ("`a`", "`a`, `a`", ""):
            with self.subTest(cell):
                self.assertEqual(found(page([("one", cell)])), ["one has fewer than 2 workloads"])

    def test_refuses_loops_and_files_without_a_row_and_rows_without_them(self):
        self.assertEqual(found(page([("one", "a, b")]), loops=("one", "two")), ["no row for two in the table of loops"])
        self.assertEqual(found(page([("one", "a, b"), ("old", "a, b")])), ["the table of loops has old, which is not there"])
        self.assertEqual(found(page([("one", "a, s")], workloads=[("a", "3")])), ["no row for b in the table of workloads"])

    def test_refuses_workloads_that_cannot_be_played(self):
        self.assertEqual(found(page([("one", "a, b, t, x")])), ["one: t is not a workload", "one: x is not a workload"])

    def test_refuses_fields_that_are_not_described(self):
        good = {"steps": [{"name": "n", "heal": "member1"}], "end": {"host x//y": None}}
        self.assertEqual(list(workloads_table.workload_breaches("w", good)), [])
        bad = {"steps": [{"name": "n", "use": {}}], "metrics": True}
        self.assertEqual(list(workloads_table.workload_breaches("w", bad)), [
            "w: there is no field metrics", "w: it does not say in what it ends", "w: step 0 has the unknown field use"])

    def test_refuses_names_of_others(self):
        def of(*names):
            return [{"apply": [{"metadata": {"name": name}} for name in names]}]
        self.assertEqual(list(workloads_table.name_breaches({"a": of("s-a"), "b": {"steps": of("s-ab", "x")}})), [])
        self.assertEqual(list(workloads_table.name_breaches({"a": of("s-a"), "b": of("s-a-b")})),
                         ["b would take s-a-b of a for its own, or the other way round"])


if __name__ == "__main__":
    unittest.main()
