"""What the cases of karmada-search share: a running one, objects in members, a registry and users."""

import json

import yaml

from . import paths, suite
from .kube import ApiError, Kube
from .process import Process, run, wait_until
from .search import PROXY, REGISTRIES, SearchSite
from .suite import DaemonCase, deployment

NAMESPACE = "e2e-search"
SEARCHER, STRANGER = "e2e-searcher", "e2e-stranger"
RBAC = "/apis/rbac.authorization.k8s.io/v1"
_WHOLE_IDENTITY = "e2e-whole-identity"
_GROUP_OF_LIONS = "search.e2e.example.io"
LIONS = f"/apis/{_GROUP_OF_LIONS}/v1/namespaces/{NAMESPACE}/lions"
CONFIGMAPS = f"/api/v1/namespaces/{NAMESPACE}/configmaps"
PODS = f"/api/v1/namespaces/{NAMESPACE}/pods"


def _subject(kind, name):
    return {"apiGroup": "rbac.authorization.k8s.io", "kind": kind, "name": name}


# What the searcher may do in a cluster: everything in the namespace.
_EVERYTHING = [
    {"apiVersion": "rbac.authorization.k8s.io/v1", "kind": "Role",
     "metadata": {"namespace": NAMESPACE, "name": "e2e-searcher"},
     "rules": [{"apiGroups": ["*"], "resources": ["*"], "verbs": ["*"]}]},
    {"apiVersion": "rbac.authorization.k8s.io/v1", "kind": "RoleBinding",
     "metadata": {"namespace": NAMESPACE, "name": "e2e-searcher"}, "subjects": [_subject("User", SEARCHER)],
     "roleRef": {"apiGroup": "rbac.authorization.k8s.io", "kind": "Role", "name": "e2e-searcher"}}]


def registry(name, kinds, namespace=NAMESPACE, clusters=()):
    """A ResourceRegistry of (apiVersion, kind) pairs; a kind without namespaces is selected by (apiVersion, kind, "")."""
    selectors = [{"apiVersion": kind[0], "kind": kind[1], "namespace": kind[2] if len(kind) > 2 else namespace}
                 for kind in kinds]
    return {"apiVersion": "search.karmada.io/v1alpha1", "kind": "ResourceRegistry", "metadata": {"name": name},
            "spec": {"targetCluster": {"clusterNames": list(clusters)} if clusters else {},
                     "resourceSelectors": [{k: v for k, v in s.items() if v} for s in selectors]}}


def configmap(name, **data):
    return {"apiVersion": "v1", "kind": "ConfigMap", "metadata": {"namespace": NAMESPACE, "name": name}, "data": data}


def conditions(item):
    """The conditions of an object: type -> (status, message)."""
    return {c["type"]: (c["status"], c.get("message", "")) for c in item.get("status", {}).get("conditions", [])}


