"""A sandbox whose control plane and one member are behind relays, with a controller manager that is attacked through them."""

import pathlib
import threading
import time
import urllib.request

from rig.pki import Pki
from rig.process import Process, free_port, wait_until
from rig.sandbox import Sandbox

from .figures import Figures, KEPT_STACKS
from .relay import Relay

CLUSTERS = "/apis/cluster.karmada.io/v1alpha1/clusters"
POLICIES = "/apis/policy.karmada.io/v1alpha1/namespaces/default/propagationpolicies"
LEASE = "/apis/coordination.k8s.io/v1/namespaces/karmada-system/leases/karmada-controller-manager"
HONEST, HOSTILE = Sandbox.members
# The kinds that the hostile member has something of, so that they are watched there.
BAIT = {"configmaps": {"kind": "ConfigMap", "data": {"n": "0"}}, "secrets": {"kind": "Secret", "stringData": {"n": "0"}},
        "services": {"kind": "Service", "spec": {"type": "LoadBalancer", "ports": [{"port": 80}]}},
        "serviceaccounts": {"kind": "ServiceAccount"}}
_ADDRESSES = 4 << 30


class Plane:
    """Each attack gets a controller manager of its own, all of them the same sandbox. Use as a context manager.

    `control` and `member` are the relays: every request to the control plane and to the hostile member passes one of them.
    """

    def __init__(self, logs, program):
        self._logs = pathlib.Path(logs)
        self._program = program
        self._sandbox = Sandbox(logs, "manager-sandbox", with_manager=False)
        self.folder = self._sandbox.folder
        self.control = self.member = None
        # What flags of attacks name: a certificate, its key, and a port for another server of the program.
        self.named = {}

    def __enter__(self):
        try:
            self._start()
        except BaseException:
            self.__exit__()
            raise
        return self

    def __exit__(self, *_):
        for relay in (self.control, self.member):
            if relay is not None:
                relay.__exit__()
        self._sandbox.__exit__()

    def kube(self, cluster="karmada"):
        """A new client, past the relays."""
        return self._sandbox.kube(cluster)

    @property
    def kubeconfig(self):
        """Of the control plane behind its relay."""
        return self.folder / "relayed.kubeconfig"

    def program(self, flags=(), before=()):
        """The command line of a controller manager, and the port of its health."""
        port = free_port()
        return port, [*before, "prlimit", f"--as={_ADDRESSES}", self._program, f"--kubeconfig={self.kubeconfig}",
                      f"--health-probe-bind-address=127.0.0.1:{port}", "--metrics-bind-address=0", "--v=1",
                      *([] if any(flag.startswith("--leader-elect") for flag in flags) else ["--leader-elect=false"]), *flags]

    def log(self, name):
        return self._logs / f"{name}.log"

    def attacked(self, attack):
        """A controller manager that is ready. Use as a context manager."""
        return AttackedManager(self, attack)

    def _start(self):
        self._sandbox.__enter__()
        pki = Pki(self.folder / "relay")
        pki.authority("ca")
        pki.certificate("relay", "relay", names=["IP:127.0.0.1"])
        pki.certificate("nobody", "nobody")
        self.named = {"crt": pki.crt("relay"), "key": pki.key("relay"), "port": free_port()}
        self.control, self.member = (
            Relay(self.folder / f"{cluster}.kubeconfig", pki.crt("relay"), pki.key("relay")) for cluster in ("karmada", HOSTILE))
        pki.kubeconfig(self.kubeconfig, self.control.url, "nobody")
        karmada = self.kube()
        karmada.merge(f"{CLUSTERS}/{HOSTILE}", {"spec": {"apiEndpoint": self.member.url, "insecureSkipTLSVerification": True}})
        for resource, manifest in BAIT.items():
            _put(karmada, resource, "bait", manifest)
        _put(karmada, "configmaps", "bystander", BAIT["configmaps"])
        for name, cluster, kinds in (("bait", HOSTILE, BAIT.values()), ("bystander", HONEST, [BAIT["configmaps"]])):
            karmada.create(POLICIES, {
                "apiVersion": "policy.karmada.io/v1alpha1", "kind": "PropagationPolicy", "metadata": {"name": name},
                "spec": {"placement": {"clusterAffinity": {"clusterNames": [cluster]}}, "resourceSelectors": [
                    {"apiVersion": "v1", "kind": manifest["kind"], "name": name} for manifest in kinds]}})


def wait(done, seconds):
    """Waits until it is done, for so long at most; returns whether it is."""
    end = time.monotonic() + seconds
    while not (is_done := done()) and time.monotonic() < end:
        time.sleep(0.1)
    return bool(is_done)


def _put(kube, resource, name, manifest):
    kube.create(f"/api/v1/namespaces/default/{resource}", {"apiVersion": "v1", "metadata": {"name": name}, **manifest})


