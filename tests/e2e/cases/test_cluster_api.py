"""A cluster that Cluster API has provisioned joins by itself, gets what is propagated, and leaves.

The management cluster is a real API server with Cluster API's own definition of Clusters; the test plays Cluster
API's manager there. What it has provisioned is a cluster like a member, whose own kube-controller-manager issues the
tokens. Our daemon has in the management cluster the rights that docs/cluster-api.md lists, and no other.
"""

import re

import yaml

from cases import test_permissions
from rig import paths, rights
from rig.audit import Audit
from rig.daemon import Daemon
from rig.process import free_port
from rig.suite import DEPLOYMENTS, PlaneCase, deployment, divided_policy, settled_bindings, wait_quiet

MANAGEMENT, NAME, UNREADABLE = "management", "cloudy", "stormy"
DEFINITION = "config/crd/bases/cluster.x-k8s.io_clusters.yaml"
SOURCES = "/apis/cluster.x-k8s.io/v1beta1/namespaces/default/clusters"
CLUSTERS = "/apis/cluster.karmada.io/v1alpha1/clusters"
POLICIES = "/apis/policy.karmada.io/v1alpha1/namespaces/{}/propagationpolicies"
SECRETS = "/api/v1/namespaces/{}/secrets"
ACCOUNTS = "/api/v1/namespaces/karmada-cluster/serviceaccounts"
RBAC = "/apis/rbac.authorization.k8s.io/v1"
BINDING = f"{RBAC}/clusterrolebindings/karmada-controller-manager:karmada-{NAME}"
FINALIZER = "cluster.cluster.x-k8s.io"  # Cluster API's own, until the machines are gone.


def documented_rights():
    """The rules of the table "Rights in the management cluster" in docs/cluster-api.md."""
    page = (paths.ROOT / "docs" / "cluster-api.md").read_text()
    section = page.split("## Rights in the management cluster\n")[1].split("\n## ")[0]
    for resource, name, verbs in re.findall(r"^\| `([^`]+)`(?: \(`([^`]+)`\))? \| ([a-z, ]+) \|$", section, re.M):
        plural, _, group = resource.partition(".")
        yield {"apiGroups": [group], "resources": [plural], "verbs": verbs.split(", "),
               **({"resourceNames": [name]} if name else {})}


def with_credentials_from_a_program(kubeconfig):
    """A kubeconfig that would start a program where our daemon runs."""
    config = yaml.safe_load(kubeconfig)
    config["users"][0]["user"] = {"exec": {"apiVersion": "client.authentication.k8s.io/v1", "command": "true",
                                           "interactiveMode": "Never"}}
    return yaml.safe_dump(config)


