"""The apps that are measured: a Deployment alone, or one that two other objects follow."""

from dataclasses import dataclass

from rig.suite import DEPLOYMENTS, deployment, divided_policy

_CORE = "/api/v1/namespaces/{}/{}"


@dataclass(frozen=True)
class App:
    """What one app consists of, and the budgets of its figures by their names in the report."""

    name: str
    title: str
    bindings: int
    follows: bool
    budgets: dict

    def policy(self, namespace, clusters):
        """The policy that divides the apps of a namespace over clusters."""
        return divided_policy(namespace, clusters, propagate_deps=self.follows)

    def create(self, host, namespace, name):
        """Creates one app, the Deployment last."""
        workload = deployment(namespace, name)
        if self.follows:
            self._create_followers(host, namespace, name)
            container = workload["spec"]["template"]["spec"]["containers"][0]
            container["envFrom"] = [{"configMapRef": {"name": name}}, {"secretRef": {"name": name}}]
        host.create(DEPLOYMENTS.format(namespace), workload)

    def _create_followers(self, host, namespace, name):
        meta = {"metadata": {"namespace": namespace, "name": name}}
        host.create(_CORE.format(namespace, "configmaps"), {**meta, "data": {"colour": "blue"}})
        host.create(_CORE.format(namespace, "secrets"), {**meta, "stringData": {"key": "for the benchmark"}})


ALONE = App("alone", "Deployments", 1, False, {"writes": 12, "events": 4, "cpu": 4, "rss": 30})
WITH_DEPENDENCIES = App("dependencies", "Deployments, each with a ConfigMap and a Secret that follow it", 3, True,
                        {"writes": 28, "events": 8.5, "cpu": 8, "rss": 45})
