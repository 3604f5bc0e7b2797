"""What informers have to live through on a proxy URL: changes, ends of watches, members that come and go, a restart."""

import contextlib
import json

from . import clients
from .process import wait_until

SELECTOR = "followed=yes"


class Objects:
    """The followed objects of the members; a name is in one member only, as a store keyed by names needs it."""

    def __init__(self, site, namespace="default"):
        self._site = site
        self._paths = {kind: f"/api/v1/namespaces/{namespace}/{kind.lower()}s" for kind in ("Pod", "ConfigMap", "Secret")}

    def create(self, member, *numbers):
        for kind, path in self._paths.items():
            for number in numbers:
                self._site.kube(member).create(path, _object(kind, f"{member}-{number}"))

    def change(self, member, number, **labels):
        """Sets labels, or with None removes them."""
        for path in self._paths.values():
            self._site.kube(member).merge(f"{path}/{member}-{number}", {"metadata": {"labels": labels}})

    def delete(self, member, *numbers):
        for path in self._paths.values():
            for number in numbers:
                self._site.kube(member).request("DELETE", f"{path}/{member}-{number}", {"gracePeriodSeconds": 0})

    def remove_all(self):
        for member in self._site.members:
            for path in self._paths.values():
                for item in self._site.kube(member).items(path):
                    if item["metadata"]["name"].startswith(f"{member}-"):
                        self._site.kube(member).request("DELETE", f"{path}/{item['metadata']['name']}",
                                                        {"gracePeriodSeconds": 0})


def _object(kind, name):
    item = {"apiVersion": "v1", "kind": kind,
            "metadata": {"name": name, "labels": {"followed": "yes"}, "annotations": {"note": "<ünïcode> \"quoted\""}}}
    if kind == "Pod":
        item["spec"] = {"containers": [{"name": "main", "image": "nginx:1.25"}], "schedulerName": "nobody"}
    else:
        item["data"] = {"color": "Ymx1ZQ=="}
    return item


class InformerSession:
    """Some clients that see the same, step by step. The answers are kept for the log."""

    def __init__(self, test, site, started):
        self._test, self._site, self._clients = test, site, started
        self._before = [{} for _ in started]  # By client: (informer, what) -> count.
        self.steps = []

    def sync(self):
        """Each informer lists once, or has one watch begin with what there is."""
        for client, answer in zip(self._clients, self._answers("sync")):
            for name, report in answer["informers"].items():
                self._test.assertEqual(report["requests"].get(client.first), 1, f"{client.name}: {name} {report}")
        self.check("the start", relists=1)

    def check(self, what, members=None, relists=0):
        """Every informer has exactly what the members have, and has listed so often more at most. `members` are those
        that count; one with a "~" before its name cannot be asked, and counts as it was."""
        words = [member[1:] if member.startswith("~") else f"{member}={self._site.kubeconfig(member)}"
                 for member in (self._site.members if members is None else members)]
        for position, (client, answer) in enumerate(zip(self._clients, self._answers("check", *words))):
            self._test.assertTrue(answer["ok"], f"{client.name} after {what}: {json.dumps(answer, indent=1)[:6000]}")
            for name, report in answer["informers"].items():
                self._check_cost(client, position, name, report, what, relists)

    def _check_cost(self, client, position, name, report, what, relists):
        counts = {"lists": sum(report["requests"].get(f"{kind} 200", 0) for kind in ("list", "watch-list")),
                  "repeated": report["events"]["repeated"], "unseen": report["events"]["unseen"]}
        new = {key: count - self._before[position].get((name, key), 0) for key, count in counts.items()}
        self._before[position].update({(name, key): count for key, count in counts.items()})
        self.steps.append({"client": client.name, "after": what, "informer": name, "new": new, **report})
        self._test.assertLessEqual(new["lists"], relists, f"{client.name} after {what}: {name} {report}")
        if relists == 0:  # A list repeats what is known.
            self._test.assertEqual(set(new.values()), {0}, f"{client.name} after {what}: {name} {new} {report}")

    def wait_watches(self, count):
        """Waits until every informer has begun so many watches."""
        def begun():
            reports = [report for answer in self._answers("report") for report in answer["informers"].values()]
            requests = [report["requests"] for report in reports]
            assert all(r.get("watch", 0) + r.get("watch-list", 0) >= count for r in requests), requests
            return True
        wait_until(f"{count} watches", begun, 60)

    def disturb(self, how):
        """`cut` or `expire` (see tests/clients/informers)."""
        self._answers(how)

    def _answers(self, *words):
        for client in self._clients:
            client.say(*words)
        return [client.heard() for client in self._clients]


@contextlib.contextmanager
def started(folder, logs, site, versions, flags=()):
    """Informers of these versions of client-go, each with and without WatchListClient."""
    running = []
    try:
        for version in versions:
            for watch_list in (True, False):
                running.append(clients.informers(folder, logs, site.kubeconfig("proxy"), SELECTOR, version, watch_list,
                                                 flags))
        yield running
    finally:
        for client in running:
            client.stop()


def live_through(session, site, objects):
    """The whole session."""
    live_through_ends(session, site, objects)
    lose_member(session, site, objects)
    unjoin_member(session, site, objects)
    restart(session, site, objects)


def live_through_ends(session, site, objects):
    """Changes and ends of watches."""
    first, second = site.members[:2]
    session.sync()
    change_everything(objects, first, second)
    session.check("changes")
    session.disturb("cut")
    objects.create(second, 21)
    session.check("the end of every watch")
    session.disturb("expire")
    objects.create(first, 22)
    session.check("watches from versions that are gone", relists=1)


def change_everything(objects, first, second):
    objects.create(first, 10, 11)
    objects.create(second, 10, 11)
    objects.change(first, 10, color="blue")
    objects.change(second, 1, color="red")
    objects.delete(second, 2, 10)
    objects.change(first, 2, followed=None)  # As good as deleted, for who selects by the label.
    objects.change(second, 3, followed="no")
    objects.change(second, 3, followed="yes")


def lose_member(session, site, objects):
    """Its objects stay as they were known; the others go on; nobody has to list again when it is back."""
    first, second = site.members[:2]
    site.member_down(first)
    try:
        objects.create(second, 30)
        session.check("the loss of a member", members=[f"~{first}", second])
        session.disturb("cut")
        objects.create(second, 31)
        session.check("the end of every watch while a member is lost", members=[f"~{first}", second])
    finally:
        site.member_up(first)
    objects.create(first, 32)
    objects.delete(first, 1)
    session.check("the return of a member")


def unjoin_member(session, site, objects):
    """Its objects are deleted, and added again when it joins."""
    first, second = site.members[:2]
    site.unjoin(second)
    session.check("the unjoining of a member", members=[first])
    objects.create(second, 40)
    site.join(second)
    session.check("the joining of a member")


def restart(session, site, objects):
    """What has changed meanwhile is not missed. Versions from before the start are gone then: one list is due."""
    first, second = site.members[:2]
    site.stop_search()
    objects.create(first, 50)
    objects.delete(second, 11)
    site.start_search()
    session.check("a restart", relists=2)
    objects.create(second, 51)
    objects.delete(first, 50)
    session.check("changes after a restart")
