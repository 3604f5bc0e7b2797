"""All attacks against one process, and a process whose memory is full."""

import base64
import os

from rig.process import wait_until

from . import bodies, connections, live, pages, reviews, searches, shares, slow, sorts, watches
from .attack import ATTACKS, attack
from .group import restart_within, set_limit, used
from .site import CHART_LIMIT, MB, VIEW

_MODULES = {module.__name__ for module in (bodies, connections, live, pages, reviews, searches, shares, slow, sorts, watches)}
_SHORT = ("long bodies", "silent handshakes", "bodies that nobody takes", "sort keys")
_REGISTRIES = "/apis/search.karmada.io/v1alpha1/resourceregistries"


@attack("everything against one process", sizes={"short": "short", "long": "long"},
        at_most={"peak MB": CHART_LIMIT / MB, "threads": 240, "bystander failed": 0}, at_most_long={"afterwards MB": 500})
def everything(attacked, size):
    """The other attacks one after the other, within the memory limit of the chart; in the short form the quick ones that take
    most."""
    figures = {}
    restart_within(attacked, CHART_LIMIT)
    for one in ATTACKS:
        if one.run.__module__ in _MODULES and (size == "long" or one.name in _SHORT) and not any("{" in flag for flag in one.flags):
            one.run(attacked, one.sizes[size])
            figures[f"peak MB after {one.name}"] = attacked.process.peak_rss_bytes() / MB
    attacked.wait_quiet()
    return {**figures, "afterwards MB": attacked.process.rss_bytes() / MB}


def _synced_of(attacked, registry):
    """The message of the condition Synced of a member."""
    conditions = attacked.admin.get(f"{_REGISTRIES}/{registry}").get("status", {}).get("conditions", [])
    return next((c["message"] for c in conditions if c["type"] == "member1/Synced"), "")


def _memory_limit(attacked):
    """What the program takes for its limit."""
    return next(float(line.split()[-1]) for line in attacked.admin.request("GET", "/metrics").splitlines()
                if line.startswith("karmada_memory_limit_bytes"))


def _register(attacked, kind):
    name = kind.lower()
    attacked.admin.create(_REGISTRIES, {
        "apiVersion": "search.karmada.io/v1alpha1", "kind": "ResourceRegistry", "metadata": {"name": name},
        "spec": {"targetCluster": {}, "resourceSelectors": [{"apiVersion": "v1", "kind": kind}]}})
    return name


@attack("more objects than fit", sizes={"short": 100, "long": 400}, at_most={"bystander failed": 0})
def full_memory(attacked, count):
    """A kind is registered when 85 % of the memory are used, after so many objects of half a megabyte."""
    member, path = attacked.member("member1"), "/api/v1/namespaces/team-1/configmaps"
    names = [f"large-{number}" for number in range(count)]
    registries = []
    try:
        for name in names:
            member.create(path, {"metadata": {"name": name}, "data": {"x": base64.b64encode(os.urandom(375_000)).decode()}})
        registries.append(_register(attacked, "ConfigMap"))
        group = restart_within(attacked, 3 * CHART_LIMIT)
        if group is None:
            return {"skipped": "no cgroup can be made here"}
        wait_until("the large objects cached", lambda: "1 of 1 resource is synced" in _synced_of(attacked, "configmap"), 60)
        attacked.wait_quiet()
        limit = int(used(group) / 0.87)
        set_limit(group, limit)
        wait_until("the new limit known", lambda: _memory_limit(attacked) <= limit, 10)
        registries.append(_register(attacked, "Secret"))
        wait_until("the condition", lambda: "memory limit" in _synced_of(attacked, "secret"), 60)
        attacked.admin.get(f"{VIEW}{path}/large-1?resourceVersion=0")
        figures = {"limit MB": limit / MB, "used MB": used(group) / MB, "message": _synced_of(attacked, "secret")}
        set_limit(group, 2 * limit)
        wait_until("the kind cached", lambda: "1 of 1 resource is synced" in _synced_of(attacked, "secret"), 90)
        return figures
    finally:
        for registry in registries:
            attacked.admin.delete(f"{_REGISTRIES}/{registry}")
        for name in names:
            member.delete(f"{path}/{name}")


@attack("more objects of a member than it may have", sizes={"short": 620, "long": 620}, flags=("--cluster-memory-mib=100",),
        at_most={"growth MB": 250, "bystander failed": 0, "unexpected answers": 0})
def full_member(attacked, count):
    """So many objects of half a megabyte in one member, of which 100 MiB may be kept, in a kind that is registered then."""
    member, path = attacked.member("member1"), "/api/v1/namespaces/team-1/configmaps"
    names = [f"large-{number}" for number in range(count)]
    try:
        for name in names:
            member.create(path, {"metadata": {"name": name}, "data": {"x": base64.b64encode(os.urandom(375_000)).decode()}})
        registry = _register(attacked, "ConfigMap")
        wait_until("the condition", lambda: "MiB" in _synced_of(attacked, registry), 60)
        page = attacked.admin.request("GET", f"{VIEW}/api/v1/pods?limit=1&resourceVersion=0&cluster=member1")
        return {"message": _synced_of(attacked, registry), "unexpected answers": int(len(page["items"]) != 1)}
    finally:
        attacked.admin.delete(f"{_REGISTRIES}/configmap")
        for name in names:
            member.delete(f"{path}/{name}")
