"""The behaviour tests that also run on the sandbox, here on real API servers."""

from rig import paths
from rig.process import run
from rig.suite import PlaneCase, require_binary


class BehaviourTest(PlaneCase):
    fills_the_plane = True

    def test_the_behaviour_tests_pass_on_real_api_servers(self):
        require_binary(paths.BEHAVIOUR_TEST)
        # They start and stop the daemon themselves.
        done = run([paths.BEHAVIOUR_TEST, "~[sandbox]"], timeout=1200, env={
            "TEST_PLANE": str(self.plane.folder),
            "KARMADA_CONTROLLER_MANAGER": str(paths.DAEMON),
            "BEHAVIOUR_LOG": str(self.plane.logs / "behaviour-daemon.log"),
        })
        print("\n".join(done.stdout.strip().splitlines()[-3:]))
        self.assertEqual(done.returncode, 0, done.stdout[-8000:] + done.stderr[-2000:])
