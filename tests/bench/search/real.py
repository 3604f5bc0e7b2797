"""Both programs, one after the other, on a real control plane with two members full of pods."""

import time

from rig import paths
from rig.daemon import Daemon
from rig.plane import Plane
from rig.search import REGISTRIES, SearchSite

from . import cases, pods
from .load import Load
from .program import Measured

# What would go on working in the members, and use the CPU, while karmada-search is measured.
_STOPPED = ("-kube-controller-manager", "-scheduler", "-kwok", "-webhook")
OURS = cases.Repeats(lists=20, live_lists=5, small=20, gets=1000, changes=50)
UPSTREAM = cases.Repeats(lists=5, live_lists=2, small=5, gets=200, changes=15)
REGISTRY = {"apiVersion": "search.karmada.io/v1alpha1", "kind": "ResourceRegistry", "metadata": {"name": "pods"},
            "spec": {"targetCluster": {}, "resourceSelectors": [{"apiVersion": "v1", "kind": "Pod"}]}}


class RealStage:
    """The plane, its members' pods, and the place of karmada-search on it. Use as a context manager."""

    def __init__(self, folder, testbed, load_exe, total, say):
        self.plane = Plane(folder, testbed)
        self._exe, self._total, self._say = load_exe, total, say
        self.site = None

    def __enter__(self):
        self.plane.__enter__()
        try:
            self._prepare()
        except BaseException:
            self.plane.down()
            raise
        return self

    def __exit__(self, *_):
        self.plane.down()

    def load(self, address):
        pki = self.plane.pki
        return Load(self._exe, address, pki.crt("admin"), pki.key("admin"))

    def member(self):
        """The member that is changed: its load and its client."""
        name = self.plane.members[0]
        return self.load(self.plane.kube(name).server.removeprefix("https://")), self.plane.kube(name)

    def _prepare(self):
        plane = self.plane
        with Daemon(plane):
            plane.wait_members_ready()
        for process in plane.processes:
            if process.name.endswith(_STOPPED):
                process.stop()
        each, began = self._total // len(plane.members), time.monotonic()
        for number, name in enumerate(plane.members):
            kube = plane.kube(name)
            for group in range(pods.NAMESPACES):
                kube.create("/api/v1/namespaces", {"metadata": {"name": f"team-{group}"}})
            pods.fill_server(self.load(kube.server.removeprefix("https://")), plane.folder,
                             range(number * each, (number + 1) * each), f"{name}-node-0")
        self._say(f"{self._total:,} pods created in {time.monotonic() - began:.0f} s")
        self.site = SearchSite(plane)
        self._create_registry()

    def _create_registry(self):
        """By ours; upstream's finds it in the same etcd."""
        search = self.site.start(name="search-first")
        search.wait_ready()
        self.site.wait_served()
        search.direct.create(REGISTRIES, REGISTRY)
        search.stop()

    def measure(self, name, exe, repeats, client_counts, watchers):
        """The figures of one program."""
        began = time.monotonic()
        search = self.site.start(exe, name=f"search-{name}")
        subject = cases.Subject(Measured(search.process), self.load(f"127.0.0.1:{search.port}"), search.direct)
        cases.wait_synced(subject, self._total // pods.NAMESPACES, 240)
        out = {"start": time.monotonic() - began}
        out["memory"] = cases.memory(subject)
        out["start_cpu"] = subject.measured.cpu()
        self._say(f"{name}: synced after {out['start']:.1f} s, {out['memory']['rss'] / 1e6:.0f} MB")
        out["lists"] = cases.lists(subject, repeats)
        self._say(f"{name}: lists measured")
        out["busy"] = cases.reads_while_busy(subject, repeats.live_lists, [self.plane.kube(m) for m in self.plane.members])
        out["clients"] = self._clients(subject, client_counts, name)
        out["watches"] = cases.watches(subject, watchers, repeats.changes, *self.member())
        self._say(f"{name}: watches measured")
        search.stop()
        return out

    def _clients(self, subject, counts, name):
        """As many clients at once as the machine's memory bears, judged by the growth with fewer of them."""
        out = []
        for count in counts:
            if out and (out[-1]["peak"] - out[-1]["before"]) / out[-1]["clients"] * count > 0.7 * _available_bytes():
                self._say(f"{name}: {count} clients would need more memory than there is")
                break
            out.append(cases.clients(subject, count))
            self._say(f"{name}: {count} lists at once in {out[-1]['wall']:.1f} s, {out[-1]['growth']:.1f} times the memory")
        return out


def _available_bytes():
    with open("/proc/meminfo", encoding="ascii") as lines:
        return next(int(line.split()[1]) for line in lines if line.startswith("MemAvailable:")) * 1024


def programs(testbed, ours_only):
    """(name, executable, repeats) of what is measured."""
    yield "ours", paths.SEARCH, OURS
    if not ours_only:
        yield "upstream", testbed.exe("upstream-search"), UPSTREAM
