"""Each alert of the charts is raised by its fault, as operators meet it, and ends when they do what docs/on-call.md says.

A real Prometheus scrapes our programs. Its rules are the shipped ones, with the times that rig.prometheus.hastened shortens.
"""

import contextlib
import datetime
import http.server
import json
import ssl
import threading
import time
import unittest
import urllib.parse
import urllib.request

from rig import paths, prometheus, rights, suite
from rig.daemon import Daemon
from rig.helm import NAMES
from rig.kube import ApiError, Kube
from rig.memory_cgroup import MemoryLimit
from rig.opensearch import OpenSearch
from rig.process import free_port
from rig.search import PROXY, REGISTRIES
from rig.search_case import CONFIGMAPS, LIONS, SearchCase, conditions, configmap, registry
from rig.suite import BINDINGS, PlaneCase, deployment, divided_policy

MANAGER, SEARCH = NAMES
NAMESPACE = "e2e-alerts"
LEASES = "/apis/coordination.k8s.io/v1/namespaces/karmada-system/leases/"
FLOWS = "/apis/flowcontrol.apiserver.k8s.io/v1"
AUTOSCALING = f"/apis/autoscaling.karmada.io/v1alpha1/namespaces/{NAMESPACE}"
INTERPRETER = "/apis/config.karmada.io/v1alpha1/resourceinterpreter"
LION = LIONS.removeprefix("/apis/").split("/namespaces")[0]
MIB = 1 << 20
# What no operator can cause, with the reason. Samples raise them in tests/data/alerts.
NOT_CAUSED = {"KarmadaReconcilePanics": "a reconcile throws only where the program has a defect"}
# Objects in the queue that is too deep: more than the threshold of the alert, while it is worked off.
MANY = 1200


class Raised:
    """What a fault is to raise: an alert, labels that it has, and a text in its summary."""

    def __init__(self, alert, summary, **labels):
        self.alert, self.summary, self.labels = alert, summary, labels

    def check(self, firing):
        """Returns whether one of the alerts that are raised is this one."""
        for each in firing:
            if self.labels.items() <= each["labels"].items():
                assert self.summary in each["annotations"]["summary"], each
                return True
        raise AssertionError(f"{self.alert} is raised for {[each['labels'] for each in firing]}, not for {self.labels}")


class AlertsCase:
    """`self.prometheus` watches.

    A fault is a generator: it causes the fault, yields what that raises, and then does what the runbook says.
    """

    raised = set()  # The alerts that have been raised and have ended, of all classes.

    def check(self, *faults, timeout=180):
        """Causes the faults, waits for all their alerts, mends, and waits until the alerts are over."""
        expected = []
        with contextlib.ExitStack() as mended:
            for fault in faults:
                mended.callback(next, fault, None)
                expected.extend(next(fault))
            for each in expected:
                self.wait(each.alert, lambda each=each: each.check(self.prometheus.firing(each.alert)), timeout)
                print(f"  {each.alert} is raised", flush=True)
        for each in expected:
            self.wait(f"the end of {each.alert}", lambda each=each: not self.fires(each), timeout)
            self.raised.add(each.alert)

    def fires(self, expected):
        return any(expected.labels.items() <= each["labels"].items() for each in self.prometheus.firing(expected.alert))


