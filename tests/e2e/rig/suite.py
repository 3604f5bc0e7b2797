"""What the test cases share: one plane, and one daemon that runs while nobody needs another."""

import contextlib
import time
import unittest

from . import paths
from .daemon import Daemon
from .process import wait_until

WORK = "/apis/work.karmada.io"
BINDINGS = WORK + "/v1alpha2/namespaces/{}/resourcebindings"
DEPLOYMENTS = "/apis/apps/v1/namespaces/{}/deployments"



class Part:
    """What is run of that which takes turns: the Ith of N parts, by default everything."""

    def __init__(self, index=1, parts=1):
        self._index, self._parts = index, parts

    @staticmethod
    def parse(text):
        """Reads "I/N"; a ValueError if it is something else."""
        index, parts = map(int, text.split("/"))
        if not 1 <= index <= parts:
            raise ValueError(text)
        return Part(index, parts)

    @property
    def is_whole(self):
        return self._parts == 1

    def of(self, items):
        return list(items)[self._index - 1::self._parts]

    def of_cases(self, tests):
        """All cases, but those that take turns only if their class is in this part."""
        tests = list(tests)
        turns = sorted({type(test).__qualname__ for test in tests if getattr(test, "takes_turns", False)})
        absent = set(turns) - set(self.of(turns))
        return [test for test in tests if type(test).__qualname__ not in absent]


part = Part()
ran = set()  # The names of the cases' modules of which a test has begun.

_plane = None
_daemon = None
_shared = {}  # What the cases of the daemon share besides it, by name.


@contextlib.contextmanager
def on(plane):
    """Runs the cases on this plane; within another one, on this instead of that one."""
    global _plane
    stop_daemon()
    before, _plane = _plane, plane
    try:
        yield
    finally:
        stop_daemon()
        _plane = before


def shared(name, make):
    """What make() has started, once for all cases of the daemon; its close() ends it before the daemon stops."""
    if name not in _shared:
        _shared[name] = make()
    return _shared[name]


def stop_daemon():
    """Stops the shared daemon, if it runs, and what is shared besides it."""
    global _daemon
    while _shared:
        _shared.popitem()[1].close()
    if _daemon is not None:
        _daemon.stop()
        _daemon = None


def _running_daemon():
    global _daemon
    if _daemon is None or not _daemon.process.alive():
        _daemon = Daemon(_plane)
        _daemon.wait_healthy()
        _plane.wait_members_ready()
    return _daemon


class PlaneCase(unittest.TestCase):
    """Tests on the plane that start what they need themselves."""

    maxDiff = 4000

    @classmethod
    def setUpClass(cls):
        stop_daemon()
        cls.plane, cls.host = _plane, _plane.host

    def make_namespace(self, name):
        """A namespace for one test; it and what is propagated from it go with the test."""
        path = "/api/v1/namespaces"
        self.host.create(path, {"metadata": {"name": name}})
        self.addCleanup(self._remove_namespace, f"{path}/{name}")
        return name

    def _remove_namespace(self, path):
        _running_daemon()  # What is propagated goes only with its finalizers' owner at work.
        self.host.delete(path)
        wait_until(f"{path} gone", lambda: self.host.find(path) is None, 60)

    def wait(self, what, condition, timeout=30):
        return wait_until(what, condition, timeout)


class DaemonCase(PlaneCase):
    """Tests of the plane with our daemon on it."""

    @classmethod
    def setUpClass(cls):
        cls.plane, cls.host = _plane, _plane.host
        cls.daemon = _running_daemon()


def require_binary(path):
    """Skips the test if this was not built."""
    if not path.exists():
        raise unittest.SkipTest(f"{path.name} is not built")


# ---- Objects the cases use ------------------------------------------------------------------------


def deployment(namespace, name, replicas=2, labels=None):
    labels = {"app": name, **(labels or {})}
    container = {"name": "main", "image": "nginx:1.25",
                 "resources": {"requests": {"cpu": "10m", "memory": "16Mi"}}}
    return {"apiVersion": "apps/v1", "kind": "Deployment",
            "metadata": {"namespace": namespace, "name": name, "labels": labels},
            "spec": {"replicas": replicas, "selector": {"matchLabels": {"app": name}},
                     "template": {"metadata": {"labels": {"app": name}}, "spec": {"containers": [container]}}}}


def divided_policy(namespace, clusters, name="all-deployments", propagate_deps=False):
    """Divides the Deployments of a namespace evenly over clusters."""
    weights = [{"targetCluster": {"clusterNames": [c]}, "weight": 1} for c in clusters]
    return {"apiVersion": "policy.karmada.io/v1alpha1", "kind": "PropagationPolicy",
            "metadata": {"namespace": namespace, "name": name},
            "spec": {"resourceSelectors": [{"apiVersion": "apps/v1", "kind": "Deployment"}],
                     "propagateDeps": propagate_deps,
                     "placement": {"clusterAffinity": {"clusterNames": clusters},
                                   "replicaScheduling": {"replicaSchedulingType": "Divided",
                                                         "replicaDivisionPreference": "Weighted",
                                                         "weightPreference": {"staticWeightList": weights}}}}}


def settled_bindings(host, namespace, clusters):
    """How many bindings are applied and healthy in all these clusters."""
    def is_settled(item):
        aggregated = item.get("status", {}).get("aggregatedStatus", [])
        conditions = {c["type"]: c["status"] for c in item.get("status", {}).get("conditions", [])}
        return (conditions.get("FullyApplied") == "True" and len(aggregated) == len(clusters)
                and all(a.get("applied") and a.get("health") == "Healthy" for a in aggregated))
    return sum(map(is_settled, host.items(BINDINGS.format(namespace))))


def ready_deployments(host, namespace):
    """How many Deployments report every replica ready."""
    return sum(d.get("status", {}).get("readyReplicas") == d["spec"]["replicas"]
               for d in host.items(DEPLOYMENTS.format(namespace)))


def settled_deployments(host, namespace, clusters):
    """How many Deployments are applied everywhere and report every replica ready; nothing else may be bound here."""
    return min(settled_bindings(host, namespace, clusters), ready_deployments(host, namespace))


def wait_quiet(audit, seconds=5.0, timeout=90, user=None):
    """Waits until nothing (leases apart) has been written for a while."""
    end, last, since = time.monotonic() + timeout, None, time.monotonic()
    while time.monotonic() < end:
        now = audit.count(user, apart=("leases",))
        if now != last:
            last, since = now, time.monotonic()
        elif time.monotonic() - since > seconds:
            return
        time.sleep(0.5)
    raise AssertionError(f"still writing after {timeout} s: {dict(last)}")


def testbed_exe(name):
    """A program of the testbed; there need not be a plane."""
    return (_plane.testbed if _plane is not None else paths.Testbed.build()).exe(name)


def kubectl():
    """The kubectl of the testbed's Kubernetes version; there need not be a plane."""
    return testbed_exe("kubectl")
