#!/usr/bin/env python3
"""Tests of how perturbations are divided into runs, and of how the workload of a failing one is made smaller."""

import collections
import json
import pathlib
import sys
import tempfile
import unittest

import yaml

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parent))
import classes  # noqa: E402: they are beside this file.
import journal  # noqa: E402
import shrink  # noqa: E402
from search import which_runs as search  # noqa: E402

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


class JournalTest(unittest.TestCase):
    def test_what_has_failed_is_done_again_unless_an_exception_explains_it_by_now(self):
        def entry(run, violations):
            return {"workload": "drift", "run": run, "violations": violations, "excepted": False, "perturbed": True, "seconds": 1}

        class Explained:
            def without(self, workload, run, lines):
                return [line for line in lines if line != "explained"]

        with tempfile.TemporaryDirectory() as directory:
            path = pathlib.Path(directory) / "journal"
            path.write_text("".join(json.dumps(one) + "\n" for one in (
                entry("crash after 1.1", []), entry("crash after 1.2", ["explained"]), entry("crash after 1.3", ["explained", "lost"]))))
            read = journal.Journal(path, Explained())
        self.assertEqual(read.parts, {("drift", "crash after 1.1"), ("drift", "crash after 1.2")})
        self.assertEqual([one["excepted"] for one in read.done.values()], [False, True])
        self.assertFalse(any(one["violations"] for one in read.done.values()))


class PlanTest(unittest.TestCase):
    def test_one_run_has_perturbations_of_steps_that_follow_each_other(self):
        ones = [classes.Perturbation("a", 1, 1), classes.Perturbation("b", 1, 2), classes.Perturbation("c", 2, 2), classes.Perturbation("d", 3, 3),
                classes.Perturbation("e")]
        runs = classes.joined(ones)
        self.assertEqual(sorted(name for one in runs for name in names(one)), ["a", "b", "c", "d", "e"])
        self.assertIn(["a", "c", "d"], [names(one) for one in runs])
        for one in runs:
            for before, after in zip(one, one[1:]):
                self.assertLess(before.last, after.first)

    def test_a_crash_before_a_write_is_tried_where_something_else_may_have_happened_since_the_last_one(self):
        before = [name for name in names(classes.crash_runs(REFERENCE, classes.Scope("1"))) if name.startswith("crash before")]
        self.assertEqual(before, ["crash before 1.2"])
        after = [name for name in names(classes.crash_runs(REFERENCE, classes.Scope("1"))) if name.startswith("crash after")]
        self.assertEqual(after, ["crash after 0.1", "crash after 1.1", "crash after 1.2", "crash after 1.3", "crash after 2.1"])

    def test_the_start_is_tried_in_one_workload(self):
        scope = classes.Scope("1")
        times = collections.Counter(name for index in range(5) for name in names(classes.crash_runs(REFERENCE, scope.of(index, 5))))
        self.assertEqual(times["crash after 0.1"], 1)
        self.assertEqual(times["crash after 2.1"], 5)

    def test_a_class_of_requests_gets_each_answer_in_two_workloads(self):
        scope = classes.Scope("1")
        times = collections.Counter(name for index in range(5) for name in names(classes.error_runs(REFERENCE, scope.of(index, 5))))
        self.assertEqual(times["error 409 1 1 host create works.work.karmada.io"], 2)
        self.assertEqual(times["error 500 5 0 host list works.work.karmada.io"], 1)
        self.assertFalse([name for name in times if "leases" in name or "secrets" in name])

    def test_every_election_is_held_somewhere(self):
        scope = classes.Scope("1")
        held = {name.rsplit(" ", 1)[0] for index in range(5) for name in names(classes.election_runs(REFERENCE, scope.of(index, 5)))}
        self.assertLessEqual(set(classes.elections()), held)

    def test_the_first_call_of_each_operation_in_each_step_meets_each_fault_of_a_webhook(self):
        reference = {"callsOfStep": [[], ["Retain", "InterpretHealth", "Retain"], ["InterpretHealth"]]}
        tried = names(classes.webhook_runs(reference, classes.Scope("1")))
        for place in ("1.1 Retain", "1.1 InterpretHealth", "2.1 InterpretHealth"):
            self.assertEqual(len([name for name in tried if name.endswith(" " + place) and " patch " not in name]), len(classes.HOOK_FAULTS))
        self.assertEqual([name for name in tried if name.endswith("1.2 Retain")],
                         [f"webhook {fault} 1.2 Retain" for fault in classes.LATER_HOOK_FAULTS])
        self.assertEqual([name for name in tried if " patch " in name], ["webhook patch 1 1.1 Retain", "webhook patch 9 1.1 Retain"])

    def test_each_value_is_tried_with_a_policy_or_with_its_twin(self):
        probes = [f"spec.x ={number}" for number in range(50)]
        tried = []
        for seed in ("propagationpolicies.policy.karmada.io", "clusterpropagationpolicies.policy.karmada.io"):
            reference = {"runs": [f"value {seed} {probe}" for probe in probes]}
            tried += [name.split(" ", 2)[2] for name in names(classes.value_runs(reference, classes.Scope("1")))]
        self.assertEqual(sorted(tried), sorted(probes))

    def test_a_run_is_of_the_class_of_its_perturbations(self):
        for name, expected in (("crash after 1.2 & crash after 2.1", "crash"), ("late timeout 1 2 host get pods", "error"),
                               ("late host/pods 3", "order"), ("reconnect host 1 4", "stale")):
            self.assertEqual(classes.class_of(name), expected)
        self.assertEqual(classes.parts_of("crash after 1.2 & crash after 2.1"), ["crash after 1.2", "crash after 2.1"])
        self.assertEqual(classes.parts_of("value pods spec.x =a & b"), ["value pods spec.x =a & b"])


