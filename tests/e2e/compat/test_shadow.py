"""Our daemon beside upstream's, with --shadow: it writes nothing, and finds nothing that it would write. What fails with
upstream for ever does not keep it from its report."""

import json
import subprocess
import time
import urllib.request

from rig import paths, scenario
from rig.audit import Audit
from rig.daemon import Daemon
from rig.plane import HOST
from rig.suite import BINDINGS, PlaneCase

SCENARIOS = ["cluster-scoped-overrides", "dependencies-shared", "job-weights", "overriders-all", "policy-lifecycle",
             "status-aggregated", "suspension"]
LAST_STEP = 1
_USER = "shadow"
_AGENT = "karmada-controller-manager/"
_REVIEWS = ("subjectaccessreviews", "tokenreviews")
# Longer than a loop of the shadow takes from a change to the write that it would make.
_NOTICE_SECONDS = 20


class ShadowTest(PlaneCase):
    def setUp(self):
        self.daemons = []
        self.addCleanup(lambda: [daemon.stop() for daemon in self.daemons])

    def start(self, name, exe, flags, kubeconfig=None):
        daemon = Daemon(self.plane, exe, name=name, flags=scenario.FLAGS + flags, kubeconfig=kubeconfig)
        self.daemons.append(daemon)
        daemon.wait_healthy()
        return daemon

    def stop(self, daemon):
        daemon.stop()
        self.daemons.remove(daemon)

    def page(self, shadow):
        with urllib.request.urlopen(f"http://127.0.0.1:{shadow.metrics_port}/shadow", timeout=5) as answer:
            return json.load(answer)

    def test_beside_upstream_nothing_is_outstanding(self):
        scenarios = scenario.load(paths.SCENARIOS, SCENARIOS)
        self.start("shadowed-upstream", self.plane.testbed.exe("upstream-controller-manager"), scenario.UPSTREAM_FLAGS)
        self.plane.wait_members_ready()
        self.assertFalse(scenario.clean_up(self.plane))
        audits = {cluster: Audit(self.plane, cluster) for cluster in [HOST, *self.plane.members]}
        shadow = None

        def after_step(number):
            nonlocal shadow
            if number == 0:
                shadow = self.start("shadow", paths.DAEMON, ["--shadow"], self.plane.user(_USER, _USER))
            self.check_nothing_outstanding(shadow, number)
            return "stop" if number == LAST_STEP else None
        try:
            scenario.run(self.plane, scenarios, lambda line: print(line, flush=True), after_step)
            self.check_reports_without_upstream(shadow)
        finally:
            for daemon in list(self.daemons):
                self.stop(daemon)
            written = self.written_by_shadow(audits)
            # Upstream leaves Works behind whose objects are to be preserved and have gone.
            self.start("after-shadow", paths.DAEMON, [])
            left = scenario.clean_up(self.plane)
        self.assertEqual(sorted(left), [], "left behind after everything was deleted")
        self.assertEqual(written, [])

    def check_nothing_outstanding(self, shadow, number):
        time.sleep(_NOTICE_SECONDS)

        def is_clear(page):
            due = ("held", "unanswered", "failing")
            return page["rounds"] > 0 and page["outstanding"] == page["mends"] and not any(page[name] for name in due)
        end = time.monotonic() + 240  # What is held needs a round of all loops, after the one at the start.
        page = self.page(shadow)
        while not is_clear(page) and time.monotonic() < end:
            time.sleep(2)
            page = self.page(shadow)
        counts = ", ".join(f"{page[name]} {name}" for name in ("outstanding", "mends", "held", "unanswered", "failing",
                                                                     "rounds"))
        print(f"  shadow after step {number}: {counts}", flush=True)
        for write in page["writes"]:
            print(f"    {json.dumps(write)[:1500]}", flush=True)
        for failure in page["failures"]:
            print(f"    {json.dumps(failure)}", flush=True)
        with self.subTest(f"nothing is outstanding after step {number}"):
            self.assertEqual([write for write in page["writes"] if not write["why"]], [])
            self.assertGreater(page["rounds"], 0)
            self.assertEqual((page["held"], page["unanswered"], page["failing"]), (0, 0, 0))
            self.assertEqual(page["notListed"], 0)

    def check_reports_without_upstream(self, shadow):
        """Nobody propagates a template that comes now, and the shadow would."""
        self.stop(self.daemons[0])
        name = {"namespace": "default", "name": "s-shadow"}
        template = {"apiVersion": "v1", "kind": "ConfigMap", "metadata": name, "data": {"k": "v"}}
        policy = {"apiVersion": "policy.karmada.io/v1alpha1", "kind": "PropagationPolicy", "metadata": name,
                  "spec": {"resourceSelectors": [{"apiVersion": "v1", "kind": "ConfigMap", "name": "s-shadow"}],
                           "placement": {"clusterAffinity": {"clusterNames": self.plane.members}}}}
        self.host.apply([template, policy])
        binding = ("create", "ResourceBinding", "default", "s-shadow-configmap")

        def reported():
            return binding in {(write["verb"], write["kind"], write["namespace"], write["name"])
                               for write in self.page(shadow)["writes"]}
        try:
            self.wait("the report of the binding", reported, 120)
            self.assertIsNone(self.host.find(BINDINGS.format("default") + "/s-shadow-configmap"))
        finally:  # The policy has a finalizer, which only a controller manager that writes takes off.
            self.host.kubectl("delete", "--wait=false", "-n", "default", "configmap/s-shadow",
                              "propagationpolicy.policy.karmada.io/s-shadow")

    def written_by_shadow(self, audits):
        """Its user in the control plane is its own; in members it has the credentials that upstream has, but another
        agent."""
        return [f"{cluster}: {write.verb} {write.resource} {write.name} by {write.agent}"
                for cluster, audit in audits.items() for write in audit.writes(_USER if cluster == HOST else None)
                if write.resource not in _REVIEWS and (cluster == HOST or write.agent.startswith(_AGENT))]


