"""Lists that are long, or have no end."""

import collections
import json
import time

from .attack import attack
from .plane import wait

WORKS = "/apis/work.karmada.io/v1alpha1/works"


def _missing(attacked, text, seconds):
    """Waits for a text in the log; returns 1 if it does not come."""
    return int(not wait(lambda: text in attacked.log(), seconds))


def list_of(kind, items, version, token=""):
    """The bytes of a page; items are JSON texts."""
    metadata = json.dumps({"resourceVersion": version, **({"continue": token} if token else {})})
    return (f'{{"kind":"{kind}List","apiVersion":"v1","metadata":{metadata},"items":[{",".join(items)}]}}').encode()


@attack("watches that end while a long list goes on", target="manager", sizes={"short": 7, "long": 40},
        at_most={"growth MB": 40, "never resumed": 0},
        at_most_long={"slowest resumption s": 3, "bystander slowest s": 5})
def long_list(attacked, pages):
    """A list of Works has a page in a second; meanwhile all other watches of the control plane end, one after the other."""
    relay, ended, cut = attacked.control, [], {}
    whole = attacked.plane.kube().get(WORKS)
    items, version = [json.dumps(item) for item in whole["items"]], whole["metadata"]["resourceVersion"]

    def rule(asked):
        if not asked.is_list or asked.resource != "works":
            return False
        page = int(asked.query.get("continue", 0))
        time.sleep(1)
        if page == pages:
            ended.append(time.monotonic())
        # The last object is on the last page, so that each has something new.
        here = items[page:page + 1] if page < pages else items[page:]
        asked.answer(list_of("Work", here, version, str(page + 1) if page < pages else ""))
        return True

    with attacked.relist(relay, ["works"], rule):
        time.sleep(1)
        for path in relay.watched() - {WORKS}:
            cut[path] = time.monotonic()
            relay.cut(path)
            time.sleep(0.1)
        wait(lambda: ended, pages * 5 + 60)
        begun = list(relay.begun)
    waits = [min((at - when for at, which in begun if which == path and when < at < ended[0]), default=None)
             for path, when in cut.items()]
    return {"watches ended": len(cut), "never resumed": waits.count(None),
            "slowest resumption s": max((wait for wait in waits if wait is not None), default=0)}


@attack("lists that repeat themselves", target="manager", sizes={"short": 1, "long": 1},
        at_most={"growth MB": 60, "pages of one token": 2, "pages of one object": 1001, "not given up": 0},
        at_most_long={"bystander slowest s": 3})
def repeated_lists(attacked, _):
    """A list in a member whose pages have the same continue token, and one whose pages have the same object."""
    pages = collections.Counter()
    item = json.dumps({"metadata": {"name": "same", "namespace": "default", "uid": "u", "resourceVersion": "1"}})

    def rule(asked):
        if not asked.is_list or asked.resource not in ("configmaps", "secrets"):
            return False
        if not asked.query.get("continue"):
            pages[asked.resource, "lists"] += 1
        pages[asked.resource] += 1
        token = "same" if asked.resource == "configmaps" else f"token-{pages['secrets']}"
        asked.answer(list_of("ConfigMap" if asked.resource == "configmaps" else "Secret", [item], "5", token))
        return True

    with attacked.relist(attacked.member, ["configmaps", "secrets"], rule):
        missing = _missing(attacked, "repeats itself: its continue token has come before", 60)
        missing += _missing(attacked, "has had 1000 pages without a new object", 60)
    return {"pages of one token": pages["configmaps"] / max(pages["configmaps", "lists"], 1),
            "pages of one object": pages["secrets"] / max(pages["secrets", "lists"], 1), "not given up": missing}


@attack("a list of more than a member may take", target="manager", sizes={"short": 1, "long": 3}, flags=("--cluster-memory-mib=64",),
        at_most={"growth MB": 160, "not given up": 0, "events missing": 0, "sent MB": 600},
        at_most_long={"bystander slowest s": 3})
def too_long_list(attacked, kinds):
    """A list in a member, of objects of 4 kB without an end, where a member may take 64 MiB; then lists of other kinds."""
    sent, last = collections.Counter(), [0]

    def rule(asked):
        if not asked.is_list or asked.resource not in lists:
            return False
        begin = int(asked.query.get("continue", 0))
        items = [f'{{"metadata":{{"name":"o-{i}","namespace":"default","uid":"{i}","resourceVersion":"7",'
                 f'"annotations":{{"text":"{f"{i:8}" * 512}"}}}}}}' for i in range(begin, begin + 500)]
        page = list_of(lists[asked.resource], items, "999999999", str(begin + 500))
        sent[asked.resource] += len(page)
        asked.answer(page)
        last[0] = time.monotonic()
        return True

    going, names = 0, {"configmaps": "ConfigMap", "secrets": "Secret", "services": "Service"}
    for resource in list(names)[:kinds]:
        lists = {resource: names[resource]}
        with attacked.relist(attacked.member, [resource], rule):
            wait(lambda: attacked.events("ClusterMemoryExceeded"), 90)
            going += not wait(lambda: sent[resource] and time.monotonic() > last[0] + 2, 60)
    return {"sent MB": max(sent.values()) / 1e6, "not given up": going,
            "events missing": int(not attacked.events("ClusterMemoryExceeded"))}


@attack("a kind of more than a million objects", target="manager", sizes={"long": 1_000_500}, flags=("--cluster-memory-mib=3000",),
        at_most={"growth MB": 1500, "lists": 1, "not read": 0},
        at_most_long={"bystander slowest s": 10})
def million_pods(attacked, count):
    """So many pods in a member; of pods a few fields are kept."""
    asks, done = collections.Counter(), []

    def rule(asked):
        if asked.resource != "pods":
            return False
        if asked.is_watch:
            done.append(asked.query.get("resourceVersion"))
            asked.begin()
            asked.hold(60)
            return True
        begin = int(asked.query.get("continue", 0))
        asks["lists"] += begin == 0
        end = min(begin + 500, count)
        items = [f'{{"metadata":{{"name":"pod-{i}","namespace":"default","uid":"{i}","resourceVersion":"7"}},'
                 '"spec":{"nodeName":"node-1","containers":[{"name":"c","resources":{"requests":{"cpu":"1m"}}}]},'
                 '"status":{"phase":"Running"}}' for i in range(begin, end)]
        asked.answer(list_of("Pod", items, "999999999", str(end) if end < count else ""))
        return True

    with attacked.relist(attacked.member, ["pods"], rule):
        wait(lambda: "999999999" in done, 400)
        missing = int("999999999" not in done)
    return {"objects": count, "lists": asks["lists"], "not read": missing}
