"""Only the image changes: our programs with the command lines, files and probes of upstream's four installers, unchanged."""

from rig import installers, metrics, paths
from rig.hosting import Hosting
from rig.search import REGISTRIES
from rig.search_case import registry
from rig.suite import PlaneCase, deployment, divided_policy, require_binary, settled_deployments

LEASE = "/apis/coordination.k8s.io/v1/namespaces/karmada-system/leases/"


class InstallersTest(PlaneCase):
    @classmethod
    def setUpClass(cls):
        super().setUpClass()
        cls.hosting = Hosting(cls.plane)
        cls.addClassCleanup(cls.hosting.close)

    def leads(self, pod):
        text = pod.get(f"http://{pod.address}:8080/metrics")
        return ("leader_election_master_status", {"name": "karmada-controller-manager"}, 1.0) in metrics.parse(text)

    def test_the_controller_manager_propagates_with_each(self):
        namespace = self.make_namespace("e2e-installers")
        self.host.apply([divided_policy(namespace, self.plane.members)])
        for number, (installer, wanted) in enumerate(installers.deployments("karmada-controller-manager").items(), 1):
            with self.subTest(installer):
                self.host.delete(LEASE + "karmada-controller-manager")
                pod = self.hosting.run(f"manager-of-{installer}", wanted)
                pod.wait("livenessProbe")
                self.wait("it leads", lambda pod=pod: self.leads(pod), 60)
                self.host.apply([deployment(namespace, f"of-{installer}")])
                self.wait("an app in both members", lambda number=number: settled_deployments(
                    self.host, namespace, self.plane.members) == number, 60)
                self.assertEqual(pod.stop(), 0)

    def test_karmada_search_serves_with_each(self):
        require_binary(paths.SEARCH)
        for installer, wanted in installers.deployments("karmada-search").items():
            with self.subTest(installer):
                self.host.delete(LEASE + "karmada-search")
                pod = self.hosting.run(f"search-of-{installer}", wanted)
                pod.wait("livenessProbe")
                client = self.hosting.client(pod, 443)
                client.wait_ready()
                client.create(REGISTRIES, registry(f"of-{installer}", [("v1", "Pod")]))
                self.assertIn(f"of-{installer}", [each["metadata"]["name"] for each in client.items(REGISTRIES)])
                client.delete(f"{REGISTRIES}/of-{installer}")
                self.assertEqual(pod.stop(), 0)
