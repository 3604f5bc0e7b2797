"""OpenSearch is away for five minutes while objects change, and nothing is lost."""

import unittest

from rig import paths
from rig.opensearch import OpenSearch
from rig.suite import require_binary

TEST = paths.BIN / "search_opensearch_test"
OUTAGE = 300


class OpenSearchOutageTest(unittest.TestCase):
    needs_plane = False

    def test_nothing_is_lost_in_five_minutes_of_churn(self):
        require_binary(TEST)
        opensearch = OpenSearch(paths.BUILD / "e2e" / "opensearch-outage")
        self.addCleanup(opensearch.stop)
        opensearch.start()
        code, end = opensearch.outage_under_churn(TEST, OUTAGE)
        print(end)
        self.assertEqual(code, 0, end)
