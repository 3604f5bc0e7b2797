"""Objects that are put into members by server-side apply, on real kube-apiservers and on a sandbox."""

import unittest

from rig import paths, suite
from rig.process import wait_until
from rig.sandbox import Sandbox
from rig.suite import BINDINGS, DEPLOYMENTS, DaemonCase, deployment

ANNOTATION = "resourcetemplate.karmada.io/server-side-apply"
POLICIES = "/apis/policy.karmada.io/v1alpha1/namespaces/{}/propagationpolicies"


def policy(namespace, resolution):
    return {"apiVersion": "policy.karmada.io/v1alpha1", "kind": "PropagationPolicy",
            "metadata": {"namespace": namespace, "name": "web"},
            "spec": {"resourceSelectors": [{"apiVersion": "apps/v1", "kind": "Deployment"}],
                     "conflictResolution": resolution,
                     "placement": {"clusterAffinity": {"clusterNames": ["member1"]}}}}


def owners(thing):
    """The managers of the object itself, with how they own their fields."""
    return {(entry["manager"], entry["operation"]) for entry in thing["metadata"]["managedFields"]
            if not entry.get("subresource")}


class Tests:
    """The tests; member1() is a client of the member, and `host` one of the control plane."""

    def setUp(self):
        self.namespace = self.make_namespace(f"e2e-{self._testMethodName.replace('_', '-')[5:40].rstrip('-')}")
        self.path = f"{DEPLOYMENTS.format(self.namespace)}/web"
        self.member = self.member1()

    def propagate(self, resolution="Abort", **annotations):
        template = deployment(self.namespace, "web")
        template["metadata"]["annotations"] = annotations
        template["spec"]["progressDeadlineSeconds"] = 100
        self.host.create(DEPLOYMENTS.format(self.namespace), template)
        self.host.create(POLICIES.format(self.namespace), policy(self.namespace, resolution))
        self.wait("the Deployment in the member", lambda: self.member.find(self.path))

    def change(self, **spec):
        self.host.merge(self.path, {"spec": spec})

    def image(self, image):
        """The part of a spec that sets the image of the only container."""
        container = self.host.get(self.path)["spec"]["template"]["spec"]["containers"][0]
        return {"template": {"spec": {"containers": [{**container, "image": image}]}}}

    def in_member(self, what, condition):
        """Waits until the member's Deployment meets the condition; returns it."""
        def met():
            thing = self.member.get(self.path)
            assert condition(thing), thing
            return thing
        return self.wait(what, met)

    def is_applied(self):
        status = self.host.get(f"{BINDINGS.format(self.namespace)}/web-deployment").get("status", {})
        cluster = status.get("aggregatedStatus", [{}])[0]
        return cluster.get("applied", False), cluster.get("appliedMessage", "")

    def test_fields_of_others_stay_and_those_the_template_loses_go(self):
        self.propagate(**{ANNOTATION: "true"})
        self.member.merge(self.path, {"spec": {"minReadySeconds": 5}, "metadata": {"annotations": {"note": "theirs"}}})
        self.change(progressDeadlineSeconds=None, **self.image("nginx:1.26"))
        thing = self.in_member("the change", lambda d: d["spec"]["template"]["spec"]["containers"][0]["image"]
                               == "nginx:1.26")
        self.assertEqual(thing["spec"]["minReadySeconds"], 5)
        self.assertEqual(thing["metadata"]["annotations"]["note"], "theirs")
        self.assertEqual(thing["spec"]["progressDeadlineSeconds"], 600, "the server's default")
        self.assertIn(("karmada", "Apply"), owners(thing))
        self.assertNotIn(("karmada-controller-manager", "Update"), owners(thing))

    def test_a_field_that_others_set_is_a_conflict(self):
        self.propagate(**{ANNOTATION: "true"})
        self.wait("applied", lambda: self.is_applied()[0])
        self.member.merge(self.path, {"spec": self.image("nginx:theirs")})
        self.change(**self.image("nginx:1.26"))

        def refused():
            applied, message = self.is_applied()
            assert not applied and 'conflict with "rig"' in message and ".image" in message, message
            return True
        self.wait("the conflict to be reported", refused)

        def is_advised():
            events = [event["message"] for event in self.host.items(f"/api/v1/namespaces/{self.namespace}/events")]
            assert any("set conflictResolution: Overwrite in the policy" in message for message in events), events
            return True
        self.wait("the advice in an event", is_advised)
        self.assertEqual(self.member.get(self.path)["spec"]["template"]["spec"]["containers"][0]["image"],
                         "nginx:theirs")
        self.host.merge(f"{POLICIES.format(self.namespace)}/web", {"spec": {"conflictResolution": "Overwrite"}})
        self.in_member("the template's image", lambda d: d["spec"]["template"]["spec"]["containers"][0]["image"]
                       == "nginx:1.26")
        self.wait("applied", lambda: self.is_applied()[0])

    def test_drift_that_others_own_is_a_conflict_at_once(self):
        self.propagate(**{ANNOTATION: "true"})
        self.wait("applied", lambda: self.is_applied()[0])
        self.member.merge(self.path, {"spec": {"replicas": 5}})

        def refused():
            applied, message = self.is_applied()
            assert not applied and 'conflict with "rig"' in message and ".spec.replicas" in message, message
            return True
        self.wait("the conflict to be reported", refused)
        self.assertEqual(self.member.get(self.path)["spec"]["replicas"], 5)
        self.member.merge(self.path, {"spec": {"replicas": self.host.get(self.path)["spec"]["replicas"]}})
        self.wait("applied", lambda: self.is_applied()[0])

    def test_what_was_written_by_updates_is_taken_over_unchanged(self):
        self.propagate()
        self.change(replicas=3)
        before = self.in_member("the update", lambda d: d["spec"]["replicas"] == 3)
        self.assertIn(("karmada-controller-manager", "Update"), owners(before))
        self.host.merge(self.path, {"metadata": {"annotations": {ANNOTATION: "true"}}})
        after = self.in_member("applied", lambda d: ("karmada", "Apply") in owners(d)
                               and ANNOTATION in d["metadata"]["annotations"])
        self.assertNotIn(("karmada-controller-manager", "Update"), owners(after))
        self.assertEqual(after["spec"], before["spec"])
        # What was set by an update is known to be Karmada's.
        self.change(progressDeadlineSeconds=None)
        self.in_member("the server's default", lambda d: d["spec"]["progressDeadlineSeconds"] == 600)
        # And back: an update takes away what only the member has.
        self.member.merge(self.path, {"spec": {"minReadySeconds": 5}})
        self.host.merge(self.path, {"metadata": {"annotations": {ANNOTATION: "false"}}})
        thing = self.in_member("updated", lambda d: not d["spec"].get("minReadySeconds"))
        self.assertNotIn("resourcetemplate.karmada.io/applied-manifest", thing["metadata"]["annotations"])


class ServerSideApplyTest(Tests, DaemonCase):
    def member1(self):
        return self.plane.kube("member1")


class ServerSideApplyOnASandboxTest(Tests, unittest.TestCase):
    needs_plane = False
    maxDiff = 4000

    @classmethod
    def setUpClass(cls):
        suite.require_binary(paths.SANDBOX)
        suite.require_binary(paths.DAEMON)
        cls.site = cls.enterClassContext(Sandbox(paths.BUILD / "e2e" / "logs", "apply-sandbox"))
        cls.host = cls.site.kube()

    def member1(self):
        return self.site.kube("member1")

    def make_namespace(self, name):
        self.host.create("/api/v1/namespaces", {"metadata": {"name": name}})
        return name

    def wait(self, what, condition, timeout=30):
        return wait_until(what, condition, timeout)
