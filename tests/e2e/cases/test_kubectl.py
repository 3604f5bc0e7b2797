"""Everyday kubectl against karmada-sandbox, and the same against real API servers: one table of words and
answers, so that the sandbox cannot answer what a real server would not."""

import json
import re
import unittest

from rig import paths, suite
from rig.process import Process, run, wait_until
from rig.sandbox import Sandbox

DEPLOYMENT = json.dumps(suite.deployment("default", "web", replicas=2, labels={"tier": "front"}))
CONFIGMAP = """\
apiVersion: v1
kind: ConfigMap
metadata: {name: settings}
data: {color: blue}
"""
MOVED = CONFIGMAP.replace("settings", "moved").replace("blue", "blue, size: small")
POLICY = """\
apiVersion: policy.karmada.io/v1alpha1
kind: PropagationPolicy
metadata: {name: web}
spec:
  resourceSelectors: [{apiVersion: apps/v1, kind: Deployment, namespace: default, name: web}]
  placement: {clusterAffinity: {clusterNames: [member1]}}
"""

# (words, standard input, exit code, pattern the whole output has to match), one after the other, against a
# member, where workloads run.
IN_A_MEMBER = [
    ("version", None, 0, r"Client Version: .*\nKustomize Version: .*\nServer Version: v1\..*\n"),
    ("get namespaces -o name", None, 0, r"(namespace/.*\n)*namespace/default\n(namespace/.*\n)*"),
    ("get pods", None, 0, r"No resources found in default namespace\.\n"),
    ("get pod nobody", None, 1, r'Error from server \(NotFound\): pods "nobody" not found\n'),
    ("get nonsense", None, 1, r'error: the server doesn\'t have a resource type "nonsense"\n'),
    ("apply -f -", DEPLOYMENT, 0, r"deployment\.apps/web created\n"),
    ("apply -f -", DEPLOYMENT, 0, r"deployment\.apps/web unchanged\n"),
    ("create -f -", DEPLOYMENT, 1, r'Error from server \(AlreadyExists\): .*deployments\.apps "web" already exists\n'),
    ("rollout status deployment/web --timeout=30s", None, 0, r'(Waiting for .*\n)*deployment "web" successfully rolled out\n'),
    ("wait deployment/web --for=condition=Available --timeout=30s", None, 0, r"deployment\.apps/web condition met\n"),
    ("get deployments", None, 0, r"NAME +READY +UP-TO-DATE +AVAILABLE +AGE\nweb +2/2 +2 +2 +\d+s\n"),
    ("get deploy web -o wide", None, 0,
     r"NAME +READY +UP-TO-DATE +AVAILABLE +AGE +CONTAINERS +IMAGES +SELECTOR\nweb +2/2 .* main +nginx:1\.25 +app=web\n"),
    ("get pods -l app=web --no-headers", None, 0, r"(web-\S+-\S+ +1/1 +Running +0 +\d+s\n){2}"),
    ("get pods -l app!=web", None, 0, r"No resources found in default namespace\.\n"),
    ("get pods --field-selector=status.phase=Pending -o name", None, 0, r""),
    ("get deployment web -o jsonpath={.status.readyReplicas}", None, 0, r"2"),
    ("get deployment web -o name", None, 0, r"deployment\.apps/web\n"),
    ("get deployment web -o custom-columns=N:.metadata.name,R:.spec.replicas", None, 0, r"N +R\nweb +2\n"),
    ("get all -o name", None, 0, r"(?=(.*\n)*deployment\.apps/web\n)(.*\n)+"),
    ("scale deployment web --replicas=3", None, 0, r"deployment\.apps/web scaled\n"),
    ("scale deployment web --replicas=5 --current-replicas=9", None, 1, r"error: .*Expected replicas to be 9, was 3\n"),
    ("label deployment web tier=back", None, 1, r"error: .*already has a value \(front\), and --overwrite is false\n"),
    ("label deployment web tier=back --overwrite", None, 0, r"deployment\.apps/web labeled\n"),
    ("label deployment web tier-", None, 0, r"deployment\.apps/web unlabeled\n"),
    ("annotate deployment web note=hello", None, 0, r"deployment\.apps/web annotated\n"),
    ('patch deployment web --type=merge -p {"spec":{"minReadySeconds":1}}', None, 0, r"deployment\.apps/web patched\n"),
    # A status that is written meanwhile would count as a change.
    ("rollout status deployment web --timeout=60s", None, 0, r"[\s\S]*successfully rolled out\n"),
    ('patch deployment web --type=merge -p {"spec":{"minReadySeconds":1}}', None, 0,
     r"deployment\.apps/web patched \(no change\)\n"),
    ('patch deployment web --type=json -p [{"op":"replace","path":"/spec/replicas","value":1}]', None, 0,
     r"deployment\.apps/web patched\n"),
    ('patch deployment web --type=json -p [{"op":"test","path":"/spec/replicas","value":7}]', None, 1,
     r"The request is invalid.*\n"),
    ('patch deployment web -p {"spec":{"template":{"spec":{"containers":[{"name":"main","image":"nginx:1.26"}]}}}}',
     None, 0, r"deployment\.apps/web patched\n"),
    ("get deployment web -o jsonpath={.spec.template.spec.containers[*].image}", None, 0, r"nginx:1\.26"),
    ("set image deployment/web main=nginx:1.27", None, 0, r"deployment\.apps/web image updated\n"),
    ("rollout status deployment/web --timeout=30s", None, 0, r'(Waiting for .*\n)*deployment "web" successfully rolled out\n'),
    ("apply --server-side --field-manager=x -f -", CONFIGMAP, 0, r"configmap/settings serverside-applied\n"),
    ("create configmap more --from-literal=a=b --dry-run=server", None, 0, r"configmap/more created \(server dry run\)\n"),
    ("get configmap more", None, 1, r"Error from server \(NotFound\): .*\n"),
    ("get configmap settings -o yaml", None, 0, r"apiVersion: v1\ndata:\n  color: blue\nkind: ConfigMap\nmetadata:\n(  .*\n)+"),
    ("diff -f -", CONFIGMAP, 0, r""),
    ("delete configmap settings", None, 0, r'configmap "settings" deleted.*\n'),
    ("create namespace extra", None, 0, r"namespace/extra created\n"),
    ("delete namespace extra --timeout=20s", None, 0, r'namespace "extra" deleted\n'),
    ("delete deployment web --wait --timeout=20s", None, 0, r'deployment\.apps "web" deleted.*\n'),
    ("wait pod -l app=web --for=delete --timeout=20s", None, 0, r"(pod/.* condition met\n)*"),
    ("get events -o name", None, 0, r"(event/.*\n)*"),
    ("explain deployment.spec.replicas", None, 0, r"GROUP: +apps\nKIND: +Deployment\n[\s\S]*FIELD: replicas <integer>[\s\S]*"),
    ("auth can-i create deployments", None, 0, r"yes\n"),
]

