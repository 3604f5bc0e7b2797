"""Two daemons, one leader."""

import re
import signal
import socket
import time

from rig.daemon import Daemon
from rig.suite import PlaneCase, deployment, divided_policy, settled_deployments

LEASE = "/apis/coordination.k8s.io/v1/namespaces/karmada-system/leases/karmada-controller-manager"
# A leader on a busy machine must not lose its lease by chance.
FLAGS = ["--leader-elect=true", "--leader-elect-lease-duration=10s", "--leader-elect-renew-deadline=8s",
         "--leader-elect-retry-period=1s"]


class LeaderElectionTest(PlaneCase):
    def setUp(self):
        self.host.delete(LEASE)
        self.daemons = [Daemon(self.plane, name=f"elected-{i}", flags=FLAGS) for i in (1, 2)]
        self.addCleanup(lambda: [d.process.kill() for d in self.daemons if d.process.alive()])
        for daemon in self.daemons:
            daemon.wait_healthy()

    def leaders(self):
        """The daemons that say they lead, of those alive."""
        return [d for d in self.daemons if d.process.alive()
                and d.value("leader_election_master_status", name="karmada-controller-manager") == 1]

    def wait_leader(self, timeout=60):
        return self.wait("one leader", lambda: len(self.leaders()) == 1 and self.leaders()[0], timeout)

    def test_the_other_takes_over_when_the_leader_is_killed(self):
        leader = self.wait_leader()
        holder = self.host.get(LEASE)["spec"]["holderIdentity"]
        self.assertRegex(holder, f"^{re.escape(socket.gethostname())}_[0-9a-f-]{{36}}$")

        leader.process.kill()
        other = next(d for d in self.daemons if d is not leader)
        self.wait("the other leads", lambda: self.leaders() == [other], 60)
        spec = self.host.get(LEASE)["spec"]
        self.assertNotEqual(spec["holderIdentity"], holder)
        self.assertGreaterEqual(spec["leaseTransitions"], 1)

        namespace = self.make_namespace("e2e-leader")
        self.host.apply([divided_policy(namespace, self.plane.members), deployment(namespace, "web")])
        self.wait("an app to land", lambda: settled_deployments(self.host, namespace, self.plane.members) == 1)

    def test_a_stopped_leader_exits_0_and_does_not_release_the_lease(self):
        leader = self.wait_leader()
        holder = self.host.get(LEASE)["spec"]["holderIdentity"]
        leader.process.signal(signal.SIGTERM)
        self.assertEqual(leader.process.wait(60), 0, leader.process.tail())
        self.assertEqual(self.host.get(LEASE)["spec"]["holderIdentity"], holder)

    def test_a_leader_that_loses_its_lease_exits_1(self):
        leader = self.wait_leader()
        other = next(d for d in self.daemons if d is not leader)
        other.process.kill()
        now = time.strftime("%Y-%m-%dT%H:%M:%S.000000Z", time.gmtime(time.time() + 30))
        self.host.merge(LEASE, {"spec": {"holderIdentity": "somebody-else", "renewTime": now}})
        self.assertEqual(leader.process.wait(60), 1, leader.process.tail())
        self.assertIn("lease", leader.process.tail(20).lower())
