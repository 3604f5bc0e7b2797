"""Alerts and dashboards of the charts: every query is answered by a Prometheus that scrapes our programs under load."""

import contextlib
import json
import re
import unittest

import yaml

from rig import installers, paths, prometheus
from rig.daemon import Daemon
from rig.helm import NAMES, Helm, objects, the
from rig.hosting import Hosting
from rig.kube import ApiError
from rig.process import Process, free_port, wait_until
from rig.sandbox import Sandbox
from rig.search import REGISTRIES, VIEW
from rig.search_case import registry
from rig.suite import PlaneCase, deployment, divided_policy, require_binary, settled_deployments

MANAGER, SEARCH = NAMES
AGENT = "karmada-agent"
# {chart: values without which it renders nothing}
CHARTS = {MANAGER: {}, SEARCH: {}, AGENT: {"clusters": {"fromSecrets": "karmada-agent=yes"}}}
NAMESPACE = "e2e-monitoring"
LEASE = "/apis/coordination.k8s.io/v1/namespaces/karmada-system/leases/"
SECONDS = 150
# (alert or panel, why it has no data while all is well)
ONLY_WHEN_BROKEN = {
    "controller-manager.json: Edits that are not timed, per second": "here each edit may arrive before the next one",
    "KarmadaAgentMemory": "the agent has no memory limit here",
    "agent.json: Memory of the limit": "the agent has no memory limit here",
    "KarmadaControllerManagerMemory": "the daemon has no memory limit here",
    "KarmadaAPIServerRefuses": "no API server refuses requests with 429 or 5xx here",
    "KarmadaSearchErrors": "karmada-search answers no request with 5xx here",
    "KarmadaSearchMemory": "karmada-search has no memory limit here",
}


def may_lack(name):
    """Whether an alert or a panel, whose name may have its query behind it, may have no answer here."""
    return any(name == known or name.startswith(f"{known}: ") for known in ONLY_WHEN_BROKEN)


# What the load provokes, and what nothing provokes. The rest may go either way.
RAISED = {"KarmadaScriptsFail", "KarmadaInterpreterConfigurationBroken", "KarmadaSearchOpenSearchDown"}
QUIET = {"KarmadaNoLeader", "KarmadaControllerManagerMemory", "KarmadaClusterNotReady", "KarmadaReconcilePanics",
         "KarmadaQueueDeep", "KarmadaAPIServerRefuses", "KarmadaSearchNoWriter", "KarmadaSearchNameNotFound",
         "KarmadaSearchMemory"}
CONFIGMAPS = "/api/v1/namespaces/default/configmaps"
_LUA = "function InterpretHealth(obj) error('as the test wants it') end"
_LACKING = "function SomethingElse(obj) return true end"


def customization(name, api_version, kind, script):
    return {"apiVersion": "config.karmada.io/v1alpha1", "kind": "ResourceInterpreterCustomization", "metadata": {"name": name},
            "spec": {"target": {"apiVersion": api_version, "kind": kind},
                     "customizations": {"healthInterpretation": {"luaScript": script}}}}


def policy(name, api_version, kind, members, **more):
    return {"apiVersion": "policy.karmada.io/v1alpha1", "kind": "PropagationPolicy",
            "metadata": {"namespace": NAMESPACE, "name": name},
            "spec": {"resourceSelectors": [{"apiVersion": api_version, "kind": kind}],
                     "placement": {"clusterAffinity": {"clusterNames": members}}, **more}}