_NS = "standing"


def _manifest(kind, name, api="v1", **fields):
    metadata = {"name": name, **({} if kind == "Namespace" else {"namespace": _NS})}
    return {"apiVersion": api, "kind": kind, "metadata": metadata, **fields}


def _policy(kind, name, api="v1", **more):
    return _manifest("PropagationPolicy", name, "policy.karmada.io/v1alpha1", spec={
        "resourceSelectors": [{"apiVersion": api, "kind": kind, "name": name}],
        "placement": {"clusterAffinity": {"clusterNames": ["member1"]}}, **more})


def _deployment(name):
    pod = {"metadata": {"labels": {"app": name}}, "spec": {"containers": [{"name": "c", "image": "nginx"}]}}
    return _manifest("Deployment", name, "apps/v1",
                     spec={"replicas": 1, "selector": {"matchLabels": {"app": name}}, "template": pod})


class StandingFailuresTest(PlaneCase):
    """What upstream's own controller manager fails at for ever, it shows by conditions and events that a shadow reads."""

    def test_a_shadow_ends_beside_what_fails_for_ever(self):
        upstream = Daemon(self.plane, self.plane.testbed.exe("upstream-controller-manager"), name="standing-upstream",
                          flags=scenario.FLAGS + scenario.UPSTREAM_FLAGS)
        self.addCleanup(upstream.stop)
        upstream.wait_healthy()
        self.plane.wait_members_ready()
        # A namespace and a Deployment that were in the member before; a quota of the member; an override for a path that
        # is not there; overrides that are awaited for ever.
        quota = _manifest("ResourceQuota", "none", spec={"hard": {"count/secrets": "0"}})
        self.plane.kube("member1").apply([_manifest("Namespace", _NS), _deployment("before"), quota])
        override = _manifest("OverridePolicy", "no-path", "policy.karmada.io/v1alpha1", spec={
            "resourceSelectors": [{"apiVersion": "v1", "kind": "ConfigMap", "name": "overridden"}],
            "overrideRules": [{"overriders": {"plaintext": [
                {"path": "/spec/a/b", "operator": "replace", "value": "x"}]}}]})
        self.host.apply([_manifest("Namespace", _NS), override, _deployment("before"),
                         _policy("Deployment", "before", "apps/v1"), _manifest("Secret", "too-much"),
                         _policy("Secret", "too-much"), _manifest("ConfigMap", "overridden"),
                         _policy("ConfigMap", "overridden"), _manifest("ConfigMap", "awaits"),
                         _policy("ConfigMap", "awaits", dependentOverrides=["missing"])])
        self.addCleanup(lambda: self.host.kubectl("delete", "--wait=false", "namespace", _NS))
        self.addCleanup(lambda: self.plane.kube("member1").kubectl("delete", "--wait=false", "namespace", _NS))
        works = "/apis/work.karmada.io/v1alpha1/namespaces/karmada-es-member1/works"

        def refused():
            return [work for work in self.host.items(works) for condition in work.get("status", {}).get(
                "conditions", []) if condition["type"] == "Applied" and condition["status"] == "False"]
        self.wait("the namespace, the Deployment and the Secret are refused", lambda: len(refused()) == 3, 120)
        report = self.plane.folder / "shadow-report.json"
        done = subprocess.run([
            paths.DAEMON, "--shadow", f"--shadow-report={report}", f"--kubeconfig={self.plane.user(_USER, _USER)}",
            "--metrics-bind-address=0", "--health-probe-bind-address=0", *scenario.FLAGS],
            stderr=subprocess.PIPE, text=True, timeout=600)
        page = json.loads(report.read_text())
        for kind in ("failures", "writes"):
            for line in page[kind]:
                print(f"    {json.dumps(line)[:1500]}", flush=True)
        self.assertEqual((done.returncode, page["verdict"]), (0, "same"), page["because"])
        self.assertGreaterEqual(page["failing"] + page["refusedUpstream"], 5)
        self.assertEqual(page["failing"], page["failingUpstream"])
