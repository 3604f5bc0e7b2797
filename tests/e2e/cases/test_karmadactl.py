"""What upstream's karmadactl does on a sandbox, and how it fails at what a sandbox cannot do (no servers of Kubernetes)."""

import unittest

from rig import paths, suite
from rig.process import run, wait_until
from rig.sandbox import Sandbox

_LOGS = paths.BUILD / "e2e" / "logs"
_DEPLOYMENT = {"apiVersion": "apps/v1", "kind": "Deployment", "spec": {
    "replicas": 1, "selector": {"matchLabels": {"app": "web"}}, "template": {
        "metadata": {"labels": {"app": "web"}}, "spec": {"containers": [{"name": "main", "image": "nginx:1.25"}]}}}}
_POLICY = {"apiVersion": "policy.karmada.io/v1alpha1", "kind": "PropagationPolicy", "metadata": {"name": "web"}, "spec": {
    "resourceSelectors": [{"apiVersion": "apps/v1", "kind": "Deployment", "name": "web"}],
    "placement": {"clusterAffinity": {"clusterNames": list(Sandbox.members)}}}}
_DEPLOYMENTS = "/apis/apps/v1/namespaces/default/deployments"
_PODS = "/api/v1/namespaces/default/pods"
_CLUSTERS = "/apis/cluster.karmada.io/v1alpha1/clusters"


def _deployment(name):
    return {**_DEPLOYMENT, "metadata": {"name": name}}


class KarmadactlTest(unittest.TestCase):
    needs_plane = False
    maxDiff = 4000

    @classmethod
    def setUpClass(cls):
        suite.require_binary(paths.SANDBOX)
        suite.require_binary(paths.DAEMON)
        cls.site = cls.enterClassContext(Sandbox(_LOGS))
        cls.host, cls.member = cls.site.kube(), cls.site.kube("member1")
        cls.host.create(_DEPLOYMENTS, _deployment("web"))
        cls.host.create("/apis/policy.karmada.io/v1alpha1/namespaces/default/propagationpolicies", _POLICY)
        cls.member.create(_DEPLOYMENTS, _deployment("old"))

        def running():
            pods = [pod for member in cls.site.members for pod in cls.site.kube(member).items(_PODS)]
            return len(pods) == 3 and all(pod.get("status", {}).get("phase") == "Running" for pod in pods)
        wait_until("the pods run", running, 60)
        cls.pod = next(pod["metadata"]["name"] for pod in cls.member.items(_PODS)
                       if pod["metadata"]["name"].startswith("web-"))

    def karmadactl(self, *words, code=0, timeout=120):
        done = run([suite.testbed_exe("karmadactl"), "--kubeconfig", self.site.kubeconfig(), *words], timeout=timeout)
        said = done.stdout + done.stderr
        self.assertEqual(done.returncode, code, f"{words}\n{said}")
        return said

    def test_members_are_listed_with_the_control_plane(self):
        said = self.karmadactl("get", "deployments", "--operation-scope", "all")
        rows = sorted(tuple(line.split()[:2]) for line in said.splitlines()[1:])
        self.assertEqual(rows, [("old", "member1"), ("web", "Karmada"), ("web", "member1"), ("web", "member2")], said)

    def test_a_log_says_that_it_is_simulated(self):
        said = self.karmadactl("logs", self.pod, "-C", "member1")
        self.assertIn("This is not a log of the container main", said)

    def test_a_command_in_a_container_is_refused_with_the_reason(self):
        said = self.karmadactl("exec", self.pod, "--operation-scope=members", "--cluster=member1", "--", "ls", code=1)
        self.assertIn("cannot run a command: karmada-sandbox simulates pods", said)

    def test_usage_is_shown(self):
        for words, rows in ((("top", "pods"), 3), (("top", "nodes"), 6)):
            said = self.karmadactl(*words)
            self.assertEqual(len(said.splitlines()), rows + 1, said)
            self.assertRegex(said, r"member2 +\d+m")

    def test_clusters_are_cordoned_and_tainted(self):
        self.assertIn("cordoned", self.karmadactl("cordon", "member2"))
        self.assertIn("uncordoned", self.karmadactl("uncordon", "member2"))
        self.assertIn("tainted", self.karmadactl("taint", "clusters", "member2", "a=b:PreferNoSchedule"))

    def test_what_a_member_has_is_promoted(self):
        self.assertIn("promoted successfully", self.karmadactl("promote", "deployment", "old", "-C", "member1"))
        wait_until("the template", lambda: self.host.find(f"{_DEPLOYMENTS}/old"), 30)

    def test_z_a_cluster_leaves_and_joins(self):
        """Comes last, because it changes what the others look at."""
        member = self.site.kubeconfig("member2")
        self.karmadactl("unjoin", "member2", "--cluster-kubeconfig", member)
        wait_until("the end of the Cluster", lambda: self.host.find(f"{_CLUSTERS}/member2") is None, 60)
        self.assertIn("is joined successfully", self.karmadactl("join", "member2", "--cluster-kubeconfig", member))

        def ready():
            conditions = self.host.get(f"{_CLUSTERS}/member2").get("status", {}).get("conditions", [])
            return [c["status"] for c in conditions if c["type"] == "Ready"] == ["True"]
        wait_until("the cluster is ready again", ready, 60)
