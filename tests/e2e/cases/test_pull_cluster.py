"""A cluster in Pull mode beside the push ones, with upstream's own karmada-agent.

The agent's certificate request is approved, and then everything in its cluster is the agent's: nothing of ours
writes there, although the control plane has credentials for it.
"""

from rig.agent import PullCluster
from rig.audit import Audit
from rig.suite import DEPLOYMENTS, DaemonCase, deployment, settled_deployments

CLUSTER = "pulled1"


class PullClusterTest(DaemonCase):
    def setUp(self):
        self.namespace = self.make_namespace("e2e-pull")
        self.path = f"{DEPLOYMENTS.format(self.namespace)}/web"
        self.pulled = PullCluster(self.plane, CLUSTER)
        self.addCleanup(self.pulled.close)

    def in_pulled(self):
        return self.pulled.kube.find(self.path)

    def replicas_in_pulled(self):
        return (self.in_pulled() or {}).get("spec", {}).get("replicas")

    def propagate(self):
        self.host.create(DEPLOYMENTS.format(self.namespace), deployment(self.namespace, "web"))
        self.host.apply([{
            "apiVersion": "policy.karmada.io/v1alpha1", "kind": "PropagationPolicy",
            "metadata": {"namespace": self.namespace, "name": "web"},
            "spec": {"resourceSelectors": [{"apiVersion": "apps/v1", "kind": "Deployment"}],
                     "placement": {"clusterAffinity": {"clusterNames": ["member1", CLUSTER]}}}}])

    def test_the_agent_registers_and_does_everything_in_its_cluster(self):
        audit = Audit(self.plane, CLUSTER)
        audit.rewind_to_the_beginning()
        self.pulled.register()
        self.assertEqual(self.pulled.approval(), "AutoApproved")
        self.wait("the pull cluster is ready", lambda: self.pulled.ready() == "True", 60)

        self.propagate()
        clusters = ["member1", CLUSTER]
        self.wait("the Deployment runs in both clusters",
                  lambda: settled_deployments(self.host, self.namespace, clusters) == 1
                  or self.total_ready() == 4, 90)
        self.host.merge(self.path, {"spec": {"replicas": 3}})
        self.wait("the agent follows the edit", lambda: self.replicas_in_pulled() == 3, 30)
        self.pulled.kube.merge(self.path, {"spec": {"replicas": 7}})
        self.wait("the agent puts drift back", lambda: self.replicas_in_pulled() == 3, 30)
        self.wait("the template adds up", lambda: self.total_ready() == 6, 60)

        self.check_a_quota()
        self.check_an_exported_service()
        self.check_a_silent_agent()

        self.pulled.leave()
        self.wait("the object is gone", lambda: self.in_pulled() is None, 30)
        # What reaches the cluster with the credentials that the agent reported would be this account.
        ours = [w for w in audit.writes() if w.user.startswith("system:serviceaccount:karmada-cluster:")]
        self.assertEqual(ours, [])
        self.assertNotIn(f"cannot reach {CLUSTER}", self.daemon.process.tail(200))

    def total_ready(self):
        return self.host.get(self.path).get("status", {}).get("readyReplicas")

    def check_a_quota(self):
        """What a FederatedResourceQuota assigns to the cluster is written there by the agent, and so is what comes back."""
        quota = f"/apis/policy.karmada.io/v1alpha1/namespaces/{self.namespace}/federatedresourcequotas/team"
        self.host.apply([{
            "apiVersion": "policy.karmada.io/v1alpha1", "kind": "FederatedResourceQuota",
            "metadata": {"namespace": self.namespace, "name": "team"},
            "spec": {"overall": {"pods": "20"}, "staticAssignments": [{"clusterName": CLUSTER, "hard": {"pods": "9"}}]}}])
        self.wait("the quota's status", lambda: [
            (s["clusterName"], s["hard"], s["used"])
            for s in self.host.get(quota).get("status", {}).get("aggregatedStatus", [])
        ] == [(CLUSTER, {"pods": "9"}, {"pods": "3"})], 60)

    def check_an_exported_service(self):
        """The agent reports the EndpointSlices of the cluster's own controller; the control plane makes them its own."""
        version = "multicluster.x-k8s.io/v1alpha1"
        self.plane.install_multicluster_kinds(CLUSTER)
        # While the Cluster does not list a kind, Karmada's scheduler leaves it out, for good.
        self.wait("the Cluster to list ServiceExports", self.lists_service_exports, 60)
        self.host.apply([
            {"apiVersion": "v1", "kind": "Service", "metadata": {"namespace": self.namespace, "name": "web"},
             "spec": {"selector": {"app": "web"}, "ports": [{"port": 80}]}},
            {"apiVersion": version, "kind": "ServiceExport", "metadata": {"namespace": self.namespace, "name": "web"}},
            {"apiVersion": "policy.karmada.io/v1alpha1", "kind": "PropagationPolicy",
             "metadata": {"namespace": self.namespace, "name": "export"},
             "spec": {"resourceSelectors": [{"apiVersion": "v1", "kind": "Service"},
                                            {"apiVersion": version, "kind": "ServiceExport"}],
                      "placement": {"clusterAffinity": {"clusterNames": [CLUSTER]}}}}])
        slices = f"/apis/discovery.k8s.io/v1/namespaces/{self.namespace}/endpointslices"

        def imported():
            pods = {pod["status"].get("podIP") for pod in self.pulled.kube.items(
                f"/api/v1/namespaces/{self.namespace}/pods") if "deletionTimestamp" not in pod["metadata"]}
            found = {address for item in self.host.items(slices) for endpoint in item["endpoints"] or []
                     for address in endpoint["addresses"]}
            assert len(pods) == 3 and found == pods, f"{pods} {found}"
            return True
        self.wait("the pods of the pull cluster behind the imported service", imported, 90)

    def lists_service_exports(self):
        cluster = self.host.get(f"/apis/cluster.karmada.io/v1alpha1/clusters/{CLUSTER}")
        return any(r["kind"] == "ServiceExport" for group in cluster["status"].get("apiEnablements", [])
                   for r in group["resources"])

    def check_a_silent_agent(self):
        """Drift and edits wait for the agent; the cluster is unknown, and ready again with its agent."""
        self.pulled.stop()
        self.pulled.kube.merge(self.path, {"spec": {"replicas": 5}})
        self.host.merge(self.path, {"spec": {"replicas": 1}})
        self.wait("the pull cluster is unknown", lambda: self.pulled.ready() == "Unknown", 90)
        self.assertEqual(self.replicas_in_pulled(), 5)
        self.pulled.start()
        self.wait("the pull cluster is ready again", lambda: self.pulled.ready() == "True", 60)
        self.wait("the agent has caught up", lambda: self.replicas_in_pulled() == 1, 60)