# The same for who owns fields, of which karmada-search's view of all members shows nothing.
OWNERS_IN_A_MEMBER = [
    ("apply --server-side --field-manager=x -f -", CONFIGMAP, 0, r"configmap/settings serverside-applied\n"),
    ("get configmap settings -o yaml --show-managed-fields", None, 0,
     r"[\s\S]*  managedFields:\n  - apiVersion: v1\n    fieldsType: FieldsV1\n    fieldsV1:\n      f:data:\n        f:color: \{\}\n"
     r"    manager: x\n    operation: Apply\n    time: .*\n[\s\S]*"),
    ("apply --server-side --field-manager=y -f -", CONFIGMAP.replace("blue", "red"), 1,
     r'error: Apply failed with 1 conflict: conflict with "x": \.data\.color\nPlease review[\s\S]*'),
    ("apply --server-side --field-manager=y --force-conflicts -f -", CONFIGMAP.replace("blue", "red"), 0,
     r"configmap/settings serverside-applied\n"),
    ("diff --server-side --field-manager=y -f -", CONFIGMAP.replace("blue", "green"), 1,
     r"[\s\S]*\n-  color: red\n\+  color: green\n[\s\S]*"),
    ("apply --server-side --field-manager=y --dry-run=server -f -", CONFIGMAP.replace("blue", "green"), 0,
     r"configmap/settings serverside-applied \(server dry run\)\n"),
    ("get configmap settings -o jsonpath={.data.color}", None, 0, r"red"),
    # From client-side to server-side apply: what the former had set is removed when it is not applied any more.
    ("apply -f -", MOVED, 0, r"configmap/moved created\n"),
    ("apply --server-side -f -", MOVED, 0, r"configmap/moved serverside-applied\n"),
    ("get configmap moved --show-managed-fields -o jsonpath={.metadata.managedFields[*].manager}", None, 0,
     r"kubectl kubectl-last-applied"),
    ("apply --server-side -f -", MOVED.replace(", size: small", ""), 0, r"configmap/moved serverside-applied\n"),
    ("get configmap moved -o jsonpath={.data}", None, 0, r'\{"color":"blue"\}'),
    ("delete configmap moved", None, 0, r'configmap "moved" deleted.*\n'),
    ("delete configmap settings", None, 0, r'configmap "settings" deleted.*\n'),
]

