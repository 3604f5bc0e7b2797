"""The rig's own judgement: what it must not let pass. No servers."""

import json
import pathlib
import tempfile
import unittest
from unittest import mock

from rig import kubernetes_changes, recording, replay, scenario, suite, template_classes
from rig.audit import Audit
from rig.plane import Plane

STEPS = """
- name: made
  apply: [{apiVersion: v1, kind: ConfigMap, metadata: {name: c, namespace: s-one}}]
- name: edited
  patch: {target: configmap/s-one/c, merge: {data: {k: v}}}
"""


def config_map(version, namespace="s-one", name="c"):
    return {"kind": "ConfigMap", "apiVersion": "v1", "data": {},
            "metadata": {"namespace": namespace, "name": name, "uid": f"uid-{name}", "resourceVersion": str(version)}}


class RigTest(unittest.TestCase):
    needs_plane = False

    def setUp(self):
        folder = tempfile.TemporaryDirectory()
        self.addCleanup(folder.cleanup)
        self.folder = pathlib.Path(folder.name)
        (self.folder / "one.yaml").write_text(STEPS)
        self.one = scenario.load(self.folder)[0]

    def run_with(self, reads):
        """The outcome of the scenario on a plane on which reading gives these objects, the last ones for ever."""
        clock, left = [0.0], list(reads)

        def read(*_):
            return left.pop(0) if len(left) > 1 else left[0]

        with mock.patch.object(scenario.recording, "read", read), \
                mock.patch.object(scenario, "_carry_out", lambda *_: None), \
                mock.patch.object(scenario.time, "monotonic", lambda: clock[0]), \
                mock.patch.object(scenario.time, "sleep", lambda seconds: clock.__setitem__(0, clock[0] + seconds)):
            return scenario.run(None, [self.one])["one"]

    def test_what_still_moves_is_neither_recorded_nor_compared(self):
        key = "host/ConfigMap/s-one/c"
        outcome = self.run_with([{key: config_map(version)} for version in range(2000)])
        self.assertEqual(outcome.moving, {"00 made": [key], "01 edited": [key]})
        with self.assertRaisesRegex(AssertionError, "still moving.*\n00 made: host/ConfigMap/s-one/c"):
            self.one.record(outcome)
        self.assertFalse(self.one.recording_file.exists())
        self.one.recording_file.write_text(json.dumps(outcome.states))
        self.plane = mock.Mock(folder=self.folder)
        with self.assertRaisesRegex(AssertionError, "still moving"):
            replay.check_recording(self, self.one, outcome, self.one.titles())

    def test_an_object_that_comes_and_goes_moves(self):
        key = "host/ConfigMap/s-one/c"
        outcome = self.run_with([{key: config_map(1)} if n % 2 else {} for n in range(2000)])
        self.assertEqual(outcome.moving, {"00 made": [key], "01 edited": [key]})

    def test_a_namespace_that_does_not_go_moves(self):
        namespace = {"kind": "Namespace", "metadata": {"name": "s-one", "uid": "u", "resourceVersion": "1",
                                                       "deletionTimestamp": "2026-01-01T00:00:00Z"}}
        outcome = self.run_with([{"member1/Namespace//s-one": namespace}])
        self.assertEqual(list(outcome.moving.values()), [["member1/Namespace//s-one"]] * 2)

    def test_what_belongs_to_no_scenario_and_moves_spoils_all(self):
        outcome = self.run_with([{"host/ConfigMap/s-other/c": config_map(v, "s-other")} for v in range(2000)])
        self.assertEqual(outcome.moving["00 made"], ["host/ConfigMap/s-other/c"])

    def test_what_has_settled_is_recorded_and_equal_to_itself(self):
        outcome = self.run_with([{}, {"host/ConfigMap/s-one/c": config_map(1)}])
        self.assertEqual(outcome.moving, {})
        self.one.record(outcome)
        self.assertEqual(replay.compare(self.one, outcome.states, self.one.titles()), [])

    def test_a_recording_has_what_a_step_has_changed(self):
        one, other = {"kind": "ConfigMap", "data": {"a": "1"}}, {"kind": "ConfigMap", "data": {"a": "2"}}
        states = {"00 a": {"x": one, "y": one}, "01 b": {"x": one, "y": other}, "02 c": {"y": other}, "03 d": {"x": one, "y": other}}
        content = recording.packed(states)
        self.assertEqual(content, {"00 a": {"x": one, "y": one}, "01 b": {"x": "=", "y": other}, "02 c": {"y": "="},
                                   "03 d": {"x": one, "y": "="}})
        self.assertEqual(recording.unpacked(content), states)
        with self.assertRaisesRegex(ValueError, "01 b: z is said to be the same"):
            recording.unpacked({"00 a": {}, "01 b": {"z": "="}})

    def test_a_recording_of_another_release_has_what_differs(self):
        one, other = {"kind": "ConfigMap", "data": {"a": "1"}}, {"kind": "ConfigMap", "data": {"a": "2"}}
        before = {"00 made": {"x": one}, "01 edited": {"x": one, "y": one}}
        after = {"00 made": {"x": one}, "01 edited": {"x": other, "z": one}}
        self.assertEqual(recording.changed(before, after), {"00 made": {}, "01 edited": {"x": other, "y": None, "z": one}})
        self.assertEqual(recording.overlaid(before, recording.changed(before, after)), after)
        with self.assertRaisesRegex(ValueError, "recorded steps differ: .'01 edited'"):
            recording.overlaid(before, {"00 made": {}})

    def test_a_release_that_was_not_recorded_is_compared_with_the_other(self):
        states = {title: {"x": {"data": title}} for title in self.one.titles()}
        self.one.record(scenario.Outcome(states=states))
        self.assertFalse(self.one.is_recorded("v1.19"))
        self.assertEqual(self.one.recorded("v1.19"), states)
        newer = {title: {"x": {"data": "new"}} for title in states}
        self.one.record(scenario.Outcome(states=newer), "v1.19")
        self.assertTrue(self.one.is_recorded("v1.19"))
        self.assertEqual(self.one.recorded("v1.19"), newer)
        self.assertEqual(self.one.recorded(), states)

    def test_steps_that_are_not_recorded_or_not_carried_out_are_differences(self):
        self.one.recording_file.write_text(json.dumps({"00 made": {}, "02 forgotten": {}}))
        self.assertEqual(replay.compare(self.one, {"01 edited": {}}, self.one.titles()),
                         ["02 forgotten: recorded, but no step of the scenario", "01 edited: not recorded",
                          "00 made: not carried out"])
        with self.assertRaisesRegex(AssertionError, "not carried out: .'01 edited'"):
            self.one.record(scenario.Outcome(states={"00 made": {}}))

    def test_what_another_kubernetes_changes_is_not_compared_on_it(self):
        suspended = {"startTime": "T", "conditions": [{"type": "Suspended", "status": "True"}]}
        job = {"kind": "Job", "status": suspended}
        rolls = {"spec": {"updateStrategy": {"rollingUpdate": {"maxUnavailable": 1, "partition": 0}}}}
        states = {"00": {
            "member1/Job/s-a/j": job, "host/StatefulSet/s-a/db": rolls, "host/DaemonSet/s-a/ds": rolls,
            "host/Work/es/w": {"spec": {"workload": {"manifests": [{"kind": "StatefulSet", **rolls}]}},
                               "status": {"manifestStatuses": [{"identifier": {"kind": "Job"}, "status": suspended}]}},
            "host/ResourceBinding/s-a/j-job": {"spec": {"resource": {"kind": "Job"}},
                                               "status": {"aggregatedStatus": [{"status": suspended}]}}}}
        of_testbed = kubernetes_changes.minor_of("v1.35.3")
        self.assertEqual(kubernetes_changes.without(states, {of_testbed}), states)
        left = json.dumps(kubernetes_changes.without(states, {of_testbed, 37}))
        self.assertNotIn("startTime", left)
        self.assertEqual(left.count("maxUnavailable"), 1)  # That of the DaemonSet.
        self.assertEqual(left.count("partition"), 3)
        older = {"00": {"member1/Deployment/s-a/web": {"status": {"replicas": 1, "terminatingReplicas": 0}}}}
        self.assertEqual(kubernetes_changes.without(older, {31, 35})["00"]["member1/Deployment/s-a/web"]["status"], {"replicas": 1})

    def test_what_events_say_is_recorded_once_and_without_how_often(self):
        def event(message, reason="Refused", namespace="s-one"):
            return {"kind": "Event", "type": "Warning", "reason": reason, "message": message,
                    "involvedObject": {"kind": "ConfigMap", "namespace": namespace, "name": "c"}}
        events = [event("no"), event("(combined from similar events): no"), event("not so"),
                  event("no", reason="Other"), event("no", namespace="default")]
        host = mock.Mock(items=lambda path: events if path.endswith("/events") else [])
        key = "host/Event/s-one/ConfigMap c Refused"
        found = recording.read(mock.Mock(members=[], host=host, kube=lambda _: mock.Mock(items=lambda _: [])),
                               events=["Refused"])
        self.assertEqual({name: item["messages"] for name, item in found.items()}, {key: ["no", "not so"]})
        self.assertFalse(self.one.owns(key, found[key]), "the scenario asks for no events")
        self.one.events = {"Refused"}
        self.assertTrue(self.one.owns(key, found[key]))

    def test_no_scenario_may_take_objects_of_another_for_its_own(self):
        (self.folder / "two.yaml").write_text(STEPS.replace("s-one", "s-one-more"))
        with self.assertRaisesRegex(ValueError, "one would take objects of others for its own: .'s-one-more': 'two'"):
            scenario.load(self.folder, ["one"])

    def test_flags_of_its_own_need_a_scenario_that_runs_alone(self):
        (self.folder / "two.yaml").write_text("flags: [--f]\nsteps: " + json.dumps([{"name": "nothing"}]))
        with self.assertRaisesRegex(ValueError, "flags or metrics without alone"):
            scenario.load(self.folder)
        (self.folder / "two.yaml").write_text("alone: true\nflags: [--f]\nsteps: []")
        one, two = scenario.load(self.folder)
        self.assertEqual(scenario.by_flags([[one], [two], [one]]),
                         [(scenario.FLAGS, [[one], [one]]), ([*scenario.FLAGS, "--f"], [[two]])])

    def test_a_member_is_joined_again_after_an_unjoin_that_failed_half_way(self):
        plane, done, fails = Plane(self.folder / "plane", testbed=None), [], ["unjoin"]

        def karmadactl(verb, member, *_):
            done.append(f"{verb} {member}")
            if verb in fails:
                fails.remove(verb)
                raise AssertionError("karmadactl: timed out")

        plane._karmadactl, plane.wait_members_ready = karmadactl, lambda: done.append("ready")
        removed = []
        plane.kube = lambda cluster: mock.Mock(context="default", find=lambda path: {"metadata": {}},
                                               delete=lambda path: removed.append(path.rpartition("/")[2]))
        with self.assertRaisesRegex(AssertionError, "timed out"):
            plane.unjoin("member2")
        plane.rejoin()
        self.assertEqual(done, ["unjoin member2", "unjoin member2", "join member2", "ready"])
        self.assertEqual(removed, ["member2", "member2-impersonator"])
        plane.rejoin()
        self.assertEqual(done[4:], [])

    def test_a_member_that_a_scenario_has_taken_out_comes_back_before_its_objects_are_removed(self):
        order = []
        plane = mock.Mock(members=["member1"])
        plane.rejoin.side_effect = lambda: order.append("rejoin") or (_ for _ in ()).throw(AssertionError("no join"))
        with mock.patch.object(scenario, "_remove_objects", lambda *_: order.append("remove") or {}), \
                self.assertRaisesRegex(AssertionError, "no join"):
            scenario.clean_up(plane)
        self.assertEqual(order, ["rejoin", "remove"])

    def test_writes_are_those_of_the_log_with_their_user_and_program(self):
        log = self.folder / "audit.log"
        event = {"verb": "patch", "user": {"username": "u"}, "userAgent": "a/1", "responseStatus": {"code": 409},
                 "objectRef": {"resource": "works", "subresource": "status", "namespace": "n", "name": "w"}}
        log.write_text(json.dumps(event) + "\n")
        audit = Audit(mock.Mock(audit_log=lambda cluster: log))
        self.assertEqual(list(audit.writes()), [])
        with open(log, "a", encoding="utf-8") as file:
            file.write(json.dumps(event) + "\n" + json.dumps(event)[:20])
        self.assertEqual(list(audit.writes("u")), [("patch", "works/status", "n/w", 409, "u", "a/1")])
        self.assertEqual(list(audit.writes("v")), [])

    def test_a_class_of_template_counts_only_where_it_has_an_effect(self):
        applied = [{"policyName": "p", "overriders": {
            "plaintext": [{}], "argsOverrider": [], "fieldOverrider": [{"json": [1]}, {"yaml": []}]}}]
        objects = {
            "host/ResourceBinding/s-a/nowhere": {"kind": "ResourceBinding", "spec": {
                "resource": {"kind": "Job", "apiVersion": "batch/v1"}, "gracefulEvictionTasks": [{}]}},
            "host/ClusterResourceBinding//g": {"kind": "ClusterResourceBinding", "spec": {
                "resource": {"kind": "Gadget", "apiVersion": "scenario.test/v1"}, "clusters": [{"name": "member1"}]}},
            "host/Work/karmada-es-member1/w": {"kind": "Work", "spec": {"suspendDispatching": True}, "metadata": {
                "annotations": {"policy.karmada.io/applied-overrides": json.dumps(applied)}}},
        }
        self.assertEqual(set(template_classes.present(objects)),
                         {"propagated", "Gadget", "cluster-scoped", "custom resource", "suspended", "plaintext",
                          "fieldOverrider for json"})

    def test_all_parts_together_run_everything_once(self):
        class Long(unittest.TestCase):
            takes_turns = True

            def test_it(self):
                pass

        class LongToo(Long):
            pass

        class Short(Long):
            takes_turns = False

        tests = [case("test_it") for case in (Long, LongToo, Short)]
        halves = [suite.Part.parse(text).of_cases(tests) for text in ("1/2", "2/2")]
        self.assertEqual([len(half) for half in halves], [2, 2])
        self.assertEqual(set(halves[0]) | set(halves[1]), set(tests))
        self.assertEqual(suite.Part().of_cases(tests), tests)
        self.assertEqual(sorted(suite.Part(1, 2).of("abc") + suite.Part(2, 2).of("abc")), list("abc"))
        for text in ("0/2", "3/2", "2", "a/b"):
            with self.subTest(text), self.assertRaises(ValueError):
                suite.Part.parse(text)


if __name__ == "__main__":
    unittest.main()
