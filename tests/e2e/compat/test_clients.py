"""The informers of every version of client-go from 0.30 on, as cases/ has the newest one's; on real members those that
are lost and come back, and those that leave, too."""

from cases import test_clients, test_search_clients
from rig import clients
from rig.informer_session import live_through

VERSIONS = [*clients.versions(), clients.NEWEST]


class EveryClientTest(test_clients.ClientsTest):
    versions = VERSIONS


class EverySearchClientTest(test_search_clients.SearchClientsTest):
    versions = VERSIONS

    def live(self, session, site, objects):
        live_through(session, site, objects)
