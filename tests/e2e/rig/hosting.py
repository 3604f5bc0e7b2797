"""What the pods of a control plane find in the cluster that hosts them: the Secrets of upstream's installers, and an etcd."""

import shutil

from . import paths
from .kube import Kube
from .plane import HOST
from .pod import Pod, new_address

_ETCD_NAMES = [f"{name}.karmada-system.svc.cluster.local" for name in ("etcd-client", "etcd-0.etcd", "karmada-etcd-client")]
PROGRAMS = {"karmada-controller-manager": paths.DAEMON, "karmada-search": paths.SEARCH}


class Hosting:
    """Runs our programs as pods beside a plane. close() ends all of them."""

    def __init__(self, plane):
        self.plane = plane
        self._pods, self._etcd, self._data = [], None, plane.folder / "hosting-etcd"
        self._etcd_address = new_address()

    def secrets(self, kubeconfig=None, address=None):
        """{name: {key: text}} of the Secrets of all installers; the kubeconfig is an administrator's if none is given, and the
        serving certificate is for an address, too, if one is given."""
        pki = self.plane.pki
        pki.certificate("pod", "karmada-pod", group="system:masters", names=[
            f"IP:{address or '127.0.0.1'}", "DNS:karmada-search.karmada-system.svc"])
        config = (kubeconfig or self.plane.kubeconfigs[HOST]).read_text()
        ca, crt, key = pki.crt("ca").read_text(), pki.crt("pod").read_text(), pki.key("pod").read_text()
        tls, etcd = {"tls.crt": crt, "tls.key": key}, {"etcd-ca.crt": ca, "etcd-client.crt": crt, "etcd-client.key": key}
        return {
            "karmada-controller-manager-config": {"karmada.config": config},
            "karmada-search-config": {"karmada.config": config},
            "karmada-kubeconfig": {"kubeconfig": config},
            "karmada-cert": {"karmada.crt": crt, "karmada.key": key, "server-ca.crt": ca, **etcd},
            "karmada-search-cert": tls,
            "karmada-search-etcd-client-cert": {"ca.crt": ca, **tls},
            "karmada-etcd-cert": etcd}

    def run(self, name, deployment, kubeconfig=None):
        """A pod of a Deployment."""
        spec, address = deployment["spec"]["template"]["spec"], new_address()
        program = spec["containers"][0]["command"][0].rsplit("/", 1)[1]
        if program == "karmada-search":
            self._start_etcd()
        pod = Pod(self.plane, name, spec, PROGRAMS[program], self.secrets(kubeconfig, address),
                  [(self._etcd_address, each) for each in _ETCD_NAMES], address)
        self._pods.append(pod)
        return pod

    def client(self, pod, port, user="admin"):
        """An administrator, or the owner of another certificate, at a port of a pod."""
        file = self.plane.folder / "pods" / f"{pod.process.name}-{user}.kubeconfig"
        return Kube(self.plane.pki.kubeconfig(file, f"https://{pod.address}:{port}", user), self.plane.testbed.exe("kubectl"))

    def close(self):
        for pod in self._pods:
            pod.stop(10)
        if self._etcd is not None:
            self._etcd.kill()
            shutil.rmtree(self._data, ignore_errors=True)

    def _start_etcd(self):
        if self._etcd is not None:
            return
        pki, address = self.plane.pki, self._etcd_address
        pki.certificate("hosting-etcd", "etcd", names=[f"IP:{address}", *(f"DNS:{name}" for name in _ETCD_NAMES)])
        url, peer = f"https://{address}:2379", f"http://{address}:2380"
        self._etcd = self.plane.start("hosting-etcd", [
            self.plane.testbed.exe("etcd"), f"--data-dir={self._data}", f"--listen-client-urls={url}",
            f"--advertise-client-urls={url}", f"--listen-peer-urls={peer}", f"--initial-advertise-peer-urls={peer}",
            f"--initial-cluster=default={peer}", f"--cert-file={pki.crt('hosting-etcd')}",
            f"--key-file={pki.key('hosting-etcd')}", f"--trusted-ca-file={pki.crt('ca')}", "--client-cert-auth",
            "--unsafe-no-fsync", "--log-level=warn"])
