"""Upstream's karmada-search and ours on the same etcd: either can take the other's place, and both can run during the exchange."""

import json

from rig.process import free_port
from rig.search import PROXY, REGISTRIES
from rig.search_case import CONFIGMAPS, NAMESPACE, SearchCase, configmap, registry

FULL = {
    **registry("from-upstream", [("v1", "Pod"), ("v1", "Node", ""), ("apps/v1", "Deployment")]),
    "metadata": {"name": "from-upstream", "labels": {"made": "by-upstream"}, "annotations": {"note": "hello"}}}
FULL["spec"] = {
    **FULL["spec"],
    "targetCluster": {
        "clusterNames": ["member1", "member2"], "exclude": ["member3"],
        "labelSelector": {"matchExpressions": [{"key": "no-such-label", "operator": "DoesNotExist"}]},
        "fieldSelector": {"matchExpressions": [{"key": "region", "operator": "NotIn", "values": ["nowhere"]}]}}}


def written(item):
    """What somebody has written: an object without what its servers add."""
    meta = {key: item["metadata"].get(key) for key in ("name", "labels", "annotations", "uid", "creationTimestamp")}
    return {"apiVersion": item["apiVersion"], "kind": item["kind"], "metadata": meta, "spec": item["spec"]}


class SearchUpstreamTest(SearchCase):
    @classmethod
    def setUpClass(cls):
        super().setUpClass()
        search = cls.site.start(cls.plane.testbed.exe("upstream-search"), name="search-upstream", port=free_port())
        cls.addClassCleanup(search.stop)
        search.wait_ready()
        cls.upstream = search.direct

    def test_registries_of_upstream_are_read_and_kept_and_back(self):
        upstream, ours = self.upstream, self.search.direct
        path = f"{REGISTRIES}/from-upstream"
        made = upstream.create(REGISTRIES, FULL)
        self.addCleanup(self.host.delete, path)
        self.assertEqual(written(ours.get(path)), written(made))
        self.shared.wait_synced("from-upstream")  # Ours has filled its status.
        self.assertEqual(written(upstream.get(path)), written(made))
        self.assertEqual(upstream.get(path)["status"], ours.get(path)["status"])

        ours.merge(path, {"metadata": {"labels": {"changed": "by-ours"}}, "spec": {"targetCluster": {"clusterNames": ["member1"]}}})
        changed = upstream.get(path)
        self.assertEqual(changed["metadata"]["labels"], {"made": "by-upstream", "changed": "by-ours"})
        self.assertEqual(changed["spec"]["targetCluster"]["clusterNames"], ["member1"])
        self.assertEqual(changed["spec"]["targetCluster"]["exclude"], ["member3"])
        # Each guards its writes by the versions of the other.
        self.error("PUT", path, 409, upstream, body=made)
        self.error("PUT", path, 409, ours, body=made)
        upstream.request("PUT", path, changed)
        ours.request("PUT", path, ours.get(path))
        ours.kubectl("apply", "--server-side", "--force-conflicts", "-f", "-", text=json.dumps(FULL))
        self.assertEqual(upstream.get(path)["spec"], FULL["spec"])

        other = f"{REGISTRIES}/from-ours"
        made = ours.create(REGISTRIES, {**FULL, "metadata": {"name": "from-ours"}})
        self.addCleanup(self.host.delete, other)
        self.assertEqual(written(upstream.get(other)), written(made))
        self.assertEqual([item["metadata"]["name"] for item in upstream.items(REGISTRIES)],
                         [item["metadata"]["name"] for item in ours.items(REGISTRIES)])
        upstream.delete(path)
        self.assertIsNone(ours.find(path))
        ours.delete(other)
        self.assertIsNone(upstream.find(other))

    def test_a_page_of_one_is_followed_by_a_page_of_the_other(self):
        upstream, ours = self.upstream, self.search.direct
        path = f"{PROXY}/apis/apps/v1/namespaces/{NAMESPACE}/deployments?limit=1"
        for first, second in ((upstream, ours), (ours, upstream)):
            page = first.get(path)
            self.assertEqual([item["metadata"]["name"] for item in page["items"]], ["web-1"])
            rest = second.get(f"{path}&continue={page['metadata']['continue']}")
            self.assertEqual([item["metadata"]["name"] for item in rest["items"]], ["web-2"])

    def test_lists_and_watches_begun_at_one_go_on_at_the_other(self):
        def listed(kube):
            answer = kube.get(f"{PROXY}{CONFIGMAPS}")
            names = sorted((item["metadata"]["annotations"]["resource.karmada.io/cached-from-cluster"],
                            item["metadata"]["name"]) for item in answer["items"])
            return names, answer["metadata"]["resourceVersion"]
        upstream, ours = self.upstream, self.search.direct
        self.wait("upstream's cache", lambda: upstream.get(f"{PROXY}{CONFIGMAPS}?resourceVersion=0"))
        (names, at_upstream), (same, at_ours) = listed(upstream), listed(ours)
        self.assertEqual(names, same)
        self.put("member1", configmap("during-exchange", k="v"))
        self.assertEqual(next(self.events(ours, at_upstream)), ("ADDED", "during-exchange"))
        self.assertEqual(next(self.events(upstream, at_ours)), ("ADDED", "during-exchange"))
