"""What goes on when members, the storage or a karmada-search itself fail, and what comes back by itself."""

import ssl

from rig.process import free_port
from rig.search import PROXY, REGISTRIES, VIEW
from rig.search_case import CONFIGMAPS, SearchCase, configmap, registry
from rig.suite import kubectl


class SearchFaultsTest(SearchCase):
    def replica(self, name, flags=()):
        """One more karmada-search, that the control plane does not know of; it ends with the test."""
        search = self.site.start(name=name, port=free_port(), flags=flags)
        self.addCleanup(search.process.kill)
        search.wait_ready()
        return search

    def watch(self, name, server=None):
        """kubectl get -w of the ConfigMaps, from the time when it has listed them."""
        words = self.words("get configmaps -w --no-headers --output-watch-events", server=server)
        watch = self.background(name, words)
        self.wait_said(watch, "only-2")
        return watch

    def warning(self):
        """What a list says about members that do not answer; it has what is known of them."""
        done = self.kubectl("get configmaps -o name")
        self.assertEqual(done.returncode, 0, done.stderr)
        self.assertEqual(done.stdout.count("/only-"), 2, done.stdout)
        return next((line for line in done.stderr.splitlines() if "Warning:" in line), "")

    def check_followed_again(self, watch, member, name):
        """The member is no longer warned of, and an open watch goes on with it."""
        self.wait(f"{member} without a warning", lambda: not self.warning(), 60)
        self.put(member, configmap(name, k="v"))
        self.wait_said(watch, name)
        self.assertTrue(watch.alive())
        # Nothing was reported twice, and nothing gone that is there.
        lines = [line.split()[:2] for line in watch.log.read_text().splitlines()]
        self.assertEqual(lines.count(["ADDED", "only-2"]), 1, lines)
        self.assertNotIn(["DELETED", "only-2"], lines)

    def test_a_member_that_hangs_is_named_and_followed_again(self):
        watch, member = self.watch("search-watch-hanging"), self.plane.apiserver("member2")
        self.addCleanup(self.plane.wait_members_ready)
        self.addCleanup(member.resume)
        member.pause()
        self.wait("the warning", lambda: "member2" in self.warning())
        self.assertNotIn("member1", self.warning())
        # Named objects of other members are there as ever.
        self.succeeds("annotate configmap only-1 during=hanging --overwrite")
        self.assertIn("hanging", self.succeeds("get configmap only-1 -o yaml"))
        self.succeeds("get configmap only-2 -o name")
        member.resume()
        self.check_followed_again(watch, "member2", "after-hanging")

    def test_a_member_that_is_killed_is_named_and_followed_again(self):
        watch = self.watch("search-watch-killed")
        self.addCleanup(self.plane.wait_members_ready)
        self.plane.apiserver("member2").kill()
        try:
            self.wait("the warning", lambda: "member2" in self.warning())
            self.is_refused("annotate configmap only-2 during=death", "member2")
        finally:
            self.plane.start_apiserver("member2")
        self.check_followed_again(watch, "member2", "after-death")

    def test_objects_of_a_cluster_that_is_not_meant_any_more_go_from_watches(self):
        registry_path = f"{REGISTRIES}/e2e-search"
        watch = self.watch("search-watch-left-out")
        self.addCleanup(self.shared.wait_synced, "e2e-search")
        self.addCleanup(self.host.merge, registry_path, {"spec": {"targetCluster": {"clusterNames": None}}})
        self.host.merge(registry_path, {"spec": {"targetCluster": {"clusterNames": ["member1"]}}})
        self.wait("the objects of member2 gone",
                  lambda: ["DELETED", "only-2"] in [line.split()[:2] for line in watch.log.read_text().splitlines()])
        self.assertNotIn("only-2", self.succeeds("get configmaps -o name"))
        self.host.merge(registry_path, {"spec": {"targetCluster": {"clusterNames": None}}})
        self.wait("the objects of member2 back", lambda: [
            line.split()[:2] for line in watch.log.read_text().splitlines()].count(["ADDED", "only-2"]) == 2)
        self.assertTrue(watch.alive())

    def test_without_its_storage_it_goes_on_with_what_it_has(self):
        direct = self.search.direct
        watch = self.background("search-watch-registries", [
            kubectl(), "--kubeconfig", self.host.kubeconfig, "get", "resourceregistries", "-w", "-o", "name"])
        self.wait_said(watch, "e2e-search")
        self.site.etcd.stop()
        try:
            message = self.error("GET", REGISTRIES, 503, direct)
            self.assertIn(self.site.etcd.url, message)
            self.error("POST", REGISTRIES, 503, direct, body=registry("refused", [("v1", "Pod")]))
            self.wait("not ready", lambda: "etcd-readiness" in self.error("GET", "/readyz", 500, direct))
            direct.request("GET", "/livez")
            for path in (f"{REGISTRIES}?resourceVersion=0", f"{VIEW}{CONFIGMAPS}"):
                direct.request("GET", path)
            self.succeeds("annotate configmap only-1 during=outage --overwrite", server=direct.server)
        finally:
            self.site.etcd.start()
        self.search.wait_ready()
        self.site.wait_served()
        self.host.create(REGISTRIES, registry("after-outage", [("v1", "Pod")]))
        self.addCleanup(self.host.delete, f"{REGISTRIES}/after-outage")
        self.wait_said(watch, "after-outage")
        self.assertIsNotNone(self.host.find(f"{REGISTRIES}/e2e-search"))

    def test_a_new_certificate_is_taken_over(self):
        def served():
            return ssl.get_server_certificate(("127.0.0.1", self.search.port))
        before = served()
        self.site.make_certificate()
        self.wait("the new certificate", lambda: served() != before, 60)
        self.assertIn("e2e-search", self.host.kubectl("get", "resourceregistries", "-o", "name"))

    def test_replicas_serve_the_same(self):
        other = self.replica("search-other")
        other.direct.create(REGISTRIES, registry("replicated", [("v1", "Pod")]))
        self.addCleanup(self.host.delete, f"{REGISTRIES}/replicated")
        self.assertEqual(other.direct.get(f"{REGISTRIES}/replicated"), self.host.get(f"{REGISTRIES}/replicated"))
        # A watch that one has begun goes on at the other.
        version = self.host.get(f"{PROXY}{CONFIGMAPS}")["metadata"]["resourceVersion"]
        self.put("member2", configmap("between-replicas", k="v"))
        events = self.events(other.direct, version)
        self.assertEqual(next(events), ("ADDED", "between-replicas"))

    def test_the_end_of_a_service_is_no_failure_of_its_clients(self):
        leaving = self.replica("search-leaving")
        watch = self.watch("search-watch-leaving", server=leaving.direct.server)
        session = self.background("search-exec-leaving", self.words(
            f"exec {self.pod(1)} -- sh -c echo\\ begun;exec\\ sleep\\ 120", server=leaving.direct.server))
        self.wait_said(session, "begun")
        self.assertEqual(leaving.stop(timeout=30), 0, leaving.process.tail())
        self.assertEqual(watch.wait(10), 0, watch.tail())
        self.assertNotEqual(session.wait(10), None)
        self.assertNotIn("rror", watch.log.read_text())
