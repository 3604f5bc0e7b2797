"""Our daemon on a control plane of an older Karmada, and on control planes and with members of older and newer Kubernetes.

docs/compatibility.md has what these tests print."""

import contextlib
import time
import unittest

from cases import test_permissions, test_samples, test_scenarios
from compat import test_scenarios_alone
from rig import behaviour, impersonation, paths, rights, suite, versions
from rig.audit import Audit
from rig.daemon import Daemon
from rig.plane import HOST
from rig.process import wait_until
from rig.suite import (BINDINGS, DEPLOYMENTS, deployment, divided_policy, require_binary, settled_bindings,
                       settled_deployments, wait_quiet)

# Behaviour tests that are about what the older servers lack: {name: what that is}.
LACKING_IN_OLDER_KARMADA = {
    "A binding asks the scheduler for the groups that its policy names":
        "the definitions of policies and bindings lack workloadAffinity and workloadAffinityGroups",
    "A workload leaves a cluster with a NoExecute taint for one that its group overflows to":
        "the definitions of policies and bindings lack overflowAffinities",
}


def remove_namespace(host, name):
    """A namespace with all that is propagated from it; a controller manager has to run."""
    path = f"/api/v1/namespaces/{name}"
    host.delete(path)
    wait_until(f"{path} gone", lambda: host.find(path) is None, 60)


class OnVersions:
    """What holds with each combination of rig/versions.py; a subclass says which, and what its servers report to be."""

    needs_plane = False  # It brings one of its own up.
    combination = ""
    reported = {}
    left_out = {}
    maxDiff = None  # What differs is found at the end of long runs.

    @classmethod
    def setUpClass(cls):
        require_binary(paths.BEHAVIOUR_TEST)
        cls.plane = cls.enterClassContext(versions.ALL[cls.combination].plane(
            paths.BUILD / "e2e" / f"versions-{cls.combination}", paths.Testbed.build()))
        cls.enterClassContext(suite.on(cls.plane))

    def test_1_the_servers_are_of_these_versions(self):
        reported = self.plane.versions()
        print(f"{self.combination}: {reported}", flush=True)
        for server, version in self.reported.items():
            self.assertTrue(reported[server].startswith(version), f"{server}: {reported[server]}, not {version}")

    def test_2_everything_switched_on_starts_and_logs_no_error(self):
        with Daemon(self.plane, name="everything", flags=rights.EVERYTHING) as daemon:
            self.plane.wait_members_ready()
            time.sleep(20)  # All loops have looked at everything.
            daemon.process.check_alive()
            errors = [line for line in daemon.process.log.read_text().splitlines() if line.startswith("E")]
        self.assertEqual(errors, [])

    def pass_all(self, case):
        """Runs the tests of another case on this plane; each has to pass. Returns how many there were."""
        result = unittest.TestResult()
        unittest.defaultTestLoader.loadTestsFromTestCase(case).run(result)
        self.assertEqual([text for _, text in result.errors + result.failures], [])
        return result.testsRun

    def test_3_the_samples_land(self):
        print(f"{self.combination}: {self.pass_all(test_samples.SamplesTest)} tests of the samples", flush=True)

    def test_3_a_restart_with_everything_settled_writes_nothing(self):
        suite.stop_daemon()
        name, apps = "restart", 5
        users = {HOST: rights.USER, **{member: rights.account(member) for member in self.plane.members}}
        audits = {server: Audit(self.plane, server) for server in users}
        with Daemon(self.plane, name="before-restart"):
            self.plane.wait_members_ready()
            self.plane.host.apply([
                {"apiVersion": "v1", "kind": "Namespace", "metadata": {"name": name}},
                divided_policy(name, self.plane.members), *(deployment(name, f"app-{i}") for i in range(apps))])
            wait_until("all settled", lambda: settled_deployments(self.plane.host, name, self.plane.members) == apps, 90)
            for server, user in users.items():
                wait_quiet(audits[server], user=user)
        for audit in audits.values():
            audit.rewind()
        with Daemon(self.plane, name="after-restart"):
            self.plane.wait_members_ready()
            time.sleep(12)  # A round of cluster status, and every initial list worked off.
        for server, user in users.items():
            self.assertEqual([w for w in audits[server].writes(user) if w.resource != "leases"], [], server)
        with Daemon(self.plane, name="clean-up"):
            remove_namespace(self.plane.host, name)

    def test_5_nothing_that_the_daemon_asked_for_was_refused(self):
        for server, user in [(HOST, rights.USER), *((m, rights.account(m)) for m in self.plane.members)]:
            audit = Audit(self.plane, server)
            audit.rewind_to_the_beginning()
            asked, refused = test_permissions.requests(audit, user)
            self.assertTrue(asked, server)
            self.assertEqual(refused[:5], [], server)


class WithBehaviour(OnVersions):
    """The same, and the behaviour tests."""

    def test_4_the_behaviour_tests_pass(self):
        suite.stop_daemon()
        for name, reason in self.left_out.items():
            print(f"{self.combination}: left out: {name}: {reason}", flush=True)
        passed = behaviour.run_all(self, self.left_out)
        print(f"{self.combination}: {passed} behaviour tests passed, {len(self.left_out)} left out", flush=True)


class WithScenarios(WithBehaviour):
    """The same, and the scenarios, which upstream has gone through on the testbed's servers."""

    def test_4_the_scenarios_leave_what_upstream_left(self):
        self.pass_all(test_scenarios.ScenarioTest)

    def test_4_the_scenarios_that_change_clusters_leave_what_upstream_left(self):
        self.pass_all(test_scenarios_alone.AloneTest)


