"""The session of test_kubectl on the proxy URL of a karmada-search, where all members are one cluster: the same words
and answers, but for the rows of DIFFERENT."""

import re
import unittest

from cases.test_kubectl import IN_A_MEMBER
from rig import paths, suite
from rig.process import Process, run, wait_until
from rig.sandbox_search import SEARCH, SandboxSearch

LOGS = paths.BUILD / "e2e" / "logs"
KINDS = [("v1", "Pod"), ("v1", "ConfigMap"), ("v1", "Service"), ("v1", "Event"), ("apps/v1", "Deployment"),
         ("apps/v1", "ReplicaSet")]

NO_CREATION = (r'{}create is not supported on resources of kind "{}" of all clusters together; choose one: '
               r'proxying/<cluster>/proxy, cluster=<cluster> or the header X-Karmada-Cluster\n')
OF_CONTROL_PLANE = r"Warning: namespaces is in no ResourceRegistry: this was a request to the control plane, not to members\n"
FROM_A_FILE = r'Error from server \(MethodNotAllowed\): error when creating "STDIN": '

# What is different by nature, in the order of the session: (words, exit code, pattern, the member in which the row
# has to be done as it stands there, so that the session can go on).
DIFFERENT = [
    # It is open in which member a new object should be.
    ("apply -f -", 1, NO_CREATION.format(FROM_A_FILE, "deployments.apps"), "member1"),
    ("create -f -", 1, NO_CREATION.format(FROM_A_FILE, "deployments.apps"), None),
    # Tables say which member each row is from.
    ("get deployments", 0, r"NAME +CLUSTER +READY +UP-TO-DATE +AVAILABLE +AGE\nweb +member1 +2/2 +2 +2 +\d+s\n", None),
    ("get deploy web -o wide", 0,
     r"NAME +CLUSTER +READY +UP-TO-DATE +AVAILABLE +AGE +CONTAINERS +IMAGES +SELECTOR\n"
     r"web +member1 +2/2 .* main +nginx:1\.25 +app=web\n", None),
    ("get pods -l app=web --no-headers", 0, r"(web-\S+-\S+ +member1 +1/1 +Running +0 +\d+s\n){2}", None),
    # What a member answers to a write is passed on as it is, and kubectl compares it with what it has read. The first
    # of the two equal rows does change something.
    ('patch deployment web --type=merge -p {"spec":{"minReadySeconds":1}}', 0, r"deployment\.apps/web patched\n", None),
    ('patch deployment web --type=merge -p {"spec":{"minReadySeconds":1}}', 0, r"deployment\.apps/web patched\n", None),
    # An apply on the server's side of something that is not there is a creation, too.
    ("apply --server-side --field-manager=x -f -", 1, r'Error from server \(NotFound\): configmaps "settings" not found\n',
     "member1"),
    ("create configmap more --from-literal=a=b --dry-run=server", 1,
     NO_CREATION.format("error: failed to create configmap: ", "configmaps"), None),
    # Nothing is registered for it, so the control plane does it, which is said.
    ("create namespace extra", 0, r"namespace/extra created\n" + OF_CONTROL_PLANE, None),
    ("delete namespace extra --timeout=20s", 0, r'namespace "extra" deleted\n' + OF_CONTROL_PLANE, None),
]


def session():
    """Rows (words, standard input, exit code, pattern, the row to do in a member afterwards or None)."""
    different = list(DIFFERENT)
    for words, text, code, pattern in IN_A_MEMBER:
        if different and different[0][0] == words:
            _, other_code, other_pattern, member = different.pop(0)
            yield words, text, other_code, other_pattern, member and (member, code, pattern)
        else:
            yield words, text, code, pattern, None
    assert not different, f"test_kubectl has no such row any more, or has it elsewhere: {different[0][0]}"


class KubectlProxyTest(unittest.TestCase):
    needs_plane = False
    maxDiff = 4000

    @classmethod
    def setUpClass(cls):
        suite.require_binary(paths.SANDBOX)
        suite.require_binary(SEARCH)
        cls.site = cls.enterClassContext(SandboxSearch(LOGS))
        cls.site.register("kubectl", *KINDS)
        cls.kubectl = suite.kubectl()

    def words(self, cluster, words):
        return [self.kubectl, "--kubeconfig", self.site.kubeconfig(cluster), *words.split(" ")]

    def check(self, cluster, words, text, code, pattern):
        done = run(self.words(cluster, words), text=text, timeout=60)
        said = done.stdout + done.stderr
        self.assertEqual(done.returncode, code, said)
        self.assertRegex(said, re.compile(rf"\A(?:{pattern})\Z"))

    def test_the_session_of_a_cluster_runs_on_all_members(self):
        for words, text, code, pattern, in_member in session():
            with self.subTest(words):
                self.check("proxy", words, text, code, pattern)
                if in_member:
                    member, member_code, member_pattern = in_member
                    self.check(member, words, text, member_code, member_pattern)

    def test_get_watch_shows_changes_of_all_members(self):
        log = LOGS / "kubectl-watch-proxy.log"
        log.unlink(missing_ok=True)
        watch = Process("kubectl-watch-proxy", self.words(
            "proxy", "get configmaps -w --no-headers --output-watch-events --selector=w"), log)
        self.addCleanup(watch.stop)
        for number in (1, 2):
            self.run_well(f"member{number}", f"create configmap begins-{number}")
            self.run_well(f"member{number}", f"label configmap begins-{number} w=1")
        wait_until("the events of both members", lambda: all(
            f"begins-{number}" in log.read_text() for number in (1, 2)), 20)
        self.run_well("proxy", "annotate configmap begins-1 seen=yes")
        self.run_well("proxy", "label configmap begins-2 w-")
        self.run_well("proxy", "delete configmap begins-1 begins-2")
        want = [["ADDED", "begins-1", "member1"], ["ADDED", "begins-2", "member2"], ["MODIFIED", "begins-1", "member1"],
                ["DELETED", "begins-2", "member2"], ["DELETED", "begins-1", "member1"]]

        def seen():
            self.assertCountEqual([line.split()[:3] for line in log.read_text().splitlines()], want)
            return True
        wait_until("the events", seen, 20)
        self.assertTrue(watch.alive())

    def run_well(self, cluster, words):
        done = run(self.words(cluster, words))
        self.assertEqual(done.returncode, 0, f"{words}: {done.stdout}{done.stderr}")