class ManagerAlertsTest(PlaneCase, AlertsCase):
    """One controller manager at a time, at an address that stays, as that of a pod whose container is started again."""

    @classmethod
    def setUpClass(cls):
        super().setUpClass()
        cls.port = free_port()
        cls.prometheus = prometheus.Prometheus(
            cls.plane, {MANAGER: {"static_configs": [{"targets": [f"127.0.0.1:{cls.port}"]}]}},
            prometheus.hastened(prometheus.rule_file(MANAGER)), "1s")
        cls.addClassCleanup(cls.prometheus.stop)

    def setUp(self):
        suite.stop_daemon()
        self.host.delete(LEASES + MANAGER)

    def start(self, *flags, **more):
        """A controller manager that Prometheus knows."""
        daemon = Daemon(self.plane, name="alerting", flags=flags, metrics_port=self.port, **more)
        self.addCleanup(lambda: daemon.process.alive() and daemon.stop())
        return daemon

    # ---- The process ------------------------------------------------------------------------------

    def test_another_process_leads(self):
        self.check(self.another_leads())

    def another_leads(self):
        other = Daemon(self.plane, name="other-leader", flags=["--leader-elect=true"])
        self.addCleanup(lambda: other.process.alive() and other.process.kill())
        self.wait("the other one to lead", lambda: other.value("leader_election_master_status") == 1)
        self.start("--leader-elect=true")
        yield [Raised("KarmadaNoLeader", "No karmada-controller-manager leads", severity="critical")]
        # The Lease names a process that renews it: it is the one that is not meant to work.
        lease = self.host.get(LEASES + MANAGER)["spec"]
        renewed = datetime.datetime.fromisoformat(lease["renewTime"].replace("Z", "+00:00"))
        self.assertLess(datetime.datetime.now(datetime.timezone.utc) - renewed, datetime.timedelta(seconds=15))
        other.process.kill()

    def test_it_ends_again_and_again(self):
        self.check(self.killed_again_and_again())

    def killed_again_and_again(self):
        starts = set()
        while len(starts) < 5:
            daemon = self.start()
            new = self.wait("the start to be seen", lambda: set(self.prometheus.values("process_start_time_seconds")) - starts)
            starts |= new
            if len(starts) < 5:
                daemon.process.kill()
        yield [Raised("KarmadaControllerManagerRestarts", "has started 4 times within an hour", severity="warning")]
        # Nothing kills it any more.

    def test_its_memory_limit_is_below_the_need(self):
        self.check(self.little_memory())

    def little_memory(self):
        limit = MemoryLimit("karmada-alerts", 500 * MIB)
        self.addCleanup(limit.close)
        program = limit.wrap(self.plane.folder / "limited-manager", paths.DAEMON)
        kubeconfig = rights.give_to_user(self.plane)
        daemon = self.start(exe=program, kubeconfig=kubeconfig)
        daemon.wait_healthy()
        self.plane.wait_members_ready()
        time.sleep(5)  # It has read everything, and takes no more.
        self.wait("a limit near what it needs", lambda: self.tightened(limit, daemon), 60)
        yield [Raised("KarmadaControllerManagerMemory", "of its memory limit.", instance=f"127.0.0.1:{self.port}")]
        self.assertEqual(limit.kills(), 0)
        daemon.stop()  # The pod is replaced by one that has a higher limit.
        limit.close()
        self.start(exe=program, kubeconfig=kubeconfig).wait_healthy()

    @staticmethod
    def tightened(limit, daemon):
        """Lowers the limit to a little more than what is used, as far as the kernel lets it; returns whether that lasts: near a
        limit the program gives back what it can."""
        limit.change(int(daemon.value("karmada_memory_working_set_bytes") / 0.94))
        time.sleep(2)
        return daemon.value("karmada_memory_working_set_bytes") > 0.92 * daemon.value("karmada_memory_limit_bytes")

    # ---- Members, templates, interpreters ---------------------------------------------------------

    def test_members_and_interpreters_fail(self):
        self.make_namespace(NAMESPACE)
        self.start().wait_healthy()
        self.plane.wait_members_ready()
        self.wait("the namespace in member1", lambda: self.plane.kube("member1").find(f"/api/v1/namespaces/{NAMESPACE}"))
        self.check(self.a_script_throws(), self.a_customization_lacks_its_function(), self.a_webhook_is_down(),
                   self.a_member_refuses(), self.a_member_is_down())

    def test_autoscalers_fail(self):
        self.make_namespace(NAMESPACE)
        self.start().wait_healthy()
        self.plane.wait_members_ready()
        self.check(self.nothing_serves_metrics(), self.a_rule_has_no_target())

    def nothing_serves_metrics(self):
        members = self.plane.members
        self.host.apply([divided_policy(NAMESPACE, members), deployment(NAMESPACE, "measured")])
        self.wait("the Deployment", lambda: suite.settled_deployments(self.host, NAMESPACE, members) == 1, 60)
        self.host.apply([self.autoscaler("FederatedHPA", "measured", minReplicas=1, maxReplicas=5, metrics=[{
            "type": "Resource", "resource": {"name": "cpu", "target": {"type": "Utilization", "averageUtilization": 50}}}])])
        yield [Raised("KarmadaFederatedHPAMetricsFail", "of the questions of FederatedHPAs for metrics (ResourceMetric) fail",
                      metricType="ResourceMetric")]
        active = conditions(self.host.get(f"{AUTOSCALING}/federatedhpas/measured"))["ScalingActive"]
        self.assertEqual(active[0], "False", active)
        self.assertIn("failed to get cpu utilization", active[1])
        self.host.delete(f"{AUTOSCALING}/federatedhpas/measured")

    def a_rule_has_no_target(self):
        self.host.apply([self.autoscaler("CronFederatedHPA", "absent", rules=[
            {"name": "always", "schedule": "* * * * *", "targetReplicas": 2}])])
        yield [Raised("KarmadaCronFederatedHPARulesFail", "A rule of a CronFederatedHPA has failed")]
        status = self.host.get(f"{AUTOSCALING}/cronfederatedhpas/absent")["status"]["executionHistories"][0]
        self.assertIn("not found", status["failedExecutions"][0]["message"])
        self.host.delete(f"{AUTOSCALING}/cronfederatedhpas/absent")

    @staticmethod
    def autoscaler(kind, name, **spec):
        """Of the Deployment of the same name."""
        return {"apiVersion": "autoscaling.karmada.io/v1alpha1", "kind": kind, "metadata": {"namespace": NAMESPACE, "name": name},
                "spec": {"scaleTargetRef": {"apiVersion": "apps/v1", "kind": "Deployment", "name": name}, **spec}}

    def a_member_is_down(self):
        self.plane.stop_apiserver("member2")
        yield [Raised("KarmadaClusterNotReady", "The cluster member2 is not ready.", member_cluster="member2")]
        ready = conditions(self.host.get("/apis/cluster.karmada.io/v1alpha1/clusters/member2"))["Ready"]
        self.assertEqual(ready[0], "False", ready)
        self.plane.start_apiserver("member2")

    def a_member_refuses(self):
        member, quotas = self.plane.kube("member1"), f"/api/v1/namespaces/{NAMESPACE}/resourcequotas"
        member.create(quotas, {"metadata": {"name": "none"}, "spec": {"hard": {"count/deployments.apps": "0"}}})
        self.wait("the quota", lambda: member.get(f"{quotas}/none").get("status", {}).get("hard"))
        self.host.apply([divided_policy(NAMESPACE, ["member1"]), *(deployment(NAMESPACE, f"app-{i}") for i in range(3))])
        yield [Raised("KarmadaWorksFail", "of the attempts to bring Works into members fail."),
               Raised("KarmadaReconcileErrors", "of the reconciles of execution-controller fail.",
                      controller="execution-controller"),
               Raised("KarmadaTemplatesNotArrived", "A template has not arrived in member1 for",
                      member_cluster="member1", state="not_applied")]
        listed = [line for line in self.host.kubectl("get", "works", "-A").splitlines() if "False" in line.split()]
        self.assertTrue(any("app-0" in line for line in listed), listed)
        member.delete(f"{quotas}/none")

    def a_script_throws(self):
        script = "function InterpretHealth(obj) error('as the test wants it') end"
        self.host.apply([self.customization("e2e-throwing", "v1", "ConfigMap", script), {
            "apiVersion": "policy.karmada.io/v1alpha1", "kind": "PropagationPolicy",
            "metadata": {"namespace": NAMESPACE, "name": "configmaps"},
            "spec": {"resourceSelectors": [{"apiVersion": "v1", "kind": "ConfigMap"}],
                     "placement": {"clusterAffinity": {"clusterNames": ["member1"]}}}},
            {"apiVersion": "v1", "kind": "ConfigMap", "metadata": {"namespace": NAMESPACE, "name": "judged"}}])
        self.addCleanup(self.host.delete, f"{INTERPRETER}customizations/e2e-throwing")
        for change in range(8):  # Its health is judged again with each change.
            self.host.merge(f"/api/v1/namespaces/{NAMESPACE}/configmaps/judged", {"data": {"change": str(change)}})
            time.sleep(1)
        yield [Raised("KarmadaScriptsFail", "of the runs of InterpretHealth in the customization e2e-throwing fail.",
                      customization="e2e-throwing", operation="InterpretHealth")]
        self.host.apply([self.customization("e2e-throwing", "v1", "ConfigMap",
                                            "function InterpretHealth(obj) return true end")])

    def a_customization_lacks_its_function(self):
        lacking, whole = "function SomethingElse(obj) return true end", "function InterpretHealth(obj) return true end"
        self.host.apply([self.customization("e2e-lacking", "batch/v1", "CronJob", lacking)])
        self.addCleanup(self.host.delete, f"{INTERPRETER}customizations/e2e-lacking")
        yield [Raised("KarmadaInterpreterConfigurationBroken", "ResourceInterpreterCustomization e2e-lacking has problems",
                      name="e2e-lacking", kind="ResourceInterpreterCustomization")]
        self.host.apply([self.customization("e2e-lacking", "batch/v1", "CronJob", whole)])

    def a_webhook_is_down(self):
        port, authority = free_port(), self.plane.pki.base64(self.plane.pki.crt("ca"))
        rule = {"operations": ["InterpretReplica"], "apiGroups": ["batch"], "apiVersions": ["v1"], "kinds": ["Job"]}
        job = {"apiVersion": "batch/v1", "kind": "Job", "spec": {"template": {"spec": {
            "containers": [{"name": "main", "image": "nginx:1.25"}], "restartPolicy": "Never"}}}}
        self.host.apply([
            {"apiVersion": "config.karmada.io/v1alpha1", "kind": "ResourceInterpreterWebhookConfiguration",
             "metadata": {"name": "e2e-down"}, "webhooks": [{
                 "name": "down.example.com", "interpreterContextVersions": ["v1alpha1"], "timeoutSeconds": 1,
                 "clientConfig": {"url": f"https://127.0.0.1:{port}/interpret", "caBundle": authority}, "rules": [rule]}]},
            {"apiVersion": "policy.karmada.io/v1alpha1", "kind": "PropagationPolicy",
             "metadata": {"namespace": NAMESPACE, "name": "jobs"},
             "spec": {"resourceSelectors": [{"apiVersion": "batch/v1", "kind": "Job"}],
                      "placement": {"clusterAffinity": {"clusterNames": ["member1"]}}}},
            *({**job, "metadata": {"namespace": NAMESPACE, "name": f"job-{i}"}} for i in range(3))])
        self.addCleanup(self.host.delete, f"{INTERPRETER}webhookconfigurations/e2e-down")
        yield [Raised("KarmadaInterpreterWebhookSuspended", "down.example.com has failed so many times")]
        server = self.webhook(port)
        self.addCleanup(server.shutdown)

    def webhook(self, port):
        """An interpreter webhook that says of each object that it has one replica."""
        pki = self.plane.pki

        class Answers(http.server.BaseHTTPRequestHandler):
            def do_POST(self):  # pylint: disable=invalid-name
                asked = json.loads(self.rfile.read(int(self.headers["Content-Length"])))
                body = json.dumps({"apiVersion": asked["apiVersion"], "kind": asked["kind"], "response": {
                    "uid": asked["request"]["uid"], "successful": True, "replicas": 1}}).encode()
                self.send_response(200)
                self.send_header("Content-Type", "application/json")
                self.send_header("Content-Length", str(len(body)))
                self.end_headers()
                self.wfile.write(body)

            def log_message(self, *_):  # pylint: disable=arguments-differ
                pass
        server = http.server.ThreadingHTTPServer(("127.0.0.1", port), Answers)
        context = ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER)
        context.load_cert_chain(pki.crt("server"), pki.key("server"))
        server.socket = context.wrap_socket(server.socket, server_side=True)
        threading.Thread(target=server.serve_forever, daemon=True).start()
        return server

    @staticmethod
    def customization(name, api_version, kind, script):
        return {"apiVersion": "config.karmada.io/v1alpha1", "kind": "ResourceInterpreterCustomization",
                "metadata": {"name": name}, "spec": {"target": {"apiVersion": api_version, "kind": kind},
                                                     "customizations": {"healthInterpretation": {"luaScript": script}}}}

    # ---- Servers that are slow or refuse ----------------------------------------------------------

    def test_the_control_plane_answers_too_many_requests(self):
        self.check(self.too_many_requests())

    def too_many_requests(self):
        """The user of the controller manager shares a priority level that has room for one request at a time, with
        others who fill it."""
        daemon = self.start()
        daemon.wait_healthy()
        limited = {"nominalConcurrencyShares": 0, "lendablePercent": 0, "borrowingLimitPercent": 0,
                   "limitResponse": {"type": "Reject"}}
        subject = {"kind": "User", "user": {"name": rights.USER}}
        rule = {"subjects": [subject], "resourceRules": [
            {"verbs": ["*"], "apiGroups": ["*"], "resources": ["*"], "clusterScope": True, "namespaces": ["*"]}]}
        self.host.create(f"{FLOWS}/prioritylevelconfigurations", {
            "metadata": {"name": "e2e-no-room"}, "spec": {"type": "Limited", "limited": limited}})
        self.addCleanup(self.host.delete, f"{FLOWS}/prioritylevelconfigurations/e2e-no-room")
        self.host.create(f"{FLOWS}/flowschemas", {
            "metadata": {"name": "e2e-manager"}, "spec": {"matchingPrecedence": 2, "rules": [rule],
                                                          "priorityLevelConfiguration": {"name": "e2e-no-room"}}})
        self.addCleanup(self.host.delete, f"{FLOWS}/flowschemas/e2e-manager")
        with self.crowd(daemon.kubeconfig):
            yield [Raised("KarmadaAPIServerRefuses", "of the requests with 429 or 5xx.",
                          host=urllib.parse.urlparse(self.host.server).netloc)]
        # A FlowSchema for this user that leads to a level with room.
        self.host.merge(f"{FLOWS}/flowschemas/e2e-manager", {"spec": {"priorityLevelConfiguration": {"name": "workload-high"}}})
        daemon.wait_healthy()

    @contextlib.contextmanager
    def crowd(self, kubeconfig):
        """Others who ask for the same things as the same user, without a pause."""
        over = threading.Event()

        def ask():
            kube = Kube(kubeconfig, self.plane.testbed.exe("kubectl"))
            while not over.is_set():
                with contextlib.suppress(ApiError):  # 429 as well.
                    kube.request("GET", "/apis/work.karmada.io/v1alpha1/works")
        threads = [threading.Thread(target=ask) for _ in range(4)]
        for thread in threads:
            thread.start()
        try:
            yield
        finally:
            over.set()
            for thread in threads:
                thread.join()

    def test_more_changes_than_requests_are_permitted(self):
        """Objects for which every step is a request, one worker and few requests in a second."""
        self.make_namespace(NAMESPACE)
        policy = divided_policy(NAMESPACE, ["nowhere"])
        policy["spec"]["resourceSelectors"] = [{"apiVersion": "v1", "kind": "ConfigMap"}]
        policy["spec"]["placement"].pop("replicaScheduling")
        self.host.apply([policy])
        for i in range(MANY):
            self.host.create(f"/api/v1/namespaces/{NAMESPACE}/configmaps", {"metadata": {"name": f"many-{i}"}})
        self.check(self.slow_queue())
        # The namespace would take longer to go with all of them in it than a test waits, and a webhook is asked about each.
        path = f"/api/v1/namespaces/{NAMESPACE}/configmaps"
        self.wait("the objects to go", lambda: not self.host.delete(f"{path}?limit=100")["items"], 240)
        self.wait("the bindings to go", lambda: not self.host.items(BINDINGS.format(NAMESPACE)), 240)

    def slow_queue(self):
        daemon = self.start("--kube-api-qps=10", "--kube-api-burst=10", "--concurrent-resource-template-syncs=1")
        yield [Raised("KarmadaQueueDeep", "objects wait in the queue"), Raised("KarmadaQueueSlow", "Objects wait ")]
        deep = self.prometheus.firing("KarmadaQueueDeep")
        print(f"  {[each['annotations']['summary'] for each in deep]}", flush=True)
        daemon.stop()
        self.start().wait_healthy()  # As fast as the server answers.


