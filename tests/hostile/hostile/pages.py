"""Lists that are read page after page while objects change."""

import urllib.parse

from .attack import attack
from .site import PROXY

_PODS = PROXY + "/api/v1/pods?limit=100"


def _first(attacked):
    """Reads the first page; returns where the next one begins, and how many objects there are."""
    page = attacked.admin.request("GET", _PODS + "&resourceVersion=0")
    return page["metadata"]["continue"], len(page["items"]) + page["metadata"]["remainingItemCount"]


def _read(attacked, token, count, expected):
    """Reads so many further pages; returns the CPU time of each in milliseconds, and how many of them do not say how many
    objects follow."""
    before, wrong = attacked.process.cpu_seconds(), 0
    seen = 100
    for _ in range(count):
        page = attacked.admin.request("GET", f"{_PODS}&continue={urllib.parse.quote(token)}")
        seen += len(page["items"])
        wrong += seen + page["metadata"].get("remainingItemCount", 0) != expected
        token = page["metadata"].get("continue")
        if not token:
            break
    return (attacked.process.cpu_seconds() - before) / count * 1e3, wrong


@attack("pages while objects change", sizes={"short": 10, "long": 150},
        at_most={"wrong counts": 0, "growth MB": 60, "bystander failed": 0}, at_most_long={"CPU ms per page after changes": 8})
def pages_while_objects_change(attacked, count):
    """A reader reads pages of 100, first while nothing changes, then after some hundred changes in every member."""
    token, expected = _first(attacked)
    quiet, wrong = _read(attacked, token, count, expected)
    token, expected = _first(attacked)
    path = "/api/v1/namespaces/team-1/pods"
    for member in ("member1", "member2"):
        kube = attacked.member(member)
        names = [item["metadata"]["name"] for item in kube.request("GET", path + "?limit=100")["items"]]
        for name in names[: len(names) - 2]:
            kube.merge(f"{path}/{name}", {"metadata": {"labels": {"changed": "yes"}}})
        for name in names[len(names) - 2:]:
            pod = kube.request("GET", f"{path}/{name}")
            kube.delete(f"{path}/{name}")
            del pod["metadata"]["resourceVersion"], pod["metadata"]["uid"]
            pod["metadata"]["name"] += "-again"
            kube.create(path, pod)
    attacked.wait_quiet()
    busy, more_wrong = _read(attacked, token, count, expected)
    return {"CPU ms per page of a quiet fleet": quiet, "CPU ms per page after changes": busy, "wrong counts": wrong + more_wrong}
