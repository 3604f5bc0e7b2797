"""One cluster of the global proxy, and the others when one cannot be read: what plain kubectl can do then."""

import json

from rig.process import free_port
from rig.search import PROXY, REGISTRIES
from rig.search_case import CONFIGMAPS, NAMESPACE, RBAC, SEARCHER, SearchCase, configmap, registry

ONE = "e2e-one-cluster"


def proxy(cluster):
    """The proxy of one cluster."""
    return PROXY.replace("/karmada/", f"/{cluster}/")


def secret(namespace, name):
    return {"apiVersion": "v1", "kind": "Secret", "metadata": {"namespace": namespace, "name": name},
            "stringData": {"password": f"of-{name}"}}


class SearchClustersTest(SearchCase):
    def replica(self, name, flags=(), ready=True):
        """One more karmada-search, that knows nothing yet; it ends with the test."""
        search = self.site.start(name=name, port=free_port(), flags=flags)
        self.addCleanup(search.process.kill)
        if ready:
            search.wait_ready()
        return search

    def kill(self, member):
        """Ends the member's API server; it is back, and followed again, at the end of the test."""
        self.addCleanup(self.wait, "no warning", lambda: not self.kubectl("get configmaps -o name").stderr, 60)
        self.addCleanup(self.plane.wait_members_ready)
        self.addCleanup(self.plane.start_apiserver, member)
        self.plane.apiserver(member).kill()

    def test_a_member_that_was_never_read_stops_no_change_or_session_of_the_others(self):
        pod = self.pod(1)
        self.plane.kube("member1").apply([configmap("to-delete", k="v")])
        self.kill("member2")
        there = {"server": self.replica("search-began-without-member2").direct.server}
        self.wait("the objects of member1", lambda: "only-1" in self.succeeds("get configmaps -o name", **there))
        for words in ("annotate configmap only-1 member2=away --overwrite", f"exec {pod} -- true", f"logs {pod}",
                      "scale deployment web-1 --replicas=1", "delete configmap to-delete"):
            with self.subTest(words):
                done = self.kubectl(words, **there)
                self.assertEqual(done.returncode, 0, done.stderr)
                if not words.startswith("exec"):
                    self.assertRegex(done.stderr, "Warning: cluster member2 (has not been read|is missing)")
        self.assertIsNone(self.plane.kube("member1").find(f"{CONFIGMAPS}/to-delete"))

    def test_what_is_not_selected_any_more_cannot_be_read_while_its_member_is_away(self):
        narrowed = registry("e2e-narrowed", [("v1", "Secret"), ("v1", "Secret", "default")])
        self.plane.kube("member2").apply([secret("default", "left-out"), secret(NAMESPACE, "kept")])
        self.addCleanup(self.plane.kube("member2").delete, "/api/v1/namespaces/default/secrets/left-out")
        self.addCleanup(self.plane.kube("member2").delete, f"/api/v1/namespaces/{NAMESPACE}/secrets/kept")
        self.host.apply([narrowed])
        self.addCleanup(self.host.delete, f"{REGISTRIES}/e2e-narrowed")
        self.shared.wait_synced("e2e-narrowed")
        self.assertIn("left-out", self.succeeds("get secrets -A -o name"))
        self.kill("member2")
        self.wait("the warning", lambda: "member2" in self.kubectl("get secrets -A -o name").stderr)
        self.host.apply([registry("e2e-narrowed", [("v1", "Secret")])])
        self.wait("the namespace gone", lambda: "left-out" not in self.succeeds("get secrets -A -o name"))
        self.assertIn("kept", self.succeeds("get secrets -A -o name"))
        self.is_refused("get secret left-out -n default", "not found")
        view = PROXY.replace("proxying/karmada/proxy", "search/cache")
        shown = self.succeeds(["get", "--raw", f"{view}/api/v1/secrets"], base="")
        self.assertNotIn("left-out", shown)
        self.assertIn("kept", shown)

    def test_a_complete_answer_is_given_or_refused(self):
        self.kill("member2")
        strict = self.replica("search-complete", ["--require-complete-answers"])
        there = {"server": strict.direct.server}
        self.is_refused("get configmaps", "(ServiceUnavailable)", "a complete answer was demanded", "member2", **there)
        self.is_refused("annotate configmap only-1 strict=yes --overwrite", "(ServiceUnavailable)", "member2", **there)
        self.assertIn("only-1", self.succeeds("get configmaps -o name", base=proxy("member1"), **there))
        raw = f"{CONFIGMAPS}?requireComplete=false"
        names = [item["metadata"]["name"] for item in json.loads(self.succeeds(["get", "--raw", PROXY + raw], base="", **there))["items"]]
        self.assertIn("only-1", names)

    def test_one_cluster_is_a_server_for_plain_kubectl(self):
        there = {"base": proxy("member2")}
        self.is_refused("get configmap both", "proxying/<cluster>/proxy")
        self.assertIn("member2", self.succeeds("get configmap both", **there))
        listed = self.succeeds("get configmaps -o name", **there)
        self.assertIn("only-2", listed)
        self.assertNotIn("only-1", listed)
        self.succeeds("annotate configmap both seen=there --overwrite", **there)
        both = [self.plane.kube(m).get(f"{CONFIGMAPS}/both")["metadata"].get("annotations", {}) for m in ("member1", "member2")]
        self.assertEqual(["seen" in annotations for annotations in both], [False, True])
        self.succeeds(f"exec {self.pod(2)} -- true", **there)
        self.succeeds("create configmap made-there --from-literal=a=b", **there)
        self.addCleanup(self.plane.kube("member2").delete, f"{CONFIGMAPS}/made-there")
        self.assertIsNotNone(self.plane.kube("member2").find(f"{CONFIGMAPS}/made-there"))
        self.assertIsNone(self.plane.kube("member1").find(f"{CONFIGMAPS}/made-there"))
        self.wait("the new one in the cache", lambda: "made-there" in self.succeeds("get configmaps -o name", **there))
        self.succeeds("apply -f -", text=json.dumps(configmap("made-there", a="changed")), **there)
        self.succeeds("delete configmap made-there", **there)
        # Nothing of it reaches the control plane, which has Secrets and no registry for them.
        self.is_refused("get secrets", "no ResourceRegistry selects secrets", "clusters/member2/proxy", **there)
        self.is_refused("create secret generic none", "no ResourceRegistry selects secrets", **there)

    def test_clusters_are_selected_by_a_field_or_a_label(self):
        label = "resource.karmada.io/cached-from-cluster"
        for selector in ("--field-selector=cluster=member2", "--field-selector=cluster!=member1", f"-l={label}=member2"):
            with self.subTest(selector):
                listed = self.succeeds(f"get configmaps -o name {selector}")
                self.assertIn("only-2", listed)
                self.assertNotIn("only-1", listed)
        self.assertIn("only-1", self.succeeds(["get", "configmaps", "-o", "name", "-l", f"{label} notin (member2)"]))
        watch = self.background("search-watch-selected", self.words(
            "get configmaps -w --no-headers --output-watch-events --field-selector=cluster!=member1"))
        self.wait_said(watch, "only-2")
        self.put("member1", configmap("of-member1", k="v"))
        self.put("member2", configmap("of-member2", k="v"))
        self.wait_said(watch, "of-member2")
        self.assertNotIn("of-member1", watch.log.read_text())

    def test_rights_to_one_cluster_lead_to_no_other(self):
        self.shared.users[ONE] = self.plane.user(ONE, ONE, group=None)
        self.addCleanup(self.shared.users.pop, ONE)
        role = {"apiVersion": "rbac.authorization.k8s.io/v1", "kind": "ClusterRole", "metadata": {"name": ONE},
                "rules": [{"apiGroups": ["search.karmada.io"], "resources": ["proxying/proxy"], "resourceNames": ["member1"],
                           "verbs": ["*"]}]}
        binding = {"apiVersion": "rbac.authorization.k8s.io/v1", "kind": "ClusterRoleBinding", "metadata": {"name": ONE},
                   "roleRef": {"apiGroup": "rbac.authorization.k8s.io", "kind": "ClusterRole", "name": ONE},
                   "subjects": [{"apiGroup": "rbac.authorization.k8s.io", "kind": "User", "name": ONE}]}
        self.host.apply([role, binding])
        for kind in ("clusterroles", "clusterrolebindings"):
            self.addCleanup(self.host.delete, f"{RBAC}/{kind}/{ONE}")
        for server in (self.host.server, self.search.direct.server):
            with self.subTest(server):
                one = {"user": ONE, "server": server}
                listed = self.wait("the right", lambda one=one: self._listed(proxy("member1"), one))
                self.assertIn("only-1", listed)
                self.assertNotIn("only-2", listed)
                refusal = f'User "{ONE}" cannot get resource "proxying/proxy"'
                for base in (PROXY, proxy("member2"), proxy("other"), proxy("*")):
                    self.is_refused(["get", "--raw", base + CONFIGMAPS], refusal, base="", **one)
                member1 = proxy("member1")
                for path in (f"{member1}{CONFIGMAPS}?cluster=member2", f"{member1}{PROXY}{CONFIGMAPS}",
                             f"{member1}/../../member2/proxy{CONFIGMAPS}", f"{member1}{proxy('member2')}{CONFIGMAPS}"):
                    self.is_refused(["get", "--raw", path], base="", **one)
                # The member does not know him: rights there are the member's.
                self.is_refused("delete configmap only-1", "orbidden", base=member1, **one)

    def _listed(self, base, whose):
        done = self.kubectl("get configmaps -o name", base=base, **whose)
        return done.stdout if done.returncode == 0 else None