class FilesTest(unittest.TestCase):
    needs_plane = False

    def test_promtool_finds_nothing_wrong_with_the_rules(self):
        for chart in CHARTS:
            with self.subTest(chart):
                values = {"enabled": True, "runbooks": "https://docs.example.com/ops"}
                rendered = Helm().template(chart, {**CHARTS[chart], "prometheusRule": values})
                spec = the("PrometheusRule", objects(rendered))["spec"]
                file = paths.BUILD / "e2e-helm" / f"{chart}-rules.yaml"
                file.write_text(yaml.safe_dump(spec))
                for each in (file, paths.CHARTS / chart / "files" / "alerts.yaml"):
                    done = prometheus.check_rules(each)
                    self.assertEqual(done.returncode, 0, done.stdout + done.stderr)
                self.assertEqual(len(spec["groups"][0]["rules"]), len(prometheus.alerts(chart)))
                runbook = spec["groups"][0]["rules"][0]["annotations"]["runbook_url"]
                self.assertTrue(runbook.startswith("https://docs.example.com/ops#karmada"), runbook)

    def test_each_alert_is_raised_by_samples_beyond_its_threshold_and_by_no_others(self):
        for chart in CHARTS:
            with self.subTest(chart):
                file = prometheus.SAMPLES / f"{chart}.yaml"
                done = prometheus.test_rules(file)
                self.assertEqual(done.returncode, 0, done.stdout + done.stderr)
                checks = [check for test in yaml.safe_load(file.read_text())["tests"] for check in test["alert_rule_test"]]
                for raised in (True, False):
                    seen = {check["alertname"] for check in checks if bool(check.get("exp_alerts")) == raised}
                    self.assertEqual(seen, set(prometheus.alerts(chart)), "raised" if raised else "silent")

    def test_each_alert_has_its_section_in_the_runbook(self):
        headings = {line.strip("# ").lower() for line in (paths.ROOT / "docs/on-call.md").read_text().splitlines()
                    if line.startswith("### ")}
        for chart in CHARTS:
            for alert, rule in prometheus.alerts(chart).items():
                with self.subTest(alert):
                    self.assertEqual(rule["annotations"]["runbook_url"], f"docs/on-call.md#{alert.lower()}")
                    self.assertIn(alert.lower(), headings)

    def test_each_metric_is_documented(self):
        documented = (paths.ROOT / "docs/metrics.md").read_text()
        for chart in CHARTS:
            queries = [rule["expr"] for rule in prometheus.alerts(chart).values()]
            queries += [query for _, _, query in prometheus.panels(chart)]
            for metric in set(re.findall(r"\b([a-z_]+)\{|\b((?:karmada|cluster)_\w+)\b", " ".join(queries))):
                name = re.sub("_(bucket|count|sum)$", "", "".join(metric))
                if name == "member_cluster" or name.startswith("process_"):
                    continue
                with self.subTest(name):
                    self.assertIn(f"`{name}`", documented)

    def test_each_dashboard_has_a_name_of_its_own(self):
        boards = [json.loads(file.read_text()) for chart in CHARTS
                  for file in (paths.CHARTS / chart / "files" / "dashboards").glob("*.json")]
        self.assertEqual(len({board["uid"] for board in boards}), len(boards))
        for board in boards:
            ids = [panel["id"] for panel in board["panels"]]
            self.assertEqual(len(set(ids)), len(ids), board["title"])