class WithAnOlderMember:
    """What else holds where member1 is of Kubernetes 1.31 and member2 of one that is newer than 1.34."""

    def setUp(self):
        self.host = self.plane.host

    def namespace_with_a_policy(self, namespace, api_version, kind):
        """Templates of this kind in the namespace go to both members."""
        self.host.apply([
            {"apiVersion": "v1", "kind": "Namespace", "metadata": {"name": namespace}},
            {"apiVersion": "policy.karmada.io/v1alpha1", "kind": "PropagationPolicy",
             "metadata": {"namespace": namespace, "name": "both"},
             "spec": {"resourceSelectors": [{"apiVersion": api_version, "kind": kind}],
                      "placement": {"clusterAffinity": {"clusterNames": self.plane.members}}}}])

    @contextlib.contextmanager
    def daemon_and(self, namespace, api_version, kind):
        with Daemon(self.plane, name=namespace) as daemon:
            self.plane.wait_members_ready()
            self.namespace_with_a_policy(namespace, api_version, kind)
            yield daemon
            remove_namespace(self.host, namespace)

    def test_2_a_field_that_only_one_member_knows_is_there_and_nothing_is_written_again_and_again(self):
        name, path = "newer-field", DEPLOYMENTS.format("newer-field") + "/web"
        template = deployment(name, "web")
        template["spec"]["template"]["spec"]["resources"] = {"limits": {"cpu": "1"}}
        with self.daemon_and(name, "apps/v1", "Deployment"):
            self.host.create(DEPLOYMENTS.format(name), template)
            wait_until("the Deployment in both", lambda: settled_bindings(self.host, name, self.plane.members) == 1, 60)
            has = {member: "resources" in self.plane.kube(member).get(path)["spec"]["template"]["spec"]
                   for member in self.plane.members}
            self.assertEqual(has, {"member1": False, "member2": True})
            for server in (HOST, *self.plane.members):
                wait_quiet(Audit(self.plane, server), user=rights.USER if server == HOST else rights.account(server))

    def test_2_a_kind_that_only_one_member_serves_goes_there_alone(self):
        name = "newer-kind"
        path = f"/apis/resource.k8s.io/v1/namespaces/{name}/resourceclaimtemplates"
        with self.daemon_and(name, "resource.k8s.io/v1", "ResourceClaimTemplate"):
            self.host.create(path, {"metadata": {"name": "gpu"}, "spec": {"spec": {"devices": {"requests": [
                {"name": "one", "exactly": {"deviceClassName": "gpu"}}]}}}})
            wait_until("it is in member2", lambda: self.plane.kube("member2").find(f"{path}/gpu"), 60)
            bound = self.host.get(BINDINGS.format(name) + "/gpu-resourceclaimtemplate")["spec"]["clusters"]
            self.assertEqual([cluster["name"] for cluster in bound], ["member2"])


class OlderTest(WithBehaviour, unittest.TestCase):
    """Karmada 1.16 with Kubernetes 1.31, in the control plane, too."""

    combination = "older"
    reported = {"karmada": "v1.16.", HOST: "v1.31.", "member1": "v1.31.", "member2": "v1.31."}
    left_out = LACKING_IN_OLDER_KARMADA


class BehindTest(OnVersions, unittest.TestCase):
    """The older Karmada and Kubernetes with members that are newer than their control plane."""

    combination = "behind"
    reported = {"karmada": "v1.16.", HOST: "v1.31.", "member1": "v1.33.", "member2": "v1.34."}


class MixedTest(WithAnOlderMember, WithBehaviour, unittest.TestCase):
    """The Karmada of the testbed with a member of Kubernetes 1.31 and one of 1.35."""

    combination = "mixed"
    reported = {"karmada": "v1.18.", HOST: "v1.35.", "member1": "v1.31.", "member2": "v1.35."}


class AheadTest(OnVersions, unittest.TestCase):
    """The Karmada of the testbed on Kubernetes 1.33, with a member of 1.32 and one that is four versions ahead of its plane."""

    combination = "ahead"
    reported = {"karmada": "v1.18.", HOST: "v1.33.", "member1": "v1.32.", "member2": "v1.37."}


class NewerTest(WithScenarios, unittest.TestCase):
    """The Karmada of the testbed on Kubernetes 1.36, with members of 1.35 and 1.36."""

    combination = "newer"
    reported = {"karmada": "v1.18.", HOST: "v1.36.", "member1": "v1.35.", "member2": "v1.36."}


class NewestTest(WithAnOlderMember, WithScenarios, unittest.TestCase):
    """The Karmada of the testbed on Kubernetes 1.37, with members of 1.31 and 1.37."""

    combination = "newest"
    reported = {"karmada": "v1.18.", HOST: "v1.37.", "member1": "v1.31.", "member2": "v1.37."}

    def test_2_karmada_search_lets_the_same_users_act_as_others_as_the_api_server(self):
        suite.require_binary(paths.SEARCH)
        both = impersonation.Impersonation(self.plane)
        self.addCleanup(both.close)
        for number, row in enumerate(impersonation.ROWS):
            with self.subTest(row.about):
                (code, message), ours = both.answers(number)
                self.assertEqual(code == 200, row.is_allowed, message)
                self.assertEqual(ours, (code, message))