class ManagementCluster:
    """An API server with Cluster API's definition; its manager is the test."""

    def __init__(self, plane):
        self.kube = kube = plane.add_apiserver(MANAGEMENT)
        self.role = kube.create(f"{RBAC}/clusterroles", {
            "metadata": {"name": "detector"}, "rules": list(documented_rights())})
        kube.create(f"{RBAC}/clusterrolebindings", {
            "metadata": {"name": "detector"},
            "roleRef": {"apiGroup": "rbac.authorization.k8s.io", "kind": "ClusterRole", "name": "detector"},
            "subjects": [{"apiGroup": "rbac.authorization.k8s.io", "kind": "User", "name": rights.USER}]})
        self.kubeconfig = plane.pki.kubeconfig(
            plane.folder / f"{MANAGEMENT}-detector.kubeconfig", kube.server, "our-controller-manager")
        # In this form the definition has no conversion; an installation adds one, which leads to a webhook of
        # Cluster API's manager, to convert versions that are not served here.
        definition = yaml.safe_load((paths.go_module("karmada", "sigs.k8s.io/cluster-api") / DEFINITION).read_text())
        kube.create("/apis/apiextensions.k8s.io/v1/customresourcedefinitions", definition)
        kube.wait_established(definition["metadata"]["name"])

    def provision(self, name):
        """What is there once Cluster API has provisioned a cluster, but for the Secret."""
        self.kube.create(SOURCES, {
            "apiVersion": "cluster.x-k8s.io/v1beta1", "kind": "Cluster",
            "metadata": {"name": name, "finalizers": [FINALIZER]},
            "spec": {"clusterNetwork": {"pods": {"cidrBlocks": ["10.244.0.0/16"]}}}})
        self.report(name, {"phase": "Provisioned", "infrastructureReady": True, "controlPlaneReady": True})

    def report(self, name, status):
        self.kube.merge(f"{SOURCES}/{name}/status", {"status": status})

    def write_kubeconfig(self, name, text):
        """The Secret with the kubeconfig of a provisioned cluster, as Cluster API writes it."""
        path, data = SECRETS.format("default"), {"stringData": {"value": text}}
        if self.kube.find(f"{path}/{name}-kubeconfig"):
            self.kube.merge(f"{path}/{name}-kubeconfig", data)
        else:
            self.kube.create(path, {"type": "cluster.x-k8s.io/secret", **data, "metadata": {
                "name": f"{name}-kubeconfig", "labels": {"cluster.x-k8s.io/cluster-name": name}}})

    def delete(self, name):
        """Begins the deletion, which ends with end_deletion()."""
        self.kube.delete(f"{SOURCES}/{name}")
        self.report(name, {"phase": "Deleting"})

    def end_deletion(self, name):
        self.kube.merge(f"{SOURCES}/{name}", {"metadata": {"finalizers": None}})