WORKLOAD = {
    "define": {"unused": 1},
    "steps": [{"name": "a", "apply": [{"kind": "Namespace"}, {"kind": "ConfigMap"}]},
              {"name": "b", "on": ["member1", "member2"], "patch": {"target": "configmap/s/a", "merge": {}}},
              {"name": "c", "delete": ["configmap/s/a"], "sleep": 5}],
    "end": {"host configmap/s/a": None}}


class SmallestTest(unittest.TestCase):
    def test_what_is_left_fails_and_nothing_of_it_can_be_left_out(self):
        for wanted in ([], [0], [19], [3, 7, 8], [0, 10, 19], list(range(20))):
            def fails(elements, wanted=wanted):
                return set(wanted) <= set(elements)
            self.assertEqual(shrink.smallest(range(20), fails), wanted)

    def test_a_candidate_that_cannot_be_tried_does_not_count_as_failing(self):
        # The second element needs the first, as a patch needs its object: without it the reference fails.
        def fails(elements):
            return 7 in elements and (8 not in elements or 2 in elements) and (3 in elements or 8 in elements)
        small = shrink.smallest(range(10), fails)
        self.assertTrue(fails(small))
        for one in small:
            self.assertFalse(fails([other for other in small if other != one]))

    def test_a_long_list_takes_few_tries(self):
        tried = []

        def fails(elements):
            tried.append(elements)
            return 700 in elements
        self.assertEqual(shrink.smallest(range(1000), fails), [700])
        self.assertLess(len(tried), 60)


class SmallerWorkloadTest(unittest.TestCase):
    def test_objects_targets_and_places_are_left_out_one_by_one(self):
        items = shrink.items_of(WORKLOAD)
        self.assertEqual(items, [(0, "apply", 0), (0, "apply", 1), (1, "patch", 0), (1, "on", 0), (1, "on", 1), (2, "delete", 0)])
        smaller = shrink.without_items(WORKLOAD, {(0, "apply", 1), (1, "patch", 0), (1, "on", 1)})
        self.assertEqual(smaller["steps"][0]["apply"], [{"kind": "ConfigMap"}])
        self.assertEqual(smaller["steps"][1], {"name": "b", "on": ["member2"], "patch": [{"target": "configmap/s/a", "merge": {}}]})
        self.assertEqual(smaller["steps"][2], {"name": "c", "sleep": 5})
        self.assertEqual(WORKLOAD["steps"][2]["delete"], ["configmap/s/a"])

    def test_what_has_no_place_any_more_is_not_done_in_the_control_plane(self):
        smaller = shrink.without_items(WORKLOAD, {(1, "patch", 0)})
        self.assertEqual(smaller["steps"][1], {"name": "b"})

    def test_steps_are_left_out_and_anchors_go(self):
        smaller = shrink.with_steps(WORKLOAD, [0, 2])
        self.assertEqual([step["name"] for step in smaller["steps"]], ["a", "c"])
        self.assertEqual(set(smaller), {"steps", "end"})
        self.assertEqual(shrink.with_steps(WORKLOAD["steps"], [1]), [WORKLOAD["steps"][1]])

    def test_a_perturbation_strikes_where_its_write_is_in_the_smaller_workload(self):
        after = {"writesOfStep": [[], ["member create configmaps", "host patch works.work.karmada.io", "host patch works.work.karmada.io"]],
                 "callsOfStep": [[], ["Retain", "InterpretHealth", "Retain"]], "delivered": [[], []], "versions": [60, 68]}
        before = {**REFERENCE, "callsOfStep": [[], ["Retain"], []]}
        steps = {0: 0, 2: 1}
        for part, expected in (("crash after 2.1", ["crash after 1.2", "crash after 1.3"]), ("crash twice 2.1 4", ["crash twice 1.2 4", "crash twice 1.3 4"]),
                               ("crash after 1.1", []), ("webhook silent 9 2.1 Retain", ["webhook silent 9 1.1 Retain", "webhook silent 9 1.2 Retain"]),
                               ("error 500 1 2 host get pods", ["error 500 1 1 host get pods"]), ("late host/pods 2", ["late host/pods 1"]),
                               ("merged all 1 2", ["merged all 1 1"]), ("merged all 1 1", []), ("order host/a host/b 1", []),
                               ("stale host 2 4", ["stale host 1 4", "stale host 1 8"]), ("crash after 2.9", [])):
            self.assertEqual(shrink.moved(part, steps, before, after), expected, part)
        self.assertEqual(shrink.names_in(["error 500 1 2 host get pods", "crash after 1.1"], steps, before, after), [])


