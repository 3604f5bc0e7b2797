"""The charts in a real cluster: installed, upgraded and removed by the real Helm; what they start becomes ready on a real
control plane; and their other part in the control plane itself."""

import json

import yaml

from rig import paths
from rig.daemon import USER
from rig.helm import NAMES, NAMESPACE, Helm
from rig.hosting import Hosting
from rig.kube import ApiError
from rig.plane import HOST
from rig.pod import secret
from rig.search import REGISTRIES
from rig.search import USER as SEARCH_USER
from rig.suite import PlaneCase, require_binary

MANAGER, SEARCH = NAMES
CLUSTER = "hosting"
LAYOUTS = ("helm", "operator", "karmadactl", "artifacts")
# Upstream's addresses, which leave room for other programs on this machine.
AT_THE_POD = {"metrics-bind-address": "$(POD_IP):8080", "health-probe-bind-address": "$(POD_IP):10357"}
EVERYTHING = {"networkPolicy": {"enabled": True}, "podMonitor": {"enabled": True}, "prometheusRule": {"enabled": True},
              "dashboards": {"enabled": True}, "waitForControlPlane": True,
              "kubectl": {"image": {"repository": "kubectl"}}}
OWN_KEY = {MANAGER: "controllerManager", SEARCH: "search"}
KINDS = ("deployments,poddisruptionbudgets,serviceaccounts,services,networkpolicies,configmaps,"
         "podmonitors,prometheusrules")
LEASE = "/apis/coordination.k8s.io/v1/namespaces/karmada-system/leases/"


