"""`karmada-lens serve` behind the control plane's API server: the page as a user of the control plane sees it."""

import http.client
import json
import ssl
import urllib.request

import yaml

from rig import paths, suite
from rig.kube import ApiError, Kube
from rig.process import free_port, wait_until
from rig.search_case import NAMESPACE, SearchCase
from rig.suite import DaemonCase

USER = "system:karmada:karmada-lens"
GROUP = "/apis/lens.karmada.io/v1alpha1"
PAGE = GROUP + "/pages/fleet/proxy"
VIEWER, BLIND, NOBODY = "e2e-page-viewer", "e2e-page-blind", "e2e-page-nobody"
_API_SERVICE = "/apis/apiregistration.k8s.io/v1/apiservices/v1alpha1.lens.karmada.io"


class SharedPage:
    """A karmada-lens behind the API server; one user who may see the page and read everything, one who may see the page
    alone, and one who may do neither."""

    def __init__(self, plane):
        self.plane, self.host, self.port = plane, plane.host, free_port()
        pki = plane.pki
        pki.certificate("karmada-lens", "karmada-lens", names=[
            "IP:127.0.0.1", "DNS:localhost", "DNS:karmada-lens.karmada-system.svc"])
        self.users = {name: Kube(plane.user(name, name, group=None), suite.kubectl()) for name in (VIEWER, BLIND, NOBODY)}
        self.host.apply((paths.LENS_MANIFESTS / "rbac.yaml").read_text())
        self._let_in()
        self.process = plane.start("karmada-lens", [
            paths.LENS, "serve", "--behind-api-server", f"--listen=127.0.0.1:{self.port}",
            f"--kubeconfig={plane.user('karmada-lens-user', USER, group=None)}",
            f"--tls-cert-file={pki.crt('karmada-lens')}", f"--tls-private-key-file={pki.key('karmada-lens')}"])
        wait_until("karmada-lens listens", self._is_ready, 60)
        self._register()
        wait_until("lens.karmada.io behind the control plane", lambda: self.host.request("GET", GROUP), 60)

    def close(self):
        self.process.stop()
        self.host.delete(_API_SERVICE)
        self.host.delete("/api/v1/namespaces/karmada-system/services/karmada-lens")
        for file in ("rbac.yaml", "viewer.yaml"):
            self.host.kubectl("delete", "--ignore-not-found", "-f", paths.LENS_MANIFESTS / file)
        self.host.kubectl("delete", "--ignore-not-found", "clusterrole,clusterrolebinding", "e2e-page-reader")

    def _is_ready(self):
        self.process.check_alive()
        return self.ask(None, "/readyz").status == 200

    def ask(self, certificate, path, **headers):
        """The answer to a request to the port itself, over a connection with this certificate of the rig's, or none."""
        context = ssl.create_default_context(cafile=self.plane.pki.crt("ca"))
        if certificate:
            context.load_cert_chain(self.plane.pki.crt(certificate), self.plane.pki.key(certificate))
        connection = http.client.HTTPSConnection(f"127.0.0.1:{self.port}", context=context, timeout=30)
        connection.request("GET", path, headers=headers)
        answer = connection.getresponse()
        answer.text = answer.read().decode()
        connection.close()
        return answer

    def _let_in(self):
        def bind(name, role, *users):
            return {"apiVersion": "rbac.authorization.k8s.io/v1", "kind": "ClusterRoleBinding", "metadata": {"name": name},
                    "roleRef": {"apiGroup": "rbac.authorization.k8s.io", "kind": "ClusterRole", "name": role},
                    "subjects": [{"apiGroup": "rbac.authorization.k8s.io", "kind": "User", "name": user} for user in users]}
        role, _ = yaml.safe_load_all((paths.LENS_MANIFESTS / "viewer.yaml").read_text())
        reader = {"apiVersion": "rbac.authorization.k8s.io/v1", "kind": "ClusterRole", "metadata": {"name": "e2e-page-reader"},
                  "rules": [{"apiGroups": ["*"], "resources": ["*"], "verbs": ["get", "list"]}]}
        self.host.apply([role, bind("lens-page", "lens-page", VIEWER, BLIND), reader,
                         bind("e2e-page-reader", "e2e-page-reader", VIEWER)])

    def _register(self):
        text = (paths.LENS_MANIFESTS / "apiservice.yaml").read_text().replace("{{address}}", "localhost")
        service, registration = yaml.safe_load_all(text.replace("{{caBundle}}", self.plane.pki.base64(self.plane.pki.crt("ca"))))
        registration["spec"]["service"]["port"] = self.port
        self.host.apply([service, registration])


