"""A cluster in Pull mode beside the push ones, as the real `karmadactl register` registers it, with two agents in turn.

Upstream's agent is first. Ours takes its place with the command line, the credentials and the rights that karmadactl has made,
gives it back, and takes it again. Everything in the cluster is the agent's: nothing of the control plane writes there, although
it has credentials for it.
"""

import time

from rig.agent import PullCluster, ours, upstreams
from rig.audit import Audit
from rig.suite import DEPLOYMENTS, DaemonCase, deployment, require_binary

CLUSTER = "pulled1"
# Which loops have to have looked at every Work before a new agent counts as settled.
LOOPS = ("execution-controller", "work-status-controller")
QUIET_SECONDS = 4


def kind_of(write):
    """(verb, resource) of a write."""
    return write[:2]


class PullClusterTest(DaemonCase):
    takes_turns = True

    def setUp(self):
        require_binary(ours())
        self.namespace = self.make_namespace("e2e-pull")
        self.path = f"{DEPLOYMENTS.format(self.namespace)}/web"
        self.pulled = PullCluster(self.plane, CLUSTER)
        self.addCleanup(self.pulled.close)

    def test_agents_take_turns_in_a_registered_cluster(self):
        self.audits = [Audit(self.plane), Audit(self.plane, CLUSTER)]
        self.pulled.register()
        self.assertEqual(self.pulled.approvals(), ["AutoApproved"])
        self.pulled.start(upstreams(self.plane.testbed))
        self.wait("the pull cluster is ready", lambda: self.pulled.ready() == "True", 60)
        self.propagate()
        self.wait("the template adds up", lambda: self.total_ready() == 4, 90)
        self.edit_and_drift(3)
        self.check_a_quota(9, 3)

        self.check_writes_nothing(self.take_turns(ours()))
        self.check_says_its_version(True)
        self.edit_and_drift(2)
        self.check_a_quota(8, 2)
        self.check_writes_as_at_a_restart(upstreams(self.plane.testbed))
        self.check_says_its_version(False)
        self.edit_and_drift(3)
        self.check_writes_nothing(self.take_turns(ours()))
        self.check_an_exported_service(3)
        self.check_a_silent_agent()

        for audit in self.audits:
            audit.rewind_to_the_beginning()
        self.check_nothing_was_refused()  # Before karmadactl takes the rights away under the running agent.
        self.pulled.unregister()
        self.wait("the object is gone", lambda: self.in_pulled() is None, 30)
        # What reaches the cluster with the credentials that the agent reported would be this account.
        strangers = [w for w in self.audits[1].writes() if w.user.startswith("system:serviceaccount:karmada-cluster:")]
        self.assertEqual(strangers, [])
        self.assertNotIn(f"cannot reach {CLUSTER}", self.daemon.process.tail(200))

    # ---- The exchange -----------------------------------------------------------------------------

    def take_turns(self, program):
        """Another agent, in a cluster where everything is as it should be. Returns what it writes until it rests."""
        self.wait("the Cluster's status to count the pods of now", self.counts_all_pods, 60)
        self.wait_agent_quiet()
        self.assertEqual(self.pulled.stop(), 0)
        for audit in self.audits:
            audit.rewind()
        self.pulled.start(program)
        self.wait("it has looked at everything", self.has_looked_at_everything, 60)
        self.wait_agent_quiet()
        return self.agent_writes()

    def check_writes_nothing(self, written):
        with self.subTest("ours takes upstream's place"):
            self.assertEqual(written, [])
            builds = [labels for name, labels, _ in self.pulled.samples() if name == "karmada_build_info"]
            self.assertEqual(len(builds), 1, "the process is not ours")

    def check_says_its_version(self, is_ours):
        """Ours writes its version with each renewal of the Lease; upstream's renews as ever, and keeps what it does not know."""
        def says():
            lease = self.host.get(f"/apis/coordination.k8s.io/v1/namespaces/karmada-cluster/leases/{CLUSTER}")
            version, _, when = lease["metadata"].get("annotations", {}).get("agent.karmada.io/renewed-by", "").partition(" ")
            assert version.startswith("v"), lease["metadata"]
            return (when == lease["spec"]["renewTime"]) == is_ours
        self.wait("the version on the Lease to be that of the agent" if is_ours else "upstream's agent to renew the Lease", says, 30)
        if is_ours:
            left = {labels["certificate"]: value for name, labels, value in self.pulled.samples()
                    if name == "karmada_agent_certificate_remaining_seconds"}
            self.assertGreater(left["control-plane"], 0)
            self.assertAlmostEqual(left["control-plane"], left["control-plane-kubeconfig"], delta=5)

    def check_writes_as_at_a_restart(self, program):
        """Upstream's agent writes what has not changed when it starts, whoever was there before."""
        after_ours, after_itself = (set(map(kind_of, self.take_turns(program))) for _ in range(2))
        with self.subTest("upstream's takes the place of ours"):
            self.assertEqual(after_ours - after_itself, set())

    def counts_all_pods(self):
        """What the agent reports every ten seconds is up to date, so that another one has nothing to report."""
        cluster = self.host.get(f"/apis/cluster.karmada.io/v1alpha1/clusters/{CLUSTER}")
        counted = cluster["status"].get("resourceSummary", {}).get("allocated", {}).get("pods")
        pods = self.pulled.kube.items("/api/v1/pods")
        going = [pod for pod in pods if "deletionTimestamp" in pod["metadata"]]
        assert not going and counted == str(len(pods)), f"{counted} of {len(pods)} pods, {len(going)} are going"
        return True

    def has_looked_at_everything(self):
        works = len(self.host.items(f"/apis/work.karmada.io/v1alpha1/namespaces/karmada-es-{CLUSTER}/works"))
        done = {loop: sum(value for name, labels, value in self.pulled.samples()
                          if name == "controller_runtime_reconcile_total" and labels.get("controller") == loop)
                for loop in LOOPS}
        assert all(count >= works for count in done.values()), f"{works} Works, {done}"
        return self.pulled.ready() == "True"

    def agent_writes(self):
        """What the agent has written, but for leases, events, and reviews of tokens and rights."""
        apart = ("leases", "events", "tokenreviews", "subjectaccessreviews")
        return [(w.verb, w.resource, w.name, w.code) for audit in self.audits
                for w in audit.writes() if w.user in (self.pulled.user, self.pulled.account) and w.resource not in apart]

    def wait_agent_quiet(self):
        written, since = self.agent_writes(), time.monotonic()
        while time.monotonic() < since + QUIET_SECONDS:
            time.sleep(0.5)
            now = self.agent_writes()
            if now != written:
                written, since = now, time.monotonic()

    def check_nothing_was_refused(self):
        """The rights that karmadactl has made suffice for our agent."""
        for audit in self.audits:
            refused = {(event["verb"], event["requestURI"].split("?")[0], event["userAgent"].split(" ")[0])
                       for event in audit.events()
                       if event["user"]["username"] in (self.pulled.user, self.pulled.account)
                       and event.get("responseStatus", {}).get("code") == 403}
            self.assertEqual({each for each in refused if each[2].startswith("karmada-agent/")}, set())

    # ---- What an agent does -----------------------------------------------------------------------

    def in_pulled(self):
        return self.pulled.kube.find(self.path)

    def replicas_in_pulled(self):
        return (self.in_pulled() or {}).get("spec", {}).get("replicas")

    def total_ready(self):
        return self.host.get(self.path).get("status", {}).get("readyReplicas")

    def propagate(self):
        self.host.create(DEPLOYMENTS.format(self.namespace), deployment(self.namespace, "web"))
        self.host.apply([{
            "apiVersion": "policy.karmada.io/v1alpha1", "kind": "PropagationPolicy",
            "metadata": {"namespace": self.namespace, "name": "web"},
            "spec": {"resourceSelectors": [{"apiVersion": "apps/v1", "kind": "Deployment"}],
                     "placement": {"clusterAffinity": {"clusterNames": ["member1", CLUSTER]}}}}])

    def edit_and_drift(self, replicas):
        self.host.merge(self.path, {"spec": {"replicas": replicas}})
        self.wait("the agent follows the edit", lambda: self.replicas_in_pulled() == replicas, 30)
        self.pulled.kube.merge(self.path, {"spec": {"replicas": 7}})
        self.wait("the agent puts drift back", lambda: self.replicas_in_pulled() == replicas, 30)
        self.wait("the template adds up", lambda: self.total_ready() == 2 * replicas, 60)

    def check_a_quota(self, hard, used):
        """What a FederatedResourceQuota assigns to the cluster is written there by the agent, and so is what comes back."""
        quota = f"/apis/policy.karmada.io/v1alpha1/namespaces/{self.namespace}/federatedresourcequotas/team"
        self.host.apply([{
            "apiVersion": "policy.karmada.io/v1alpha1", "kind": "FederatedResourceQuota",
            "metadata": {"namespace": self.namespace, "name": "team"},
            "spec": {"overall": {"pods": "20"},
                     "staticAssignments": [{"clusterName": CLUSTER, "hard": {"pods": str(hard)}}]}}])
        self.wait("the quota's status", lambda: [
            (s["clusterName"], s["hard"], s["used"])
            for s in self.host.get(quota).get("status", {}).get("aggregatedStatus", [])
        ] == [(CLUSTER, {"pods": str(hard)}, {"pods": str(used)})], 60)

    def check_an_exported_service(self, pods_there):
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
            assert len(pods) == pods_there and found == pods, f"{pods} {found}"
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
        self.pulled.start(ours())
        self.wait("the pull cluster is ready again", lambda: self.pulled.ready() == "True", 60)
        self.wait("the agent has caught up", lambda: self.replicas_in_pulled() == 1, 60)
        self.wait("the template adds up", lambda: self.total_ready() == 2, 60)