class AgentMonitoringTest(unittest.TestCase):
    """The agent of a sandbox's member, with a Work that it can apply and one that it cannot."""

    needs_plane = False
    folder = paths.BUILD / "e2e" / "agent-monitoring"

    def setUp(self):
        for binary in (paths.SANDBOX, paths.AGENT):
            require_binary(binary)
        self.folder.mkdir(parents=True, exist_ok=True)
        self.site = self.enterContext(Sandbox(self.folder, "agent-monitoring"))
        port, cluster = free_port(), Sandbox.members[0]
        agent = self.start("agent", [
            paths.AGENT, f"--cluster-name={cluster}", f"--karmada-kubeconfig={self.site.kubeconfig()}",
            f"--kubeconfig={self.site.kubeconfig(cluster)}", "--leader-elect-resource-namespace=karmada-system",
            f"--metrics-bind-address=127.0.0.1:{port}", "--health-probe-bind-address=0"])
        self.addCleanup(agent.stop)
        targets = {AGENT: {"static_configs": [{"targets": [f"127.0.0.1:{port}"]}]}}
        self.prometheus = prometheus.Prometheus(self, targets, evaluate_every="1s")
        self.addCleanup(self.prometheus.stop)

    def start(self, name, command):
        return Process(name, command, self.folder / f"{name}.log")

    def test_every_query_has_an_answer(self):
        self.site.kube(Sandbox.members[0]).create(CONFIGMAPS, self.configmap("taken"))
        host = self.site.kube()
        host.create("/apis/policy.karmada.io/v1alpha1/namespaces/default/propagationpolicies", {
            **policy("configmaps", "v1", "ConfigMap", [Sandbox.members[0]]), "metadata": {"namespace": "default", "name": "configmaps"}})
        for name in ("taken", "fine"):
            host.create(CONFIGMAPS, self.configmap(name))
        rounds = iter(range(10**6))

        def answered():
            for name in ("taken", "fine"):
                host.merge(f"{CONFIGMAPS}/{name}", {"data": {"round": str(next(rounds))}})
            missing = {name: query for name, query in self.queries() if not self.prometheus.values(query)}
            self.assertEqual({name: query for name, query in missing.items() if not may_lack(name)}, {})
            return True
        wait_until("answers", answered, SECONDS, every=2)
        rules = self.prometheus.rules()
        self.assertEqual({name: rule.get("lastError") for name, rule in rules.items() if rule["health"] != "ok"}, {})
        self.assertEqual(rules["KarmadaAgentNoLeader"]["state"], "inactive")
        self.assertEqual(rules["KarmadaAgentWorksFail"]["state"], "pending")

    @staticmethod
    def configmap(name):
        return {"apiVersion": "v1", "kind": "ConfigMap", "metadata": {"namespace": "default", "name": name}}

    @staticmethod
    def queries():
        for alert, rule in prometheus.alerts(AGENT).items():
            yield alert, prometheus.without_comparison(rule["expr"])
        for file, panel, query in prometheus.panels(AGENT):
            yield f"{file}: {panel}", query


