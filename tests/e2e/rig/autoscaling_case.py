"""FederatedHPAs on real metrics: what pods in two members use goes through the members' metrics servers and
karmada-metrics-adapter to a controller manager, which scales the template, which the scheduler divides again."""

from . import paths
from .daemon import Daemon
from .metrics_site import MetricsSite
from .suite import DEPLOYMENTS, PlaneCase, deployment, divided_policy, settled_deployments

_AUTOSCALERS = "/apis/autoscaling.karmada.io/v1alpha1/namespaces/{}/federatedhpas"
_EVENTS = "/api/v1/namespaces/{}/events"
# Faster than by default (15 s), and pods count from the first second on.
_FLAGS = ["--horizontal-pod-autoscaler-sync-period=3s", "--horizontal-pod-autoscaler-cpu-initialization-period=1s",
          "--horizontal-pod-autoscaler-initial-readiness-delay=1s"]
_BOTH = ["member1", "member2"]
_CPU = {"type": "Resource", "resource": {"name": "cpu", "target": {"type": "Utilization", "averageUtilization": 50}}}


class AutoscalingCase(PlaneCase):
    """What holds with any controller manager; a subclass says with which: exe(testbed)."""

    exe = staticmethod(lambda testbed: paths.DAEMON)

    @classmethod
    def setUpClass(cls):
        super().setUpClass()
        cls.daemon = Daemon(cls.plane, cls.exe(cls.plane.testbed), name="autoscaling", flags=_FLAGS)
        cls.addClassCleanup(cls.daemon.stop)
        cls.daemon.wait_healthy()
        cls.plane.wait_members_ready()
        cls.metrics = MetricsSite(cls.plane)
        cls.addClassCleanup(cls.metrics.close)
        cls.metrics.start_adapter()

    def prepare(self, namespace, *metrics):
        """A Deployment of two replicas in two members, and an autoscaler of it from 2 to 6."""
        self.namespace = namespace
        self.host.create("/api/v1/namespaces", {"metadata": {"name": namespace}})
        self.addCleanup(self.remove_namespace)
        self.host.create(DEPLOYMENTS.format(namespace), deployment(namespace, "web", replicas=2))
        self.host.apply([divided_policy(namespace, _BOTH)])
        self.wait("the Deployment runs in both members",
                  lambda: settled_deployments(self.host, namespace, _BOTH) == 1, 60)
        self.autoscaler = f"{_AUTOSCALERS.format(namespace)}/web"
        self.host.apply([{
            "apiVersion": "autoscaling.karmada.io/v1alpha1", "kind": "FederatedHPA",
            "metadata": {"namespace": namespace, "name": "web"},
            "spec": {"scaleTargetRef": {"apiVersion": "apps/v1", "kind": "Deployment", "name": "web"},
                     "minReplicas": 2, "maxReplicas": 6, "metrics": list(metrics),
                     "behavior": {"scaleDown": {"stabilizationWindowSeconds": 0}}}}])

    def remove_namespace(self):
        """make_namespace() would have the shared daemon do it, while this one runs."""
        path = f"/api/v1/namespaces/{self.namespace}"
        self.host.delete(path)
        self.wait("the namespace is gone", lambda: self.host.find(path) is None, 60)

    def pods_use(self, cpu, members=tuple(_BOTH)):
        for member in members:
            self.metrics.servers[member].set_usage(self.namespace, "web", cpu=cpu, memory="8Mi")

    def wait_replicas(self, replicas):
        """Waits until the template and both members have them, and the status says so."""
        def scaled():
            status = self.status()
            in_members = [self.plane.kube(member).get(f"{DEPLOYMENTS.format(self.namespace)}/web")["spec"]["replicas"]
                          for member in _BOTH]
            seen = (self.host.get(f"{DEPLOYMENTS.format(self.namespace)}/web")["spec"]["replicas"], sum(in_members),
                    status.get("currentReplicas"), status.get("desiredReplicas"))
            assert seen == (replicas,) * 4, f"{seen} {self.conditions()}"
            self.assertLessEqual(max(in_members) - min(in_members), 1)
            return True
        self.wait(f"{replicas} replicas", scaled, 90)

    def status(self):
        return self.host.get(self.autoscaler).get("status", {})

    def conditions(self):
        """{type: (status, reason)} of the autoscaler."""
        return {c["type"]: (c["status"], c["reason"]) for c in self.status().get("conditions", [])}

    def wait_condition(self, kind, status, reason):
        def holds():
            assert self.conditions().get(kind) == (status, reason), self.conditions()
            return True
        self.wait(f"{kind} is {status}, {reason}", holds, 60)

    def messages(self, reason):
        """What events about the autoscaler say for a reason."""
        return {event["message"] for event in self.host.items(_EVENTS.format(self.namespace))
                if event["reason"] == reason and event["involvedObject"]["kind"] == "FederatedHPA"}

    # ---- The tests --------------------------------------------------------------------------------

    def test_cpu_in_both_members_scales_up_and_down_and_an_outage_of_metrics_changes_nothing(self):
        self.prepare("e2e-scale-cpu", _CPU)
        self.pods_use("5m")  # Of the 10m that each of them requests.
        self.wait("metrics of both pods", lambda: self.metrics.pods_with_metrics(self.namespace) == 2)
        self.wait_condition("ScalingActive", "True", "ValidMetricFound")
        self.wait_replicas(2)

        self.pods_use("15m", ["member1"])  # And still 5m in member2: 100 % of what is requested.
        self.wait("the template has been scaled", lambda: self.host.get(
            f"{DEPLOYMENTS.format(self.namespace)}/web")["spec"]["replicas"] == 4, 60)
        self.wait("all of it has metrics", lambda: self.metrics.pods_with_metrics(self.namespace) >= 4)
        self.pods_use("20m")
        self.wait_replicas(6)
        self.wait_condition("ScalingLimited", "True", "TooManyReplicas")
        self.assertEqual(self.conditions()["AbleToScale"][0], "True")
        self.assertIn("New size: 4; reason: cpu resource utilization (percentage of request) above target",
                      self.messages("SuccessfulRescale"))

        self.metrics.stop_adapter()
        self.pods_use("1m")
        self.wait_condition("ScalingActive", "False", "FailedGetResourceMetric")
        self.assertEqual(self.host.get(f"{DEPLOYMENTS.format(self.namespace)}/web")["spec"]["replicas"], 6)
        self.metrics.start_adapter()
        self.wait_replicas(2)
        self.wait_condition("ScalingActive", "True", "ValidMetricFound")
        self.assertIn("New size: 2; reason: All metrics below target", self.messages("SuccessfulRescale"))
        self.assertEqual(self.status()["currentMetrics"], [{"type": "Resource", "resource": {
            "name": "cpu", "current": {"averageUtilization": 10, "averageValue": "1m"}}}])

    def test_custom_metrics_of_pods_and_of_an_object_scale_by_the_one_that_wants_more(self):
        average = {"type": "AverageValue", "averageValue": "100"}
        self.prepare("e2e-scale-custom", {
            "type": "Pods", "pods": {"metric": {"name": "requests_per_second"}, "target": average}}, {
            "type": "Object", "object": {
                "metric": {"name": "queue_length"}, "target": {"type": "Value", "value": "10"},
                "describedObject": {"apiVersion": "v1", "kind": "Service", "name": "web"}}})
        members = [self.metrics.servers[member] for member in _BOTH]
        for server in members:
            server.set_value(self.namespace, "pods", "web", "requests_per_second", "100")
            server.set_value(self.namespace, "services", "web", "queue_length", "5")
        self.wait_condition("ScalingActive", "True", "ValidMetricFound")
        self.wait_replicas(2)
        # The adapter adds up what the clusters say about one object: 20, twice the target.
        members[0].set_value(self.namespace, "services", "web", "queue_length", "15")
        self.wait("the queue scales up", lambda: self.host.get(
            f"{DEPLOYMENTS.format(self.namespace)}/web")["spec"]["replicas"] == 4, 60)
        members[0].set_value(self.namespace, "services", "web", "queue_length", "5")
        for server in members:
            server.set_value(self.namespace, "pods", "web", "requests_per_second", "300")
        self.wait_replicas(6)
        for server in members:
            server.set_value(self.namespace, "pods", "web", "requests_per_second", "10")
            server.set_value(self.namespace, "services", "web", "queue_length", "1")
        self.wait_replicas(2)