class ServeTest(DaemonCase):
    @classmethod
    def setUpClass(cls):
        suite.require_binary(paths.LENS)
        super().setUpClass()
        cls.page = suite.shared("page", lambda: SharedPage(cls.plane))

    def refusal(self, user, path):
        with self.assertRaises(ApiError) as caught:
            self.page.users[user].request("GET", PAGE + path)
        return caught.exception

    def test_each_user_sees_what_their_roles_let_them(self):
        viewer = self.page.users[VIEWER]
        self.assertEqual(viewer.request("GET", f"{PAGE}/api/about")["mode"], "users")
        clusters = viewer.request("GET", f"{PAGE}/api/clusters")
        self.assertEqual([one["name"] for one in clusters["clusters"]], sorted(self.plane.members))
        self.assertEqual(clusters["unread"], [])
        self.assertIn("headline", viewer.request("GET", f"{PAGE}/api/fleet"))
        # What the viewer has read is not shown to another one.
        for question in ("clusters", "fleet"):
            refused = self.refusal(BLIND, f"/api/{question}")
            self.assertIn(BLIND, str(refused))
            self.assertIn("cannot list", str(refused))
        refused = self.refusal(NOBODY, "/api/about")
        self.assertEqual(refused.code, 403)
        self.assertIn(NOBODY, str(refused))
        self.assertIn("pages/proxy", str(refused))

    def test_the_page_and_its_live_updates_pass_kubectl_proxy(self):
        port = free_port()
        proxy = self.plane.start("page-proxy", [
            suite.kubectl(), "--kubeconfig", self.page.users[VIEWER].kubeconfig, "proxy", f"--port={port}"])
        self.addCleanup(proxy.stop)
        base = f"http://127.0.0.1:{port}{PAGE}"

        def read(path):
            with urllib.request.urlopen(base + path, timeout=30) as answer:
                return answer.headers, answer.read().decode()
        headers, html = wait_until("kubectl proxy", lambda: read("/"), 30)
        self.assertIn("default-src 'none'", headers["Content-Security-Policy"])
        self.assertIn('src="main.js"', html)
        self.assertIn('href="#/clusters"', html)
        self.assertTrue(read("/main.js")[0]["Content-Type"].startswith("text/javascript"))
        self.assertIn("proxy/", read("")[1])
        with urllib.request.urlopen(f"{base}/api/updates", timeout=60) as updates:
            self.assertEqual(updates.headers["Content-Type"], "text/event-stream")
            lines = iter(updates.readline, b"")
            self.assertTrue(any(line == b"event: fleet\n" for line in lines))

    def test_it_is_an_api_as_others(self):
        self.assertIn("pages.lens.karmada.io", self.host.kubectl("api-resources", "--api-group=lens.karmada.io", "-o", "name"))
        conditions = self.host.get(_API_SERVICE)["status"]["conditions"]
        self.assertIn(("Available", "True"), [(one["type"], one["status"]) for one in conditions])
        self.wait("the OpenAPI document", lambda: "apis/lens.karmada.io/v1alpha1" in json.loads(
            self.host.kubectl("get", "--raw", "/openapi/v3"))["paths"])

    def test_nobody_but_the_api_server_says_who_looks(self):
        claims = {"X-Remote-User": VIEWER, "X-Remote-Group": "system:masters"}
        path = f"{PAGE}/api/clusters"
        self.assertEqual(self.page.ask(None, path, **claims).status, 403)
        # A certificate of the control plane's clients names its own user.
        answer = self.page.ask(BLIND, path, **claims)
        self.assertGreaterEqual(answer.status, 400)
        self.assertIn(BLIND, json.loads(answer.text)["error"]["message"])
        self.assertEqual(self.page.ask(NOBODY, path, **claims).status, 403)

    def test_its_own_rights_are_to_act_for_others_and_no_more(self):
        for words in ("list deployments", "get secrets", "list clusters.cluster.karmada.io"):
            answer = self.host.try_kubectl("auth", "can-i", *words.split(), "-A", "--as", USER)
            self.assertEqual(answer.stdout.strip(), "no", words)


class SearchedPageTest(SearchCase):
    """The page of a control plane with karmada-search."""

    @classmethod
    def setUpClass(cls):
        suite.require_binary(paths.LENS)
        super().setUpClass()
        cls.page = suite.shared("page", lambda: SharedPage(cls.plane))

    def search(self, query, user=VIEWER):
        return self.page.users[user].request("GET", f"{PAGE}/api/search?{query}")

    def places(self, query):
        """The clusters and names of what karmada-search has found: the page finds it in the discovery after a minute at most."""
        def found():
            answer = self.search(query)
            return answer if answer["via"] == "karmada-search" else None
        answer = self.wait(f"karmada-search answers {query}", found, 120)
        self.assertEqual(answer["unread"], [])
        self.assertEqual(answer["clustersAsked"], 0)
        return sorted((one["cluster"], one["name"]) for one in answer["items"])

    def test_searches_are_answered_by_karmada_search_where_a_registry_names_the_kind(self):
        of = f"namespace={NAMESPACE}"
        everywhere = sorted((member, f"web-{member.removeprefix('member')}") for member in self.plane.members)
        self.wait("all are cached", lambda: self.places(f"type=deployment&{of}") == everywhere, 60)
        self.assertEqual(self.places(f"type=deployment&{of}&cluster=member2"), [("member2", "web-2")])

        def pods():
            found = self.places(f"type=pod&{of}&owner=replicaset/web-1&image=nginx&labels=app%3Dweb-1")
            return [(cluster, name.split("-")[1]) for cluster, name in found]
        self.wait("both pods are cached", lambda: pods() == [("member1", "1")] * 2, 60)
        # What no registry names is looked for in the members, where the viewer has no rights.
        answer = self.search(f"type=service&{of}")
        self.assertEqual(answer["via"], "members")
        self.assertEqual(answer["clustersAsked"], len(self.plane.members))
        # The cache is read with the rights of who looks.
        with self.assertRaises(ApiError) as caught:
            self.search(f"type=deployment&{of}", user=BLIND)
        self.assertIn(BLIND, str(caught.exception))
