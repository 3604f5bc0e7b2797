"""A restart with everything settled writes nothing."""

import time

from rig.audit import Audit
from rig.daemon import USER, Daemon
from rig.suite import PlaneCase, deployment, divided_policy, settled_deployments, wait_quiet

APPS = 100


class RestartTest(PlaneCase):
    def test_a_restart_with_100_settled_apps_writes_nothing_but_its_lease(self):
        namespace = self.make_namespace("e2e-restart")
        first = Daemon(self.plane, name="before-restart", flags=["--leader-elect=true"])
        self.addCleanup(first.process.kill)
        first.wait_healthy()
        audit = Audit(self.plane)
        self.host.apply([divided_policy(namespace, self.plane.members)]
                        + [deployment(namespace, f"app-{i:03d}") for i in range(APPS)])
        self.wait(f"{APPS} apps settled",
                  lambda: self.assertEqual(
                      settled_deployments(self.host, namespace, self.plane.members), APPS) or True, 180)
        wait_quiet(audit, seconds=12)  # A round of cluster status.
        self.assertEqual(first.stop(), 0, first.process.tail())

        audit.rewind()
        self.host.delete("/apis/coordination.k8s.io/v1/namespaces/karmada-system/leases/karmada-controller-manager")
        with Daemon(self.plane, name="after-restart", flags=["--leader-elect=true"]) as second:
            self.wait("its leadership", lambda: second.value("leader_election_master_status") == 1)
            time.sleep(12)  # A round of cluster status, and every initial list worked off.
            wait_quiet(audit, user=USER)
            requests = second.requests()
        written = [w for w in audit.writes(USER)
                   if w.resource != "leases" and not is_event_of_others(w, namespace)]
        self.assertEqual(written, [])
        # Other cases leave objects in members that are not ours to take over.
        control_plane = self.host.server.removeprefix("https://")
        self.assertFalse([r for r in requests if r[1] == "409" and r[2] == control_plane], requests)


def is_event_of_others(write, namespace):
    """The event that tells of the new leader, as upstream's, and those about what other cases left failing."""
    return write.resource == "events" and namespace not in write.name and "app-" not in write.name
