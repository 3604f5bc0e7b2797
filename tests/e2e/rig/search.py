"""A karmada-search beside a plane: ours, or upstream's to compare with."""

import pathlib
import shutil
import time

import yaml

from . import paths
from .kube import Kube
from .plane import HOST
from .process import free_port, wait_until

USER = "system:karmada:karmada-search"
GROUP = "/apis/search.karmada.io/v1alpha1"
REGISTRIES = GROUP + "/resourceregistries"
PROXY = GROUP + "/proxying/karmada/proxy"
VIEW = GROUP + "/search/cache"
_API_SERVICE = "/apis/apiregistration.k8s.io/v1/apiservices/v1alpha1.search.karmada.io"
_LEASE = "/apis/coordination.k8s.io/v1/namespaces/karmada-system/leases/karmada-search"


class SearchSite:
    """What karmada-search needs on a plane: an etcd with TLS, certificates, a user with the rights of
    examples/karmada-search, and its place behind the control plane's API server. close() takes all of it away."""

    def __init__(self, plane):
        self.plane, self.host = plane, plane.host
        self.port = free_port()  # Where the control plane looks for it.
        self.folder = plane.folder / "search"
        self.folder.mkdir(exist_ok=True)
        self._running = []
        self.make_certificate()
        self.kubeconfig = plane.user("karmada-search-user", USER, group=None)
        self.etcd = SearchEtcd(plane)
        self.host.delete(_LEASE)
        self.host.apply((paths.SEARCH_MANIFESTS / "rbac.yaml").read_text())
        self.register()

    def make_certificate(self):
        """Writes a new serving certificate, and its key, over the present ones."""
        self.plane.pki.certificate("karmada-search", "karmada-search", names=[
            "IP:127.0.0.1", "DNS:localhost", "DNS:karmada-search.karmada-system.svc"])

    def close(self):
        for search in self._running:
            search.stop()
        self.host.delete(_API_SERVICE)
        self.host.delete("/api/v1/namespaces/karmada-system/services/karmada-search")
        self.host.kubectl("delete", "--ignore-not-found", "-f", paths.SEARCH_MANIFESTS / "rbac.yaml")
        self.etcd.remove()

    def register(self):
        """Registers the port with the control plane, or has it look there again."""
        pki, objects = self.plane.pki, (paths.SEARCH_MANIFESTS / "apiservice.yaml").read_text()
        service, registration = yaml.safe_load_all(objects.replace("{{caBundle}}", pki.base64(pki.crt("ca"))))
        service["spec"]["externalName"] = "localhost"
        registration["spec"]["service"]["port"] = self.port
        registration["metadata"]["annotations"] = {"e2e/looked-at": str(time.monotonic())}
        self.host.apply([service, registration])

    def start(self, exe=paths.SEARCH, name="karmada-search", port=None, flags=()):
        """Starts a karmada-search; it listens where the control plane looks unless another port is given."""
        search = Search(self, exe, name, port or self.port, flags)
        self._running.append(search)
        return search

    def wait_served(self, timeout=60):
        """Waits until the control plane passes requests on."""
        self.register()
        wait_until("search.karmada.io behind the control plane", lambda: _answers(self.host, REGISTRIES), timeout)


class SearchEtcd:
    """An etcd that only whoever has a certificate may use, for the registries alone."""

    def __init__(self, plane):
        self._plane, self._data = plane, plane.folder / "search-etcd"
        self.url = f"https://127.0.0.1:{free_port()}"
        self._peer = f"http://127.0.0.1:{free_port()}"
        self._process = None
        self.start()

    def start(self):
        pki = self._plane.pki.folder
        self._process = self._plane.start("search-etcd", [
            self._plane.testbed.exe("etcd"), f"--data-dir={self._data}", f"--listen-client-urls={self.url}",
            f"--advertise-client-urls={self.url}", f"--listen-peer-urls={self._peer}",
            f"--initial-advertise-peer-urls={self._peer}", f"--initial-cluster=default={self._peer}",
            f"--cert-file={pki}/server.crt", f"--key-file={pki}/server.key", f"--trusted-ca-file={pki}/ca.crt",
            "--client-cert-auth", "--unsafe-no-fsync", "--log-level=warn"])

    def stop(self):
        self._process.stop()

    def remove(self):
        self._process.kill()
        shutil.rmtree(self._data, ignore_errors=True)


class Search:
    """A running karmada-search."""

    def __init__(self, site, exe, name, port, flags):
        self.site, self.name, self.port = site, name, port
        plane = site.plane
        self.is_ours = pathlib.Path(exe).name != "upstream-search"
        self.direct = Kube(plane.pki.kubeconfig(
            site.folder / f"{name}.kubeconfig", f"https://127.0.0.1:{port}", "admin"), plane.testbed.exe("kubectl"))
        self.process = plane.start(name, [exe, *self._flags(port), *flags])

    def _flags(self, port):
        """Those of the shipped Deployment, with this machine's addresses and files."""
        pki, upstream = self.site.plane.pki.folder, self.site.plane.kubeconfigs[HOST]
        kubeconfig = self.site.kubeconfig if self.is_ours else upstream
        here = {"--kubeconfig": kubeconfig, "--etcd-servers": self.site.etcd.url, "--etcd-cafile": pki / "ca.crt",
                "--etcd-certfile": pki / "karmada-search-user.crt", "--etcd-keyfile": pki / "karmada-search-user.key",
                "--tls-cert-file": pki / "karmada-search.crt",
                "--tls-private-key-file": pki / "karmada-search.key", "--secure-port": port,
                "--shutdown-delay-duration": "0s"}
        _, deployment = yaml.safe_load_all((paths.SEARCH_MANIFESTS / "deployment.yaml").read_text())
        words = deployment["spec"]["template"]["spec"]["containers"][0]["command"][1:]
        flags = {**dict(word.split("=", 1) for word in words), **here, "--bind-address": "127.0.0.1"}
        if not self.is_ours:
            flags |= {"--authentication-kubeconfig": upstream, "--authorization-kubeconfig": upstream}
        return [f"{flag}={value}" for flag, value in flags.items()]

    def wait_ready(self, timeout=90):
        def ready():
            self.process.check_alive()
            return _answers(self.direct, "/readyz")
        wait_until(f"{self.name} ready", ready, timeout)

    def stop(self, timeout=35):
        return self.process.stop(timeout)



def _answers(kube, path):
    kube.request("GET", path, timeout=5)
    return True
