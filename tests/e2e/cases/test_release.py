"""The control plane below the running daemon is upgraded to the definitions of another release of Karmada, and back: the same
process becomes a controller manager of that release, and writes nothing but what that release wants written."""

import contextlib
import http.client
import json
import threading
import time

from rig import release, rights
from rig.audit import Audit
from rig.daemon import USER, Daemon
from rig.plane import HOST
from rig.suite import (BINDINGS, DEPLOYMENTS, PlaneCase, deployment, divided_policy, settled_bindings, settled_deployments,
                       wait_quiet)

LEASES = "/apis/coordination.k8s.io/v1/namespaces/karmada-system/leases"
LEASE = "karmada-controller-manager"
CLASS = "e2e-release"
APPS, PRIORITY = 5, "prioritised"


class LeaseHolders:
    """Who held the daemon's lease, one after the other; "" stands for nobody, when it was given back."""

    def __init__(self, host):
        self.seen = []
        self._watch = host.stream(f"{LEASES}?watch=true&fieldSelector=metadata.name%3D{LEASE}&timeoutSeconds=300")
        threading.Thread(target=self._follow, daemon=True).start()

    def _follow(self):
        with contextlib.suppress(OSError, http.client.HTTPException):  # The plane may end before the watch.
            for line, _ in self._watch:
                holder = json.loads(line)["object"].get("spec", {}).get("holderIdentity") or ""
                if self.seen[-1:] != [holder]:
                    self.seen.append(holder)


class ReleaseTest(PlaneCase):
    takes_turns = True

    def setUp(self):
        self.host.delete(f"{LEASES}/{LEASE}")
        self.addCleanup(release.serve, self.host, "v1.18")

    def settle_apps(self, daemon):
        """Deployments in both members, each with a ConfigMap that follows it, and one whose policy gives it a priority."""
        namespace = self.make_namespace("e2e-release")
        self.host.apply([{"apiVersion": "scheduling.k8s.io/v1", "kind": "PriorityClass", "metadata": {"name": CLASS},
                          "value": 1000}])
        self.addCleanup(self.host.delete, f"/apis/scheduling.k8s.io/v1/priorityclasses/{CLASS}")
        policy = divided_policy(namespace, self.plane.members, propagate_deps=True)
        prioritised = divided_policy(namespace, self.plane.members, name=PRIORITY)
        prioritised["spec"]["resourceSelectors"][0]["name"] = PRIORITY
        prioritised["spec"]["schedulePriority"] = {"priorityClassSource": "KubePriorityClass", "priorityClassName": CLASS}
        apps = [deployment(namespace, f"app-{i}") for i in range(APPS)]
        for app in apps:
            name = app["metadata"]["name"]
            app["spec"]["template"]["spec"]["containers"][0]["envFrom"] = [{"configMapRef": {"name": name}}]
        self.host.apply([policy, prioritised, *apps, deployment(namespace, PRIORITY), *(
            {"apiVersion": "v1", "kind": "ConfigMap", "metadata": {"namespace": namespace, "name": f"app-{i}"}}
            for i in range(APPS))])
        self.wait("all settled", lambda: self.are_settled(namespace), 120)
        self.assertEqual(self.release_of(daemon), "v1.18")
        return namespace

    def are_settled(self, namespace):
        bindings = settled_bindings(self.host, namespace, self.plane.members)
        deployments = self.host.items(DEPLOYMENTS.format(namespace))
        ready = [d for d in deployments if d.get("status", {}).get("readyReplicas") == d["spec"]["replicas"]]
        return bindings == 2 * APPS + 1 and len(ready) == APPS + 1

    def release_of(self, daemon):
        """The release that the daemon says it is of; its metric and its log have to agree."""
        of = daemon.settings()["emulatedKarmadaVersion"]
        self.assertEqual(release.said(daemon.samples()), {of})
        said = [line for line in daemon.process.log.read_text().splitlines() if "] release of Karmada " in line]
        self.assertIn(of, said[-1])
        return of

    def become(self, daemon, wanted):
        """Has the daemon become one of this release by nothing but the definitions that are served. Returns what it has
        written since, by server; leases and events apart."""
        users = {HOST: USER, **{member: rights.account(member) for member in self.plane.members}}
        audits = {server: Audit(self.plane, server) for server in users}
        wait_quiet(audits[HOST], seconds=12, user=USER)  # A round of cluster status.
        for audit in audits.values():
            audit.rewind()
        holders, pid = LeaseHolders(self.host), daemon.process.pid
        first = self.host.get(f"{LEASES}/{LEASE}")["spec"]
        self.wait("the watch of the lease", lambda: holders.seen)
        release.serve(self.host, wanted)
        self.wait(f"it is of {wanted}", lambda: self.release_of(daemon) == wanted, release.SECONDS)
        self.wait("it leads", lambda: daemon.value("leader_election_master_status") == 1, 60)
        self.assertTrue(daemon.process.alive())
        self.assertEqual(daemon.process.pid, pid)
        self.wait("the lease was given back and taken again", lambda: len(holders.seen) >= 3)
        self.assertEqual(holders.seen[:2], [first["holderIdentity"], ""])
        self.assertNotIn(holders.seen[2], holders.seen[:2])
        self.plane.wait_members_ready()
        time.sleep(12)  # A round of cluster status, and every initial list worked off.
        for server, user in users.items():
            wait_quiet(audits[server], user=user)
        return {server: {(w.verb, w.resource, w.name, w.code) for w in audits[server].writes(user)
                         if w.resource not in ("leases", "events")} for server, user in users.items()}

    def test_it_becomes_what_the_definitions_are_of_and_writes_nothing_else(self):
        daemon = Daemon(self.plane, name="release", flags=["--leader-elect=true"])
        self.addCleanup(daemon.stop)
        daemon.wait_healthy()
        namespace = self.settle_apps(daemon)
        binding = f"{PRIORITY}-deployment"
        # By default v1.19 gives bindings the priority of their policy, and v1.18 does not.
        for wanted, priority in [("v1.19", {"priority": 1000}), ("v1.18", None)]:
            with self.subTest(wanted):
                written = self.become(daemon, wanted)
                self.assertEqual(written, {HOST: {("patch", "resourcebindings", f"{namespace}/{binding}", 200)},
                                           **{member: set() for member in self.plane.members}})
                spec = self.host.get(f"{BINDINGS.format(namespace)}/{binding}")["spec"]
                self.assertEqual(spec.get("schedulePriority"), priority)
                self.assertTrue(self.are_settled(namespace))
