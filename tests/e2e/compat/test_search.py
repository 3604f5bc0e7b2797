"""What takes karmada-search longer than a change should wait: clusters that leave and come back, replicas that die."""

from rig.process import free_port
from rig.search import REGISTRIES
from rig.search_case import SearchCase, conditions, registry

_LEASE = "/apis/coordination.k8s.io/v1/namespaces/karmada-system/leases/karmada-search"


class SearchLongTest(SearchCase):
    def fates(self, watch, name):
        """What a watch has said of an object, one event after the other."""
        return [line.split()[0] for line in watch.log.read_text().splitlines() if line.split()[1] == name]

    def leave(self, member):
        """Takes a Cluster out of the control plane, but what joining has made in the member; returns what brings it back."""
        path = f"/apis/cluster.karmada.io/v1alpha1/clusters/{member}"
        cluster, secrets = self.host.get(path), "/api/v1/namespaces/karmada-cluster/secrets"
        kept = [self.host.get(f"{secrets}/{cluster['spec'][ref]['name']}") for ref in ("secretRef", "impersonatorSecretRef")]
        self.host.delete(path)
        for gone in (path, *(f"{secrets}/{secret['metadata']['name']}" for secret in kept)):
            self.wait(f"{gone} gone", lambda gone=gone: self.host.find(gone) is None, 60)

        def come_back():
            for secret in kept:
                name = secret["metadata"]["name"]
                if self.host.find(f"{secrets}/{name}") is None:
                    self.host.create(secrets, {**secret, "metadata": {"name": name}})
            if self.host.find(path) is None:
                self.host.create(path.rsplit("/", 1)[0], {
                    "apiVersion": cluster["apiVersion"], "kind": "Cluster", "metadata": {"name": member},
                    "spec": {key: value for key, value in cluster["spec"].items() if key != "id"}})
            self.plane.wait_members_ready()
        self.addCleanup(come_back)
        return come_back

    def test_the_objects_of_a_cluster_that_leaves_go_and_come_back_with_it(self):
        watch = self.background("search-watch-unjoin", self.words("get configmaps -w --no-headers --output-watch-events"))
        self.wait_said(watch, "only-2")
        come_back = self.leave("member2")
        self.wait("the objects of member2 gone", lambda: "DELETED" in self.fates(watch, "only-2"), 60)
        self.assertNotIn("only-2", self.succeeds("get configmaps -o name"))
        self.is_refused("get configmap only-2", "(NotFound)")
        self.succeeds("get configmap both -o name")  # There is only one now.
        come_back()
        self.shared.fill("member2")  # Its namespace had been propagated, and has gone with all objects.
        self.wait("the objects of member2 back", lambda: self.fates(watch, "only-2")[-1] == "ADDED", 90)
        # It went and came by turns, once or twice: the namespace goes with the Cluster, and not at once.
        fates = self.fates(watch, "only-2")
        self.assertEqual(fates, (["ADDED", "DELETED"] * len(fates))[:len(fates)])
        self.assertTrue(watch.alive())
        self.shared.wait_synced("e2e-search")
        # Requests reach it, too, as soon as the caller may be impersonated there again.
        self.wait("a write", lambda: self.kubectl("annotate configmap only-2 after=rejoin --overwrite").returncode == 0, 60)

    def leader(self):
        """Who holds the Lease; "" after it has been released."""
        return self.host.get(_LEASE)["spec"].get("holderIdentity", "")

    def test_another_replica_writes_the_status_when_the_first_one_dies(self):
        other = self.site.start(name="search-heir", port=free_port())
        self.addCleanup(other.process.kill)
        other.wait_ready()
        self.wait("a leader", self.leader)
        before = self.leader()
        self.search.process.kill()
        try:
            other.direct.create(REGISTRIES, registry("after-death", [("v1", "Node", "")]))
            self.addCleanup(self.host.delete, f"{REGISTRIES}/after-death")
            self.wait("another leader", lambda: self.leader() not in ("", before), 60)
            self.wait("the status", lambda: "Synced" in conditions(other.direct.get(f"{REGISTRIES}/after-death")), 60)
        finally:
            self.shared.restart()
