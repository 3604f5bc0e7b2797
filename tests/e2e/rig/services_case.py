"""Services across clusters: the EndpointSlices that one member's own controllers write for its pods reach another one."""

from . import paths
from .daemon import Daemon
from .suite import DEPLOYMENTS, PlaneCase, deployment

_SLICES = "/apis/discovery.k8s.io/v1/namespaces/{}/endpointslices"
_MCS = "networking.karmada.io/v1alpha1"
_EXPORTS = "multicluster.x-k8s.io/v1alpha1"
_OF_SERVICE = "kubernetes.io/service-name"
_MANAGER = "endpointslice.kubernetes.io/managed-by"
_KUBERNETES = "endpointslice-controller.k8s.io"
_COLLECTED = ("endpointslice.karmada.io/name", "multiclusterservice.karmada.io/name")
_PROVIDER, _CONSUMER = "member1", "member2"


class ServicesCase(PlaneCase):
    """What holds with any controller manager; a subclass says with which: exe(testbed)."""

    exe = staticmethod(lambda testbed: paths.DAEMON)

    @classmethod
    def setUpClass(cls):
        super().setUpClass()
        cls.daemon = Daemon(cls.plane, cls.exe(cls.plane.testbed), name="services",
                            flags=["--feature-gates=MultiClusterService=true"])
        cls.addClassCleanup(cls.daemon.stop)
        cls.daemon.wait_healthy()
        cls.plane.wait_members_ready()

    def prepare(self, namespace):
        """Two pods in the provider, of a Deployment, and a Service of theirs as a template that is propagated nowhere."""
        self.namespace = namespace
        self.host.create("/api/v1/namespaces", {"metadata": {"name": namespace}})
        self.addCleanup(self.remove_namespace)
        self.host.create(DEPLOYMENTS.format(namespace), deployment(namespace, "web", replicas=2))
        self.host.apply([_policy(namespace, "workload", [("apps/v1", "Deployment")], _PROVIDER), {
            "apiVersion": "v1", "kind": "Service", "metadata": {"namespace": namespace, "name": "web"},
            "spec": {"selector": {"app": "web"}, "ports": [{"name": "http", "port": 80, "targetPort": 8080}]}}])

    def remove_namespace(self):
        """make_namespace() would have the shared daemon do it, while this one runs."""
        path = f"/api/v1/namespaces/{self.namespace}"
        self.host.delete(path)
        self.wait("the namespace is gone", lambda: self.host.find(path) is None, 90)

    def pods(self):
        """The addresses of the provider's pods that run."""
        pods = self.plane.kube(_PROVIDER).items(f"/api/v1/namespaces/{self.namespace}/pods")
        return sorted(pod["status"]["podIP"] for pod in pods
                      if pod["status"].get("podIP") and "deletionTimestamp" not in pod["metadata"])

    def endpoints(self, cluster, service):
        """The addresses of a service in a cluster that its own controllers have not written."""
        return sorted(address for item in self.plane.kube(cluster).items(_SLICES.format(self.namespace))
                      if item["metadata"].get("labels", {}).get(_OF_SERVICE) == service
                      and item["metadata"]["labels"].get(_MANAGER) != _KUBERNETES
                      for endpoint in item["endpoints"] or [] for address in endpoint["addresses"])

    def service(self, cluster, name):
        return self.plane.kube(cluster).find(f"/api/v1/namespaces/{self.namespace}/services/{name}")

    def wait_endpoints(self, service, pods, clusters=(_CONSUMER,)):
        """Waits until so many pods run in the provider, and exactly they are behind the service in the clusters."""
        def there():
            want = self.pods()
            have = {cluster: self.endpoints(cluster, service) for cluster in clusters}
            assert len(want) == pods and all(found == want for found in have.values()), f"{want} {have}"
            return True
        self.wait(f"{pods} pods of {_PROVIDER} behind {service}", there, 90)

    def wait_no_endpoints(self, service, cluster):
        def gone():
            have = self.endpoints(cluster, service)
            assert not have, f"{cluster} still has {have}"
            return True
        self.wait(f"no pods behind {service} in {cluster}", gone, 90)

    def works_of_slices(self):
        """The names of the Works by which EndpointSlices of the namespace travel."""
        works = self.host.items("/apis/work.karmada.io/v1alpha1/works")
        return sorted(f"{work['metadata']['namespace']}/{work['metadata']['name']}" for work in works
                      if any(label in work["metadata"].get("labels", {}) for label in _COLLECTED)
                      and any(manifest["metadata"].get("namespace") == self.namespace
                              for manifest in work["spec"]["workload"]["manifests"]))

    def scale(self, replicas):
        self.host.merge(f"{DEPLOYMENTS.format(self.namespace)}/web", {"spec": {"replicas": replicas}})

    # ---- The tests --------------------------------------------------------------------------------

    def test_a_multi_cluster_service_brings_the_pods_of_its_providers_to_its_consumers(self):
        self.prepare("e2e-services")
        path = f"/apis/{_MCS}/namespaces/{self.namespace}/multiclusterservices/web"
        self.host.apply([{
            "apiVersion": _MCS, "kind": "MultiClusterService",
            "metadata": {"namespace": self.namespace, "name": "web"},
            "spec": {"types": ["CrossCluster"], "providerClusters": [{"name": _PROVIDER}],
                     "consumerClusters": [{"name": _CONSUMER}]}}])
        self.wait_endpoints("web", 2)
        self.assertIsNotNone(self.service(_CONSUMER, "web"))
        self.assertIsNotNone(self.service(_PROVIDER, "web"))
        self.wait("the conditions", lambda: {c["type"]: c["status"] for c in self.host.get(path).get(
            "status", {}).get("conditions", [])} == {"ServiceApplied": "True", "EndpointSliceDispatched": "True"})
        self.scale(4)
        self.wait_endpoints("web", 4)
        self.scale(1)
        self.wait_endpoints("web", 1)

        self.host.merge(path, {"spec": {"consumerClusters": [{"name": _PROVIDER}]}})
        self.wait_no_endpoints("web", _CONSUMER)
        self.host.merge(path, {"spec": {"consumerClusters": [{"name": _CONSUMER}]}})
        self.wait_endpoints("web", 1)
        self.host.delete(path)
        self.wait_no_endpoints("web", _CONSUMER)
        self.wait("no Works of slices are left", lambda: not self.works_of_slices(), 60)
        self.assertIsNone(self.host.find(path))

    def test_an_exported_service_can_be_imported_elsewhere(self):
        self.prepare("e2e-export")
        self.host.apply([
            {"apiVersion": _EXPORTS, "kind": "ServiceExport", "metadata": {"namespace": self.namespace, "name": "web"}},
            _policy(self.namespace, "export", [("v1", "Service"), (_EXPORTS, "ServiceExport")], _PROVIDER, "web"),
            {"apiVersion": _EXPORTS, "kind": "ServiceImport", "metadata": {"namespace": self.namespace, "name": "web"},
             "spec": {"type": "ClusterSetIP", "ports": [{"name": "http", "port": 80, "protocol": "TCP"}]}},
            _policy(self.namespace, "import", [(_EXPORTS, "ServiceImport")], _CONSUMER)])
        self.wait_endpoints("derived-web", 2, ["host", _CONSUMER])
        derived = self.service(_CONSUMER, "derived-web")
        self.assertEqual([port["port"] for port in derived["spec"]["ports"]], [80])
        self.scale(3)
        self.wait_endpoints("derived-web", 3, ["host", _CONSUMER])

        self.host.delete(f"/apis/{_EXPORTS}/namespaces/{self.namespace}/serviceexports/web")
        for cluster in ("host", _CONSUMER):
            self.wait_no_endpoints("derived-web", cluster)
        self.wait("no Works of slices are left", lambda: not self.works_of_slices(), 60)
        self.host.delete(f"/apis/{_EXPORTS}/namespaces/{self.namespace}/serviceimports/web")
        for cluster in ("host", _CONSUMER):
            self.wait(f"the derived service is gone from {cluster}",
                      lambda cluster=cluster: self.service(cluster, "derived-web") is None, 60)


def _policy(namespace, name, kinds, cluster, only=None):
    selectors = [{"apiVersion": version, "kind": kind, **({"name": only} if only else {})} for version, kind in kinds]
    return {"apiVersion": "policy.karmada.io/v1alpha1", "kind": "PropagationPolicy",
            "metadata": {"namespace": namespace, "name": name},
            "spec": {"resourceSelectors": selectors, "placement": {"clusterAffinity": {"clusterNames": [cluster]}}}}