class ChartInstallTest(PlaneCase):
    @classmethod
    def setUpClass(cls):
        super().setUpClass()
        require_binary(paths.SEARCH)
        cls.hosting = Hosting(cls.plane)
        cls.addClassCleanup(cls.hosting.close)
        cls.cluster = cls.plane.add_cluster(CLUSTER)
        cls.addClassCleanup(cls.plane.remove_cluster, CLUSTER)
        cls.helm = Helm(cls.plane.kubeconfigs[CLUSTER])
        cls.control_plane = Helm(cls.plane.kubeconfigs[HOST])
        cls.cluster.kubectl("create", "namespace", NAMESPACE)
        cls.cluster.kubectl("label", "namespace", NAMESPACE, "pod-security.kubernetes.io/enforce=restricted")
        cls.cluster.apply((paths.E2E / "cases" / "data" / "monitoring-crds.yaml").read_text())
        cls.cluster.wait_established()
        cls.cluster.apply([secret(NAMESPACE, name, data) for name, data in cls.hosting.secrets().items()])

    def do(self, verb, chart, values, release="e2e", helm=None):
        """helm install or upgrade of a chart; what it printed."""
        return (helm or self.helm)(verb, release, paths.CHARTS / chart, "--namespace", NAMESPACE, *Helm.given(values),
                                   text=json.dumps(values), timeout=180)

    def deployment(self, name):
        return self.cluster.get(f"/apis/apps/v1/namespaces/{NAMESPACE}/deployments/{name}")

    def wait_rollout(self, name):
        self.cluster.kubectl("-n", NAMESPACE, "rollout", "status", "deployment", name, "--timeout=120s", timeout=130)

    def objects(self, release):
        return self.cluster.kubectl("-n", NAMESPACE, "get", KINDS, "-o", "name",
                                    "-l", f"app.kubernetes.io/instance={release}").split()

    def test_install_upgrade_and_uninstall(self):
        for chart in NAMES:
            with self.subTest(chart):
                self.addCleanup(self.helm.attempt, "uninstall", "e2e", "--namespace", NAMESPACE)
                notes = self.do("install", chart, EVERYTHING)
                name = chart.replace("karmada", "e2e")
                self.assertIn(f"{chart} is installed as {NAMESPACE}/{name}. What to check next:", notes)
                self.wait_rollout(name)
                pods = self.cluster.items(f"/api/v1/namespaces/{NAMESPACE}/pods?labelSelector=app.kubernetes.io/instance=e2e")
                self.assertEqual(len(pods), 2)
                self.assertEqual(len({pod["spec"]["nodeName"] for pod in pods}), 2, "both on one node")
                self.assertEqual(len(self.objects("e2e")), 8 if chart == SEARCH else 7)

                notes = self.do("upgrade", chart, {**EVERYTHING, OWN_KEY[chart]: {"logVerbosity": 4, "replicaCount": 3}})
                self.wait_rollout(name)
                have = self.deployment(name)
                revision = have["metadata"]["annotations"]["deployment.kubernetes.io/revision"]
                self.assertEqual((have["status"]["readyReplicas"], revision), (3, "2"))
                self.assertIn("--v=4", have["spec"]["template"]["spec"]["containers"][0]["args"])
                self.helm("rollback", "e2e", "1", "--namespace", NAMESPACE)
                self.wait_rollout(name)
                self.assertIn("--v=2", self.deployment(name)["spec"]["template"]["spec"]["containers"][0]["args"])
                self.helm("uninstall", "e2e", "--namespace", NAMESPACE, "--wait", "--timeout", "60s")
                self.assertEqual(self.objects("e2e"), [])

    def test_the_controller_manager_of_each_layout_becomes_ready(self):
        for layout in LAYOUTS:
            with self.subTest(layout):
                pod = self.installed(MANAGER, layout, {"controllerManager": {"extraCommandArgs": AT_THE_POD}})
                pod.wait("livenessProbe")
                pod.wait()
                self.assertEqual(pod.stop(), 0)

    def test_karmada_search_of_each_layout_becomes_ready(self):
        for layout in LAYOUTS:
            with self.subTest(layout):
                at = {"bind-address": "$(POD_IP)", "shutdown-delay-duration": "0s"}
                pod = self.installed(SEARCH, layout, {"search": {"extraCommandArgs": at}})
                pod.wait("livenessProbe")
                pod.wait()
                self.hosting.client(pod, 5443).items(REGISTRIES)
                self.assertEqual(pod.stop(), 0)

    def installed(self, chart, layout, values, kubeconfig=None):
        """A pod of the Deployment that Helm has made."""
        self.addCleanup(self.helm.attempt, "uninstall", layout, "--namespace", NAMESPACE)
        self.host.delete(LEASE + chart)
        self.do("install", chart, {"kubeconfig": {"layout": layout}, **values}, layout)
        have = self.deployment(chart.replace("karmada", layout))
        self.helm("uninstall", layout, "--namespace", NAMESPACE)
        return self.hosting.run(f"{chart}-{layout}", have, kubeconfig)

    def test_the_wait_for_the_control_plane_ends_with_its_version(self):
        """The init container's own script, with the kubectl of the testbed."""
        values = {"waitForControlPlane": True, "karmadaImageVersion": "v1.18.2", "kubectl": {"image": {"repository": "kubectl"}}}
        rendered = yaml.safe_load_all(self.helm.template(MANAGER, values))
        spec = next(each for each in rendered if each["kind"] == "Deployment")["spec"]["template"]["spec"]
        command = spec["initContainers"][0]["command"]
        script = command[2].replace("/etc/kubeconfig", str(self.plane.kubeconfigs[HOST]))
        path = f"/api/v1/namespaces/{NAMESPACE}/configmaps"
        self.host.delete(path + "/karmada-version")
        self.addCleanup(self.host.delete, path + "/karmada-version")
        log = self.plane.logs / "chart-wait.log"
        log.unlink(missing_ok=True)
        waiting = self.plane.start("chart-wait", [*command[:2], script], env={
            "PATH": f"{self.plane.testbed.folder}/bin:/usr/bin:/bin"})
        self.wait("it waits", lambda: "it is not there" in log.read_text())
        self.host.create(path, {"metadata": {"name": "karmada-version"}, "data": {"karmadaVersion": "v1.17.0"}})
        self.wait("it waits for another version", lambda: "it is v1.17.0" in log.read_text())
        self.assertTrue(waiting.alive())
        self.host.merge(path + "/karmada-version", {"data": {"karmadaVersion": "v1.18.2"}})
        self.assertEqual(waiting.wait(20), 0)

    def test_the_rights_in_the_control_plane_suffice_for_the_pods(self):
        files = {MANAGER: paths.RIGHTS, SEARCH: paths.SEARCH_MANIFESTS / "rbac.yaml"}
        users = {MANAGER: USER, SEARCH: SEARCH_USER}
        values = {MANAGER: {"controllerManager": {"extraCommandArgs": AT_THE_POD}},
                  SEARCH: {"search": {"extraCommandArgs": {"bind-address": "$(POD_IP)", "shutdown-delay-duration": "0s"}}}}
        authority = self.plane.pki.base64(self.plane.pki.crt("ca"))
        for chart in NAMES:
            with self.subTest(chart):
                part = {"part": "controlPlane"}
                if chart == SEARCH:
                    part["controlPlane"] = {"apiService": {"caBundle": authority}}
                self.host.kubectl("delete", "--ignore-not-found", "-f", files[chart])
                if chart == MANAGER:  # Which the daemons of other cases have.
                    self.addCleanup(self.host.apply, files[chart].read_text())
                kubeconfig = self.plane.user(f"chart-{chart}", users[chart], group=None)
                self.addCleanup(self.control_plane.attempt, "uninstall", "rights", "--namespace", NAMESPACE)
                self.do("install", chart, part, "rights", self.control_plane)
                pod = self.installed(chart, "helm", values[chart], kubeconfig)
                pod.wait()
                self.assertEqual(pod.stop(), 0)
                self.control_plane("uninstall", "rights", "--namespace", NAMESPACE)
                with self.assertRaises(ApiError):
                    self.host.get(f"/apis/rbac.authorization.k8s.io/v1/clusterroles/{chart}")

    def test_definitions_are_installed_and_stay(self):
        """In the hosting cluster, which has none."""
        values = {"part": "controlPlane", "controlPlane": {"rights": {"install": False}, "crds": {"install": True}}}
        self.do("install", MANAGER, values, "definitions")
        self.cluster.wait_established("works.work.karmada.io")
        self.helm("uninstall", "definitions", "--namespace", NAMESPACE)
        one = "/apis/apiextensions.k8s.io/v1/customresourcedefinitions/works.work.karmada.io"
        self.assertIsNotNone(self.cluster.find(one))
        again = ("install", "again", paths.CHARTS / MANAGER, "--namespace", NAMESPACE, *Helm.given(values))
        self.assertIn("invalid ownership metadata", self.helm.attempt(*again, text=json.dumps(values)).stderr)
        self.addCleanup(self.helm.attempt, "uninstall", "again", "--namespace", NAMESPACE)
        self.helm(*again, "--take-ownership", text=json.dumps(values))
        self.assertEqual(self.cluster.get(one)["metadata"]["annotations"]["meta.helm.sh/release-name"], "again")
