"""What the tests share that replay scenarios with our daemon."""

import json

from . import kubernetes_changes, paths, recording, scenario
from .daemon import Daemon
from .suite import PlaneCase

_ALLOWED = recording.Allowed(paths.SCENARIOS / "differences.yaml")


class ReplayCase(PlaneCase):
    """Tests with a daemon that has the flags that scenarios want."""

    @classmethod
    def setUpClass(cls):
        super().setUpClass()
        cls.daemon, cls.flags = None, None
        cls.addClassCleanup(lambda: cls.daemon and cls.daemon.stop())

    @classmethod
    def use_daemon(cls, flags):
        """Has a daemon with these flags run, instead of the one that does if it has others."""
        if flags == cls.flags:
            return
        if cls.daemon is not None:
            cls.daemon.stop()
        cls.daemon, cls.flags = Daemon(cls.plane, name="scenarios", flags=flags), flags
        cls.daemon.wait_healthy()
        cls.plane.wait_members_ready()

    def replay(self, scenarios):
        """Runs scenarios side by side; each that differs from its recording is a failure of its own."""
        left = {}
        try:
            outcomes = scenario.run(self.plane, scenarios, log=lambda line: print(line, flush=True))
        finally:
            left = scenario.clean_up(self.plane)
        for one in scenarios:
            with self.subTest(one.name):
                check_recording(self, one, outcomes[one.name], one.titles())
        self.assertEqual(sorted(left), [], "left behind after everything was deleted")


def check_recording(case, one, outcome, titles):
    """Fails the test if the scenario has not settled, or if its states after the steps of these titles are not as
    recorded of the release of Karmada that the plane is of, deliberate differences apart."""
    (case.plane.folder / f"{one.name}.got.json").write_text(json.dumps(outcome.states, indent=1, sort_keys=True))
    outcome.check_settled()
    versions = case.plane.versions()
    release = scenario.release_of(versions.pop("karmada"))
    found = compare(one, outcome.states, titles, release, set(map(kubernetes_changes.minor_of, versions.values())))
    if found:
        case.fail(f"{len(found)} differences from upstream:\n" + "\n".join(map(str, found[:40])))


def compare(one, states, titles, release=scenario.RECORDED_RELEASE, minors=frozenset({35})):
    """The differences from the recording after the steps of these titles, apart from deliberate ones and from what servers of
    these minor versions of Kubernetes change themselves. A step that is missing on either side is one: `make record` has to
    follow a scenario's changes."""
    recorded = one.recorded(release)
    found = [f"{title}: recorded, but no step of the scenario" for title in set(recorded) - set(one.titles())]
    found += [f"{title}: not recorded" for title in titles if title not in recorded]
    found += [f"{title}: not carried out" for title in titles if title not in states]
    both = [title for title in titles if title in recorded and title in states]
    want, got = (kubernetes_changes.without({title: side[title] for title in both}, minors)
                 for side in (recorded, states))
    return found + [d for d in recording.compare(want, got) if not _ALLOWED.covers(one.name, d)]
