"""The mirror, searches and saved objects on a real OpenSearch."""

import unittest

from rig import paths
from rig.opensearch import OpenSearch
from rig.process import run
from rig.suite import require_binary

TEST = paths.BIN / "search_opensearch_test"


class OpenSearchTest(unittest.TestCase):
    needs_plane = False

    @classmethod
    def setUpClass(cls):
        require_binary(TEST)
        cls.opensearch = OpenSearch(paths.BUILD / "e2e" / "opensearch")
        cls.addClassCleanup(cls.opensearch.stop)
        cls.opensearch.start()

    def test_what_the_tests_find_in_memory_a_real_server_does_too(self):
        # From the root, where the saved objects are.
        done = run(["env", "-C", paths.ROOT, TEST, "[opensearch],[real-opensearch]"], timeout=300,
                   env={"OPENSEARCH_URL": self.opensearch.url})
        print("\n".join(done.stdout.strip().splitlines()[-2:]))
        self.assertEqual(done.returncode, 0, done.stdout[-8000:] + done.stderr[-2000:])

    def test_nothing_is_lost_when_it_is_killed_under_churn(self):
        code, end = self.opensearch.outage_under_churn(TEST, outage=5)
        self.assertEqual(code, 0, end)
