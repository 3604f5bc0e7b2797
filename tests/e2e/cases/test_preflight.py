"""karmada-lens preflight on a real control plane: what it counts is what is there, and upstream's own Deployment is
read from a real host cluster."""

import json

from rig import installers, paths
from rig.process import run
from rig.suite import DaemonCase, deployment, divided_policy

NAMESPACE = "karmada-system"
NAME = "karmada-controller-manager"
CUSTOMIZATIONS = "/apis/config.karmada.io/v1alpha1/resourceinterpretercustomizations"
UPSTREAM = ["--kubeconfig=/etc/karmada/config/karmada.config", "--metrics-bind-address=$(POD_IP):8080",
            "--health-probe-bind-address=$(POD_IP):10357", "--cluster-status-update-frequency=10s",
            "--controllers=*,hpaScaleTargetMarker,deploymentReplicasSyncer",
            "--feature-gates=AllAlpha=true,AllBeta=true", "--enable-no-execute-taint-eviction=true",
            "--logging-format=json", "--v=4"]


class PreflightTest(DaemonCase):
    def preflight(self, *words, code):
        """The JSON of the answer, once the exit code is the expected one."""
        done = run([paths.LENS, "preflight", "--kubeconfig", self.plane.kubeconfigs["host"], "-o", "json",
                    *words], timeout=120)
        self.assertEqual(done.returncode, code, done.stdout[-3000:] + done.stderr[-2000:])
        return json.loads(done.stdout)

    def row(self, answer, part, name):
        found = [row for row in answer[part] if row["name"] == name]
        self.assertEqual(len(found), 1, f"{part} {name}: {answer[part]}")
        return found[0]

    def deploy(self, member, arguments):
        """Puts a Deployment as upstream's into a member, which stands for the host cluster; it runs no pod."""
        host = self.plane.kube(member)
        if host.find(f"/api/v1/namespaces/{NAMESPACE}") is None:
            host.create("/api/v1/namespaces", {"metadata": {"name": NAMESPACE}})
            self.addCleanup(host.delete, f"/api/v1/namespaces/{NAMESPACE}")
        made = deployment(NAMESPACE, NAME, replicas=0)
        container = made["spec"]["template"]["spec"]["containers"][0]
        container["name"] = NAME
        container["image"] = f"docker.io/karmada/{NAME}:v1.18.2"
        container["command"] = [f"/bin/{NAME}", *arguments]
        container["env"] = [{"name": "POD_IP", "valueFrom": {"fieldRef": {"fieldPath": "status.podIP"}}}]
        path = f"/apis/apps/v1/namespaces/{NAMESPACE}/deployments"
        host.create(path, made)
        self.addCleanup(host.delete, f"{path}/{NAME}")
        return self.plane.kubeconfigs[member]

    def test_nothing_of_upstreams_own_deployment_would_be_lost(self):
        kubeconfig = self.deploy(self.plane.members[0], UPSTREAM)
        answer = self.preflight("--host-kubeconfig", kubeconfig, code=0)
        self.assertEqual(answer["arguments"], f"Deployment {NAMESPACE}/{NAME}")
        self.assertEqual(self.row(answer, "flags", "--metrics-bind-address")["grade"], "same")
        self.assertEqual(self.row(answer, "gates", "LoggingAlphaOptions")["grade"], "differs")
        self.assertTrue(self.row(answer, "controllers", "hpaScaleTargetMarker")["on"])
        # All of upstream's definitions are there, and each stores what this program reads.
        for kind in answer["kinds"]:
            with self.subTest(kind["name"]):
                self.assertIn(kind["grade"], ("same", "differs"))
                if kind["name"].split(".", 1)[1] in ("apps", "batch"):
                    continue  # Kinds of templates whose results differ.
                self.assertIn(kind["read"], kind["served"])
                if kind["name"] != "clusters.cluster.karmada.io":
                    self.assertIn(kind["read"], kind["stored"])

    def test_the_arguments_of_upstreams_installers_are_all_accepted(self):
        for installer, wanted in installers.deployments(NAME).items():
            with self.subTest(installer):
                file = self.plane.folder / f"preflight-{installer}.json"
                file.write_text(json.dumps(wanted))
                answer = self.preflight("--args-file", file, code=0)
                self.assertTrue(answer["flags"])
                self.assertEqual({row["grade"] for row in answer["flags"]}, {"same"})

    def test_objects_are_counted_as_the_server_lists_them(self):
        namespace = self.make_namespace("preflight")
        for name in ("one", "two", "three"):
            self.host.create(f"/apis/policy.karmada.io/v1alpha1/namespaces/{namespace}/propagationpolicies",
                             divided_policy(namespace, self.plane.members, name))
        there = len(self.host.items("/apis/policy.karmada.io/v1alpha1/propagationpolicies"))
        self.assertGreaterEqual(there, 3)
        answer = self.preflight(code=0)
        self.assertIsNone(answer["arguments"])
        self.assertEqual(self.row(answer, "kinds", "propagationpolicies.policy.karmada.io")["count"], there)
        self.assertEqual(self.row(answer, "kinds", "clusters.cluster.karmada.io")["count"], len(self.plane.members))
        self.assertEqual({row["name"] for row in answer["members"]}, set(self.plane.members))

    def test_what_would_be_lost_ends_with_two(self):
        # karmada-webhook compiles scripts, and does not look whether they have the function that is called.
        self.host.create(CUSTOMIZATIONS, {
            "apiVersion": "config.karmada.io/v1alpha1", "kind": "ResourceInterpreterCustomization",
            "metadata": {"name": "preflight"},
            "spec": {"target": {"apiVersion": "example.io/v1", "kind": "Preflight"},
                     "customizations": {"healthInterpretation": {"luaScript": "function Other(o) return true end"}}}})
        self.addCleanup(self.host.delete, f"{CUSTOMIZATIONS}/preflight")
        kubeconfig = self.deploy(self.plane.members[1], [*UPSTREAM, "--cluster-lease-duration=40s"])
        answer = self.preflight("--host-kubeconfig", kubeconfig, code=2)
        self.assertEqual(answer["verdict"], "lost")
        self.assertEqual(self.row(answer, "customizations", "preflight")["grade"], "lost")
        flag = self.row(answer, "flags", "--cluster-lease-duration")
        self.assertEqual(flag["grade"], "lost")
        self.assertIn("v1.18", flag["note"])

    def test_a_user_without_rights_sees_what_could_not_be_read(self):
        kubeconfig = self.plane.user("preflight", "preflight", group="nobodies")
        done = run([paths.LENS, "preflight", "--kubeconfig", kubeconfig, "-o", "json"], timeout=120)
        self.assertEqual(done.returncode, 1, done.stdout[-3000:] + done.stderr[-2000:])
        works = self.row(json.loads(done.stdout), "kinds", "works.work.karmada.io")
        self.assertEqual((works["grade"], works["count"]), ("unknown", None))
        self.assertIn("forbidden", works["note"])