class MonitoringTest(PlaneCase):
    @classmethod
    def setUpClass(cls):
        super().setUpClass()
        require_binary(paths.SEARCH)
        cls.host.delete(LEASE + MANAGER)
        cls.daemon = Daemon(cls.plane, name="monitored", flags=[
            "--leader-elect=true", "--feature-gates=Failover=true,MultiClusterService=true",
            "--enable-no-execute-taint-eviction=true"])
        cls.addClassCleanup(cls.daemon.stop)
        cls.daemon.wait_healthy()
        cls.hosting = Hosting(cls.plane)
        cls.addClassCleanup(cls.hosting.close)
        cls.host.delete(LEASE + SEARCH)
        cls.search = cls.hosting.run("monitored-search", installers.deployments(SEARCH)["helm"])
        cls.search.wait("livenessProbe")
        cls.client = cls.hosting.client(cls.search, 443)
        cls.plane.pki.certificate("stranger", "e2e-stranger")
        cls.stranger = cls.hosting.client(cls.search, 443, "stranger")
        cls.plane.wait_members_ready()
        cls.prometheus = prometheus.Prometheus(cls.plane, cls.targets())
        cls.addClassCleanup(cls.prometheus.stop)

    @classmethod
    def targets(cls):
        pki = cls.plane.pki
        return {MANAGER: {"static_configs": [{"targets": [f"127.0.0.1:{cls.daemon.metrics_port}"]}]},
                SEARCH: {"static_configs": [{"targets": [f"{cls.search.address}:443"]}], "scheme": "https", "tls_config": {
                    "ca_file": str(pki.crt("ca")), "cert_file": str(pki.crt("admin")), "key_file": str(pki.key("admin"))}}}

    def test_every_query_has_an_answer(self):
        self.load()
        end = self.work_until_answered()
        missing = {name: query for name, query in self.queries() if not self.prometheus.values(query)}
        self.assertEqual({name: query for name, query in missing.items() if not may_lack(name)}, {}, f"after {end}")
        rules = self.prometheus.rules()
        wanted = {alert for chart in NAMES for alert in prometheus.alerts(chart)}
        self.assertEqual(set(rules), wanted)
        self.assertEqual({name: rule.get("lastError") for name, rule in rules.items() if rule["health"] != "ok"}, {})
        self.wait("the alerts that the load provokes", lambda: self.raised() >= RAISED)
        self.assertEqual(self.raised() & QUIET, set())

    def raised(self):
        return {name for name, rule in self.prometheus.rules().items() if rule["state"] != "inactive"}

    def queries(self):
        for chart in NAMES:
            for alert, rule in prometheus.alerts(chart).items():
                yield alert, prometheus.without_comparison(rule["expr"])
            for file, panel, query in prometheus.panels(chart):
                yield f"{file}: {panel}: {query}", query

    def work_until_answered(self):
        """Changes something again and again, until every query has an answer or time is up."""
        rounds = iter(range(10**6))

        def answered():
            self.change(next(rounds))
            missing = [name for name, query in self.queries()
                       if not may_lack(name) and not self.prometheus.values(query)]
            assert not missing, f"{len(missing)} without an answer: {missing[:5]}"
            return True
        try:
            wait_until("answers", answered, SECONDS, every=2)
        except AssertionError as error:
            return str(error)
        return "all have been answered"

    def load(self):
        """Apps, a Work that fails, scripts that fail, a webhook that does not answer, autoscalers without metrics, a quota, a
        service of several clusters, a registry with a mirror that is down."""
        host, members = self.host, self.plane.members
        self.make_namespace(NAMESPACE)
        for member in members:
            self.wait("the namespace in the members", lambda m=member: self.plane.kube(m).find(f"/api/v1/namespaces/{NAMESPACE}"))
        self.plane.kube(members[0]).apply([self.configmap("taken")])
        host.apply([customization("e2e-failing", "apps/v1", "StatefulSet", _LUA),
                    customization("e2e-lacking", "batch/v1", "CronJob", _LACKING), self.webhook()])
        for path in ("customizations/e2e-failing", "customizations/e2e-lacking", "webhookconfigurations/e2e-silent"):
            self.addCleanup(host.delete, f"/apis/config.karmada.io/v1alpha1/resourceinterpreter{path}")
        workload = deployment(NAMESPACE, "stateful")
        workload |= {"kind": "StatefulSet", "spec": {**workload["spec"], "serviceName": "none"}}
        host.apply([divided_policy(NAMESPACE, members), policy("configmaps", "v1", "ConfigMap", members),
                    policy("statefulsets", "apps/v1", "StatefulSet", members), policy("jobs", "batch/v1", "Job", members),
                    *(deployment(NAMESPACE, f"app-{i}") for i in range(5)), workload, self.configmap("taken"), self.job()])
        self.wait("the apps", lambda: settled_deployments(host, NAMESPACE, members) >= 5, 90)
        mirrored = registry("e2e-monitored", [("v1", "ConfigMap", ""), ("apps/v1", "Deployment", "")])
        mirrored["spec"]["backendStore"] = {"openSearch": {"addresses": ["http://127.0.0.1:1"], "secretRef": {
            "namespace": "karmada-cluster", "name": "e2e-monitored"}}}
        host.apply([{"apiVersion": "v1", "kind": "Secret", "stringData": {"username": "u", "password": "p"},
                     "metadata": {"namespace": "karmada-cluster", "name": "e2e-monitored"}}])
        self.addCleanup(host.delete, "/api/v1/namespaces/karmada-cluster/secrets/e2e-monitored")
        host.apply(self.autoscaling() + [self.quota(0), self.service(), self.exposure(0)])
        self.client.create(REGISTRIES, mirrored)
        self.addCleanup(self.client.delete, f"{REGISTRIES}/e2e-monitored")

    def change(self, number):
        """Something of everything that has a rate."""
        host = self.host
        host.merge(f"/apis/apps/v1/namespaces/{NAMESPACE}/deployments/app-0", {
            "metadata": {"labels": {"round": str(number)}}, "spec": {"replicas": 2 + number % 2}})
        host.merge(f"/apis/apps/v1/namespaces/{NAMESPACE}/statefulsets/stateful", {"spec": {"replicas": 2 + number % 2}})
        host.merge(f"/api/v1/namespaces/{NAMESPACE}/configmaps/taken", {"data": {"round": str(number)}})
        host.apply([self.configmap(f"round-{number}"), self.quota(number), self.exposure(number)])
        if number:
            host.delete(f"/api/v1/namespaces/{NAMESPACE}/configmaps/round-{number - 1}")
        self.client.get(f"{VIEW}/api/v1/configmaps")
        self.client.get(REGISTRIES)
        with contextlib.suppress(ApiError):  # Whether that is allowed is asked about; an administrator may do everything.
            self.stranger.get(REGISTRIES)

    @staticmethod
    def configmap(name):
        return {"apiVersion": "v1", "kind": "ConfigMap", "metadata": {"namespace": NAMESPACE, "name": name}, "data": {"k": "v"}}

    @staticmethod
    def job():
        container = {"name": "main", "image": "nginx:1.25"}
        return {"apiVersion": "batch/v1", "kind": "Job", "metadata": {"namespace": NAMESPACE, "name": "job"},
                "spec": {"template": {"spec": {"containers": [container], "restartPolicy": "Never"}}}}

    @staticmethod
    def autoscaling():
        """Nothing serves metrics in the control plane, so every question for them fails."""
        group, meta = "autoscaling.karmada.io/v1alpha1", {"namespace": NAMESPACE, "name": "web"}

        def target(name):
            return {"apiVersion": "apps/v1", "kind": "Deployment", "name": name}
        return [{"apiVersion": group, "kind": "FederatedHPA", "metadata": meta,
                 "spec": {"scaleTargetRef": target("app-1"), "minReplicas": 1, "maxReplicas": 10, "metrics": [{
                     "type": "Resource", "resource": {"name": "cpu", "target": {"type": "Utilization", "averageUtilization": 50}}}]}},
                {"apiVersion": group, "kind": "CronFederatedHPA", "metadata": meta,
                 "spec": {"scaleTargetRef": target("app-2"),
                          "rules": [{"name": "always", "schedule": "* * * * *", "targetReplicas": 2}]}}]

    def quota(self, number):
        return {"apiVersion": "policy.karmada.io/v1alpha1", "kind": "FederatedResourceQuota",
                "metadata": {"namespace": NAMESPACE, "name": "team"},
                "spec": {"overall": {"cpu": "100"}, "staticAssignments": [
                    {"clusterName": self.plane.members[0], "hard": {"cpu": str(50 + number % 2)}}]}}

    @staticmethod
    def service():
        return {"apiVersion": "v1", "kind": "Service", "metadata": {"namespace": NAMESPACE, "name": "app-0"},
                "spec": {"selector": {"app": "app-0"}, "ports": [{"name": "http", "port": 80}]}}

    def exposure(self, number):
        """The service in all members, to which one of two members offers its endpoints."""
        members = self.plane.members
        return {"apiVersion": "networking.karmada.io/v1alpha1", "kind": "MultiClusterService",
                "metadata": {"namespace": NAMESPACE, "name": "app-0"},
                "spec": {"types": ["CrossCluster"], "providerClusters": [{"name": members[number % 2]}],
                         "consumerClusters": [{"name": member} for member in members]}}

    def webhook(self):
        authority = self.plane.pki.base64(self.plane.pki.crt("ca"))
        rule = {"operations": ["InterpretReplica"], "apiGroups": ["batch"], "apiVersions": ["v1"], "kinds": ["Job"]}
        return {"apiVersion": "config.karmada.io/v1alpha1", "kind": "ResourceInterpreterWebhookConfiguration",
                "metadata": {"name": "e2e-silent"}, "webhooks": [{
                    "name": "silent.example.com", "interpreterContextVersions": ["v1alpha1"], "timeoutSeconds": 1,
                    "clientConfig": {"url": "https://127.0.0.1:1/interpret", "caBundle": authority}, "rules": [rule]}]}
