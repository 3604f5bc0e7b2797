"""What the manager of tests/clients has to do through a proxy URL: it updates, patches and deletes ConfigMaps by their
colour."""

import json

from .informer_session import SELECTOR


def reconcile(test, site, manager, namespace="default"):
    """The whole session, in an empty namespace or one without followed ConfigMaps."""
    path = f"/api/v1/namespaces/{namespace}/configmaps"
    for member in site.members:
        for name, color in {"one": "blue", "two": "red", "three": "gone"}.items():
            _paint(site, path, member, name, color)
    test.assertTrue(manager.ask("sync")["ok"])
    _check(test, site, manager)
    for member in site.members:
        kube = site.kube(member)
        kube.merge(f"{path}/{member}-one", {"data": {"color": "green"}})
        kube.merge(f"{path}/{member}-two", {"data": {"color": "gone"}})
        _paint(site, path, member, "four", "white")
    _check(test, site, manager)
    left = {f"{member}-{name}" for member in site.members for name in ("one", "four")}
    test.assertEqual(left, {item["metadata"]["name"] for member in site.members
                            for item in site.kube(member).items(f"{path}?labelSelector={SELECTOR}")})


def _paint(site, path, member, name, color):
    site.kube(member).create(path, {"metadata": {"name": f"{member}-{name}", "labels": {"followed": "yes"}},
                                    "data": {"color": color}})


def _check(test, site, manager):
    """Everything is done, with one list, and writes that a member refused because of newer changes at most."""
    answer = manager.ask("check", *(f"{member}={site.kubeconfig(member)}" for member in site.members))
    test.assertTrue(answer["ok"], json.dumps(answer, indent=1))
    ends = {word.split()[-1] for word in answer["outcomes"]}
    test.assertLessEqual(ends, {"update", "patch", "delete", "Conflict", "NotFound"}, answer)
    test.assertEqual(answer["requests"].get("list", 0) + answer["requests"].get("watch-list", 0), 1, answer)