class AttackedManager(Figures):
    """A running controller manager, and a bystander whose object it goes on bringing to the honest member."""

    def __init__(self, plane, attack):
        super().__init__()
        self.plane, self._attack = plane, attack
        self.control, self.member = plane.control, plane.member
        self._port = self._bystander = None
        self._log_begin = 0
        self._began = time.strftime("%Y-%m-%dT%H:%M:%SZ", time.gmtime())

    def __enter__(self):
        if self._attack.is_started:
            try:
                self.start([flag.format(**self.plane.named) for flag in self._attack.flags])
                wait_until("the bait in the hostile member", self._baited, 60)
                self.begin()
            except BaseException:
                self.__exit__()
                raise
        return self

    def __exit__(self, *_):
        if self._bystander is not None:
            self._bystander.stop()
        if self.process is not None:
            self.process.stop(35)

    def start(self, flags):
        """Starts the controller manager, which is ready then, but need not lead."""
        self._port, command = self.plane.program(flags)
        log = self.plane.log("controller-manager")
        self._log_begin = log.stat().st_size if log.exists() else 0
        self.process = Process("karmada-controller-manager", command, log)
        wait_until("the controller manager ready", self.is_ready, 60)

    def begin(self):
        """From here on its figures count, and the bystander looks. Waits until it does its work."""
        self._bystander = Bystander(self)
        self.begin_figures()

    @property
    def port(self):
        """Of the server of health."""
        return self._port

    def is_ready(self):
        self.process.check_alive()
        with urllib.request.urlopen(f"http://127.0.0.1:{self._port}/readyz", timeout=60) as answer:
            return answer.status == 200

    def log(self):
        """What this one has logged."""
        text = self.plane.log("controller-manager").read_bytes()
        return text[self._log_begin:].decode(errors="replace")

    def events(self, reason):
        """The events of this reason in the control plane, since the attack began."""
        return [event for event in self.plane.kube().items("/api/v1/namespaces/default/events")
                if event["reason"] == reason and event["lastTimestamp"] >= self._began]

    def relist(self, relay, resources, rule):
        """Within it, a rule answers a relay's requests, and the resources are listed again at once."""
        return _Relisted(relay, resources, rule)

    def finish(self):
        if self.process is None:
            return {}
        self.process.check_alive()
        self._bystander.stop()
        self.end_figures()
        self.figures["stacks without threads"] = max(self.stacks() - self.threads() - KEPT_STACKS, 0)
        self.figures |= self._bystander.figures()
        wait_until("the controller manager ready", self.is_ready, 30)
        return self.figures

    def _baited(self):
        kube = self.plane.kube(HOSTILE)
        return all(kube.find(f"/api/v1/namespaces/default/{resource}/bait") for resource in BAIT)


class _Relisted:
    """Says to the watch of each resource that its version is too old, once; then the rule answers everything."""

    def __init__(self, relay, resources, rule):
        self._relay, self._resources, self._rule = relay, resources, rule
        self._fresh = set(resources)

    def __enter__(self):
        self._ruled = self._relay.ruled(self._answer)
        self._ruled.__enter__()
        self._cut()
        return self

    def __exit__(self, *error):
        self._ruled.__exit__(*error)
        self._cut()  # What the rule holds open ends.

    def _cut(self):
        for resource in self._resources:
            self._relay.cut(resource)

    def _answer(self, asked):
        if asked.is_watch and asked.resource in self._fresh:
            self._fresh.discard(asked.resource)
            asked.answer({"kind": "Status", "apiVersion": "v1", "status": "Failure", "reason": "Expired", "code": 410}, 410)
            return True
        return self._rule(asked)


class Bystander:
    """Somebody who changes an object of the control plane and waits for it in the honest member, and asks for /readyz."""

    def __init__(self, attacked):
        self._attacked, self._stop = attacked, threading.Event()
        self._seconds, self._failures = [], []
        self._number = int(time.time())
        self._karmada, self._member = attacked.plane.kube(), attacked.plane.kube(HONEST)
        self._deliver(180)  # Until the daemon does its work, which may be much at first.
        self._seconds.clear()
        self._threads = [threading.Thread(target=self._run, args=(step,), daemon=True) for step in (self._deliver, self._ask)]
        for thread in self._threads:
            thread.start()

    def _run(self, step):
        while not self._stop.is_set():
            step()
            self._stop.wait(0.1)

    def _deliver(self, timeout=60):
        self._number += 1
        wanted, path = str(self._number), "/api/v1/namespaces/default/configmaps/bystander"
        self._karmada.merge(path, {"data": {"n": wanted}})
        began = time.monotonic()
        while (self._member.find(path) or {"data": {}})["data"].get("n") != wanted:
            if time.monotonic() > began + timeout:
                self._failures.append("an object was not brought to the other member in time")
                break
            if self._stop.is_set() and time.monotonic() > began + 10:
                break
            time.sleep(0.02)
        self._seconds.append(time.monotonic() - began)

    def _ask(self):
        try:
            if not self._attacked.is_ready():
                self._failures.append("not ready")
        except OSError as error:
            self._failures.append(f"/readyz: {error}")

    def stop(self):
        self._stop.set()
        for thread in self._threads:
            thread.join()

    def figures(self):
        return {"bystander asked": len(self._seconds), "bystander failed": len(self._failures),
                "bystander slowest s": max(self._seconds), "bystander failures": self._failures[:3]}
