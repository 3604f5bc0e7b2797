"""A user applies the samples that docs/samples.md names, and sees them land in both members within seconds."""

from rig import paths
from rig.suite import BINDINGS, WORK, DaemonCase

SAMPLES = ["deployment", "service", "configmap", "secret", "propagationpolicy",
           "customresourcedefinition", "clusterrole", "clusterpropagationpolicy"]
SECONDS = 60  # A moment, but not on a machine that has other things to do.


class SamplesTest(DaemonCase):
    @classmethod
    def setUpClass(cls):
        super().setUpClass()
        cls.files = [word for name in SAMPLES for word in ("-f", paths.SAMPLES / f"{name}.yaml")]
        cls.host.kubectl("apply", *cls.files)
        cls.addClassCleanup(cls.host.kubectl, "delete", "--ignore-not-found", *cls.files)

    def aggregated(self, path):
        """{cluster: entry} once both members are there and healthy."""
        found = self.host.find(path) or {}
        entries = {e["clusterName"]: e for e in found.get("status", {}).get("aggregatedStatus", [])}
        good = [c for c, e in entries.items() if e.get("applied") and e.get("health") == "Healthy"]
        assert sorted(good) == self.plane.members, f"{path}: {entries}"
        return entries

    def test_a_deployment_is_divided_two_to_one_and_its_status_comes_back(self):
        def ready():
            entries = self.aggregated(BINDINGS.format("default") + "/web-deployment")
            replicas = {c: e["status"].get("readyReplicas") for c, e in entries.items()}
            status = self.host.get("/apis/apps/v1/namespaces/default/deployments/web")["status"]
            return sorted(replicas.values()) == [1, 3] and status.get("readyReplicas") == 4 and (replicas, status)
        replicas, status = self.wait("the Deployment's status", ready, SECONDS)
        self.assertEqual(replicas, {"member1": 3, "member2": 1})
        self.assertEqual((status["replicas"], status["updatedReplicas"], status["availableReplicas"]), (4, 4, 4))

    def test_what_the_deployment_uses_is_in_both_members(self):
        for binding, path in [("web-service", "services/web"), ("web-settings-configmap", "configmaps/web-settings"),
                              ("web-credentials-secret", "secrets/web-credentials")]:
            with self.subTest(binding):
                self.wait(binding, lambda binding=binding: self.aggregated(
                    f"{BINDINGS.format('default')}/{binding}"), SECONDS)
                for member in self.plane.members:
                    self.assertIsNotNone(self.plane.kube(member).find(f"/api/v1/namespaces/default/{path}"))

    def test_cluster_scoped_templates_land_too(self):
        bindings = WORK + "/v1alpha2/clusterresourcebindings"
        for binding in ("widget-reader-clusterrole", "widgets.example.io-customresourcedefinition"):
            with self.subTest(binding):
                self.wait(binding, lambda binding=binding: self.aggregated(f"{bindings}/{binding}"), SECONDS)
