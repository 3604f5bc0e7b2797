"""What is measured of a running karmada-search, ours or upstream's."""

import threading
import time
from dataclasses import dataclass

from rig.process import wait_until
from rig.search import PROXY, VIEW

from .load import middle, slowest
from .pods import NAME, NAMESPACES

ALL = PROXY + "/api/v1/pods"
ONE_NAMESPACE = PROXY + "/api/v1/namespaces/team-7/pods"
ONE_POD = ONE_NAMESPACE + "/" + NAME.format(n=7)
CACHED = "?resourceVersion=0"
# Five of fifty groups.
LABELLED = "&labelSelector=group+in+(1,2,3,4,5)"
TABLE = "application/json;as=Table;v=v1;g=meta.k8s.io,application/json"


@dataclass(frozen=True)
class Repeats:
    """How often each request is sent, so that a measurement takes about as long for either program."""

    lists: int
    live_lists: int
    small: int
    gets: int
    changes: int


@dataclass(frozen=True)
class Subject:
    """A running karmada-search that has synced, and how to reach it."""

    measured: object  # program.Measured
    load: object      # load.Load
    kube: object      # rig.kube.Kube


def wait_synced(subject, expected, timeout):
    """Waits until it says that it is ready, and has every pod of a namespace."""
    def synced():
        subject.measured.check_alive()
        subject.kube.request("GET", "/readyz", timeout=10)
        count = len(subject.kube.request("GET", ONE_NAMESPACE + CACHED, timeout=60)["items"] or [])
        assert count == expected, f"{count} of {expected} pods"
        return True
    wait_until("karmada-search synced", synced, timeout, every=0.05)


def memory(subject):
    """After the start, when nothing happens any more."""
    subject.measured.wait_quiet()
    return {"rss": subject.measured.rss(), "anonymous": subject.measured.anonymous(),
            "peak": subject.measured.peak(), "threads": subject.measured.threads()}


def lists(subject, repeats):
    """Lists and gets by one client: the median time of each, and the CPU time and bytes of the full list."""
    def timed(path, count, **options):
        return middle(subject.load.requests(path, count, **options))
    many, live, small = repeats.lists, repeats.live_lists, repeats.small
    before = subject.measured.cpu()
    full = subject.load.requests(ALL + CACHED, many)
    out = {"full": middle(full), "bytes": full["bytes"] / many,
           "full_cpu": (subject.measured.cpu() - before) / many}
    packed = subject.load.requests(ALL + CACHED, max(1, many // 2), gzip=1)
    out["full_gzip"], out["gzip_bytes"] = middle(packed), packed["bytes"] / max(1, many // 2)
    out["labelled"] = timed(ALL + CACHED + LABELLED, many)
    out["full_live"] = timed(ALL, live)
    out["page"] = timed(ALL + "?limit=500", small)
    out["page_table"] = timed(ALL + "?limit=500", small, accept=TABLE)
    out["namespace"] = timed(ONE_NAMESPACE + CACHED, repeats.gets // 4)
    out["namespace_live"] = timed(ONE_NAMESPACE, small)
    gets = subject.load.requests(ONE_POD + CACHED, repeats.gets)
    out["get"], out["get_slow"] = middle(gets), slowest(gets)
    out["get_live"] = timed(ONE_POD, repeats.gets)
    out["view"] = timed(VIEW + "/api/v1/pods", max(1, many // 2))
    out["view_namespace"] = timed(VIEW + "/api/v1/namespaces/team-7/pods", small)
    subject.measured.wait_quiet()
    out["rss"], out["peak"] = subject.measured.rss(), subject.measured.peak()
    return out


def reads_while_busy(subject, count, members):
    """Consistent reads while something else changes in every member (rig.kube.Kube), as leases do in any cluster: what is
    asked for is quiet, so that its cache has to prove that it is complete up to the member's present version."""
    stop = threading.Event()

    def change():
        path = "/api/v1/namespaces/team-1/configmaps"
        for member in members:
            if member.find(f"{path}/busy") is None:
                member.create(path, {"metadata": {"name": "busy"}})
        number = 0
        while not stop.wait(0.1):
            number += 1
            for member in members:
                member.merge(f"{path}/busy", {"data": {"at": f"{time.monotonic()} {number}"}})
    writer = threading.Thread(target=change, daemon=True)
    writer.start()
    try:
        full, get = subject.load.requests(ALL, count), subject.load.requests(ONE_POD, 2 * count)
        return {"full": middle(full), "full_slow": max(full["seconds"]), "get": middle(get),
                "get_slow": max(get["seconds"])}
    finally:
        stop.set()
        writer.join()


def clients(subject, count):
    """So many clients that read the full list at the same time."""
    measured = subject.measured
    measured.wait_quiet()
    measured.forget_peak()
    before, cpu = measured.rss(), measured.cpu()
    done = subject.load.requests(ALL + CACHED, count, connections=count)
    return {"clients": count, "wall": done["wall"], "slowest": max(done["seconds"]), "before": before,
            "peak": measured.peak(), "growth": measured.peak() / before, "cpu": (measured.cpu() - cpu) / count}


def watches(subject, count, changes, member, server):
    """So many clients that watch all pods, while pods of a member (its load.Load) change one after the other."""
    measured = subject.measured
    measured.wait_quiet()
    before = measured.rss()
    version = subject.kube.request("GET", ONE_NAMESPACE + CACHED)["metadata"]["resourceVersion"]
    member_version = server.request("GET", "/api/v1/namespaces/team-7/pods?limit=1")["metadata"]["resourceVersion"]
    query = "?watch=true&allowWatchBookmarks=true&timeoutSeconds=600&resourceVersion="
    with subject.load.watches(
            ALL + query + version, count, member.address, "/api/v1/pods" + query + member_version,
            f"/api/v1/namespaces/team-{{group}}/pods/{NAME}", NAMESPACES) as open_watches:
        open_watches.change(2)  # Connections and buffers have their size afterwards.
        measured.wait_quiet()
        with_watches, cpu = measured.rss(), measured.cpu()
        seen = open_watches.change(changes)
        time.sleep(0.5)
        return {"watches": count, "changes": changes, "rss": with_watches - before,
                "cpu": (measured.cpu() - cpu) / (changes * count), "rss_after": measured.rss() - before,
                "to_last": sorted(seen["toLast"]), "to_first": sorted(seen["toFirst"]),
                "to_member": sorted(seen["toMember"])}