class ClusterApiTest(PlaneCase):
    def setUp(self):
        self.namespace = self.make_namespace("e2e-cluster-api")
        self.path = f"{DEPLOYMENTS.format(self.namespace)}/web"
        self.addCleanup(self.plane.remove_cluster, MANAGEMENT)
        self.management = ManagementCluster(self.plane)
        self.addCleanup(self.plane.remove_cluster, NAME)
        self.provisioned = self.plane.add_cluster(NAME)
        self.kubeconfig = self.plane.kubeconfigs[NAME].read_text()
        self.addCleanup(self.forget_what_has_joined)

    def forget_what_has_joined(self):
        """What a test that failed has left; a controller manager without the flag takes it away."""
        left = [name for name in (NAME, UNREADABLE) if self.host.find(f"{CLUSTERS}/{name}")]
        if left:
            with Daemon(self.plane, name="after-cluster-api"):
                for name in left:
                    self.host.delete(f"{CLUSTERS}/{name}")
                    self.wait(f"{name} gone", lambda name=name: not self.host.find(f"{CLUSTERS}/{name}"), 90)

    def start_daemon(self, name):
        daemon = Daemon(self.plane, name=name, flags=[
            f"--cluster-api-kubeconfig={self.management.kubeconfig}", "--cluster-status-update-frequency=2s"])
        self.addCleanup(daemon.stop)
        daemon.wait_healthy()
        return daemon

    def events(self, name):
        """[(reason, message)] of the events on a Cluster, as the page says to look for them."""
        return [(event["reason"], event["message"]) for event in
                self.host.items(f"/api/v1/namespaces/default/events?fieldSelector=involvedObject.name={name}")]

    def wait_for_failure(self, name, *words):
        self.wait(f"the event with {words}", lambda: [
            message for reason, message in self.events(name)
            if reason == "JoinClusterFailed" and all(word in message for word in words)]
            or self.fail(str(self.events(name))), 30)

    def ready(self):
        """The status of the condition Ready of the cluster that joins, once its kinds are known as well."""
        status = (self.host.find(f"{CLUSTERS}/{NAME}") or {}).get("status", {})
        listed = any(r["kind"] == "Deployment" for g in status.get("apiEnablements", []) for r in g["resources"])
        return next((c["status"] for c in status.get("conditions", []) if c["type"] == "Ready" and listed), None)

    def test_it_joins_gets_what_is_propagated_and_leaves(self):
        first = self.start_daemon("cluster-api")
        self.check_a_refused_kubeconfig()
        self.check_a_repair()
        self.check_what_a_join_makes()
        # The account that a join makes has all rights; those of config/rbac are enough.
        rights.give_to_account(self.plane, NAME)

        self.host.create(POLICIES.format(self.namespace), divided_policy(self.namespace, [NAME]))
        self.host.create(DEPLOYMENTS.format(self.namespace), deployment(self.namespace, "web"))
        self.wait("the Deployment runs there",
                  lambda: settled_bindings(self.host, self.namespace, [NAME]) == 1, 60)
        self.assertEqual(self.provisioned.get(self.path)["status"]["readyReplicas"], 2)

        second = self.check_a_restart(first)
        self.check_the_end()
        second.stop()
        self.check_rights()

    def check_a_refused_kubeconfig(self):
        """It is reported, and everything else goes on."""
        self.management.write_kubeconfig(UNREADABLE, with_credentials_from_a_program(self.kubeconfig))
        self.management.provision(UNREADABLE)
        self.wait_for_failure(UNREADABLE, f"Secret default/{UNREADABLE}-kubeconfig", "exec")
        member = self.plane.members[0]
        metadata = {"namespace": self.namespace, "name": "elsewhere"}
        path = f"/api/v1/namespaces/{self.namespace}/configmaps"
        self.host.create(path, {"apiVersion": "v1", "kind": "ConfigMap", "metadata": metadata,
                                "data": {"key": "value"}})
        self.host.create(POLICIES.format(self.namespace), {
            "apiVersion": "policy.karmada.io/v1alpha1", "kind": "PropagationPolicy", "metadata": metadata,
            "spec": {"resourceSelectors": [{"apiVersion": "v1", "kind": "ConfigMap", "name": "elsewhere"}],
                     "placement": {"clusterAffinity": {"clusterNames": [member]}}}})
        self.wait("the ConfigMap in a member", lambda: self.plane.kube(member).find(f"{path}/elsewhere"))
        self.host.delete(f"{path}/elsewhere")

    def check_a_repair(self):
        """A kubeconfig that is not there, and then leads nowhere, is reported; when it is right, the cluster joins."""
        self.management.provision(NAME)
        self.wait_for_failure(NAME, f"Secret default/{NAME}-kubeconfig", "not found")
        nobody = f"127.0.0.1:{free_port()}"
        self.management.write_kubeconfig(
            NAME, self.kubeconfig.replace(self.provisioned.server.removeprefix("https://"), nobody))
        self.wait_for_failure(NAME, nobody)
        self.assertFalse(self.host.find(f"{CLUSTERS}/{NAME}"))
        self.management.write_kubeconfig(NAME, self.kubeconfig)
        self.wait("the cluster is ready", lambda: self.ready() == "True", 60)
        self.assertFalse(self.host.find(f"{CLUSTERS}/{UNREADABLE}"))
        self.management.delete(UNREADABLE)  # It never joins: what follows is about the other one.
        self.management.end_deletion(UNREADABLE)

    def check_what_a_join_makes(self):
        cluster = self.host.get(f"{CLUSTERS}/{NAME}")
        kube_system = self.provisioned.get("/api/v1/namespaces/kube-system")
        spec = {"syncMode": "Push", "id": kube_system["metadata"]["uid"], "apiEndpoint": self.provisioned.server,
                "secretRef": {"namespace": "karmada-cluster", "name": NAME},
                "impersonatorSecretRef": {"namespace": "karmada-cluster", "name": f"{NAME}-impersonator"}}
        self.assertEqual(spec, {field: cluster["spec"].get(field) for field in spec})
        self.assertEqual(cluster["metadata"]["annotations"]["cluster-api.karmada.io/cluster"], f"default/{NAME}")
        self.wait("the event of the join", lambda: "JoinClusterSucceed" in dict(self.events(NAME)))
        for account, secret in ((f"karmada-{NAME}", NAME), ("karmada-impersonator", f"{NAME}-impersonator")):
            made = self.provisioned.get(f"{SECRETS.format('karmada-cluster')}/{account}")
            taken = self.host.get(f"{SECRETS.format('karmada-cluster')}/{secret}")
            self.assertEqual(taken["data"]["token"], made["data"]["token"], secret)
            self.assertEqual(taken["metadata"]["ownerReferences"][0]["uid"], cluster["metadata"]["uid"], secret)

    def check_a_restart(self, first):
        """With everything settled it writes nothing, in none of the three clusters; nor when the deletion begins."""
        audit = Audit(self.plane)
        wait_quiet(audit)
        self.assertEqual(first.stop(), 0, first.process.tail())
        audits = [audit, Audit(self.plane, MANAGEMENT), Audit(self.plane, NAME)]
        audit.rewind()
        events = sorted(self.events(NAME))
        second = self.start_daemon("cluster-api-restarted")
        # It has looked at the cluster when it has read its kubeconfig.
        self.wait("the pass over the cluster", lambda: any(
            event["verb"] == "get" and event.get("objectRef", {}).get("name") == f"{NAME}-kubeconfig"
            for event in audits[1].events()))
        self.management.delete(NAME)
        wait_quiet(audit, user=rights.USER)
        self.assertEqual(second.value("cluster_ready_state", member_cluster=NAME), 1)
        written = [write for audit in audits for write in audit.writes()
                   if write.agent.startswith("karmada-controller-manager/") and write.resource != "events"]
        self.assertEqual(written, [])
        self.assertEqual(sorted(self.events(NAME)), events)
        # It has left alone what an operator has narrowed.
        self.assertFalse(self.provisioned.get(BINDING).get("subjects"))
        return second

    def check_the_end(self):
        """When the object of Cluster API is gone, the cluster leaves; what the join has made there stays."""
        self.management.end_deletion(NAME)
        self.wait("the Deployment there is gone", lambda: not self.provisioned.find(self.path))
        self.assertTrue(self.host.find(self.path))
        namespace = f"/api/v1/namespaces/{self.namespace}"
        self.host.delete(namespace)  # Now, because it takes as long as the Cluster does.
        self.wait("the Cluster is gone", lambda: not self.host.find(f"{CLUSTERS}/{NAME}"), 60)
        self.wait("its event", lambda: "UnjoinClusterSucceed" in dict(self.events(NAME)))
        self.assertFalse(self.host.find(f"/api/v1/namespaces/karmada-es-{NAME}"))
        for secret in (NAME, f"{NAME}-impersonator"):
            self.wait(f"the Secret {secret} is gone",
                      lambda secret=secret: not self.host.find(f"{SECRETS.format('karmada-cluster')}/{secret}"))
        for account in (f"karmada-{NAME}", "karmada-impersonator"):
            self.assertTrue(self.provisioned.find(f"{ACCOUNTS}/{account}"), account)
        self.wait("the namespace is gone", lambda: not self.host.find(namespace), 60)

    def check_rights(self):
        """Our daemon, which has stopped (a watch is in the audit log when it has ended), has used all rights of the page
        in the management cluster; nothing was refused, and nothing was written."""
        audit = Audit(self.plane, MANAGEMENT)
        audit.rewind_to_the_beginning()
        asked, refused = test_permissions.requests(audit, rights.USER)
        self.assertEqual([], [(event["verb"], event["requestURI"]) for event in refused])
        granted = list(test_permissions.single_rights(self.management.role))
        self.assertEqual(len(granted), 5)
        self.assertEqual([], [right for right in granted
                              if not any(test_permissions.allows(right, request) for request in asked)])
        self.assertEqual([], list(audit.writes(rights.USER)))
