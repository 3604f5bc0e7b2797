"""The behaviour tests that also run on the sandbox, here on real API servers."""

from rig import behaviour, paths
from rig.suite import PlaneCase, require_binary


class BehaviourTest(PlaneCase):
    fills_the_plane = True

    def test_the_behaviour_tests_pass_on_real_api_servers(self):
        require_binary(paths.BEHAVIOUR_TEST)
        behaviour.run_part(self)
