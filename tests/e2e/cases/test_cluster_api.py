"""A cluster of Cluster API joins and leaves by itself: real servers, and Cluster API's own definition.

The management cluster is an API server without Cluster API's controllers: the test writes what they would write, the phase of
the Cluster and the Secret with its kubeconfig. The cluster that they have provisioned is whole, so that its own controller
manager issues the tokens.
"""

import base64
import json

import yaml

from rig import paths
from rig.audit import Audit
from rig.daemon import USER, Daemon
from rig.plane import HOST
from rig.suite import DEPLOYMENTS, PlaneCase, deployment, settled_deployments, wait_quiet

MANAGEMENT, CLUSTER = "management", "provisioned"
SOURCES = "/apis/cluster.x-k8s.io/v1beta1/namespaces/default/clusters"
CLUSTERS = "/apis/cluster.karmada.io/v1alpha1/clusters"
SECRETS = "/api/v1/namespaces/{}/secrets"
READER = "e2e-cluster-api"


def definition():
    """The definition of Cluster API's Clusters in the version that has no webhook to convert others."""
    module = paths.go_module("karmada", "sigs.k8s.io/cluster-api")
    found = yaml.safe_load((module / "config" / "crd" / "bases" / "cluster.x-k8s.io_clusters.yaml").read_text())
    found["spec"].pop("conversion", None)
    found["spec"]["versions"] = [version for version in found["spec"]["versions"] if version["storage"]]
    return found


def reader():
    """The rights in the management cluster that docs/cluster-api.md lists, and no others."""
    rules = [{"apiGroups": ["cluster.x-k8s.io"], "resources": ["clusters"], "verbs": ["get", "list", "watch"]},
             {"apiGroups": [""], "resources": ["secrets"], "verbs": ["get"]},
             {"apiGroups": [""], "resources": ["namespaces"], "resourceNames": ["kube-system"], "verbs": ["get"]}]
    rbac, metadata = "rbac.authorization.k8s.io", {"name": READER}
    return [{"apiVersion": f"{rbac}/v1", "kind": "ClusterRole", "metadata": metadata, "rules": rules},
            {"apiVersion": f"{rbac}/v1", "kind": "ClusterRoleBinding", "metadata": metadata,
             "roleRef": {"apiGroup": rbac, "kind": "ClusterRole", "name": READER},
             "subjects": [{"apiGroup": rbac, "kind": "User", "name": READER}]}]


def _with_a_program(kubeconfig):
    """The kubeconfig with a program for its credentials, which would be started where Karmada runs."""
    config = yaml.safe_load(kubeconfig)
    config["users"][0]["user"] = {"exec": {"apiVersion": "client.authentication.k8s.io/v1", "command": "whoami"}}
    return json.dumps(config)


