"""The control plane below the running karmada-search is upgraded to the definitions of another release of Karmada, and back: the
same process ends its service in order and begins again as a karmada-search of that release."""

from rig import metrics, release
from rig.search_case import SearchCase


class SearchReleaseTest(SearchCase):
    takes_turns = True

    def setUp(self):
        self.addCleanup(self.become, "v1.18")

    def become(self, wanted):
        """Has everything on the plane that looks at its definitions become one of this release."""
        release.serve(self.host, wanted)
        self.wait(f"karmada-search is of {wanted}", lambda: self.release_of_search() == {wanted}, release.SECONDS)
        self.wait(f"the daemon is of {wanted}", lambda: release.said(self.daemon.samples()) == {wanted}, release.SECONDS)
        self.search.wait_ready()
        self.site.wait_served()

    def release_of_search(self):
        return release.said(metrics.parse(self.search.direct.kubectl("get", "--raw", "/metrics")))

    def names(self):
        """The names of the cached ConfigMaps, once everything is cached again."""
        self.shared.wait_synced("e2e-search")
        return sorted(self.succeeds("get configmaps -o name").split())

    def test_it_becomes_what_the_definitions_are_of_and_ends_its_watches_in_order(self):
        pid, names = self.search.process.pid, self.names()
        self.assertEqual(self.release_of_search(), {"v1.18"})
        watch = self.background("search-watch-release", self.words(
            "get configmaps --watch --output-watch-events", server=self.search.direct.server))
        self.wait_said(watch, "both")
        for wanted, minor in [("v1.19", "36"), ("v1.18", "35")]:
            with self.subTest(wanted):
                self.become(wanted)
                self.assertTrue(self.search.process.alive())
                self.assertEqual(self.search.process.pid, pid)
                self.assertEqual(self.search.direct.get("/version")["minor"], minor)
                self.assertEqual(self.names(), names)
        self.assertEqual(watch.wait(10), 0, watch.tail())
        self.assertNotIn("rror", watch.log.read_text())
