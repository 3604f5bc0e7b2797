"""The Flux sample: a chart as a template, read and judged by the shipped customization.

No Flux runs here; the test plays the members' helm-controllers.
"""

import pathlib

import yaml

from rig import paths
from rig.process import must, wait_until
from rig.suite import BINDINGS, DaemonCase, require_binary

SAMPLE = paths.SAMPLES / "flux"
CRDS = pathlib.Path(__file__).parent / "data" / "flux-crds.yaml"
RELEASE = "/apis/helm.toolkit.fluxcd.io/v2/namespaces/default/helmreleases/podinfo"
SECONDS = 60  # A moment, but not on a machine that has other things to do.


class FluxTest(DaemonCase):
    @classmethod
    def setUpClass(cls):
        super().setUpClass()
        for cluster in [cls.host, *map(cls.plane.kube, cls.plane.members)]:
            cluster.kubectl("apply", "-f", CRDS)
            cluster.wait_established("helmreleases.helm.toolkit.fluxcd.io", "helmrepositories.source.toolkit.fluxcd.io")
        # While a member's Cluster does not list a kind, Karmada's scheduler leaves it out, for good.
        wait_until("the Clusters to list HelmReleases", lambda: all(map(cls.lists_releases, cls.plane.members)), 30)
        cls.host.kubectl("apply", "-f", SAMPLE)

    @classmethod
    def lists_releases(cls, member):
        cluster = cls.host.get(f"/apis/cluster.karmada.io/v1alpha1/clusters/{member}")
        return any(r["kind"] == "HelmRelease" for group in cluster["status"].get("apiEnablements", [])
                   for r in group["resources"])

    @classmethod
    def tearDownClass(cls):
        cls.host.kubectl("delete", "--ignore-not-found", "-f", SAMPLE)

    def in_members(self):
        """{member: its HelmRelease}, once all have it."""
        found = {m: self.plane.kube(m).find(RELEASE) for m in self.plane.members}
        return all(found.values()) and found

    def report(self, member, status, message):
        """What a helm-controller says once it has dealt with the release."""
        kube = self.plane.kube(member)
        generation = kube.get(RELEASE)["metadata"]["generation"]
        reason = "InstallSucceeded" if status == "True" else "InstallFailed"
        kube.merge(RELEASE + "/status", {"status": {
            "observedGeneration": generation, "storageNamespace": "default", "failures": int(status != "True"),
            "conditions": [{"type": "Ready", "status": status, "reason": reason, "message": message,
                            "lastTransitionTime": "2026-01-01T00:00:00Z"}]}})

    def said(self):
        """What the control plane says: {member: health}, and the status of the template."""
        binding = self.host.find(BINDINGS.format("default") + "/podinfo-helmrelease") or {}
        items = binding.get("status", {}).get("aggregatedStatus", [])
        return {i["clusterName"]: i.get("health") for i in items}, self.host.get(RELEASE).get("status", {})

    def test_a_release_lands_in_both_members_and_its_status_is_added_up(self):
        self.wait("the HelmRelease in the members", self.in_members, SECONDS)
        template = self.host.get(RELEASE)
        for member, release in self.in_members().items():
            self.assertEqual(release["spec"], template["spec"], member)

        first, second = self.plane.members
        self.report(first, "True", "installed")
        self.report(second, "False", "no such chart")

        def one_of_two():
            health, status = self.said()
            return health == {first: "Healthy", second: "Unhealthy"} and status.get("failures") == 1 and status
        status = self.wait("the status of both members", one_of_two, SECONDS)
        messages = [(c["type"], c["status"], c["message"]) for c in status["conditions"]]
        self.assertEqual(messages, [("Ready", "False", f"{second}=no such chart")])
        self.assertEqual(status["observedGeneration"], template["metadata"]["generation"])

        self.report(second, "True", "installed")

        def both():
            health, status = self.said()
            return set(health.values()) == {"Healthy"} and status["failures"] == 0 and status
        status = self.wait("both members well", both, SECONDS)
        self.assertEqual(len(status["conditions"]), 1)
        self.assertEqual(status["conditions"][0]["message"], f"{first}=installed, {second}=installed")

        # What `flux suspend` did in a member stays there, and there only.
        self.plane.kube(first).merge(RELEASE, {"spec": {"suspend": True}})
        self.host.merge(RELEASE, {"spec": {"values": {"replicaCount": 3}}})

        def changed():
            found = self.in_members()
            return all(r["spec"]["values"]["replicaCount"] == 3 for r in found.values()) and found
        found = self.wait("the new values in the members", changed, SECONDS)
        self.assertEqual([found[m]["spec"].get("suspend") for m in (first, second)], [True, None])

    def test_its_dependencies_are_the_source_and_the_values(self):
        tool = paths.BIN / "karmada-interpret"
        require_binary(tool)
        told = must([tool, "run", "--operation", "InterpretDependency", "--desired", SAMPLE / "helmrelease.yaml"])
        found = yaml.safe_load(told)
        references = found["dependencies"] if isinstance(found, dict) else found
        self.assertEqual([(r["apiVersion"], r["kind"], r["namespace"], r["name"]) for r in references], [
            ("source.toolkit.fluxcd.io/v1", "HelmRepository", "default", "podinfo"),
            ("v1", "Secret", "default", "podinfo-values")])