class ClusterApiTest(PlaneCase):
    @classmethod
    def setUpClass(cls):
        super().setUpClass()
        cls.management = cls.plane.add_apiserver(MANAGEMENT)
        cls.addClassCleanup(cls.plane.remove_cluster, MANAGEMENT)
        cls.provisioned = cls.plane.add_cluster(CLUSTER)
        cls.addClassCleanup(cls.plane.remove_cluster, CLUSTER)
        cls.management.apply([definition(), *reader()], "--server-side")
        cls.management.wait_established("clusters.cluster.x-k8s.io")
        cls.plane.pki.certificate(READER, READER)
        cls.kubeconfig = cls.plane.pki.kubeconfig(
            cls.plane.folder / f"{READER}.kubeconfig", cls.management.server, READER)

    def start(self):
        daemon = Daemon(self.plane, name="cluster-api", flags=[f"--cluster-api-kubeconfig={self.kubeconfig}"])
        self.addCleanup(lambda: daemon.process.alive() and daemon.stop())
        daemon.wait_healthy()
        return daemon

    def provision(self, name):
        """What Cluster API writes when it has provisioned a cluster."""
        self.management.create(SOURCES, {"apiVersion": "cluster.x-k8s.io/v1beta1", "kind": "Cluster",
                                         "metadata": {"name": name}, "spec": {}})
        self.management.request("PATCH", f"{SOURCES}/{name}/status", {"status": {"phase": "Provisioned"}},
                                "application/merge-patch+json")

    def give(self, name, kubeconfig):
        value = base64.b64encode(kubeconfig.encode()).decode()
        self.management.apply([{"apiVersion": "v1", "kind": "Secret", "data": {"value": value},
                                "metadata": {"namespace": "default", "name": f"{name}-kubeconfig"}}])

    def events(self, reason, name=CLUSTER):
        """The messages of the events of this reason about a cluster, which need not have joined yet."""
        return [event["message"] for event in self.host.items("/api/v1/namespaces/default/events")
                if event["involvedObject"].get("name") == name and event["reason"] == reason]

    def ready(self):
        cluster = self.host.find(f"{CLUSTERS}/{CLUSTER}") or {}
        return any(c["type"] == "Ready" and c["status"] == "True"
                   for c in cluster.get("status", {}).get("conditions", []))

    def test_it_joins_works_and_leaves(self):
        kubeconfig = self.provisioned.kubeconfig.read_text()
        daemon = self.start()
        self.give("refused", _with_a_program(kubeconfig))
        for name in ("refused", CLUSTER):
            self.provision(name)
        self.wait("the event of the refused kubeconfig",
                  lambda: any("exec" in message for message in self.events("JoinClusterFailed", "refused")))
        self.wait("the event of the Secret that is not there", lambda: self.events("JoinClusterFailed"))

        self.give(CLUSTER, kubeconfig)
        self.wait("the cluster to be ready", self.ready, 120)
        self.assertTrue(self.events("JoinClusterSucceed"))
        spec = self.host.get(f"{CLUSTERS}/{CLUSTER}")["spec"]
        self.assertEqual((spec["syncMode"], spec["apiEndpoint"]), ("Push", self.provisioned.server))

        namespace = self.make_namespace("e2e-cluster-api")
        self.host.apply([deployment(namespace, "web"), {
            "apiVersion": "policy.karmada.io/v1alpha1", "kind": "PropagationPolicy",
            "metadata": {"namespace": namespace, "name": "web"},
            "spec": {"resourceSelectors": [{"apiVersion": "apps/v1", "kind": "Deployment"}],
                     "placement": {"clusterAffinity": {"clusterNames": [CLUSTER]}}}}])
        self.wait("the Deployment to run there", lambda: settled_deployments(self.host, namespace, [CLUSTER]) == 1, 90)
        self.check_a_restart(daemon)

        # The Cluster goes while nobody looks.
        self.management.delete(f"{SOURCES}/{CLUSTER}")
        self.start()
        self.wait("the cluster to leave", lambda: self.host.find(f"{CLUSTERS}/{CLUSTER}") is None, 90)
        self.assertIsNone(self.provisioned.find(f"{DEPLOYMENTS.format(namespace)}/web"))
        for secret in (CLUSTER, f"{CLUSTER}-impersonator"):
            self.wait(f"the Secret {secret} to go",
                      lambda secret=secret: self.host.find(f"{SECRETS.format('karmada-cluster')}/{secret}") is None)
        self.assertTrue(self.events("UnjoinClusterSucceed"))
        self.assertIsNone(self.host.find(f"{CLUSTERS}/refused"))

    def check_a_restart(self, daemon):
        """It writes nothing about the cluster, neither in the control plane nor in the member."""
        audits = [Audit(self.plane, cluster) for cluster in (HOST, CLUSTER)]
        wait_quiet(audits[0], seconds=12, user=USER)  # A round of cluster status.
        self.assertEqual(daemon.stop(), 0, daemon.process.tail())
        for audit in audits:
            audit.rewind()
        again = self.start()
        self.plane.wait_members_ready()
        wait_quiet(audits[0], seconds=12, user=USER)
        written = [write for audit in audits for write in audit.writes()
                   if write.user in (USER, f"system:serviceaccount:karmada-cluster:karmada-{CLUSTER}")
                   and write.resource not in ("leases", "events") and CLUSTER in f"{write.user}{write.name}"]
        self.assertEqual(written, [])
        self.assertEqual(again.stop(), 0, again.process.tail())
