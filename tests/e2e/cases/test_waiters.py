"""Tools that wait until a template is ready see it end, well and badly, on the control plane of a sandbox: kubectl, Helm,
the rules of Argo CD, and kstatus, by which Flux waits."""

import json
import unittest

from rig import paths, suite, waiters
from rig.process import run, wait_until
from rig.sandbox import Sandbox

LOGS = paths.BUILD / "e2e" / "logs"
KINDS = {"Deployment": "apps/v1", "StatefulSet": "apps/v1", "DaemonSet": "apps/v1", "Job": "batch/v1"}
# The volumes of pods: one starts, one waits for ever for a ConfigMap that does not exist.
PODS = {"well": [], "badly": [{"name": "settings", "configMap": {"name": "missing"}}]}
# Replicas are divided: kstatus waits for ever for the end of pods that are more than spec.replicas.
_POLICY = {"apiVersion": "policy.karmada.io/v1alpha1", "kind": "PropagationPolicy", "metadata": {"name": "all"},
           "spec": {"resourceSelectors": [{"apiVersion": version, "kind": kind} for kind, version in KINDS.items()],
                    "placement": {"clusterAffinity": {"clusterNames": list(Sandbox.members)},
                                  "replicaScheduling": {"replicaSchedulingType": "Divided",
                                                        "replicaDivisionPreference": "Weighted"}}}}

# (kubectl's words, exit code and a part of the output where things end well, the same where they end badly). What has no
# bad end of its own ends by the time that one gives it.
KUBECTL = [
    ("rollout status deployment/app --timeout=60s", (0, "successfully rolled out"), (1, "exceeded its progress deadline")),
    ("rollout status statefulset/app --timeout={}", (0, "roll out complete"), (1, "timed out")),
    ("rollout status daemonset/app --timeout={}", (0, "successfully rolled out"), (1, "timed out")),
    ("wait deployment/app --for=condition=Available --timeout={}", (0, "condition met"), (1, "timed out")),
    ("wait job/app --for=condition=Complete --timeout={}", (0, "condition met"), (1, "timed out")),
    ("wait job/app --for=condition=Failed --timeout={}", (1, "timed out"), (0, "condition met")),
    ("wait job/app --for=condition=FailureTarget --timeout={}", (1, "timed out"), (0, "condition met")),
]
# Program: {kind: (status where things end well, status where they end badly)}
VERDICTS = {
    "argo": {"Deployment": ("Healthy", "Degraded"), "StatefulSet": ("Healthy", "Progressing"),
             "DaemonSet": ("Healthy", "Progressing"), "Job": ("Healthy", "Degraded")},
    "kstatus": {"Deployment": ("Current", "Failed"), "StatefulSet": ("Current", "InProgress"),
                "DaemonSet": ("Current", "InProgress"), "Job": ("Current", "Failed")},
}


def workload(kind, end):
    """A workload that ends so. Of the kinds that have a deadline, one that ends badly misses it."""
    container = {"name": "main", "image": "nginx:1.25"}
    spec = {"template": {"metadata": {"labels": {"app": "app"}}, "spec": {"containers": [container], "volumes": PODS[end]}}}
    if kind == "Job":
        spec["backoffLimit"] = 0
        if end == "badly":
            spec["activeDeadlineSeconds"] = 2
        spec["template"]["spec"]["restartPolicy"] = "Never"
    else:
        spec["selector"] = {"matchLabels": {"app": "app"}}
    if kind in ("Deployment", "StatefulSet"):
        spec["replicas"] = 2
    if kind == "Deployment" and end == "badly":
        spec["progressDeadlineSeconds"] = 2
    if kind == "StatefulSet":
        spec["serviceName"] = "app"
    return {"apiVersion": KINDS[kind], "kind": kind, "metadata": {"name": "app"}, "spec": spec}


class WaitersTest(unittest.TestCase):
    needs_plane = False
    maxDiff = 4000

    @classmethod
    def setUpClass(cls):
        suite.require_binary(paths.SANDBOX)
        suite.require_binary(paths.DAEMON)
        cls.tools = waiters.folder()
        cls.site = cls.enterClassContext(Sandbox(LOGS))
        for end in PODS:
            cls.apply(end, [{"apiVersion": "v1", "kind": "Namespace", "metadata": {"name": end}}, _POLICY])

    @classmethod
    def kubectl(cls, namespace, words, text=None, timeout=120):
        return run([suite.kubectl(), "--kubeconfig", cls.site.kubeconfig(), "-n", namespace, *words.split()], text, timeout)

    @classmethod
    def apply(cls, namespace, objects):
        for item in objects:
            done = cls.kubectl(namespace, "apply -f -", json.dumps(item))
            if done.returncode:
                raise AssertionError(done.stdout + done.stderr)

    def begin(self, kind):
        """Applies a workload of the kind for each end."""
        for end in PODS:
            self.apply(end, [workload(kind, end)])
            self.addCleanup(self.kubectl, end, f"delete {kind} app --wait=true")

    def template(self, end, kind):
        return json.loads(self.kubectl(end, f"get {kind} app -o json").stdout)

    def test_kubectl(self):
        for kind in KINDS:
            self.begin(kind)
        for words, *expected in KUBECTL:
            for end, (code, text) in zip(PODS, expected, strict=True):
                with self.subTest(words, end=end):
                    done = self.kubectl(end, words.format("60s" if code == 0 else "5s"))
                    self.assertEqual(done.returncode, code, done.stdout + done.stderr)
                    self.assertIn(text, done.stdout + done.stderr)

    def test_argo_cd_and_kstatus(self):
        for kind in KINDS:
            self.begin(kind)
            for program, verdicts in VERDICTS.items():
                for end, expected in zip(PODS, verdicts[kind], strict=True):
                    with self.subTest(program, kind=kind, end=end):
                        wait_until(expected, lambda kind=kind, end=end, program=program, expected=expected:
                                   waiters.verdict(program, self.template(end, kind))[0] == expected, 30)
        for program, verdicts in VERDICTS.items():  # Nothing that has not ended becomes good, or bad, later.
            for kind, both in verdicts.items():
                for end, expected in zip(PODS, both, strict=True):
                    with self.subTest(program, kind=kind, end=end):
                        self.assertEqual(waiters.verdict(program, self.template(end, kind))[0], expected)

    def test_helm(self):
        for kind in KINDS:
            for end in PODS:
                with self.subTest(kind, end=end):
                    done = self.install(end, kind)
                    self.assertEqual(done.returncode == 0, end == "well", done.stdout + done.stderr)

    def install(self, end, kind):
        """Installs a chart of one workload, waits for it, and removes it. Returns what the installation has ended with."""
        chart = self.site.folder / f"chart-{kind}-{end}"
        (chart / "templates").mkdir(parents=True)
        (chart / "Chart.yaml").write_text("apiVersion: v2\nname: app\nversion: 1.0.0\n")
        (chart / "templates" / "app.yaml").write_text(json.dumps(workload(kind, end)))
        # How long one without a bad end of its own waits.
        timeout = "60s" if end == "well" or kind in ("Deployment", "Job") else "6s"
        home = {f"HELM_{name}_HOME": str(self.site.folder / "helm") for name in ("CACHE", "CONFIG", "DATA")}
        helm = [self.tools / "helm", "--kubeconfig", self.site.kubeconfig(), "-n", end]
        done = run([*helm, "install", "app", chart, "--wait", "--wait-for-jobs", "--timeout", timeout], timeout=120, env=home)
        run([*helm, "uninstall", "app", "--wait"], timeout=120, env=home)
        return done
