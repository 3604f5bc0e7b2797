"""client-go's informers, and a manager of controller-runtime, on the proxy URL behind the control plane's API server, on real members."""

import json

import yaml

from rig import clients
from rig.informer_session import SELECTOR, InformerSession, Objects, live_through_ends, restart, started
from rig.manager_session import reconcile
from rig.search import PROXY, REGISTRIES
from rig.search_case import NAMESPACE, SEARCHER, SearchCase, registry


class RealSite:
    """The plane, as a session of informers sees it."""

    def __init__(self, case):
        self._case, self.members = case, case.plane.members[:2]
        config = yaml.safe_load(case.shared.users[SEARCHER].read_text())
        config["clusters"][0]["cluster"]["server"] += PROXY
        self._proxy = case.site.folder / "proxy.kubeconfig"
        self._proxy.write_text(json.dumps(config))

    def kube(self, cluster):
        return self._case.plane.kube(cluster)

    def kubeconfig(self, cluster):
        return self._proxy if cluster == "proxy" else self._case.plane.kubeconfigs[cluster]

    def member_down(self, member):
        self._case.plane.stop_apiserver(member)

    def member_up(self, member):
        self._case.plane.start_apiserver(member)

    def unjoin(self, member):
        """No registry selects the member any more, which is the same for clients; karmadactl would have the namespace
        with all objects deleted in it."""
        self._select([other for other in self.members if other != member])

    def join(self, _member):
        self._select(None)

    def _select(self, names):
        for name in ("clients", "e2e-search"):
            self._case.host.merge(f"{REGISTRIES}/{name}", {"spec": {"targetCluster": {"clusterNames": names}}})

    def stop_search(self):
        self._case.shared.process.stop()

    def start_search(self):
        self._case.shared.process = self._case.site.start()
        self._case.shared.process.wait_ready()
        self._case.site.wait_served()


class SearchClientsTest(SearchCase):
    versions = [clients.NEWEST]

    def test_informers_stay_behind_a_real_aggregator(self):
        folder, logs, site = clients.build(len(self.versions) > 1), self.plane.logs, RealSite(self)
        self.host.create(REGISTRIES, registry("clients", [("v1", "Secret")]))
        self.addCleanup(self.host.delete, f"{REGISTRIES}/clients")
        self.addCleanup(site.join, None)
        self.addCleanup(self.plane.wait_members_ready)
        self.shared.wait_synced("clients")
        objects = Objects(site, NAMESPACE)
        self.addCleanup(objects.remove_all)
        for member in site.members:
            objects.create(member, 1, 2, 3)
        running = self.enterContext(started(folder, logs, site, self.versions, ["-namespace", NAMESPACE]))
        self.live(InformerSession(self, site, running), site, objects)

    def test_a_manager_reconciles_behind_a_real_aggregator(self):
        site = RealSite(self)
        self.addCleanup(Objects(site, NAMESPACE).remove_all)
        manager = clients.manager(clients.build(), self.plane.logs, site.kubeconfig("proxy"), SELECTOR, NAMESPACE)
        self.addCleanup(manager.stop)
        reconcile(self, site, manager, NAMESPACE)

    def live(self, session, site, objects):
        live_through_ends(session, site, objects)
        restart(session, site, objects)