class SharedSearch:
    """Made once: deployment web-1 and ConfigMap only-1 in member1 and so on, ConfigMap `both` in all members, a Lion in
    each; a registry of them; a user who may do everything in the namespace, and a stranger who may use the proxy."""

    def __init__(self, plane):
        self.plane, self.host = plane, plane.host
        self.site = SearchSite(plane)
        self.process = self.site.start()
        self.users = {name: plane.user(name, name, group=None) for name in (SEARCHER, STRANGER)}
        self._make_namespace()
        for member in plane.members:
            self.fill(member)
        self._let_in()
        self._permit_whole_identity()
        self.process.wait_ready()
        self.site.wait_served()
        self.host.apply([registry("e2e-search", [
            ("v1", "Pod"), ("v1", "ConfigMap"), ("apps/v1", "Deployment"), ("apps/v1", "ReplicaSet"), ("v1", "Node", ""),
            (f"{_GROUP_OF_LIONS}/v1", "Lion")])])
        self.wait_synced("e2e-search")
        self._wait_impersonation()

    def close(self):
        for item in self.host.items(REGISTRIES):
            self.host.delete(f"{REGISTRIES}/{item['metadata']['name']}")
        self.site.close()
        for name in ("clusterroles", "clusterrolebindings"):
            self.host.delete(f"{RBAC}/{name}/search-members")
            self.plane.kube("member1").delete(f"{RBAC}/{name}/{_WHOLE_IDENTITY}")
        for cluster in ["host", *self.plane.members]:
            kube = self.plane.kube(cluster)
            kube.delete(f"/apis/apiextensions.k8s.io/v1/customresourcedefinitions/lions.{_GROUP_OF_LIONS}")
        self.host.delete(f"/api/v1/namespaces/{NAMESPACE}")
        for member in self.plane.members:
            self.plane.kube(member).delete(f"/api/v1/namespaces/{NAMESPACE}")

    def restart(self, exe=paths.SEARCH):
        """Starts another karmada-search in the place of the one that has ended."""
        self.process = self.site.start(exe)
        self.process.wait_ready()
        self.site.wait_served()

    def wait_synced(self, name, timeout=90):
        """Waits until a registry says that everything is cached."""
        def synced():
            present = conditions(self.host.get(f"{REGISTRIES}/{name}"))
            assert present.get("Synced", ("", ""))[0] == "True" == present["KindsResolved"][0], present
            return True
        wait_until(f"{name} synced", synced, timeout)

    def fill(self, member):
        """Makes the objects of a member, and the rights in its namespace, as soon as that has been propagated."""
        kube, number = self.plane.kube(member), member.removeprefix("member")

        def is_there():
            found = kube.find(f"/api/v1/namespaces/{NAMESPACE}")
            return found and found["status"]["phase"] == "Active"
        wait_until(f"the namespace in {member}", is_there, 60)
        lion = {"apiVersion": f"{_GROUP_OF_LIONS}/v1", "kind": "Lion", "spec": {"mane": "long"},
                "metadata": {"namespace": NAMESPACE, "name": f"lion-{number}"}}
        kube.apply([deployment(NAMESPACE, f"web-{number}"), configmap(f"only-{number}", k="v"),
                    configmap("both", member=number), lion, *_EVERYTHING])

    def _make_namespace(self):
        for cluster in ["host", *self.plane.members]:
            kube = self.plane.kube(cluster)
            kube.apply([_lions()])
            kube.wait_established(f"lions.{_GROUP_OF_LIONS}")
        self.host.apply([{"apiVersion": "v1", "kind": "Namespace", "metadata": {"name": NAMESPACE}}])

    def _let_in(self):
        """Lets the users, and a group, use the proxy and the view."""
        subjects = [_subject("User", name) for name in self.users] + [_subject("Group", "e2e-searchers")]
        role, binding = yaml.safe_load_all((paths.SEARCH_MANIFESTS / "caller.yaml").read_text())
        self.host.apply([role, {**binding, "subjects": subjects}, *_EVERYTHING])

    def _permit_whole_identity(self):
        """member1 lets karmada-search pass on uids and extras of callers, too: a role that no controller makes."""
        role = {"apiVersion": "rbac.authorization.k8s.io/v1", "kind": "ClusterRole", "metadata": {"name": _WHOLE_IDENTITY},
                "rules": [{"apiGroups": ["authentication.k8s.io"], "resources": ["*"], "verbs": ["impersonate"]}]}
        binding = {"apiVersion": "rbac.authorization.k8s.io/v1", "kind": "ClusterRoleBinding",
                   "metadata": {"name": _WHOLE_IDENTITY},
                   "roleRef": {"apiGroup": "rbac.authorization.k8s.io", "kind": "ClusterRole", "name": _WHOLE_IDENTITY},
                   "subjects": [{"kind": "ServiceAccount", "name": "karmada-impersonator", "namespace": "karmada-cluster"}]}
        self.plane.kube("member1").apply([role, binding])

    def _wait_impersonation(self):
        """The daemon lets karmada-search act for the users, in each member."""
        def permitted(member):
            role = self.plane.kube(member).find(f"{RBAC}/clusterroles/karmada-impersonator") or {}
            names = [name for rule in role.get("rules") or [] for name in rule.get("resourceNames", ())]
            return set(self.users) <= set(names)
        for member in self.plane.members:
            wait_until(f"impersonation in {member}", lambda member=member: permitted(member), 60)