# The same against the control plane.
IN_THE_CONTROL_PLANE = [
    ("get clusters", None, 0, r"NAME +VERSION +MODE +READY +AGE\nmember1 +.*\nmember2 +.*\n"),
    ("api-resources --api-group=policy.karmada.io --no-headers", None, 0,
     r"(?=(.*\n)*propagationpolicies +pp +policy\.karmada\.io/v1alpha1 +true +PropagationPolicy\n)(.*\n)+"),
    ("api-resources --api-group=work.karmada.io -o name", None, 0,
     r"clusterresourcebindings\.work\.karmada\.io\nresourcebindings\.work\.karmada\.io\nworks\.work\.karmada\.io\n"),
    ("apply -f -", POLICY, 0, r"propagationpolicy\.policy\.karmada\.io/web created\n"),
    ("apply -f -", POLICY, 0, r"propagationpolicy\.policy\.karmada\.io/web unchanged\n"),
    ("get pp", None, 0, r"NAME +CONFLICT-RESOLUTION +PRIORITY +AGE\nweb +Abort +0 +\d+s\n"),
    ("get pp web -o jsonpath={.spec.preemption}", None, 0, r"Never"),
    ("apply -f -", POLICY.replace("name: web", "name: bad", 1).replace("placement:", "preemption: Perhaps\n  placement:"),
     1, r'[\s\S]*Unsupported value: "Perhaps"[\s\S]*'),
    ("apply -f -", DEPLOYMENT, 0, r"deployment\.apps/web created\n"),
    ("get deployment web", None, 0, r"NAME +READY +UP-TO-DATE +AVAILABLE +AGE\nweb +0/2 +0 +0 +\d+s\n"),
    ("delete -f -", DEPLOYMENT, 0, r'deployment\.apps "web" deleted.*\n'),
]


class Tables:
    """The tests; kubeconfig(cluster) says where a cluster is."""

    maxDiff = 4000
    control_plane = "host"

    def kubeconfig(self, cluster):
        raise NotImplementedError

    def kubectl(self, cluster, words, text=None):
        return run([suite.kubectl(), "--kubeconfig", self.kubeconfig(cluster), *words], text=text, timeout=60)

    def check(self, cluster, table):
        for words, text, code, pattern in table:
            with self.subTest(words):
                done = self.kubectl(cluster, words.split(" "), text)
                said = done.stdout + done.stderr
                self.assertEqual(done.returncode, code, said)
                self.assertRegex(said, re.compile(rf"\A(?:{pattern})\Z"))

    def test_everyday_commands_in_a_member(self):
        self.check("member1", IN_A_MEMBER)

    def test_owners_of_fields_in_a_member(self):
        self.check("member1", OWNERS_IN_A_MEMBER)

    def test_everyday_commands_in_the_control_plane(self):
        self.check(self.control_plane, IN_THE_CONTROL_PLANE)
        self.kubectl(self.control_plane, ["delete", "pp", "web", "--wait=false"])

    def test_get_watch_shows_changes_as_they_happen(self):
        log = paths.BUILD / "e2e" / "logs" / f"kubectl-watch-{type(self).__name__}.log"
        log.unlink(missing_ok=True)
        self.kubectl("member2", ["create", "configmap", "before"])
        self.addCleanup(self.kubectl, "member2", ["delete", "configmap", "before"])
        watch = Process("kubectl-watch", [
            suite.kubectl(), "--kubeconfig", self.kubeconfig("member2"), "get", "configmaps", "-w",
            "--no-headers", "--output-watch-events"], log)
        self.addCleanup(watch.stop)
        wait_until("the list that the watch goes on from", lambda: "before" in log.read_text())
        for words in ("create configmap seen", "label configmap seen a=b", "delete configmap seen"):
            self.kubectl("member2", words.split(" "))
        want = [["ADDED", "seen", "0"], ["MODIFIED", "seen", "0"], ["DELETED", "seen", "0"]]
        self.assertTrue(watch.alive())

        def seen():
            lines = [line.split()[:3] for line in log.read_text().splitlines()]
            self.assertEqual([words for words in lines if "seen" in words], want)
            return True
        wait_until("the events", seen, 10)


class KubectlSandboxTest(Tables, unittest.TestCase):
    control_plane = "karmada"

    @classmethod
    def setUpClass(cls):
        suite.require_binary(paths.SANDBOX)
        cls.sandbox = cls.enterClassContext(Sandbox(paths.BUILD / "e2e" / "logs", "kubectl-sandbox", with_manager=False))

    def kubeconfig(self, cluster):
        return self.sandbox.kubeconfig(cluster)


class KubectlRealServersTest(Tables, suite.PlaneCase):
    def kubeconfig(self, cluster):
        return self.plane.kubeconfigs[cluster]
