"""Our daemon beside upstream's, with --shadow: it writes nothing, and finds nothing that it would write."""

import json
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
