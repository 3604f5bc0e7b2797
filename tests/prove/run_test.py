#!/usr/bin/env python3
"""Tests of how run.py divides perturbations into runs."""

import collections
import pathlib
import sys
import unittest

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parent))
import run  # noqa: E402: it is beside this file.

REFERENCE = {
    "writesOfStep": [["host create namespaces"],
                     ["host create works.work.karmada.io", "member create configmaps (after a pause)", "host patch works.work.karmada.io"],
                     ["host patch works.work.karmada.io"]],
    "classesOfStep": [["host list works.work.karmada.io"], ["host create works.work.karmada.io"],
                      ["host create works.work.karmada.io", "host update leases.coordination.k8s.io", "member get secrets"]],
    "delivered": [[], ["host/works.work.karmada.io", "member/configmaps", "host/configmaps"], ["host/works.work.karmada.io"]],
    "versions": [60, 70, 74]}


def names(perturbations):
    return [one.name for one in perturbations]


class PlanTest(unittest.TestCase):
    def test_one_run_has_perturbations_of_steps_that_follow_each_other(self):
        ones = [run.Perturbation("a", 1, 1), run.Perturbation("b", 1, 2), run.Perturbation("c", 2, 2), run.Perturbation("d", 3, 3),
                run.Perturbation("e")]
        runs = run.joined(ones)
        self.assertEqual(sorted(name for one in runs for name in names(one)), ["a", "b", "c", "d", "e"])
        self.assertIn(["a", "c", "d"], [names(one) for one in runs])
        for one in runs:
            for before, after in zip(one, one[1:]):
                self.assertLess(before.last, after.first)

    def test_a_crash_before_a_write_is_tried_where_something_else_may_have_happened_since_the_last_one(self):
        before = [name for name in names(run.crash_runs(REFERENCE, run.Scope("1"))) if name.startswith("crash before")]
        self.assertEqual(before, ["crash before 1.2"])
        after = [name for name in names(run.crash_runs(REFERENCE, run.Scope("1"))) if name.startswith("crash after")]
        self.assertEqual(after, ["crash after 0.1", "crash after 1.1", "crash after 1.2", "crash after 1.3", "crash after 2.1"])

    def test_the_start_is_tried_in_one_workload(self):
        scope = run.Scope("1")
        times = collections.Counter(name for index in range(5) for name in names(run.crash_runs(REFERENCE, scope.of(index, 5))))
        self.assertEqual(times["crash after 0.1"], 1)
        self.assertEqual(times["crash after 2.1"], 5)

    def test_a_class_of_requests_gets_each_answer_in_two_workloads(self):
        scope = run.Scope("1")
        times = collections.Counter(name for index in range(5) for name in names(run.error_runs(REFERENCE, scope.of(index, 5))))
        self.assertEqual(times["error 409 1 1 host create works.work.karmada.io"], 2)
        self.assertEqual(times["error 500 5 0 host list works.work.karmada.io"], 1)
        self.assertFalse([name for name in times if "leases" in name or "secrets" in name])

    def test_every_election_is_held_somewhere(self):
        scope = run.Scope("1")
        held = {name.rsplit(" ", 1)[0] for index in range(5) for name in names(run.election_runs(REFERENCE, scope.of(index, 5)))}
        self.assertLessEqual(set(run.elections()), held)

    def test_each_value_is_tried_with_a_policy_or_with_its_twin(self):
        probes = [f"spec.x ={number}" for number in range(50)]
        tried = []
        for seed in ("propagationpolicies.policy.karmada.io", "clusterpropagationpolicies.policy.karmada.io"):
            reference = {"runs": [f"value {seed} {probe}" for probe in probes]}
            tried += [name.split(" ", 2)[2] for name in names(run.value_runs(reference, run.Scope("1")))]
        self.assertEqual(sorted(tried), sorted(probes))

    def test_a_run_is_of_the_class_of_its_perturbations(self):
        for name, expected in (("crash after 1.2 & crash after 2.1", "crash"), ("late timeout 1 2 host get pods", "error"),
                               ("late host/pods 3", "order"), ("reconnect host 1 4", "stale")):
            self.assertEqual(run.class_of(name), expected)
        self.assertEqual(run.parts_of("crash after 1.2 & crash after 2.1"), ["crash after 1.2", "crash after 2.1"])
        self.assertEqual(run.parts_of("value pods spec.x =a & b"), ["value pods spec.x =a & b"])


SEARCH_STEPS = [{"requests": 30, "answers": 28, "events": {}, "changes": {}},
                {"requests": 9, "answers": 9, "events": {"member1": 2, "member2": 1}, "changes": {"member1": 2, "member2": 1}},
                {"requests": 4, "answers": 4, "events": {"member2": 1}, "changes": {"member2": 2}}]


class SearchPlanTest(unittest.TestCase):
    def names(self, name, is_mine=lambda _: True):
        return [run_name for run_name, _, _ in run.search.RUNS[name](SEARCH_STEPS, is_mine)]

    def test_karmada_search_is_killed_at_each_event(self):
        events = [name for name in self.names("crash") if name.startswith("crash event")]
        self.assertEqual(events, ["crash event 1.1", "crash event 1.2", "crash event 1.3", "crash event 2.1"])

    def test_the_start_of_karmada_search_is_tried_in_one_workload(self):
        self.assertTrue([name for name in self.names("crash") if " 0." in name])
        self.assertFalse([name for name in self.names("crash", lambda _: False) if " 0." in name])

    def test_later_requests_are_tried_more_and_more_rarely(self):
        self.assertEqual(run.search.spread(30, 4, 1.5), [1, 2, 3, 4, 6, 9, 13, 20])
        self.assertEqual(run.search.spread(2, 4, 1.5), [1, 2])

    def test_members_that_do_not_change_in_a_step_are_left_alone(self):
        self.assertEqual(self.names("order"), ["late member1 1", "late member2 1", "late all 1", "late member2 2"])
        self.assertEqual([name for name in self.names("member") if name.startswith("restored")][-2:], ["restored member2 2 1", "restored member2 2 2"])

    def test_each_perturbation_of_karmada_search_belongs_to_its_class(self):
        for name in run.search.CLASSES:
            for one in self.names(name):
                self.assertEqual(run.class_of(one), name)


if __name__ == "__main__":
    unittest.main()