class SearchAlertsTest(SearchCase, AlertsCase):
    @classmethod
    def setUpClass(cls):
        super().setUpClass()
        pki = cls.plane.pki
        target = {"static_configs": [{"targets": [f"127.0.0.1:{cls.site.port}"]}], "scheme": "https", "tls_config": {
            "ca_file": str(pki.crt("ca")), "cert_file": str(pki.crt("admin")), "key_file": str(pki.key("admin"))}}
        cls.prometheus = prometheus.Prometheus(cls.plane, {SEARCH: target},
                                                prometheus.hastened(prometheus.rule_file(SEARCH)), "1s")
        cls.addClassCleanup(cls.prometheus.stop)
        cls.opensearch = OpenSearch(paths.BUILD / "e2e" / "opensearch-alerts")
        cls.addClassCleanup(cls.opensearch.stop)
        cls.opensearch.start()
        cls.ask_opensearch("PUT", {"mappings": {"_routing": {"required": True}}})
        cls.mirror()

    @classmethod
    def ask_opensearch(cls, method, body=None):
        """Makes or deletes the index of Lions, as somebody who runs OpenSearch does."""
        urllib.request.urlopen(urllib.request.Request(
            f"{cls.opensearch.url}/karmada-search-{LION.replace('/', '-')}-lion", body and json.dumps(body).encode(),
            {"Content-Type": "application/json"}, method=method)).close()

    @classmethod
    def mirror(cls):
        """A registry with a mirror."""
        item = registry("e2e-mirrored", [("v1", "ConfigMap"), (LION, "Lion")])
        item["spec"]["backendStore"] = {"openSearch": {
            "addresses": [cls.opensearch.url], "secretRef": {"namespace": "karmada-cluster", "name": "e2e-mirrored"}}}
        cls.host.apply([{"apiVersion": "v1", "kind": "Secret", "stringData": {"username": "u", "password": "p"},
                         "metadata": {"namespace": "karmada-cluster", "name": "e2e-mirrored"}}, item])
        cls.addClassCleanup(cls.host.delete, "/api/v1/namespaces/karmada-cluster/secrets/e2e-mirrored")
        cls.addClassCleanup(cls.host.delete, f"{REGISTRIES}/e2e-mirrored")

    def mirrored(self):
        """(status, message) of the registry's condition."""
        return conditions(self.host.get(f"{REGISTRIES}/e2e-mirrored")).get("Mirrored", ("", ""))

    # ---- Members, registries, rights --------------------------------------------------------------

    def test_members_registries_and_rights(self):
        self.wait("the refusal", lambda: "refused" in self.mirrored()[1], 60)
        self.addCleanup(self.plane.wait_members_ready)
        self.check(self.absent_names(), self.no_rights_to_the_lease(), self.a_document_is_refused(), self.a_member_is_killed())

    def a_member_is_killed(self):
        self.plane.apiserver("member2").kill()
        for _ in range(5):
            with contextlib.suppress(ApiError, OSError):
                self.host.merge(f"{PROXY}{CONFIGMAPS}/only-2", {"metadata": {"annotations": {"during": "death"}}})
            time.sleep(1)
        yield [Raised("KarmadaSearchMemberNotFollowed", "cannot follow member2", member_cluster="member2"),
               Raised("KarmadaSearchErrors", "of the requests to proxy with errors of its own", endpoint="proxy")]
        self.assertIn("Synced", " ".join(conditions(self.host.get(f"{REGISTRIES}/e2e-search"))))
        self.plane.start_apiserver("member2")

    def absent_names(self):
        item = registry("e2e-absent", [("v1", "ConfigMap")], clusters=["member1", "nowhere"])
        self.host.apply([item])
        self.addCleanup(self.host.delete, f"{REGISTRIES}/e2e-absent")
        yield [Raised("KarmadaSearchNameNotFound", "e2e-absent names clusters or kinds that do not exist", registry="e2e-absent")]
        self.assertIn("nowhere", conditions(self.host.get(f"{REGISTRIES}/e2e-absent"))["ClustersResolved"][1])
        self.host.merge(f"{REGISTRIES}/e2e-absent", {"spec": {"targetCluster": {"clusterNames": ["member1"]}}})

    def no_rights_to_the_lease(self):
        binding = "rolebinding/karmada-search"
        self.host.kubectl("-n", "karmada-system", "delete", binding)
        yield [Raised("KarmadaSearchNoWriter", "No karmada-search writes the conditions of the registries")]
        self.assertIn("leases", self.search.process.tail(200))
        self.host.apply((paths.SEARCH_MANIFESTS / "rbac.yaml").read_text())

    def a_document_is_refused(self):
        """Somebody had made the index of Lions with a mapping that asks for what documents of the mirror do not have."""
        yield [Raised("KarmadaSearchDocumentsRefused", "OpenSearch refuses 2 documents.")]
        self.assertRegex(self.mirrored()[1], "refused: 2, .*routing")
        self.ask_opensearch("DELETE")
        for number in (1, 2):
            self.plane.kube(f"member{number}").merge(f"{LIONS}/lion-{number}", {"spec": {"mane": "longer"}})

    # ---- OpenSearch, silence, memory --------------------------------------------------------------

    def test_servers_do_not_answer(self):
        self.wait("everything is mirrored", lambda: self.mirrored()[0] == "True", 60)
        self.check(self.opensearch_is_down(), self.a_member_is_silent(), timeout=300)

    def opensearch_is_down(self):
        self.opensearch.kill()
        self.put("member1", configmap("while-it-is-down"))
        yield [Raised("KarmadaSearchOpenSearchDown", "OpenSearch does not answer karmada-search."),
               Raised("KarmadaSearchMirrorStuck", "documents wait, and none is written to OpenSearch.")]
        self.assertEqual(self.mirrored()[0], "False", self.mirrored())
        self.opensearch.start()

    def a_member_is_silent(self):
        member = self.plane.apiserver("member2")
        member.pause()
        yield [Raised("KarmadaSearchLag", "member2 has not confirmed for ", member_cluster="member2")]
        member.resume()

    def test_more_memory_than_the_limit(self):
        self.check(self.little_memory())

    def little_memory(self):
        limit = MemoryLimit("karmada-search-alerts", 1024 * MIB)
        self.addCleanup(limit.close)
        self.addCleanup(self.shared.restart)
        self.addCleanup(lambda: self.search.stop())
        program = limit.wrap(self.plane.folder / "limited-search", paths.SEARCH)
        self.search.stop()
        self.shared.restart(exe=program)
        used = self.wait("its use to be seen", lambda: self.prometheus.values("karmada_memory_working_set_bytes"), 60)
        limit.change(int(max(used) / 0.92))
        yield [Raised("KarmadaSearchMemory", "has no memory for all it is to cache")]
        limit.change(1024 * MIB)


class EveryAlertTest(unittest.TestCase):
    needs_plane = False
    judges_all = True

    def test_each_alert_has_been_raised_by_its_fault(self):
        every = {alert for chart in NAMES for alert in prometheus.alerts(chart)}
        self.assertEqual(every - AlertsCase.raised, set(NOT_CAUSED))
