"""What the tests share that replay scenarios with our daemon."""

import json

from . import paths, recording, scenario
from .daemon import Daemon
from .suite import PlaneCase

_ALLOWED = recording.Allowed(paths.SCENARIOS / "differences.yaml")


class ReplayCase(PlaneCase):
    """Tests with a daemon that has the features on that scenarios use."""

    @classmethod
    def setUpClass(cls):
        super().setUpClass()
        cls.daemon = Daemon(cls.plane, name="scenarios", flags=scenario.FLAGS)
        cls.addClassCleanup(cls.daemon.stop)
        cls.daemon.wait_healthy()
        cls.plane.wait_members_ready()

    def replay(self, scenarios):
        """Runs scenarios side by side; each that differs from its recording is a failure of its own."""
        left = {}
        try:
            states = scenario.run(self.plane, scenarios, log=lambda line: print(line, flush=True))
        finally:
            left = scenario.clean_up(self.plane)
        for one in scenarios:
            with self.subTest(one.name):
                check_recording(self, one, states[one.name])
        self.assertEqual(sorted(left), [], "left behind after everything was deleted")


def check_recording(case, one, states):
    """Fails the test if these states of a scenario's steps are not as recorded, deliberate differences apart."""
    (case.plane.folder / f"{one.name}.got.json").write_text(json.dumps(states, indent=1, sort_keys=True))
    want = {title: state for title, state in one.recorded().items() if title in states}
    found = [d for d in recording.compare(want, states) if not _ALLOWED.covers(one.name, d)]
    if found:
        case.fail(f"{len(found)} differences from upstream:\n" + "\n".join(map(str, found[:40])))
