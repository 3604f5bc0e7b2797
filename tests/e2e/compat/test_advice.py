"""The situations of tests/advice that break no server, on real ones: what `karmada-lens why` says, and what its advice does."""

from rig import paths
from rig.process import run
from rig.suite import PlaneCase, require_binary


class AdviceTest(PlaneCase):
    fills_the_plane = True

    def test_the_advice_holds_on_real_servers(self):
        require_binary(paths.ADVICE_TEST)
        done = run([paths.ADVICE_TEST, "--durations=yes"], timeout=600, env={
            "TEST_PLANE": str(self.plane.folder),
            "ADVICE_SECONDS": "90",  # For each of four steps; a row that waits in vain must not use up the time of all.
            "KARMADA_CONTROLLER_MANAGER": str(paths.DAEMON),
            "BEHAVIOUR_LOG": str(self.plane.logs / "advice-daemon.log"),
        })
        (self.plane.logs / "advice.log").write_text(done.stdout)
        self.assertEqual(done.returncode, 0, done.stdout[-8000:] + done.stderr[-2000:])