def _lions():
    schema = {"type": "object", "x-kubernetes-preserve-unknown-fields": True}
    return {"apiVersion": "apiextensions.k8s.io/v1", "kind": "CustomResourceDefinition",
            "metadata": {"name": f"lions.{_GROUP_OF_LIONS}"},
            "spec": {"group": _GROUP_OF_LIONS, "scope": "Namespaced",
                     "names": {"kind": "Lion", "plural": "lions", "singular": "lion", "listKind": "LionList"},
                     "versions": [{"name": "v1", "served": True, "storage": True,
                                   "schema": {"openAPIV3Schema": schema},
                                   "additionalPrinterColumns": [
                                       {"name": "Mane", "type": "string", "jsonPath": ".spec.mane"}]}]}}


class SearchCase(DaemonCase):
    """Tests of the karmada-search that is behind the control plane's API server."""

    @classmethod
    def setUpClass(cls):
        suite.require_binary(paths.SEARCH)
        super().setUpClass()
        cls.shared = suite.shared("search", lambda: SharedSearch(cls.plane))
        cls.site = cls.shared.site

    @property
    def search(self):
        """The one that the control plane knows of."""
        return self.shared.process

    # ---- Clients ----------------------------------------------------------------------------------

    def words(self, words, user=SEARCHER, base=PROXY, server=None):
        """The command line of kubectl for all members, in the namespace of the objects."""
        words = words.split(" ") if isinstance(words, str) else list(words)
        return [suite.kubectl(), "--kubeconfig", self.shared.users[user],
                f"--server={server or self.host.server}{base}", "-n", NAMESPACE, *words]

    def kubectl(self, words, text=None, env=None, **whose):
        """kubectl's subprocess.CompletedProcess."""
        return run(self.words(words, **whose), text=text, timeout=60, env=env)

    def succeeds(self, words, text=None, env=None, **whose):
        """What kubectl printed on standard output."""
        done = self.kubectl(words, text, env, **whose)
        self.assertEqual(done.returncode, 0, f"{words}\n{done.stdout}{done.stderr}")
        return done.stdout

    def is_refused(self, words, *reasons, text=None, **whose):
        done = self.kubectl(words, text, **whose)
        self.assertNotEqual(done.returncode, 0, f"{words}\n{done.stdout}")
        for reason in reasons:
            self.assertIn(reason, done.stdout + done.stderr, words)

    def background(self, name, command, env=None):
        """A client that goes on until the test ends; its log begins empty."""
        log = self.plane.logs / f"{name}.log"
        log.unlink(missing_ok=True)
        process = Process(name, command, log, env)
        self.addCleanup(process.stop)
        return process

    def wait_said(self, process, text, timeout=20):
        self.wait(f"{text!r} from {process.name}", lambda: text in process.log.read_text(), timeout)

    def pod(self, number):
        """The name of a running pod of web-NUMBER."""
        def running():
            pods = self.plane.kube(f"member{number}").items(f"{PODS}?labelSelector=app%3Dweb-{number}")
            return next((p["metadata"]["name"] for p in pods if p.get("status", {}).get("phase") == "Running"
                         and "deletionTimestamp" not in p["metadata"]), None)
        return self.wait(f"a pod of web-{number}", running)

    # ---- Objects ----------------------------------------------------------------------------------

    def put(self, cluster, item):
        """Creates an object in a member that goes with the test."""
        kube, name = self.plane.kube(cluster), item["metadata"]["name"]
        kube.apply([item])
        self.addCleanup(kube.delete, f"{CONFIGMAPS}/{name}")
        self.wait(f"{name} in the cache", lambda: name in self.succeeds("get configmaps -o name"))

    def searcher(self):
        """A client of the control plane as the user who may do everything in the namespace."""
        return Kube(self.shared.users[SEARCHER], suite.kubectl())

    def events(self, kube, version):
        """(type, name) of what a watch of the ConfigMaps reports that goes on at a version."""
        for line, _ in kube.stream(f"{PROXY}{CONFIGMAPS}?watch=true&resourceVersion={version}&timeoutSeconds=30"):
            event = json.loads(line)
            yield event["type"], event["object"].get("metadata", {}).get("name", event["object"])

    def error(self, method, path, code, kube=None, **more):
        """The message of an answer that has to be this error."""
        with self.assertRaises(ApiError) as caught:
            (kube or self.host).request(method, path, **more)
        self.assertEqual(caught.exception.code, code, str(caught.exception))
        return str(caught.exception)