class FakeWorker:
    """Plays a workload whose step "b" needs the object of step "a"; it fails when both are there and the write of "b" is struck."""

    def __init__(self, path):
        steps = [step for step in yaml.safe_load(path.read_text())["steps"]]
        kinds = {each["kind"] for step in steps for each in step.get("apply", [])}
        patches = [step for step in steps if step.get("patch")]
        self.fails = bool(patches)
        self.directory = path.parent
        self.reference = {"failure": "no object" if patches and "ConfigMap" not in kinds else "", "violations": [],
                          "writesOfStep": [[], *[["host patch works"] if step.get("patch") else [] for step in steps]]}

    def run(self, name):
        return {"violations": ["after step 2: different"] if self.fails and name.startswith("crash after") else []}

    def end(self):
        pass


class FakeProof:
    def __init__(self, logs):
        self.logs, self.said = logs, []
        self.exceptions = self

    worker = staticmethod(FakeWorker)

    @staticmethod
    def without(workload, run, violations):
        return violations

    @staticmethod
    def again(workload, run):
        return f"run.py --repeat '{workload}: {run}'"

    def say(self, text):
        self.said.append(text)


class ShrinkTest(unittest.TestCase):
    def test_the_smallest_workload_is_written_beside_the_logs_with_the_command_that_repeats_it(self):
        with tempfile.TemporaryDirectory() as directory:
            proof, path = FakeProof(pathlib.Path(directory)), pathlib.Path(directory) / "w.yaml"
            path.write_text(yaml.safe_dump(WORKLOAD))
            self.assertTrue(shrink.shrink(proof, path, "crash after 2.1"))
            *_, where, again = proof.said
            kept = pathlib.Path(where.removeprefix("smallest: "))
            self.assertEqual(again, f"again: run.py --repeat 'w: crash after 2.1' --workload-file {kept}")
            small = yaml.safe_load(kept.read_text())
            self.assertEqual([step["name"] for step in small["steps"]], ["a", "b"])
            self.assertEqual(small["steps"][0]["apply"], [{"kind": "ConfigMap"}])
            self.assertEqual(len(shrink.listed(small["steps"][1]["on"])), 1)
            self.assertNotIn("end", small)

    def test_a_run_that_does_not_fail_is_not_made_smaller(self):
        with tempfile.TemporaryDirectory() as directory:
            proof, path = FakeProof(pathlib.Path(directory)), pathlib.Path(directory) / "w.yaml"
            path.write_text(yaml.safe_dump(WORKLOAD))
            self.assertFalse(shrink.shrink(proof, path, "error 500 1 2 host get pods"))


SEARCH_STEPS = [{"requests": 30, "answers": 28, "events": {}, "changes": {}},
                {"requests": 9, "answers": 9, "events": {"member1": 2, "member2": 1}, "changes": {"member1": 2, "member2": 1}},
                {"requests": 4, "answers": 4, "events": {"member2": 1}, "changes": {"member2": 2}}]


class SearchPlanTest(unittest.TestCase):
    def names(self, name, is_mine=lambda _: True):
        return [run_name for run_name, _, _ in search.RUNS[name](SEARCH_STEPS, is_mine)]

    def test_karmada_search_is_killed_at_each_event(self):
        events = [name for name in self.names("crash") if name.startswith("crash event")]
        self.assertEqual(events, ["crash event 1.1", "crash event 1.2", "crash event 1.3", "crash event 2.1"])

    def test_the_start_of_karmada_search_is_tried_in_one_workload(self):
        self.assertTrue([name for name in self.names("crash") if " 0." in name])
        self.assertFalse([name for name in self.names("crash", lambda _: False) if " 0." in name])

    def test_later_requests_are_tried_more_and_more_rarely(self):
        self.assertEqual(search.spread(30, 4, 1.5), [1, 2, 3, 4, 6, 9, 13, 20])
        self.assertEqual(search.spread(2, 4, 1.5), [1, 2])

    def test_members_that_do_not_change_in_a_step_are_left_alone(self):
        self.assertEqual(self.names("order"), ["late member1 1", "late member2 1", "late all 1", "late member2 2"])
        self.assertEqual([name for name in self.names("member") if name.startswith("restored")][-2:], ["restored member2 2 1", "restored member2 2 2"])

    def test_each_perturbation_of_karmada_search_belongs_to_its_class(self):
        for name in search.CLASSES:
            for one in self.names(name):
                self.assertEqual(classes.class_of(one), name)


if __name__ == "__main__":
    unittest.main()
